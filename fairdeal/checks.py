"""The checks of what a finished or voided hand opens (spec section 7.3, checks 8 to 18).

Each takes the `Case` and returns a `Looked`: how many things it looked at, or why it was not run.
What it finds it hands to `Case.blame`, which knows whose word an entry is. The order of entries was
judged before, by the table; what is dealt and passed is judged only by openings that verify.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from msgspec import UNSET

from fairdeal import sealing
from fairdeal.bots import BotSeat, Decision, policy_name, remaining
from fairdeal.cards import contains
from fairdeal.clock import used
from fairdeal.commitment import opens, seed_commitment
from fairdeal.findings import REMARKS, Finding, finding
from fairdeal.games.base import Play, Policy, View
from fairdeal.hand import Hand
from fairdeal.log import Log, Marks
from fairdeal.messages import (
    Body,
    Bot,
    Cards,
    Close,
    Commit,
    Dispute,
    Message,
    Open,
    Replace,
    Result,
    Reveal,
    Share,
    Void,
)
from fairdeal.opening import are_dealt, are_passed, cards_open, revealed_seed, sealed_cards
from fairdeal.parties import SEAT_NUMBERS, SEATS, SERVER
from fairdeal.shuffle import apply, hands_of, permutation
from fairdeal.table import Phase


class Looked(NamedTuple):
    """What a check did. `applies` is False where this hand has nothing for it to look at."""

    looked_at: int
    reason: str | None = None
    applies: bool = True


NOT_CLOSED = Looked(0, "the hand is not closed", applies=False)


class Case:
    """One transcript under examination: what is on it, whose word it is, what was found."""

    def __init__(
        self,
        log: Log,
        hand: Hand,
        marks: Marks,
        parties: Sequence[str],
        policies: Mapping[str, Policy],
    ) -> None:
        self.log = log
        self.hand = hand
        self.marks = marks
        self.policies = policies
        #: who answers for each entry: `server`, or a person's seat
        self.parties = parties
        #: entries that the table found fault with: their content is not judged again
        self.misplaced: set[int] = set()
        self.findings: list[Finding] = []
        self.remarks: list[Finding] = []
        #: what was opened and proved right, for the checks that build on it
        self.seeds: dict[str, bytes] = {}
        self.deck: Sequence[str] | None = None
        self.dealt: dict[str, tuple[str, ...]] = {}
        self.passed: dict[str, tuple[str, ...]] = {}
        self.received: dict[str, tuple[str, ...]] = {}

    def body(self, place: int) -> Body:
        """The body of an entry."""
        return self.log.entries[place].message.body

    def said(self, place: int) -> Message:
        """The message of an entry."""
        return self.log.entries[place].message

    @property
    def opened(self) -> Open:
        """What the hand was opened with, also if it cannot be played."""
        body = self.body(0)
        assert isinstance(body, Open)
        return body

    @property
    def close(self) -> Close | None:
        """The close that ended the log, if one did."""
        body = self.body(self.hand.end) if self.hand.end is not None else None
        return body if isinstance(body, Close) else None

    @property
    def void(self) -> Void | None:
        """The void that ended the log, if one did."""
        body = self.body(self.hand.end) if self.hand.end is not None else None
        return body if isinstance(body, Void) else None

    @property
    def end(self) -> int:
        """Where the log ended; only asked where it has."""
        return self.hand.end if self.hand.end is not None else -1

    def bound(self, place: int) -> bool:
        """Whether an entry is its author's word, and what it saw stands here with all before it."""
        seen = self.log.seen_by(place)
        if seen is None or not self.marks.authentic[place]:
            return False
        return seen < 0 or self.marks.roots[seen] == 0

    def whole(self, place: int) -> bool:
        """Whether an entry can be held against its author where it stands.

        A person is judged by what it saw, so it is enough that this is here. The server is judged
        by all that stands before, so it must have seen exactly that: else whoever holds the log
        could have put something in between.
        """
        by_server = self.parties[place] == SERVER
        return self.bound(place) and not (by_server and self.log.seen_by(place) != place - 1)

    def placed(self, place: int) -> bool:
        """Whether the server answers for an entry's place and time: it signed over them."""
        return self.marks.vouched[place] and self.marks.roots[place] == 0

    def blame(self, code: str, place: int, expected: str, found: str, *others: int) -> None:
        """A finding against the author of entry `place`, if that and `others` are whole."""
        places = (*others, place)
        party = self.parties[place]
        culprit = party if all(self.whole(one) for one in places) else None
        self.note(code, place, expected, found, *others, culprit=culprit)

    def note(
        self,
        code: str,
        place: int,
        expected: str,
        found: str,
        *others: int,
        culprit: str | None = None,
    ) -> None:
        """A finding or a remark; names nobody unless told whom."""
        one = finding(
            code,
            by=self.said(place).by,
            entries=tuple(sorted({*others, place})),
            expected=expected,
            found=found,
            culprit=culprit,
            attribution="server's word" if code == "silence" else None,
        )
        (self.remarks if code in REMARKS else self.findings).append(one)


