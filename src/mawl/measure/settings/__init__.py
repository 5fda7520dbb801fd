"""The settings of a machine that matter, read-only and without root where possible: a file per family."""
