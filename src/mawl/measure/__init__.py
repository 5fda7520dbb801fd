"""What the kernel says of processes, steps and machines, I/O by role, and what the storage can do."""
