"""What ``mawl size`` answers: every figure with its definition."""

from __future__ import annotations

from typing import Annotated

import msgspec

from mawl.definitions.figure import count, flag, listing, share, size, text, unitless
from mawl.definitions.metric import FACTS, Metric
from mawl.model.fields import metrics_of

PAGE = "docs/design/size.md"
CARRIES = f"{PAGE}, When does a candidate carry"
PROBABILITY = f"{PAGE}, Where does the probability come from"
RULE = f"{PAGE}, Is the model better than a simple rule"
UPGRADE = f"{PAGE}, What should the next euro buy"
CATALOGUE = f"{PAGE}, What is taken from the run"


class SizedCandidate(msgspec.Struct, frozen=True, kw_only=True):
    """One candidate system; figures that are None have their reason in ``reasons``."""

    name: Annotated[str, text("Name in the catalogue.", CATALOGUE)]
    price: Annotated[float, unitless("Price of all its nodes, in the currency of the catalogue.", CATALOGUE)]
    nodes: Annotated[int, count("Its nodes.", CATALOGUE)]
    carries: Annotated[
        bool | None,
        flag("Whether the probability is at least the asked one; null where it is not known.", CARRIES),
    ]
    probability: Annotated[
        float | None,
        share(
            "Least probability that the figure stays within the bound with the asked sessions.", PROBABILITY
        ),
    ]
    error_basis: Annotated[
        str | None,
        text("Whose measured forecast errors give it: lab beds or published systems.", PROBABILITY),
    ]
    forecasts: Annotated[int | None, count("How many checked forecasts those are.", PROBABILITY)]
    figure: Annotated[
        float,
        unitless("Forecast of the bounded figure with the asked sessions: slowdown, or seconds.", CARRIES),
    ]
    memory_bytes: Annotated[
        float | None,
        size("Most memory of jobs that run at once on a node, forecast; null where not recorded.", CARRIES),
    ]
    fits: Annotated[int | None, count("Most sessions within the bound by the forecast, all nodes.", CARRIES)]
    fits_safe: Annotated[
        int | None, count("Most sessions with at least safe_probability, all nodes.", PROBABILITY)
    ]
    more_may_fit: Annotated[
        bool, flag("Whether the search ended at its most, so that more may fit.", CARRIES)
    ]
    limit: Annotated[
        str, text("What most waiting is for with the asked sessions; none, mixed or memory.", CARRIES)
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
    taken: Annotated[list[str], listing("What the catalogue does not say and the run gives.", CATALOGUE)]
    reasons: Annotated[list[str], listing("Why figures are null.", PROBABILITY)]


class SizedUpgrade(msgspec.Struct, frozen=True, kw_only=True):
    """An upgrade of the candidate ``upgraded``; ``reason`` says why it does not fit or gains nothing."""

    name: Annotated[str, text("Name in the catalogue.", UPGRADE)]
    price: Annotated[float, unitless("Its price.", UPGRADE)]
    figure: Annotated[float | None, unitless("The bounded figure with it and the asked sessions.", UPGRADE)]
    probability: Annotated[float | None, share("As of a candidate, with it.", PROBABILITY)]
    fits: Annotated[int | None, count("Most sessions within the bound with it, by the forecast.", UPGRADE)]
    gained_sessions: Annotated[int | None, count("How many more fit than without it.", UPGRADE)]
    gained_sessions_per_price: Annotated[float | None, unitless("That over the price.", UPGRADE)]
    reason: Annotated[str | None, text("Why it does not help.", UPGRADE)]


class SizeAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """Candidates in order: those that carry, the cheapest first; then by probability; then by price."""

    run_id: Annotated[str, text("The run that all forecasts begin with.", FACTS)]
    workload: Annotated[str, text("Its workload.", FACTS)]
    catalogue: Annotated[str, text("The file.", CATALOGUE)]
    currency: Annotated[str, text("As the catalogue says it.", CATALOGUE)]
    period: Annotated[str, text("What a price is for, as the catalogue says it.", CATALOGUE)]
    sessions: Annotated[int, count("Asked sessions, of all nodes of a candidate.", CARRIES)]
    bounded: Annotated[str, text("The bounded figure: slowdown or elapsed_seconds.", CARRIES)]
    bound: Annotated[float, unitless("Its bound.", CARRIES)]
    measured: Annotated[float, unitless("The figure of the run.", CARRIES)]
    measured_sessions: Annotated[int, count("The sessions of the run on each node.", CARRIES)]
    calibration_error_ratio: Annotated[
        float | None,
        share("Elapsed time of the run simulated on its own system, over the measured, less 1.", CARRIES),
    ]
    asked_probability: Annotated[float, share("The least probability of a pick.", PROBABILITY)]
    pick: Annotated[
        str | None, text("The cheapest candidate that carries; null where none is known to.", CARRIES)
    ]
    safe_probability: Annotated[float, share("0.8, or the asked probability if that is more.", PROBABILITY)]
    safe_pick: Annotated[
        str | None, text("The cheapest candidate with at least safe_probability; null without one.", CARRIES)
    ]
    forecast_pick: Annotated[
        str | None, text("The cheapest whose forecast itself is within the bound, however likely.", CARRIES)
    ]
    rule_pick: Annotated[str | None, text("The cheapest by the roofline.", RULE)]
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
