"""The input tables, one file each; ``INPUTS`` finds them by name."""

from __future__ import annotations

from mawl.plan.inputs import (
    applications,
    candidates,
    census,
    census_single,
    customer_records,
    customers,
    experiment_runs,
    ledger,
    notes,
    people,
    policies,
    sales,
    transactions,
)
from mawl.plan.tables import InputTable

INPUTS: dict[str, InputTable] = {
    table.name: table
    for table in (
        census.TABLE,
        census_single.TABLE,
        people.HOUSEHOLDS,
        people.PERSONS,
        transactions.TABLE,
        customer_records.TABLE,
        ledger.TABLE,
        policies.TABLE,
        applications.TABLE,
        customers.TABLE,
        notes.TABLE,
        candidates.TABLE,
        sales.TABLE,
        experiment_runs.TABLE,
    )
}
