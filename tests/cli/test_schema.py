"""What commands print as JSON is what ``mawl schema`` says of it."""

from __future__ import annotations

import argparse
import json
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import msgspec
import pytest

from mawl.commands.main import main
from mawl.commands.schema import FORMATS, text
from mawl.commands.verbs import build_parser
from mawl.records.model.published import papers
from mawl.records.store.campaign import plain_qualification, write_qualification
from mawl.reports.campaign_document import render_json
from mawl.reports.json import render
from mawl.whatif.records import PUBLISHED_FORECAST_METRICS
from tests.archive.history.test_changes import followed, nights_with_step
from tests.cli.conftest import Command
from tests.cli.test_attach import ROLES, table
from tests.cli.test_replay import logs_and_run
from tests.fakes.answered import NO, YES, answered
from tests.fakes.command_line import Verbs
from tests.fakes.found_campaigns import EVERY
from tests.fakes.probes import stub_fio
from tests.fakes.recorded_host import aix_recording
from tests.fakes.search_runs import SearchRuns, carried_out
from tests.fakes.stored_run import write_run
from tests.lab.experiment.test_golden import TWO_ARMS
from tests.whatif.placement.test_advise import FLASH, SLOW, advice

OF_ONE_COMMAND = (
    'name = "own"\n[[sessions]]\nname = "s"\nstages = [[{ program = "own", command = ["true"] }]]\n'
)
"""A workload without declared bytes."""

Printed = Callable[..., list[Any]]


def check_valid(name: str, *found: Any) -> None:
    """Each has the form of the schema; a field that it lacks, or an unknown type, fails."""
    schema = json.loads(text(name))
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    for one in found:
        validator.validate(one)
        assert set(one) <= fields(schema), "a field that the schema does not name"


