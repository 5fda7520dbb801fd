"""Test beds on one machine: volumes of a known speed, built, calibrated and removed again (needs root)."""
