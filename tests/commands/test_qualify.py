"""``mawl qualify``: what is refused before any time is spent, and what is asked."""

from __future__ import annotations

import contextlib
import io
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from mawl.advice.qualification.evidence import Evidence
from mawl.advice.qualification.gather import command_again
from mawl.advice.qualification.machine import PodSize, pods_sentence
from mawl.commands import qualify as qualifying
from mawl.commands.main import main
from mawl.commands.qualify import ProgressLines, QualifyArguments, cleaning
from mawl.commands.qualify_choice import choice_text
from mawl.records.model.qualification import AnswerSystem, Fits, Qualification
from mawl.records.store.campaign import read_qualification, write_qualification
from tests.fakes.answered import NO, NOT_KNOWN, YES, answered
from tests.fakes.command_line import Verbs
from tests.fakes.qualifications import choice, qualification
from tests.fakes.qualified import cluster, machine


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def refused(capsys: pytest.CaptureFixture[str], folder: Path, *words: str) -> tuple[int, str]:
    """The status and the sentence of a qualification that makes no folder."""
    status = main(["qualify", *words])
    assert not (folder / "runs").exists()
    return status, capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--minutes", "1", "--yes"], "--minutes 1: expected 2 to 2880"),
        (["--sessions", "0", "--yes"], "--sessions 0: expected a whole number of sessions from 1 to 500"),
        (["--repeat", "0", "--yes"], "--repeat 0: expected a whole number of runs from 1 to 99"),
        (["--continue", "x", "--repeat", "1"], "--continue does not go with --repeat"),
        (["--places", "a=.", "--yes"], "--places takes two places or more"),
        (["--places", "a=.", "a=/tmp", "--yes"], "--places: a is named twice"),
        (["--places", "a=.", "b=gone", "--yes"], "gone: is no directory"),
        (["--places", "a=.", "b/c=/tmp", "--yes"], "--places b/c=/tmp: expected NAME=DIR"),
        (["--places", "a=.", "b=/tmp", "--yes", "--ssh", "x"], "--ssh does not go with --places"),
        (["--places", "a=.", "b=/tmp", "--yes", "--plan"], "--plan does not go with --places"),
        (["--places", "a=.", "b=/tmp"], "asks before the runs"),
        (["--pod", "4", "--yes"], "--pod 4: expected CPUs and memory, such as 4,16GiB"),
        (["--pod", "0,1GiB", "--yes"], "--pod 0,1GiB: expected CPUs and memory"),
        ([], "asks before the runs, and standard input is no terminal; add --yes, or --plan"),
        (["--continue", "x", "--minutes", "5"], "--continue does not go with --minutes"),
        (["--continue", "x", "--scale", "quick"], "--continue does not go with --scale"),
        (["--scale", "huge", "--yes"], "expected a scale (smoke (0.0005)"),
        (["--cluster", "tls://x:1", "--ssh", "a", "--yes"], "--cluster and --ssh do not go together"),
        (
            ["--cluster", "tls://", "--yes"],
            "tls://: is no address of a scheduler; name it as tcp://HOST:PORT",
        ),
        (["--cluster", "tls://x:1", "--yes"], "tls://x:1: needs certificates; name them with --tls-ca"),
        (["--node-timeout", "60", "--yes"], "--node-timeout goes with --cluster or --ssh"),
        (["--nodes", "2", "--yes"], "--nodes goes with --cluster or --ssh"),
        (["--ssh", "a,a", "--yes"], "--ssh names a twice"),
        (["--continue", "x", "--cluster", "tls://x:1"], "--continue does not go with --cluster"),
        (["--continue", "x", "--insecure"], "--continue does not go with --insecure"),
        (["--continue", "x", "--link", "40Gbit"], "--continue does not go with --link"),
        (["--continue", "nowhere"], "nowhere: is no qualification: it has no qualify.json"),
    ],
)
def test_what_cannot_be_is_refused_at_once(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    words: list[str],
    said: str,
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO())
    status, sentence = refused(capsys, tmp_path, *words)
    assert status == 2
    assert said in sentence
    assert sentence.count("\n") == 1


