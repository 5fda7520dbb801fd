"""Free-text notes of a call centre, the input of text_topics: 768 bytes a row, 12 GB at full scale."""

from __future__ import annotations

from mawl.plan.columns import Code, Column, Phrases, RowNumber, Text, Uniform
from mawl.plan.tables import GB, InputTable

PHRASES = Phrases(shares=(32, 29, 26, 24, 23, 22, 20, 18, 17, 16, 15, 14), common=64, stray=38)
"""Twelve hidden topics; a quarter of the phrases belong to none, an eighth to any."""

TEXT_BYTES = 288

NUMERICS = (
    Column("caller", Uniform(1, 40_000, skew=3)),
    Column("day", Uniform(0, 364)),
    Column("hour", Uniform(7, 21)),
    Column("duration_minutes", Uniform(1, 40, skew=3)),
    Column("wait_minutes", Uniform(0, 30, skew=5)),
    Column("transfers", Uniform(0, 4, skew=8)),
    Column("satisfaction", Uniform(1, 5)),
    Column("priority", Uniform(1, 4, skew=3)),
    Column("reopened", Uniform(0, 1, skew=6)),
    Column("attachments", Uniform(0, 3, skew=10)),
)

TABLE = InputTable(
    name="notes",
    full_bytes=12 * GB,
    unfilled_bytes=60.9,
    columns=(
        Column("note", RowNumber()),
        Column("text", PHRASES, TEXT_BYTES),
        *NUMERICS,
        Column("channel", Code(("PHONE", "MAIL", "CHAT"), skew=2), 8),
        Column("name", Text(), 48),
        Column("office", Text(), 40),
        Column("street", Text(), 64),
        Column("reply", Text(), 112),
        Column("remark", Text(), 120),
    ),
)
