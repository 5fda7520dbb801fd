"""What a virtual I/O server prints of its mappings.

Source: IBM, Virtual I/O Server commands: lsmap (``-all``, ``-all -npiv``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from mawl.formats.settings.told import NOT_WHOLE, STRANGE_LINE, Output, Told
from mawl.model.inventory_metrics import MACHINE

_HOST = re.compile(
    r"(?P<host>vfchost[0-9]{1,5})\s+(?P<place>U\S{5,60})\s+(?P<id>[0-9]{1,6})(?:\s+(?P<client>\S{1,60}))?(?:\s+\S+)?\s*"
)
_PORT = re.compile(r"FC name:(?P<adapter>fcs[0-9]{1,5})(?:\s.*)?")
_CLIENT = re.compile(r"VFC client name:(?P<adapter>fcs[0-9]{1,5})(?:\s.*)?")
_SERVER = re.compile(r"(?P<host>vhost[0-9]{1,5})\s+(?P<place>U\S{5,60})\s+(?P<id>0x[0-9a-fA-F]{8})\s*")


_HEADS = ("Name ", "---", "Status:", "FC name:", "Ports logged in:", "Flags:", "VFC client name:")


def read_maps(output: Output, told: Told) -> None:
    """Virtual adapter to the adapter behind it and the partition's own name for it (``-npiv``).

    ``vfchosts`` is the number of these virtual adapters.
    """
    hosts = 0
    for host, figures in _mapped(output.lines):
        hosts += host.startswith("vfchost")
        for name, value in figures.items():
            told.put("lsmap", host, name, value)
    if not {"-all", "-npiv"} <= {*output.command}:
        return
    strange = any(
        line.strip() and not line.lstrip().startswith(_HEADS) and not _HOST.fullmatch(line)
        for line in output.lines
    )
    if strange or not output.whole:
        told.lack("lsmap", MACHINE, "vfchosts", STRANGE_LINE if output.whole else NOT_WHOLE)
    else:
        told.machine("lsmap", "vfchosts", hosts)


def _mapped(lines: tuple[str, ...]) -> Iterator[tuple[str, dict[str, str]]]:
    """Each virtual adapter once its lines are read; a line of no adapter is left out."""
    host, figures = "", dict[str, str]()
    for line in lines:
        head, server = _HOST.fullmatch(line), _SERVER.fullmatch(line)
        port, client = _PORT.fullmatch(line.strip()), _CLIENT.fullmatch(line.strip())
        if head or server:
            if host:
                yield host, figures
            match = head or server
            assert match is not None
            host, figures = match["host"], {"client_id": match["id"]}
            if head and head["client"]:
                figures["client"] = head["client"]
        elif line.startswith(("---", "Name ")):
            if host:
                yield host, figures
            host = ""
        elif host and port:
            figures["adapter"] = port["adapter"]
        elif host and client:
            figures["client_adapter"] = client["adapter"]
    if host:
        yield host, figures
