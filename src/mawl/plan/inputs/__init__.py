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
    measurements,
    notes,
    people,
    policies,
    respondents,
    sales,
    store_weeks,
    transactions,
    visits,
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
        measurements.TABLE,
        respondents.TABLE,
        visits.TABLE,
        store_weeks.TABLE,
        sales.TABLE,
        experiment_runs.TABLE,
    )
}
