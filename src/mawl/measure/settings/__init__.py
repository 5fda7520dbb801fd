"""The settings of a machine that matter for performance; read-only, and without root where possible."""
