"""Several nodes as one run: a controller, and on each node an agent with the local runner in a process."""
