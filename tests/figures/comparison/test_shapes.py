"""Published results as a side: per core and in shape, and one paper's own table."""

from __future__ import annotations

import pytest

from mawl.figures.comparison.compare import compare, compare_many
from mawl.figures.comparison.sides import Side, published_side
from mawl.figures.published import published_block
from mawl.records.model.published import PaperRange, paper_of, published_result
from tests.fakes.compared_runs import side


def paper(name: str) -> Side:
    """A published result as a side."""
    result = published_result(name)
    return published_side(published_block(result, paper_of(result)))


def test_a_run_and_a_paper_are_held_against_each_other_in_shape_only() -> None:
    found = compare(paper("s822-xiv-20"), side("mine", [1.0]))
    assert found.basis == "per core and in shape"
    assert (found.statement, found.figures, found.programs, found.places) == (None, [], None, [])
    rows = {row.name: row for row in found.shape}
    assert rows["shape.jobs_per_session"].reference == PaperRange(low=71 / 20, high=71 / 20)
    assert rows["shape.jobs_per_session"].candidate == PaperRange(low=1.5, high=1.5)
    assert rows["shape.cpu_real_ratio"].change_ratio is None, "purr against what the kernel counted"
    per_core = rows["per_core.sustained_bytes_per_second"]
    assert (per_core.change_ratio, per_core.reason) == (None, "the sides count cores differently")
    assert {obstacle.rule for obstacle in found.obstacles} == {"core basis", "CPU accounting"}


def test_x86_times_of_a_paper_are_counted_as_ours() -> None:
    rows = {row.name: row for row in compare(paper("dl980-flash-30"), side("mine", [1.0])).shape}
    ratio = rows["shape.cpu_real_ratio"]
    assert ratio.reference is not None and ratio.candidate is not None
    assert ratio.change_ratio == pytest.approx(ratio.candidate.low / ratio.reference.low - 1.0)


def test_a_range_is_a_range() -> None:
    found = compare(paper("s822-hybrid-20"), side("mine", [1.0])).shape
    row = next(row for row in found if row.name == "shape.work_util_ratio")
    assert row.reference == PaperRange(low=0.85, high=0.95)
    assert row.change_ratio is None


def test_one_papers_two_results_on_servers_alike_have_its_own_table() -> None:
    found = compare(paper("dl980-spinning-30"), paper("dl980-flash-30"))
    assert found.basis == "one paper"
    rows = {row.name: row for row in found.figures}
    assert rows["time.real_time_seconds"].change_ratio == pytest.approx(1134 / 3066 - 1)
    assert rows["time.system_cpu_seconds"].change_ratio == pytest.approx(221 / 905 - 1)
    assert rows["cpu_real_ratio.mean"].candidate == 1.047
    assert {row.verdict for row in found.figures} == {"not judged"}


def test_totals_of_unlike_machines_are_never_divided() -> None:
    for one, other in (("s822-xiv-20", "s822-xiv-30"), ("s822-xiv-20", "e880-xiv-plain-30")):
        found = compare(paper(one), paper(other))
        assert (found.basis, found.figures) == ("per core and in shape", [])


def test_raw_aix_times_are_not_compared_with_others() -> None:
    found = compare(paper("e880-xiv-plain-30"), side("mine", [1.0]))
    sentence = "CPU time is scaled by AIX and counted by the kernel"
    assert any(obstacle.sentence.startswith(sentence) for obstacle in found.obstacles)
    plain = compare(paper("e880-xiv-plain-30"), paper("e880-xiv-compressed-30"))
    user = next(row for row in plain.figures if row.name == "time.user_cpu_seconds")
    assert user.change_ratio == pytest.approx(1397 / 1394 - 1)


def test_the_matrix_has_what_the_papers_give_and_blanks() -> None:
    rows = {
        row.label: row
        for row in compare_many(
            [paper("e880-ess-40gbe-4x30"), paper("s822-xiv-20"), side("mine", [1.0])]
        ).rows
    }
    four = rows["e880-ess-40gbe-4x30"]
    assert (four.nodes, four.sessions, four.cores, four.limit) == (4, 120, 62, "the network")
    assert four.fabric == "1 x 40 Gb/s ethernet"
    assert (four.real_time_seconds, four.sustained_bytes_per_second_per_core) == (None, None)
    assert rows["s822-xiv-20"].sustained_bytes_per_second_per_core == pytest.approx(2.7e9 / 16)
    assert rows["mine"].core_basis == "vCPU"
