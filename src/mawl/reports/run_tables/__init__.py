"""The tables of a run, one module each; ``every.py`` lists them in the order of reports."""