# -- 8 seeds -------------------------------------------------------------------------------------


def check_seeds(case: Case) -> Looked:
    """Each seed in the close opens its shuffler's commitment (steps 8.1, 8.2)."""
    _remark_copies(case)
    close = case.close
    if close is None:
        return NOT_CLOSED
    for shuffler in case.hand.shufflers:
        if shuffler not in close.seeds:
            continue  # check 6 says so
        seed, place = bytes.fromhex(close.seeds[shuffler]), case.hand.commits[shuffler]
        if opens(_commitment(case, shuffler), seed_commitment(case.hand.hand_id, shuffler, seed)):
            case.seeds[shuffler] = seed
        else:
            text = f"the seed committed to in entry {place}"
            found = f"{_whose_seed(case, seed)} for {shuffler}"
            case.blame("seed-mismatch", case.end, text, found, place)
    _shuffle(case)
    return Looked(len(case.hand.shufflers))


def _whose_seed(case: Case, seed: bytes) -> str:
    """What a seed is that does not open the commitment it should: a near miss is named."""
    for other in case.hand.commits:
        if opens(_commitment(case, other), seed_commitment(case.hand.hand_id, other, seed)):
            return f"that of {other}"
    return "another"


def _commitment(case: Case, shuffler: str) -> bytes:
    body = case.body(case.hand.commits[shuffler])
    return bytes.fromhex(body.commitment) if isinstance(body, Commit) else b""


def _remark_copies(case: Case) -> None:
    seen: dict[bytes, int] = {}
    for shuffler, place in case.hand.commits.items():
        first = seen.setdefault(_commitment(case, shuffler), place)
        if first != place:
            case.note(
                "commitment-copied",
                place,
                "a commitment of its own",
                f"that of entry {first}",
                first,
            )


def _shuffle(case: Case) -> None:
    """The deck that the seeds give, if all are known."""
    hand = case.hand
    if case.seeds.keys() != set(hand.shufflers):
        return
    deck: Sequence[str] = hand.game.deck
    for shuffler in hand.shufflers:
        perm = permutation(case.seeds[shuffler], hand.hand_id, shuffler, len(deck))
        deck = apply(perm, deck)
    case.deck = deck


# -- 9 to 11 deal, pass, exchange ----------------------------------------------------------------


def check_deal(case: Case) -> Looked:
    """Each opened hand opens its commitment, and is what the shuffles give (9.1, 9.2)."""
    close, place = case.close, case.hand.deal
    if close is None or place is None:
        return NOT_CLOSED
    shares = _shares(case, place)
    if len(shares) != len(close.deals):
        return Looked(0, "the close does not open every hand")
    opened = _open_all(case, "deal", shares, close.deals, place)
    game = case.hand.game
    case.dealt = {
        by: cards for by, cards in opened.items() if are_dealt(cards, game.deck, game.seats)
    }
    if case.deck is None:
        return Looked(len(opened), "a seed is missing, so the deck is not known")
    hands, _ = hands_of(case.deck, len(shares))
    for by, cards in opened.items():
        expected = hands[SEATS.index(by)]
        if cards != expected:
            case.blame(
                "deal-cards", case.end, " ".join(expected), f"{' '.join(cards)} for {by}", place
            )
    return Looked(len(shares))