def fields(schema: dict[str, Any]) -> set[str]:
    """The names at the top of what a schema describes."""
    top = schema["$defs"][schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema
    return set(top["properties"])


@pytest.fixture
def printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Printed:
    """Runs a verb in a directory of its own and reads the JSON that it prints."""
    monkeypatch.chdir(tmp_path)

    def read(*words: str, status: int = 0) -> list[Any]:
        capsys.readouterr()
        assert main(list(words)) == status
        return [json.loads(capsys.readouterr().out)]

    return read


def test_figures_of_stored_runs(printed: Printed, tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        write_run(tmp_path / name)
    check_valid("summary", *printed("report", "a", "--format", "json"))
    check_valid("steps", *printed("steps", "a", "--format", "json"))
    check_valid("comparison", *printed("compare", "a", "b", "--anyway", "--format", "json"))
    logs_run, run = logs_and_run(tmp_path / "shop")
    check_valid("logs-comparison", *printed("compare", logs_run, run, "--format", "json"))
    check_valid("comparison-matrix", *printed("compare", "a", "b", "c", "--anyway", "--format", "json"))
    check_valid("validation", *printed("validate", "a", "--json", status=1))


def test_what_needs_no_run(printed: Printed, tmp_path: Path) -> None:
    check_valid(
        "tune-profiles", *printed("tune", "show", "--json"), *printed("tune", "show", "sas-options", "--json")
    )
    check_valid("published", *printed("published", "s822-hybrid-20", "--format", "json"))
    check_valid("published-list", *printed("published", "--json"))
    for paper in papers():
        check_valid("published-tables", *printed("published", paper.source.key, "--tables", "--json"))
    (tmp_path / "file").write_bytes(b"compressible " * 100_000)
    check_valid("compressibility", *printed("compressibility", "file", "--json"))


def test_forecasts_of_published_systems_have_the_names_that_are_defined(printed: Printed) -> None:
    (told,) = printed("simulate", "--published", "--json")
    check_valid("simulation-published", told)
    lists = ("rows", "pairs", "changes", "scores")
    held = {f"{part}.*.{name}" for part in lists for row in told[part] for name in row}
    held |= {f"fitted.{name}" for name in told["fitted"]}
    assert held == {metric.name for metric in PUBLISHED_FORECAST_METRICS}
    assert len(told["fitted"]["values"]) <= 6


def test_plans(printed: Printed, tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text(OF_ONE_COMMAND)
    plans = [
        *printed("plan", "mixed20", "--json"),
        *printed("plan", "own.toml", "--json"),
        *printed("run", "nano", "--dry-run", "--json"),
    ]
    check_valid("plan", *plans)
    assert [one["bytes"]["work"]["read_bytes"] is None for one in plans] == [False, True, False]
    assert plans[1]["plan"][0]["stages"][0][0]["command"] == ["true"]


def test_a_command_and_a_probe(mawl: Command) -> None:
    for role in ("work", "util", "new"):
        (mawl.directory / role).mkdir(exist_ok=True)
    check_valid("measure", json.loads(mawl("measure", "--json", "--sync", "--", "true").stdout))
    stub_fio(mawl.directory)
    with_fio = {"PATH": f"{mawl.directory / 'bin'}:{os.environ['PATH']}"}
    done = mawl("probe", "new", "--json", "--file-size", "8MiB", "--seconds", "1", **with_fio)
    assert done.stdout, done.stderr
    check_valid(
        "probe", json.loads(done.stdout), json.loads(mawl("probe", "--from", "probe.json", "--json").stdout)
    )


def test_imports_and_arrays(printed: Printed, tmp_path: Path) -> None:
    (tmp_path / "aix1.nmon").write_text("".join(aix_recording(4, 10)))
    (tmp_path / "array.csv").write_text(table(range(1, 12)))
    (tmp_path / "map.toml").write_text('preset = "plain"\narray = "XIV"\n[roles]\ndata = "sasdata.*"\n')
    check_valid("import", *printed("import", "aix1.nmon", *ROLES, "--json"))
    check_valid("array", *printed("attach", "latest", "array.csv", "--array-map", "map.toml", "--json"))


def test_qualified_systems(printed: Printed, tmp_path: Path) -> None:
    for name, evidence in (("A", YES), ("B", NO)):
        (tmp_path / name).mkdir()
        write_qualification(tmp_path / name, answered(evidence))
        check_valid("qualify", plain_qualification(answered(evidence)))
    check_valid("rank", *printed("rank", "A", "B", "--price", "A=1.20/h", "--format", "json"))


def test_records_that_take_long_to_measure(tmp_path: Path) -> None:
    def plain(what: Any) -> Any:
        return json.loads(render(msgspec.to_builtins(what)))

    check_valid("campaign", *(json.loads(render_json(made())) for made in EVERY.values()))
    check_valid("history", plain(followed(nights_with_step(1, "work"))))
    check_valid("lab", plain(TWO_ARMS))
    check_valid("placement", plain(advice(SLOW, FLASH)))
    check_valid("search", plain(carried_out(tmp_path / "search", SearchRuns())))


def test_a_run_of_nano(mawl: Command, nano_run: Path) -> None:
    def read(*words: str) -> Any:
        done = mawl(*words)
        assert done.stdout, done.stderr
        return json.loads(done.stdout)

    check_valid("doctor", read("doctor", "nano", "--json"))
    check_valid("generate", read("generate", "nano", "--json"))
    check_valid("tune-check", read("tune", "check", str(nano_run), "--json"))
    check_valid("tune-changes", read("tune", "compare", str(nano_run), str(nano_run), "--json"))
    offers, form = str(Path(__file__).parents[2] / "examples/offers.toml"), ("--format", "json")
    check_valid("size", read("size", offers, str(nano_run), "--within", "1", "--anyway", *form))
    check_valid("simulation", read("simulate", str(nano_run), "--set", "cores=4", "--anyway", "--json"))


def test_a_figure_has_its_definition_and_a_field_of_another_type_is_refused(tmp_path: Path) -> None:
    schema = json.loads(text("compressibility"))
    assert schema["$id"] == "urn:mawl:compressibility:1.0"
    described = [
        one
        for struct in schema["$defs"].values()
        for one in struct.get("properties", {}).values()
        if "description" in one and "source" in one
    ]
    assert len(described) > 20
    found = {"seconds": "long", "tables": []}
    with pytest.raises(jsonschema.ValidationError, match="'long' is not of type 'number'"):
        check_valid("generate", found)
    with pytest.raises(jsonschema.ValidationError, match="'tables' is a required property"):
        check_valid("generate", {"seconds": 1.0})


def test_the_verb_lists_and_prints_them(verbs: Verbs) -> None:
    listed = verbs.out("schema").splitlines()
    assert [line.split()[0] for line in listed] == list(FORMATS)
    assert verbs.out("schema", "rank") == text("rank")
    assert "no schema is called 'ranking'" in verbs.err("schema", "ranking", status=2)


def test_every_verb_that_prints_json_has_its_schema() -> None:
    verbs = sorted(printing_json(build_parser()))
    assert {("tune", "search"), ("published",), ("lab", "run")} <= set(verbs)
    named = {
        tuple(re.match(r"mawl ((?:[a-z]+ ?)+)", command).group(1).split())  # type: ignore[union-attr]
        for one in FORMATS.values()
        for command in one.command.split(" and ")
    }
    assert sorted(named) == verbs


def test_a_verb_without_a_schema_would_be_found() -> None:
    parser = argparse.ArgumentParser()
    verbs = parser.add_subparsers()
    verbs.add_parser("silent").add_argument("--format", choices=("text", "csv"))
    verbs.add_parser("deep").add_subparsers().add_parser("below").add_argument("--json", action="store_true")
    verbs.add_parser("chosen").add_argument("--format", choices=("text", "json"))
    assert list(printing_json(parser)) == [("deep", "below"), ("chosen",)]


def printing_json(parser: argparse.ArgumentParser, words: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The verbs below a parser that have --json, or json as one of their formats."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, below in action.choices.items():
                yield from printing_json(below, (*words, name))
    if any("--json" in one.option_strings or "json" in (one.choices or ()) for one in parser._actions):
        yield words


def test_every_format_is_validated_here() -> None:
    tested = Path(__file__).read_text()
    assert [name for name in FORMATS if not re.search(rf'check_valid\(\s*"{name}"', tested)] == []
