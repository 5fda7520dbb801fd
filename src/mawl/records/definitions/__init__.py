"""How figures are defined: unit, definition, source, and why one may be missing."""
