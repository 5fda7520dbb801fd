"""Files of several kinds, each repeated from pieces: text, numerics, noise, zeros, and halves of noise."""

from __future__ import annotations

import struct
from pathlib import Path
from random import Random

PIECE_BYTES = 2**20


def pieces(random: Random) -> dict[str, bytes]:
    """One piece of each kind, of 1 MiB."""
    words = [bytes(random.choices(b"etaoinshrdlu", k=random.randint(2, 9))) for _ in range(2000)]
    text = b" ".join(random.choices(words, k=PIECE_BYTES // 4))
    numerics = b"".join(
        struct.pack("<d", round(random.gauss(1000.0, 50.0), 2)) for _ in range(PIECE_BYTES // 8)
    )
    half = b"".join(random.randbytes(2048) + bytes(2048) for _ in range(PIECE_BYTES // 4096))
    return {
        "text": text[:PIECE_BYTES],
        "numerics": numerics,
        "noise": random.randbytes(PIECE_BYTES),
        "half": half,
        "zeros": bytes(PIECE_BYTES),
    }


def write_mixture(folder: Path, size: int, random: Random) -> None:
    """Files of all kinds of about ``size`` bytes in sum: a few large ones and many small ones."""
    kinds = pieces(random)
    shares = {"text": 0.3, "numerics": 0.3, "noise": 0.15, "half": 0.15, "zeros": 0.1}
    for kind, share in shares.items():
        left = int(size * share) // 4096 * 4096
        with (folder / f"{kind}-large").open("wb") as file:
            while left > 0:
                at = random.randrange(PIECE_BYTES)
                part = (kinds[kind][at:] + kinds[kind][:at])[:left]
                file.write(part)
                left -= len(part)
