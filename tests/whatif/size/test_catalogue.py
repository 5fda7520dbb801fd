"""Catalogues of ``mawl size``: what is wrong in one is said in one sentence that names the key."""

from __future__ import annotations

from pathlib import Path

import pytest

from mawl.base.errors import MawlError
from mawl.whatif.size.candidates import MOST_CANDIDATES, changes_of, load_catalogue

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
        (GOOD.replace("cores = 4\n", ""), r"key candidate\[0\].cores: required, but missing"),
        (GOOD + "memory_gb = 4\n", r"memory_gb: unknown, expected one of name, price, cores"),
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
