"""The mark ``thorough``: tests that `make check` runs and `make test` leaves out, by their files.

They are whole campaigns, kills at every phase, planted faults of twenty programs, and many drawn cases.
`make test` keeps the same code under unit tests, and whole commands on `nano`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent
THOROUGH = (
    "archive/test_altered_packs.py",
    "archive/test_packing.py",
    "archive/test_rules.py",
    "archive/test_site.py",
    "campaigns/test_arm_setting.py",
    "campaigns/test_setting_kills.py",
    "campaigns/qualify/test_engine.py",
    "campaigns/qualify/test_nodes_engine.py",
    "campaigns/test_series.py",
    "cli/test_campaigns.py",
    "cli/test_commands.py",
    "cli/test_compressibility.py",
    "cli/test_derive.py",
    "cli/test_derived.py",
    "cli/test_derived_accuracy.py",
    "cli/test_own_programs.py",
    "cli/test_probe.py",
    "cli/test_run_host.py",
    "cli/test_schema.py",
    "cli/test_second_formula.py",
    "cli/test_simulate.py",
    "cli/test_size.py",
    "cli/test_tune_search.py",
    "commands/server/test_campaigns.py",
    "commands/test_campaign_report.py",
    "commands/test_folder_names.py",
    "commands/test_widths.py",
    "run/cluster/test_controller.py",
    "run/launch/test_launch_accounting.py",
    "run/launch/test_launch_death.py",
    "contract/test_planted_faults.py",
    "contract/test_programs.py",
    "contract/test_wide_sort_ratio.py",
    "frozen/test_frozen.py",
    "fuzz/test_fuzz.py",
    "records/store/test_killed_run.py",
    "tuning/test_collected_each_published.py",
    "tuning/search/test_conduct.py",
    "tuning/search/test_search.py",
    "whatif/test_baselines.py",
)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of these files."""
    files = {(ROOT / name).resolve(strict=True) for name in THOROUGH}
    for item in items:
        if item.path in files:
            item.add_marker("thorough")
