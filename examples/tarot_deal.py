"""A shuffle and a deal for another game: French tarot's 78 cards, five seats, a dog of three.

Your server plays its own game over the cards; fairdeal gives it a shuffle that nobody has to
believe, and a log that proves the deal. All cards become public at `close`: end the hand first.

    python examples/tarot_deal.py [FILE]       the transcript goes to FILE
"""

import sys
import time
from pathlib import Path

from fairdeal import Dealer, Deck, Person, Seat, SigningKey, Terms, verify
from fairdeal.games import DealRules

NAMES = ("Ana", "Ben", "Cleo", "Dan", "Eve")
RANKS = [f"{rank:02}" for rank in range(1, 11)] + ["VA", "CA", "DA", "RO"]
# codes of one length, so that no sealed box tells by its size what is in it
CARDS = (
    *(suit + rank for suit in "CDHS" for rank in RANKS),
    *(f"T{trump:02}" for trump in range(1, 22)),
    "EXC",
)


def main() -> int:
    now = lambda: time.time_ns() // 1_000_000  # noqa: E731
    server, keys = SigningKey.generate(), [SigningKey.generate() for _ in NAMES]
    people = tuple(
        Person(key=key.public.hex(), name=name) for key, name in zip(keys, NAMES, strict=True)
    )
    deck = Deck(cards=CARDS)
    terms = Terms(table="tarot", game="1", seats=people, rules=DealRules(), deck=deck)
    dealer = Dealer(terms, server, at=now())
    seats = [Seat(key, server_key=server.public) for key in keys]
    heard = 0
    while heard < len(dealer.log):
        entry, heard = dealer.log.entries[heard], heard + 1
        for answer in [seat.receive(entry.encoded()) for seat in seats]:
            if answer is not None:
                dealer.receive(answer.send, now())  # a server stores and broadcasts here
    for seat, name in zip(seats, NAMES, strict=True):
        print(f"{name:<5}", " ".join(sorted(seat.cards)))
    transcript = dealer.log.encoded()
    verdict = verify(transcript, record=seats[0].record)
    print(verdict.status)
    if sys.argv[1:]:
        Path(sys.argv[1]).write_bytes(transcript)
    return verdict.status != "valid"


if __name__ == "__main__":
    sys.exit(main())
