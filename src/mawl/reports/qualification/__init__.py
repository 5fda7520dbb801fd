"""The answer of ``mawl qualify``: for a terminal, a ticket, a page of paper, and a disclosure."""
