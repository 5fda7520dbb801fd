"""``python -m mawl.cluster`` is a node's process, which the agent starts."""

from mawl.exits import end_with
from mawl.imports import importing

if __name__ == "__main__":
    with importing():
        from mawl.cluster.child import main
    end_with(main)
