"""The first lines of a Python script that stands in for a program."""

from __future__ import annotations

import sys

INTERPRETER = f"""#!/bin/sh
'''exec' "{sys.executable}" "$0" "$@"
' '''
"""
"""As installers write them: the kernel takes no blanks in the path of an interpreter, a shell does.  Python
sees a text that it does nothing with."""
