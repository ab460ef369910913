"""Bots: the policies' decisions worked out by hand, their draws, and their stream (section 6.3)."""

import hashlib
import hmac
import struct
from collections import Counter
from types import SimpleNamespace

import msgspec
import pytest
from helpers_primitives import (
    CHI_SQUARE_1E6,
    FULL_PACK,
    HEARTS,
    chi_square,
    fixed,
    framed,
    open_body,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from fairdeal.bots import BotSeat, policy_name, remaining
from fairdeal.games.base import View
from fairdeal.games.hearts import HeartsGame, HeartsRules
from fairdeal.games.policies import POLICIES, Low, Random, draw
from fairdeal.messages import Open, convert
from fairdeal.parties import seat_number

GAME = HeartsGame(msgspec.convert(HEARTS, HeartsRules), tuple(FULL_PACK), 4)


def view(cards, plays="", seat=0):
    course = GAME.begin(1)
    for play in plays.split():
        course.play(int(play[0]), play[2:])
    return View(GAME, seat, 1, tuple(cards.split()), (), (), course)


def no_words():
    raise AssertionError("this policy draws nothing")


def feed(*numbers):
    return iter(numbers).__next__


def test_the_policies_have_names_and_versions():
    assert isinstance(POLICIES["low/1"], Low)
    assert isinstance(POLICIES["random/1"], Random)


# -- low/1 ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cards", "passed"),
    [
        ("2C AS 3D KH 4S QC 5C", {"AS", "KH", "QC"}),
        ("AC AD AH AS 2C", {"AD", "AH", "AS"}),  # of equal ranks the later in canonical order
        ("AS AH AD AC 2C", {"AD", "AH", "AS"}),  # whatever the order they are held in
        ("TC 9S 9D 9H 2S", {"TC", "9H", "9S"}),
        ("2C 3C TC JD", {"3C", "TC", "JD"}),
    ],
)
def test_low_passes_its_highest(cards, passed):
    assert set(Low().pass_cards(view(cards), no_words)) == passed


@pytest.mark.parametrize(
    ("cards", "plays", "card"),
    [
        ("AC 2C 3D", "", "2C"),
        ("AC TC 9C", "0:2C", "9C"),
        ("AS 3S 3D KH", "0:2C", "3D"),  # of equal ranks the earlier in canonical order
        ("2H QS 2S", "0:2C", "2S"),  # the two of hearts is not legal yet
        ("2H 3S", "0:2C 1:3C 2:4C 3:AC", "3S"),
    ],
)
def test_low_plays_its_lowest_legal_card(cards, plays, card):
    assert Low().play_card(view(cards, plays), no_words) == card


def test_low_adds_for_the_others():
    assert Low().choose_moon(view("2C"), no_words) == "add"


# -- random/1 ---------------------------------------------------------------------------------------


def test_random_passes_what_it_draws_from_the_rest_in_canonical_order():
    """2C 5C 3D 4H AS: 4 is AS; then 6 mod 4 = 2 is 3D; then 3 mod 3 = 0 is 2C."""
    chosen = Random().pass_cards(view("AS 2C 4H 3D 5C"), feed(4, 6, 3))
    assert list(chosen) == ["AS", "3D", "2C"]


def test_random_plays_a_legal_card_in_canonical_order():
    hand = "AC TC 9C 2H"  # legal after 2C: 9C TC AC
    assert [Random().play_card(view(hand, "0:2C"), feed(n)) for n in (0, 1, 2, 3)] == [
        "9C",
        "TC",
        "AC",
        "9C",
    ]
    assert Random().play_card(view("2C 3C"), no_words) == "2C"  # one choice takes no word


def test_random_chooses_the_moon():
    assert Random().choose_moon(view("2C"), feed(0)) == "add"
    assert Random().choose_moon(view("2C"), feed(1)) == "subtract"
    assert Random().choose_moon(view("2C"), feed(65534)) == "add"


# -- draws ------------------------------------------------------------------------------------------


def test_a_draw_rejects_what_would_favour_low_numbers():
    assert draw(3, feed(65535, 65534)) == 2  # 65535 = 3 · 21845 is one too many
    assert draw(10, feed(65530, 65535, 65529)) == 9
    assert draw(65536, feed(65535)) == 65535
    assert draw(2, feed(65535)) == 1
    assert draw(1, no_words) == 0


