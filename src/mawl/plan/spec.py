"""What a workload file may say: sessions of stages of jobs."""

from __future__ import annotations

import msgspec

from mawl.model.records import ProgramClass
from mawl.plan.command import LogFormat
from mawl.spec.files import RunOfPlan


class CommandSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A command in a workload file (:class:`~mawl.plan.command.Command`); ``program_class`` is for tables."""

    command: list[str] | None = None
    check: list[str] = []
    environment: dict[str, str] = {}
    success_exit_codes: list[int] = msgspec.field(default_factory=lambda: [0])
    log: str | None = None
    log_format: LogFormat | None = None
    program_class: ProgramClass | None = None


class JobSpec(CommandSpec, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A job in a workload file; the short form is the program's name alone.

    With ``command`` any other program: ``program`` is then what its jobs are called in tables.
    ``size`` multiplies the scale for this job; ``after`` names jobs that must have ended well;
    ``start_delay_seconds`` counts from the moment its stage opens.
    """

    program: str | None = None
    name: str | None = None
    replica: int | None = None
    size: float = 1.0
    options: dict[str, int | str | bool] = {}
    after: list[str] = []
    start_delay_seconds: float = 0.0
    timeout_seconds: float | None = None
    trail_out: bool = False


class SessionSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A session in a workload file: stages run one after another, the jobs of a stage side by side."""

    name: str
    stages: list[list[str | JobSpec]]
    start_delay_seconds: float = 0.0
    trail_out: bool = False


class WorkloadSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A workload file.

    ``scale`` fixes the scale (nano does), ``seed`` and ``saving`` the input tables; else the command
    line chooses.  ``scale_options = false`` gives jobs the memory options as they stand instead of
    shrinking them with the scale; the ``plan.toml`` of a run says so, and is itself a workload file.
    ``commands`` are named here and used like programs.  ``run`` holds options of ``mawl run``, such as
    ``work`` and ``cache``: they count instead of ``mawl.toml`` and the environment, and under a profile and
    the command line.
    ``derived`` is a file of derived jobs (:mod:`mawl.model.derived`) beside this one, whose jobs are used
    like programs; a workload that names one and has no ``sessions`` runs them all, as they arrived.
    """

    name: str
    sessions: list[SessionSpec] = []
    title: str = ""
    scale: float | None = None
    seed: int | None = None
    saving: float | None = None
    scale_options: bool = True
    options: dict[str, int | str | bool] = {}
    run: RunOfPlan | None = None
    commands: dict[str, CommandSpec] = {}
    derived: str | None = None
