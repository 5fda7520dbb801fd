"""Qualify beds whose limit is known: are the answer, limit, role and number of sessions right?

Beds are drawn: the processors, the memory, the rate or delay, the bound of the slowdown, and their order.
Of twelve beds each role's device is capped in two, work's is slow in three, and only the processors limit
three.  After a qualification the test measures the truth: it runs the same plan three more times, and the
slowdown comes from a second formula (``tests/fakes/second_slowdown.py``).  On every third bed it also runs
the mix with one session more each time, until it is too slow.  A draw takes about twenty minutes on an
idle machine, one with a delay or a series about thirty-five.  ``MAWL_TEST_DRAWS`` sets their number,
``MAWL_TEST_FIRST`` the first of them (so they can be made on several days), and ``MAWL_TEST_SEED`` draws the
same again.  Every draw is a line of JSON in the file that ``MAWL_TEST_TRUTH`` names;
``tools/known_truth.py`` prints the page.
"""

from __future__ import annotations

import math
import os
import random
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest

from mawl.campaigns.qualify.choice import SMOKE, needs_at
from mawl.plan.catalogue import CATALOGUE
from mawl.plan.mix import FEWEST_FULL_SESSIONS
from mawl.records.model.qualification import (
    AnswerPart,
    Fits,
    Qualification,
    QualificationAnswer,
    QualificationFigures,
)
from mawl.records.spec.program_options import ROLES, Role
from mawl.records.store.campaign import read_qualification
from mawl.run.runner.restrict import remove_group
from tests.advice.limit.beds import Bed
from tests.advice.limit.draws import generator
from tests.advice.limit.test_ground_truth import ample, made_bed
from tests.fakes.second_slowdown import slowdowns
from tests.lab.quiet import quiet_machine
from tools.known_truth import DrawnBed, JudgedDraw, Kind, page, stored

DRAWS = int(os.environ.get("MAWL_TEST_DRAWS", "12"))
FIRST = int(os.environ.get("MAWL_TEST_FIRST", "0"))
SERIES_EACH = 3
"""One draw in so many has a series of sessions."""
WRONG = 1
"""Of twelve draws so many may be wrong."""
MINUTES: dict[Kind, int] = {"ample": 15, "cap": 15, "delay": 25}
"""Where each request waits, the sessions with random look-ups outlast the others: it takes longer until all
have run beside each other for a minute.
"""
TRUTH_RUNS = 3
MEMORIES = (None, 3 * 2**30, 6 * 2**30)
"""Memory of mawl's control group: each is enough for the sessions of every draw."""
AMPLE: tuple[Kind, Role | None] = ("ample", None)
SLOW: tuple[Kind, Role | None] = ("delay", "work")
CAPPED: Sequence[tuple[Kind, Role | None]] = [("cap", role) for role in ROLES]
LIMITS = (*[AMPLE] * 3, *CAPPED, *CAPPED, *[SLOW] * 3)
"""What limits the beds, in an order that is drawn."""
NEAR_RATIO = 0.10
"""An answer may be not known where the truth lies so near to the bound."""
REQUEST_BYTES = 256 * 1024
MEMORY_GROUPS = Path("/sys/fs/cgroup/memory")


@pytest.fixture
def bed(tmp_path: Path) -> Iterator[Bed]:
    """A volume for each role; any of them can be made slow below its device's queue."""
    yield from made_bed(tmp_path, "nbdkit", "nbdfuse", image_bytes=16 * 2**30)


