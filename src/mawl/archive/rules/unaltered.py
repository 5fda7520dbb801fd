"""V02 unaltered: every byte of the pack is the one that its manifest sums up."""

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
            yield Fault(where=name, sentence="is not the file that the manifest sums up", cure=_AGAIN)


RULE = ValidationRule(
    number=2,
    name="unaltered",
    title="Every byte is the one that the manifest sums up",
    shows="The pack is byte for byte in the one form that mawl writes, and each member has the size and the "
    "SHA-256 of the manifest.",
    limits="A manifest is no seal: whoever alters a file can write a new manifest around it. The rules after "
    "this one look for that, and a signature (V03) binds the manifest to a key.",
    check=_check,
)
