"""V03 signature: if the pack is signed, the signature is valid for its manifest."""

from __future__ import annotations

from mawl.archive.layout import MANIFEST
from mawl.archive.rules.rule import Fault, ValidationRule
from mawl.archive.signing import check
from mawl.archive.subject import ValidationSubject


def _check(subject: ValidationSubject) -> list[Fault] | None:
    if subject.pack is None or (subject.pack.signature is None and subject.signers is None):
        return None
    if subject.pack.signature is None:
        cure = "ask for a signed pack, or leave --signers out"
        return [Fault(where=MANIFEST, sentence="is not signed", cure=cure)]
    found = check(subject.pack.manifest_bytes, *subject.pack.signature, subject.signers)
    if found.good:
        return []
    cure = "ask who made the pack for it again, and for the public key"
    return [Fault(where=MANIFEST, sentence=found.sentence, cure=cure, known=found.good is False)]


RULE = ValidationRule(
    number=3,
    name="signature",
    title="If the pack is signed, the signature is valid for its manifest",
    shows="The holder of a key signed exactly this manifest, and with it every file. With --signers the key "
    "is one that the reader named.",
    limits="Whether the figures are true: a signature only says who vouches for them. Without --signers mawl "
    "does not check whose key it is, and accepts a pack without a signature.",
    check=_check,
)
