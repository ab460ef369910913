"""A `Player` at a live table: hand after hand, through every lost connection, and what it refuses."""

from __future__ import annotations

import random
from typing import Any

from live import Client, Live, run

from fairdeal.games.policies import POLICIES
from fairdeal.play.player import Notice, Over
from fairdeal.signing import SigningKey as Key


def clients(live: Live, *policies: str, **options: Any) -> list[Client]:
    rng = random.Random("clients")
    return [
        Client(live, Key(rng.randbytes(32)), POLICIES[policy], rng, **options)
        for policy in policies
    ]


def joined(live: Live, *policies: str, **options: Any) -> list[Client]:
    all_of_them = clients(live, *policies, **options)
    for one in all_of_them:
        one.connect()
    return all_of_them


def test_two_policies_through_whole_hands() -> None:
    live = Live(2, hands=3)
    both = joined(live, "low/1", "random/1")
    run(*both)
    for one in both:
        assert one.verdicts == ["valid"] * 3
        assert one.memory.of(Over)
        assert not one.memory.of(Notice)
        assert list(one.memory.copies.values()) == [log.encoded() for log in live.logs]
        assert one.player.turn is None
    assert live.refusals == []
