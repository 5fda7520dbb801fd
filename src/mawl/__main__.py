"""``python -m mawl`` is the ``mawl`` command."""

from mawl.commands.main import entry

if __name__ == "__main__":
    entry()
