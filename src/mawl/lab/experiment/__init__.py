"""Runs over test beds, and what they found beside what papers found."""
