"""What a workload is, what it needs, and what may start next.  Data and rules; nothing runs here."""
