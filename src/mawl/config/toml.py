"""Read a TOML file into a typed record, or say which file, which key, what was expected and found."""

from __future__ import annotations

import re
import stat
import tomllib
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec import inspect

from mawl.errors import InvalidFileError

Record = TypeVar("Record")

LARGEST_FILE_BYTES = 4 * 2**20
_TYPES = {
    "object": "a table",
    "array": "a list",
    "str": "text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
}
_AT = re.compile(r"^(?P<problem>.*?)(?: - at `\$(?P<key>.*)`)?$", re.DOTALL)


def load(path: Path, kind: type[Record]) -> Record:
    """The file as a record of ``kind``; :class:`~mawl.errors.InvalidFileError` where it is not one."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise InvalidFileError("is not a regular file", where=str(path), cure="name a TOML file")
        if path.stat().st_size > LARGEST_FILE_BYTES:
            raise InvalidFileError("is too large for a TOML file of mawl", where=str(path), why="over 4 MiB")
        text = path.read_bytes().decode()
    except OSError as error:
        raise InvalidFileError(
            "cannot be read", where=str(path), why=(error.strerror or str(error)).lower()
        ) from None
    except UnicodeDecodeError as error:
        raise InvalidFileError("is not UTF-8 text", where=f"{path}, byte {error.start}") from None
    return loads(text, kind, where=str(path))


def loads(text: str, kind: type[Record], *, where: str) -> Record:
    """As :func:`load`, from text; ``where`` names its source in errors."""
    try:
        tree = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise InvalidFileError("is not valid TOML", where=where, why=str(error)) from None
    try:
        return msgspec.convert(tree, kind)
    except msgspec.ValidationError as error:
        raise InvalidFileError(_sentence(str(error), kind), where=where) from None


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
    problem = problem.replace("Expected", "expected").replace(", got", ", found")
    problem = re.sub(r"`([a-z |]+)`", lambda types: _words(types[1]), problem)
    return f"key {key or '(top level)'}: {problem}"


def _keys(kind: type, key: str) -> list[str]:
    """The keys that the table at ``key`` may have, by the declared types on the way there."""
    types = [inspect.type_info(kind)]
    for part in re.findall(r"\w+|\[(?:\d+|\.\.\.)\]", key):
        inner: list[inspect.Type] = []
        for one in types:
            if isinstance(one, inspect.StructType):
                inner += [field.type for field in one.fields if field.encode_name == part]
            elif isinstance(one, inspect.ListType):
                inner.append(one.item_type)
            elif isinstance(one, inspect.DictType):
                inner.append(one.value_type)
        types = [
            member
            for one in inner
            for member in (one.types if isinstance(one, inspect.UnionType) else (one,))
        ]
    return [field.encode_name for one in types if isinstance(one, inspect.StructType) for field in one.fields]


def _words(types: str) -> str:
    """``int | null`` as a user would say it: a whole number."""
    return " or ".join(_TYPES.get(name, name) for name in types.split(" | ") if name != "null")


def _join(key: str, field: str) -> str:
    return f"{key}.{field}" if key else field
