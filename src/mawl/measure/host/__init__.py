"""Host figures while jobs run: sources that are read once a second (docs/design/host.md)."""
