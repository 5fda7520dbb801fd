"""Estimates of what compression would save, and what compressing storage says it saved; reads only."""
