"""``python -m tools.sizing CAMPAIGN...``: does ``mawl size`` pick the arm that runs of lab campaigns pick?

For each catalogue one campaign is drawn.  Its arms, with the devices that the bed's calibration measured,
are candidates with made-up prices; the first arm's run is the base; a bound of the elapsed time is drawn.
The right pick is the cheapest arm that kept the bound in its run.  Prints how often the pick is that arm or
within 5 % of its cost, how often it was too slow, and how often it is dearer or there is none.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

import tomli_w

from mawl.advice.judge import judged
from mawl.figures.view import StoredView
from mawl.simulation.system import System
from mawl.whatif.size.answer import size
from mawl.whatif.size.candidates import load_catalogue
from mawl.whatif.size.question import SizedRun, SizeQuestion
from tools.forecasts import Campaign

NEAR_RATIO = 1.05
Outcome = Literal["right", "too slow", "dearer"]
Pick = Callable[[Mapping[str, float], float], str | None]
"""From prices by arm and a bound in seconds to the arm that mawl picks."""


def outcomes(folders: Sequence[Path], catalogues: int, probability: float, seed: int = 1) -> Counter[Outcome]:
    """How the picks of so many random catalogues compare with those of the runs."""
    draw = random.Random(seed)
    beds = [_Arms(Campaign(folder)) for folder in folders]
    return Counter(draw.choice(beds).outcome(draw, probability) for _ in range(catalogues))


def outcome(draw: random.Random, measured: Mapping[str, float], pick_of: Pick) -> Outcome:
    """How a pick compares with that of the runs, for one catalogue of arms and their measured seconds."""
    prices = {arm: draw.uniform(500.0, 5000.0) for arm in measured}
    bound = draw.uniform(min(measured.values()), 1.2 * max(measured.values()))
    truth = min((arm for arm in prices if measured[arm] <= bound), key=prices.__getitem__)
    pick = pick_of(prices, bound)
    if pick is not None and measured[pick] > bound:
        return "too slow"
    return "right" if pick is not None and prices[pick] <= NEAR_RATIO * prices[truth] else "dearer"


class _Arms:
    """A campaign's arms as candidates, and the elapsed seconds that they really took."""

    def __init__(self, campaign: Campaign) -> None:
        self.base = campaign.base()
        self.systems = {arm: campaign.system(arm, campaign.memory_bytes) for arm, _ in campaign.runs}
        self.measured = {
            arm: judged(StoredView(run)).time.elapsed_seconds or 0.0 for arm, run in campaign.runs
        }

    def outcome(self, draw: random.Random, probability: float) -> Outcome:
        """Of one catalogue."""
        return outcome(draw, self.measured, partial(self._pick, probability))

    def _pick(self, probability: float, prices: Mapping[str, float], bound: float) -> str | None:
        question = SizeQuestion(
            sessions=None, answer_bound=2.0, within_seconds=bound, probability=probability
        )
        start = SizedRun(base=self.base, slowdown=None, doubt=None)
        offers = [_offer(arm, self.systems[arm], price) for arm, price in prices.items()]
        with TemporaryDirectory(prefix="mawl-sizing-") as folder:
            file = Path(folder) / "offers.toml"
            file.write_text(tomli_w.dumps({"candidate": offers}))
            return size(start, question, load_catalogue(file)).pick


def _offer(arm: str, system: System, price: float) -> dict[str, object]:
    """An arm's bed as a candidate of a catalogue, without the figures that are not known."""
    kind = system.nodes[0]
    offer = {
        "name": arm,
        "price": price,
        "nodes": kind.count,
        "cores": kind.cores,
        "memory_bytes": kind.memory_bytes,
        "link_bytes_per_second": kind.link_bytes_per_second,
        "roles": {role: list(names) for role, names in kind.roles.items()},
        "devices": {
            device.name: {
                name: value for name, value in vars(device).items() if value is not None and name != "name"
            }
            for device in system.devices
        },
    }
    return {name: value for name, value in offer.items() if value is not None}


def main() -> None:
    """Print the shares."""
    parser = argparse.ArgumentParser(prog="python -m tools.sizing", description=__doc__)
    parser.add_argument(
        "campaigns", nargs="+", type=Path, metavar="CAMPAIGN", help="folders of lab campaigns"
    )
    parser.add_argument("--catalogues", type=int, default=100, metavar="N", help="to draw (default: 100)")
    parser.add_argument("--probability", type=float, default=0.5, metavar="P", help="as of mawl size")
    given = parser.parse_args()
    found = outcomes(given.campaigns, given.catalogues, given.probability)
    print(", ".join(f"{word}: {found[word]}" for word in ("right", "too slow", "dearer")))


if __name__ == "__main__":
    main()
