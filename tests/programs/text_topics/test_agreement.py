"""Found groups against hidden ones: pairs, shares, and groups that do not pair off."""

from __future__ import annotations

import numpy as np
import pytest

from mawl.base.errors import WrongAnswerError
from mawl.programs.text_topics.run import Agreement


def tallied(found: list[int], truth: list[int]) -> Agreement:
    agreement = Agreement(3)
    for start in (0, 2):
        some = slice(start, start + 2 if start == 0 else None)
        agreement.add(np.array(found[some]), np.array(truth[some]))
    return agreement


def test_found_groups_pair_off_with_true_ones() -> None:
    agreement = tallied([2, 2, 0, 0, 1, 2], [0, 0, 1, 1, 2, 1])
    assert agreement.partners("groups", 6).tolist() == [1, 2, 0]
    assert agreement.ratio == pytest.approx(5 / 6)


def test_missing_rows_and_groups_without_a_partner_are_rejected() -> None:
    with pytest.raises(WrongAnswerError, match="the number of rows"):
        tallied([2, 2, 0, 0, 1, 2], [0, 0, 1, 1, 2, 1]).partners("groups", 7)
    with pytest.raises(WrongAnswerError, match="true ones"):
        tallied([2, 2, 0, 0, 1, 1], [0, 0, 1, 1, 1, 1]).partners("groups", 6)
