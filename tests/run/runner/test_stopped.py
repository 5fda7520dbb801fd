"""Jobs that a signal has stopped, as the samples show them."""

from __future__ import annotations

from pathlib import Path

from mawl.measure.accounting import ProcessSampler
from mawl.run.runner.sampling import StoppedJobs
from tests.measure.test_process import add_process


def test_a_process_that_is_stopped_is_named_once_after_five_seconds(tmp_path: Path) -> None:
    add_process(tmp_path, 100, below="200")
    add_process(tmp_path, 200)
    sampler = ProcessSampler(tmp_path)
    stopped = StoppedJobs()

    def looks(first: int, count: int) -> list[tuple[int | None, list[str]]]:
        found = []
        for second in range(first, first + count):
            live = sampler.sample({"job": 100})
            found.append((live["job"].stopped, stopped.look(live, float(second))))
        return found

    assert looks(0, 4) == [(None, [])] * 4
    add_process(tmp_path, 200, state="T")
    found = looks(4, 8)
    assert [pid for pid, _ in found] == [200] * 8
    assert [len(sentences) for _, sentences in found] == [0, 0, 0, 0, 0, 1, 0, 0], "after 5 s, and once"
    assert "kill -CONT 200 lets it go on" in found[5][1][0]
    add_process(tmp_path, 200)
    assert looks(12, 1) == [(None, [])]
    add_process(tmp_path, 100, below="200", state="T")
    assert looks(13, 11) == [(None, [])] * 11, "the launcher ends the job of a keeper that is stopped"
    sampler.close()
