"""What a campaign is asked to be: several runs of a ``RunSpec`` for one question.

``ArmSetting`` is the table ``[setting]`` in a file of ``--ab``: what an arm changes outside mawl
(docs/design/arm-settings.md).
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Annotated, Literal

import msgspec

from mawl.base.errors import UsageError
from mawl.base.printable import printable
from mawl.records.spec.forms import NodeCounts, Option, Switch, TwoFiles, Whole, YesNo, options_of
from mawl.records.spec.run_spec import MOST_SESSIONS

AskedKind = Literal["repeat", "ab", "find-sessions", "scaling", "smt"]
RUNS_OF_AN_ARM: dict[AskedKind, int] = {"repeat": 1, "ab": 5, "find-sessions": 3, "scaling": 1, "smt": 5}
"""Without ``--repeat``; for ``find-sessions``: around the knee, for ``ab`` and ``smt``: as many as a
statement needs (``comparison.fewest_runs``)."""

MOST_REPEATS = 1000


class CampaignSpec(msgspec.Struct, frozen=True, kw_only=True):
    """Options of ``mawl run`` that make a campaign of it."""

    repeat: Annotated[
        int | None,
        Option(
            form=Whole(1, MOST_REPEATS, of="runs"),
            metavar="N",
            help="a campaign: the same run N times, with median, range and interval; with another campaign N "
            f"runs of each of its arms (default: {RUNS_OF_AN_ARM['ab']} a side for --ab, "
            f"{RUNS_OF_AN_ARM['find-sessions']} around the largest number that fits for --find-sessions, "
            f"{RUNS_OF_AN_ARM['scaling']} for --scaling)",
            group="campaign",
            brief="the same run N times, with median, range and interval",
        ),
    ] = None
    ab: Annotated[
        tuple[str, str] | None,
        Option(
            form=TwoFiles(),
            metavar=("A.toml", "B.toml"),
            help="a campaign: A against B in the order A B B A, then compared; each is a file of options of "
            "mawl run (mawl help campaigns), or a workload",
            group="campaign",
            brief="A against B in the order A B B A, then compared",
        ),
    ] = None
    find_sessions: Annotated[
        bool,
        Option(
            form=Switch(),
            help="a campaign: sessions grow until they are no longer carried, and the largest number that is "
            "carried is found with its interval; with --sessions N it begins at N",
            group="campaign",
            brief="the largest number of sessions that is carried",
        ),
    ] = False
    most_sessions: Annotated[
        int | None,
        Option(
            form=Whole(1, MOST_SESSIONS, of="sessions"),
            metavar="N",
            help=f"with --find-sessions: go no further than N (default: {MOST_SESSIONS}; of mixed20 from "
            "fewer than 5 sessions: 4)",
        ),
    ] = None
    scaling: Annotated[
        tuple[int, ...],
        Option(
            form=NodeCounts(),
            metavar="N,N,...",
            help="a campaign, with --cluster or --ssh: the run on the first 1, 2, 4 nodes, say, with speedup "
            "and efficiency",
            group="nodes",
            brief="a campaign: the run on the first 1, 2, 4 nodes, say",
        ),
    ] = ()
    smt: Annotated[
        bool,
        Option(
            form=Switch(),
            help="a campaign: the run in each SMT mode of the machine (hardware threads per core), "
            f"{RUNS_OF_AN_ARM['smt']} runs each; mawl switches and checks the mode, and restores the first "
            "mode at the end (needs root)",
        ),
    ] = False
    warm_up: Annotated[
        bool | None,
        Option(
            form=YesNo(),
            help="with --repeat, --ab and --scaling: make one run of the first arm before all others and "
            "leave it out of every figure (default: yes)",
        ),
    ] = None

    @property
    def kind(self) -> AskedKind | None:
        asked = self._kinds()
        return asked[0] if asked else None if self.repeat is None else "repeat"

    def _kinds(self) -> list[AskedKind]:
        found: list[AskedKind] = []
        if self.ab is not None:
            found.append("ab")
        if self.find_sessions:
            found.append("find-sessions")
        if self.smt:
            found.append("smt")
        return [*found, "scaling"] if self.scaling else found

    def runs_of_an_arm(self, kind: AskedKind) -> int:
        return RUNS_OF_AN_ARM[kind] if self.repeat is None else self.repeat

    def check(self, given: Collection[str]) -> None:
        """UsageError for what does not go together; ``given`` are the fields that the run's options set."""
        kinds = self._kinds()
        if len(kinds) > 1:
            raise UsageError(f"--{kinds[0]} and --{kinds[1]} do not go together")
        if self.most_sessions is not None and self.kind != "find-sessions":
            raise UsageError("--most-sessions goes with --find-sessions")
        if self.warm_up is not None and self.kind in (None, "find-sessions"):
            raise UsageError("--warm-up goes with --repeat, --ab or --scaling")
        several = "cluster" in given or "ssh" in given
        if self.kind == "find-sessions" and several:
            raise UsageError(
                "--find-sessions does not go with a run on several nodes",
                why="it finds the size of one machine",
                cure="run it on a node, then --scaling over the nodes",
            )
        if self.kind == "smt":
            self._check_smt(given, several=several)
        if self.kind != "scaling":
            return
        if not several:
            raise UsageError(
                "--scaling goes over the nodes of a cluster", cure="name it with --cluster or --ssh"
            )
        for name in ("on", "nodes"):
            if name in given:
                raise UsageError(f"--{name} does not go with --scaling, which chooses the nodes itself")

    def _check_smt(self, given: Collection[str], *, several: bool) -> None:
        if several:
            raise UsageError(
                "--smt does not go with a run on several nodes",
                why="it switches the mode of this machine alone",
                cure="run it on a node",
            )
        if "cores" in given:
            raise UsageError(
                "--smt does not go with --cores",
                why="--cores counts hardware threads, and each mode has a different number of them",
                cure="leave it out: all cores are used in each mode",
            )


