"""What to buy: candidate systems of a catalogue, each forecast from one run (``mawl size``)."""
