"""Catalogues of ``mawl size``: what is wrong in one is said in one sentence that names the key."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest

from mawl.base.errors import MawlError
from mawl.records.store.campaign import write_qualification
from mawl.simulation.error_range import measured_ratios, probability_within
from mawl.whatif.size.answer import size
from mawl.whatif.size.candidates import MOST_CANDIDATES, changes_of, load_catalogue
from mawl.whatif.size.question import SizeQuestion, start_of, window_of
from tests.fakes.fitted import SESSIONS, write
from tests.fakes.qualifications import finished_run, qualification
from tests.figures.test_night import HOUR, ran
from tests.reports.test_night import MISSED, report
from tests.simulation.scenes import device, flow, step, system
from tests.simulation.test_lab_forecasts import campaign
from tools.sizing import Outcome, outcome, outcomes

GOOD = '[[candidate]]\nname = "a"\nprice = 10\ncores = 4\n'
FLASH = '[candidate.devices.flash]\nread_bytes_per_second = "1GB"\nwrite_bytes_per_second = 1e9\n'


def loaded(tmp_path: Path, text: str) -> object:
    file = tmp_path / "offers.toml"
    file.write_text(text)
    return load_catalogue(file)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "key candidate: required, but missing"),
        ("candidate = []", "there is no candidate"),
        (GOOD.replace("price = 10\n", ""), r"key candidate\[0\].price: required, but missing"),
        (GOOD.replace("cores = 4\n", ""), r"candidate\[0\]: has no cores; write cores, or instance"),
        (GOOD + "memory_gb = 4\n", r"memory_gb: unknown, expected one of name, price, instance, cores"),
        (GOOD.replace("10", "nan"), "expected a price above 0 and up to 1e\\+15, found nan"),
        (GOOD.replace("10", "1e308"), "expected a price above 0 and up to 1e\\+15, found 1e\\+308"),
        (GOOD.replace("10", "-3"), "expected a price above 0"),
        (GOOD.replace("10", '"10 EUR"'), "expected a number, found text|expected a number, found `?str"),
        (GOOD.replace('"a"', '" "'), "the name is empty"),
        (GOOD.replace('"a"', f'"{"a" * 101}"'), "the name has 101 characters; at most 100 are allowed"),
        ('currency = "' + "E" * 21 + '"\n' + GOOD, "key currency: expected .*length"),
        (GOOD + GOOD, r"two \[\[candidate\]\] entries have the name 'a'"),
        (GOOD + "nodes = 0\n", "expected 1 to 1000 nodes, found 0"),
        (GOOD + 'probe = "p.json"\n' + FLASH, "has both a probe and devices or roles"),
        (GOOD + 'roles = { data = ["x"] }\n', "has roles but no devices"),
        (GOOD + '[[upgrade]]\nname = "u"\nprice = 1\nset = {}\n', "sets nothing"),
        (GOOD + '[[upgrade]]\nname = "u"\nprice = 1\nset = { speed = 2 }\n', "key set.speed: unknown"),
        (GOOD + '[[upgrade]]\nname = "u"\nprice = 0\nset = { cores = 2 }\n', "expected a price above 0"),
        (
            GOOD + '[[upgrade]]\nname = "u"\nprice = 1\nset = { cores = 2 }\ncandidates = ["b"]\n',
            "candidate 'b' is not in the catalogue",
        ),
        ("\0", "is not valid TOML"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(MawlError, match=said) as found:
        loaded(tmp_path, text)
    assert str(tmp_path / "offers.toml") in str(found.value)


def test_too_many_candidates_are_refused_before_any_is_simulated(tmp_path: Path) -> None:
    many = "".join(f'[[candidate]]\nname = "{number}"\nprice = 1\ncores = 1\n' for number in range(5000))
    with pytest.raises(
        MawlError, match=rf"there are 5000 \[\[candidate\]\] entries; at most {MOST_CANDIDATES} are allowed"
    ):
        loaded(tmp_path, many)
    with pytest.raises(MawlError, match="larger than the 2 MiB"):
        loaded(tmp_path, "# " + "x" * 2**22)


def test_a_file_that_cannot_be_read_and_a_probe_that_is_none_are_named(tmp_path: Path) -> None:
    with pytest.raises(MawlError, match="cannot be read"):
        load_catalogue(tmp_path / "none.toml")
    with pytest.raises(MawlError, match="cannot be read"):
        load_catalogue(tmp_path)
    (tmp_path / "p.json").write_text("{}")
    with pytest.raises(MawlError, match=r"p\.json.* is not what mawl probe writes"):
        loaded(tmp_path, GOOD + 'probe = "p.json"\n')


def test_an_upgrade_sets_figures_as_simulate_does(tmp_path: Path) -> None:
    sets = 'set = { cores = 8, "flash.read" = 2e9, memory = "64GiB", core_speed = 1.5 }'
    file = tmp_path / "offers.toml"
    file.write_text(f'{GOOD}[[upgrade]]\nname = "u"\nprice = 1\n{sets}\n')
    found = {change.key: change.value for change in changes_of(load_catalogue(file).file.upgrade[0])}
    assert found == {"cores": "8.0", "flash.read": "2000000000", "memory": "64GiB", "core_speed": "1.5"}


def test_an_empty_name_of_a_probe_is_not_taken_for_none(tmp_path: Path) -> None:
    file = tmp_path / "offers.toml"
    file.write_text('[[candidate]]\nname = "a"\nprice = 1\ncores = 1\nprobe = ""\n')
    with pytest.raises(
        MawlError, match=r"offers\.toml: candidate\[0\]\.probe: the name of the file is empty"
    ):
        load_catalogue(file)


ASKED = SizeQuestion(sessions=None, answer_bound=2.0, within_seconds=None, probability=0.5)


def test_a_qualification_is_sized_from_its_middle_measured_run(tmp_path: Path) -> None:
    for number, seconds in enumerate((1.5, 1.6, 1.4), 1):
        write(tmp_path / f"runs/measured-{number}", [step(seconds, flow(20, direction="read"))] * SESSIONS)
    runs = [finished_run("measured", number, SESSIONS) for number in (1, 2, 3)]
    write_qualification(tmp_path, qualification(runs=runs))
    start = start_of(str(tmp_path), tmp_path, None)
    single = start_of(str(tmp_path / "runs/measured-1"), tmp_path, None)
    assert start.slowdown == single.slowdown and start.slowdown is not None
    assert start.sessions == start.every_session == SESSIONS
    offers = tmp_path / "offers.toml"
    offers.write_text('[[candidate]]\nname = "many cores"\nprice = 2\ncores = 64\n')
    answer = size(start, ASKED, load_catalogue(offers))
    assert answer.sessions == SESSIONS and answer.measured == start.slowdown
    # What the device can do for more cores is not known, so the forecast counts for nothing.
    assert answer.candidates[0].probability is None and answer.pick is None
    assert any("mawl probe" in said for said in answer.candidates[0].reasons)


def test_derived_jobs_that_are_due_have_the_window_of_their_night(tmp_path: Path) -> None:
    """The first job starts at 1:00 and all are due at 10:00: nine hours, whenever the last one ended."""
    for name, jobs in (("missed", MISSED), ("held", ran(a=(1, 3), b=(3, 5), c=(5, 8), d=(3, 4)))):
        (tmp_path / name).mkdir()
        report(tmp_path / name, jobs)
        start = start_of(str(tmp_path / name / "run"), tmp_path, system(device()))
        assert start.window_seconds == pytest.approx(9 * HOUR)
        assert window_of(start, ASKED) == start.window_seconds
        asked = SizeQuestion(sessions=None, answer_bound=2.0, within_seconds=60.0, probability=0.5)
        assert window_of(start, asked) == 60.0


def test_a_qualification_without_a_measured_run_says_what_to_do(tmp_path: Path) -> None:
    write_qualification(tmp_path, qualification(runs=[]))
    with pytest.raises(MawlError, match="has no measured run with a known slowdown"):
        start_of(str(tmp_path), tmp_path, None)


def test_of_arms_that_run_as_forecast_the_pick_is_nearly_always_theirs(tmp_path: Path) -> None:
    arms = {"slow": 20.0, "middle": 40.0, "fast": 80.0}
    folders = [campaign(tmp_path / "one", "here", arms), campaign(tmp_path / "two", "there", {"only": 30.0})]
    found = outcomes(folders, 30, 0.5)
    assert sum(found.values()) == 30
    assert found["right"] >= 24 and found["too slow"] <= 3


def test_a_safer_pick_is_never_an_arm_that_is_too_slow(tmp_path: Path) -> None:
    folder = campaign(tmp_path / "one", "here", {"slow": 20.0, "middle": 40.0, "fast": 80.0})
    found = outcomes([folder], 20, 0.97)
    assert found["too slow"] == 0 and found["dearer"] > 0


PAGE = Path(__file__).parents[3] / "docs/reference/forecasts.md"
UNITS = {"h": 3600.0, "min": 60.0, "s": 1.0}
CATALOGUES = 2000


class Arm(NamedTuple):
    """Seconds, summed over the arm's jobs."""

    forecast: float
    measured: float
    calibrates: bool


