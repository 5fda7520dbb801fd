"""An arm for each mode of hardware threads (SMT): the mode is the arm's setting, all else is the same."""

from __future__ import annotations

from mawl.measure.smt import SmtMode, SmtModes
from mawl.model.campaign import Arm
from mawl.spec.arm_setting import ArmSetting
from mawl.spec.record import RunSpec

NAME = "SMT mode"


def smt_arms(smt: SmtModes, spec: RunSpec) -> list[Arm]:
    """The arms, fewest threads first; ``size`` is the threads of a core, where they are known.

    The mode that is on now is only checked; every other one is set, and undone by setting that one again.
    """
    return [_arm(mode, smt, spec) for mode in smt.modes]


def _arm(mode: SmtMode, smt: SmtModes, spec: RunSpec) -> Arm:
    now = mode == smt.current
    word = mode.word.lower().replace("=", "-")
    return Arm(
        name=word if word.startswith("smt") else f"smt-{word}",
        workload=spec.workload,
        spec=spec,
        title=mode.word if mode.word.startswith("SMT") else f"SMT {mode.word}",
        size=mode.threads,
        setting=ArmSetting(
            name=NAME,
            check=smt.check,
            expect=mode.word,
            before=None if now else mode.command,
            after=None if now else smt.current.command,
        ),
    )