CAMPAIGN_OPTIONS = options_of(CampaignSpec)
"""Field to option."""


DEFAULT_SECONDS = 60.0
MOST_SECONDS = 3600.0
LONGEST_NAME, LONGEST_COMMAND, LONGEST_EXPECTED = 80, 4096, 200


class ArmSetting(msgspec.Struct, frozen=True, kw_only=True):
    """Each command is text for sh.

    ``check`` ends with 0, and prints ``expect`` where there is one, as long as the setting is what the arm
    asks for.  ``before`` makes it so, ``after`` undoes that; an arm without both only checks.  ``seconds`` is
    how long each command may take.
    """

    name: str
    check: str
    before: str | None = None
    after: str | None = None
    expect: str | None = None
    seconds: float = DEFAULT_SECONDS

    def problem(self) -> tuple[str, str] | None:
        """The key that is wrong and what is wrong with it; None where all is well."""
        for key in ("name", "check", "before", "after", "expect"):
            text = getattr(self, key)
            most = {"name": LONGEST_NAME, "expect": LONGEST_EXPECTED}.get(key, LONGEST_COMMAND)
            if text is None:
                continue
            if not text.strip():
                return key, "is empty"
            if len(text) > most:
                return key, f"has {len(text)} characters, and mawl takes {most}"
            if printable(text, "\n\t" if most == LONGEST_COMMAND else "") != text:
                return key, "holds a control character"
        if (self.before is None) != (self.after is None):
            there, lacks = ("before", "after") if self.after is None else ("after", "before")
            return lacks, f"required, because {there} is there: one makes the change, the other undoes it"
        if not 0 < self.seconds <= MOST_SECONDS:
            return "seconds", f"expected more than 0 and at most {MOST_SECONDS:.0f}, found {self.seconds:.3f}"
        return None


class SettingKeys(ArmSetting, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """As a file spells it."""