def check_pass(case: Case) -> Looked:
    """Each opened pass opens its commitment, of cards that the seat was dealt (10.1, 10.2)."""
    close, hand = case.close, case.hand
    if close is None:
        return NOT_CLOSED
    if hand.exchange is None:
        return Looked(0, "nothing was passed", applies=False)
    if len(close.passes) != len(hand.seats):
        return Looked(0, "the close does not open every pass")
    for by, cards in zip(hand.seats, close.passes, strict=True):
        _check_one_pass(case, by, cards, hand.passes[by])
    return Looked(len(close.passes))


def _check_one_pass(case: Case, by: str, cards: Cards, place: int) -> None:
    hand, game = case.hand, case.hand.game
    commitment = getattr(case.body(place), "commitment", "")
    if not cards_open(cards, commitment, game.deck, kind="pass", hand_id=hand.hand_id, seat=by):
        text = f"the cards committed to in entry {place}"
        case.blame("pass-opening", case.end, text, f"others for {by}", place)
        return
    right = are_passed(cards.cards, game.deck, game.pass_count)
    held = by not in case.dealt or contains(case.dealt[by], cards.cards)
    if right and held:
        case.passed[by] = cards.cards
        return
    expected = f"{game.pass_count} cards that it was dealt, in canonical order"
    case.blame("pass-cards", place, expected, " ".join(map(ascii, cards.cards)))


def check_exchange(case: Case) -> Looked:
    """Each seat received what was passed to it, and that opens its commitment (11.1, 11.2)."""
    close, hand, place = case.close, case.hand, case.hand.exchange
    if close is None:
        return NOT_CLOSED
    if place is None:
        return Looked(0, "nothing was passed", applies=False)
    shares = _shares(case, place)
    if len(shares) != len(close.exchanges):
        return Looked(0, "the close does not open every exchange")
    opened = _open_all(case, "exchange", shares, close.exchanges, place)
    seats = len(hand.seats)
    for by, cards in opened.items():
        giver = SEATS[(SEATS.index(by) - hand.pass_offset) % seats]
        expected = case.passed.get(giver)
        if expected is None or cards == expected:
            case.received[by] = cards
        else:
            text = f"{' '.join(expected)} of {giver}"
            case.blame("exchange-cards", case.end, text, f"{' '.join(cards)} for {by}", place)
    return Looked(len(shares))


def _shares(case: Case, place: int) -> tuple[Share, ...]:
    shares: tuple[Share, ...] = getattr(case.body(place), "hands", ())
    return shares


def _open_all(
    case: Case, kind: str, shares: Sequence[Share], openings: Sequence[Cards], place: int
) -> dict[str, tuple[str, ...]]:
    """The cards of the openings that verify; the others are found wanting."""
    opened: dict[str, tuple[str, ...]] = {}
    deck, hand_id = case.hand.game.deck, case.hand.hand_id
    for by, share, cards in zip(SEATS, shares, openings, strict=False):
        if cards_open(cards, share.commitment, deck, kind=kind, hand_id=hand_id, seat=by):
            opened[by] = cards.cards
        else:
            text = f"what was committed to in entry {place}"
            case.blame(f"{kind}-opening", case.end, text, f"other cards for {by}", place)
    return opened


# -- 12 plays ------------------------------------------------------------------------------------


def check_plays(case: Case) -> Looked:
    """Each play is of a card its seat held, and legal there (12.1, 12.2)."""
    hand = case.hand
    if not hand.game.plays:
        return Looked(0, "this game is only dealt", applies=False)
    if case.close is None:
        return NOT_CLOSED
    hands = _hands_after_exchange(case)
    if not hands:
        return Looked(0, "no hand was opened")
    play = hand.game.begin(hand.terms.hand)
    count = 0
    for place, by, card in hand.plays:
        cards = hands.get(by)
        if cards is not None:
            count += 1
            _check_one_play(case, play, cards, place, card)
        play.play(SEAT_NUMBERS[by], card)
    return Looked(count, None if len(hands) == len(hand.seats) else "not every hand was opened")