def drawn_bed(seed: int, number: int) -> DrawnBed:
    """A bed whose limit is clear: storage takes three to five times as long as the processors would.

    A bed for a series has a bound that some number of sessions can meet.
    """
    limits = list(LIMITS)
    random.Random(f"{seed} limits {number // len(limits)}").shuffle(limits)
    kind, role = limits[number % len(limits)]
    draw = random.Random(f"{seed} {number}")
    bare = DrawnBed(
        kind=kind,
        role=role,
        processors=draw.choice((1, 2)),
        memory_bytes=draw.choice(MEMORIES),
        bound=round(draw.uniform(6.0, 10.0), 2) if has_series(number) else draw.choice((3.0, 4.5, 7.0, 10.0)),
    )
    if role is None:
        return bare
    needed = needs_at(FEWEST_FULL_SESSIONS, SMOKE)
    computing = sum(CATALOGUE[name].cpu_seconds(SMOKE) * jobs for name, jobs in needed.programs.items())
    seconds = draw.uniform(3.0, 5.0) * computing / bare.processors
    if kind == "cap":
        return msgspec.structs.replace(bare, cap=int(max(needed.moved[role].values()) / seconds))
    waited = seconds / (sum(needed.moved[role].values()) / REQUEST_BYTES)
    return msgspec.structs.replace(bare, milliseconds=max(2, math.ceil(FEWEST_FULL_SESSIONS * waited * 1000)))


def has_series(number: int) -> bool:
    """Whether the draw has a series of sessions."""
    return number % SERIES_EACH == 0


def made(bed: Bed, drawn: DrawnBed) -> None:
    """Make the bed as drawn."""
    for role in ROLES:
        bed.volumes[role].open(drawn.milliseconds if role == drawn.role else 0)
    ample(bed, but=drawn.role)
    if drawn.role is not None and drawn.cap:
        bed.volumes[drawn.role].cap(drawn.cap)
    (bed.directory / "mawl.toml").write_text(f"answer_bound = {drawn.bound}\n")


@contextmanager
def limited(memory_bytes: int | None) -> Iterator[list[Path]]:
    """The files to which a process writes 0 to have no more memory than this."""
    if memory_bytes is None:
        yield []
        return
    group = MEMORY_GROUPS / f"mawl-truth-{os.getpid()}"
    group.mkdir()
    try:
        (group / "memory.limit_in_bytes").write_text(str(memory_bytes))
        yield [group / "cgroup.procs"]
    finally:
        remove_group(group, seconds=10.0)


def mawl(bed: Bed, drawn: DrawnBed, *words: str, statuses: Sequence[int] = (0,)) -> str:
    """What a command says on the draw's processors, with its memory."""
    processors = sorted(os.sched_getaffinity(0))[: drawn.processors]
    with limited(drawn.memory_bytes) as groups:

        def confine() -> None:
            os.sched_setaffinity(0, processors)
            for group in groups:
                group.write_text("0")

        return said(bed, confine, *words, statuses=statuses)


def said(bed: Bed, confine: Callable[[], None], *words: str, statuses: Sequence[int]) -> str:
    """What a command says in a process that confines itself first."""
    done = subprocess.run(
        [sys.executable, "-m", "mawl", *words],
        cwd=bed.directory,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=3600,
        preexec_fn=confine,
    )
    assert done.returncode in statuses, done.stdout
    return done.stdout


def qualified(bed: Bed, drawn: DrawnBed, name: str) -> Qualification:
    """A qualification over the bed."""
    roles = [word for role in ROLES for word in (f"--{role}", str(bed.volumes[role].place))]
    minutes = str(MINUTES[drawn.kind])
    asked = ("--sessions", str(FEWEST_FULL_SESSIONS), "--minutes", minutes, "--yes", "--output", name)
    mawl(bed, drawn, "qualify", *roles, *asked, statuses=(0, 3, 4))
    return read_qualification(bed.directory / name)


def slowdown_beside(bed: Bed, drawn: DrawnBed, record: Qualification, name: str, sessions: int) -> float:
    """W of one more run of the mix, by the second formula."""
    folder = bed.directory / f"{name}-truth"
    folder = folder / f"{sessions}-{len(list(folder.glob('*')))}"
    places = (word for role in ROLES for word in (f"--{role}", *record.asked.roles[role]))
    assert record.choice is not None
    scale = f"{record.choice.scale:g}"
    asked = ("--sessions", str(sessions), "--scale", scale, "--cache", "none", "--output", str(folder))
    mawl(bed, drawn, "run", "mixed20", *places, *asked)
    return slowdowns(folder)["answer.slowdown"]


