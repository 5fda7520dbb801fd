"""The signature of a run: figures of the published mix."""

from __future__ import annotations

from typing import Annotated

import msgspec

from mawl.definitions.figure import Number, flag, text, unitless
from mawl.definitions.metric import SIGNATURE_PAGE


class SignatureFigure(msgspec.Struct, frozen=True, kw_only=True):
    """A row of the signature beside the published range."""

    value: Annotated[Number | None, unitless("The row's figure, in the row's unit.", SIGNATURE_PAGE)]
    low: Annotated[Number | None, unitless("Lower end of the published range.", SIGNATURE_PAGE)]
    high: Annotated[Number | None, unitless("Upper end of the published range.", SIGNATURE_PAGE)]
    inside: Annotated[bool | None, flag("Whether the value is in the range.", SIGNATURE_PAGE)]
    meaningful: Annotated[bool, flag("Whether the value may be compared with the range.", SIGNATURE_PAGE)]
    reason: Annotated[str | None, text("Why there is no value, or why it is not meaningful.", SIGNATURE_PAGE)]
    source: Annotated[str, text("Where the range comes from.", SIGNATURE_PAGE)]
