"""Card codes, decks, canonical order (spec section 5.1)."""

from collections import Counter

import pytest
from helpers_primitives import FULL_PACK
from hypothesis import given, settings
from hypothesis import strategies as st

from fairdeal.cards import MAX_DECK, canonical, contains, french_deck, in_deck, listed_deck


def test_a_pack_in_canonical_order():
    deck = french_deck()
    assert len(deck) == len(set(deck)) == 52
    assert " ".join(deck[:14]) == "2C 3C 4C 5C 6C 7C 8C 9C TC JC QC KC AC 2D"
    assert (deck[26], deck[38], deck[39], deck[51]) == ("2H", "AH", "2S", "AS")
    assert list(deck) == FULL_PACK


def test_packs_follow_one_another_and_each_lacks_the_removed_cards():
    deck = french_deck(2, ["2D", "2C"])
    assert len(deck) == 100
    assert deck[:50] == deck[50:]
    assert deck[0] == "3C"
    assert set(FULL_PACK) - set(deck) == {"2C", "2D"}


@pytest.mark.parametrize("packs", [-1, 0, 9, 1000])
def test_a_deck_has_one_to_eight_packs(packs):
    with pytest.raises(ValueError, match=f"1 to 8 packs, not {packs}"):
        french_deck(packs)


def test_eight_packs_are_a_deck():
    assert len(french_deck(8)) == 416


@pytest.mark.parametrize("removed", [["2C", "2C"], ["1C"], ["2c"], [""], ["2CC"], ["XX", "2D"]])
def test_removed_cards_are_known_and_named_once(removed):
    with pytest.raises(ValueError, match="removed"):
        french_deck(1, removed)


def test_removed_may_be_any_iterable():
    assert len(french_deck(1, iter(["2D"]))) == 51


def test_a_listed_deck_keeps_its_order():
    assert listed_deck(["b", "a", "~", "!"]) == ("b", "a", "~", "!")
    assert listed_deck(["12345678"]) == ("12345678",)
    assert len(listed_deck([f"{n:04}" for n in range(MAX_DECK)])) == 1024


@pytest.mark.parametrize(
    ("codes", "words"),
    [
        ([], "1 to 1024 cards, not 0"),
        ([f"{n:04}" for n in range(1025)], "1 to 1024 cards, not 1025"),
        (["a", "b", "a"], "one code"),
        (["a", "bb"], "one length"),
        ([""], "one length"),
        (["123456789"], "one length"),
        (["a b"], "printable"),
        (["\x7f"], "printable"),
        (["\n"], "printable"),
        (["é"], "printable"),
        (["a", "\x1f"], "printable"),
    ],
)
def test_a_listed_deck_that_is_refused(codes, words):
    with pytest.raises(ValueError, match=words):
        listed_deck(codes)


@given(st.permutations(FULL_PACK), st.integers(0, 52))
@settings(deadline=None, max_examples=50)
def test_canonical_order_is_the_decks(cards, count):
    wanted = [card for card in FULL_PACK if card in cards[:count]]
    assert list(canonical(cards[:count], french_deck())) == wanted


def test_canonical_order_of_twins_is_together_at_the_first():
    assert canonical(["AS", "2C", "3C", "2C"], french_deck(2)) == ("2C", "2C", "3C", "AS")


def test_the_first_of_twins_says_where_they_stand():
    assert canonical("ba", "aba") == ("a", "b")


def test_canonical_order_of_a_listed_deck():
    assert canonical("abc", ["c", "a", "b"]) == ("c", "a", "b")


def test_a_card_that_is_not_in_the_deck_has_no_place():
    with pytest.raises(ValueError, match="not in the deck"):
        canonical(["2C", "2X"], french_deck())


small_decks = st.lists(st.sampled_from("abcd"), max_size=6)


@given(small_decks, small_decks)
@settings(deadline=None, max_examples=300)
def test_contains_counts(deck, cards):
    wanted, there = Counter(cards), Counter(deck)
    held = all(there[card] >= n for card, n in wanted.items())
    assert contains(deck, cards) == in_deck(cards, tuple(deck)) == held


def test_contains_by_hand():
    assert contains(["a", "b"], [])
    assert contains(["a", "b", "a"], ["a", "a"])
    assert not contains(["a", "b"], ["a", "a"])
    assert not contains(["a", "b"], ["c"])
    assert contains(iter(["a", "b"]), iter(["b"]))