def faults_of(drawn: DrawnBed, answer: QualificationAnswer, truth: Sequence[float]) -> list[str]:
    """What an answer got wrong."""
    middle, word = statistics.median(truth), answer.carried.answer
    near = abs(middle / drawn.bound - 1.0) <= NEAR_RATIO
    right = "carried" if middle <= drawn.bound else "not carried"
    faults = []
    if word == "not known" and not near:
        faults.append(f"not known, where W is {middle:.2f}")
    if word not in ("not known", right):
        faults.append(f"{word}, where W is {middle:.2f}")
    low, high = answer.carried.slowdown_low, answer.carried.slowdown_high
    if word != "not known" and low is not None and high is not None and low <= drawn.bound <= high:
        faults.append(f"{word}, though the bound lies in {low:.2f} to {high:.2f}")
    limit = answer.limit
    expected = "cpu" if drawn.role is None else "storage"
    if limit is None or limit.resource != expected or limit.role != drawn.role:
        faults.append(f"limit {limit.resource if limit else None} {limit.role if limit else None}")
    return faults


def noted(judged: JudgedDraw) -> None:
    """A draw as a line of the test's output, and of the file for the table."""
    line = msgspec.json.encode(judged)
    sys.stdout.write(
        f"{judged.drawn}: {judged.answer.sentence} {judged.truth} {judged.faults or 'right'} "
        f"{judged.fitting or ''} {judged.fitting_faults or ''}\n"
    )
    if named := os.environ.get("MAWL_TEST_TRUTH"):
        with Path(named).open("ab") as file:
            file.write(line + b"\n")


def judged(bed: Bed, drawn: DrawnBed, number: int, name: str) -> tuple[JudgedDraw, Qualification]:
    """Qualify the bed, then measure the truth."""
    made(bed, drawn)
    quiet_machine()
    record = qualified(bed, drawn, name)
    answer = record.answer
    assert answer is not None
    truth = [slowdown_beside(bed, drawn, record, name, answer.sessions) for _ in range(TRUTH_RUNS)]
    faults = faults_of(drawn, answer, truth)
    found = JudgedDraw(
        number=number, drawn=drawn, answer=answer, truth=truth, faults=faults, minutes=MINUTES[drawn.kind]
    )
    return found, record


def series(bed: Bed, found: JudgedDraw, record: Qualification, name: str) -> dict[int, list[float]]:
    """Slowdowns by sessions, from the fewest to the first number that is too slow."""
    fitting, sessions = {found.answer.sessions: found.truth}, FEWEST_FULL_SESSIONS
    while True:
        if sessions not in fitting:
            fitting[sessions] = [slowdown_beside(bed, found.drawn, record, name, sessions)]
        if statistics.median(fitting[sessions]) > found.drawn.bound:
            return {number: fitting[number] for number in sorted(fitting)}
        sessions += 1


@pytest.mark.lab
@pytest.mark.long(minutes=300)
def test_answers_over_drawn_beds_are_right_in_eleven_of_twelve(bed: Bed) -> None:
    seed, wrong, wrong_ranges = generator().getrandbits(64), 0, 0
    for number in range(FIRST, FIRST + DRAWS):
        drawn, name = drawn_bed(seed, number), f"draw-{number}"
        found, record = judged(bed, drawn, number, name)
        if has_series(number):
            fitting = series(bed, found, record, name)
            faults = series_faults(most_fitting(fitting, drawn.bound), found.answer)
            found = msgspec.structs.replace(found, fitting=fitting, fitting_faults=faults)
            wrong_ranges += bool(faults)
        noted(found)
        wrong += bool(found.faults)
    assert wrong <= WRONG * DRAWS // 12
    assert wrong_ranges == 0


def most_fitting(fitting: dict[int, list[float]], bound: float) -> int:
    """The most sessions before the first number that is too slow."""
    return min(number for number, found in fitting.items() if statistics.median(found) > bound) - 1


