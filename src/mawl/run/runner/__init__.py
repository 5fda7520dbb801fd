"""Runs a plan on this machine: sessions, stages, gate, interrupts; writes the journal, prints nothing."""
