"""No changed, cut or doubled byte of a good transcript is ever valid, and none gives a traceback.

One leaf is the exception, and stands here with its reason: the `at` of the last entry is under no
signature and no later hash. Whoever pinned the head sees it; without that nothing tells.
"""

from __future__ import annotations

import os
import random

import pytest
from helpers import Table

from fairdeal import verify
from fairdeal.log import Log, compacted, read_log

EVERY = 1 if os.environ.get("FAIRDEAL_LONG") else 131


def transcript(*, small: bool) -> bytes:
    table = Table(2, seed="mangled", house=True).run()
    keys = [table.hand.key_of(entry.message.by) for entry in table.log.entries]
    return (compacted(table.log, keys) if small else table.log).encoded()


def last_at(data: bytes) -> range:
    """Where the digits of the last entry's `at` stand."""
    start = data.rindex(b'{"at":') + len(b'{"at":')
    return range(start, data.index(b",", start))


def only_last_at(data: bytes, bad: bytes) -> bool:
    """Whether two transcripts are the same up to the time of the last entry."""
    one, two = read_log(data), read_log(bad)
    mine, other = one.entries[-1], two.entries[-1]
    same = (mine.message, mine.prev, mine.seq, mine.sig) == (
        other.message,
        other.prev,
        other.seq,
        other.sig,
    )
    return one.hashes[:-1] == two.hashes[:-1] and same


@pytest.mark.parametrize("small", [True, False])
@pytest.mark.parametrize("how", ["change", "cut", "double", "truncate"])
def test_no_byte_can_be_touched(how: str, *, small: bool) -> None:
    data = transcript(small=small)
    head = read_log(data).head
    rng = random.Random(how)
    for place in range(rng.randrange(EVERY), len(data), EVERY):
        if how == "change":
            bad = data[:place] + bytes([data[place] ^ (1 << rng.randrange(8))]) + data[place + 1 :]
        elif how == "cut":
            bad = data[:place] + data[place + 1 :]
        elif how == "double":
            bad = data[: place + 1] + data[place:]
        else:
            bad = data[:place]
        if bad == data:
            continue
        verdict = verify(bad)
        if verdict.status == "valid":
            assert place in last_at(data), (place, bad[place - 20 : place + 20])
            assert only_last_at(data, bad)
        assert verify(bad, head=head).status != "valid"
        assert verdict.culprits == (), (place, verdict.findings)


def test_every_cut_and_rechained_end_accuses_nobody() -> None:
    """Whoever holds a log can drop its last entries: that is incomplete, never somebody's fault."""
    table = Table(2, seed="cut", house=True).run()
    for size in range(1, len(table.log)):
        verdict = verify(Log(table.log.entries[:size]).encoded())
        closed = table.hand.end is not None and size > table.hand.end
        assert verdict.status == ("valid" if closed else "incomplete")
        assert verdict.stop is None or verdict.stop.next
        assert (
            verify(Log(table.log.entries[:size]).encoded(), head=table.log.head).status == "invalid"
        )


def test_entries_dropped_repeated_and_swapped_name_nobody() -> None:
    """Anyone can do so to a finished log without a key."""
    entries = list(Table(3, seed="swap").run().log.entries)
    rng = random.Random(5)
    for _ in range(60):
        bad = list(entries)
        one, two = rng.randrange(len(bad)), rng.randrange(len(bad))
        change = rng.choice(("drop", "repeat", "swap", "move"))
        if change == "drop":
            del bad[one]
        elif change == "repeat":
            bad.insert(two, bad[one])
        elif change == "swap":
            bad[one], bad[two] = bad[two], bad[one]
        else:
            bad.insert(two, bad.pop(one))
        if bad == entries:
            continue
        verdict = verify(Log(bad).encoded())
        assert verdict.culprits == (), (change, one, two, verdict.findings)
        assert verdict.status != "valid" or (change == "drop" and one == len(entries) - 1)


def test_entries_rechained_without_a_key_name_nobody() -> None:
    """And so does repairing the chain after it, since the signatures answer the true log."""
    from fairdeal.messages import Entry

    entries = list(Table(3, seed="rechain").run().log.entries)
    rng = random.Random(6)
    for _ in range(60):
        bad = list(entries)
        one, two = rng.randrange(1, len(bad)), rng.randrange(1, len(bad))
        change = rng.choice(("drop", "repeat", "swap", "date"))
        if change == "drop":
            del bad[one]
        elif change == "repeat":
            bad.insert(two, bad[one])
        elif change == "swap":
            bad[one], bad[two] = bad[two], bad[one]
        log = Log()
        at = 0
        for place, entry in enumerate(bad):
            at = max(at, entry.at - (500 if change == "date" and place == one else 0))
            log.append(Entry(at, entry.message, log.head, place, entry.sig))
        verdict = verify(log.encoded())
        assert verdict.culprits == (), (change, one, two, verdict.findings)


def test_open_of_another_hand_put_into_a_log_names_nobody() -> None:
    """Every `open` has seen the genesis: two of different hands contradict nothing."""
    table = Table(2, seed="opens").run()
    other = Table(2, seed="opens", hand=2)
    for place in (1, len(table.log)):
        bad = list(table.log.entries)
        bad.insert(place, other.log.entries[0])
        verdict = verify(Log(bad).encoded())
        assert verdict.status == "invalid"
        assert verdict.culprits == (), verdict.findings
