"""What the host does while jobs run: one file per source, read once a second (docs/design/host.md)."""
