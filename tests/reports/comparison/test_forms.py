"""The same comparison as text, Markdown, JSON and HTML."""

from __future__ import annotations

import json as plain_json
import re

import msgspec
import pytest
from bokeh.models import Range1d
from markupsafe import escape

from mawl.advice.conditions import check_of_comparison
from mawl.figures.comparison.comparability import APART, Difference
from mawl.figures.comparison.compare import ComparedPair, Comparison, compare, compare_many
from mawl.figures.comparison.programs import Verdict
from mawl.figures.comparison.sides import Reason, side_of
from mawl.reports.comparison.charts import effect_charts
from mawl.reports.comparison.document import SCREEN_LINES, document, most_changed, render_json, text_of
from mawl.reports.comparison.sentences import against, finding
from mawl.reports.comparison.tables import tables
from mawl.reports.document import rendered
from mawl.reports.layout import LINE_WIDTH, escaped
from tests.fakes.compared_runs import compared, jobs, pair, side
from tests.fakes.stored_run import facts

QUIET = [0.98, 1.01, 1.0, 1.02, 0.99]
EVIL = "<script>alert(1)</script>|`*_ @team me@example.org http://evil www.evil.org"


@pytest.fixture
def slower() -> Comparison:
    """Five runs against five that were a fifth slower, blocked in work."""
    return compare(*pair(QUIET, [1.2 * factor for factor in QUIET], blocked_work_seconds=4.0))


def test_the_screen_says_the_answer_first(slower: Comparison) -> None:
    lines = text_of(slower).splitlines()
    system = "tiny at scale smoke on Example CPU 2.5 GHz"
    assert lines[:4] == [
        "slowdown   1.54 (1.51 to 1.57) -> 1.85 (1.81 to 1.89): higher (+20 %, 95 % interval +17 % to +23 %)",
        "delivered  1.39 (1.39 to 1.39) -> 1.39 (1.39 to 1.39) cores: equal within the range (0.0 %)",
        'finding    Worse: "after" against "before", real time per job +20 % (95 % interval +17 % to +23 %)',
        "basis      geometric mean over 6 jobs, 5 against 5 runs",
    ]
    assert lines[4] == f"reference  before (5 runs, measured, preliminary): {system}"
    assert "programs   0 programs faster, 2 slower, 0 without a difference" in lines
    assert "differs    time blocked in work 2.92 s -> 26.9 s" in lines
    assert max(map(len, lines)) <= LINE_WIDTH
    assert len(lines) <= SCREEN_LINES


def test_the_verdict_of_few_runs_is_a_dash_and_says_how_many_more() -> None:
    found = text_of(compare(*pair([1.0, 1.0], [1.1])))
    assert "real time per job +10 % (2 against 1 run: too few for an interval)" in " ".join(found.split())
    assert "7 more runs in all" in " ".join(found.split())
    assert "difference found" not in found
    assert "\ndiffers" not in found, "nothing is named of a pair that is not judged"


def test_runs_that_were_made_are_not_asked_for_again() -> None:
    """Five runs a side with a spread of 4 % would show 10 %, and do not show 3 %."""
    calm, wild = ([1.0 + spread * place for place in (-2, -1, 0, 1, 2)] for spread in (0.027, 0.1))
    undecided = finding(compare(*pair(calm, [1.03 * factor for factor in calm])))
    assert undecided.sign == "undecided"
    assert undecided.next_step is not None and undecided.next_step.startswith("make more runs a side; these")
    more = finding(compare(*pair(wild, [1.03 * factor for factor in wild]))).next_step
    assert more is not None and re.fullmatch(r"make \d+ runs a side to show a change of 10 %", more)


def test_no_change_is_a_claim_with_its_margin_and_interval() -> None:
    steady = [1.0, 1.01, 0.99, 1.0, 1.005]
    found = compare(*pair(steady, steady[::-1]))
    said = " ".join(text_of(found).split())
    assert 'finding No change: "after" against "before", real time per job 0.0 % (90 % interval -0.' in said
    assert "; no change larger than 5 %" in said
    assert finding(found).sign == "no change"
    wide = compare(*pair(steady, steady[::-1]), margin_ratio=0.002)
    assert finding(wide).sign == "undecided"
    assert "no difference found: " in " ".join(text_of(wide).split())
    small = compare(*pair(steady, [1.02 * factor for factor in steady]))
    said = " ".join(text_of(small).split())
    assert 'finding No change: "after" against "before", real time per job +2.0 % (90 %' in said
    assert "; no change larger than 5 %; slower nevertheless" in said


