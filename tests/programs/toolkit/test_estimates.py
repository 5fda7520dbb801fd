"""Estimates of many blocks against the truth: right ones pass for many draws, wrong ones do not."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from mawl.errors import WrongAnswerError
from mawl.programs.toolkit.estimates import check_estimates

TRUTH = np.array([1.0, 0.0, -2.0, 0.5])
Numbers = NDArray[np.float64]


def drawn(seed: int, blocks: int) -> tuple[Numbers, Numbers]:
    errors = np.broadcast_to([0.1, 0.2, 0.3, 0.05], (blocks, 4)).copy()
    return TRUTH + errors * np.random.default_rng(seed).standard_normal((blocks, 4)), errors


def check(estimates: Numbers, errors: Numbers, bias: float = 0.0) -> float:
    return check_estimates("it", estimates, errors, TRUTH, bias=bias, error_slack=0.1)


@pytest.mark.parametrize("blocks", [1, 2, 40, 3000])
def test_right_estimates_pass(blocks: int) -> None:
    for seed in range(30):
        assert check(*drawn(seed, blocks)) < 6.0


def test_one_estimate_far_off_or_no_number_is_rejected() -> None:
    for wrong in (9.0, np.nan):
        estimates, errors = drawn(1, 40)
        estimates[7, 2] = wrong
        with pytest.raises(WrongAnswerError, match=r"coefficient of it farthest .* is wrong"):
            check(estimates, errors)


def test_a_mean_that_is_off_is_rejected_and_a_bias_allowed() -> None:
    estimates, errors = drawn(1, 3000)
    estimates[:, 3] += 0.02
    with pytest.raises(WrongAnswerError, match="mean over blocks of coefficient 3"):
        check(estimates, errors)
    check(estimates, errors, bias=0.02)


@pytest.mark.parametrize("factor", [0.5, 0.7, 1.5, 2.0])
def test_standard_errors_of_the_wrong_size_are_rejected(factor: float) -> None:
    estimates, errors = drawn(1, 300)
    with pytest.raises(WrongAnswerError, match="square of distances"):
        check(estimates, factor * errors)
