"""A server that deals itself better cards, and what the verifier says to that.

    python examples/cheating_dealer.py

Its bot's highest card goes to Ana, her lowest to the bot. The server signs that bent deal, commits
to it and seals it in order, so every box opens, every seat plays on and acknowledges the result:
at the table nobody can see it. But the deck follows from the seeds, and `close` publishes them.
"""

from __future__ import annotations

import secrets
import sys
import time

import fairdeal
from fairdeal.games.policies import POLICIES
from fairdeal.games.presets import S0

ANA, BOT = 0, 3


def height(card: str) -> int:
    return "23456789TJQKA".index(card[0])


class BentDealer(fairdeal.Dealer):
    """Honest in everything but one swap."""

    def _shuffle(self) -> None:
        """This is the library's inside: a cheat has its own server and stops at nothing."""
        super()._shuffle()
        high, low = max(self._dealt[BOT], key=height), min(self._dealt[ANA], key=height)
        swap = {high: low, low: high}
        self._dealt = tuple(tuple(swap.get(card, card) for card in hand) for hand in self._dealt)
        print(f"The server moves {low} from Ana's hand to its bot's, and {high} the other way.")


def now() -> int:
    return time.time_ns() // 1_000_000


def answer(seat: fairdeal.Seat) -> list[fairdeal.Outgoing]:
    policy, word = POLICIES["low/1"], lambda: secrets.randbelow(1 << 16)
    if seat.turn == "pass":
        return [seat.pass_cards(policy.pass_cards(seat.view(), word))]
    if seat.turn == "play":
        return [seat.play(policy.play_card(seat.view(), word))]
    return []


def play(dealer: fairdeal.Dealer, seats: list[fairdeal.Seat]) -> None:
    """Nothing is stored here, nothing survives: `local_table.py` shows how it should be done."""
    news = list(dealer.log.entries)
    while news:
        answers = [said for entry in news for seat in seats if (said := seat.receive(entry))]
        answers += [said for seat in seats for said in answer(seat)]
        news = [entry for one in answers for entry in dealer.receive(one.send, now())]


def main() -> int:
    keys = [fairdeal.SigningKey(secrets.token_bytes(32)) for _ in range(3)]
    people = zip(("Ana", "Ben", "Cleo"), keys, strict=True)
    persons = tuple(fairdeal.Person(name=name, key=key.public.hex()) for name, key in people)
    terms = fairdeal.Terms(
        table="back room",
        game="1",
        seats=(*persons, fairdeal.bot("House bot")),
        rules=S0,
        deck=fairdeal.Deck(packs=1, removed=()),
    )
    dealer = BentDealer(terms, fairdeal.SigningKey(secrets.token_bytes(32)), at=now())
    seats = [fairdeal.Seat(key) for key in keys]
    play(dealer, seats)

    verdict = fairdeal.verify(dealer.log.encoded(), record=seats[ANA].record)
    print(f"Acknowledged by {', '.join(verdict.acknowledged)}. Verdict: {verdict.status}")
    for found in verdict.findings:
        cited = ", ".join(f"{n} ({dealer.log.entries[n].message.type})" for n in found.entries)
        print(f"- {found.code}: {found.message}")
        print(f"  culprits: {', '.join(found.culprits) or 'nobody named'}; entries: {cited}")
        print(f"  expected {found.expected}\n  found    {found.found}")
    caught = any(one.code == "deal-cards" for one in verdict.findings)
    return 0 if caught and verdict.culprits == ("server",) else 1


if __name__ == "__main__":
    sys.exit(main())
