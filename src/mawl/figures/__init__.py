"""From a stored run to what its figures say.  Works on any laptop: no engine, no input data."""
