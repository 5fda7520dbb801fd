"""V02 unaltered: every file of the pack has the size and the SHA-256 that the manifest lists."""

from __future__ import annotations

from collections.abc import Iterator

from mawl.archive.layout import MANIFEST, SIGNATURES
from mawl.archive.rules.rule import Fault, ValidationRule
from mawl.archive.subject import ValidationSubject

_AGAIN = "copy the pack again from where it was made"


def _check(subject: ValidationSubject) -> Iterator[Fault] | None:
    return None if subject.pack is None else _compared(subject)


def _compared(subject: ValidationSubject) -> Iterator[Fault]:
    assert subject.pack is not None
    own = {MANIFEST, *SIGNATURES}
    there = {name: one for name, one in subject.pack.members.items() if name not in own}
    summed = subject.pack.manifest.members
    for name in sorted(set(there) ^ set(summed)):
        where = "in the manifest, and not in the pack" if name in summed else "in no manifest"
        yield Fault(where=name, sentence=f"is {where}", cure=_AGAIN)
    for name in sorted(set(there) & set(summed)):
        if (there[name].size, there[name].sha256) != (summed[name].bytes, summed[name].sha256):
            yield Fault(
                where=name,
                sentence="does not have the size and the SHA-256 that the manifest lists",
                cure=_AGAIN,
            )


RULE = ValidationRule(
    number=2,
    name="unaltered",
    title="Every file has the size and the SHA-256 that the manifest lists",
    shows="The pack has exactly the bytes that mawl would write, and each file has the size and the SHA-256 "
    "that the manifest lists.",
    limits="Whether the manifest is the original one: after altering a file, anybody can write a new "
    "manifest. Later rules look for that, and a signature (V03) binds the manifest to a key.",
    check=_check,
)
