"""The fast path of the SAS log reader: whole notes by a C scanner, as columns (docs/design/sas-log.md)."""
