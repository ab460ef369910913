"""Rows of the threat model that are no single bent step."""

from __future__ import annotations

import msgspec
import pytest
from helpers import Table, assert_only, found

from fairdeal.errors import RemoteProtocolError
from fairdeal.seat import Outgoing


def test_made_up_log_is_only_consistent() -> None:
    """One party makes everything up: valid without a pinned key, and the guarantee says what that is worth."""
    table = Table(4, seed="made up").run()
    verdict = table.verify()
    assert verdict.status == "valid"
    assert "No person's key was pinned" in verdict.guarantee
    stranger = Table(4, seed="stranger")
    assert_only(table.verify(server_key=stranger.server.public), "pin-server-key", entries=(0,))
    assert_only(table.verify(seat_keys={1: stranger.keys[1].public}), "pin-seat-key", entries=(0,))


def test_copied_commitment_is_refused_and_remarked() -> None:
    """The dealer refuses the second; on a log it is remarked on and accuses nobody."""
    table = Table(4)
    first, second = table.tell(0)[0], table.tell(1)[0]
    table.give(0, first)
    copied = table.hand.commits["seat/0"]
    commitment = table.log.entries[copied].message.body.commitment
    seat = table.seats[1]
    own = seat._sent.popitem()[1].message.body
    out = seat._say(msgspec.structs.replace(own, commitment=commitment), table.log.hashes[0])
    with pytest.raises(RemoteProtocolError, match="copied") as refused:
        table.give(1, out)
    assert refused.value.code == "commitment-copied"
    table.give(1, Outgoing(second.store, second.send))

    bend = Table(4, seed=2).run(lambda t: len(t.hand.commits) == 2).bend().cut(3)
    bend[2].change(commitment=bend[1].body.commitment)
    verdict = bend.verify()
    assert (verdict.status, verdict.findings) == ("incomplete", ())
    assert [(one.code, one.culprits, one.entries) for one in verdict.remarks] == [
        ("commitment-copied", (), (1, 2))
    ]


def test_withheld_reveal_is_the_servers_word() -> None:
    """Nobody can prove a silence: incomplete, with who is said to have held it up."""
    table = Table(4).run(lambda t: len(t.hand.commits) == 4)
    for n in (0, 2, 3):
        table.give(n, table.tell(n)[0])
    table.dealer.void("no-reveal", 1, table.at)
    verdict = table.verify()
    assert (verdict.status, verdict.findings) == ("incomplete", ())
    assert [(one.code, one.attribution, one.culprits) for one in verdict.remarks] == [
        ("silence", "server's word", ())
    ]
    assert verdict.stop is not None
    assert "no-reveal (seat/1)" in verdict.stop.reason


def test_voiding_after_a_shown_deviation_is_no_second_finding() -> None:
    """A bad reveal that came last leaves the server no other way."""
    from cheats import CHEATS

    assert found(__import__("fairdeal").verify(CHEATS["bad-reveal"]().log.encoded())) == [
        ("bad-reveal", ("seat/2",))
    ]