def series_faults(most: int, answer: QualificationAnswer) -> list[str]:
    """What is wrong with the number of sessions that an answer says fit, where ``most`` do."""
    fits = answer.fits
    if most < FEWEST_FULL_SESSIONS:
        right = fits.sessions is None
    else:
        low, high = fits.low or FEWEST_FULL_SESSIONS, fits.high or math.inf
        right = fits.sessions is not None and abs(fits.sessions - most) <= 1 and low <= most <= high
    return [] if right else [f"{most} sessions fit, said {fits.sessions} ({fits.low} to {fits.high})"]


def test_the_page_counts_the_newest_draw_of_a_number_and_shows_all() -> None:
    part = AnswerPart(answer="not carried", sentence="", slowdown=4.4, slowdown_low=4.1, slowdown_high=4.8)
    answer = QualificationAnswer(
        sentence="NO: 5 sessions took 4.40 times mawl's reference time",
        carried=part,
        preliminary=True,
        sessions=5,
        next_step="mawl qualify --work /tmp/pytest-1/test_answers_over_drawn_beds_a0/work --minutes 60",
        figures=QualificationFigures(answer_bound=3.0, guideline_bytes_per_second_per_core=1e8),
        fits=Fits(sessions=6, low=5, high=7),
    )
    capped = DrawnBed(
        kind="cap", role="work", cap=20_000_000, processors=1, memory_bytes=3 * 2**30, bound=3.0
    )
    single = JudgedDraw(number=3, drawn=capped, answer=answer, truth=[4.0, 4.5, 4.25], faults=[], minutes=15)
    wrong = msgspec.structs.replace(single, faults=["limit cpu None"])
    series = msgspec.structs.replace(single, number=6, fitting={5: [2.0, 2.5, 2.25], 6: [2.75], 7: [3.5]})
    draws = stored([msgspec.json.encode(one) for one in (series, wrong, single, wrong, series)])
    assert [(one.number, one.faults) for one in draws] == [(3, ["limit cpu None"]), (3, []), (6, [])]
    assert {one.answer.next_step for one in draws} == {"mawl qualify --work /mnt/work --minutes 60"}
    counted, again = page(draws).split("## Draws that were made again")
    assert "Right: 2 of 2.\nNot made yet, of 12: draws 0, 1, 2, 4, 5, 7, 8, 9, 10, 11.\n" in counted
    row = "| 3 | work capped at 20.0 MB/s | 1 | 3.22 GB | 15 | 3 | NO | 4.40 (4.10 to 4.80) | "
    truth = "4.25 (4.00 to 4.50) | none | "
    assert f"{row}{truth}yes |" in counted
    assert f"{row}{truth}limit cpu None |" in again
    assert "limit cpu None" not in counted
    fit = "| 6 | work capped at 20.0 MB/s | 1 | 3 | 6 | 6 (5 to 7) | "
    assert f"{fit}yes |" in counted
    missed = msgspec.structs.replace(series, fitting_faults=["12 sessions fit"])
    counted, again = page([missed, series]).split("## Draws that were made again")
    assert f"{fit}12 sessions fit |" in again
    assert f"{fit}yes |" in counted
    once = page([wrong])
    assert "Right: 0 of 1." in once
    assert "made again" not in once
    whole = page([msgspec.structs.replace(single, number=number) for number in range(12)])
    assert "Not made yet" not in whole
    assert "| not kept | 3 |" in page([msgspec.structs.replace(single, minutes=None)])


def test_every_draw_is_clear_and_can_be_made() -> None:
    blocks = [
        [drawn_bed(0, len(LIMITS) * block + place) for place in range(len(LIMITS))] for block in range(16)
    ]
    for beds in blocks:
        assert sorted((one.kind, str(one.role)) for one in beds) == sorted(
            (kind, str(role)) for kind, role in LIMITS
        )
    for one in [bed for beds in blocks for bed in beds]:
        assert (one.role is None) == (one.kind == "ample")
        assert 500_000 <= one.cap <= 400_000_000 or one.kind != "cap", one
        assert one.milliseconds <= 60, one
