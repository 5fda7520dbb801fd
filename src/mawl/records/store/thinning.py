"""Samples of a run of any length in bounded memory: of each series one in N, evenly over the run."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from mawl.records.store.columns import SCHEMAS

MOST_ROWS = 2_000_000
"""Kept: 110 MB.  A run of 150 series has all its samples for 3.7 hours, and then more than 6,000 moments."""

MOST_SERIES = 100_000
"""A host with 1,300 paths to its disks has 15,400; what a journal holds beyond is left out."""

Places = NDArray[np.int64]


class Thinned:
    """Keeps the samples with places 0, n, 2 n, ... of each series, and the newest ones.

    ``n``, the ``stride``, is 1 until there are more than ``most_rows``, and doubles then.  Counters lose
    nothing but resolution, gauges what lay between.
    """

    def __init__(self, most_rows: int = MOST_ROWS) -> None:
        self.stride = 1
        self.rows = 0
        self._most_rows = most_rows
        self._codes: dict[tuple[str, str], int] = {}
        self._counts = np.zeros(0, dtype=np.int64)
        self._tables: list[pa.Table] = []
        self._places: list[Places] = []
        self._newest = SCHEMAS["samples"].empty_table()

    def add(self, table: pa.Table) -> None:
        """Samples as a table of their schema, of each series later than those before."""
        self.rows += table.num_rows
        table, codes = self._known(table)
        places = self._placed(codes)
        kept = places % self.stride == 0
        self._tables.append(table.filter(pa.array(kept)))
        self._places.append(places[kept])
        while sum(map(len, self._places)) > self._most_rows:
            self._halve()
        newest = (places % self.stride != 0) & (places == self._counts[codes] - 1)
        self._newest = table.filter(pa.array(newest))

    def table(self) -> pa.Table:
        whole = [SCHEMAS["samples"].empty_table(), *self._tables]
        self._tables = [pa.concat_tables(whole).combine_chunks()]
        self._places = [np.concatenate([np.zeros(0, dtype=np.int64), *self._places])]
        return pa.concat_tables([*self._tables, self._newest])

    def _known(self, table: pa.Table) -> tuple[pa.Table, Places]:
        nodes, names = (table[column].combine_chunks().dictionary_encode() for column in ("node", "series"))
        every = names.dictionary.to_pylist()
        pairs = _integers(nodes.indices) * max(len(every), 1) + _integers(names.indices)
        found, inverse = np.unique(pairs, return_inverse=True)
        hosts = nodes.dictionary.to_pylist()
        codes = np.array(
            [self._code(hosts[pair // len(every)], every[pair % len(every)]) for pair in found.tolist()]
        )
        own = codes.astype(np.int64)[inverse]
        grown = np.zeros(len(self._codes) - len(self._counts), dtype=np.int64)
        self._counts = np.concatenate((self._counts, grown))
        known = own >= 0
        return table.filter(pa.array(known)), own[known]

    def _code(self, node: str, name: str) -> int:
        if (node, name) not in self._codes and len(self._codes) >= MOST_SERIES:
            return -1
        return self._codes.setdefault((node, name), len(self._codes))

    def _placed(self, codes: Places) -> Places:
        """The place of each row in its series; counts them."""
        order = np.argsort(codes, kind="stable")
        ordered = codes[order]
        starts = np.searchsorted(ordered, ordered, side="left")
        places = np.empty(len(codes), dtype=np.int64)
        places[order] = np.arange(len(codes)) - starts + self._counts[ordered]
        self._counts += np.bincount(codes, minlength=len(self._counts))
        return places

    def _halve(self) -> None:
        self.stride *= 2
        for number, (table, places) in enumerate(zip(self._tables, self._places, strict=True)):
            kept = places % self.stride == 0
            self._tables[number], self._places[number] = table.filter(pa.array(kept)), places[kept]


def _integers(indices: pa.Array) -> Places:
    return np.from_dlpack(indices).astype(np.int64)
