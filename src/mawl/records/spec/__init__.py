"""What a run is asked to be: ``RunSpec``, its options, and their sources."""
