"""TOML in: files and settings that a user writes, checked against their schema."""
