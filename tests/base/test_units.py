"""Sizes in, figures out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mawl.base import units
from mawl.base.errors import UsageError


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("4096", 4096),
        ("256KiB", 256 * 1024),
        ("256kb", 256_000),
        ("256K", 256 * 1024),
        ("2G", 2 * 2**30),
        ("1.5 MB", 1_500_000),
        ("1TiB", 2**40),
        ("0", 0),
    ],
)
def test_kib_is_1024_kb_is_1000_and_a_bare_letter_is_as_in_sas(text: str, size: int) -> None:
    assert units.parse_size(text) == size


@pytest.mark.parametrize("bad", ["", "lots", "-1", "1 X", "1.2.3M", "MiB", "5iB", "Ki", "1Ki", "nan", "1e9"])
def test_anything_else_is_refused(bad: str) -> None:
    with pytest.raises(UsageError, match="expected a size"):
        units.parse_size(bad)


def test_a_negative_number_of_bytes_is_refused() -> None:
    with pytest.raises(UsageError, match="cannot be negative"):
        units.parse_size(-1)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.00 kB"),
        (999_500, "1.00 MB"),
        (1.21e9, "1.21 GB"),
        (7.5e12, "7.50 TB"),
    ],
)
def test_decimal_sizes(value: float, text: str) -> None:
    assert units.format_bytes(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(1023, "1.00 KiB"), (2**20, "1.00 MiB"), (23.5 * 2**30, "23.5 GiB"), (900, "900 B")]
)
def test_memory_is_binary(value: float, text: str) -> None:
    assert units.format_memory(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.004, "0.00 s"),
        (9.99, "9.99 s"),
        (31.24, "31.2 s"),
        (119.94, "119.9 s"),
        (247, "4 min 07 s"),
        (6780, "1 h 53 min"),
    ],
)
def test_durations(value: float, text: str) -> None:
    assert units.format_seconds(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0 us"),
        (432e-9, "432 ns"),
        (0.2e-9, "1 ns"),
        (999.6e-9, "1 us"),
        (64.4e-6, "64 us"),
        (999.6e-6, "1.00 ms"),
        (0.0312, "31.2 ms"),
        (0.9999, "1.00 s"),
        (2.5, "2.50 s"),
    ],
)
def test_latencies(value: float, text: str) -> None:
    assert units.format_latency(value) == text


@given(st.integers(0, 4_000_000_000_000_000).map(lambda whole: whole / 1e6))
def test_an_instant_comes_back_to_the_microsecond(at: float) -> None:
    assert units.parse_instant(units.format_instant(at)) == pytest.approx(at, abs=2e-6)


@pytest.mark.parametrize(
    ("ratio", "text"),
    [
        (0.123, "+12 %"),
        (-0.0774, "-7.7 %"),
        (0.0, "0.0 %"),
        (-0.0001, "0.0 %"),
        (4.27, "+427 %"),
        (12.4, "x 13"),
        (-1.0, "-100 %"),
    ],
)
def test_changes_have_a_sign_and_from_tenfold_on_are_a_factor(ratio: float, text: str) -> None:
    assert units.format_change(ratio) == text


@pytest.mark.parametrize("text", ["9" * 400, "9" * 400 + "MB", "1" + "0" * 301 + "PiB"])
def test_a_size_beyond_all_numbers_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="more than any machine has"):
        units.parse_size(text)
