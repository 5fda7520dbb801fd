"""What every other package may use: units, errors, foreign files, text for terminals, how a process ends."""
