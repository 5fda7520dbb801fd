"""Price books and prices of the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from mawl.config.prices import PriceBook, load_prices, with_prices
from mawl.errors import InvalidFileError, UsageError


def test_a_book_is_read_and_the_command_line_goes_over_it(tmp_path: Path) -> None:
    file = tmp_path / "prices.toml"
    file.write_text('currency = "EUR"\n[per_hour]\na = 1.2\nb = 3\n')
    book = with_prices(load_prices(file), ["a=1.5/h", "c=2"])
    assert book == PriceBook(currency="EUR", per_hour={"a": 1.5, "b": 3.0, "c": 2.0})


@pytest.mark.parametrize("text", ["a", "=1", "a=", "a=x/h", "a=0", "a=-1/h", "a=nan", "a=inf"])
def test_what_is_no_price_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="--price"):
        with_prices(PriceBook(), [text])


@pytest.mark.parametrize(
    "text", ["[per_hour]\na = 0\n", "[per_hour]\na = nan\n", 'per_hour = "x"\n', "other = 1\n"]
)
def test_a_book_that_is_wrong_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "prices.toml"
    file.write_text(text)
    with pytest.raises(InvalidFileError):
        load_prices(file)
