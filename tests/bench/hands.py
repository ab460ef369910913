"""The hand that is measured, recorded once, and the bare cost of each thing that is measured.

Every case is a pair: what the library does, and the primitives alone that it cannot do without, on
the same bytes. `test_speed.py` gives them to pytest-benchmark; `ratios.py` prints their ratios.
Nothing here is asserted: a machine's speed is no property of the code.
"""

import os
import random
import secrets
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NamedTuple

from nacl import bindings

sys.path.insert(0, str(Path(__file__).parents[1]))

import msgspec
from helpers import Table

from fairdeal import sealing, simulate, verify, verify_game_file, write_game
from fairdeal.cards import PACK
from fairdeal.dealer import Dealer
from fairdeal.encoding import frame, u16
from fairdeal.games.presets import S0
from fairdeal.hand import Hand
from fairdeal.log import Log, compacted
from fairdeal.messages import Commit, Pass, Reveal
from fairdeal.parties import SERVER
from fairdeal.shuffle import apply, blocks, permutation
from fairdeal.signing import PREFIX, SigningKey


class Case(NamedTuple):
    """`run` is measured against `bare`; their ratio is to be at most `limit`, and `aim` at best."""

    name: str
    run: Callable[[], object]
    bare: Callable[[], object]
    limit: float
    aim: float | None = None


class Recorder(Dealer):
    """A dealer that keeps what it was sent, and draws its secrets from a known source."""

    sent: list[tuple[bytes, int]]

    def receive(self, data, at):
        self.__dict__.setdefault("sent", []).append((data, at))
        return super().receive(data, at)


@cache
def table() -> Table:
    """A finished hand of four persons, by the rules S0."""
    return Table(dealer=Recorder, seed="speed").run()


def keys_of(log: Log) -> list[bytes]:
    """The key that each entry is signed with."""
    hand, keys = Hand(), []
    for entry, digest, seen in zip(log.entries, log.message_hashes, log.seen):
        if not hand.size:
            keys.append(bytes.fromhex(entry.message.body.server_key))
        else:
            keys.append(hand.key_of(entry.message.by))
        hand.take(hand.judge(entry.message, digest, seen))
    return keys


def checks(log: Log) -> Callable[[], object]:
    """The Ed25519 checks of a log with PyNaCl alone."""
    ready = [
        (bytes.fromhex(entry.sig) + PREFIX + digest, key)
        for entry, digest, key in zip(log.entries, log.message_hashes, keys_of(log))
        if entry.sig is not None
    ]
    return lambda: [bindings.crypto_sign_open(signed, key) for signed, key in ready]


def verifying() -> list[Case]:
    """A verdict on a whole hand, as kept for years and as it was played."""
    log = table().log
    short = compacted(log, keys_of(log))
    assert sum(entry.sig is not None for entry in short.entries) == 5
    brief, full = short.encoded(), log.encoded()
    assert verify(brief).status == verify(full).status == "valid"
    return [
        Case("verify, compacted / its 5 checks", lambda: verify(brief), checks(short), 3.5, 2.5),
        Case(
            f"verify, uncompacted / its {len(log)} checks", lambda: verify(full), checks(log), 1.3
        ),
    ]


def shuffling() -> Case:
    """One permutation and its composition, against `random.shuffle` and the HMAC blocks."""
    seed, hand = b"\x5a" * 64, b"\xa5" * 32

    def run() -> object:
        return apply(permutation(seed, hand, "seat/1", 52), PACK)

    label = frame("fairdeal/v1/permutation", hand, "seat/1", u16(52))

    def bare() -> object:
        random.shuffle(list(PACK))
        stream = blocks(seed, label)
        return next(stream), next(stream)

    return Case("permutation and composition / random.shuffle and its blocks", run, bare, 1.5)


def dealing() -> Case:
    """The server's part of a hand, the persons' messages being ready.

    Their answers depend on its keys and salts and on nothing that is drawn anew, but the boxes it
    seals: so a dealer of the same entropy takes the recorded messages until its boxes are seen.
    """
    one = table()
    recorded = one.dealer.sent
    parts = _Resealed(one)
    return Case(
        "dealing a hand / its signatures, checks and boxes",
        lambda: parts.deal(recorded),
        parts.bare,
        2.0,
    )


