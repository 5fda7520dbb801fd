"""Statistics of storage arrays, joined to a run on its clock."""
