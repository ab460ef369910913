"""THE TABLE: who may say what when, what can publicly be wrong with it, and what it changes.

Spec section 4, row by row: `TABLE` is the only place that knows it. A row's functions act on the
public state of a hand, `hand.Hand`, which drives them; they know no role, no secret and no I/O.

A body's problems are those that everybody can see in the message itself. What a box or an opening
holds, and whether a card was held, is for `checks`, `dealer` and `seat`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable
from enum import Enum
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from msgspec import UNSET

from fairdeal import messages
from fairdeal.cards import french_deck, listed_deck
from fairdeal.games import game_of
from fairdeal.messages import (
    Ack,
    Bot,
    Choose,
    Close,
    Commit,
    Deal,
    Deck,
    Dispute,
    Exchange,
    Open,
    Pass,
    Replace,
    Reveal,
    Void,
)
from fairdeal.parties import HOUSE, SEAT_NUMBERS, SEATS, SERVER
from fairdeal.sealing import is_hand_key
from fairdeal.signing import is_public_key

if TYPE_CHECKING:
    from fairdeal.hand import Hand

#: one seat alone, as the parties of a turn
ALONE: Final = tuple(frozenset((name,)) for name in SEATS)


class Phase(Enum):
    """Where a hand stands: what comes next."""

    START = "start"
    COMMIT = "commit"
    REVEAL = "reveal"
    DEAL = "deal"
    PASS = "pass"  # noqa: S105 - not a password
    EXCHANGE = "exchange"
    PLAY = "play"
    CHOOSE = "choose"
    CLOSE = "close"
    CLOSED = "closed"
    DISPUTED = "disputed"
    VOIDED = "voided"


class Fault(Enum):
    """Whom a deviation accuses, if the message is theirs and the log up to it is whole."""

    AUTHOR = "author"  # the message is wrong by itself, or was wrong where its author saw the log
    PLACE = "place"  # it was right there, and stands in the wrong place: whoever ordered the log
    NOBODY = "nobody"


class Deviation(NamedTuple):
    """What is wrong with a message where it stands. `other` is a second entry that shows it."""

    code: str
    fault: Fault
    expected: str
    found: str
    other: int | None = None


# -- effects -------------------------------------------------------------------------------------


def _open(hand: Hand, body: Open, by: str, place: int) -> None:
    hand.terms = body
    hand.hand_id = hand.digests[place]
    hand.game = game_of(body.rules, deck_of(body.deck), len(body.seats))
    hand.copies = Counter(hand.game.deck)
    hand.unplayed = hand.copies.copy()
    hand.persons = {SEATS[n] for n, seat in enumerate(body.seats) if not isinstance(seat, Bot)}
    hand.keys = {SEATS[n]: bytes.fromhex(seat.key) for n, seat in enumerate(body.seats)}
    hand.keys[SERVER] = bytes.fromhex(body.server_key)
    hand.seats = SEATS[: len(body.seats)]
    hand.shufflers = ((HOUSE,) if body.house else ()) + hand.seats
    hand.queue = [by for by in hand.shufflers if by not in hand.persons]
    hand.phase = Phase.COMMIT
    _after_commit(hand, place)


def _commit(hand: Hand, body: Commit, by: str, place: int) -> None:
    hand.commits[by] = place
    if by in hand.queue:
        hand.queue.remove(by)
    if by in hand.persons:
        hand.revealers |= {by}
    _after_commit(hand, place)


def _reveal(hand: Hand, body: Reveal, by: str, place: int) -> None:
    hand.reveals[by] = place
    _after_reveal(hand)


def _deal(hand: Hand, body: Deal, by: str, place: int) -> None:
    hand.deal = place
    hand.boxes[place] = frozenset(hand.persons)
    if not hand.game.plays:
        hand.phase = Phase.CLOSE
    elif hand.pass_offset:
        hand.phase = Phase.PASS
        hand.queue = [seat for seat in hand.seats if seat not in hand.persons]
        _after_pass(hand, place)
    else:
        _begin(hand, place)


def _pass(hand: Hand, body: Pass, by: str, place: int) -> None:
    hand.passes[by] = place
    if by in hand.queue:
        hand.queue.remove(by)
    _after_pass(hand, place)


def _exchange(hand: Hand, body: Exchange, by: str, place: int) -> None:
    hand.exchange = place
    hand.boxes[place] = frozenset(hand.persons)
    _begin(hand, place)


def _begin(hand: Hand, place: int) -> None:
    hand.phase = Phase.PLAY
    hand.play = hand.game.begin(hand.terms.hand)
    _after_play(hand, place)


def _play(hand: Hand, body: messages.Play, by: str, place: int) -> None:
    card = body.card
    hand.plays.append((place, by, card))
    hand.unplayed[card] -= 1
    play = hand.tricks
    play.play(SEAT_NUMBERS[by], card)
    turn = play.turn
    if turn is None:
        _after_play(hand, place)
    else:
        hand.wait_for("play", ALONE[turn], place)


def _choose(hand: Hand, body: Choose, by: str, place: int) -> None:
    hand.moon = body.moon
    hand.choice = place
    hand.phase = Phase.CLOSE


def _close(hand: Hand, body: Close, by: str, place: int) -> None:
    hand.end = place
    hand.phase = Phase.CLOSED
    hand.wait_for("ack", frozenset(hand.persons), place)


def _ack(hand: Hand, body: Ack, by: str, place: int) -> None:
    hand.acks[by] = place


def _replace(hand: Hand, body: Replace, by: str, place: int) -> None:
    seat = SEATS[body.seat]
    if seat in hand.persons:
        hand.persons.discard(seat)
        hand.replaced[seat] = place


def _dispute(hand: Hand, body: Dispute, by: str, place: int) -> None:
    hand.disputed = by
    hand.phase = Phase.DISPUTED


def _void(hand: Hand, body: Void, by: str, place: int) -> None:
    hand.end = place
    hand.before_void = hand.phase
    hand.phase = Phase.VOIDED


def _after_commit(hand: Hand, place: int) -> None:
    if hand.queue:
        return
    if len(hand.commits) == len(hand.shufflers):
        hand.phase = Phase.REVEAL
        hand.wait_for("reveal", hand.revealers, place)
        _after_reveal(hand)
    elif not hand.steps:
        hand.wait_for("commit", frozenset(hand.shufflers) - hand.commits.keys(), place)


def _after_reveal(hand: Hand) -> None:
    if len(hand.reveals) == len(hand.revealers):
        hand.phase = Phase.DEAL


def _after_pass(hand: Hand, place: int) -> None:
    if hand.queue:
        return
    if len(hand.passes) == len(hand.seats):
        hand.phase = Phase.EXCHANGE
    elif hand.deal is not None and hand.since < hand.deal:
        hand.wait_for("pass", frozenset(hand.seats) - hand.passes.keys(), place)


def _after_play(hand: Hand, place: int) -> None:
    """The next turn, or what follows the last card."""
    play = hand.tricks
    if not play.over:
        hand.wait_for(
            "play", frozenset(hand.seats) if play.turn is None else ALONE[play.turn], place
        )
        return
    shooter = hand.game.moon_shooter(play)
    hand.phase = Phase.CLOSE if shooter is None else Phase.CHOOSE
    if shooter is not None:
        hand.wait_for("choose", ALONE[shooter], place)


# -- what is publicly wrong with a body ----------------------------------------------------------

Found = Iterable[Deviation]
NO_PROBLEM: Final[tuple[Deviation, ...]] = ()


def _fault(code: str, expected: str, found: str) -> Deviation:
    return Deviation(code, Fault.AUTHOR, expected, found)


def _no_problem(hand: Hand, body: Any, by: str) -> Found:
    return NO_PROBLEM


def _open_problems(hand: Hand, body: Open, by: str) -> Found:
    """Terms that no honest server publishes: keys, numbers, rules, scores, policies."""
    persons = [one.key for one in body.seats if not isinstance(one, Bot)]
    for key in (body.server_key, *persons):
        if not is_public_key(bytes.fromhex(key)):
            yield _fault("open-key", "an Ed25519 key of the prime-order subgroup", key)
    if len({*persons, body.server_key}) != len(persons) + 1:
        yield _fault(
            "open-key", "a key for each person and another for the server", "one key twice"
        )
    if any(one.key != body.server_key for one in body.seats if isinstance(one, Bot)):
        yield _fault("open-key", "the server's key at a bot's seat", "another key")
    if not is_hand_key(bytes.fromhex(body.hand_key)):
        yield _fault("open-hand-key", "a canonical X25519 key of full order", body.hand_key)
    if body.previous is None and (body.hand, body.attempt) != (1, 1):
        yield _fault("open-previous", "the entry hash of the log before this one", "null")
    try:
        game = game_of(body.rules, deck_of(body.deck), len(body.seats))
    except ValueError as error:
        yield _fault("open-terms", "terms that make sense", str(error))
        return
    problem = game.opening_problem(body.hand, body.scores)
    if problem:
        yield _fault("open-scores", problem, " ".join(map(str, body.scores)))


def _commit_problems(hand: Hand, body: Commit, by: str) -> Found:
    key = body.hand_key
    if (key is UNSET) == (by in hand.persons):
        yield _fault("body-form", "a hand key if and only if by a person", "otherwise")
    elif key is not UNSET and not is_hand_key(bytes.fromhex(key)):
        yield _fault("commit-hand-key", "a canonical X25519 key of full order", key)


def _deal_problems(hand: Hand, body: Deal | Exchange, by: str) -> Found:
    """`deal` and `exchange`: a share for each seat, sealed for persons only."""
    shares = body.hands
    if len(shares) != len(hand.seats):
        yield _fault("body-form", f"{len(hand.seats)} hands", str(len(shares)))
        return
    for seat, share in zip(hand.seats, shares, strict=True):
        if (share.sealed is UNSET) == (seat in hand.persons):
            yield _fault(
                "body-form", "a box for a person and for nobody else", f"otherwise for {seat}"
            )


def _pass_problems(hand: Hand, body: Pass, by: str) -> Found:
    if (body.sealed is UNSET) == (by in hand.persons):
        yield _fault("body-form", "a box if and only if by a person", "otherwise")


def _play_problems(hand: Hand, body: messages.Play, by: str) -> Found:
    card = body.card
    opening = hand.tricks.opening_card
    if opening is None and hand.unplayed[card] > 0:
        return NO_PROBLEM
    copies = hand.copies[card]
    if not copies:
        return (_fault("play-unknown-card", "a card of the deck", ascii(card)),)
    if opening is not None:
        return () if card == opening else (_fault("play-first-lead", opening, card),)
    if sum((by, card) == one[1:] for one in hand.plays) >= copies:
        return (_fault("play-not-held", "a card it still holds", card),)
    return (Deviation("card-twice", Fault.NOBODY, f"{card} at most {copies} times", card),)


def _close_problems(hand: Hand, body: Close, by: str) -> Found:
    """Only that everything is there; what is in it is the verifier's."""
    seats = len(hand.seats)
    passing = seats if hand.exchange is not None else 0
    if body.seeds.keys() != set(hand.shufflers):
        yield _fault("close-form", "a seed for each of " + " ".join(hand.shufflers), "others")
    if (len(body.deals), len(body.passes), len(body.exchanges)) != (seats, passing, passing):
        yield _fault("close-form", f"{seats} deals, {passing} passes, {passing} exchanges",
                     f"{len(body.deals)}, {len(body.passes)}, {len(body.exchanges)}")  # fmt: skip


