"""How a ``RunSpec`` is made from layers: the command line, the environment, ``mawl.toml`` and other files.

Each layer covers those before it: default, ``mawl.toml``, environment, profile, command line, a side of
``--ab``.  A profile (``--profile``), a side and ``[run]`` of a plan are files of run options.  Each is
checked as a whole: an unknown key, a wrong value or a repeated directory is refused with file, key and
reason.  ``Settings`` looks one value up in the same order.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import msgspec

from mawl.base.errors import InvalidFileError, UsageError
from mawl.records.spec import toml
from mawl.records.spec.campaign import CAMPAIGN_OPTIONS, ArmSetting, CampaignSpec, SettingKeys
from mawl.records.spec.forms import Option, Place, command_words, options_of
from mawl.records.spec.program_options import (
    AUTO,
    OPTION_FIELDS,
    ROLES,
    Options,
    Role,
    parse_options,
    refuse_overlaps,
    role_place,
)
from mawl.records.spec.run_spec import ONLY_ON_A_CLUSTER, ONLY_OVER_SSH, NodesSpec, RunSpec, check

NODE_OPTIONS = options_of(NodesSpec)
OPTIONS: dict[str, Option] = options_of(RunSpec) | NODE_OPTIONS
"""Field to option, of a run and of its nodes."""

OptionValue = int | str | bool


class Layer(msgspec.Struct, frozen=True, kw_only=True):
    """What one source sets: fields of ``RunSpec`` and ``NodesSpec``, and run options by SAS names.

    Those of the source are checked, and ``options`` may be of several sources (where they stand, what they
    are).
    """

    values: dict[str, Any] = {}
    options: tuple[tuple[str, dict[str, OptionValue]], ...] = ()

    def under(self, upper: Layer) -> Layer:
        """Both layers; where both set a value, that of ``upper`` counts."""
        return Layer(values=self.values | upper.values, options=self.options + upper.options)

    def without(self, fields: Iterable[str]) -> Layer:
        return Layer(
            values={name: value for name, value in self.values.items() if name not in fields},
            options=self.options,
        )


def keys_of(place: Place) -> list[tuple[str, Any, Any]]:
    """Name, type and default (None) of what a file of a place may set."""
    return [
        (option.name, option.form.file | None, None) for option in OPTIONS.values() if place in option.places
    ]


def layer_of(file: msgspec.Struct, place: Place, where: str) -> Layer:
    """What a file sets; ``InvalidFileError`` names file, key and reason."""
    values: dict[str, Any] = {}
    given: dict[str, OptionValue] = getattr(file, "options", {})
    try:
        for field, option in OPTIONS.items():
            value = getattr(file, option.name) if place in option.places else None
            if value is not None:
                values[field] = option.form.read(value, f"{where}: key {option.name}")
        parse_options(given, where=f"{where}: key options")
    except InvalidFileError:
        raise
    except UsageError as error:
        raise InvalidFileError(error.what, why=error.why, cure=error.cure) from None
    return Layer(values=values, options=((f"{where}: key options", given),) if given else ())


def layer_of_environment(environment: Mapping[str, str]) -> Layer:
    """What variables ``MAWL_NAME`` set; one that is empty sets nothing."""
    values: dict[str, Any] = {}
    for field, option in OPTIONS.items():
        variable = f"MAWL_{option.name.upper()}"
        if "environment" in option.places and environment.get(variable):
            values[field] = option.form.read(option.form.parts(environment[variable]), variable)
    return Layer(values=values)


def layer_of_command(arguments: Mapping[str, Any], leave: Sequence[str] = ()) -> Layer:
    """What the command line sets: the values of argparse by option; ``leave``: options that mean something
    else."""
    given = {
        field: option
        for field, option in OPTIONS.items()
        if (option.help or field == "processes") and option.name not in leave
    }
    values = _given_values(arguments, given)
    if arguments.get("workload") is not None:
        values["workload"] = arguments["workload"]
    pairs: dict[str, OptionValue] = {}
    for text in arguments.get("option") or ():
        name, separator, value = text.partition("=")
        if not separator:
            raise UsageError(f"--option {text}: expected NAME=VALUE, such as sortsize=64MiB")
        pairs[name] = value
    return Layer(values=values, options=(("--option", pairs),) if pairs else ())


def campaign_of_command(arguments: Mapping[str, Any]) -> CampaignSpec:
    """The campaign that the command line asks for; of no kind where it asks for one run."""
    return CampaignSpec(**_given_values(arguments, CAMPAIGN_OPTIONS))


def _given_values(arguments: Mapping[str, Any], options: Mapping[str, Option]) -> dict[str, Any]:
    return {
        field: option.form.read(arguments[option.name], option.flag)
        for field, option in options.items()
        if arguments.get(option.name) not in (None, False)
    }


def spec_of(layer: Layer) -> RunSpec:
    """The record that a layer makes over the defaults, checked."""
    options = Options()
    for where, given in layer.options:
        options = parse_options(given, where=where, base=options)
    of_nodes = {field: value for field, value in layer.values.items() if field in NODE_OPTIONS}
    of_run = {field: value for field, value in layer.values.items() if field not in NODE_OPTIONS}
    if of_nodes and not {"cluster", "ssh", "hosts"} & set(of_nodes):
        field = next(iter(of_nodes))
        only = dict.fromkeys(ONLY_OVER_SSH, "--ssh") | dict.fromkeys(ONLY_ON_A_CLUSTER, "--cluster")
        flag, way = OPTIONS[field].flag, only.get(field, "--cluster or --ssh")
        raise UsageError(f"{flag} goes with {way}", cure=f"leave {flag} out")
    nodes = NodesSpec(**of_nodes) if of_nodes else None
    return check(RunSpec(**of_run, options=options, nodes=nodes))


def words_of(part: msgspec.Struct, options: Mapping[str, Option]) -> list[str]:
    """What a person would type for the fields of a spec that are not their defaults."""
    words: list[str] = []
    for field, option in options.items():
        value = getattr(part, field)
        if option.help and value != getattr(type(part)(), field):
            words += command_words(option.flag, option.form, value)
    return words


def as_command(spec: RunSpec) -> list[str]:
    """What a person would type for a spec: for the pages that show a run's command; nothing is started by
    it."""
    words = ["run", spec.workload]
    written: list[msgspec.Struct] = [spec] if spec.nodes is None else [spec, spec.nodes]
    for part in written:
        words += words_of(part, options_of(type(part)))
    for name, field in OPTION_FIELDS.items():
        value = getattr(spec.options, field)
        if name == "cpucount" and value == AUTO:
            words += ["--option", "cpucount=auto"]
        elif value != getattr(Options(), field):
            words += ["--option", f"{name}={str(value).lower() if isinstance(value, bool) else value}"]
    return words


PROFILE_FORMAT_VERSION = "1.0"


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


class OptionsFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Keys of each such file; ``options`` are under their SAS names: ``sortsize = "64MiB"``."""

    format_version: str = PROFILE_FORMAT_VERSION
    title: str = ""
    options: dict[str, OptionValue] = {}
    origin: Origin | None = None


