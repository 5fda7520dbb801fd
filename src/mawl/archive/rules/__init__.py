"""The rules of ``mawl validate``: numbers V01 to V27."""
