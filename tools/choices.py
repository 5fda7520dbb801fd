"""Systems that mawl chose by price, beside runs of every system of the choice.

``python -m tools.choices [FILE...]`` adds the rows of ``tests/cli/test_choices.py`` (``MAWL_TEST_CHOICES``)
to docs/reference, and prints the page.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import median

import msgspec

from mawl.base.units import format_plain, format_rate, format_ratio
from tools.kept_lines import print_page
from tools.known_truth import KnownBed
from tools.markdown import table

PAGE = Path("docs/reference/choices.md")
NEAR_PRICE_RATIO = 1.05
"""A pick that carries is right up to this times the price of the cheapest system that does."""


class Offer(msgspec.Struct, frozen=True, kw_only=True):
    """A bed that stands for an instance type, its price an hour, and W of runs with the needed sessions."""

    bed: KnownBed
    price: float
    slowdowns: list[float] = []


class Choice(msgspec.Struct, frozen=True, kw_only=True):
    """What ``command`` picked of the offers (None: nothing), and its first sentence."""

    measured_at: str
    commit: str
    machine: str
    name: str
    command: str
    sessions: int
    bound: float
    offers: dict[str, Offer]
    pick: str | None
    sentence: str

    def carries(self, name: str) -> bool:
        return median(self.offers[name].slowdowns) <= self.bound

    def best(self) -> str | None:
        """The cheapest offer whose runs were within the bound."""
        carry = [name for name in self.offers if self.carries(name)]
        return min(carry, key=lambda name: self.offers[name].price, default=None)

    def verdict(self) -> str:
        """Right, or what is wrong with the pick."""
        best = self.best()
        if self.pick is None or best is None:
            return "right" if self.pick == best else "too careful" if best else "too slow"
        if not self.carries(self.pick):
            return "too slow"
        limit = NEAR_PRICE_RATIO * self.offers[best].price
        return "right" if self.offers[self.pick].price <= limit else "too dear"


def stored(lines: Sequence[bytes]) -> list[Choice]:
    """The newest row of each choice."""
    rows = [msgspec.json.decode(line, type=Choice) for line in lines]
    return list({row.name: row for row in rows}.values())


def page(rows: Sequence[Choice]) -> str:
    """The page of the rows."""
    lines = [
        "# Choices by price, measured whole",
        "",
        "Printed by `python -m tools.choices` from the rows of `tests/cli/test_choices.py`.",
        "Each offer is a bed (processors, rate caps on devices of roles) with a made-up price.",
        "`mawl rank` chooses among qualifications of all offers, `mawl size` from one of another bed.",
        "Then the needed sessions run on every offer; *W* is their slowdown by a second formula.",
        f"A pick is right if its W is within the bound, at most {100 * (NEAR_PRICE_RATIO - 1):.0f} % "
        "above the least price of such an offer; to pick nothing is right if there is none.",
        "",
        "*Three types, 2 sessions* was 4 % from the bound when chosen. The virtual machine got slower:",
        "the same jobs took 12.1 CPU s in the qualification, and 12.6 to 14.3 in runs ten minutes later.",
        "*Too slow*: the pick does not carry. *Too dear*: it carries, but costs over "
        f"{100 * (NEAR_PRICE_RATIO - 1):.0f} % more than the cheapest that does.",
        "The run behind *catalogues* had 2 sessions, that behind *faster catalogues* 3.",
        "",
        f"Right: {sum(row.verdict() == 'right' for row in rows)} of {len(rows)}. "
        f"In {sum(row.best() is None for row in rows)} of them no offer carried.",
        *sorted({f"Machine: {row.machine}, commit {row.commit[:12]}." for row in rows}),
    ]
    for row in rows:
        lines += [
            "",
            f"## {row.name}",
            "",
            f"`mawl {row.command}`, {row.measured_at[:10]}, {row.sessions} needed, bound "
            f"{format_ratio(row.bound)}: {row.verdict()}.",
            f"It said: {row.sentence}",
            "",
            *table(("offer", "price", "processors", "caps", "W", "carries", "picked"), _offer_rows(row)),
        ]
    return "\n".join(lines)


def _offer_rows(row: Choice) -> list[tuple[str, ...]]:
    """The offers of a choice, the cheapest first."""
    return [
        (
            name,
            format_plain(offer.price),
            str(offer.bed.processors),
            ", ".join(f"{role} {format_rate(cap)}" for role, cap in offer.bed.caps.items()) or "-",
            ", ".join(map(format_ratio, offer.slowdowns)),
            "yes" if row.carries(name) else "no",
            "yes" if name == row.pick else "-",
        )
        for name, offer in sorted(row.offers.items(), key=lambda one: one[1].price)
    ]


if __name__ == "__main__":
    print_page(__doc__, PAGE, stored, page)
