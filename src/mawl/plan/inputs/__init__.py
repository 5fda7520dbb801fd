"""The input tables, one file each; ``INPUTS`` finds them by name."""

from __future__ import annotations

from mawl.plan.inputs import (
    census,
    census_single,
    customer_records,
    customers,
    people,
    policies,
    transactions,
)
from mawl.plan.tables import InputTable

INPUTS: dict[str, InputTable] = {
    table.name: table
    for table in (
        transactions.TABLE,
        census.TABLE,
        census_single.TABLE,
        people.HOUSEHOLDS,
        people.PERSONS,
        policies.TABLE,
        customers.TABLE,
        customer_records.TABLE,
    )
}
