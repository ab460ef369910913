"""Nobody honest is ever blamed: honest hands in every order the protocol allows give no finding."""

from __future__ import annotations

import os

import pytest
from chaos import Chaos
from helpers import Table

from fairdeal import verify
from fairdeal.findings import CHECKS
from fairdeal.log import compacted
from fairdeal.messages import Clock

HANDS = 2000 if os.environ.get("FAIRDEAL_LONG") else 60


@pytest.mark.parametrize("batch", range(4))
def test_honest_hands_give_no_finding(batch: int) -> None:
    ended = {"valid": 0, "incomplete": 0}
    for number in range(batch, HANDS, 4):
        verdict = Chaos(number, wild=(number % 5) / 4).play()
        ended[verdict.status] += 1
    assert ended["valid"] > HANDS // 8, ended


@pytest.mark.parametrize("people", range(5))
@pytest.mark.parametrize("hand", [1, 2, 3, 4])
def test_plain_hand_is_valid_with_all_pins(people: int, hand: int) -> None:
    table = Table(people, seed=(people, hand), hand=hand, house=hand == 3).run()
    assert not table.rejected
    assert not table.refused
    verdict = table.verify(
        server_key=table.server.public,
        seat_keys={n: key.public for n, key in table.keys.items()},
        head=table.log.head,
    )
    assert verdict.status == "valid", verdict.findings
    assert verdict.acknowledged == tuple(f"seat/{n}" for n in range(people))
    for seat in table.seats.values():
        assert table.verify(record=seat.record).status == "valid"


def test_every_check_ran_or_says_why_not() -> None:
    verdict = Table(3).run().verify()
    assert [report.number for report in verdict.checks] == list(CHECKS)
    for report in verdict.checks:
        assert (report.status == "passed") == (report.looked_at > 0)
        assert report.status == "passed" or report.reason


def test_compacted_hand_has_five_signatures_and_is_valid() -> None:
    table = Table(4).run()
    keys = [table.hand.key_of(entry.message.by) for entry in table.log.entries]
    small = compacted(table.log, keys)
    assert sum(entry.sig is not None for entry in small.entries) == 5
    assert small.hashes == table.log.hashes
    verdict = verify(small.encoded())
    assert verdict.status == "valid"
    assert verdict.guarantee == table.verify().guarantee


def test_replacing_an_unresponsive_seat_before_the_deal_is_no_early_expulsion() -> None:
    """Found by the long run: the clock runs for decisions only, and a voided log has no deal."""
    table = Table(4, clock=Clock(grace_ms=50, reserve_ms=500))
    table.dealer.replace(1, "unresponsive", table.at)
    table.dealer.void("operator", None, table.at)
    assert table.verify().status == "incomplete"
