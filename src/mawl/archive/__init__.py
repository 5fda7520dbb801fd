"""Results that others can check: packs of runs, and the rules that they are judged by."""
