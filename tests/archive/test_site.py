"""A site of packs: complete links, no script from elsewhere, refusals, and escaping."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import msgspec
import pytest

from mawl.archive.manifest import SubmitterStatement
from mawl.archive.packing import PackRequest, pack
from mawl.archive.site import build
from mawl.archive.site.build import build_site, kept_file
from mawl.archive.site.entries import SiteEntry, checked, figures_of, sum_of
from mawl.base.errors import UnreadableRunError, UnsuitableMachineError
from mawl.commands.main import main
from mawl.records.model.summary.host import Energy
from mawl.version import source_sha256
from tests.fakes.altered_packs import members_of, packed, with_new_manifest
from tests.fakes.compared_runs import compared
from tests.fakes.full_disk import small_files
from tests.fakes.published_qualification import write_published_qualification
from tests.fakes.published_run import write_published, write_published_campaign
from tests.fakes.stored_run import START

ATOM = "{http://www.w3.org/2005/Atom}"
WORDS = SubmitterStatement(
    submitter="<b>Example</b>", contact="x@example.com", system="S & <i>", storage="ssd", tuning="none"
)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Checks are kept in a cache of each test."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture(scope="module")
def packs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """An accepted pack, and one of a short run."""
    place = tmp_path_factory.mktemp("site")
    write_published_campaign(place / "five")
    write_published(place / "short", seconds=600.0)
    made = [place / "five.mawl.zip", place / "short.mawl.zip"]
    pack(PackRequest(folder=place / "five", kind="campaign", statement=WORDS), made[0])
    pack(PackRequest(folder=place / "short"), made[1])
    return made


class Links(HTMLParser):
    """What a page names."""

    def __init__(self) -> None:
        super().__init__()
        self.named: list[str] = []
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.named += [value or "" for name, value in attrs if name in ("href", "src")]


def test_every_link_leads_to_a_file_of_the_site(
    packs: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    site = tmp_path / "site"
    assert main(["publish", *map(str, packs), "--output", str(site)]) == 0
    assert "(2 packs, 1 accepted)" in capsys.readouterr().out
    pages = list(site.rglob("*.html"))
    assert len(pages) == 6, "results, systems, the table, and the page for pairs"
    for page in pages:
        links = Links()
        links.feed(page.read_text())
        for name in links.named:
            name = name.partition("#")[0]
            if name == "data:,":  # no icon, which a browser would ask the server for
                continue
            assert (page.parent / name).resolve().is_relative_to(site.resolve()), name
            assert (page.parent / name).is_file(), name
        assert not {"i", "b"} & set(links.tags), "text of a pack is text"
    assert (site / "packs" / "five.zip").read_bytes() == packs[0].read_bytes()
    assert main(["validate", str(site / "packs" / "five.zip")]) == 0


def test_the_table_needs_no_script_and_names_what_must_not_be_compared(
    packs: list[Path], tmp_path: Path
) -> None:
    site = tmp_path / "site"
    assert main(["publish", *map(str, packs), "--output", str(site)]) == 0
    page = (site / "index.html").read_text()
    without = page.partition("<script>")[0]
    assert "S &amp; &lt;i&gt;" in without and "short" in without
    assert "Only results of one table may be compared" in without
    assert "20 sessions" in without, "the papers are beside"
    heads = re.findall(r"<th[^>]*>([^<]*)</th>", without[without.index("<section data-group") :])
    assert heads[:6] == ["system", "by", "accepted", "answer", "sessions", "limit"]
    assert "slowdown" in heads and "e-05" not in without
    entries = ElementTree.parse(site / "feed.xml").getroot().findall(f"{ATOM}entry")
    assert len(entries) == 2


def test_the_page_for_pairs_has_what_must_match_and_ranges(packs: list[Path], tmp_path: Path) -> None:
    site = tmp_path / "site"
    assert main(["publish", *map(str, packs), "--output", str(site)]) == 0
    page = (site / "compare.html").read_text()
    data = page.partition('id="results">')[2].partition("</script>")[0]
    assert "<" not in data, "text of a pack ends no script"
    five, short = sorted(json.loads(data), key=lambda one: one["slug"])
    assert five["title"] == "S & <i>" and five["accepted"] and not short["accepted"]
    assert five["must_match"] == short["must_match"]
    assert {"division", "workload", "scale", "page cache", "cache mode"} <= five["must_match"].keys()
    elapsed = five["figures"]["elapsed"]
    assert elapsed["low"] < elapsed["median"] < elapsed["high"]
    assert short["figures"]["elapsed"]["low"] == short["figures"]["elapsed"]["high"]
    assert five["figures"]["energy per job"]["median"] is None


@pytest.mark.parametrize(("second", "median"), [("machine", 150.0), ("processors", None)])
def test_energy_of_unlike_things_has_no_median(second: str, median: float | None) -> None:
    runs = [compared(0), compared(1)]
    for run, scope, joules in zip(runs, ("machine", second), (100.0, 200.0), strict=True):
        run.summary.energy = Energy(
            scope=scope, known_seconds=1.0, joules=joules, mean_watts=joules, joules_per_job=joules, domain={}
        )
    assert figures_of(runs, 1)["energy per job"].median == median


def test_a_renewed_site_checks_only_new_packs_and_believes_no_other_code(
    packs: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = tmp_path / "site"
    build_site(packs, site, "urn:x:")
    before = {path: path.read_bytes() for path in site.rglob("*.html")}
    asked: list[str] = []

    def counting(path: Path, *, trusted: bool) -> SiteEntry:
        asked.append(path.name)
        return checked(path, trusted=trusted)

    monkeypatch.setattr(build, "checked", counting)
    build_site(packs, site, "urn:x:")
    assert asked == []
    assert {path: path.read_bytes() for path in site.rglob("*.html")} == before
    renamed = tmp_path / "other.mawl.zip"
    renamed.write_bytes(packs[0].read_bytes())
    assert [entry.slug for entry in build_site([renamed, packs[1]], site, "urn:x:")] == ["other", "short"]
    assert asked == []
    kept = kept_file(site, os.environ)
    assert kept is not None
    kept.write_text(kept.read_text().replace(source_sha256(), "0" * 64))
    build_site(packs, site, "urn:x:")
    assert asked == [path.name for path in packs]
    asked.clear()
    whole = kept.read_text()
    of_another = whole.replace(sum_of(packs[1]), "0" * 64).replace("0" * 64, sum_of(packs[1]), 1)
    for damaged in (
        "[",
        of_another,
        whole.replace('"elapsed":', '"time":'),
        whole.replace("cache mode", "c"),
    ):
        kept.write_text(damaged)
        build_site(packs[1:], site, "urn:x:")
        assert asked == [packs[1].name]
        asked.clear()


def test_checks_that_others_may_have_written_are_not_believed(
    packs: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = tmp_path / "site"
    kept = kept_file(site, os.environ)
    assert kept is not None
    [entry] = build_site(packs[:1], site, "urn:x:")
    assert not any("checked" in path.name for path in site.rglob("*")), "the site holds no checks"
    forged = kept.read_text().replace(entry.figures["elapsed"].text, "1.00 s")
    kept.write_text(forged)

    def replace_by_link() -> None:
        kept.rename(kept.with_suffix(".own"))
        kept.symlink_to(kept.with_suffix(".own"))

    def shown() -> bool:
        [found] = build_site(packs[:1], site, "urn:x:")
        return found.figures["elapsed"].text == "1.00 s"

    assert shown(), "what this user kept is used"
    changes: tuple[Callable[[], object], ...] = (
        lambda: kept.chmod(0o622),
        lambda: kept.parent.chmod(0o777),
        replace_by_link,
        lambda: monkeypatch.setattr("os.geteuid", lambda: os.getuid() + 1),
    )
    for change in changes:
        kept.unlink(missing_ok=True)
        kept.write_text(forged)
        kept.chmod(0o600)
        kept.parent.chmod(0o700)
        change()
        assert not shown()


def test_without_a_place_of_the_user_every_pack_is_checked_again(packs: list[Path], tmp_path: Path) -> None:
    site = tmp_path / "site"
    within = {"XDG_CACHE_HOME": str(site / "cache")}
    assert kept_file(site, within) is None, "a site serves what lies in it"
    (tmp_path / "file").touch()
    (tmp_path / "loop").symlink_to("loop")
    for environment in (within, *({"XDG_CACHE_HOME": str(tmp_path / name)} for name in ("file", "loop"))):
        build_site(packs[:1], site, "urn:x:", environment)
        assert sorted(path.name for path in site.iterdir()) == [
            "compare.html",
            "feed.xml",
            "index.html",
            "mawl-site",
            "packs",
            "results",
            "systems",
        ]


def test_many_packs_are_checked_by_several_processes_with_equal_pages(
    packs: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = []
    for number in range(4):
        many.append(tmp_path / f"pack-{number}.mawl.zip")
        many[-1].write_bytes(packs[min(number, 1)].read_bytes())
    build_site(many, tmp_path / "one", "urn:x:")
    monkeypatch.setattr(build, "FEWEST_FOR_PROCESSES", 4)
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1})
    build_site(many, tmp_path / "two", "urn:x:")
    one = {
        path.relative_to(tmp_path / "one"): path.read_bytes() for path in (tmp_path / "one").rglob("*.html")
    }
    two = {
        path.relative_to(tmp_path / "two"): path.read_bytes() for path in (tmp_path / "two").rglob("*.html")
    }
    assert one == two
    many[0].write_bytes(b"no pack")
    with pytest.raises(UnreadableRunError, match="is no pack"):
        build_site(many, tmp_path / "three", "urn:x:")
    assert not (tmp_path / "three").exists()


def test_a_pack_whose_pages_other_code_printed_is_published_and_not_accepted(
    packs: list[Path], tmp_path: Path
) -> None:
    members = members_of(packs[0])
    members["manifest.json"] = members["manifest.json"].replace(source_sha256().encode(), b"ab" * 32)
    (tmp_path / "old.mawl.zip").write_bytes(packed(members))
    [entry] = build_site([tmp_path / "old.mawl.zip"], tmp_path / "site", "urn:x:")
    assert not entry.validation.accepted
    page = (tmp_path / "site" / "results" / "old" / "index.html").read_text()
    assert "abababababab" in page


def test_a_site_is_made_again_and_other_directories_are_left_alone(
    packs: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    site = tmp_path / "site"
    assert main(["publish", *map(str, packs), "--output", str(site)]) == 0
    assert main(["publish", str(packs[0]), "--output", str(site)]) == 0
    assert [path.name for path in (site / "results").iterdir()] == ["five"]
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "index.html").write_text("mine")
    assert main(["publish", str(packs[0]), "--output", str(tmp_path / "mine")]) == 2
    assert "is no site of mawl" in capsys.readouterr().err
    assert main(["publish", str(packs[0]), str(packs[0]), "--output", str(site)]) == 2


def test_a_site_that_cannot_be_written_keeps_the_earlier_one(packs: list[Path], tmp_path: Path) -> None:
    site = tmp_path / "site"
    build_site(packs, site, "urn:x:")
    before = {path: path.read_bytes() for path in site.rglob("*") if path.is_file()}
    with (
        small_files(packs[0].stat().st_size - 1),
        pytest.raises(UnsuitableMachineError, match="site: the site cannot be written: file too large; "),
    ):
        build_site(packs[:1], site, "urn:x:")
    assert {path: path.read_bytes() for path in site.rglob("*") if path.is_file()} == before


def test_controls_in_the_words_of_a_maker_break_neither_page_nor_feed(tmp_path: Path) -> None:
    write_published(tmp_path / "short", seconds=600.0)
    words = msgspec.structs.replace(WORDS, system="A\x01\ufffe\u202eB", submitter="\x1b[31mred")
    pack(PackRequest(folder=tmp_path / "short", statement=words), tmp_path / "s.mawl.zip")
    site = tmp_path / "site"
    assert main(["publish", str(tmp_path / "s.mawl.zip"), "--output", str(site)]) == 0
    feed = ElementTree.parse(site / "feed.xml").getroot()
    assert feed.findtext(f"{ATOM}entry/{ATOM}title") == "A\\x01\ufffd\\u202eB"
    for page in site.rglob("*.html"):
        assert not set("\x01\x1b\u202e") & set(page.read_text()), page


def test_a_pipe_is_no_pack(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo(tmp_path / "pipe.zip")
    assert main(["publish", str(tmp_path / "pipe.zip"), "--output", str(tmp_path / "site")]) == 2
    assert "pipe.zip: cannot be read: not a regular file" in capsys.readouterr().err


def test_packs_of_the_site_itself_are_not_removed(
    packs: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    site = tmp_path / "site"
    assert main(["publish", *map(str, packs), "--output", str(site)]) == 0
    (tmp_path / "link.zip").symlink_to(site / "packs" / "five.zip")
    for own in (site / "packs" / "five.zip", tmp_path / "link.zip"):
        assert main(["publish", str(own), "--output", str(site)]) == 2
        assert "lies in the site, which is made anew; copy it to" in capsys.readouterr().err
    assert (site / "packs" / "five.zip").read_bytes() == packs[0].read_bytes()


def test_a_pack_with_an_edited_figure_is_not_published(
    packs: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    members = members_of(packs[1])
    members["printed/short/summary.json"] = members["printed/short/summary.json"].replace(b"0.9", b"0.8", 1)
    (tmp_path / "short.mawl.zip").write_bytes(packed(with_new_manifest(members)))
    assert main(["publish", str(tmp_path / "short.mawl.zip"), "--output", str(tmp_path / "site")]) == 1
    assert "its figures cannot be relied on" in capsys.readouterr().err
    assert not (tmp_path / "site").exists()


def test_qualifications_have_a_table_with_prices_and_runs_keep_theirs(tmp_path: Path) -> None:
    for name, start in (("fast", START), ("slow", START + 1e6)):
        write_published_qualification(tmp_path / name, start=start)
        request = PackRequest(folder=tmp_path / name, kind="qualification", statement=WORDS)
        pack(request, tmp_path / f"{name}.mawl.zip")
    write_published(tmp_path / "short", seconds=600.0)
    pack(PackRequest(folder=tmp_path / "short"), tmp_path / "short.mawl.zip")
    words = [str(tmp_path / f"{name}.mawl.zip") for name in ("fast", "slow", "short")]
    site = tmp_path / "site"
    assert main(["publish", *words, "--output", str(site), "--price", "fast=1.20/h"]) == 0
    heads = ("system", "by", "accepted", "answer", "sessions", "fits", "slowdown", "limit", "nodes", "cores")
    tables = {}
    for text in (site / "index.html").read_text().split("<section data-group")[1:]:
        found = re.findall(r"<t([hd])[^>]*>(.*?)</t[hd]>", text.partition("</section>")[0], re.DOTALL)
        tables[tuple(cell for kind, cell in found if kind == "h")] = [
            re.sub(r"<[^>]*>", "", cell) for kind, cell in found if kind == "d"
        ]
    assert len(tables) == 2 and any(names[5] == "limit" for names in tables), "runs keep their columns"
    cells = tables[*heads, "a session and month"]
    rows = [cells[at : at + 11] for at in range(0, 22, 11)]
    assert [(row[2], row[3], row[5].partition(" ")[0]) for row in rows] == 2 * [("yes", "carried", "4")]
    assert [row[10] for row in rows] == ["219.00", "-"]
    own = (site / "results" / "fast" / "index.html").read_text()
    assert "The answer" in own and "sessions that fit" in own and "YES: 4 sessions took" in own
    assert main(["publish", *words, "--output", str(site), "--price", "other=1/h"]) == 2
