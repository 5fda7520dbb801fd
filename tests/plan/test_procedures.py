"""The names of steps in the SAS-style log."""

from __future__ import annotations

import pytest

from mawl.plan.catalogue import CATALOGUE
from mawl.plan.programs import PROCEDURES, sas_name


@pytest.mark.parametrize("name", sorted(CATALOGUE))
def test_each_step_of_kind_procedure_names_one_and_no_other_does(name: str) -> None:
    for step in CATALOGUE[name].steps:
        assert (step.procedure in PROCEDURES) == (step.kind == "procedure"), step.name


def test_no_procedure_is_there_for_nothing() -> None:
    assert {step.procedure for program in CATALOGUE.values() for step in program.steps} == {None, *PROCEDURES}


def test_steps_that_no_declaration_knows_have_no_name() -> None:
    assert sas_name(CATALOGUE["wide_sort"], "sort_narrow") == "SORT"
    assert sas_name(CATALOGUE["wide_sort"], "of another version") is None
    assert sas_name(None, "sort") is None
