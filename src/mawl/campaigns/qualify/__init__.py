"""``mawl qualify``: the phases from a machine to an answer (docs/design/qualify.md)."""
