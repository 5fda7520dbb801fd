"""The SQL of census_query, and what its answers add up to."""

from __future__ import annotations

from typing import Any

import msgspec

from mawl.programs.census.profile import PERSONS

WORKING_AGE = (15, 64)
PROFILE = msgspec.structs.replace(
    PERSONS, codes=tuple(code for code in PERSONS.codes if code not in ("sex", "worker_class"))
)
"""What is asked of each group beside its totals; sex and class of worker make the groups."""

POPULATION = f"""
    SELECT employment, sex, count(*) FILTER (person = 1), sum(person_weight) FILTER (person = 1),
           sum(wages) FILTER (person = 1), count(*), {PROFILE.sql}
    FROM persons GROUP BY employment, sex"""
HOUSEHOLDERS = "CREATE TEMP VIEW householders AS SELECT * FROM persons WHERE person = 1"
SEMI_JOIN = f"""
    SELECT employment, sex, count(*), sum(person_weight), sum(wages), {PROFILE.sql}
    FROM householders WHERE serial IN (SELECT serial FROM households WHERE {{which}})
    GROUP BY employment, sex"""
OWNERS, RENTERS = "tenure = 1", "tenure > 1"
INCOMES = f"""
    SELECT worker_class, sex, count(*), avg(wages), stddev_samp(wages), {PROFILE.sql}
    FROM persons WHERE age BETWEEN {WORKING_AGE[0]} AND {WORKING_AGE[1]}
    GROUP BY worker_class, sex"""

Totals = dict[tuple[bytes, int], tuple[int, int, int]]
"""Employment and sex to persons, their weight and their wages."""


def totals(rows: list[tuple[Any, ...]]) -> Totals:
    """The first five columns of a result as totals; groups without anybody are left out."""
    return {
        (employment, int(sex)): (int(count), int(weight), int(wages))
        for employment, sex, count, weight, wages, *_ in rows
        if count
    }


def added(left: Totals, right: Totals) -> Totals:
    """Two results that have nobody in common, as one."""
    nothing = (0, 0, 0)
    both: Totals = {}
    for group in left.keys() | right.keys():
        one, other = left.get(group, nothing), right.get(group, nothing)
        both[group] = (one[0] + other[0], one[1] + other[1], one[2] + other[2])
    return both
