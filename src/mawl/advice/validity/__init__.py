"""Is a run to be believed? Every rule's finding has its cure (docs/design/validity.md)."""
