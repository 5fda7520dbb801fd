"""A run as it is made: its sessions, its processes, and its nodes."""
