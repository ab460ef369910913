"""Hearts by its rule pages: cases worked out by hand, and an oracle that knows no classes.

The oracle answers from the list of plays alone, counting everything again each time.
"""

from collections import Counter

import msgspec
import pytest
from helpers_primitives import FULL_PACK, HEARTS
from hypothesis import given, settings
from hypothesis import strategies as st

from fairdeal.games.base import Breach, Outcome
from fairdeal.games.deal import DealGame, DealRules
from fairdeal.games.hearts import HeartsGame, HeartsRules

MAX = 2**53 - 1
OMNIBUS = {"QS": 13, "JD": -10}


def rules(**changes):
    return msgspec.convert(HEARTS | changes, HeartsRules)


def game(deck=None, seats=4, **changes):
    cards = tuple(FULL_PACK) if deck is None else tuple(deck.split())
    return HeartsGame(rules(**changes), cards, seats)


def small(deck, seats, **changes):
    """A game of few cards in which the left of the dealer leads and anything goes at first."""
    free = {"first_lead": "left-of-dealer", "first_trick_points": "allowed", "pass_cycle": [0]}
    points = {"QS": 13} if "QS" in deck else {}
    return game(deck, seats, **(free | {"moon": "none", "card_points": points} | changes))


def played(one, plays, hand=1):
    """The course after plays like ``0:2C 1:5C``."""
    course = one.begin(hand)
    for play in plays.split():
        seat, card = play.split(":")
        course.play(int(seat), card)
    return course


def legal(course, cards):
    return " ".join(course.legal(cards.split()))


def snapshot(course):
    return (
        course.turn,
        course.over,
        course.opening_card,
        tuple(course.tricks),
        tuple(course.trick),
        tuple((seat, tuple(cards)) for seat, cards in course.taken),
        course.broken,
    )


# -- the first lead ---------------------------------------------------------------------------------


def test_the_lowest_club_opens_whoever_holds_it():
    course = game().begin(1)
    assert (course.turn, course.opening_card, course.over) == (None, "2C", False)
    assert legal(course, "AC 2C QS") == "2C"
    assert legal(course, "AC 3C QS") == ""
    course.play(2, "2C")
    assert (course.turn, course.opening_card) == (3, None)


def test_the_lowest_club_of_the_deck_at_five():
    five = game(
        " ".join(c for c in FULL_PACK if c not in ("2D", "2C")), 5, pass_cycle=[1, 4, 2, 3, 0]
    )
    assert five.begin(1).opening_card == "3C"


def test_the_opening_card_leads_even_if_it_scores():
    scoring = game(card_points={"QS": 13, "2C": 1})
    assert legal(scoring.begin(1), "2C 3C") == "2C"


@pytest.mark.parametrize(("hand", "leader"), [(1, 1), (2, 2), (3, 3), (4, 0), (5, 1), (1001, 1)])
def test_left_of_the_dealer_leads_anything(hand, leader):
    """The dealer of hand h is seat (h-1) mod n."""
    course = game(first_lead="left-of-dealer").begin(hand)
    assert (course.turn, course.opening_card) == (leader, None)
    assert legal(course, "3C KD AS") == "3C KD AS"


# -- following and the first trick --------------------------------------------------------------------


def test_suit_is_followed():
    course = played(game(), "0:2C 1:3C 2:4C 3:AC 3:5D")
    assert legal(course, "AS 2D KH TD") == "2D TD"
    assert legal(course, "AS KH QS 9C") == "AS KH QS 9C"


def test_no_points_in_the_first_trick():
    course = played(game(), "0:2C")
    assert legal(course, "3C AS 2H") == "3C"
    assert legal(course, "AS 2H QS 3D") == "AS 3D"
    assert legal(course, "2H QS AH") == "2H QS AH"  # nothing else
    assert legal(course, "2H AH") == "2H AH"
    assert legal(course, "QS") == "QS"


def test_points_in_the_first_trick_where_they_are_allowed():
    course = played(game(first_trick_points="allowed"), "0:2C")
    assert legal(course, "AS 2H QS 3D") == "AS 2H QS 3D"
    assert legal(course, "3C 2H") == "3C"


def test_the_ban_is_over_after_the_first_trick():
    course = played(game(), "0:2C 1:3C 2:4C 3:AC 3:KC")
    assert legal(course, "AS 2H QS 3D") == "AS 2H QS 3D"


def test_the_ban_is_on_what_scores_against_its_taker():
    course = played(game(card_points={"QS": 13, "KS": 10, "JD": -10, "AS": 0}), "0:2C")
    assert legal(course, "KS QS JD AS 4H") == "JD AS"
    course = played(game(card_points={}), "0:2C")
    assert legal(course, "QS 4H") == "QS"


def test_a_card_that_must_follow_is_played_though_it_scores():
    course = played(game(first_lead="left-of-dealer"), "1:3S")
    assert legal(course, "QS 4D 5H") == "QS"
    assert legal(course, "QS 4S 5H") == "4S"
    course = played(
        game(first_lead="left-of-dealer", card_points={"QS": 13, "KC": 1, "AC": 2}), "1:3C"
    )
    assert legal(course, "KC AC 4D") == "KC AC"


def test_the_ban_comes_before_the_freedom_to_lead():
    course = game(first_lead="left-of-dealer").begin(1)
    assert legal(course, "QS 4H 2D") == "2D"
    assert legal(course, "QS 4H") == "QS"  # exempt, but hearts are not broken
    assert legal(course, "3H 4H") == "3H 4H"
    course = game(first_lead="left-of-dealer", first_trick_points="allowed").begin(1)
    assert legal(course, "QS 4H 2D") == "QS 2D"


# -- breaking hearts ----------------------------------------------------------------------------------

FIRST = "0:2C 1:3C 2:4C 3:AC "


