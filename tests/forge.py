"""Logs put together by an adversary: any entry in any place, signed with what keys it holds or not at all.

`Forge` grows a log and follows its state as the verifier does, so that a test can aim at what fits.
`World` is a table with one honest person, the `Seat` of which signs; everybody else, the server
included, is the adversary's.
"""

from __future__ import annotations

import hmac
import random
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

import msgspec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from helpers import SEATS, SERVER, Key, Table
from nacl import bindings

from fairdeal.dealer import Dealer, bot
from fairdeal.hand import Hand
from fairdeal.log import Log
from fairdeal.messages import Cards, Close, Entry, Message, Person, Play, message
from fairdeal.seat import Seat


class Forge:
    """A log that grows by anything at all."""

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self.log = Log()
        self.hand = Hand()
        for entry in entries:
            self.raw(entry)

    def raw(self, entry: Entry) -> Forge:
        """The entry as it is, whether it follows or not."""
        self.log.append(entry)
        place = len(self.log) - 1
        said, digest = entry.message, self.log.message_hashes[place]
        if place == 0 or self.hand.size:
            judged = self.hand.judge(said, digest, self.log.seen_by(place))
            if not any(one.code == "open-terms" for one in judged.deviations):
                self.hand.take(judged)
        return self

    def chain(self, entry: Entry, *, strip: bool = False, late: int = 0) -> Forge:
        """The entry's message, chained to what stands here."""
        return self.signed(entry.message, None if strip else entry.sig, late=late)

    def signed(self, said: Message, sig: str | None, *, late: int = 0) -> Forge:
        log = self.log
        return self.raw(Entry(max(0, log.last_at + late), said, log.head, len(log), sig))

    def say(
        self,
        by: str,
        body: Any,
        *,
        seen: str | None = None,
        key: Key | None = None,
        sig: str | None = None,
        late: int = 0,
    ) -> Forge:
        """A message over the head (or `seen`), signed with `key`, or with any text, or not."""
        said = message(by, self.log.head if seen is None else seen, body)
        return self.signed(said, key.sign(said.digest()).hex() if key else sig, late=late)

    @property
    def since(self) -> str:
        """What a person would have to have seen."""
        return self.log.hashes[max(self.hand.since, 0)]


class World:
    """A table of four whose seat 0 is honest; `log` is one honest hand of it, with all keys' owners known."""

    def __init__(self, seed: object, **options: Any) -> None:
        self.table = Table(4, seed=seed, **options).run()
        self.log = self.table.log
        self.keys = {by: key for by, key in self.table.secrets.items() if by != "seat/0"}
        self.server = self.table.server
        self.close: Close = next(
            one.message.body for one in self.log.entries if isinstance(one.message.body, Close)
        )

    @property
    def honest(self) -> list[Entry]:
        """What seat 0 signed."""
        return [one for one in self.log.entries if one.message.by == "seat/0"]

    def key(self, by: str) -> Key | None:
        """The adversary's key for a party; the honest person's it does not have."""
        return None if by == "seat/0" else self.keys.get(by, self.server)


def again(table: Table, **terms: Any) -> Table:
    """Another hand or attempt at the table, with the same keys and everything else new."""
    next_one = object.__new__(Table)
    next_one.__dict__.update(table.__dict__)
    rng = random.Random(f"again {terms} {table.log.head}")
    opening = msgspec.structs.replace(table.dealer.next_terms(), **({"left": ()} | terms))
    next_one.terms, next_one.entropy, next_one.rng = opening, rng.randbytes, rng
    next_one.dealer = Dealer(opening, table.server, at=table.at + 1000, entropy=rng.randbytes)
    staying = [n for n, one in enumerate(opening.seats) if isinstance(one, Person)]
    next_one.seats = {
        n: Seat(table.keys[n], server_key=table.server.public, entropy=rng.randbytes)
        for n in staying
    }
    next_one.stores, next_one.refused, next_one.rejected = {}, {}, []
    next_one.heard = dict.fromkeys(next_one.seats, 0)
    return next_one


