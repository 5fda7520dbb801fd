"""Choose systems by price as an architect does, then run the needed sessions on each of them.

``MAWL_TEST_CHOICES`` names a file that gets a line of JSON for each choice; ``tools/choices.py`` prints it.
"""

from __future__ import annotations

import json
import os
import random
import sys
import time
from pathlib import Path

import msgspec
import pytest

from mawl.base.units import format_instant
from mawl.records.spec.program_options import ROLES, Role
from tests import needs
from tests.advice.limit.beds import AMPLE_BYTES_PER_SECOND, Bed, command
from tests.cli.test_qualify_truth import NEAR_RATIO, SMOKE, made, mawl, qualified, run_once
from tests.cli.test_worse_beds import bed as bed
from tests.lab.quiet import quiet_machine
from tools.choices import PAGE, Choice, Offer, page, stored
from tools.known_truth import JudgedBed, KnownBed

TYPES = {
    "small": Offer(bed=KnownBed(caps={"work": 50_000_000}, scale=SMOKE), price=0.10),
    "balanced": Offer(bed=KnownBed(scale=SMOKE), price=0.19),
    "large": Offer(bed=KnownBed(processors=2, scale=SMOKE), price=0.24),
}
BASE = KnownBed(processors=2, sessions=3, minutes=6, scale=SMOKE)
CATALOGUES, OFFERS = 4, 4
RANGES: dict[str, dict[Role, tuple[int, int]]] = {
    "Catalogue": {"data": (8, 80), "work": (40, 300), "util": (8, 80)},
    "Faster catalogue": {"data": (40, 320), "work": (160, 400), "util": (40, 320)},
}
"""Rates in MB/s from which offers are drawn: few carry the sessions, or most do."""


def drawn(draw: random.Random, sessions: int, ranges: dict[Role, tuple[int, int]]) -> dict[str, Offer]:
    """Offers whose price grows with what they have, and not in step with it."""
    offers = {}
    for number in range(OFFERS):
        processors = draw.choice((1, 2, 2))
        caps = {
            role: round(low * (high / low) ** draw.random()) * 10**6
            for role, (low, high) in ranges.items()
            if draw.random() < 0.6
        }
        rates = [caps.get(role, AMPLE_BYTES_PER_SECOND) for role in ROLES]
        price = (0.08 * processors + 0.0004 * sum(rates) / 1e6) * draw.uniform(0.7, 1.4)
        known = KnownBed(caps=caps, processors=processors, sessions=sessions, scale=SMOKE)
        offers[f"offer-{number + 1}"] = Offer(bed=known, price=round(price, 3))
    return offers


def measured(bed: Bed, offer: Offer, scale: float, bound: float) -> Offer:
    """The offer with W of its runs: two, and one more where they are near to the bound."""
    made(bed, offer.bed)
    slowdowns = [run_once(bed, offer.bed, scale).slowdown for _ in range(2)]
    if any(abs(slowdown / bound - 1) <= NEAR_RATIO for slowdown in slowdowns):
        slowdowns.append(run_once(bed, offer.bed, scale).slowdown)
    return msgspec.structs.replace(offer, slowdowns=slowdowns)


def noted(
    bed: Bed, name: str, asked: str, base: JudgedBed, offers: dict[str, Offer], said: tuple[str | None, str]
) -> Choice:
    """The choice with the runs of all offers, as a line of the test's output and of the file for the page."""
    needed = next(iter(offers.values())).bed.sessions
    choice = Choice(
        measured_at=format_instant(time.time()),
        commit=command("git", "rev-parse", "HEAD").strip(),
        machine=base.machine,
        name=name,
        command=asked,
        sessions=needed,
        bound=base.bound,
        offers={of: measured(bed, offer, base.scale, base.bound) for of, offer in offers.items()},
        pick=said[0],
        sentence=said[1],
    )
    line = msgspec.json.encode(choice).decode()
    sys.stdout.write(f"{line}\n")
    if kept := os.environ.get("MAWL_TEST_CHOICES"):
        with Path(kept).open("a") as file:
            file.write(f"{line}\n")
    return choice


