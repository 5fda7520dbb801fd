"""What the three census programs share: the text records as an input, parsed tables, sums of persons."""