def _replace_problems(hand: Hand, body: Replace, by: str) -> Found:
    if body.seat >= len(hand.seats) or SEATS[body.seat] not in hand.persons:
        yield _fault("replace-nobody", "a seat with a person", f"seat/{body.seat}")


def _void_problems(hand: Hand, body: Void, by: str) -> Found:
    """Whether the reason can be, as far as everybody saw."""
    seat = None if body.seat is None else SEATS[body.seat]
    disputed = hand.phase is Phase.DISPUTED
    can_be = {
        "dispute": disputed and seat == hand.disputed,
        "no-reveal": seat in hand.revealers and seat not in hand.reveals,
        "bad-reveal": seat in hand.reveals,
        "bad-pass": seat in hand.passes,
        "left": seat is not None and body.seat in range(len(hand.seats)),
        "operator": seat is None,
    }
    if not can_be[body.reason] or disputed != (body.reason == "dispute"):
        yield _fault(
            "void-reason", "a reason that the log bears out", f"{body.reason} {seat or ''}".strip()
        )


# -- the table -----------------------------------------------------------------------------------


class Rule(NamedTuple):
    """When a message may come, from whom, what can be publicly wrong with it, what it does."""

    phases: tuple[Phase, ...]
    authors: Callable[[Hand], Collection[str]]
    problems: Callable[[Hand, Any, str], Iterable[Deviation]]
    effect: Callable[[Hand, Any, str, int], None]
    #: whether the hand waits for it; `replace`, `dispute` and `void` interrupt
    carries_on: bool = True