def _hands_after_exchange(case: Case) -> dict[str, list[str]]:
    """The hands that verified openings give; a seat without all of its own is left out."""
    if case.hand.exchange is None:
        return {by: list(cards) for by, cards in case.dealt.items()}
    known = case.dealt.keys() & case.passed.keys() & case.received.keys()
    return {by: remaining(case.dealt[by], case.passed[by], case.received[by]) for by in known}


def _check_one_play(case: Case, play: Play, cards: list[str], place: int, card: str) -> None:
    judged = place not in case.misplaced
    if card in cards:
        breach = play.breach(cards, card) if judged else None
        cards.remove(card)
        if breach is not None:
            case.blame(breach.code, place, breach.expected, card)
    elif judged:
        case.blame("play-not-held", place, "a card of its hand", ascii(card))


# -- 13 bots -------------------------------------------------------------------------------------


def check_bots(case: Case) -> Looked:
    """Each bot did what its policy does at its seat (13.1)."""
    hand = case.hand
    if not hand.game.plays:
        return Looked(0, "this game is only dealt", applies=False)
    if case.close is None:
        return NOT_CLOSED
    bots = [by for by in hand.seats if by not in hand.persons]
    if not bots:
        return Looked(0, "no bot played", applies=False)
    if case.misplaced or len(_hands_after_exchange(case)) < len(hand.seats):
        return Looked(0, "the course of the hand is not certain")
    counts = [_replayed(case, by) for by in bots]
    reason = "a policy is not known here" if None in counts else None
    count = sum(filter(None, counts))
    return Looked(count, reason, applies=count > 0)


def _replayed(case: Case, by: str) -> int | None:
    """How many of a bot's decisions were looked at; None, with a remark, if it cannot be done."""
    hand, name = case.hand, policy_name(case.hand, SEATS.index(by))
    policy = case.policies.get(name)
    count = None if policy is None else _replay(case, by, policy)
    if count is None:
        since = hand.replaced.get(by, 0)
        case.note("policy-unknown", since, "a policy known here", f"{name} at {by}")
    return count


def _replay(case: Case, by: str, policy: Policy) -> int | None:
    """Every decision of a bot's seat; tells the first that its policy does not make.

    None if the policy fails here.
    """
    if by not in case.seeds:
        return 0
    hand, since = case.hand, case.hand.replaced.get(by, 0)
    bot = BotSeat(policy, case.seeds[by], hand.hand_id, SEATS.index(by))
    made = [one for one in _decisions(case, by) if one[0] > since]
    for count, (place, kind, view, done) in enumerate(made, 1):
        decided = _decided(bot, kind, view)
        if decided is None:
            return None
        if decided != done:
            expected = " ".join(decided) or "none: another holds the opening card"
            case.blame("policy-departed", place, expected, " ".join(done), case.end)
            return count
    return len(made)


def _decided(bot: BotSeat, kind: Decision, view: View) -> tuple[str, ...] | None:
    """What a policy decides: nothing where no play is legal; None if it breaks down or the rules.

    The code may be somebody else's. What is wrong with it must not be laid at the server's door.
    """
    if kind == "play" and not view.play.legal(view.cards):
        return ()
    try:
        decided = bot.decide(kind, view)
        return decided if _lawful(kind, view, decided) else None
    except Exception:  # noqa: BLE001 - whatever it is, this policy does not work here
        return None


def _lawful(kind: Decision, view: View, decided: tuple[str, ...]) -> bool:
    if kind == "pass":
        return len(decided) == view.game.pass_count and contains(view.cards, decided)
    return decided[0] in (view.play.legal(view.cards) if kind == "play" else ("add", "subtract"))


def _decisions(case: Case, by: str) -> list[tuple[int, Decision, View, tuple[str, ...]]]:
    """Each decision at a seat: (entry, kind, what the seat could see, what it did)."""
    hand, seat, number = case.hand, SEATS.index(by), case.hand.terms.hand
    dealt, play = case.dealt[by], case.hand.game.begin(case.hand.terms.hand)
    passed, received = case.passed.get(by, ()), case.received.get(by, ())
    found: list[tuple[int, Decision, View, tuple[str, ...]]] = []
    if by in hand.passes:
        view = View(hand.game, seat, number, dealt, (), (), play.copy())
        found.append((hand.passes[by], "pass", view, passed))
    cards = remaining(dealt, passed, received)
    for place, player, card in hand.plays:
        if player == by:
            view = View(hand.game, seat, number, tuple(cards), passed, received, play.copy())
            found.append((place, "play", view, (card,)))
            if card in cards:
                cards.remove(card)
        play.play(SEATS.index(player), card)
    if hand.choice is not None and hand.moon and case.said(hand.choice).by == by:
        view = View(hand.game, seat, number, (), passed, received, play)
        found.append((hand.choice, "choose", view, (hand.moon,)))
    return found


