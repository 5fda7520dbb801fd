"""One figure as text, and a dash where there is none."""

from __future__ import annotations

from collections.abc import Callable

from mawl.model.summary.time import Time

ABSENT = "-"

Form = Callable[[float], str]


def figure(value: object, form: Form) -> str:
    """A figure as text; ``-`` when it is missing."""
    return form(value) if isinstance(value, int | float) else ABSENT


def figures(*cells: tuple[object, Form]) -> list[str]:
    """Several figures, each with its form."""
    return [figure(value, form) for value, form in cells]


def format_count(value: float) -> str:
    """A whole number."""
    return f"{value:.0f}"


def splits_cpu(time: Time) -> bool:
    """Whether as many jobs have user and system CPU time as have CPU time at all."""
    return time.known.jobs.user_cpu >= time.known.jobs.cpu


def cpu_parts(time: Time) -> tuple[tuple[str, str], ...]:
    """Label and field of the CPU sums: user and system, or both in one where more jobs have that."""
    if not splits_cpu(time):
        return (("CPU", "cpu_seconds"),)
    return (("user CPU", "user_cpu_seconds"), ("system CPU", "system_cpu_seconds"))
