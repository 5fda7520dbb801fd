"""What limits a run: a rule per resource, and the verdict over its windows (docs/design/verdict.md)."""
