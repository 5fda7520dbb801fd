"""Self-contained HTML pages: one file that opens anywhere, with no network."""

import mawl.reports.without_home  # noqa: F401
