"""What several programs share: rows, partitions, sorting, sums and samples, blocks side by side, models."""
