"""What the runs of a campaign say together: spread, comparison, scaling, the knee of sessions."""
