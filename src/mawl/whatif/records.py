"""Records of the answer of ``mawl simulate``: every figure with its definition."""

from __future__ import annotations

from typing import Annotated

import msgspec

from mawl.records.definitions import (
    FACTS,
    Figure,
    Metric,
    block,
    count,
    flag,
    hourly,
    listing,
    rate,
    seconds,
    share,
    text,
    unitless,
)
from mawl.records.model.fields import metrics_of
from mawl.records.model.node import Direction
from mawl.simulation.system import System
from mawl.whatif.published_forecast import FittedNumbers

PAGE = "docs/design/simulation.md"
CALIBRATED = f"{PAGE}, Calibration"
ANSWER = f"{PAGE}, What is answered"
RANGE = f"{PAGE}, Range"
GROUNDS = f"{PAGE}, Grounds of rates"
LOGS = f"{PAGE}, Logs alone"
PUBLISHED = "docs/design/published.md"
FORECAST = "docs/design/published-forecasts.md, Question"
FIT = "docs/design/published-forecasts.md, The fit"
CHANGES = "docs/design/published-forecasts.md, Changes that the papers print"
RULES = "docs/design/published-forecasts.md, Simple rules"

Printed = float | bool | str | dict[str, float]
"""A figure as a paper prints it; of a range ``{low, high}``."""


class Prediction(msgspec.Struct, frozen=True, kw_only=True):
    """The forecast beside the measured run."""

    elapsed_seconds: Annotated[float, seconds("First start to last end, predicted.", ANSWER)]
    real_time_seconds: Annotated[float | None, seconds("Summed real time, predicted.", ANSWER)]
    measured_elapsed_seconds: Annotated[float | None, seconds("That of the run.", FACTS)]
    measured_real_time_seconds: Annotated[float | None, seconds("That of the run.", FACTS)]
    nodes: Annotated[int, count("Simulated nodes.", ANSWER)]
    sessions: Annotated[int, count("Simulated sessions, of all nodes.", ANSWER)]
    jobs: Annotated[int, count("Simulated jobs, of all nodes.", ANSWER)]
    device_peak_bytes_per_second: Annotated[float | None, rate("Highest window at the devices.", ANSWER)]
    device_sustained_bytes_per_second: Annotated[float | None, rate("Median window at the devices.", ANSWER)]
    verdict: Annotated[str | None, text("Verdict on the simulated run folder.", "docs/design/verdict.md")]


class ElapsedRange(msgspec.Struct, frozen=True, kw_only=True):
    """Between which elapsed times the run will lie; both None where no such range is known."""

    low_seconds: Annotated[float | None, seconds("The least that elapsed may be.", RANGE)]
    high_seconds: Annotated[float | None, seconds("The most that elapsed may be.", RANGE)]


class ForecastValidity(msgspec.Struct, frozen=True, kw_only=True):
    """What a forecast rests on."""

    calibration_error_ratio: Annotated[
        float | None,
        share("Elapsed time of the run simulated on its own system, over the measured, less 1.", CALIBRATED),
    ]
    alone_ratio: Annotated[
        float, share("Part of the measured blocked time that steps have even alone.", CALIBRATED)
    ]
    seek_ratio: Annotated[
        float, share("Part of the seeks between streams of spinning devices that were made.", CALIBRATED)
    ]
    factors: dict[
        str,
        Annotated[
            float | None,
            share(
                "Asked over measured: nodes, sessions a node, scale, cores, ...; of a role the direction "
                "that differs most; null where not known.",
                RANGE,
            ),
        ],
    ]
    range: ElapsedRange
    logs_range: Annotated[
        ElapsedRange,
        block(
            "Of a run of logs: elapsed time if no waiting in the logs was I/O, and if all was I/O in steps "
            "that move bytes. The range does not include the error of the model.",
            LOGS,
            within="the run was measured, or its devices are not known",
        ),
    ]
    assumptions: Annotated[
        list[str],
        listing("What is assumed: of logs, of jobs derived from logs, of faster devices.", LOGS),
    ]
    reasons: Annotated[list[str], listing("Why there is no range, in sentences.", RANGE)]
    lacks: Annotated[list[str], listing("What the run did not record of its demand.", CALIBRATED)]


