"""The programs of the catalogue, a folder each; how a job runs one; what they share (``toolkit``)."""
