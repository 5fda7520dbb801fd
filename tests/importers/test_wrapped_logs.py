"""Logs of servers, in HTML, JSON and notebooks, and in other languages read as the plain log does."""

from __future__ import annotations

import html
import io
import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest

from mawl.importers.formats.saslog_languages import languages
from mawl.importers.interface import Context, ImportedJob, Item
from mawl.importers.sas_jobs import IMPORTER, OTHER_LANGUAGE
from mawl.records.model.records import StepRecord

STAMP = 1772413813.0
PLAIN = """\
1                                            The SAS System            01:00 Monday, March 2, 2026

NOTE: SAS (r) Proprietary Software 9.4 (TS1M7)
NOTE: This session is executing on the Linux 4.18.0 (LIN X64) platform.
NOTE: SAS initialization used:
      real time           0.40 seconds
      cpu time            0.20 seconds

1    proc sort data=a.b out=c; by k; run;

NOTE: There were 1000 observations read from the data set A.B.
NOTE: The data set WORK.C has 1000 observations and 4 variables.
NOTE: PROCEDURE SORT used (Total process time):
      real time           10:10.00
      user cpu time       1:20.00
      system cpu time     10.00 seconds
      memory              70000.00k
      OS Memory           90000.00k
      Timestamp           03/02/2026 01:10:13 AM
      Step Count                        24  Switch Count  4
      Page Faults                       0
      Page Reclaims                     300
      Page Swaps                        0
      Voluntary Context Switches        30
      Involuntary Context Switches      3
      Block Input Operations            2000
      Block Output Operations           4000

2    data a<b; set c; run;

NOTE: DATA statement used (Total process time):
      real time           1:00.00
      cpu time            12.00 seconds


NOTE: The SAS System used:
      real time           11:10.50
      cpu time            1:42.30

"""
LINES = PLAIN.splitlines()


def read(content: str | bytes, name: str = "night.log") -> tuple[list[Item], Context]:
    """The items of a file, and its context."""
    context = Context(name, "saslog", lambda seconds: seconds, lambda wanted: wanted)
    data = content.encode() if isinstance(content, str) else content
    assert IMPORTER.recognises(data, name) > 0.2
    return list(IMPORTER.read(io.BytesIO(data), context)), context


def figures(items: list[Item]) -> list[Item]:
    """Steps and jobs without times: other forms of a log have other clocks."""
    untimed = {"started_at": None, "ended_at": None}
    return [
        msgspec.structs.replace(
            item, **untimed, **({"missing": {}, "part": None} if isinstance(item, ImportedJob) else {})
        )
        for item in items
        if isinstance(item, StepRecord | ImportedJob)
    ]


def prefixed(pattern: str) -> Callable[[], str]:
    """Each line below a prefix; the clock goes on a tenth of a second a line."""

    def made() -> str:
        dates = (datetime.fromtimestamp(STAMP + place / 10, UTC) for place in range(len(LINES)))
        return "".join(
            pattern.format(
                iso=at.strftime("%Y-%m-%dT%H:%M:%S,") + f"{at.microsecond // 1000:03d}",
                dashed=at.strftime("%Y-%m-%d-%H:%M:%S,") + f"{at.microsecond // 1000:03d}",
                level="ERROR" if line.startswith("ERROR") else "INFO",
            )
            + f"{line}\n"
            for at, line in zip(dates, LINES, strict=True)
        )

    return made


def item(line: str) -> dict[str, object]:
    return {"version": 1, "type": "note" if line.startswith(("NOTE", " ")) else "normal", "line": line}


def page(element: str) -> Callable[[], str]:
    return lambda: (
        "<!DOCTYPE html><html><head><title>NOTE: a title</title><style>p {}</style></head><body>\n<pre>"
        + "".join(f"<{element}>{html.escape(line)}</{element}>\n" for line in LINES)
        + "</pre></body></html>"
    )


def notebook() -> str:
    parts = [["proc sort;\n", "run;"], ["done"], [line + "\n" for line in LINES]]
    return json.dumps(
        {"cells": [{"cell_type": "code", "outputs": [{"name": "stdout", "text": text}]} for text in parts]}
    )


