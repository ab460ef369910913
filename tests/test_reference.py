"""The two implementations hold each other: the product, and spec/reference.py written from the spec alone."""

from __future__ import annotations

import importlib.util
import json
import os
import random
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from chaos import Chaos
from cheats import CHEATS
from helpers import Table

from fairdeal import verify
from fairdeal.log import Log, compacted

SPEC = Path(__file__).parent.parent / "spec"
TRANSCRIPTS = sorted((SPEC / "vectors/transcripts").glob("*/transcript.json"))
HANDS = 1000 if os.environ.get("FAIRDEAL_LONG") else 200


def load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("reference", SPEC / "reference.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["reference"] = module
    spec.loader.exec_module(module)
    return module


reference = load()


def ours(data: bytes, **pins: Any) -> dict[str, Any]:
    verdict = verify(data, **pins)

    def plain(findings: Any) -> list[Any]:
        return sorted(
            [one.code, one.check, list(one.culprits), one.attribution, list(one.entries)] for one in findings
        )

    return {"status": verdict.status, "findings": plain(verdict.findings), "remarks": plain(verdict.remarks)}


def theirs(data: bytes, **pins: Any) -> dict[str, Any]:
    verdict = reference.verify(data, **pins)

    def plain(findings: Any) -> list[Any]:
        return sorted(
            [one["code"], one["check"], list(one["culprits"]), one["attribution"], list(one["entries"])]
            for one in findings
        )

    return {"status": verdict["status"], "findings": plain(verdict["findings"]), "remarks": plain(verdict["remarks"])}


def assert_agree(data: bytes, note: object = "", **pins: Any) -> str:
    one, other = ours(data, **pins), theirs(data, **pins)
    assert one == other, note
    return str(one["status"])


@pytest.mark.parametrize("name", CHEATS)
def test_agree_on_every_cheat(name: str) -> None:
    assert assert_agree(CHEATS[name]().log.encoded()) == "invalid"


@pytest.mark.parametrize("batch", range(4))
def test_agree_on_random_hands(batch: int) -> None:
    statuses = set()
    for number in range(batch, HANDS, 4):
        chaos = Chaos(("reference", number), wild=(number % 5) / 4)
        chaos.play()
        log = chaos.table.log
        data = log.encoded()
        if number % 3 == 0 and chaos.table.hand.end is not None:
            hand = chaos.table.hand
            if not hand.replaced:
                data = compacted(log, [hand.key_of(entry.message.by) for entry in log.entries]).encoded()
        statuses.add(assert_agree(data, chaos.events, head=log.head, server_key=chaos.table.server.public))
    assert "valid" in statuses


def test_agree_on_cut_swapped_and_spliced_logs() -> None:
    """What anyone can do to a log without a key, and what a server can do with its own."""
    rng = random.Random(12)
    logs = [Table(3, seed=("ref", n), hand=n + 1, house=n % 2 == 0).run().log for n in range(3)]
    for _ in range(150):
        entries = list(rng.choice(logs).entries)
        for _ in range(rng.randrange(1, 3)):
            one, two = rng.randrange(len(entries)), rng.randrange(len(entries))
            change = rng.choice(("drop", "repeat", "swap", "cut", "splice"))
            if change == "drop":
                del entries[one]
            elif change == "repeat":
                entries.insert(two, entries[one])
            elif change == "swap":
                entries[one], entries[two] = entries[two], entries[one]
            elif change == "cut":
                del entries[one + 1 :]
            else:
                entries[one:] = rng.choice(logs).entries[one:]
            if len(entries) < 2:
                break
        assert_agree(Log(entries).encoded())


def test_agree_on_bent_and_signed_again_logs() -> None:
    """Random edits of a signed log by somebody who holds every key."""
    rng = random.Random(13)
    for number in range(120):
        bend = Table(3, seed=("bent", number % 7), house=True).run().bend()
        for _ in range(rng.randrange(1, 3)):
            one, two = (rng.randrange(1, len(bend.drafts)) for _ in range(2))
            change = rng.choice(("drop", "repeat", "swap", "seen", "unsign", "time"))
            draft = bend[one]
            if change == "drop":
                bend.drafts.remove(draft)
                for other in bend.drafts:
                    if other.seen is draft:
                        other.seen = bend[max(0, one - 1)]
            elif change == "repeat":
                bend.insert(two, draft.by, draft.body, seen=draft.seen, key=draft.key)
            elif change == "swap":
                bend.drafts[one], bend.drafts[two] = bend[two], bend[one]
            elif change == "seen":
                draft.seen = bend[rng.randrange(one)]
            elif change == "unsign":
                draft.sign = rng.choice((False, "00" * 64))
            else:
                draft.at += rng.choice((-500, 500))
        assert_agree(bend.encoded(), number)


@pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda path: path.parent.name)
def test_agree_with_every_vector(path: Path) -> None:
    data = path.read_bytes()
    expected = json.loads((path.parent / "expected.json").read_text())
    assert_agree(data)
    found = ours(data)
    assert found["status"] == expected["status"]
    codes = sorted((one["code"], one["culprits"], one["entries"]) for one in expected["findings"])
    assert sorted((one[0], one[2], one[4]) for one in found["findings"]) == codes
    assert (path.parent / "why.txt").read_text().strip()
