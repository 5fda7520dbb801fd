"""A comparison as text, Markdown, JSON and HTML: the same tables and sentences in every form."""
