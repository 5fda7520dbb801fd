"""The programs of the catalogue, one file each, and what they share: tables, limits, failures."""