def sas_notebook() -> str:
    mime = "application/vnd.sas.compute.log.lines"
    output = {"items": [{"mime": mime, "data": json.dumps(list(map(item, LINES)))}]}
    return json.dumps([{"kind": 2, "language": "sas", "value": "proc sort; run;", "outputs": [output]}])


FORMS: dict[str, Callable[[], str]] = {
    "server": prefixed("{iso} {level:<5} [00000005] :batchid - "),
    "documented pattern": prefixed("{dashed}; {level:<5}; 00000005; App.Program; "),
    "with source": prefixed("{dashed}; {level:<5}; 0000000A; App.Program; (yxlog.c:149); "),
    "process and thread": prefixed("{iso} {level} 4711 [00000021] sasadm@saspw App - "),
    "date alone": prefixed("{iso} - "),
    "HTML, an element a line": page("div"),
    "HTML in a pre": page("span"),
    "collection": lambda: json.dumps({"links": [], "items": list(map(item, LINES)), "count": len(LINES)}),
    "list of lines": lambda: json.dumps(list(map(item, LINES)), indent=1),
    "JSON lines": lambda: "".join(json.dumps(item(line)) + "\n" for line in LINES),
    "notebook": notebook,
    "SAS notebook": sas_notebook,
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_has_the_figures_of_the_plain_log(form: str) -> None:
    plain, context = read(PLAIN)
    found, of_form = read(FORMS[form]())
    assert figures(found) == figures(plain)
    assert (of_form.blocks, of_form.skipped) == (context.blocks, [])


def test_the_clock_of_a_prefix_gives_the_end_of_a_step_to_the_millisecond() -> None:
    items, _ = read(FORMS["server"]())
    ends = {one.name: one.ended_at for one in items if isinstance(one, StepRecord)}
    line = 1 + LINES.index("NOTE: PROCEDURE SORT used (Total process time):")
    assert ends["SORT"] == pytest.approx(STAMP + (line - 1) / 10, abs=1e-3)
    [job] = [one for one in items if isinstance(one, ImportedJob)]
    assert job.ended_at is not None and job.started_at == pytest.approx(job.ended_at - 670.5)


@pytest.mark.parametrize(
    ("clock", "zone_known"),
    [
        ("01:10:13.500", False),
        ("01:10:13,500000999", False),
        ("02:10:13.500+01:00", True),
        ("01:10:13.5Z", True),
    ],
)
def test_a_prefix_that_names_its_zone_gives_times_in_utc(clock: str, zone_known: bool) -> None:
    text = "".join(f"2026-03-02T{clock} INFO  [05] :user - {line}\n" for line in LINES)
    items, context = read(text)
    assert {one.ended_at for one in items if isinstance(one, StepRecord)} == {STAMP + 0.5}
    assert context.zone_known is zone_known


def test_a_line_that_is_too_long_is_cut() -> None:
    text = FORMS["server"]().replace("2    data a<b; set c; run;", "2    " + "x" * 3_000_000)
    items, context = read(text)
    assert figures(items) == figures(read(PLAIN)[0])
    assert [one.reason for one in context.skipped if one.line] == [
        "longer than 65536 bytes: the rest of it is not read"
    ]


def test_lines_of_several_threads_are_a_log_each_and_share_the_banner() -> None:
    shape = "2026-03-02T01:00:03,101 INFO  [{thread}] :user - {line}\n"
    banner = [shape.format(thread="00000002", line=line) for line in LINES[2:4]]
    mixed = [shape.format(thread=thread, line=line) for line in LINES[4:] for thread in ("05", "0B")]
    items, context = read("".join(banner + mixed))
    jobs = [one for one in items if isinstance(one, ImportedJob)]
    assert [(job.steps, job.usage.real_time_seconds, job.software) for job in jobs] == [
        (3, 670.5, "9.4 (TS1M7)")
    ] * 2
    assert context.skipped == []


STEP = """\
NOTE: There were {rows} observations read from the data set A.B.
NOTE: DATA statement used (Total process time):
      real time           {rows}.00 seconds
      cpu time            1.00 seconds
"""


def server_log(*runs: tuple[str, str, str]) -> str:
    """Runs of lines, each of a client and a thread, as the logging facility's own pattern writes them."""
    return "".join(
        f"2026-03-02T01:00:03,101 INFO  [{thread}] {client} - {line}\n"
        for client, thread, text in runs
        for line in text.splitlines()
    )


def real_times(text: str) -> list[list[float | None]]:
    """The real times of the steps of each job."""
    items, context = read(text)
    assert [one.reason for one in context.skipped if one.line] == []
    found: list[list[float | None]] = [[]]
    for one in items:
        if isinstance(one, StepRecord):
            found[-1].append(one.usage.real_time_seconds)
        elif isinstance(one, ImportedJob):
            found.append([])
    return found[:-1]


def test_a_workspace_server_runs_each_step_of_a_session_in_another_thread() -> None:
    runs = [
        run
        for number in range(1, 301)
        for run in (
            (":user", "00000010", f"{number}   data a;"),
            (":user", f"{number + 0x10:08X}", STEP.format(rows=number)),
        )
    ]
    assert real_times(server_log(*runs)) == [[float(number) for number in range(1, 301)]]


def test_a_step_that_runs_another_goes_on_in_its_thread() -> None:
    first, second = STEP.format(rows=7).split("NOTE: DATA", 1)
    text = server_log(
        (":user", "10", "1   data a;"),
        (":user", "11", first),
        (":user", "12", STEP.format(rows=5)),
        (":user", "11", "NOTE: DATA" + second),
        (":user", "10", "2   data b;"),
        (":user", "13", STEP.format(rows=3)),
    )
    assert real_times(text) == [[5.0, 7.0, 3.0]]


def test_sessions_whose_lines_alternate_are_a_log_each_with_their_steps() -> None:
    text = server_log(
        (":user", "10", "1   data a;"),
        (":user", "20", "1   data x;"),
        (":user", "10", "2   run;"),
        (":user", "11", STEP.format(rows=1)),
        (":user", "20", "2   run;"),
        (":user", "21", STEP.format(rows=5)),
        (":user", "10", "3   data b; run;"),
        (":user", "12", STEP.format(rows=2)),
    )
    assert sorted(real_times(text)) == [[1.0, 2.0], [5.0]]


def test_clients_of_a_server_have_a_log_each() -> None:
    half = STEP.format(rows=4).splitlines(keepends=True)
    text = server_log(
        ("7:ann", "10", "".join(half[:2])),
        ("8:bob", "11", STEP.format(rows=6)),
        ("7:ann", "10", "".join(half[2:])),
        ("7:ann", "12", STEP.format(rows=5)),
    )
    assert sorted(real_times(text)) == [[4.0, 5.0], [6.0]]


def test_sessions_beyond_the_bound_are_named() -> None:
    text = server_log(*((f"{number}:ann", "10", STEP.format(rows=1)) for number in range(201)))
    items, context = read(text)
    assert sum(isinstance(one, ImportedJob) for one in items) == 200
    assert [one.reason for one in context.skipped] == [
        "more than 200 sessions: those from here on are not read"
    ]


def test_a_line_without_the_prefix_goes_on_with_the_one_above() -> None:
    folded = FORMS["server"]().replace(
        "NOTE: PROCEDURE SORT used",
        "NOTE: Libref A was\n      successfully assigned\nNOTE: PROCEDURE SORT used",
    )
    assert [one.name for one in read(folded)[0] if isinstance(one, StepRecord)] == [
        "initialization",
        "SORT",
        "DATA",
    ]


def test_a_damaged_line_is_named_by_its_line_in_the_file() -> None:
    text = FORMS["server"]().replace("real time           1:00.00", "real time           1:xx.00")
    _, context = read(text)
    wanted = 1 + next(place for place, line in enumerate(text.splitlines()) if "1:xx" in line)
    assert wanted in [one.line for one in context.skipped]


@pytest.mark.parametrize("language", languages(), ids=lambda language: language.name)
def test_a_log_of_each_language_has_the_steps_of_its_english(language: object) -> None:
    text, steps = LOGS[language.name]  # type: ignore[attr-defined]
    items, context = read(text)
    found = [
        (one.name, one.usage.real_time_seconds, one.rows_read) for one in items if isinstance(one, StepRecord)
    ]
    assert found == steps and [one.reason for one in context.skipped if one.line] == []


LOGS: dict[str, tuple[str, list[tuple[str, float, int | None]]]] = {
    "Spanish": (
        """NOTA: SAS inicialización utilizado:
      tiempo real         0.40 segundos
      tiempo de cpu       0.20 segundos

NOTA: Se han leído 1000 observaciones del conj. datos A.B.
NOTA: El conj. datos WORK.C tiene 1000 observaciones y 4 variables.
NOTA: PROCEDIMIENTO SORT utilizado (Tiempo de proceso total):
      tiempo real         10:10.00
      tiempo de cpu del usuario  1.20 segundos
      tiempo de cpu del sistema  0.33 segundos
      Memoria                    585k
""",
        [("initialization", 0.4, None), ("SORT", 610.0, 1000)],
    ),
    "Chinese": (
        """NOTE: 从以下数据集读取了 428 个观测: SASHELP.CARS.
NOTE: “DATA 语句”所用时间（总处理时间）:
      实际时间          1.54 秒
      CPU 时间          0.53 秒

""",
        [("DATA", 1.54, 428)],
    ),
    "Japanese": (
        """NOTE: データセットWORK.TESTから100,000,000オブザベーションを読み込みました。
NOTE: PROCEDURE SORT処理(合計処理時間):
      処理時間            1:16.55
      ユーザーCPU時間     1:20.44
      システムCPU時間     7.35 秒

""",
        [("SORT", 76.55, 100_000_000)],
    ),
    "Altair SLC": (
        """NOTE: Altair SLC 2026 (05.26.01.00.000758)
NOTE: The data step took :
      real time : 5:53.539
      cpu time  : 0.125

NOTE: Submitted statements took :
      real time : 15:12.616
      cpu time  : 54:24.328

""",
        [("DATA", 353.539, None)],
    ),
}


def test_a_log_in_a_language_that_mawl_does_not_read_is_named_by_its_line() -> None:
    german = """1    proc sort; run;

HINWEIS: PROZEDUR SORT wurde verwendet (Gesamtverarbeitungszeit):
      Echtzeit           1.50 Sekunden
      CPU-Zeit           0.50 Sekunden
"""
    items, context = read(german)
    assert items == [] and [(one.line, one.reason) for one in context.skipped] == [(3, OTHER_LANGUAGE)]


def test_a_notebook_whose_first_log_lies_behind_a_picture_is_read() -> None:
    picture = {"output_type": "display_data", "data": {"image/png": "A" * 200_000}}
    cells = [{"cell_type": "code", "outputs": [picture, {"text": [line + "\n" for line in LINES]}]}]
    items, _ = read(json.dumps({"cells": cells}))
    assert figures(items) == figures(read(PLAIN)[0])


def test_a_stored_process_that_failed_sends_its_log_below_json() -> None:
    sent = '{\n"outputdata" : [],\n"status" : "failed"}\n\n<h1>Stored Process Error</h1>\n<pre>'
    text = sent + "".join(f"<font color=blue>{html.escape(line)}</font>\n" for line in LINES) + "</pre>"
    items, _ = read(text)
    assert figures(items) == figures(read(PLAIN)[0])


@pytest.mark.parametrize("damage", [b"\x00", b"<!--", b'{"line": ', b"\xff\xfe", b"]]]]"])
@pytest.mark.parametrize("form", FORMS)
def test_a_damaged_file_raises_nothing(form: str, damage: bytes, tmp_path: Path) -> None:
    content = FORMS[form]().encode()
    for place in range(0, len(content), len(content) // 7):
        context = Context("x", "saslog", lambda seconds: seconds, lambda wanted: wanted)
        list(IMPORTER.read(io.BytesIO(content[:place] + damage + content[place + 3 :]), context))
        list(IMPORTER.read(io.BytesIO(content[:place]), context))