def seconds_of(text: str) -> float:
    words = text.split()
    return sum(float(number) * UNITS[unit] for number, unit in zip(words[::2], words[1::2], strict=True))


@pytest.fixture(scope="module")
def campaigns() -> dict[str, dict[str, Arm]]:
    found: dict[str, dict[str, Arm]] = defaultdict(dict)
    for line in PAGE.read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 6 and cells[2] == "time.real_time_seconds":
            found[cells[0]][cells[1]] = Arm(
                seconds_of(cells[3]), seconds_of(cells[4]), "(calibrates)" in cells[1]
            )
    assert len(found) == 12 and sum(map(len, found.values())) == 32
    return found


def shares(campaigns: dict[str, dict[str, Arm]], probability: float) -> tuple[float, float, float]:
    """Shares of all catalogues: the right pick or within 5 % of its cost; too slow an arm; a dearer one."""
    draw = random.Random(29)
    found: Counter[Outcome] = Counter()
    for _ in range(CATALOGUES):
        name = draw.choice(list(campaigns))
        arms = campaigns[name]
        others = [
            arm.forecast / arm.measured - 1.0
            for other, of in campaigns.items()
            for arm in of.values()
            if other.split()[0] != name.split()[0] and not arm.calibrates
        ]
        pick = partial(cheapest, arms, measured_ratios(others), probability)
        found[outcome(draw, {name: arm.measured for name, arm in arms.items()}, pick)] += 1
    return found["right"] / CATALOGUES, found["too slow"] / CATALOGUES, found["dearer"] / CATALOGUES


def cheapest(
    arms: dict[str, Arm],
    ratios: Sequence[float],
    probability: float,
    prices: Mapping[str, float],
    bound: float,
) -> str | None:
    """The cheapest arm that keeps the bound with the probability."""
    likely = [arm for arm in arms if probability_within(arms[arm].forecast, bound, ratios) >= probability]
    return min(likely, key=prices.__getitem__, default=None)


def test_the_pick_is_that_of_the_measured_arms_in_nine_of_ten(
    campaigns: dict[str, dict[str, Arm]],
) -> None:
    right, slow, dear = shares(campaigns, 0.5)
    assert right >= 0.90
    assert slow <= 0.05 and dear <= 0.05


def test_a_safe_pick_is_seldom_too_slow(campaigns: dict[str, dict[str, Arm]]) -> None:
    right, slow, _ = shares(campaigns, 0.8)
    assert slow <= 0.01 and right >= 0.75
