"""LZO1X-1, the lzo of btrfs and zram, from the system's liblzo2 (no package of Python's is kept up)."""

from __future__ import annotations

import ctypes
from collections.abc import Callable

LIBRARY = "liblzo2.so.2"
INSTALL = "apt-get install liblzo2-2 (or your system's package of liblzo2)"

_VERSION = 0x2060
_WORK_BYTES = 16384 * ctypes.sizeof(ctypes.c_void_p)


def load(library: str = LIBRARY) -> Callable[[bytes], int]:
    """A function that gives the compressed size of a block in bytes; one thread may use it.

    Raises OSError where the library is absent or refuses this machine.
    """
    lzo = ctypes.CDLL(library)
    pointer, integer = ctypes.c_void_p, ctypes.c_int
    sizes = [ctypes.sizeof(kind) for kind in (ctypes.c_short, integer, ctypes.c_long, ctypes.c_uint32)]
    sizes += [ctypes.sizeof(ctypes.c_size_t), *[ctypes.sizeof(pointer)] * 3, -1]
    if lzo.__lzo_init_v2(_VERSION, *sizes) != 0:
        raise OSError(f"{library} refuses this machine")
    compress = lzo.lzo1x_1_compress
    compress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, pointer, ctypes.POINTER(ctypes.c_size_t), pointer]
    compress.restype = integer
    work = ctypes.create_string_buffer(_WORK_BYTES)
    length = ctypes.c_size_t()
    output = ctypes.create_string_buffer(0)

    def compressed_bytes(block: bytes) -> int:
        nonlocal output
        worst = len(block) + len(block) // 16 + 64 + 3
        if len(output) < worst:
            output = ctypes.create_string_buffer(worst)
        length.value = 0
        compress(block, len(block), output, ctypes.byref(length), work)
        return length.value

    return compressed_bytes