# -- 14 clock ------------------------------------------------------------------------------------


def check_clock(case: Case) -> Looked:
    """Nobody was expelled, or called unresponsive, with reserve left (14.1)."""
    clock = case.hand.terms.clock
    if clock is None:
        return Looked(0, "the table has no clock", applies=False)
    if not case.hand.replaced:
        return Looked(0, "nobody was replaced", applies=False)
    count = 0
    for by, place in case.hand.replaced.items():
        body = case.body(place)
        left = not isinstance(body, Replace) or body.reason == "left"
        if left or case.hand.deal is None or place < case.hand.deal:
            continue  # before the deal there is nothing to decide
        count += 1
        spent = used(case.log, case.hand, by, place).reserve_ms
        if spent < clock.reserve_ms:
            vouched = case.placed(place) and case.whole(place)
            case.note(
                "expelled-early",
                place,
                f"{clock.reserve_ms} ms of reserve used",
                f"{spent} ms by {by}",
                culprit=SERVER if vouched else None,
            )
    return Looked(count, None if count else "nobody ran out of time", applies=count > 0)


# -- 15, 16 score and result ---------------------------------------------------------------------


def check_score(case: Case) -> Looked:
    """The points are what the tricks give, the scores follow from them (15.1, 15.2)."""
    close, hand = case.close, case.hand
    if close is None:
        return NOT_CLOSED
    left_over = len(hand.game.deck) % len(hand.seats)
    if left_over and case.deck is None:
        return Looked(0, "the kitty is not known")
    kitty = hands_of(case.deck, len(hand.seats))[1] if case.deck else ()
    points = hand.game.points(hand.play, kitty, hand.moon) if hand.play else ()
    if close.points != points:
        case.blame("points-wrong", case.end, _numbers(points), _numbers(close.points))
    if not len(close.points) == len(points) == len(hand.terms.scores):
        return Looked(1)
    scores = hand.game.totals(hand.terms.scores, close.points)
    if close.scores != scores:
        case.blame("scores-wrong", case.end, _numbers(scores), _numbers(close.scores))
    return Looked(1 + len(points) + len(scores))


def check_result(case: Case) -> Looked:
    """The game ends where it must, and as the scores say (16.1)."""
    close, hand = case.close, case.hand
    if close is None:
        return NOT_CLOSED
    by_seat = len(hand.seats) if hand.game.plays else 0
    if len(close.scores) != by_seat or len(close.points) != by_seat:
        return Looked(0, "the scores are not by seat")
    left = _left(case, close.result)
    outcome = hand.game.outcome(close.scores, close.points, left)
    expected = outcome and Result(left=outcome.left, places=outcome.places, winners=outcome.winners)
    if close.result != expected:
        case.blame("result-wrong", case.end, _result(expected), _result(close.result))
    return Looked(1)


def _left(case: Case, result: Result | None) -> set[int]:
    """Who left: those replaced here, and of the bots those that the close says sat for a person.

    Whether they did is a question to the game's other hands.
    """
    bots = {seat for seat, one in enumerate(case.hand.terms.seats) if isinstance(one, Bot)}
    stated = set(result.left) if result else set()
    return {SEATS.index(by) for by in case.hand.replaced} | (stated & bots)


def _result(result: Result | None) -> str:
    if result is None:
        return "no result yet"
    parts = (f"{name} {_numbers(getattr(result, name))}" for name in ("winners", "places", "left"))
    return ", ".join(parts)


def _numbers(values: Sequence[int]) -> str:
    return " ".join(map(str, values)) or "none"


# -- 17 void -------------------------------------------------------------------------------------