@pytest.mark.parametrize("bound", ["0", "-1", "1", "nan", "inf", "2e6", "twice"])
def test_a_bound_that_no_slowdown_can_have_is_refused_before_any_run(
    verbs: Verbs,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    bound: str,
) -> None:
    monkeypatch.setenv("MAWL_ANSWER_BOUND", bound)
    status, sentence = refused(capsys, tmp_path, "--yes")
    assert status == 2 and "answer_bound" in sentence
    assert "answer_bound" in verbs.err("run", "nano", status=2)
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize("place", ["file", "environment"])
def test_the_bound_of_the_old_definition_is_refused_with_what_to_write(
    verbs: Verbs, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, place: str
) -> None:
    if place == "file":
        (tmp_path / "mawl.toml").write_text("most_slowdown = 2.0\n")
    else:
        monkeypatch.setenv("MAWL_MOST_SLOWDOWN", "2.0")
    for words in (["run", "nano"], ["qualify", "--yes"], ["report", "latest"]):
        said = verbs.err(*words, status=2)
        assert "most_slowdown is not known any more" in said and said.count("\n") == 1
        assert "name the bound answer_bound (default: 2)" in said
    assert not (tmp_path / "runs").exists()


def test_settings_that_a_qualification_does_not_use_are_named(
    verbs: Verbs, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("mawl.commands.qualify.first_look", lambda *_: machine())
    monkeypatch.setattr("mawl.commands.qualify._qualify", lambda *_: 0)
    (tmp_path / "mawl.toml").write_text(
        'cores = "0"\nscale = "quick"\nanswer_bound = 3.0\nwork = "w"\n[options]\nsortsize = "64MiB"\n'
    )
    monkeypatch.setenv("MAWL_SEED", "7")
    said = verbs.err("qualify", "--yes", "--output", "there")
    assert said == (
        "warning: mawl qualify does not use these settings of mawl.toml or the environment: "
        "scale, cores, seed, options\n"
    )
    assert read_qualification(tmp_path / "there").asked.answer_bound == 3.0


def test_a_directory_in_memory_is_refused(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("mawl.campaigns.qualify.machine.LOOK_SECONDS", 0.01)
    with tempfile.TemporaryDirectory(dir="/dev/shm") as memory:
        status, sentence = refused(capsys, tmp_path, "--util", memory, "--minutes", "60", "--yes")
    assert status == 1
    assert "util would lie in memory (tmpfs), which is no storage; name a directory on a disk" in sentence


def test_the_number_of_runs_is_kept_for_every_later_process(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("mawl.commands.qualify.first_look", lambda *_: machine())
    monkeypatch.setattr("mawl.commands.qualify._qualify", lambda *_: 0)
    assert main(["qualify", "--repeat", "1", "--yes", "--output", "there"]) == 0
    record = read_qualification(tmp_path / "there")
    assert record.asked.repeat == 1
    assert record.name == "there", "--continue takes the name that a page says"


def test_a_scheduler_that_is_not_there_is_refused_before_anything_starts(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    status, said = refused(capsys, tmp_path, "--cluster", "tcp://127.0.0.1:9", "--yes")
    assert status == 1
    warning, sentence = said.splitlines()
    assert warning.startswith("warning: the scheduler has no encryption")
    assert "tcp://127.0.0.1:9: no Dask scheduler lets us in there" in sentence and "refused" in sentence


def test_how_nodes_are_reached_and_which_they_are_is_kept_for_every_later_process(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("mawl.commands.qualify.first_look", lambda *_: cluster(3))
    monkeypatch.setattr("mawl.commands.qualify._qualify", lambda *_: 0)
    words = ["--cluster", "tls://x:1", "--nodes", "3", "--storage-node", "server=sdb", "--link", "40Gbit"]
    files = ["--tls-ca", "ca.pem", "--tls-cert", "me.pem", "--tls-key", "me.key"]
    assert main(["qualify", *words, *files, "--yes", "--output", "there"]) == 0
    record = read_qualification(tmp_path / "there")
    assert [node.name for node in record.nodes] == ["node1", "node2", "node3"]
    nodes = record.asked.nodes
    assert nodes is not None and (nodes.cluster, nodes.nodes) == ("tls://x:1", 3)
    assert (nodes.storage_node, nodes.link_bytes_per_second) == ({"server": ("sdb",)}, 5e9)
    assert nodes.tls_key == str(tmp_path / "me.key")
    shown = command_again(record, 1.0)
    assert "--cluster tls://x:1" in shown and "--storage-node server=sdb" in shown and "--nodes 3" in shown


def test_pages_that_a_kill_kept_from_being_written_are_made_by_continue(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    write_qualification(tmp_path, answered(YES))
    (tmp_path / "answer.md").write_text("as it was sent\n")
    assert main(["qualify", "--continue", str(tmp_path)]) == 0
    assert (tmp_path / "answer.html").read_text().startswith("<!DOCTYPE html>")
    assert (tmp_path / "disclosure.md").exists()
    assert (tmp_path / "answer.md").read_text() == "as it was sent\n"
    assert capsys.readouterr().out.startswith("YES")


def test_an_answer_that_another_process_left_meanwhile_stays(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    @contextlib.contextmanager
    def held(folder: Path, name: str) -> Iterator[int]:
        write_qualification(folder, answered(YES))
        yield 0

    write_qualification(tmp_path, msgspec.structs.replace(answered(YES), answer=None))
    monkeypatch.setattr("mawl.commands.qualify.held", held)
    monkeypatch.setattr("mawl.commands.qualify.check_place", lambda *_: None)
    assert main(["qualify", "--continue", str(tmp_path), "--yes"]) == 0
    assert read_qualification(tmp_path).answer == answered(YES).answer


@pytest.mark.parametrize("words", [[], ["--anyway"]])
def test_what_goes_on_takes_the_option_to_run_beside_other_programs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, words: list[str]
) -> None:
    began: list[Qualification] = []

    def qualify(_: object, __: object, record: Qualification, *more: object) -> int:
        began.append(record)
        return 4

    write_qualification(tmp_path, msgspec.structs.replace(answered(YES), answer=None, outcome="busy"))
    monkeypatch.setattr("mawl.commands.qualify.check_place", lambda *_: None)
    monkeypatch.setattr("mawl.commands.qualify._qualify", qualify)
    assert main(["qualify", "--continue", str(tmp_path), "--yes", *words]) == 4
    assert began[0].asked.anyway == bool(words)


def test_a_folder_elsewhere_names_the_command_that_cleans_up(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    assert cleaning(runs / "qualify-1", runs) == []
    (line,) = cleaning(tmp_path / "a place" / "q", runs)
    assert line.endswith("mawl clean --runs 'a place/q/runs'")


def test_without_the_programs_it_says_what_to_install(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("mawl.commands.terminal.find_spec", lambda _: None)
    status, sentence = refused(capsys, tmp_path, "--yes")
    assert status == 1
    assert "duckdb" in sentence and "pip install 'mawl[programs]'" in sentence


def test_the_choice_says_its_reasons_its_forecast_and_how_sure_it_is() -> None:
    text = choice_text(choice(), qualification().asked)
    assert "sessions  8  1.25 a core, as published" in text
    assert "answer    carried, 80 % sure: 1.50 times the reference time (1.10 to 2.10; bound 2.00)" in text
    assert "reads 97 %, writes 100 % of the bytes reach the storage" in text
    assert "time      10 min 12 s of 30 min" in text
    told = choice(load_seconds=600.0, minutes_to_publish=45, mutual_slowing_ratio=1.06)
    text = choice_text(told, qualification().asked)
    assert "load      10 min 00 s: with 30 min the answer will be preliminary, because 20 min of load" in text
    assert "need about --minutes 45\n" in text
    assert "together  8 sessions take 1.06 times the CPU seconds of the same jobs alone" in text


def test_a_forecast_beyond_the_time_says_so() -> None:
    asked = qualification().asked
    assert "does not fit" not in choice_text(choice(), asked)
    short = choice_text(choice(), msgspec.structs.replace(asked, minutes=10))
    assert "of 10 min: " in short and "it does not fit: use --minutes 11 or a smaller --scale" in short


def test_progress_is_rewritten_on_a_terminal_and_plain_elsewhere() -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    plain, terminal = io.StringIO(), Terminal()
    for stream in (plain, terminal):
        shown = ProgressLines(stream)
        shown.say("runs ...")
        shown.rewrite("3 of 26 jobs")
        shown.say("runs: 60 s")
    assert plain.getvalue() == "runs ...\nruns: 60 s\n"
    assert terminal.getvalue() == "runs ...\n\r\x1b[K  3 of 26 jobs\r\x1b[Kruns: 60 s\n"


@pytest.mark.parametrize(
    ("answers", "status"), [((NO, YES), 0), ((NO, NOT_KNOWN), 4), ((NO, NO), 3), ((NOT_KNOWN, NOT_KNOWN), 4)]
)
def test_the_exit_status_of_places_is_that_of_the_best_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answers: tuple[Evidence, Evidence], status: int
) -> None:
    """Where one does not carry and one is not known, it is not known whether any carries."""
    left = list(answers)

    def begin(arguments: QualifyArguments, _: object) -> tuple[int, Path]:
        folder = Path(arguments.output or "")
        folder.mkdir(parents=True)
        write_qualification(folder, answered(left.pop(0)))
        return 0, folder

    monkeypatch.setattr(qualifying, "_begin", begin)
    words = ["--places", f"a={tmp_path}", f"b={tmp_path}", "--output", "q", "--yes"]
    assert main(["qualify", *words]) == status


def test_places_are_qualified_with_the_load_of_the_first_and_ranked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    begun: list[tuple[str | None, int | None, list[str], list[str]]] = []

    def begin(arguments: QualifyArguments, _: object) -> tuple[int, Path]:
        begun.append((arguments.scale, arguments.sessions, arguments.data, arguments.work))
        folder = Path(arguments.output or "")
        folder.mkdir(parents=True)
        write_qualification(folder, answered(YES if len(begun) == 1 else NO))
        sys.stdout.write("an answer\n")
        return 0, folder

    monkeypatch.setattr(qualifying, "_begin", begin)
    for name in ("fast", "slow"):
        (tmp_path / name).mkdir()
    words = ["--places", "fast=fast", "slow=slow", "--data", "shared", "--output", "q", "--yes"]
    assert main(["qualify", *words, "--pod", "2,1GiB"]) == 0
    first, second = begun
    assert first == (None, None, ["shared"], [str(tmp_path / "fast/mawl-work")])
    assert second[2:] == (["shared"], [str(tmp_path / "slow/mawl-work")])
    chosen = answered(YES).choice
    assert chosen is not None and float(second[0] or 0) == chosen.scale and second[1] == chosen.sessions
    shown, progress = capsys.readouterr()
    assert shown.startswith("First of 2 systems: fast.\n") and "an answer" in progress
    assert "\nslow: Pods of 2 CPUs and 1.00 GiB" in shown


@pytest.mark.parametrize(
    ("cpus", "quota", "fits", "said"),
    [
        (
            16,
            None,
            26,
            "the node carries 4 (4 by the processors, 4 by the memory, 26 (24 to 28) by the sessions",
        ),
        (16, 8.0, 26, "the node carries 2 (2 by the processors, 4 by the memory"),
        (16, None, 3, "the node carries 3 (4 by the processors, 4 by the memory, 3 (1 to 5) by the sessions"),
        (None, None, 26, "how many fit is not known, nor are the processors of the node"),
        (16, None, None, "at most 4 (4 by the processors, 4 by the memory); sessions: not known, few runs"),
    ],
)
def test_pods_are_bound_by_their_requests_and_by_the_sessions_that_fit(
    cpus: int | None, quota: float | None, fits: int | None, said: str
) -> None:
    answer = answered(YES).answer
    assert answer is not None
    low, high = (None, None) if fits is None else (fits - 2, fits + 2)
    answer = msgspec.structs.replace(
        answer,
        system=AnswerSystem(logical_cpus=cpus, cpu_quota=quota, memory_bytes=64 * 2**30),
        fits=Fits(sessions=fits, low=low, high=high, reason="few runs"),
    )
    assert said in pods_sentence(answer, PodSize(4.0, 16 * 2**30))