class _Resealed:
    """A dealer driven again, with its boxes sealed as they were: HPKE draws its own randomness.

    It seals each box for the cost and hands out the recorded one, so that the log, and with it what
    the persons signed, is the same.
    """

    def __init__(self, one: Table) -> None:
        self.one = one
        self.log = one.log
        rng = random.Random("speed")
        for _ in range(len(one.keys) + 1):
            rng.randbytes(32)
        self.state = rng.getstate()
        self.boxes = [
            bytes.fromhex(share.sealed)
            for entry in self.log.entries
            if entry.message.type in ("deal", "exchange")
            for share in entry.message.body.hands
        ]
        self._prepare()

    def deal(self, recorded: list[tuple[bytes, int]]) -> Dealer:
        rng = random.Random()
        rng.setstate(self.state)
        kept, boxes = sealing.seal, iter(self.boxes)

        def seal(plaintext: bytes, key: bytes, info: bytes) -> bytes:
            kept(plaintext, key, info)
            return next(boxes)

        sealing.seal = seal
        try:
            dealer = Dealer(
                self.one.terms, self.one.server, at=self.log.entries[0].at, entropy=rng.randbytes
            )
            for data, at in recorded:
                dealer.receive(data, at)
        finally:
            sealing.seal = kept
        assert dealer.log.hashes == self.log.hashes
        return dealer

    def _prepare(self) -> None:
        """Everything that the bare cost needs, so that only primitives are left in it."""
        log, key = self.log, self.one.server
        hand_key = bytes.fromhex(self.one.dealer._secret.hand_key)
        hand_id = self.one.hand.hand_id
        self.signed, self.checked, self.opened = [], [], []
        for entry, digest, public in zip(log.entries, log.message_hashes, keys_of(log)):
            said = entry.message
            if said.by == SERVER:
                self.signed.append(digest)
            else:
                self.checked.append((bytes.fromhex(entry.sig) + PREFIX + digest, public))
            if isinstance(said.body, Reveal | Pass):
                info = sealing.info(said.type, hand_id, SERVER, said.by)
                self.opened.append((bytes.fromhex(said.body.sealed), info))
        self.key, self.hand_key = key, hand_key
        commits = [e.message for e in log.entries if isinstance(e.message.body, Commit)]
        keys = {said.by: bytes.fromhex(said.body.hand_key) for said in commits}
        close = next(e.message.body for e in log.entries if e.message.type == "close")
        from fairdeal.encoding import encode

        self.sealed = [
            (encode(cards), keys[by], sealing.info(kind, hand_id, by, SERVER))
            for kind, all_cards in (("deal", close.deals), ("exchange", close.exchanges))
            for by, cards in zip(self.one.hand.seats, all_cards)
        ]

    def bare(self) -> None:
        for digest in self.signed:
            self.key.sign(digest)
        for signed, public in self.checked:
            bindings.crypto_sign_open(signed, public)
        for box in self.opened:
            sealing.unseal(box[0], self.hand_key, box[1])
        for plaintext, public, info in self.sealed:
            sealing.seal(plaintext, public, info)


def one_check() -> Callable[[], object]:
    """One Ed25519 check."""
    key, digest = SigningKey(secrets.token_bytes(32)), os.urandom(32)
    signed, public = key.sign(digest) + PREFIX + digest, key.public
    return lambda: bindings.crypto_sign_open(signed, public)


def playing() -> list[Case]:
    """The course of a hand's 52 plays, and the legal cards before one of them."""
    hand = table().hand
    plays = [(int(by[-1]), card) for _, by, card in hand.plays]
    game = hand.game

    def replay() -> object:
        course = game.begin(1)
        for seat, card in plays:
            course.play(seat, card)
        return course

    course = game.begin(1)
    for seat, card in plays[:5]:
        course.play(seat, card)
    cards = [card for seat, card in plays[5:] if seat == course.turn]
    check = one_check()
    return [
        Case("replay of 52 plays / a check", replay, check, 1.58),
        Case("legal cards of a play / a check", lambda: course.legal(cards), check, 1 / 50),
    ]


def gaming() -> Case:
    """Twelve hands of a game and the checks across them, against each hand for itself."""
    entropy = random.Random("game").randbytes
    rules = msgspec.structs.replace(S0, end_score=1000)
    seated = simulate.new_table(4, rules=rules, entropy=entropy)
    hands = [
        one.log.encoded()
        for one in simulate.play_hands(seated, 12, at=1_700_000_000_000, entropy=entropy)
    ]
    game = write_game(hands)
    assert verify_game_file(game).status == "incomplete", "the game goes on"
    return Case(
        "verify a game of 12 hands / its hands one by one",
        lambda: verify_game_file(game),
        lambda: [verify(hand) for hand in hands],
        1.0,
    )


def cases() -> list[Case]:
    """All that is measured in one process; the start-up of the program is `ratios.py`'s."""
    assert S0.pass_cycle[0], "something is passed in this hand"
    return [*verifying(), shuffling(), dealing(), *playing(), gaming()]