@lru_cache(maxsize=8)
def history(seed: int) -> tuple[tuple[Table, ...], tuple[Entry, ...]]:
    """Several logs of one table: a voided attempt, its second attempt, the next hand; all their entries."""
    first = Table(4 - seed % 2, seed=("history", seed), house=bool(seed % 2))
    first.run(lambda t: len(t.hand.commits) == len(t.hand.shufflers))
    for n in (0, 1):
        first.give(n, first.tell(n)[0])
    first.dealer.void("no-reveal", 2, first.at)
    seats = first.terms.seats
    second = again(first, seats=seats).run()
    third = again(second).run()
    tables = (first, second, third)
    return tables, tuple(entry for table in tables for entry in table.log.entries)


def play_out(forge: Forge, world: World, rng: random.Random, cards: dict[str, list[str]]) -> None:
    """Every card that is still to be played, by whoever is on turn: signed, or made up.

    `cards` are what the seats hold; where a seat holds nothing that fits, any card is played.
    """
    for _ in range(60):
        hand = forge.hand
        if hand.play is None or hand.play.over or hand.ended:
            return
        turn = hand.play.turn
        opening = hand.play.opening_card
        seat = turn
        if seat is None:
            seat = next((n for n in range(4) if opening in cards.get(SEATS[n], ())), 1)
        by = SEATS[seat]
        mine = cards.setdefault(by, [])
        legal = hand.play.legal(mine) if mine else ()
        free = [card for card in hand.game.deck if hand.unplayed[card] > 0]
        card = rng.choice(legal) if legal else opening or rng.choice(free)
        if card in mine:
            mine.remove(card)
        key = world.key(by) if by in hand.persons else world.server
        forge.say(by, Play(card=card), seen=None if key else "77" * 32, key=key)


def hands_of(world: World) -> dict[str, list[str]]:
    """What each seat held after the exchange, by the close."""
    close, held = world.close, {}
    for n, dealt in enumerate(close.deals):
        cards = list(dealt.cards)
        if close.passes:
            cards = [card for card in cards if card not in close.passes[n].cards]
            cards += close.exchanges[n].cards
        held[SEATS[n]] = cards
    return held


def hpke_with(entropy: Callable[[int], bytes]) -> Callable[[bytes, bytes, bytes], bytes]:
    """HPKE's seal (RFC 9180) with its ephemeral keys from `entropy`: a run can be had again."""
    kem, suite = b"KEM\x00\x20", b"HPKE\x00\x20\x00\x01\x00\x02"

    def extract(salt: bytes, who: bytes, label: bytes, ikm: bytes) -> bytes:
        return hmac.digest(salt, b"HPKE-v1" + who + label + ikm, "sha256")

    def expand(prk: bytes, who: bytes, label: bytes, context: bytes, size: int) -> bytes:
        text = size.to_bytes(2, "big") + b"HPKE-v1" + who + label + context
        return hmac.digest(prk, text + b"\x01", "sha256")[:size]

    def seal(plaintext: bytes, public_key: bytes, box_info: bytes) -> bytes:
        secret = entropy(32)
        enc = bindings.crypto_scalarmult_base(secret)
        shared = bindings.crypto_scalarmult(secret, public_key)
        shared = expand(
            extract(b"", kem, b"eae_prk", shared), kem, b"shared_secret", enc + public_key, 32
        )
        context = b"\x00" + extract(b"", suite, b"psk_id_hash", b"")
        context += extract(b"", suite, b"info_hash", box_info)
        prk = extract(shared, suite, b"secret", b"")
        key, nonce = (
            expand(prk, suite, b"key", context, 32),
            expand(prk, suite, b"base_nonce", context, 12),
        )
        return enc + AESGCM(key).encrypt(nonce, plaintext, b"")

    return seal


def regrouped(cards: Cards, size: int) -> Cards:
    """The same codes joined, cut elsewhere."""
    text = "".join(cards.cards)
    return Cards(
        cards=tuple(text[n : n + size] for n in range(0, len(text), size)), salt=cards.salt
    )


__all__ = [
    "SERVER",
    "Forge",
    "World",
    "again",
    "bot",
    "hands_of",
    "history",
    "play_out",
    "regrouped",
]
