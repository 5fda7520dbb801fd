"""Every form of an answer says the same, fits its place, and is not harmed by names of others."""

from __future__ import annotations

import json
import re
from html import unescape

import msgspec
import pytest

from mawl.model.qualification import AnswerLimit, Qualification
from mawl.reporters.qualification import disclosure, html, markdown, schema, text
from mawl.store.qualification import plain_qualification
from tests.fakes.answered import YES, answered, every_record

HOSTILE = "/a <script>alert(1)</script>\n| @team `x` [l](http://h.example) \x1b[31m"


def hostile() -> Qualification:
    """A record whose every name of others is made to do harm."""
    limit = AnswerLimit(resource="storage", role="work", direction="write", place=HOSTILE, active_ratio=0.5)
    record = answered(msgspec.structs.replace(YES, limit=limit, cautions=[HOSTILE]))
    return msgspec.structs.replace(
        record,
        name=HOSTILE,
        machine=msgspec.structs.replace(record.machine, name=HOSTILE, cpu_model=HOSTILE),
        asked=msgspec.structs.replace(record.asked, roles={"data": [HOSTILE]}),
    )


@pytest.mark.parametrize("kind", every_record())
def test_a_terminal_of_eighty_columns_holds_it(kind: str) -> None:
    record = every_record()[kind]
    lines = text.render(record).splitlines()
    assert max(map(len, lines)) <= 80
    if record.answer is not None:
        assert " ".join(lines).startswith(record.answer.sentence)
        assert re.sub(r"\s+", " ", record.answer.next_step) in re.sub(r"\s+", " ", " ".join(lines))


@pytest.mark.parametrize("kind", every_record())
def test_the_page_has_no_script_and_asks_for_nothing_elsewhere(kind: str) -> None:
    page = unescape(html.render(every_record()[kind]))
    assert "<script" not in page and "default-src 'none'" in page
    assert not re.search(r"""(?:src|href)=["'](?!data:)""", page) and "url(" not in page


def test_a_forecast_says_that_nothing_was_measured() -> None:
    said = text.render(every_record()["forecast-only"])
    assert said.startswith("PROBABLY YES (80 % sure)") and "nothing was measured" in " ".join(said.split())


def test_names_of_others_are_inert() -> None:
    record = hostile()
    page, ticket, shown = html.render(record), markdown.render(record), text.render(record)
    assert "<script" not in page and "&lt;script&gt;" in page
    for form in (ticket, disclosure.render(record)):
        assert "<script" not in form and "@team" not in form and "http://" not in form
        assert "\x1b" not in form
    assert "\x1b" not in shown and "\x1b" not in page


def test_the_disclosure_has_every_rule_and_every_reason() -> None:
    record = answered(YES)
    assert record.answer is not None
    page = disclosure.render(record)
    assert all(f"`{rule.name}`" in page for rule in record.answer.rules)
    assert all(f"`{path}`" in page for path in record.answer.missing)


def test_the_schema_is_that_of_the_file() -> None:
    found = schema.schema()
    assert json.loads(schema.render()) == found
    plain = plain_qualification(answered(YES))
    properties = found["$defs"]["Qualification"]["properties"]
    assert set(plain) == set(properties)
    assert set(plain["answer"]) == set(found["$defs"]["QualificationAnswer"]["properties"])
    assert isinstance(plain["phases"][0]["began_at"], str)
    assert {"type": "string", "format": "date-time"} in found["$defs"]["Phase"]["properties"]["began_at"][
        "anyOf"
    ]
