"""A campaign's report as text, Markdown, HTML and JSON: head and tables are the same in all."""

import mawl.reports.without_home  # noqa: F401
