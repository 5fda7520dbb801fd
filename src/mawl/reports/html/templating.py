"""Templates of the pages: everything that is not marked as HTML is escaped."""

from __future__ import annotations

from functools import cache
from importlib import resources

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

FOLDER = "templates"


@cache
def environment() -> Environment:
    """The environment of all templates: autoescaped, and a name that is not given is an error."""
    return Environment(
        loader=PackageLoader("mawl.reports.html", FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def fill(template: str, **values: object) -> Markup:
    """The HTML of a template; plain text among ``values`` is escaped, ``Markup`` is not."""
    return Markup(environment().get_template(template).render(**values))


@cache
def asset(name: str) -> str:
    """The text of a style sheet or script beside the templates."""
    return resources.files("mawl.reports.html").joinpath(FOLDER, name).read_text(encoding="utf-8")
