"""``mawl compare LOGS-RUN RUN``: a run of derived jobs beside the logs that they were derived from."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from mawl.base.errors import UsageError
from mawl.derive.derive import derive
from mawl.records.store.folder import RunWriter
from tests.derive.replay.test_compare import HASHED
from tests.derive.shop import WORDS, logs
from tests.derive.test_derive import run_of
from tests.fakes.command_line import Verbs, call
from tests.fakes.replayed import replayed_run
from tests.fakes.stored_run import PLAN, facts


def logs_and_run(folder: Path) -> tuple[str, str]:
    """The folders of an import of logs, and of a run of what was derived from it."""
    stored = run_of(folder, logs(WORDS))
    replayed_run(folder / "again", derive(stored, HASHED).workload, run_id="again")
    return str(folder / "run"), str(folder / "again")


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    return logs_and_run(tmp_path_factory.mktemp("replay"))


def test_every_form_begins_with_the_sentence(
    pair: tuple[str, str], tmp_path: Path, verbs: Verbs, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call("compare", *pair) == 0
    sentence = "9 steps of 3 jobs took 27 min 00 s in again, +50 % against the 18 min 00 s of the logs"
    text = " ".join(capsys.readouterr().out.split())
    assert text.startswith(f"measured {sentence}; the night was held with ")
    assert "no finding the difference also contains that between SAS and mawl's kernels" in text
    assert json.loads(verbs.out("compare", *pair, "--format", "json"))["sentence"].startswith(sentence)
    assert verbs.out("compare", *pair, "--format", "markdown").startswith(f"# {sentence}")
    page = tmp_path / "page.html"
    assert call("compare", *pair, "--format", "html", "--output", str(page)) == 0
    assert f"<h1>{sentence}" in page.read_text()
    assert "more step" not in verbs.out("compare", *pair, "--all")


def test_a_run_is_never_called_slower_than_logs(pair: tuple[str, str], verbs: Verbs) -> None:
    assert verbs.out("compare", *pair, "--fail-on", "slower", status=4).startswith("measured ")


def test_the_wrong_order_and_several_runs_are_one_sentence(pair: tuple[str, str], tmp_path: Path) -> None:
    logs_run, run = pair
    with pytest.raises(UsageError, match="the logs come first"):
        call("compare", run, logs_run)
    shutil.copytree(run, tmp_path / "more" / "one")
    shutil.copytree(run, tmp_path / "more" / "two")
    with pytest.raises(UsageError, match="2 runs of derived jobs are on one side"):
        call("compare", logs_run, str(tmp_path / "more"))
    with pytest.raises(UsageError, match="--settings does not go with logs"):
        call("compare", logs_run, run, "--settings", "a", "b")


def test_a_run_of_another_workload_has_no_part_in_it(pair: tuple[str, str], tmp_path: Path) -> None:
    logs_run, run = pair
    RunWriter(tmp_path / "other", facts(), plan=PLAN).finish(facts())
    with pytest.raises(UsageError, match="was not derived from the logs of"):
        call("compare", str(tmp_path / "other"), run)
    with pytest.raises(UsageError, match="these are not comparable"):
        call("compare", logs_run, str(tmp_path / "other"))
