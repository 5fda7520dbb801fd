"""Imports Bokeh for a user without a home directory; packages with charts import this module first.

While it is imported, Bokeh builds the path of a file in the home directory, and fails if there is none.
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
