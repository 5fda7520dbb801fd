"""What the tables of a run must say of each other, because each was written from another place."""
