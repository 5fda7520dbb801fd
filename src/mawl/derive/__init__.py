"""A workload from SAS logs: figures of each step that are told, inferred or assumed."""
