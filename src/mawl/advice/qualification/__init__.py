"""The answer of ``mawl qualify``: the sentence, what limits, how many sessions fit, what would change it."""
