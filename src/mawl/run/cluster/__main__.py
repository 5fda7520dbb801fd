"""``python -m mawl.run.cluster`` is a node's process; with ``agent NAME`` it is the agent over ssh."""

import os
import sys

from mawl.base.process import end_with, importing


def _agent() -> int:
    with importing():
        from mawl.run.cluster.agent import serve
    # Whatever else prints must not get between the answers.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    serve(sys.stdin.buffer, answers)
    return 0


def _node() -> int:
    with importing():
        from mawl.run.cluster.node_process import main
    return main()


if __name__ == "__main__":
    end_with(_agent if sys.argv[1:2] == ["agent"] else _node)