@pytest.mark.lab
@needs.marks(needs.TWO_PROCESSORS)
@pytest.mark.long(minutes=20)
def test_the_cheapest_of_three_types_that_carries_is_chosen(bed: Bed) -> None:
    rows = [qualified(bed, name, offer.bed) for name, offer in TYPES.items()]
    lines = ['currency = "USD"', "[per_hour]", *(f"{name} = {offer.price}" for name, offer in TYPES.items())]
    (bed.directory / "prices.toml").write_text("\n".join(lines))
    asked = ("rank", *TYPES, "--prices", "prices.toml", "--sessions", "1")
    sentence = first_sentence(mawl(bed, 2, *asked))
    pick = json.loads(mawl(bed, 2, *asked, "--format", "json"))["pick"]
    choice = noted(bed, "Three types", " ".join(asked), rows[0], TYPES, (pick, sentence))
    assert choice.verdict() == "right", choice


@pytest.mark.lab
@needs.marks(needs.TWO_PROCESSORS)
@pytest.mark.long(minutes=25)
@pytest.mark.parametrize("kind", RANGES)
def test_picks_of_drawn_catalogues_carry_at_the_least_price(bed: Bed, kind: str) -> None:
    base = qualified(bed, "base", BASE)
    found = {}
    for number in range(1, CATALOGUES + 1):
        draw = random.Random(number)
        sessions = draw.choice((1, 2))
        offers = drawn(draw, sessions, RANGES[kind])
        (bed.directory / "offers.toml").write_text("\n".join(map(listed, offers, offers.values())))
        asked = ("size", "offers.toml", "base", "--sessions", str(sessions))
        sentence = first_sentence(mawl(bed, 2, *asked, statuses=(0, 3, 4)))
        pick = json.loads(mawl(bed, 2, *asked, "--format", "json", statuses=(0, 3, 4)))["pick"]
        quiet_machine()
        name = f"{kind} {number}"
        found[name] = noted(bed, name, " ".join(asked), base, offers, (pick, sentence)).verdict()
    assert set(found.values()) == {"right"}, found


def first_sentence(text: str) -> str:
    return " ".join(text.partition("\n\n")[0].split()).partition(". ")[0]


def listed(name: str, offer: Offer) -> str:
    """The offer as a candidate of a catalogue."""
    roles = ", ".join(f'{role} = ["{role}-volume"]' for role in ROLES)
    lines = ["[[candidate]]", f'name = "{name}"', f"price = {offer.price}", f"cores = {offer.bed.processors}"]
    lines.append(f"roles = {{ {roles} }}")
    for role in ROLES:
        rate = offer.bed.caps.get(role, AMPLE_BYTES_PER_SECOND)
        lines += [f"[candidate.devices.{role}-volume]", f"read_bytes_per_second = {rate}"]
        lines += [f"write_bytes_per_second = {rate}"]
    return "\n".join(lines)


def choice_of(pick: str | None, *slowdowns: float) -> Choice:
    offers = {
        f"at {price}": Offer(bed=KnownBed(), price=price, slowdowns=[slowdown])
        for price, slowdown in zip((1.0, 1.04, 2.0), slowdowns, strict=True)
    }
    return Choice(
        measured_at="2026-12-01T05:00:00Z",
        commit="0123456789abcdef",
        machine="2 cores of a CPU",
        name="a choice",
        command="rank",
        sessions=1,
        bound=2.0,
        offers=offers,
        pick=pick,
        sentence="Take it.",
    )


@pytest.mark.parametrize(
    ("choice", "verdict"),
    [
        (choice_of("at 1.0", 1.5, 1.5, 1.5), "right"),
        (choice_of("at 1.04", 1.5, 1.5, 1.5), "right"),
        (choice_of("at 2.0", 1.5, 1.5, 1.5), "too dear"),
        (choice_of("at 1.0", 2.5, 1.5, 1.5), "too slow"),
        (choice_of(None, 2.5, 2.5, 1.5), "too careful"),
        (choice_of(None, 2.5, 2.5, 2.5), "right"),
        (choice_of("at 2.0", 2.5, 2.5, 2.5), "too slow"),
    ],
)
def test_a_pick_is_judged_by_the_runs_of_all_offers(choice: Choice, verdict: str) -> None:
    assert choice.verdict() == verdict


def test_the_page_is_that_of_its_rows_and_one_pick_was_too_slow_and_two_too_dear() -> None:
    rows = stored(PAGE.with_suffix(".jsonl").read_bytes().splitlines())
    assert PAGE.read_text() == page(rows)
    assert [row.verdict() for row in rows if row.verdict() != "right"] == [
        "too slow",
        "too dear",
        "too dear",
    ]