def check_void(case: Case) -> Looked:
    """The disclosed key and seeds are right, and so is the reason (17.1 to 17.5)."""
    body, hand = case.void, case.hand
    if body is None:
        return Looked(0, "the attempt was not voided", applies=False)
    key = bytes.fromhex(body.hand_key)
    if sealing.public_hand_key(key).hex() != hand.terms.hand_key:
        case.blame("void-key", case.end, "the private key of open's hand key", "another", 0)
        return Looked(1, "without the hand key no box can be opened")
    good = {by: _opened_reveal(case, key, by) for by in hand.reveals}
    _check_bad_reveals(case, good)
    known = {by: seed for by, seed in good.items() if seed is not None}
    _check_void_seeds(case, body, known)
    bad_passes = _check_bad_passes(case, key)
    _check_reason(case, body, good, bad_passes)
    unclear = body.reason == "bad-pass" and bad_passes.get(SEATS[body.seat or 0], False) is None
    if unclear:
        case.note(
            "bad-pass",
            case.end,
            "a pass that is not in order",
            "one of cards not dealt by the seeds",
        )
    _check_late_void(case, unclear=unclear)
    if body.reason in ("no-reveal", "left"):
        case.note("silence", case.end, f"an answer of seat/{body.seat}", body.reason)
    return Looked(1 + len(good) + len(hand.passes))


def _opened_reveal(case: Case, key: bytes, by: str) -> bytes | None:
    body, commitment = case.body(case.hand.reveals[by]), _commitment(case, by)
    assert isinstance(body, Reveal)
    hand_id = case.hand.hand_id
    return revealed_seed(body.sealed, commitment.hex(), hand_key=key, hand_id=hand_id, seat=by)


def _check_bad_reveals(case: Case, good: Mapping[str, bytes | None]) -> None:
    for by, seed in good.items():
        if seed is None:
            places = case.hand.commits[by], case.end
            case.blame(
                "bad-reveal", case.hand.reveals[by], "the committed seed", "something else", *places
            )


def _check_void_seeds(case: Case, body: Void, revealed: Mapping[str, bytes]) -> None:
    """The server's own seeds and all that were revealed to it, each opening its commitment."""
    hand = case.hand
    must = {by for by in hand.commits if by not in hand.revealers} | revealed.keys()
    for by in sorted(must | body.seeds.keys()):
        stated = body.seeds.get(by)
        computed = stated and seed_commitment(hand.hand_id, by, bytes.fromhex(stated))
        if computed and by in hand.commits and opens(_commitment(case, by), computed):
            case.seeds[by] = bytes.fromhex(stated or "")
        else:
            found = "none" if stated is None else "another"
            case.blame("void-seeds", case.end, f"the committed seed of {by}", found)
    _shuffle(case)


def _check_bad_passes(case: Case, key: bytes) -> dict[str, bool | None]:
    """For each person's pass: whether its box is in order; None where that cannot be shown.

    Whether the cards were dealt to it is not known from a void: the deal was not opened.
    """
    hand, game = case.hand, case.hand.game
    found: dict[str, bool | None] = {}
    for by, place in hand.passes.items():
        body = case.body(place)
        sealed = getattr(body, "sealed", UNSET)
        if sealed is UNSET:
            continue
        cards = sealed_cards(
            sealed, kind="pass", hand_key=key, hand_id=hand.hand_id, recipient=SERVER, sender=by
        )
        commitment = getattr(body, "commitment", "")
        right = (
            cards is not None
            and are_passed(cards.cards, game.deck, game.pass_count)
            and cards_open(cards, commitment, game.deck, kind="pass", hand_id=hand.hand_id, seat=by)
        )
        if not right:
            text = "cards that open its commitment"
            case.blame("bad-pass", place, text, "something else", case.end)
        held = (
            cards is not None
            and case.deck is not None
            and contains(hands_of(case.deck, len(hand.seats))[0][SEATS.index(by)], cards.cards)
        )
        found[by] = False if not right else True if held else None
    return found


