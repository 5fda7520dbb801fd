"""Runs over test beds, and how what they find compares with what papers found."""