@given(st.integers(2, 65536), st.lists(st.integers(0, 65535), min_size=200, max_size=200))
@settings(deadline=None, max_examples=50)
def test_a_draw_is_below_its_size(size, numbers):
    usable = [n for n in numbers if n < 65536 // size * size]
    if usable:
        assert draw(size, iter(numbers).__next__) == usable[0] % size


@pytest.mark.parametrize("size", [2, 3, 6, 24])
def test_draws_are_uniform(size):
    numbers = iter(struct.unpack(">40000H", fixed("draws", size, 80_000))).__next__
    counts = Counter(draw(size, numbers) for _ in range(500 * size))
    assert chi_square([counts[n] for n in range(size)], 500) < CHI_SQUARE_1E6[size - 1]


# -- a bot at its seat ----------------------------------------------------------------------------------


def stream(seed, hand_id, seat):
    label = framed("fairdeal/v1/policy", hand_id, f"seat/{seat}")
    for number in range(1, 100):
        block = hmac.new(seed, struct.pack(">I", number) + label, hashlib.sha512).digest()
        yield from struct.unpack(">32H", block)


@pytest.mark.parametrize("seat", [0, 3, 9])
def test_a_bots_stream_is_bound_to_hand_and_seat(seat):
    class Echo:
        """A policy that shows its words."""

        def play_card(self, view, word):
            return str(word())

    seed, hand_id = fixed("bot"), fixed("bot's hand", size=32)
    bot = BotSeat(Echo(), seed, hand_id, seat)
    wanted = stream(seed, hand_id, seat)
    for _ in range(70):  # beyond two blocks
        assert bot.decide("play", view("2C")) == (str(next(wanted)),)


def test_a_bot_decides_by_its_policy():
    bot = BotSeat(Low(), fixed("bot"), bytes(32), 1)
    assert bot.seat == 1
    assert bot.decide("pass", view("AS AH 2C AD")) == ("AD", "AH", "AS")  # in canonical order
    assert bot.decide("play", view("2C 3C")) == ("2C",)
    assert bot.decide("choose", view("2C")) == ("add",)


def test_a_random_bot_decides_from_its_stream():
    seed, hand_id = fixed("random bot"), fixed("hand", size=32)
    words, cards = stream(seed, hand_id, 2), list(FULL_PACK[:13])
    wanted = []
    for size in (13, 12, 11):
        word = next(words)
        while word >= 65536 - 65536 % size:
            word = next(words)
        wanted.append(cards.pop(word % size))
    bot = BotSeat(Random(), seed, hand_id, 2)
    passed = bot.decide("pass", view(" ".join(FULL_PACK[:13]), seat=2))
    assert passed == tuple(card for card in FULL_PACK if card in wanted)


def test_whose_policy_plays_a_seat():
    """A bot's own; at a person's seat the substitute, which plays once the person has left."""
    body = open_body(substitute="random/1")
    hand = SimpleNamespace(terms=convert(body, Open))
    assert [policy_name(hand, seat) for seat in (0, 1, 2, 3)] == [
        "random/1",
        "random/1",
        "low/1",
        "random/1",
    ]
    hand = SimpleNamespace(terms=convert(open_body(substitute="other/2"), Open))
    assert [policy_name(hand, seat) for seat in (1, 2)] == ["other/2", "low/1"]


def test_seats_are_numbered_as_they_are_written():
    assert [seat_number(by) for by in ("seat/0", "seat/9", "server", "house", "seat/10")] == [
        0,
        9,
        None,
        None,
        None,
    ]


def test_a_hand_after_the_exchange():
    assert remaining(["2C", "3C", "4C"], ["3C"], ["AS"]) == ["2C", "4C", "AS"]
    assert remaining(["2C", "2C", "4C"], ["2C"], []) == ["2C", "4C"]
    with pytest.raises(ValueError):
        remaining(["2C", "3C"], ["4C"], [])
    with pytest.raises(ValueError):
        remaining(["2C", "3C"], ["2C", "2C"], [])