def _check_reason(
    case: Case, body: Void, reveals: Mapping[str, bytes | None], passes: Mapping[str, bool | None]
) -> None:
    """A message that is called bad must be: its box is there for all to open (17.4)."""
    by = "" if body.seat is None else SEATS[body.seat]
    unfounded = (body.reason == "bad-reveal" and reveals.get(by) is not None) or (
        body.reason == "bad-pass" and passes.get(by) is True
    )
    if unfounded:
        place = case.hand.reveals[by] if body.reason == "bad-reveal" else case.hand.passes[by]
        case.blame(
            "void-unfounded",
            case.end,
            f"a message of {by} that is not in order",
            "one that is",
            place,
        )


def _check_late_void(case: Case, *, unclear: bool) -> None:
    """Whoever knows the deck must not give it up, unless a deviation made it (17.5)."""
    hand = case.hand
    if hand.before_void in (Phase.COMMIT, Phase.REVEAL):
        return
    proven = any(one.attribution == "proven" for one in case.findings)
    if proven or hand.before_void is Phase.DISPUTED or unclear:
        return
    say = case.note if case.findings else case.blame  # what else is wrong may have been its reason
    expected, found = "a void before the last reveal", "one after it"
    say("void-after-reveals", case.end, expected, found, *hand.reveals.values())


# -- 18 dispute ----------------------------------------------------------------------------------


def check_dispute(case: Case) -> Looked:
    """A disputed box is opened with the disclosed key: one of the two is at fault (18.1, 18.2)."""
    disputes = [
        (place, entry.message)
        for place, entry in enumerate(case.log.entries)
        if entry.message.type == "dispute"
    ]
    if not disputes:
        return Looked(0, "nobody disputed", applies=False)
    for place, said in disputes:
        box = case.log.seen_by(place)
        if box is not None and said.by in case.hand.boxes.get(box, ()):
            _judge_dispute(case, place, said.by, box, said.body)
    return Looked(len(disputes))


def _judge_dispute(case: Case, place: int, by: str, box: int, body: Body) -> None:
    key = bytes.fromhex(body.hand_key) if isinstance(body, Dispute) else b""
    committed = case.hand.commits[by]
    commit = case.body(committed)
    public = commit.hand_key if isinstance(commit, Commit) else UNSET
    if sealing.public_hand_key(key).hex() != public:
        case.blame(
            "dispute-key", place, f"the private key of entry {committed}", "another", committed
        )
    elif _box_in_order(case, key, by, box):
        case.blame(
            "dispute-unfounded", place, "a box that cannot be used", "one in order", box, committed
        )
    else:
        found = f"something else, sealed to {by}"
        case.blame("dispute-founded", box, "what was committed to", found, place, committed)


def _box_in_order(case: Case, key: bytes, by: str, box: int) -> bool:
    cards = _opened_share(case, key, by, box)
    if cards is None:
        return False
    game, kind = case.hand.game, case.said(box).type
    if kind == "deal":
        return are_dealt(cards, game.deck, game.seats)
    deal = case.hand.deal
    dealt = _opened_share(case, key, by, deal) if deal is not None else None
    return are_passed(cards, game.deck, game.pass_count) and contains(
        game.deck, (*(dealt or ()), *cards)
    )


def _opened_share(case: Case, key: bytes, by: str, box: int) -> tuple[str, ...] | None:
    """The cards in a seat's box, or None unless they open their commitment."""
    shares, kind, hand_id = _shares(case, box), case.said(box).type, case.hand.hand_id
    seat = SEATS.index(by)
    if seat >= len(shares) or shares[seat].sealed is UNSET:
        return None
    cards = sealed_cards(
        str(shares[seat].sealed),
        kind=kind,
        hand_key=key,
        hand_id=hand_id,
        recipient=by,
        sender=SERVER,
    )
    deck, commitment = case.hand.game.deck, shares[seat].commitment
    if cards is None or not cards_open(
        cards, commitment, deck, kind=kind, hand_id=hand_id, seat=by
    ):
        return None
    return cards.cards


#: the checks that the driver runs after the table, in order
OPENED: dict[int, Callable[[Case], Looked]] = {
    8: check_seeds,
    9: check_deal,
    10: check_pass,
    11: check_exchange,
    12: check_plays,
    13: check_bots,
    14: check_clock,
    15: check_score,
    16: check_result,
    17: check_void,
    18: check_dispute,
}
