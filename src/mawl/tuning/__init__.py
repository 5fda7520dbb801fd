"""What is set beside what the profiles recommend, ranked by what limited the run."""