def test_hearts_are_not_led_until_broken():
    course = played(game(), FIRST)
    assert not course.broken
    assert legal(course, "2H 3S AH QS") == "3S QS"
    assert legal(course, "2H AH") == "2H AH"
    assert legal(course, "AH QS") == "QS"


def test_a_heart_thrown_on_another_suit_breaks_them_when_the_trick_is_over():
    for mode in ("heart", "discard"):
        course = played(game(hearts_broken_by=mode), FIRST + "3:KC 0:2H 1:5C")
        assert not course.broken  # the rule speaks of an earlier trick
        course.play(2, "6C")
        assert course.broken
        assert legal(course, "2H 3S AH") == "2H 3S AH"


def test_hearts_on_a_heart_that_was_led_break_them_in_one_rule_only():
    for mode, broken in (("heart", True), ("discard", False)):
        course = played(game(hearts_broken_by=mode), FIRST + "3:KH 0:2H 1:5H 2:6D")
        assert course.broken is broken
        assert legal(course, "7H 3S") == ("7H 3S" if broken else "3S")


@pytest.mark.parametrize(("house_rule", "broken"), [(False, False), (True, True)])
def test_the_queen_of_spades_breaks_them_by_house_rule(house_rule, broken):
    one = game(queen_breaks_hearts=house_rule, hearts_broken_by="discard")
    for plays in ("3:KC 0:QS 1:5C 2:6C", "3:2S 0:QS 1:5S 2:6S", "3:QS 0:3S 1:5S 2:6S"):
        assert played(one, FIRST + plays).broken is broken


def test_other_points_break_nothing():
    one = game(card_points={"QS": 13, "KS": 10}, queen_breaks_hearts=True)
    assert not played(one, FIRST + "3:KC 0:KS 1:5C 2:6C").broken


def test_broken_stays_broken():
    course = played(game(), FIRST + "3:KC 0:2H 1:5C 2:6C 3:7C 0:8C 1:9C 2:TC")
    assert course.broken


def test_lead_from_points():
    for may, wanted in ((False, "QS"), (True, "QS 3H AH")):
        course = played(game(lead_from_points=may), FIRST)
        assert legal(course, "QS 3H AH") == wanted
        assert legal(course, "QS 3H AH 2D") == "QS 2D"  # not points alone
        assert legal(course, "KS 3H") == "KS"
        assert legal(course, "QS") == "QS"


def test_lead_from_points_with_both_queens_of_two_packs():
    twin = "2C 3C 4C 5C QS 3H 4H 5H"
    one = small(f"{twin} {twin}", 4, cancellation=True, lead_from_points=True)
    course = played(one, "1:2C 2:2C 3:3C 0:4C")
    assert legal(course, "QS QS 3H") == "QS QS 3H"
    assert legal(course, "QS 5C 3H") == "QS 5C"


# -- what a play breaks -------------------------------------------------------------------------------


def breach(course, cards, card):
    found = course.breach(cards.split(), card)
    return None if found is None else found.code


def test_a_legal_play_breaks_nothing():
    assert game().begin(1).breach(["2C", "3C"], "2C") is None
    assert breach(played(game(), "0:2C"), "AS 2H", "AS") is None


def test_the_rule_a_play_breaks_is_named():
    start = game().begin(1)
    assert start.breach(["2C", "3C"], "3C") == Breach("play-first-lead", "2C")
    assert start.breach(["3C"], "3C") == Breach("play-first-lead", "2C")
    second = played(game(), FIRST + "3:5D")
    assert second.breach(["2D", "KD", "2H"], "2H") == Breach("play-revoke", "one of 2D KD")
    first = played(game(), "0:2C")
    assert first.breach(["2H", "KD"], "2H") == Breach("play-first-trick-points", "one of KD")
    assert breach(first, "QS KD", "QS") == "play-first-trick-points"
    assert breach(first, "QS KC", "QS") == "play-revoke"
    lead = played(game(), FIRST)
    assert lead.breach(["2H", "KD"], "2H") == Breach("play-hearts-unbroken", "one of KD")
    assert breach(lead, "2H QS", "2H") == "play-hearts-unbroken"


def test_following_with_points_where_something_else_would_follow():
    course = played(game(first_lead="left-of-dealer"), "1:3S")
    assert breach(course, "QS 4S 5H", "QS") == "play-first-trick-points"
    assert breach(course, "QS 4S 5H", "5H") == "play-revoke"


def test_an_unbroken_heart_led_where_points_are_allowed_at_first():
    """Fault 4: it was called points in the first trick, which this table allows."""
    course = game(first_lead="left-of-dealer", first_trick_points="allowed").begin(1)
    assert breach(course, "2H KD", "2H") == "play-hearts-unbroken"


def test_an_unbroken_heart_led_by_who_is_exempt_from_the_ban():
    """Fault 4: the ban does not hold for a hand of points only; leading the heart is the fault."""
    course = game(first_lead="left-of-dealer").begin(1)
    assert legal(course, "2H QS") == "QS"
    assert breach(course, "2H QS", "2H") == "play-hearts-unbroken"


# -- tricks -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("plays", "winner"),
    [
        ("0:2C 1:3C 2:4C 3:AC", 3),
        ("0:AC 1:3C 2:4C 3:2C", 0),
        ("0:2C 1:AD 2:AS 3:AH", 0),
        ("0:9C 1:TC 2:JC 3:8C", 2),
        ("0:TC 1:9C 2:KD 3:2C", 0),
        ("3:TC 0:JC 1:QC 2:KC", 2),
    ],
)
def test_the_highest_of_the_suit_led_wins_and_leads(plays, winner):
    course = played(game(first_lead="left-of-dealer"), plays)
    assert course.taken == [(winner, [play[2:] for play in plays.split()])]
    assert course.turn == course.leader == winner
    assert course.tricks == [tuple((int(p[0]), p[2:]) for p in plays.split())]
    assert course.trick == []