def test_a_sum_that_goes_the_other_way_is_explained_in_the_result() -> None:
    """Four short jobs faster, two long ones slower: the mean over jobs falls, their sum grows."""
    runs = [
        side_of(
            label,
            [
                compared(first + 2 * place, {"wide_sort": noise * sort, "census_load": noise * load})
                for place, noise in enumerate(QUIET)
            ],
        )
        for label, first, sort, load in (("before", 0, 1.0, 1.0), ("after", 1, 0.99, 1.03))
    ]
    found = compare(*runs)
    assert found.statement is not None and found.statement.change_ratio is not None
    sums = next(row for row in found.figures if row.name == "time.real_time_seconds")
    assert sums.title == "real time, sum of all jobs"
    said = " ".join(text_of(found).split())
    explained = "the sum over all jobs, in which long jobs weigh more, changed by" in said
    assert sums.change_ratio is not None
    assert explained is (found.statement.change_ratio * sums.change_ratio < 0)


def test_not_told_apart_stands_beside_what_would_have_been_told() -> None:
    found = text_of(compare(*pair(QUIET, QUIET[::-1]), margin_ratio=0.001))
    said = " ".join(found.split())
    assert re.search(
        r"no difference found: only changes above .* would show, in four of five such comparisons; 10 %",
        said,
    )
    assert re.search(r"wide_sort .* no difference \([\d.]+ % would show\)", found)


def unsettled() -> Comparison:
    """All jobs and all figures within noise, but for an interval without 0 that Holm does not accept."""
    noise = [0.9, 1.1, 1.0, 1.1, 0.95]
    runs = [
        compared(2 * place + 1, {"wide_sort": 1.15 * noise[place], "census_load": factor})
        for place, factor in enumerate([1.02, 1.01, 0.97, 1.0, 1.0])
    ]
    return compare(side("before", QUIET), side_of("after", runs))


def test_an_interval_without_0_beside_not_told_apart_is_explained() -> None:
    found = unsettled()
    row = next(row for row in found.figures if row.name == "time.real_time_seconds")
    assert row.low_ratio is not None and row.low_ratio > 0
    assert row.verdict == "not told apart"
    said = "an interval is of its row alone; the verdict judges all rows together (Holm)"
    for form in (
        text_of(found),
        text_of(found, every=True),
        rendered(document(found), "markdown"),
    ):
        assert said in " ".join(form.split())
        assert "no change larger" not in form.lower()
    page = rendered(document(found), "html")
    assert said[1:] in page
    assert "no change larger" not in page.lower()


@pytest.mark.parametrize(
    ("verdict", "slower_programs", "faster", "sign", "apart"),
    [
        ("not told apart", 0, 0, "undecided", ""),
        ("not told apart", 1, 2, "mixed", "; 1 program slower; 2 programs faster"),
        ("not told apart", 0, 1, "mixed", "; 1 program faster"),
        ("faster", 1, 3, "mixed", "; 1 program slower"),
        ("slower", 3, 1, "mixed", "; 1 program faster"),
        ("slower", 3, 0, "worse", ""),
        ("faster", 0, 2, "better", ""),
    ],
)
def test_one_headline_with_one_sign_hides_no_program_in_any_form(
    slower: Comparison, verdict: Verdict, slower_programs: int, faster: int, sign: str, apart: str
) -> None:
    assert slower.statement is not None and slower.programs is not None
    found = msgspec.structs.replace(
        slower,
        statement=msgspec.structs.replace(slower.statement, verdict=verdict),
        programs=msgspec.structs.replace(slower.programs, slower=slower_programs, faster=faster),
    )
    said = finding(found)
    assert said.sign == sign
    begin = f'{sign.capitalize()}: "after" against "before", real time per job +20 % ('
    assert said.sentence.startswith(begin)
    assert said.sentence.endswith(f"){apart}")
    assert f"<h1>{escape(said.sentence)}</h1>" in rendered(document(found), "html")
    assert rendered(document(found), "markdown").startswith(f"# {escaped(said.sentence)}\n")
    assert f" finding {said.sentence} basis" in " ".join(text_of(found).split())
    assert plain_json.loads(render_json(found))["finding"]["sentence"] == said.sentence


def unjudged(rule: str) -> Comparison:
    """A planted fifth that is not judged: runs are invalid or cut short, or the sides are two blocks."""
    before, after = pair(QUIET, [1.2 * factor for factor in QUIET])
    if rule == "order":
        after = side("after", [1.2 * factor for factor in QUIET], first=50)
    if rule == "validity":
        for run in after.runs[1:3]:
            run.summary.validity.status = "invalid"
    if rule == "outcome":
        after = side_of("after", [*after.runs[:4], compared(9, outcome="aborted")])
    return compare(before, after)


