"""Files that an engine compressed itself before it wrote them, told by their names."""

from __future__ import annotations

import re
from pathlib import PurePath

ENGINE_COMPRESSED = re.compile(r"duckdb_temp_(?:\d+_\d+_)?storage_S\d+K-\d+\.tmp")
"""DuckDB's temporary blocks that it compressed, by their size class; those it left raw are in
``..._storage_DEFAULT-N.tmp`` (DuckDB, src/storage/temporary_file_manager.cpp)."""


def engine_compressed(path: str) -> bool:
    """Whether a file holds what DuckDB compressed on its own account."""
    return ENGINE_COMPRESSED.fullmatch(PurePath(path).name) is not None