def test_every_rank_beats_those_before_it():
    for low, high in zip("23456789TJQK", "3456789TJQKA", strict=True):
        course = played(game(first_lead="left-of-dealer"), f"1:{low}D 2:{high}D 3:2C 0:3C")
        assert course.turn == 2


def test_the_turn_goes_to_the_left():
    course = game(first_lead="left-of-dealer").begin(3)
    turns = [course.turn]
    for card in ("2D", "3D", "4D"):
        course.play(course.turn, card)
        turns.append(course.turn)
    assert turns == [3, 0, 1, 2]


def test_a_log_with_plays_out_of_turn_can_be_followed():
    """The next is the first, from the leader to the left, that has not played to the trick."""
    course = played(small("2C 3C 4C 5C", 4), "1:2C 3:3C")
    assert course.turn == 2
    course.play(2, "5C")
    assert course.turn == 0
    course.play(0, "4C")
    assert course.over
    assert course.taken == [(2, ["2C", "3C", "5C", "4C"])]


def test_the_last_trick_ends_the_play():
    course = played(small("2C 3C 4C 2H 3H 4H", 3), "1:2C 2:3C 0:4C")
    assert not course.over
    for seat, card in ((0, "2H"), (1, "3H"), (2, "4H")):
        course.play(seat, card)
    assert course.over
    assert course.turn is None


@pytest.mark.parametrize("code", ["X", "1C", "XX", "2CC", ""])
def test_codes_that_are_no_french_cards_can_be_followed(code):
    """Fault 5: a play of a card outside the deck is a finding, so the engine must get past it."""
    for plays in (f"1:{code} 2:3C 0:4C", f"1:2C 2:{code} 0:4C", f"1:{code} 2:{code} 0:{code}"):
        course = played(small("2C 3C 4C 2H 3H 4H", 3), plays)
        assert len(course.tricks) == 1
        assert course.turn in (0, 1, 2)


# -- cancellation -------------------------------------------------------------------------------------

TWIN = "2C 3C 4C 5C 2H 3H"


def twins(seats=4, kitty=None, deck=f"{TWIN} {TWIN}", **changes):
    return small(deck, seats, cancellation=True, kitty=kitty, **changes)


@pytest.mark.parametrize(
    ("plays", "winner"),
    [
        ("1:5C 2:5C 3:3C 0:4C", 0),  # both fives are out
        ("1:5C 2:4C 3:4C 0:3C", 1),
        ("1:4C 2:5C 3:4C 0:3H", 2),
        ("1:2C 2:5C 3:5C 0:3H", 1),
        ("1:2C 2:3H 3:3H 0:2H", 1),
    ],
)
def test_identical_cards_cancel(plays, winner):
    course = played(twins(), plays)
    assert course.turn == winner
    assert course.taken[-1] == (winner, [play[2:] for play in plays.split()])


def test_a_trick_that_cancels_waits_for_the_next_winner():
    course = played(twins(), "1:5C 2:5C 3:4C 0:4C")
    assert course.turn == 1  # the same seat leads again
    for seat, card in ((1, "2C"), (2, "3C"), (3, "2H"), (0, "3H")):
        course.play(seat, card)
    assert course.taken == [(2, ["5C", "5C", "4C", "4C", "2C", "3C", "2H", "3H"])]
    assert course.won() == [[], [], ["5C", "5C", "4C", "4C", "2C", "3C", "2H", "3H"], []]


def test_two_tricks_that_cancel_in_a_row():
    course = played(twins(), "1:5C 2:5C 3:4C 0:4C 1:2C 2:2C 3:3C 0:3C 1:2H 2:3H 3:2H 0:3H")
    assert course.over
    assert [seat for seat, _ in course.taken] == [1]  # the last cancels too: its leader takes all
    assert len(course.taken[0][1]) == 12


def test_cancelled_off_the_suit_led_does_not_matter():
    course = played(twins(), "1:2C 2:2H 3:2H 0:3H")
    assert course.turn == 1


def test_without_cancellation_the_cards_of_one_pack_all_count():
    """Twins that are no twins by the rules: nothing cancels where the rules do not say so."""
    course = played(small("2C 3C 4C 5C", 4), "1:5C 2:2C 3:3C 0:4C")
    assert course.taken[0][0] == 1


# -- points -------------------------------------------------------------------------------------------


def lone_clubs(**changes):
    """Seat 0 holds all clubs and takes every trick; seats 1 to 3 have one of the other suits each."""
    one = game(**changes)
    course = one.begin(1)
    for rank in "23456789TJQKA":
        for seat, suit in enumerate("CDHS"):
            course.play(seat, rank + suit)
    assert course.over
    return one, course


def test_points_go_to_who_took_them():
    one = game(moon="none", card_points=OMNIBUS)
    course = one.begin(1)
    # 0 leads 2C and 1 wins with the ace; then every trick but the named ones stays with 1
    deal = {0: "C", 1: "D", 2: "H", 3: "S"}
    plays = []
    for rank in "23456789TJQK":
        plays += [(seat, rank + deal[seat]) for seat in range(4)]
    plays += [(0, "AC"), (1, "AD"), (2, "AH"), (3, "AS")]
    for seat, card in plays:
        course.play(seat, card)
    assert one.points(course, (), None) == (13 + 13 - 10, 0, 0, 0)


def test_points_of_mixed_tricks():
    deck = "2C 3C 4C 2D JD 3D QS 5H 6H"
    one = small(deck, 3, card_points=OMNIBUS)
    course = played(one, "1:2C 2:3C 0:4C 0:2D 1:3D 2:5H 1:QS 2:6H 0:JD")
    assert one.points(course, (), None) == (0, 13 + 1 + 1 - 10, 0)
    course = played(one, "1:2C 2:5H 0:3C 0:2D 1:JD 2:QS 1:3D 2:6H 0:4C")
    assert one.points(course, (), None) == (1, -10 + 13 + 1, 0)