@pytest.mark.parametrize(
    ("rule", "why", "step"),
    [
        ("validity", "invalid by their own checks: 2 of 5 runs of after", "fix what makes runs invalid"),
        ("outcome", "invalid by their own checks: 1 of 5 runs of after", "did not complete: aborted"),
        ("order", APART, "mawl run --ab A.toml B.toml"),
    ],
)
def test_a_pair_that_is_not_judged_has_figures_and_no_advice_in_any_form(
    rule: str, why: str, step: str
) -> None:
    found = unjudged(rule)
    said = finding(found)
    assert said.sign == "undecided" and said.next_step is not None and step in said.next_step
    change = 'Undecided: "after" against "before", real time per job +'
    assert said.sentence.startswith(change) and said.sentence.endswith(f" % (not judged: {why})")
    page, whole = rendered(document(found), "html"), text_of(found, every=True)
    assert f"<h1>{escape(said.sentence)}</h1>" in page
    assert rendered(document(found), "markdown").startswith(f"# {escaped(said.sentence)}\n")
    assert f" finding {said.sentence} basis" in " ".join(whole.split())
    for form in (page, whole, render_json(found), against(ComparedPair(candidate="after", comparison=found))):
        assert not re.search(r">Worse<|orse:|adopt (\"|&)|became|\d programs? (slower|faster)", form)
    assert found.programs is not None and {one.verdict for one in found.programs.changes} == {"not judged"}
    check = check_of_comparison("after", found, None)
    assert (check.state, check.sentence) == ("not known", why)


def test_no_figure_is_a_negative_zero(slower: Comparison) -> None:
    place = msgspec.structs.replace(slower.places[0], change_seconds=-0.001, share_ratio=-0.0001)
    row = tables(msgspec.structs.replace(slower, places=[place]))[2].rows[0]
    assert row[3:5] == ("0.00 s", "0 %")
    shorter = msgspec.structs.replace(place, change_seconds=-1.2)
    assert tables(msgspec.structs.replace(slower, places=[shorter]))[2].rows[0][3] == "-1.20 s"


def test_every_interval_lies_within_the_chart_with_a_margin(slower: Comparison) -> None:
    plot = effect_charts(slower)[0].figure
    assert plot is not None and slower.programs is not None
    assert isinstance(plot.x_range, Range1d)
    start, end = float(str(plot.x_range.start)), float(str(plot.x_range.end))
    ends = [(change.low_ratio or 0.0, change.high_ratio or 0.0) for change in slower.programs.changes]
    width = end - start
    assert end - max(high for _, high in ends) > 0.04 * width
    assert min(low for low, _ in ends) - start > 0.04 * width


def with_programs(comparison: Comparison, ratios: list[float]) -> Comparison:
    """The comparison with one program for each change, sorted as programs are."""
    found = comparison.programs
    assert found is not None
    changes = [
        msgspec.structs.replace(found.changes[0], program=f"program-{number}", change_ratio=ratio)
        for number, ratio in enumerate(sorted(ratios, reverse=True))
    ]
    counts = {"slower": 12, "faster": 3, "no_difference": 5}
    return msgspec.structs.replace(
        comparison, programs=msgspec.structs.replace(found, changes=changes, **counts)
    )


def test_twenty_programs_fit_a_screen_and_all_of_them_are_listed_on_demand(slower: Comparison) -> None:
    found = with_programs(slower, [0.5 - 0.05 * number for number in range(20)])
    lines = text_of(found).splitlines()
    assert len(lines) <= SCREEN_LINES
    assert max(map(len, lines)) <= LINE_WIDTH
    assert "programs   3 programs faster, 12 slower, 5 without a difference" in lines
    shown = [line.split()[0] for line in lines if line.startswith("program-")]
    assert shown[0] == "program-0" and shown[-1] == "program-19"
    cut = next(number for number, line in enumerate(lines) if line.startswith("... "))
    assert lines[cut] == f"... {20 - len(shown)} programs that changed less"
    assert lines[cut - 1].startswith("program-") and lines[cut + 1].startswith("program-")
    assert lines[-1].startswith("--all lists all 20 programs, all 1")
    whole = text_of(found, every=True)
    assert all(f"program-{number} " in whole for number in range(20))
    assert "by role" in whole and "--all" not in whole


