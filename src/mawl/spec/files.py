"""Files of run options: a profile (``--profile``, as ``mawl tune search`` writes it), a side of ``--ab``, and
``[run]`` of a plan.

What a file says is checked whole: unknown keys, options that cannot be, directories twice, are refused with
file, key and reason.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import msgspec

from mawl.errors import InvalidFileError
from mawl.spec import toml
from mawl.spec.arm_setting import ArmSetting, SettingKeys
from mawl.spec.option import Place
from mawl.spec.program_options import ROLES
from mawl.spec.record import RunSpec
from mawl.spec.sources import OPTIONS, Layer, keys_of, layer_of

FORMAT_VERSION = "1.0"

OptionValue = int | str | bool


class Origin(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where a profile came from; nothing of it is applied."""

    campaign: str
    """The campaign's id."""
    created_at: str
    workload: str
    objective: str
    statement: str
    change_ratio: float
    """Of the objective's figure: candidate over baseline less 1, with its interval."""
    low_ratio: float
    high_ratio: float
    confidence: float
    pairs: int
    """Pairs of a run with the profile and one without that this rests on."""


class Titled(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Keys of each such file; ``options`` are under their SAS names: ``sortsize = "64MiB"``."""

    format_version: str = FORMAT_VERSION
    title: str = ""
    options: dict[str, OptionValue] = {}
    origin: Origin | None = None


class SideSpec(Titled, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A side of ``--ab`` may name another workload, and what it changes outside mawl."""

    workload: str | None = None
    setting: SettingKeys | None = None


class RunKeys(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``[run]`` of a workload file: options of ``mawl run``, as a profile spells them."""


Kind = TypeVar("Kind", bound=msgspec.Struct)


def _kind(name: str, place: Place, base: type[Kind]) -> type[Kind]:
    """The keys of the options that may stand in a place, and those of ``base``."""
    kind = msgspec.defstruct(
        name, keys_of(place), bases=(base,), frozen=True, kw_only=True, forbid_unknown_fields=True
    )
    assert issubclass(kind, base), "defined so"
    return kind


_PROFILE, _SIDE = _kind("RunProfile", "profile", Titled), _kind("RunOptions", "side", SideSpec)
if TYPE_CHECKING:
    RunOfPlan = RunKeys
else:
    RunOfPlan = _kind("RunOfPlan", "plan", RunKeys)


def layer_of_plan(file: RunKeys, where: str, settings: Layer) -> Layer:
    """What the options of a plan set over ``settings``, which count only for what no plan holds."""
    held = [field for field, option in OPTIONS.items() if "plan" in option.places]
    return settings.without(held).under(layer_of(file, "plan", f"{where}: run"))


def keys_of_plan(spec: RunSpec) -> dict[str, Any]:
    """A spec as ``[run]`` of a plan, its places absolute; what is None is left out."""
    keys: dict[str, Any] = {}
    for field, option in OPTIONS.items():
        value = getattr(spec, field) if "plan" in option.places else None
        if value is not None:
            keys[option.name] = option.form.in_file(_absolute(field, value))
    return keys


def _absolute(field: str, value: Any) -> Any:
    if field == "probe":
        return str(Path(value).absolute())
    return tuple(str(Path(one).absolute()) for one in value) if field in ROLES else value


def load_profile(path: Path) -> Layer:
    """What a profile sets; :class:`~mawl.errors.InvalidFileError` names the key that is wrong."""
    layer, _ = _load(path, "profile", _PROFILE)
    if not layer.values and not layer.options:
        raise InvalidFileError(
            "sets nothing", where=str(path), cure="give it options, sessions or directories"
        )
    return layer


class SideOfFile(NamedTuple):
    """What a side of ``--ab`` sets, which may be nothing, its title, and its setting outside mawl."""

    layer: Layer
    title: str
    setting: ArmSetting | None


def load_side(path: Path) -> SideOfFile:
    """A side of ``--ab``; :class:`~mawl.errors.InvalidFileError` names the key that is wrong."""
    layer, file = _load(path, "side", _SIDE)
    assert isinstance(file, SideSpec)
    if file.workload is not None:
        layer = layer.under(Layer(values={"workload": file.workload}))
    problem = file.setting.problem() if file.setting is not None else None
    if problem is not None:
        raise InvalidFileError(f"key setting.{problem[0]}: {problem[1]}", where=str(path))
    return SideOfFile(layer, file.title, file.setting)


def _load(path: Path, place: Place, kind: type[Titled]) -> tuple[Layer, Titled]:
    file = toml.load(path, kind)
    if file.format_version.partition(".")[0] != FORMAT_VERSION.partition(".")[0]:
        raise InvalidFileError(
            f"key format_version: this mawl reads {FORMAT_VERSION}, found {file.format_version!r}",
            where=str(path),
        )
    return layer_of(file, place, str(path)), file