@pytest.mark.parametrize(
    ("moon", "choice", "points"),
    [
        ("others-add", None, (0, 26, 26, 26)),
        ("shooter-subtracts", None, (-26, 0, 0, 0)),
        ("shooter-chooses", "add", (0, 26, 26, 26)),
        ("shooter-chooses", "subtract", (-26, 0, 0, 0)),
        ("none", None, (26, 0, 0, 0)),
        ("others-add", "subtract", (0, 26, 26, 26)),  # nobody asked
        ("none", "subtract", (26, 0, 0, 0)),
    ],
)
def test_the_moon(moon, choice, points):
    one, course = lone_clubs(moon=moon)
    assert one.points(course, (), choice) == points
    assert one.moon_shooter(course) == (0 if moon == "shooter-chooses" else None)


@pytest.mark.parametrize(
    ("moon", "choice", "points"),
    [
        ("others-add", None, (-10, 26, 26, 26)),
        ("shooter-chooses", "subtract", (-36, 0, 0, 0)),
        ("none", None, (16, 0, 0, 0)),
    ],
)
def test_the_jack_of_diamonds_still_goes_to_who_took_it(moon, choice, points):
    one, course = lone_clubs(moon=moon, card_points=OMNIBUS)
    assert one.points(course, (), choice) == points


def test_the_jack_is_not_needed_for_the_moon():
    one = small("2C 3C 4C 2H 3H 4H JD 2D 3D", 3, moon="others-add", card_points={"JD": -10})
    course = played(one, "1:2C 2:3C 0:4C 0:4H 1:3H 2:2H 0:2D 1:3D 2:JD")
    assert one.points(course, (), None) == (0, 3, 3 - 10)


def test_the_moon_is_every_card_that_scores_however_it_was_taken():
    one = small("2C 3C 4C 2H 3H QS", 3, moon="others-add")
    led = played(one, "1:2C 2:2H 0:3C 0:QS 1:3H 2:4C")
    assert one.points(led, (), None) == (0, 15, 15)  # all three of them went to seat 0
    split = played(one, "1:4C 2:2H 0:3C 1:2C 2:3H 0:QS")
    assert one.points(split, (), None) == (15, 0, 15)
    last = played(one, "1:3C 2:2C 0:4C 0:2H 1:3H 2:QS")
    assert one.points(last, (), None) == (15, 0, 15)
    apart = played(one, "1:4C 2:2H 0:3C 1:QS 2:2C 0:3H")
    assert one.points(apart, (), None) == (15, 0, 15)


def test_a_moon_that_fails_scores_what_it_took():
    """S1's text that a failed shooter gets 26, and its diagram, are wrong."""
    one = small("2C 3C 4C 2H 3H QS", 3, moon="others-add")
    course = played(one, "1:2C 2:4C 0:QS 2:2H 0:3C 1:3H")
    assert course.taken == [(2, ["2C", "4C", "QS"]), (1, ["2H", "3C", "3H"])]
    assert one.points(course, (), None) == (0, 2, 13)


def test_tricks_without_points_may_be_lost():
    one = small("2C 3C 4C 2H 3H QS", 3, moon="others-add")
    course = played(one, "1:2C 2:4C 0:3C 2:2H 0:3H 1:QS")
    assert course.taken == [(2, ["2C", "4C", "3C"]), (0, ["2H", "3H", "QS"])]
    assert one.points(course, (), None) == (0, 15, 15)


def test_two_packs_make_a_moon_of_52():
    pack = " ".join(FULL_PACK)
    one = game(
        f"{pack} {pack}",
        8,
        cancellation=True,
        first_lead="left-of-dealer",
        pass_cycle=[0],
    )
    assert one.total == 52
    course = one.begin(8)
    leads = ["AS", *(rank + "C" for rank in "AKQJT9876543")]
    thrown = ["AC", "KC", "QC", "JC", "TC", "9C", "8C", "7C", "6C", "5C", "4C", "3C", "2C", "2C"]
    thrown += (Counter(FULL_PACK * 2) - Counter(leads) - Counter(thrown)).elements()
    assert len(thrown) == 91
    for number, lead in enumerate(leads):  # no other is of its suit, or all are lower
        for card in (lead, *thrown[7 * number : 7 * number + 7]):
            course.play(course.turn, card)
    assert {seat for seat, _ in course.taken} == {0}
    assert course.over
    assert one.points(course, (), None) == (0, *[52] * 7)


def test_the_kitty_goes_to_the_first_or_the_last_trick():
    deck = f"{TWIN} {TWIN} 7H 8H"
    for kitty, first, last in (("first-trick", 4, 2), ("last-trick", 2, 4)):
        one = twins(kitty=kitty, deck=deck)
        course = played(one, "1:2C 2:3C 3:2H 0:2H 2:2C 3:5C 0:4C 1:3C 3:4C 0:5C 1:3H 2:3H")
        assert [seat for seat, _ in course.taken] == [2, 3, 0]
        assert one.points(course, ("7H", "8H"), None) == (last, 0, first, 0)
        assert course.won(("7H", "8H"))[2 if kitty == "first-trick" else 0][-2:] == ["7H", "8H"]
        assert one.points(course, (), None) == (2, 0, 2, 0)


def test_the_kitty_of_a_first_trick_that_cancelled_goes_with_it():
    one = twins(kitty="first-trick", deck=f"{TWIN} {TWIN} 7H 8H")
    course = played(one, "1:5C 2:5C 3:4C 0:4C 1:2C 2:3C 3:2H 0:3H 2:2C 3:3C 0:2H 1:3H")
    assert [seat for seat, _ in course.taken] == [2, 3]
    assert one.points(course, ("7H", "8H"), None) == (0, 0, 2 + 2, 2)


