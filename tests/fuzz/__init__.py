"""Damaged and hostile files, made at random from a seed, given to every verb that reads.

``python -m tests.fuzz --cases 20000`` runs as many cases as asked for and prints what fell short.
"""