@pytest.mark.parametrize(
    ("ratios", "most", "ends"),
    [
        ([0.3, 0.2, 0.1, 0.05], 2, (2, 4)),
        ([0.3, 0.01, -0.01, -0.5], 2, (1, 3)),
        ([1.0, 0.9, -0.4, -0.45], 3, (2, 3)),
        ([0.2, -0.1], 5, (2, 2)),
    ],
)
def test_the_largest_changes_either_way_are_kept(
    slower: Comparison, ratios: list[float], most: int, ends: tuple[int, int]
) -> None:
    programs = with_programs(slower, ratios).programs
    assert programs is not None
    assert most_changed(programs.changes, most) == ends


def test_what_fits_a_screen_is_shown_whole(slower: Comparison) -> None:
    few = msgspec.structs.replace(slower, roles=[], places=[], differences=[])
    assert text_of(few) == text_of(few, every=True)


def test_json_holds_every_record(slower: Comparison) -> None:
    found = plain_json.loads(render_json(slower))
    assert found["basis"] == "runs"
    assert found["statement"]["verdict"] == "slower"
    assert found["named"]["role"] == "work"
    assert found["programs"]["slower"] == 2
    assert {
        "reference",
        "candidate",
        "figures",
        "places",
        "roles",
        "obstacles",
        "differences",
        "shape",
    } <= set(found)


def test_tables_are_alike_in_every_form(slower: Comparison) -> None:
    screen = " ".join(text_of(slower, every=True).split())
    page, listed = rendered(document(slower), "html"), rendered(document(slower), "markdown")
    for table in tables(slower):
        for row in table.rows:
            assert all(f">{cell}<" in page.replace("&gt;", ">") for cell in row), row
            assert all(cell in screen for cell in row), row
            assert f"| {row[0]} |" in listed.replace("\\", "")


def test_names_of_others_are_inert() -> None:
    records = [msgspec.structs.replace(record, program=EVIL) for record in jobs({})]
    node = msgspec.structs.replace(facts().nodes[0], name=EVIL, cpu_model=EVIL, kernel=EVIL)
    plain, other = compared(0, records=records), compared(1, records=records, nodes=[node])
    found = compare(side_of(EVIL, [plain]), side_of("b", [other]))
    page, listed = rendered(document(found), "html"), rendered(document(found), "markdown")
    assert "<script>alert" not in page
    assert page.count("&lt;script&gt;alert(1)") >= 4
    assert inert(listed)


def inert(listed: str) -> bool:
    """Whether the hostile name is there in Markdown, as words only."""
    assert escaped(EVIL) in listed
    return not any(part in listed for part in ("<script", "@team", "me@", "http://", "www.evil"))


def test_the_page_has_its_charts_and_no_address_outside(slower: Comparison) -> None:
    page = rendered(document(slower), "html")
    assert {"chart-programs", "chart-places"} <= set(re.findall(r'id="(chart-\w+)"', page))
    assert {"chart-runs", "chart-pair_times", "chart-pair_throughput"} <= set(
        re.findall(r'id="(chart-\w+)"', page)
    )
    assert len(page) < 3_000_000
    own = re.sub(r"<script>.*?</script>", "", page, flags=re.DOTALL)
    assert not re.search(r"https?://", own)


def test_many_sides_in_every_form() -> None:
    matrix = compare_many([side("a", QUIET), side("b", QUIET, first=1), side("c", [1.0], first=30)])
    screen = rendered(document(matrix), "text")
    assert max(map(len, screen.splitlines())) <= LINE_WIDTH
    assert "against a:" in screen and "  c: undecided: real time per job" in screen
    assert "- **b**: no change: real time per job" in rendered(document(matrix), "markdown")
    written = plain_json.loads(render_json(matrix))
    assert written["rows"][2]["label"] == "c"
    assert [pair["comparison"]["finding"]["sign"] for pair in written["pairs"]] == ["no change", "undecided"]
    assert "<h1>Mixed: 2 sides against a, 1 no change, 1 undecided</h1>" in rendered(document(matrix), "html")


def test_advice_names_no_program_that_is_judged_unchanged(slower: Comparison) -> None:
    programs = slower.programs
    assert programs is not None
    alike = [msgspec.structs.replace(one, verdict="not told apart") for one in programs.changes]
    programs = msgspec.structs.replace(programs, changes=alike, slower=0, no_difference=2)
    step = finding(msgspec.structs.replace(slower, programs=programs)).next_step
    assert step is not None and step.startswith('do not adopt "after"; see why the jobs became slower: mawl')


