"""Arms that are steps of a series, and papers' findings in words: what a bed says, what was found."""

from __future__ import annotations

from typing import Literal

import msgspec

from mawl.spec.program_options import Role

Direction = Literal["higher", "lower", "alike"]


class SeriesSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Arms with more and more volumes, in this order, of the same roles."""

    title: str
    arms: list[str]
    roles: list[Role]


class FindingSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a paper says in words, and the arms and the figure that stand for it here."""

    source: str
    """Key of the paper."""
    text: str
    """One of its findings, word for word as ``mawl published`` has it."""
    figure: str
    """A name of the summary, such as ``time.real_time_seconds``."""
    reference: str
    candidate: str
    direction: Direction
    """What the words say of the candidate's figure beside the reference's."""


class ProgramsSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Two arms that are compared with each other program by program, as `mawl compare` does."""

    reference: str
    candidate: str


class ProgramsFound(msgspec.Struct, frozen=True, kw_only=True):
    """What `mawl compare` says of the programs of two arms, and of all their jobs.

    ``faster``, ``slower`` and ``not_told_apart`` are judged and need five runs an arm; ``ran_shorter`` and
    ``ran_longer`` count plain changes, whatever they are worth.
    """

    reference: str
    candidate: str
    runs: list[int]
    """Of the reference, and of the candidate."""
    judged: bool
    verdict: str
    """On all jobs: slower, faster, not told apart, not judged."""
    change_ratio: float | None
    low_ratio: float | None
    high_ratio: float | None
    faster: int
    slower: int
    not_told_apart: int
    ran_shorter: int
    ran_longer: int
    changes: list[ProgramFound]


class ProgramFound(msgspec.Struct, frozen=True, kw_only=True):
    """One program: its real time per job in the candidate over the reference, less 1."""

    program: str
    verdict: str
    change_ratio: float
    low_ratio: float | None
    high_ratio: float | None


class ArmFigures(msgspec.Struct, frozen=True, kw_only=True):
    """Figures of an arm's run, each as the summary of a run defines it; None where that has none."""

    arm: str
    real_time_seconds: float | None
    user_cpu_seconds: float | None
    system_cpu_seconds: float | None
    application_bytes_per_second: float | None
    """Both ways, mean over the run."""
    device_bytes_per_second: float | None
    read_latency_seconds: dict[Role, float | None]
    """Means, at the application."""
    write_latency_seconds: dict[Role, float | None]
    host_cpu_busy_seconds: float | None
    """Of the whole machine: the kernel's own compression is only here, and so are others."""


class StepFound(msgspec.Struct, frozen=True, kw_only=True):
    """One step of a series; ``gain_ratio`` is over the step before, less 1.

    ``bytes_per_second`` are both ways at the devices of its volumes, over the elapsed time of the run.
    """

    arm: str
    volumes: int
    bytes_per_second: float | None
    elapsed_seconds: float | None
    gain_ratio: float | None
    ideal_gain_ratio: float | None
    """That of the number of volumes."""
    cap_bytes_per_second: float | None
    """Sum over the volumes, of one direction; None where one of them has no cap."""
    cap_share_ratio: float | None
    """What the busier direction used of it."""
    even_ratio: float | None
    """Mean over largest of the bytes of its volumes: 1 where all moved as many."""
    concurrent_jobs: float | None
    own_cpu_ratio: float | None
    """What the run used of all CPU time."""


class SeriesFound(msgspec.Struct, frozen=True, kw_only=True):
    """A series and its knee: the step before the first that gained less than half of the ideal.

    ``sentence`` says it with the figures, ``reasons`` what held the step after the knee.
    """

    title: str
    roles: list[Role]
    steps: list[StepFound]
    knee: str | None
    """The arm; None where no step gained so little, or one is not known."""
    knee_volumes: int | None
    sentence: str
    reasons: list[str]


class FindingFound(msgspec.Struct, frozen=True, kw_only=True):
    """A paper's words beside what was found here; ``agrees`` is None where a figure is missing.

    ``reasons`` say what differs between the arms where it does not agree.
    """

    text: str
    citation: str
    figure: str
    reference: str
    candidate: str
    expected: Direction
    found: Direction | None
    reference_value: float | None
    candidate_value: float | None
    change_ratio: float | None
    agrees: bool | None
    reasons: list[str] = []
