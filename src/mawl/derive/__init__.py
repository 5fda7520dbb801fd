"""A workload out of SAS logs: what they tell of each step, what follows from it, what is assumed."""
