"""The rules of ``mawl validate``, one module each."""
