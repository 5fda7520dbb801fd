"""Arrow without pandas, which costs mawl's own commands 0.2 s of CPU and does nothing for them."""

from __future__ import annotations

import sys
from importlib.abc import MetaPathFinder


class _NoPandas(MetaPathFinder):
    def find_spec(self, fullname: str, *_: object) -> None:
        if fullname == "pandas":
            raise ModuleNotFoundError("Arrow does without it here", name=fullname)


def arrow_alone() -> None:
    """Answer Arrow's question for pandas with no, where Arrow is loaded and pandas is not.

    Arrow asks when the first list becomes a column, and then imports pandas where it is installed: 0.2 s of
    CPU for every command that reads or writes a run, and nothing there uses it.  ``to_pandas`` asks again.
    """
    arrow = sys.modules.get("pyarrow")
    if arrow is None or "pandas" in sys.modules:
        return
    finder = _NoPandas()
    sys.meta_path.insert(0, finder)
    try:
        arrow.array([])
    finally:
        sys.meta_path.remove(finder)