def test_the_next_step_is_said_of_each_result_in_every_form(slower: Comparison) -> None:
    step = finding(slower).next_step
    assert step == (
        'do not adopt "after"; see why census_load (+20 %) and wide_sort (+20 %) became slower: '
        f"mawl report {slower.candidate.names[2]}"
    )
    faster = finding(compare(*pair(QUIET, [0.8 * factor for factor in QUIET]))).next_step
    assert faster == 'adopt "after": real time per job is shorter by more than chance'
    same = finding(compare(*pair(QUIET, QUIET[::-1]))).next_step
    assert same == "choose by cost or effort: no change larger than 5 % was found"
    assert f"next {step}" in " ".join(text_of(slower).split())
    words, _, command = step.rpartition(": ")
    assert f"- **next**: {escaped(words)}" in rendered(document(slower), "markdown")
    assert f": `{command}`" in rendered(document(slower), "markdown"), "nothing in a command is escaped"
    assert plain_json.loads(render_json(slower))["finding"]["next_step"] == step
    start, _, command = step.partition(": mawl ")
    page = rendered(document(slower), "html")
    assert str(escape(start)) in page and f"<span>{command.split()[1]}</span></code>" in page


def test_a_run_of_few_programs_apart_is_decided_by_program(slower: Comparison) -> None:
    assert slower.statement is not None and slower.programs is not None
    one, other = slower.programs.changes[:2]
    mixed = msgspec.structs.replace(
        slower,
        statement=msgspec.structs.replace(slower.statement, verdict="not told apart", alike=False),
        programs=msgspec.structs.replace(
            slower.programs,
            changes=[one, msgspec.structs.replace(other, verdict="faster", change_ratio=-0.3)],
            slower=1,
            faster=1,
        ),
    )
    assert finding(mixed).next_step == (
        f"decide by the programs that you need: slower {one.program} (+20 %); faster {other.program} (-30 %)"
    )


def test_invalid_runs_name_the_check_and_a_run_with_its_count() -> None:
    check = Reason(
        about="validity",
        rule="clock",
        severity="invalid",
        runs=2,
        run="run-3",
        sentence="the clock was set back",
        cure="run it again",
        alike=True,
    )
    spoiled = unjudged("validity")
    candidate = msgspec.structs.replace(spoiled.candidate, reasons=[check])
    before = msgspec.structs.replace(spoiled.reference, reasons=[])
    found = finding(msgspec.structs.replace(spoiled, reference=before, candidate=candidate))
    assert found.next_step == (
        "fix what makes runs invalid, 2 of 10 runs: the clock was set back: mawl report run-3"
    )
    assert found.to_publish == "check clock failed in 2 of 10 runs; fix: run it again"


def test_where_no_part_of_the_time_changed_the_card_says_what_is_known(slower: Comparison) -> None:
    whole = " ".join(rendered(document(msgspec.structs.replace(slower, named=None)), "html").split())
    assert ">No single part</p>" in whole and "; together they changed by +" in whole
    bare = " ".join(
        rendered(document(msgspec.structs.replace(slower, named=None, places=[])), "html").split()
    )
    assert ">Not known</p>" in bare and "waits were not recorded in every run" in bare


def test_the_slowdown_comes_first_in_every_form(slower: Comparison) -> None:
    said = "1.54 (1.51 to 1.57) -> 1.85 (1.81 to 1.89): higher (+20 %, 95 % interval +17 % to +23 %)"
    page = " ".join(rendered(document(slower), "html").split())
    assert escape(said) in page.partition('id="trust"')[2]
    listed = rendered(document(slower), "markdown").splitlines()
    assert listed[2] == f"- **slowdown**: {escaped(said)}" and listed[3].startswith("- **delivered**: 1.39")
    assert [row[0] for row in tables(slower)[0].rows[:2]] == ["slowdown", "delivered cores"]


def test_a_sentence_that_a_phone_hides_in_a_card_is_in_the_parts_below(slower: Comparison) -> None:
    whole = " ".join(rendered(document(slower), "html").split())
    cards, below = whole.split('id="trust"')
    for begin, runs in (
        ('<p class="said">', "6 of 10 runs: "),
        ("<li>limit: not known (", "10 of 10 runs: "),
    ):
        reason = re.split(r"[.(<)]", cards.partition(f"{begin}{runs}")[2])[0]
        assert len(reason) > 20
        assert f"<dd>{runs}{reason}" in below
    assert slower.named is not None
    assert f"<dd>{escape(slower.named.sentence)}</dd>" in below


def test_options_that_differ_are_in_sight(slower: Comparison) -> None:
    fact = Difference(name="option sortsize", reference="1", candidate="2")
    found = msgspec.structs.replace(slower, differences=[fact])
    assert "option sortsize: 1 -&gt; 2" in rendered(document(found), "html")
    assert "option     sortsize: 1 -> 2" in text_of(found).splitlines()