class SideSpec(OptionsFile, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A side of ``--ab`` may name another workload, and what it changes outside mawl."""

    workload: str | None = None
    setting: SettingKeys | None = None


class RunKeys(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``[run]`` of a workload file: options of ``mawl run``, as a profile spells them."""


Kind = TypeVar("Kind", bound=msgspec.Struct)


def _struct_of(name: str, place: Place, base: type[Kind]) -> type[Kind]:
    kind = msgspec.defstruct(
        name, keys_of(place), bases=(base,), frozen=True, kw_only=True, forbid_unknown_fields=True
    )
    assert issubclass(kind, base), "defined so"
    return kind


_PROFILE, _SIDE = _struct_of("RunProfile", "profile", OptionsFile), _struct_of("RunOptions", "side", SideSpec)
if TYPE_CHECKING:
    RunOfPlan = RunKeys
else:
    RunOfPlan = _struct_of("RunOfPlan", "plan", RunKeys)


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
    if field in ("probe", "reference"):
        return str(Path(value).absolute())
    return tuple(str(Path(one).absolute()) for one in value) if field in ROLES else value


def load_profile(path: Path) -> Layer:
    """What a profile sets; ``InvalidFileError`` names the key that is wrong."""
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
    """A side of ``--ab``; ``InvalidFileError`` names the key that is wrong."""
    layer, file = _load(path, "side", _SIDE)
    assert isinstance(file, SideSpec)
    if file.workload is not None:
        layer = layer.under(Layer(values={"workload": file.workload}))
    problem = file.setting.problem() if file.setting is not None else None
    if problem is not None:
        raise InvalidFileError(f"key setting.{problem[0]}: {problem[1]}", where=str(path))
    return SideOfFile(layer, file.title, file.setting)


def _load(path: Path, place: Place, kind: type[OptionsFile]) -> tuple[Layer, OptionsFile]:
    file = toml.load(path, kind)
    if file.format_version.partition(".")[0] != PROFILE_FORMAT_VERSION.partition(".")[0]:
        raise InvalidFileError(
            f"key format_version: this mawl reads {PROFILE_FORMAT_VERSION}, found {file.format_version!r}",
            where=str(path),
        )
    return layer_of(file, place, str(path)), file


FILE_NAME = "mawl.toml"


class SettingBounds(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The keys of ``mawl.toml`` that decide no run, but what is said of it."""

    answer_bound: float | None = None
    most_slowdown: object = None
    """Before reference times; refused (``commands.arguments.bounds_of``)."""
    guideline_warn: int | str | None = None
    guideline_good: int | str | None = None
    options: dict[str, int | str | bool] = {}


FileSettings = msgspec.defstruct(
    "FileSettings",
    keys_of("settings"),
    bases=(SettingBounds,),
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    module=__name__,
)
"""The keys of ``mawl.toml``."""


class Settings:
    """Looks a setting up in order: command-line value, ``MAWL_NAME``, ``mawl.toml``, default."""

    def __init__(self, environment: Mapping[str, str], directory: Path) -> None:
        self.environment = environment
        named = environment.get("MAWL_CONFIG")
        path = Path(named) if named else directory / FILE_NAME
        self.file = toml.load(path, FileSettings) if named or os.path.lexists(path) else FileSettings()

    def text(self, name: str, given: object, default: str) -> str:
        return self.optional_text(name, given) or default

    def optional_text(self, name: str, given: object) -> str | None:
        for value in (given, self.environment.get(f"MAWL_{name.upper()}"), getattr(self.file, name)):
            if value is not None and value != "":
                return str(value)
        return None

    def number(self, name: str, given: float | None, default: float) -> float:
        text = self.text(name, given, str(default))
        try:
            return float(text)
        except ValueError:
            raise UsageError(f"{name}: expected a number, found {text!r}") from None

    def roles(self, given: Mapping[Role, Sequence[str] | None]) -> dict[Role, list[Path]]:
        """The directories of each role; an environment variable separates several with ``:``."""
        places: dict[Role, list[Path]] = {}
        for role in ROLES:
            paths: Sequence[str] | str | None = given.get(role)
            if not paths:
                variable = self.environment.get(f"MAWL_{role.upper()}")
                paths = variable.split(os.pathsep) if variable else getattr(self.file, role)
            if isinstance(paths, str):
                paths = [paths]
            places[role] = [role_place(role, path) for path in paths or [f"mawl-{role}"]]
        refuse_overlaps(places)
        return places

    def runs(self, given: str | None) -> Path:
        return Path(self.text("runs", given, "runs"))

    def layer(self) -> Layer:
        of_file = layer_of(self.file, "settings", FILE_NAME)
        return of_file.under(layer_of_environment(self.environment))
