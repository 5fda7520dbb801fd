"""Summaries and records in, text out.  Nothing here prints, measures or works figures out."""

import os
from pathlib import Path

try:
    Path.home()
except RuntimeError:  # while Bokeh is imported it names a file in the home, and fails without one
    os.environ["HOME"] = os.sep
    try:
        import bokeh.settings  # noqa: F401
    finally:
        del os.environ["HOME"]
