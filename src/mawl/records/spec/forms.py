"""The declaration of an option: how its value is written, where it may be set, and its help.

A ``Form`` reads a value from the command line, the environment or a TOML file, says what it expects if it
cannot, and writes the value back as words of a command line.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import msgspec

from mawl.base.errors import UsageError
from mawl.base.units import format_plain, parse_size

MOST_NODES = 4096


def refusal(name: str, given: object, expected: str) -> UsageError:
    """The error of a value that cannot be; ``name`` is how its source spells the option."""
    if name.startswith("--"):
        return UsageError(f"{name} {given}: expected {expected}")
    return UsageError(f"{name}: expected {expected}, found {given!r}")


class Form:
    """Text as it is; the others below say what they read."""

    file: Any = str
    """The type of the value in a TOML file."""
    arguments: Mapping[str, Any] = {}
    """How the value stands on the command line, for ``argparse``."""

    def read(self, given: Any, name: str) -> Any:
        """The value; ``UsageError`` where it cannot be."""
        value = str(given)
        self.check(value, name)
        return value

    def check(self, value: Any, name: str) -> None:
        """Refuse a value beyond its bounds."""

    def parts(self, variable: str) -> Any:
        """What an environment variable gives to ``read``."""
        return variable

    def words(self, value: Any) -> list[str]:
        """The value as it is written behind its option; several where it is given several times."""
        return [str(value)]

    def in_file(self, value: Any) -> Any:
        """The value as it is written in a TOML file."""
        return value


class TextOrNumber(Form):
    """Text that may be a number: a file may leave the quotes out."""

    def __init__(self, number: type[int] | type[float]) -> None:
        self.file = number | str


class Whole(Form):
    """A whole number within bounds; ``of`` names what it counts."""

    file = int

    def __init__(self, low: int, high: int, of: str = "") -> None:
        self._low, self._high = low, high
        self._expected = f"a whole number{of and f' of {of}'} from {low} to {high}"

    def read(self, given: Any, name: str) -> int:
        text = str(given)
        if isinstance(given, bool) or not text.lstrip("-").isdecimal() or len(text) >= 20:
            raise refusal(name, given, self._expected)
        self.check(int(text), name)
        return int(text)

    def check(self, value: Any, name: str) -> None:
        if not self._low <= value <= self._high:
            raise refusal(name, value, self._expected)


class Number(Form):
    """A number of a unit within bounds; ``above``: the lower bound itself cannot be."""

    file = float

    def __init__(self, low: float, high: float = float("inf"), *, expected: str, above: bool = False) -> None:
        self._low, self._high, self._above, self._expected = low, high, above, expected

    def read(self, given: Any, name: str) -> float:
        try:
            value = float(given)
        except ValueError:
            raise refusal(name, given, self._expected) from None
        self.check(value, name)
        return value

    def check(self, value: Any, name: str) -> None:
        above = self._low < value if self._above else self._low <= value
        if not above or not value <= self._high or not math.isfinite(value):
            raise refusal(name, format_plain(value, 6) if isinstance(value, float) else value, self._expected)

    def words(self, value: Any) -> list[str]:
        return [f"{value:.15g}"]


class Size(Form):
    """Bytes, such as ``512M``."""

    file = int | str

    def read(self, given: Any, name: str) -> int:
        try:
            return parse_size(given)
        except UsageError as error:
            raise UsageError(f"{name}: {error}") from None


class Rate(Form):
    """Bytes a second of a link: ``40Gbit`` (a second, as links are sold), or a size, ``5GB``."""

    file = int | str

    def read(self, given: Any, name: str) -> float:
        text = str(given).strip()
        match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*([kmgKMGT]?)(?:bit|bit/s|b/s|bps)", text)
        if match:
            rate: float = float(match[1]) * 1000 ** " KMGT".index(match[2].upper() or " ") / 8.0
        else:
            try:
                rate = float(parse_size(text.removesuffix("/s")))
            except UsageError:
                rate = 0.0
        if not rate > 0:
            raise refusal(name, given, "a rate such as 40Gbit or 5GB")
        return rate

    def words(self, value: Any) -> list[str]:
        return [str(round(value))]


class Choice(Form):
    """One of several words."""

    def __init__(self, *values: str) -> None:
        self.file = Literal[values]
        self.arguments = {"metavar": "|".join(values)}
        self._values = values

    def check(self, value: Any, name: str) -> None:
        if value not in self._values:
            raise refusal(name, value, f"{' or '.join(self._values)}")


class YesNo(Choice):
    """``yes`` or ``no``."""

    def __init__(self) -> None:
        super().__init__("yes", "no")

    def read(self, given: Any, name: str) -> bool:
        self.check(given, name)
        return bool(given == "yes")

    def check(self, value: Any, name: str) -> None:
        if not isinstance(value, bool):
            super().check(value, name)

    def words(self, value: Any) -> list[str]:
        return [self.in_file(value)]

    def in_file(self, value: Any) -> str:
        return "yes" if value else "no"


class Switch(Form):
    """Given or not; true or false in a file."""

    file: Any = bool
    arguments: Mapping[str, Any] = {"action": "store_true"}

    def read(self, given: Any, name: str) -> bool:  # noqa: ARG002
        return bool(given)

    def words(self, value: Any) -> list[str]:  # noqa: ARG002
        return []


class SwitchOr(Switch):
    """Given or not, or given with one word."""

    def __init__(self, word: str) -> None:
        self.file = bool | Literal[(word,)]
        self.arguments = {"nargs": "?", "const": True, "metavar": word}
        self._word = word

    def read(self, given: Any, name: str) -> Any:
        if isinstance(given, bool) or given == self._word:
            return given
        raise refusal(name, given, f"nothing, or {self._word}")

    def words(self, value: Any) -> list[str]:
        return [self._word] if value == self._word else []


class Several(Form):
    """Words side by side, none twice: directories, or some of ``known``."""

    def __init__(self, *known: str, of: str, least: int = 1) -> None:
        self.arguments = {"nargs": "+" if least else "*"} | ({"choices": known} if known else {})
        self.file = str | list[str]
        self._known, self._of, self._least = known, of, least

    def read(self, given: Any, name: str) -> tuple[str, ...]:
        value = (given,) if isinstance(given, str) else tuple(given)
        self.check(value, name)
        return value

    def check(self, value: Any, name: str) -> None:
        if len(value) < self._least or not all(value):
            raise UsageError(f"{name}: expected at least one {self._of}, each with a name")
        twice = [one for one in value if value.count(one) > 1]
        if twice:
            raise UsageError(f"{name} names {twice[0]} twice", cure=f"name each {self._of} once")
        unknown = [one for one in value if self._known and one not in self._known]
        if unknown:
            raise refusal(name, unknown[0], f"some of {', '.join(self._known)}")

    def parts(self, variable: str) -> list[str]:
        return variable.split(os.pathsep)

    def words(self, value: Any) -> list[str]:
        return list(value)

    def in_file(self, value: Any) -> list[str]:
        return list(value)


class NodeCounts(Form):
    """Ascending numbers of nodes with commas between them."""

    def read(self, given: Any, name: str) -> tuple[int, ...]:
        parts = given.split(",")
        counts = [int(part) for part in parts if part.strip().isdecimal() and len(part) < 10]
        if len(counts) < len(parts) or not all(1 <= count <= MOST_NODES for count in counts):
            raise refusal(name, given, "numbers of nodes, such as 1,2,4")
        if len(set(counts)) < len(counts) or len(counts) < 2:
            raise refusal(name, given, "at least two numbers of nodes, each once")
        return tuple(sorted(counts))

    def words(self, value: Any) -> list[str]:
        return [",".join(map(str, value))]


class TwoFiles(Form):
    """Two names of files."""

    arguments: Mapping[str, Any] = {"nargs": 2}

    def read(self, given: Any, name: str) -> tuple[str, str]:  # noqa: ARG002
        first, second = given
        return first, second

    def words(self, value: Any) -> list[str]:
        return list(value)


class Pairs(Form):
    """``NAME=VALUE``, given once for each name."""

    arguments: Mapping[str, Any] = {"action": "append"}

    def __init__(self, example: str, *, twice: str) -> None:
        self._example, self._twice = example, twice

    def read(self, given: Any, name: str) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for text in given:
            key, separator, value = text.partition("=")
            if not self.fits(key, separator, value):
                raise UsageError(f"{name} {text}: expected {self._example}")
            if key in found:
                raise UsageError(f"{name} names {key} twice", cure=self._twice)
            found[key] = self.value(value)
        return found

    def fits(self, key: str, separator: str, value: str) -> bool:
        return bool(key and separator and value)

    def value(self, text: str) -> Any:
        return text

    def words(self, value: Any) -> list[str]:
        return [f"{key}={one}" for key, one in value.items()]


class DevicePairs(Pairs):
    """``NAME`` or ``NAME=DEVICE,...``, given once for each name."""

    def fits(self, key: str, separator: str, value: str) -> bool:
        return bool(key and (not separator or self.value(value)))

    def value(self, text: str) -> tuple[str, ...]:
        return tuple(name.strip() for name in text.split(",") if name.strip())

    def words(self, value: Any) -> list[str]:
        return [f"{name}={','.join(devices)}" if devices else name for name, devices in value.items()]


def command_words(flag: str, form: Form, value: Any) -> Sequence[str]:
    """An option with its value as words of a command line."""
    written = form.words(value)
    if form.arguments.get("action") == "store_true":
        return [flag] if value else []
    if "nargs" in form.arguments:
        return [flag, *written]
    return [word for one in written for word in (flag, one)]


Place = Literal["environment", "settings", "plan", "profile", "side"]
"""Besides the command line: ``MAWL_NAME``, ``mawl.toml``, a plan (``[run]`` of ``plan.toml``), a profile
(``--profile``), a side of ``--ab``."""

EVERYWHERE: tuple[Place, ...] = ("environment", "settings", "plan", "profile", "side")
PREFERRED: tuple[Place, ...] = ("environment", "settings", "plan", "side")

Group = Literal[
    "workload", "places", "what", "tests", "how", "limits", "start", "campaign", "nodes", "result"
]
"""Of the help of a verb with many options, in its order."""


class Option(msgspec.Struct, frozen=True, kw_only=True):
    """The declaration of a field of ``RunSpec``, of its nodes, or of a campaign.

    ``name`` is how people write it (``memory_limit``; the field carries the unit, ``memory_limit_bytes``),
    with ``-`` for ``_`` on the command line and ``MAWL_`` before it in the environment.
    """

    form: Form
    help: str = ""
    """Empty: it is not an option of ``mawl run``."""
    name: str = ""
    metavar: str | tuple[str, ...] | None = None
    places: tuple[Place, ...] = ()
    group: Group | None = None
    """Where ``--help`` of a verb with many options shows it; None: only ``--help-all`` does."""
    brief: str = ""
    """What ``--help`` says instead of ``help``."""

    @property
    def flag(self) -> str:
        """``--memory-limit``."""
        return f"--{self.name.replace('_', '-')}"


def options_of(kind: type[msgspec.Struct]) -> dict[str, Option]:
    """Field to the option that it declares, in the order of the fields; the others are no options."""
    options: dict[str, Option] = {}
    for field, hint in get_type_hints(kind, include_extras=True).items():
        for meta in _metadata(hint):
            if isinstance(meta, Option):
                options[field] = meta if meta.name else msgspec.structs.replace(meta, name=field)
    return options


def _metadata(hint: Any) -> tuple[Any, ...]:
    return get_args(hint)[1:] if get_origin(hint) is Annotated else ()
