"""Test beds on one machine: volumes whose speed is known, built, calibrated and taken away again (root)."""
