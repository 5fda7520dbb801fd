"""The templates and the frame of every HTML page: head, style, contents and scripts, all in the one file.

A page names no address outside itself, and its own content security policy forbids to load any: a
report opens the same on a laptop without a network and on a stranger's.  Scripts run by the hash of
their text alone, so that a script that a name in the data smuggled in would not.
"""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Sequence
from functools import cache
from importlib import resources

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from mawl.base.printable import printable
from mawl.reports.html.colours import style

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


FRAME_SCRIPTS = ("frame.js", "definitions.js", "tables.js")
"""The scripts that every page has."""
CLOSING = "</script"


def page(
    title: str,
    body: str,
    scripts: Sequence[str] = (),
    *,
    lead: str = "",
    sections: Sequence[tuple[str, str]] = (),
    tools: str = "",
    connect: str = "'none'",
    forms: str = "'none'",
) -> str:
    """A whole HTML document.

    ``title`` is plain text (escaped here), the window's title and the only ``h1``; ``body`` and
    ``lead`` (what stands under the title) are HTML whose texts are escaped already (see
    ``fill``).  ``scripts`` are JavaScript sources, run in order
    once the body is there (``mawl.reports.html.embed.embedded(...).scripts`` for charts).
    ``sections`` are anchor and title of the contents, ``tools`` more items of that list, as HTML;
    ``connect`` is what the page may fetch from
    (``'self'`` for a live page behind a server), ``forms`` where its forms may lead.
    Raises ValueError for a script that would end its own element.
    """
    every = ["\n".join(asset(name) for name in FRAME_SCRIPTS), *scripts]
    if any(CLOSING in script.lower() for script in every):
        raise ValueError("a script of a page holds its closing tag")
    return fill(
        "page.html",
        title=printable(title),
        body=Markup(_without_control_characters(body)),
        lead=Markup(_without_control_characters(lead)),
        sections=sections,
        tools=tools,
        style=Markup(style() + asset("page.css")),
        scripts=[Markup(script) for script in every],
        policy=policy(every, connect, forms),
    )


def _without_control_characters(html: str) -> str:
    """HTML without control characters: a page may be shown on a terminal (``curl``, ``less``)."""
    return printable(html, "\n\t")


def policy(scripts: Sequence[str], connect: str = "'none'", forms: str = "'none'") -> str:
    """The content security policy of a page: nothing from anywhere, and only these scripts.

    Styles are inline because charts set them on their own elements.
    """
    hashes = " ".join(
        f"'sha256-{b64encode(hashlib.sha256(script.encode()).digest()).decode()}'" for script in scripts
    )
    return (
        f"default-src 'none'; script-src {hashes or chr(39) + 'none' + chr(39)}; style-src 'unsafe-inline'; "
        f"img-src data: blob:; connect-src {connect}; base-uri 'none'; form-action {forms}"
    )
