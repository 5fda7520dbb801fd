"""Self-contained HTML pages: one file that opens anywhere, with no network."""
