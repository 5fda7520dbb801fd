"""What each program of the catalogue declares, and its input table: data, without any engine."""
