"""The programs of the catalogue, a folder each, how a job runs one, and what they share (``toolkit``)."""