class PhaseLimit(msgspec.Struct, frozen=True, kw_only=True):
    """What the jobs spent a phase on."""

    phase: Annotated[str, text("active or tail.", "docs/design/figures.md")]
    shares: dict[str, Annotated[float, share("Share of the jobs' seconds of the phase.", ANSWER)]]
    limit: Annotated[str, text("What most waiting was for, none or mixed.", ANSWER)]


class DoubledResource(msgspec.Struct, frozen=True, kw_only=True):
    """What twice of one resource would gain; null with the reason for a device of which nothing says it."""

    resource: Annotated[str, text("What there is twice of.", ANSWER)]
    elapsed_seconds: Annotated[
        float | None, seconds("Elapsed with twice of it; null where what it can do is not known.", ANSWER)
    ]
    gain_ratio: Annotated[
        float | None, share("What that saves of the elapsed time; null where not known.", ANSWER)
    ]
    reason: Annotated[
        str | None, text("Why there is no number, and what to do.", GROUNDS, absent="there is a number")
    ] = None


class DeviceRate(msgspec.Struct, frozen=True, kw_only=True):
    """What a device of the measured system can do in one direction, and how that is known."""

    device: Annotated[str, text("The device.", GROUNDS)]
    direction: Annotated[Direction, text("read or write.", GROUNDS)]
    bytes_per_second: Annotated[float | None, rate("What it can do; null where nothing says it.", GROUNDS)]
    ground: Annotated[
        str,
        text(
            "measured (a cap and its file, a probe, or the highest rate while jobs waited for it), "
            "described, or unknown.",
            GROUNDS,
        ),
    ]


class GrownSessions(msgspec.Struct, frozen=True, kw_only=True):
    """The forecast at another number of sessions."""

    sessions: Annotated[int, count("Sessions on each node.", ANSWER)]
    jobs: Annotated[int, count("Jobs of all nodes.", ANSWER)]
    elapsed_seconds: Annotated[float, seconds("Elapsed with so many.", ANSWER)]
    jobs_per_hour: Annotated[float, hourly("Jobs over elapsed hours.", ANSWER)]
    pays: Annotated[bool, flag("Whether jobs an hour grew by half of what sessions did.", ANSWER)]


class PredictedFigure(msgspec.Struct, frozen=True, kw_only=True):
    """A figure of the summary, predicted and measured."""

    figure: Annotated[str, text("Name of the figure in the summary.", ANSWER)]
    predicted: Annotated[float | str | None, block("Its value, predicted.", ANSWER)]
    measured: Annotated[float | str | None, block("Its value, measured.", ANSWER)]
    error_ratio: Annotated[float | None, share("Predicted over measured, less 1.", ANSWER)]
    agrees: Annotated[bool | None, flag("Of words: whether both are the same.", ANSWER)]


class SimulationAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What ``mawl simulate`` was asked, and what the answer rests on."""

    run_id: Annotated[str, text("The measured run.", FACTS)]
    prediction: Prediction
    validity: ForecastValidity
    phases: list[PhaseLimit]
    sensitivity: list[DoubledResource]
    rates: list[DeviceRate]
    grow: Annotated[
        list[GrownSessions] | None, listing("One row per number of sessions; null without --grow.", ANSWER)
    ]
    knee_sessions: Annotated[
        int | None,
        count("The last number that pays; null where all do, or without --grow.", ANSWER),
    ]
    against: Annotated[
        list[PredictedFigure] | None, listing("Compared with a real run; null without --against.", ANSWER)
    ]
    system: Annotated[System, block("The simulated system, as a description.", "docs/design/systems.md")]


class PublishedRow(msgspec.Struct, frozen=True, kw_only=True):
    """One figure of a paper beside its forecast; ``predicted`` is None with a ``reason``."""

    system: Annotated[str, text("Id of the published result, or key of a paper.", PUBLISHED)]
    figure: Annotated[str, text("Name of the figure in the published result.", PUBLISHED)]
    published: Annotated[Printed, block("The printed figure, in base units.", PUBLISHED)]
    predicted: Annotated[float | bool | str | None, block("The same, of the simulated system.", FORECAST)]
    fitted: Annotated[bool, flag("Whether the numbers were fitted on this system.", FIT)]
    error_ratio: Annotated[
        float | None, share("Predicted over published, less 1; of a range, its nearer end.", FORECAST)
    ] = None
    reason: Annotated[str | None, text("Why there is no prediction.", FORECAST)] = None


class PublishedPair(msgspec.Struct, frozen=True, kw_only=True):
    """Two systems that a paper holds against each other, and one figure."""

    paper: Annotated[str, text("Key of the paper that has both.", PUBLISHED)]
    reference: Annotated[str, text("Id of the first system.", FORECAST)]
    candidate: Annotated[str, text("Id of the second system, with a variant behind a slash.", FORECAST)]
    figure: Annotated[str, text("Name of the figure.", FORECAST)]
    published_change_ratio: Annotated[float, share("Second over first, less 1, published.", FORECAST)]
    predicted_change_ratio: Annotated[float | None, share("The same, predicted.", FORECAST)]
    unseen_change_ratio: Annotated[
        float | None, share("The same, predicted with numbers fitted without this paper.", RULES)
    ]
    amdahl_change_ratio: Annotated[
        float | None,
        share("The same by Amdahl's rule; null where the paper does not print CPU and real time.", RULES),
    ]
    roofline_change_ratio: Annotated[float | None, share("The same by the roofline of declared work.", RULES)]
    large: Annotated[
        bool,
        flag(
            "Whether it counts as a change that a paper prints: 0.05 or more, and not the sustained rate "
            "over the cores, which repeats the sustained rate.",
            CHANGES,
        ),
    ]
    counted: Annotated[
        bool,
        flag(
            "Whether scores count it: not if it follows from the jobs alone or repeats another figure.", RULES
        ),
    ]
    right: Annotated[
        bool | None, flag("Whether both go the same way; below 0.05 is neither up nor down.", FORECAST)
    ]


class PublishedChanges(msgspec.Struct, frozen=True, kw_only=True):
    """How many of the changes that papers print a forecast has right."""

    forecast: Annotated[
        str,
        text(
            "What forecasts: model, unseen (fitted without the paper), no change, Amdahl or roofline.",
            CHANGES,
        ),
    ]
    figures: Annotated[int, count("Changes that papers print.", CHANGES)]
    right: Annotated[int, count("Changes that the forecast has in the right direction.", CHANGES)]
    near: Annotated[int, count("Changes that the forecast has within 15 %, as second over first.", CHANGES)]


class PublishedScore(msgspec.Struct, frozen=True, kw_only=True):
    """How far forecasts of pairs are off, model and simple rules: the mean of |ln(predicted/published)|."""

    paper: Annotated[str | None, text("Key of the paper; null for several.", PUBLISHED)]
    fitted: Annotated[
        bool | None,
        flag(
            "Whether the numbers were fitted on a system of these pairs; null for all pairs together.",
            CHANGES,
        ),
    ]
    figures: Annotated[int, count("Counted figures of pairs.", RULES)]
    model_error: Annotated[float, unitless("Of the model.", RULES)]
    unseen_error: Annotated[float, unitless("Of the model with numbers fitted without this paper.", RULES)]
    no_change_error: Annotated[float, unitless("Of a forecast that nothing changes.", RULES)]
    amdahl_error: Annotated[
        float, unitless("Of Amdahl's rule; of no change if the rule has no forecast.", RULES)
    ]
    roofline_error: Annotated[float, unitless("Of the roofline of declared work.", RULES)]

    @property
    def best_rule(self) -> tuple[str, float]:
        """The nearest of the simple rules, and how far it is off."""
        rules = {
            "no change": self.no_change_error,
            "Amdahl's rule": self.amdahl_error,
            "the roofline": self.roofline_error,
        }
        return min(rules.items(), key=lambda rule: rule[1])


class PublishedFit(msgspec.Struct, frozen=True, kw_only=True):
    """What the forecasts of published systems were fitted on."""

    on: Annotated[
        list[str],
        Figure(unit="text", type="list", definition="Systems that the numbers were fitted on.", source=FIT),
    ]
    values: Annotated[FittedNumbers, block("The fitted numbers by name.", FIT)]


class PublishedForecasts(msgspec.Struct, frozen=True, kw_only=True):
    """Every figure and every pair of the papers beside its forecast (``mawl simulate --published``)."""

    rows: list[PublishedRow]
    pairs: list[PublishedPair]
    changes: list[PublishedChanges]
    scores: list[PublishedScore]
    fitted: PublishedFit


SIMULATION_METRICS: tuple[Metric, ...] = metrics_of(SimulationAnswer, ("simulate",))
PUBLISHED_FORECAST_METRICS: tuple[Metric, ...] = metrics_of(PublishedForecasts)
