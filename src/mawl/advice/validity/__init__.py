"""Is a run to be believed? A rule per file, each finding with its cure (docs/design/validity.md)."""
