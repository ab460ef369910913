"""One hand of Hearts in one process: four people's seats, a dealer, a verdict.

    python examples/local_table.py [TRANSCRIPT]

A real server has its seats on other machines; `socket_table` shows that. The calls are the same.
"""

from __future__ import annotations

import os
import secrets
import sys
import tempfile
import time
from pathlib import Path

import fairdeal
from fairdeal.games.policies import POLICIES
from fairdeal.games.presets import S0


def now() -> int:
    return time.time_ns() // 1_000_000


def store(path: Path, data: bytes) -> None:
    """Whole, on the disk and for us alone, before the caller goes on and says what is in it."""
    new = path.with_name(path.name + ".new")
    new.unlink(missing_ok=True)
    with os.fdopen(os.open(new, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)


def decide(seat: fairdeal.Seat) -> fairdeal.Outgoing | None:
    """What a person would click. Commitment, reveal and ack need nobody: `receive` gives them."""
    policy, word = POLICIES["random/1"], lambda: secrets.randbelow(1 << 16)
    if seat.turn == "pass":
        return seat.pass_cards(policy.pass_cards(seat.view(), word))
    if seat.turn == "play":
        return seat.play(policy.play_card(seat.view(), word))
    return None  # these rules let nobody choose what a moon does


def play(dealer: fairdeal.Dealer, seats: list[fairdeal.Seat], transcript: Path) -> None:
    store(transcript.with_suffix(".secret"), dealer.secret)  # before anything is broadcast
    news = list(dealer.log.entries)
    while news:
        store(transcript, dealer.log.encoded())  # the server stores, then broadcasts
        lines, news = [entry.encoded() for entry in news], []
        for number, seat in enumerate(seats):
            answers = [*(seat.receive(line) for line in lines), decide(seat)]
            for answer in filter(None, answers):
                store(transcript.with_suffix(f".seat-{number}"), answer.store)  # a seat stores,
                news += dealer.receive(answer.send, now())  # then sends


def main() -> int:
    given = sys.argv[1:]
    transcript = Path(given[0] if given else tempfile.mkdtemp()) / ("" if given else "hand.json")
    keys = [fairdeal.SigningKey(secrets.token_bytes(32)) for _ in range(4)]
    people = zip(("Ana", "Ben", "Cleo", "Dan"), keys, strict=True)
    persons = tuple(fairdeal.Person(name=name, key=key.public.hex()) for name, key in people)
    deck = fairdeal.Deck(packs=1, removed=())
    terms = fairdeal.Terms(table="kitchen", game="1", seats=persons, rules=S0, deck=deck)
    dealer = fairdeal.Dealer(terms, fairdeal.SigningKey(secrets.token_bytes(32)), at=now())
    play(dealer, [fairdeal.Seat(key) for key in keys], transcript)

    verdict = fairdeal.verify(transcript.read_bytes(), seat_keys={0: keys[0].public})
    print(f"{transcript}: {verdict.status}\n{verdict.guarantee}")
    return 0 if verdict.status == "valid" else 1


if __name__ == "__main__":
    sys.exit(main())
