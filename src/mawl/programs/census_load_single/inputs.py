"""Census microdata in one very large file, the input of census_load_single: 45 GB at full scale.

The records are those of :mod:`mawl.programs.census.inputs`; all states follow one another.
"""

from __future__ import annotations

import msgspec

from mawl.plan.tables import GB
from mawl.programs.census import inputs as census

TABLE = msgspec.structs.replace(census.TABLE, name="census_single", full_bytes=45 * GB, file_weights=(1,))
