"""``python -m mawl.cluster`` is a node's process, which the agent starts."""

import sys

from mawl.imports import importing

if __name__ == "__main__":
    with importing():
        from mawl.cluster.child import main
    sys.exit(main())
