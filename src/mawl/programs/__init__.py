"""The programs of the catalogue, a module each, how a job runs one, and what they share (``toolkit``)."""
