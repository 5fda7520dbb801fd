"""``python -m mawl.run.cluster`` is a node's process, which the agent starts."""

from mawl.base.imports import importing
from mawl.base.process import end_with

if __name__ == "__main__":
    with importing():
        from mawl.run.cluster.node_process import main
    end_with(main)
