"""What the figures mean, in the long report: carried or not, what limits, and whether to believe it."""

from __future__ import annotations

from textwrap import wrap
from typing import Any

from mawl.formats.lines import one_line
from mawl.reporters.columns import LINE_WIDTH
from mawl.reporters.figure import ABSENT, figure
from mawl.units import counted_noun, format_ratio

MOST_FINDINGS = 6

Block = dict[str, Any]


def headlines(summary: Block) -> list[tuple[str, str]]:
    """Three lines for the head of the report; none for a summary that nobody judged."""
    if summary["validity"] is None:
        return []
    return [
        ("carried", _carried(summary["capacity"])),
        ("limit", _limit(summary)),
        ("validity", _validity(summary["validity"])),
    ]


def grounds(summary: Block) -> list[str]:
    """The evidence of the verdict, and the findings with their cures."""
    if summary["validity"] is None:
        return []
    evidence = summary["limit"]["evidence"] if summary["limit"] else []
    lines = [f"{'why' if line['kind'] == 'evidence' else 'agrees'}: {line['sentence']}" for line in evidence]
    findings = summary["validity"]["findings"]
    lines += [
        f"{finding['rule']} ({finding['severity']}): {finding['sentence']}; {finding['cure']}"
        for finding in findings[:MOST_FINDINGS]
    ]
    more = len(findings) - MOST_FINDINGS
    if more > 0:
        lines.append(f"and {counted_noun(more, 'more finding')} (--format json lists all)")
    return [line for text in lines for line in wrap(one_line(text), LINE_WIDTH, subsequent_indent="  ")]


def place_of(limit: Block) -> str:
    """The verdict with its place: ``storage (work on sda)``."""
    places = [part for part in (limit["role"], limit["device"] and f"on {limit['device']}") if part]
    return str(limit["verdict"]) + (f" ({' '.join(places)})" if places else "")


def _carried(capacity: Block) -> str:
    word = {True: "yes", False: "no", None: "not known"}[capacity["carried"]]
    return f"{word}: {'; '.join(capacity['reasons'])}"


def _limit(summary: Block) -> str:
    limit = summary["limit"]
    if limit is None:
        return f"not known: {summary['missing']['limit']}"
    shares = ", ".join(
        f"{name} {format_ratio(share)}"
        for name, share in sorted(limit["shares"].items(), key=lambda item: -item[1])
        if share > 0
    )
    room = ", ".join(
        f"{name} {figure(limit['headroom'][f'{name}_ratio'], format_ratio)}"
        for name in ("cpu", "device", "memory")
    )
    return (
        f"{place_of(limit)}; shares of the active time: {shares}; "
        f"second: {limit['second'] or ABSENT}; headroom: {room}"
    )


def _validity(validity: Block) -> str:
    findings = [finding for finding in validity["findings"] if finding["severity"] != "remark"]
    rules = ", ".join(dict.fromkeys(finding["rule"] for finding in findings))
    unknown = ", ".join(one["rule"] for one in validity["unmeasured"] if one["severity"] != "remark")
    said = [part for part in (rules, f"not known: {unknown}" if unknown else "") if part]
    return str(validity["status"]) + (f": {'; '.join(said)}" if said else "")
