"""Imports Bokeh for a user without a home directory; packages with charts import this module first.

The import of Bokeh looks up the home directory, and ends in an error for such a user.
"""

import os
from pathlib import Path

try:
    Path.home()
except RuntimeError:
    os.environ["HOME"] = os.sep
    try:
        import bokeh.settings  # noqa: F401
    finally:
        del os.environ["HOME"]
