"""Imports Bokeh for a user without a home: it names a file there while it is imported, and fails without."""

import os

os.environ["HOME"] = os.sep
try:
    import bokeh.settings  # noqa: F401
finally:
    del os.environ["HOME"]
