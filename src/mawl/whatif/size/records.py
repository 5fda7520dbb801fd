"""Records of the answer of ``mawl size``: every figure with its definition."""

from __future__ import annotations

from typing import Annotated

import msgspec

from mawl.records.definitions import FACTS, Metric, count, flag, listing, share, size, text, unitless
from mawl.records.model.fields import metrics_of

PAGE = "docs/design/size.md"
CARRIES = f"{PAGE}, When does a candidate carry"
PROBABILITY = f"{PAGE}, Where does the probability come from"
RULE = f"{PAGE}, Is the model better than a simple rule"
UPGRADE = f"{PAGE}, What should the next euro buy"
CATALOGUE = f"{PAGE}, What is taken from the run"


class SizedCandidate(msgspec.Struct, frozen=True, kw_only=True):
    """One candidate system; ``reasons`` says why figures are None."""

    name: Annotated[str, text("Name in the catalogue.", CATALOGUE)]
    price: Annotated[float, unitless("Price of all its nodes, in the currency of the catalogue.", CATALOGUE)]
    nodes: Annotated[int, count("Its nodes.", CATALOGUE)]
    carries: Annotated[
        bool | None,
        flag(
            "Whether the probability is at least the asked one; null if it is not known, or if the checked "
            "forecasts are too few to give so high a one.",
            CARRIES,
        ),
    ]
    probability: Annotated[
        float | None,
        share(
            "Least probability that the figure stays within the bound with the asked sessions.", PROBABILITY
        ),
    ]
    error_basis: Annotated[
        str | None,
        text(
            "Which checked forecasts give it: of test beds (lab beds) or of published systems.",
            PROBABILITY,
        ),
    ]
    forecasts: Annotated[int | None, count("Number of these checked forecasts.", PROBABILITY)]
    figure: Annotated[
        float,
        unitless("Forecast of the bounded figure with the asked sessions: slowdown, or seconds.", CARRIES),
    ]
    memory_bytes: Annotated[
        float | None,
        size(
            "Forecast of the most memory that jobs of a node need at once; null if the run does not show it.",
            CARRIES,
        ),
    ]
    fits: Annotated[
        int | None,
        count("Most sessions within the bound and the memory by the forecast, all nodes.", CARRIES),
    ]
    fits_safe: Annotated[
        int | None,
        count(
            "Most sessions with at least safe_probability, all nodes; 0 if not even the fewest have it; "
            "null if the checked forecasts cannot show it.",
            PROBABILITY,
        ),
    ]
    more_may_fit: Annotated[
        bool, flag("Whether the search ended below the bound, so that more may fit.", CARRIES)
    ]
    limit: Annotated[
        str, text("What the asked sessions would wait for most; none, mixed or memory.", CARRIES)
    ]
    limit_ratio: Annotated[
        float | None,
        share(
            "Share of the jobs' time that this waiting takes by the forecast; null for none, mixed, memory.",
            CARRIES,
        ),
    ]
    rule_figure: Annotated[float | None, unitless("The same figure by the roofline.", RULE)]
    rule_fits: Annotated[int | None, count("Most sessions within the bound by the roofline.", RULE)]
    taken: Annotated[
        list[str], listing("What mawl takes from the run, as the catalogue leaves it out.", CATALOGUE)
    ]
    reasons: Annotated[list[str], listing("Why figures are null.", PROBABILITY)]


class SizedUpgrade(msgspec.Struct, frozen=True, kw_only=True):
    """An upgrade of the candidate ``upgraded``; ``reason`` says why it does not fit or gains nothing."""

    name: Annotated[str, text("Name in the catalogue.", UPGRADE)]
    price: Annotated[float, unitless("Price of the upgrade.", UPGRADE)]
    figure: Annotated[float | None, unitless("The bounded figure with the upgrade.", UPGRADE)]
    probability: Annotated[float | None, share("Probability of the candidate with the upgrade.", PROBABILITY)]
    fits: Annotated[
        int | None, count("Most sessions within the bound and the memory with the upgrade.", UPGRADE)
    ]
    more_may_fit: Annotated[
        bool,
        flag("Whether the search ended below the bound, so that more may fit.", UPGRADE),
    ]
    gained_sessions: Annotated[
        int | None,
        count(
            "How many more sessions fit with the upgrade; null if the searches with and without it both "
            "ended at the most sessions that they try.",
            UPGRADE,
        ),
    ]
    gained_sessions_per_price: Annotated[float | None, unitless("Gained sessions over the price.", UPGRADE)]
    reason: Annotated[str | None, text("Why it does not help.", UPGRADE)]


class SizeAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """Candidates in order: those that carry, the cheapest first; then by probability; then by price."""

    run_id: Annotated[str, text("The run that all forecasts begin with.", FACTS)]
    workload: Annotated[str, text("Its workload.", FACTS)]
    catalogue: Annotated[str, text("Path of the catalogue.", CATALOGUE)]
    currency: Annotated[str, text("Currency of all prices, from the catalogue.", CATALOGUE)]
    period: Annotated[str, text("What a price is for, such as a month, from the catalogue.", CATALOGUE)]
    sessions: Annotated[int, count("Asked sessions, on all nodes of a candidate.", CARRIES)]
    bounded: Annotated[str, text("The bounded figure: slowdown or elapsed_seconds.", CARRIES)]
    bound: Annotated[float, unitless("Bound of this figure.", CARRIES)]
    measured: Annotated[float, unitless("This figure of the run, as measured.", CARRIES)]
    measured_sessions: Annotated[int, count("Sessions of the run on one node.", CARRIES)]
    calibration_error_ratio: Annotated[
        float | None,
        share("Elapsed time of the run simulated on its own system, over the measured, less 1.", CARRIES),
    ]
    asked_probability: Annotated[float, share("The least probability of a pick.", PROBABILITY)]
    pick: Annotated[
        str | None, text("The cheapest candidate that carries; null if none is known to.", CARRIES)
    ]
    safe_probability: Annotated[float, share("0.8, or the asked probability if that is more.", PROBABILITY)]
    safe_pick: Annotated[
        str | None, text("The cheapest candidate with at least safe_probability; null without one.", CARRIES)
    ]
    forecast_pick: Annotated[
        str | None,
        text("The cheapest whose forecast is within the bound, whatever its probability.", CARRIES),
    ]
    rule_pick: Annotated[str | None, text("The cheapest that carries by the roofline.", RULE)]
    candidates: list[SizedCandidate]
    upgraded: Annotated[str | None, text("The candidate that the upgrades are for.", UPGRADE)]
    upgrades: list[SizedUpgrade]
    remarks: Annotated[list[str], listing("What the answer rests on, in sentences.", PAGE)]


class PrintedSize(SizeAnswer, frozen=True, kw_only=True):
    """What ``--format json`` prints: the answer with the sentence that all formats begin with."""

    finding: Annotated[
        str, text("What to buy, for how much, and the least probability that it is enough.", CARRIES)
    ]


SIZE_METRICS: tuple[Metric, ...] = metrics_of(PrintedSize)
