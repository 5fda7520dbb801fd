"""Search run options for a gain, and establish or exclude it (docs/design/search.md)."""
