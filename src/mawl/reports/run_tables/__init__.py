"""The tables of a run; ``every.py`` lists them in the order of reports."""
