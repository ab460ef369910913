"""Honest hands in one process, for `fairdeal demo` and for tests.

A `Table` holds every party's keys; `play_hand` plays one hand of it with a `Dealer` and, for each
person, a `Seat` that a policy moves. No clock is read: times start where the caller says. Since
one process knows every secret here, its hands convince nobody; that is what a demonstration is.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple

import msgspec

from fairdeal import encoding
from fairdeal.dealer import Dealer, Terms, bot
from fairdeal.games import Rules
from fairdeal.games.base import Policy
from fairdeal.games.policies import POLICIES
from fairdeal.games.presets import S0, Preset
from fairdeal.log import Log
from fairdeal.messages import Bot, Close, Deck, Person
from fairdeal.parties import SEATS
from fairdeal.record import read_record
from fairdeal.seat import Outgoing, Seat
from fairdeal.shuffle import words
from fairdeal.signing import SigningKey

NAMES: Final = ("Ana", "Ben", "Cleo", "Dan", "Eve", "Finn", "Gia", "Hugo", "Ida", "Jon")
_STEP_MS: Final = 700

Entropy = Callable[[int], bytes]
Word = Callable[[], int]


class Keys(NamedTuple):
    """Every party's signing key: the server's, and each person's by seat."""

    server: SigningKey
    persons: Mapping[int, SigningKey]


class Table(NamedTuple):
    """What is agreed before a hand, and who can sign."""

    terms: Terms
    keys: Keys


class PlayedHand(NamedTuple):
    """What a hand leaves behind: its log, every party's secrets, each person's record by seat."""

    log: Log
    secrets: dict[str, dict[str, str]]
    records: dict[int, bytes]
    dealer: Dealer

    def __repr__(self) -> str:
        return f"PlayedHand({len(self.log)} entries)"

    @property
    def close(self) -> Close:
        """How it ended."""
        end = self.dealer.hand.end
        body = None if end is None else self.log.entries[end].message.body
        assert isinstance(body, Close), "an honest hand is closed"
        return body


def new_table(
    people: int = 4,
    *,
    seats: int = 4,
    rules: Rules = S0,
    deck: Deck | None = None,
    house: bool = False,
    bots: str = "random/1",
    entropy: Entropy = secrets.token_bytes,
) -> Table:
    """A table with fresh keys: `people` persons at the first seats, bots at the others."""
    keys = Keys(SigningKey(entropy(32)), {seat: SigningKey(entropy(32)) for seat in range(people)})
    terms = Terms(
        table=f"demo-{entropy(3).hex()}",
        game="game-1",
        seats=tuple(_seat(seat, keys, bots) for seat in range(seats)),
        rules=rules,
        deck=deck or Deck(packs=1, removed=()),
        house=house,
    )
    return Table(terms, keys)


def preset_table(
    preset: Preset,
    *,
    seats: int | None = None,
    people: int | None = None,
    entropy: Entropy = secrets.token_bytes,
) -> Table:
    """The table of a preset; by default with its smallest number of seats, and persons at all."""
    size = seats or preset.seats[0]
    return new_table(
        size if people is None else people,
        seats=size,
        rules=preset.rules,
        deck=Deck(packs=preset.packs, removed=preset.removed),
        entropy=entropy,
    )


def _seat(seat: int, keys: Keys, policy: str) -> Person | Bot:
    key = keys.persons.get(seat)
    name = NAMES[seat]
    return Person(key=key.public.hex(), name=name) if key else bot(f"{name} (bot)", policy)


def play_hand(
    table: Table,
    *,
    at: int,
    policy: str = "random/1",
    entropy: Entropy = secrets.token_bytes,
    policies: Mapping[str, Policy] = POLICIES,
) -> PlayedHand:
    """Play one hand to its last ack, from the time `at` (ms since the Unix epoch).

    `policy` moves the persons, with words from `entropy`.
    """
    dealer = Dealer(table.terms, table.keys.server, at=at, entropy=entropy, policies=policies)
    server = table.keys.server.public
    players = {
        seat: _Player(Seat(key, server_key=server, entropy=entropy), policies[policy], entropy)
        for seat, key in table.keys.persons.items()
        if isinstance(table.terms.seats[seat], Person)
    }
    seen = 0
    while seen < len(dealer.log):
        news, seen = dealer.log.entries[seen:], len(dealer.log)
        sent = [one for player in players.values() for one in player.hear(news)]
        for one in sent:
            at += _STEP_MS
            dealer.receive(one.send, at)
    return _played(table, dealer, {n: player.seat for n, player in players.items()})


class _Player:
    """A person's seat and the policy that moves it."""

    def __init__(self, seat: Seat, policy: Policy, entropy: Entropy) -> None:
        self.seat = seat
        self._policy = policy
        self._word: Word = words(entropy(64), b"fairdeal demo player").__next__

    def hear(self, entries: list[Any]) -> Iterator[Outgoing]:
        """Take what was broadcast; what this seat says to it."""
        for entry in entries:
            answer = self.seat.receive(entry)
            if answer:
                yield answer
        decided = self._decide()
        if decided:
            yield decided

    def _decide(self) -> Outgoing | None:
        turn = self.seat.turn
        if turn == "pass":
            return self.seat.pass_cards(self._policy.pass_cards(self.seat.view(), self._word))
        if turn == "play":
            return self.seat.play(self._policy.play_card(self.seat.view(), self._word))
        if turn == "choose":
            return self.seat.choose(self._policy.choose_moon(self.seat.view(), self._word))
        return None


def _played(table: Table, dealer: Dealer, seats: Mapping[int, Seat]) -> PlayedHand:
    records = {number: seat.record for number, seat in seats.items()}
    hand_key: str = encoding.parse(dealer.secret)["hand_key"]
    signing = {"server": table.keys.server.private_bytes().hex()}
    signing |= {SEATS[n]: table.keys.persons[n].private_bytes().hex() for n in seats}
    boxes = {"server": hand_key}
    boxes |= {SEATS[n]: read_record(record).hand_key for n, record in records.items()}
    played = PlayedHand(dealer.log, {}, records, dealer)
    known = {"signing": signing, "hand": boxes, "seeds": dict(played.close.seeds)}
    return played._replace(secrets=known)


def next_table(table: Table, played: PlayedHand) -> Table:
    """The table of the next hand; of a new game's first one where this hand ended the game."""
    if played.close.result is None:
        return table._replace(terms=played.dealer.next_terms())
    game = f"game-{int(table.terms.game.rpartition('-')[2]) + 1}"
    end = played.dealer.hand.end or 0
    terms = msgspec.structs.replace(
        table.terms, attempt=1, game=game, hand=1, previous=played.log.hashes[end], scores=None
    )
    return table._replace(terms=terms)


def play_hands(
    table: Table,
    count: int,
    *,
    at: int,
    policy: str = "random/1",
    entropy: Entropy = secrets.token_bytes,
) -> Iterator[PlayedHand]:
    """So many hands in a row, scores carried over, a new game after each that ends."""
    for _ in range(count):
        played = play_hand(table, at=at, policy=policy, entropy=entropy)
        yield played
        at = played.log.last_at + _STEP_MS
        table = next_table(table, played)
