"""Several runs made to answer one question; uses both the measuring and the reading side."""