def test_the_kitty_counts_for_the_moon():
    for kitty, points in (("first-trick", (0, 0, 1, 4)), ("last-trick", (5, 5, 5, 0))):
        one = twins(kitty=kitty, deck=f"{TWIN} {TWIN} 7H 8D", moon="others-add")
        course = played(one, "1:2C 2:3C 3:5C 0:5C 2:2C 3:3C 0:4C 1:4C 3:2H 0:2H 1:3H 2:3H")
        assert [seat for seat, _ in course.taken] == [2, 3, 3]
        # the four hearts of the last trick are seat 3's; the fifth lies in the kitty
        assert one.points(course, ("7H", "8D"), None) == points


def test_a_game_in_which_nothing_scores():
    one = small("2C 3C 4C", 3, card_points={})
    course = played(one, "1:2C 2:3C 0:4C")
    assert one.points(course, (), None) == (0, 0, 0)


def test_the_points_of_something_else_are_a_fault_of_ours():
    with pytest.raises(TypeError):
        game().points(object(), (), None)
    assert game(moon="shooter-chooses").moon_shooter(object()) is None


# -- totals, openings, the end ------------------------------------------------------------------------


def test_totals():
    assert game().totals([1, 2, 3, 4], [0, 26, 26, -36]) == (1, 28, 29, -32)
    with pytest.raises(ValueError):
        game().totals([1, 2, 3], [0, 0, 0, 0])


def test_exact_reset():
    one = game(exact_reset=[100, 50])
    assert one.totals([90, 99, 100, 74], [10, 0, 1, 26]) == (50, 99, 101, 50)
    assert one.totals([99, 101, 0, 0], [0, -1, 100, 99]) == (99, 50, 50, 99)
    assert game().totals([90, 0, 0, 0], [10, 0, 0, 0]) == (100, 0, 0, 0)


def test_the_reset_comes_before_the_end():
    one = game(exact_reset=[100, 50])
    totals = one.totals([90, 80, 70, 60], [10, 0, 0, 16])
    assert one.outcome(totals, [10, 0, 0, 16], ()) is None
    totals = one.totals([90, 80, 70, 60], [11, 0, 0, 15])
    assert one.outcome(totals, [11, 0, 0, 15], ()) is not None


@pytest.mark.parametrize(
    ("reset", "end", "words"),
    [
        ([126, 50], 100, "cannot be reached"),
        ([100, 100], 100, "does not lower"),
        ([100, 50], 50, "does not lower"),
        ([40, 40], 100, "does not lower"),
        ([40, 45], 100, "does not lower"),
    ],
)
def test_a_reset_that_makes_no_sense_is_refused(reset, end, words):
    """125 is the most that a hand can leave: 99 before it, and 26 of it."""
    with pytest.raises(ValueError, match=words):
        game(exact_reset=reset, end_score=end)


@pytest.mark.parametrize("reset", [[125, 50], [100, 99], [100, 0], [50, 49], [3, 0]])
def test_a_reset_that_can_happen_is_not(reset):
    assert game(exact_reset=reset).totals([reset[0] - 1, 0, 0, 0], [1, 0, 0, 0])[0] == reset[1]


