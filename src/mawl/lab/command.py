"""Programs that build a bed: run without a shell, marked as the bed's, an error is one sentence."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence

from mawl.errors import UnsuitableMachineError

BED_VARIABLE = "MAWL_LAB_BED"
"""Its value in the environment of a process is the state file of the bed that the process belongs to."""

SYSTEM_FOLDERS = "/usr/local/sbin:/usr/sbin:/sbin"
PATIENCE_SECONDS = 120


def find(program: str) -> str | None:
    """Where a program is, also in the folders that only root has on its PATH."""
    return shutil.which(program, path=f"{os.environ.get('PATH', os.defpath)}:{SYSTEM_FOLDERS}")


def environment(mark: str) -> dict[str, str]:
    """This process's environment with the mark of a bed and the system's folders."""
    path = f"{os.environ.get('PATH', os.defpath)}:{SYSTEM_FOLDERS}"
    return {**os.environ, "PATH": path, "LC_ALL": "C", BED_VARIABLE: mark}


def own_environment(mark: str) -> dict[str, str]:
    """The same for ``mawl`` itself: without the user's own settings of it, which are not the bed's."""
    return {
        name: value
        for name, value in environment(mark).items()
        if not name.startswith("MAWL_") or name.startswith("MAWL_LAB_")
    }


def command(words: Sequence[str], mark: str, patience: float = PATIENCE_SECONDS) -> str:
    """What a program printed; :class:`~mawl.errors.UnsuitableMachineError` where it did not end well."""
    said = attempt(words, mark, patience)
    if said.returncode != 0:
        text = (said.stderr or said.stdout).strip()
        # What mount says last is where else to look.
        lines = [line for line in text.splitlines() if "dmesg(1)" not in line]
        lines = lines or [f"exit status {said.returncode}"]
        raise UnsuitableMachineError(
            f"{words[0]} failed", why=" ".join(lines[-1].split()), cure="mawl lab up --check"
        )
    return said.stdout


def attempt(
    words: Sequence[str], mark: str, patience: float = PATIENCE_SECONDS
) -> subprocess.CompletedProcess[str]:
    """Run a program to its end, whatever that is; an error only where it cannot be run at all."""
    try:
        return subprocess.run(
            words,
            capture_output=True,
            text=True,
            env=environment(mark),
            stdin=subprocess.DEVNULL,
            timeout=patience,
        )
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise UnsuitableMachineError(
            f"{words[0]} cannot be run", why=why, cure="mawl lab up --check"
        ) from None
    except subprocess.TimeoutExpired:
        raise UnsuitableMachineError(f"{words[0]} did not end in {patience:g} s") from None
