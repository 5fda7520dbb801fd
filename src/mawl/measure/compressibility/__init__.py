"""Estimates of what compression would save, and the savings that compressing storage reports; reads only."""
