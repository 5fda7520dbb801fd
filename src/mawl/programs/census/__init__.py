"""What the three census programs share: text records, the tables made of them, a profile of persons."""
