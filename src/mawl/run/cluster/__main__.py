"""``python -m mawl.run.cluster`` is a node's process, which the agent starts."""

from mawl.base.exits import end_with
from mawl.base.imports import importing

if __name__ == "__main__":
    with importing():
        from mawl.run.cluster.child import main
    end_with(main)
