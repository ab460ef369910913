"""A verdict for programs: one JSON object on one line (spec/verdict.schema.json).

All of it is ASCII: what a file made us say is escaped, and safe on a terminal as well.
"""

from __future__ import annotations

from typing import Any

import msgspec

from fairdeal.findings import CHECKS, CheckReport, GameVerdict, Pinned, Verdict, finding
from fairdeal.messages import FORMAT_VERSION


def as_json(file: str, verdict: Verdict | GameVerdict) -> str:
    """The verdict on one document, as a line without its end. `file` is its name as given."""
    members: dict[str, Any] = msgspec.to_builtins(verdict)
    if isinstance(verdict, GameVerdict):
        for one, hand in zip(verdict.hands, members["hands"], strict=True):
            hand["culprits"] = one.culprits
    name = file.encode("utf-8", "backslashreplace").decode()
    return one_line(
        {"fairdeal": FORMAT_VERSION, "file": name, "culprits": verdict.culprits} | members
    )


def one_line(value: dict[str, Any]) -> str:
    """JSON in printable ASCII."""
    import json

    text = json.dumps(value, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    return text.replace("\x7f", "\\u007f")


def unreadable(problem: str, pinned: Pinned) -> Verdict:
    """The verdict on what could not even be read: malformed, and it names nobody."""
    one = finding(
        "malformed", by="", entries=(), expected="a transcript of version 1", found=problem
    )
    checks = tuple(
        CheckReport(
            looked_at=0,
            name=name,
            number=number,
            reason=problem if number == 1 else "there is no transcript",
            status="failed" if number == 1 else "not run",
        )
        for number, name in CHECKS.items()
    )
    return Verdict(
        acknowledged=(),
        checks=checks,
        findings=(one,),
        given_up=None,
        guarantee="It could not be read: nothing follows, for or against anybody.",
        hand=None,
        head=None,
        pinned=pinned,
        remarks=(),
        status="malformed",
        stop=None,
    )