def test_opening_scores():
    one = game()
    assert one.opening_problem(1, [0, 0, 0, 0]) is None
    assert one.opening_problem(2, [99, -26, 0, 0]) is None
    assert "3 scores for 4 seats" in one.opening_problem(2, [0, 0, 0])
    assert "0 scores" in one.opening_problem(1, [])
    assert "begins at 0" in one.opening_problem(1, [0, 0, 1, 0])
    assert "over before" in one.opening_problem(2, [100, 0, 0, 0])
    assert "over before" in one.opening_problem(9, [0, 0, 0, 101])
    assert "range" in one.opening_problem(9, [-(MAX // 2) - 1, 0, 0, 0])
    assert one.opening_problem(9, [-(MAX // 2), 0, 0, 0]) is None


@pytest.mark.parametrize(
    ("totals", "winners", "places"),
    [
        ([100, 0, 50, 60], (1,), (4, 1, 2, 3)),
        ([100, 50, 50, 60], (1, 2), (4, 1, 1, 3)),
        ([100, 40, 50, 50], (1,), (4, 1, 2, 2)),
        ([100, 100, 100, 100], (0, 1, 2, 3), (1, 1, 1, 1)),
        ([126, 126, 126, 99], (3,), (2, 2, 2, 1)),
        ([100, -10, 0, 0], (1,), (4, 1, 2, 2)),
    ],
)
def test_the_lowest_total_wins_and_ties_share(totals, winners, places):
    assert game().outcome(totals, [0, 0, 0, 0], ()) == Outcome(winners, places, ())


def test_the_game_goes_on_below_the_end():
    assert game().outcome([99, 99, 99, 99], [26, 0, 0, 0], ()) is None
    assert game(end_score=50).outcome([50, 0, 0, 0], [26, 0, 0, 0], ()) is not None


def test_a_tie_is_broken_by_the_last_hand_among_the_lowest_only():
    one = game(tie="last-hand")
    assert one.outcome([100, 40, 40, 40], [0, 3, 1, 2], ()) == Outcome((2,), (4, 3, 1, 2), ())
    assert one.outcome([100, 40, 40, 40], [0, 3, 1, 1], ()) == Outcome((2, 3), (4, 3, 1, 1), ())
    assert one.outcome([100, 40, 60, 60], [0, 9, 1, 2], ()) == Outcome((1,), (4, 1, 2, 2), ())
    shared = game(tie="shared")
    assert shared.outcome([100, 40, 40, 40], [0, 3, 1, 2], ()) == Outcome(
        (1, 2, 3), (4, 1, 1, 1), ()
    )


def test_who_left_comes_last_behind_everyone_who_stayed():
    one = game()
    assert one.outcome([100, 0, 50, 60], [0] * 4, {1}) == Outcome((2,), (3, 4, 1, 2), (1,))
    assert one.outcome([100, 0, 50, 10], [0] * 4, {3, 1}) == Outcome((2,), (2, 3, 1, 3), (1, 3))
    assert one.outcome([50, 0, 50, 100], [0] * 4, [1]) == Outcome((0, 2), (1, 4, 1, 3), (1,))
    assert one.outcome([0, 100, 0, 0], [0] * 4, {0, 2, 3}) == Outcome((1,), (2, 1, 2, 2), (0, 2, 3))
    tied = game(tie="last-hand")
    assert tied.outcome([40, 40, 40, 100], [0, 2, 1, 9], {0}) == Outcome((2,), (4, 2, 1, 3), (0,))


def test_if_everybody_left_they_all_split():
    for tie in ("shared", "last-hand"):
        ended = game(tie=tie).outcome([100, 0, 1, 2], [1, 2, 3, 4], range(4))
        assert len(set(ended.places)) == 1
        assert ended.left == (0, 1, 2, 3)


# -- passes -------------------------------------------------------------------------------------------


def test_the_pass_cycle():
    assert [game().pass_offset(hand) for hand in range(1, 10)] == [1, 3, 2, 0, 1, 3, 2, 0, 1]
    assert game().pass_count == 3
    five = game(
        " ".join(c for c in FULL_PACK if c not in ("2C", "2D")), 5, pass_cycle=[1, 4, 2, 3, 0]
    )
    assert [five.pass_offset(hand) for hand in (5, 6, 7)] == [0, 1, 4]
    assert game(pass_cycle=[0]).pass_offset(7) == 0


# -- terms that make no sense -------------------------------------------------------------------------

PACK = " ".join(FULL_PACK)
FREE = {"first_lead": "left-of-dealer"}


@pytest.mark.parametrize(
    ("deck", "seats", "changes", "words"),
    [
        ("2C 3C 4C 5X", 4, {}, "French"),
        ("2C 3C 4C 1C", 4, {}, "French"),
        ("2C 3C 4C 5CC", 4, {}, "French"),
        ("2C 3C 4C 5", 4, {}, "French"),
        ("2C 3C 4C 5c", 4, {}, "French"),
        (PACK, 2, {}, "at least 3 seats"),
        ("2C 3C 2H", 4, {"pass_cycle": [0], "card_points": {}}, "fewer cards than seats"),
        (PACK, 4, {"card_points": {"QS": 13, "1D": 1}}, "not in the deck"),
        ("2C 3C 4C 5H", 4, {"card_points": {"QS": 13}}, "not in the deck"),
        (PACK, 4, {"card_points": {"QH": 13}}, "heart scores 1"),
        (PACK, 3, {"pass_cycle": [1, 2, 0]}, "1 cards do not divide"),
        (PACK, 5, {}, "2 cards do not divide"),
        ("2D 3D 4D QS", 4, {"pass_cycle": [0]}, "no club"),
        (PACK, 3, {"kitty": "first-trick", "pass_cycle": [0]}, "lowest club may lie in the kitty"),
        (PACK, 4, {"pass_cycle": [1, 4, 0]}, "goes to no seat"),
        (PACK, 4, {"pass_count": 14}, "more cards are passed than dealt"),
        (PACK, 4, {"cancellation": True}, "no two cards can cancel"),
        (f"{PACK} {PACK}", 8, {**FREE, "pass_cycle": [0]}, "need cancellation"),
        (f"{PACK} {PACK}", 8, {"cancellation": True, "pass_cycle": [0]}, "lowest club"),
        (
            PACK,
            3,
            {**FREE, "kitty": "last-trick", "pass_cycle": [0], "moon": "shooter-chooses"},
            "before close",
        ),
        ("2C 3C 4C 5C", 4, {"pass_cycle": [0], "card_points": {}}, "no moon"),
        ("2C 3C 4C 5C", 4, {"pass_cycle": [0], "card_points": {"5C": -3}}, "no moon"),
    ],
)
def test_combinations_that_make_no_sense_are_refused(deck, seats, changes, words):
    with pytest.raises(ValueError, match=words):
        game(deck, seats, **changes)


@pytest.mark.parametrize(
    ("deck", "seats", "changes"),
    [
        (PACK, 4, {}),
        (PACK, 4, {"pass_count": 13}),
        (PACK, 4, {"pass_count": 14, "pass_cycle": [0]}),  # nothing is ever passed
        (PACK, 4, {"moon": "shooter-chooses"}),
        (" ".join(c for c in FULL_PACK if c != "2D"), 3, {"pass_cycle": [1, 2, 0]}),
        (" ".join(c for c in FULL_PACK if c != "2C"), 3, {"pass_cycle": [1, 2, 0]}),
        (
            " ".join(c for c in FULL_PACK if c not in ("2C", "2D")),
            5,
            {"pass_cycle": [1, 4, 2, 3, 0]},
        ),
        *(
            (
                f"{PACK} {PACK}",
                n,
                {**FREE, "cancellation": True, "kitty": "first-trick", "pass_cycle": [0]},
            )
            for n in (6, 7, 8, 9, 10)
        ),
        ("2C 3C 4C 5C", 4, {"pass_cycle": [0], "card_points": {}, "moon": "none"}),
        ("2C 3C 4C 5C", 4, {"pass_cycle": [0], "card_points": {"5C": 3}}),
    ],
)
def test_what_the_rules_name_is_playable(deck, seats, changes):
    one = game(deck, seats, **changes)
    assert one.seats == seats
    assert one.deck == tuple(deck.split())
    assert one.plays


@pytest.mark.parametrize(
    ("seats", "each", "rest"), [(6, 17, 2), (7, 14, 6), (8, 13, 0), (9, 11, 5), (10, 10, 4)]
)
def test_the_cards_of_the_cancellation_tables(seats, each, rest):
    one = game(
        f"{PACK} {PACK}", seats, **FREE, cancellation=True, kitty="first-trick", pass_cycle=[0]
    )
    assert (one.begin(1).size, 104 - seats * each) == (each, rest)


# -- the oracle ---------------------------------------------------------------------------------------

ORDER = "23456789TJQKA"


class Oracle:
    """The rules again, from the list of plays; nothing is remembered between questions."""

    def __init__(self, raw, deck, seats, hand):
        self.raw, self.deck, self.seats, self.hand = raw, deck, seats, hand

    def value(self, card):
        return 1 if card[1] == "H" else self.raw["card_points"].get(card, 0)

    def winner(self, trick):
        cards = [card for _, card in trick]
        best = None
        for seat, card in trick:
            if card[1] != cards[0][1] or (self.raw["cancellation"] and cards.count(card) > 1):
                continue
            if best is None or ORDER.index(card[0]) > ORDER.index(best[1][0]):
                best = (seat, card)
        return None if best is None else best[0]

    def tricks(self, plays):
        whole = len(plays) // self.seats
        return [plays[n * self.seats : (n + 1) * self.seats] for n in range(whole)]

    def leader(self, plays):
        """Who leads the trick on the table; None while nobody knows."""
        leader = self.hand % self.seats if self.raw["first_lead"] == "left-of-dealer" else None
        for trick in self.tricks(plays):
            winner = self.winner(trick)
            leader = trick[0][0] if winner is None else winner
        return leader

    def turn(self, plays):
        if len(plays) == len(self.deck) // self.seats * self.seats:
            return None
        on_table = len(plays) % self.seats
        return (plays[-1][0] + 1) % self.seats if on_table else self.leader(plays)

    def broken(self, plays):
        for trick in self.tricks(plays):
            for _, card in trick:
                thrown = trick[0][1][1] != "H"
                if card[1] == "H" and (self.raw["hearts_broken_by"] == "heart" or thrown):
                    return True
                if card == "QS" and self.raw["queen_breaks_hearts"]:
                    return True
        return False

    def may(self, plays, cards, card):
        """Whether this one card may be played."""
        if not plays and self.raw["first_lead"] == "lowest-club":
            return card == min(
                (c for c in self.deck if c[1] == "C"), key=lambda c: ORDER.index(c[0])
            )
        on_table = plays[len(plays) - len(plays) % self.seats :]
        choice = list(cards)
        if on_table and any(c[1] == on_table[0][1][1] for c in cards):
            choice = [c for c in cards if c[1] == on_table[0][1][1]]
        first = len(plays) < self.seats and self.raw["first_trick_points"] == "forbidden"
        if first and any(self.value(c) <= 0 for c in choice):
            choice = [c for c in choice if self.value(c) <= 0]
        if card not in choice:
            return False
        if on_table or card[1] != "H" or self.broken(plays):
            return True
        others = [c for c in choice if c[1] != "H"]
        return not others or (self.raw["lead_from_points"] and all(c == "QS" for c in others))

    def piles(self, plays, kitty):
        piles = [[] for _ in range(self.seats)]
        waiting, owners = [], []
        tricks = self.tricks(plays)
        for number, trick in enumerate(tricks):
            waiting += [card for _, card in trick]
            winner = self.winner(trick)
            if winner is None and number == len(tricks) - 1:
                winner = trick[0][0]
            if winner is not None:
                piles[winner] += waiting
                owners.append(winner)
                waiting = []
        if kitty:
            piles[owners[0 if self.raw["kitty"] == "first-trick" else -1]] += kitty
        return piles

    def points(self, plays, kitty, choice):
        piles = self.piles(plays, kitty)
        against = sum(self.value(card) for card in self.deck if self.value(card) > 0)
        bad = [sum(self.value(c) for c in pile if self.value(c) > 0) for pile in piles]
        good = [sum(self.value(c) for c in pile if self.value(c) < 0) for pile in piles]
        moon = {"shooter-chooses": choice, "others-add": "add", "shooter-subtracts": "subtract"}
        if self.raw["moon"] != "none" and against in bad:
            shooter = bad.index(against)
            for seat in range(self.seats):
                if moon[self.raw["moon"]] == "subtract":
                    bad[seat] = -against if seat == shooter else 0
                else:
                    bad[seat] = 0 if seat == shooter else against
        return tuple(b + g for b, g in zip(bad, good, strict=True))


@st.composite
def tables(draw):
    """Rules, deck, seats, hand number, hands and kitty: any table, and often a small one."""
    raw = HEARTS | {
        "first_trick_points": draw(st.sampled_from(["forbidden", "allowed"])),
        "hearts_broken_by": draw(st.sampled_from(["heart", "discard"])),
        "queen_breaks_hearts": draw(st.booleans()),
        "lead_from_points": draw(st.booleans()),
        "moon": draw(
            st.sampled_from(["others-add", "shooter-subtracts", "shooter-chooses", "none"])
        ),
        "pass_cycle": [0],
        "first_lead": draw(st.sampled_from(["lowest-club", "left-of-dealer"])),
    }
    seats = draw(st.integers(3, 6))
    cards = draw(st.permutations(FULL_PACK))
    # few plain cards and many that matter make moons, bans and unbroken leads likely
    matter = [c for c in cards if c[1] == "H" or c in ("QS", "JD", "KS")]
    plain = [c for c in cards if c not in matter]
    size = draw(st.integers(2, 6))
    cut = draw(st.integers(1, max(1, seats * size - 1)))
    deck = (matter[:cut] + plain)[: seats * size]
    if draw(st.booleans()):
        raw |= {"cancellation": True, "kitty": draw(st.sampled_from(["first-trick", "last-trick"]))}
        raw |= {"first_lead": "left-of-dealer"}
        if raw["moon"] == "shooter-chooses":
            raw["moon"] = "others-add"
        deck = deck[: max(2, len(deck) // 2)] * 2
        if len(deck) < seats:
            deck = (matter[:2] + plain)[:seats] * 2
    elif raw["first_lead"] == "lowest-club" and not any(card[1] == "C" for card in deck):
        deck[0] = "7C"
    points = {"QS": 13, "JD": -10, "KS": 10}
    wanted = draw(st.sets(st.sampled_from(sorted(points))))
    raw["card_points"] = {card: points[card] for card in wanted if card in deck}
    if not any(card[1] == "H" or raw["card_points"].get(card, 0) > 0 for card in deck):
        raw["moon"] = "none"
    shuffled = draw(st.permutations(deck))
    each = len(deck) // seats
    hands = [shuffled[n * each : (n + 1) * each] for n in range(seats)]
    return raw, tuple(deck), seats, draw(st.integers(1, 12)), hands, shuffled[seats * each :]


def a_game(table):
    raw, deck, seats, hand, hands, kitty = table
    return HeartsGame(msgspec.convert(raw, HeartsRules), deck, seats), Oracle(
        raw, deck, seats, hand
    )


@given(tables(), st.data())
@settings(deadline=None, max_examples=250)
def test_any_hand_goes_as_the_oracle_says(table, data):
    one, oracle = a_game(table)
    _, deck, seats, number, hands, kitty = table
    course = one.begin(number)
    hands = [list(hand) for hand in hands]
    plays = []
    while not course.over:
        turn = course.turn
        assert turn == oracle.turn(plays)
        if turn is None:
            turn = next(n for n in range(seats) if course.opening_card in hands[n])
        held = hands[turn]
        allowed = course.legal(held)
        assert allowed  # never empty for the seat on turn
        assert list(allowed) == [card for card in held if oracle.may(plays, held, card)]
        for card in set(held):
            assert (course.breach(held, card) is None) == (card in allowed)
        card = data.draw(st.sampled_from(allowed))
        held.remove(card)
        course.play(turn, card)
        plays.append((turn, card))
        assert course.broken == oracle.broken(plays)
        assert course.tricks == [tuple(trick) for trick in oracle.tricks(plays)]
    assert oracle.turn(plays) is None
    assert course.turn is None
    assert hands == [[] for _ in range(seats)]
    assert [sorted(p) for p in course.won(kitty)] == [sorted(p) for p in oracle.piles(plays, kitty)]
    for choice in ("add", "subtract"):
        points = one.points(course, kitty, choice)
        assert points == oracle.points(plays, kitty, choice)
    if table[0]["moon"] == "none":
        assert sum(points) == sum(oracle.value(card) for card in deck)


@given(tables(), st.data())
@settings(deadline=None, max_examples=60)
def test_a_copy_goes_on_by_itself_and_a_prefix_replays_alike(table, data):
    one, _ = a_game(table)
    _, _, seats, number, hands, _ = table
    order = []
    hands = [list(hand) for hand in hands]
    course = one.begin(number)
    stop = data.draw(st.integers(0, sum(map(len, hands))))
    twin = before = None
    while True:
        if len(order) == stop:
            twin, before = course.copy(), snapshot(course)
        if course.over:
            break
        turn = course.turn
        if turn is None:
            turn = next(n for n in range(seats) if course.opening_card in hands[n])
        card = course.legal(hands[turn])[-1]
        hands[turn].remove(card)
        course.play(turn, card)
        order.append((turn, card))
    assert snapshot(twin) == before  # what the first did afterwards did not touch it
    again = one.begin(number)
    for turn, card in order[:stop]:
        again.play(turn, card)
    assert snapshot(again) == before
    done = snapshot(course)
    for turn, card in order[stop:]:
        twin.play(turn, card)
    assert snapshot(twin) == done
    assert snapshot(course) == done


# -- what the shape of the rules refuses ----------------------------------------------------------------


@pytest.mark.parametrize(
    "changes",
    [
        {"end_score": 0},
        {"end_score": MAX},
        {"exact_reset": [0, 0]},
        {"exact_reset": [100]},
        {"exact_reset": [100, -1]},
        {"exact_reset": 100},
        {"pass_count": 0},
        {"pass_count": 27},
        {"pass_cycle": []},
        {"pass_cycle": [0] * 21},
        {"pass_cycle": [10]},
        {"pass_cycle": [-1]},
        {"card_points": {"QS": 1001}},
        {"card_points": {"QS": -1001}},
        {"card_points": {"QS": 1.5}},
        {"card_points": {"Q": 13}},
        {"card_points": {"QSS": 13}},
        {"moon": "both"},
        {"kitty": "winner"},
        {"kitty": False},
        {"tie": None},
        {"first_lead": "dealer"},
        {"first_trick_points": True},
        {"hearts_broken_by": "queen"},
        {"lead_from_points": 0},
        {"game": "spades"},
        {"more": 1},
    ],
    ids=str,
)
def test_parameters_out_of_range(changes):
    with pytest.raises(msgspec.ValidationError):
        rules(**changes)


@pytest.mark.parametrize("missing", sorted(set(HEARTS) - {"game"}))
def test_every_parameter_is_written_out(missing):
    with pytest.raises(msgspec.ValidationError, match=missing):
        msgspec.convert({name: HEARTS[name] for name in HEARTS if name != missing}, HeartsRules)


def test_a_deal_only_game_is_none_of_hearts():
    with pytest.raises(ValueError):
        DealGame(DealRules(), ("2C",), 2)
