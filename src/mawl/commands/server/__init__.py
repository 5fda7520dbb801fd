"""Read-only web pages over stored runs; a live run is a folder that still grows (docs/design/server.md)."""
