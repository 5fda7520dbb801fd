"""Arrow without pandas: not imported for a column, still there for who wants a frame."""

from __future__ import annotations

import subprocess
import sys

CODE = """
import sys
import pyarrow as pa
from mawl.records.store.without_pandas import arrow_alone
before = list(sys.meta_path)
arrow_alone()
print(pa.array([1, None]).null_count, "pandas" in sys.modules, sys.meta_path == before)
print(list(pa.table({"a": pa.array([1, 2])}).to_pandas()["a"]), "pandas" in sys.modules)
"""


def test_a_column_does_not_import_pandas_and_a_frame_does() -> None:
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["1 False True", "[1, 2] True"]
