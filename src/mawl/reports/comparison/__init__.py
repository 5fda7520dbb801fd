"""A comparison as text, Markdown, JSON and HTML: the same tables and sentences in every form."""

import mawl.reports.without_home  # noqa: F401