def _server(hand: Hand) -> Collection[str]:
    return (SERVER,)


def _persons(hand: Hand) -> Collection[str]:
    return hand.persons


def _committers(hand: Hand) -> Collection[str]:
    """Bots of `open` in order; who replaced a person at any time; persons once the bots have."""
    if hand.queue:
        return (hand.queue[0], *(by for by in hand.replaced if by not in hand.commits))
    return [by for by in hand.shufflers if by not in hand.commits]


def _revealers(hand: Hand) -> Collection[str]:
    return [by for by in hand.revealers if by in hand.persons and by not in hand.reveals]


def _passers(hand: Hand) -> Collection[str]:
    if hand.queue:
        return (
            hand.queue[0],
            *(by for by in hand.replaced if by not in hand.passes and by not in hand.queue),
        )
    return [by for by in hand.seats if by not in hand.passes]


def _players(hand: Hand) -> Collection[str]:
    turn = hand.tricks.turn
    return hand.seats if turn is None else ALONE[turn]


def _shooters(hand: Hand) -> Collection[str]:
    shooter = hand.game.moon_shooter(hand.tricks)
    return () if shooter is None else (SEATS[shooter],)


def _ackers(hand: Hand) -> Collection[str]:
    return hand.persons - hand.acks.keys()


_BOXES_OUT = (Phase.PASS, Phase.EXCHANGE, Phase.PLAY, Phase.CHOOSE, Phase.CLOSE)
_BEFORE_CLOSE = (Phase.COMMIT, Phase.REVEAL, Phase.DEAL, *_BOXES_OUT)


