"""What a run is asked and what it holds: specs, records, the run folder, and definitions of figures."""
