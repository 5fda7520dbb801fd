"""Settings of systems that mawl does not run on, from files of what their commands printed."""