def _rule(phase: Phase, authors: Any, body: Any, effect: Any) -> Rule:
    return Rule((phase,), authors, body, effect)


TABLE: dict[str, Rule] = {
    "open": _rule(Phase.START, _server, _open_problems, _open),
    "commit": _rule(Phase.COMMIT, _committers, _commit_problems, _commit),
    "reveal": _rule(Phase.REVEAL, _revealers, _no_problem, _reveal),
    "deal": _rule(Phase.DEAL, _server, _deal_problems, _deal),
    "pass": _rule(Phase.PASS, _passers, _pass_problems, _pass),
    "exchange": _rule(Phase.EXCHANGE, _server, _deal_problems, _exchange),
    "play": _rule(Phase.PLAY, _players, _play_problems, _play),
    "choose": _rule(Phase.CHOOSE, _shooters, _no_problem, _choose),
    "close": _rule(Phase.CLOSE, _server, _close_problems, _close),
    "ack": _rule(Phase.CLOSED, _ackers, _no_problem, _ack),
    "replace": Rule(_BEFORE_CLOSE, _server, _replace_problems, _replace, carries_on=False),
    "dispute": Rule(_BOXES_OUT, _persons, _no_problem, _dispute, carries_on=False),
    "void": Rule(
        (*_BEFORE_CLOSE, Phase.DISPUTED), _server, _void_problems, _void, carries_on=False
    ),
}


def deck_of(deck: Deck) -> tuple[str, ...]:
    """The codes of a deck in canonical order. Raises ValueError, with the reason."""
    if deck.cards is not UNSET:
        if deck.packs is not UNSET or deck.removed is not UNSET:
            raise ValueError("a deck has either packs and removed, or cards")
        return listed_deck(deck.cards)
    if deck.packs is UNSET or deck.removed is UNSET:
        raise ValueError("a deck has either packs and removed, or cards")
    return french_deck(deck.packs, deck.removed)
