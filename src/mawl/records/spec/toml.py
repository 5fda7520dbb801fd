"""Read a TOML file into a typed record; an error names file, key, what was expected and what was found."""

from __future__ import annotations

import errno
import re
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec import inspect

from mawl.base.errors import InvalidFileError
from mawl.base.foreign import LARGEST_TOML_BYTES, BeyondBoundError, read_regular, toml_tree, too_large

Record = TypeVar("Record")

_TYPE_WORDS = {
    "object": "a table",
    "array": "a list",
    "str": "text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
}
_AT = re.compile(r"^(?P<problem>.*?)(?: - at `\$(?P<key>.*)`)?$", re.DOTALL)


def load(path: Path, kind: type[Record], *, inside: Path | None = None) -> Record:
    """The file as a record of ``kind``; ``InvalidFileError`` where it is not one.

    ``inside`` is the folder that no link may lead out of (``base.foreign``).
    """
    try:
        text = read_regular(path, LARGEST_TOML_BYTES, inside=inside).decode()
    except OSError as error:
        is_large = error.errno == errno.EOVERFLOW
        raise InvalidFileError(
            "cannot be read",
            where=str(path),
            why=too_large("TOML", LARGEST_TOML_BYTES) if is_large else (error.strerror or str(error)).lower(),
            cure="name a smaller file" if is_large else "name a TOML file",
        ) from None
    except UnicodeDecodeError as error:
        raise InvalidFileError("is not UTF-8 text", where=f"{path}, byte {error.start}") from None
    return loads(text, kind, where=str(path))


def loads(text: str, kind: type[Record], *, where: str) -> Record:
    """As ``load``, from text; ``where`` names its source in errors."""
    try:
        tree = toml_tree(text)
    except BeyondBoundError as error:
        raise InvalidFileError(str(error), where=where) from None
    except ValueError as error:
        raise InvalidFileError("is not valid TOML", where=where, why=str(error)) from None
    return converted(tree, kind, where=where)


def converted(tree: object, kind: type[Record], *, where: str) -> Record:
    """What a file of tables, lists and values holds as a record of ``kind``; errors as ``load``."""
    try:
        return msgspec.convert(tree, kind)
    except msgspec.ValidationError as error:
        raise not_as_expected(error, kind, where) from None


def not_as_expected(error: msgspec.ValidationError, kind: type, where: str) -> InvalidFileError:
    """What a file holds instead of a record of ``kind``, by its key."""
    return InvalidFileError(_sentence(str(error), kind), where=where)


def _sentence(message: str, kind: type) -> str:
    """msgspec's message with the key in front and plain words for its types."""
    match = _AT.match(message)
    assert match is not None
    problem, key = match["problem"], (match["key"] or "").lstrip(".")
    unknown = re.fullmatch(r"Object contains unknown field `(.*)`", problem)
    if unknown:
        return f"key {_join(key, unknown[1])}: unknown, expected one of {', '.join(_keys(kind, key))}"
    missing = re.fullmatch(r"Object missing required field `(.*)`", problem)
    if missing:
        return f"key {_join(key, missing[1])}: required, but missing"
    other = re.fullmatch(r"Invalid enum value (.*)", problem)
    if other:
        known = [str(value) for one in _types(kind, key) for value in getattr(one, "values", ())]
        return f"key {key}: expected one of {', '.join(known)}, found {other[1]}"
    problem = problem.replace("Expected", "expected").replace(", got", ", found")
    problem = re.sub(r"`([a-z |]+)`", lambda types: _words(types[1]), problem)
    return f"key {key or '(top level)'}: {problem}"


def _keys(kind: type, key: str) -> list[str]:
    """The keys that the table at ``key`` may have."""
    tables = [one for one in _types(kind, key) if isinstance(one, inspect.StructType)]
    return [field.encode_name for table in tables for field in table.fields]


def _types(kind: type, key: str) -> list[inspect.Type]:
    """What may stand at ``key``, by the declared types on the way there."""
    types = _members(inspect.type_info(kind))
    for part in re.findall(r"\w+|\[(?:\d+|\.\.\.)\]", key):
        inner: list[inspect.Type] = []
        for one in types:
            if isinstance(one, inspect.StructType):
                inner += [field.type for field in one.fields if field.encode_name == part]
            elif isinstance(one, inspect.ListType | inspect.VarTupleType):
                inner.append(one.item_type)
            elif isinstance(one, inspect.DictType):
                inner.append(one.value_type)
        types = [member for one in inner for member in _members(one)]
    return types


def _members(one: inspect.Type) -> list[inspect.Type]:
    return list(one.types) if isinstance(one, inspect.UnionType) else [one]


def _words(types: str) -> str:
    """``int | null`` as a user would say it: a whole number."""
    return " or ".join(_TYPE_WORDS.get(name, name) for name in types.split(" | ") if name != "null")


def _join(key: str, field: str) -> str:
    return f"{key}.{field}" if key else field
