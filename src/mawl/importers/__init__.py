"""Foreign files to a run folder: SAS logs, recordings of hosts, probes (docs/design/importers.md)."""
