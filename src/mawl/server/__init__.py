"""Web pages over stored runs, read-only; a live run is a run folder that still grows (docs/design/server.md)."""
