"""What comparing two copies found, as text and as JSON."""

from __future__ import annotations

from fairdeal.evidence import Comparison
from fairdeal.report.harmless import harmless
from fairdeal.report.machine import one_line


def as_text(found: Comparison, written: str | None, names: str = "") -> list[str]:
    """One sentence, where they part, and where the proof went; of a history whose copies, too."""
    rows = [f"{harmless(names)}:"] if names else []
    rows.append(harmless(f"{found.text[0].upper()}{found.text[1:]}.", 4000))
    if found.parts_at is not None:
        rows.append(f"They part at entry {found.parts_at}.")
    if found.proof is not None:
        name = f"It is in {harmless(written)}" if written else "Say -o OUT to have it"
        rows.append(f"There is a proof that stands alone. {name}.")
    return rows


def as_json(found: Comparison, written: str | None, names: str = "") -> list[str]:
    """The same as one JSON object."""
    members = {
        "copies": names or None,
        "culprit": found.culprit,
        "fairdeal": 1,
        "parts_at": found.parts_at,
        "proof": written,
        "same": found.same,
        "text": found.text,
    }
    return [one_line(members)]
