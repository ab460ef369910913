"""Seed to permutation and permutations to a deck (spec section 5.2): bytes, and statistics.

The statistics use seeds that are always the same (SHA-512 of a counter), so they either always
hold or never. FAIRDEAL_LONG=1 runs the position counts over 100,000 shuffles instead of 10,000.
"""

import hashlib
import hmac
import itertools
import math
import struct
from collections import Counter

import pytest
from helpers_primitives import (
    CHI_SQUARE_1E6,
    FULL_PACK,
    LONG,
    chi_square,
    fixed,
    wilson_hilferty,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from fairdeal import shuffle
from fairdeal.shuffle import apply, blocks, hands_of, permutation, words

HAND = fixed("hand", size=32)


# -- the permutation, written again from the spec's text --------------------------------------------


def stream(seed, hand_id, shuffler, size):
    """Big-endian 16-bit words of HMAC-SHA-512(seed, u32(i) ‖ frame(…)) for i = 1, 2, …"""
    tag, name = b"fairdeal/v1/permutation", shuffler.encode()
    label = (
        bytes([len(tag)]) + tag
        + struct.pack(">I", 32) + hand_id
        + struct.pack(">I", len(name)) + name
        + struct.pack(">IH", 2, size)
    )  # fmt: skip
    for number in itertools.count(1):
        block = hmac.new(seed, struct.pack(">I", number) + label, hashlib.sha512).digest()
        for at in range(0, 64, 2):
            yield block[at] * 256 + block[at + 1]


def from_the_spec(seed, hand_id, shuffler, size, reject=True):
    """The permutation and how many words were rejected on the way to it."""
    source, rejected = stream(seed, hand_id, shuffler, size), 0
    places = list(range(size))
    for i in range(size - 1, 0, -1):
        word = next(source)
        while reject and word >= 65536 - 65536 % (i + 1):
            rejected += 1
            word = next(source)
        j = word % (i + 1)
        places[i], places[j] = places[j], places[i]
    return places, rejected


@pytest.mark.parametrize(
    "size", [1, 2, 3, 4, 5, 7, 31, 32, 33, 40, 51, 52, 104, 208, 416, 1000, 1024]
)
@pytest.mark.parametrize("shuffler", ["house", "seat/0", "seat/9"])
def test_permutations_are_those_of_the_spec(size, shuffler):
    for number in range(10):
        seed = fixed("spec", number)
        made = permutation(seed, HAND, shuffler, size)
        assert made == from_the_spec(seed, HAND, shuffler, size)[0]
        assert sorted(made) == list(range(size))


@given(
    st.binary(min_size=64, max_size=64),
    st.binary(min_size=32, max_size=32),
    st.sampled_from(["house", *(f"seat/{n}" for n in range(10))]),
    st.integers(1, 120),
)
@settings(deadline=None, max_examples=100)
def test_any_permutation_is_that_of_the_spec(seed, hand_id, shuffler, size):
    made = permutation(seed, hand_id, shuffler, size)
    assert made == from_the_spec(seed, hand_id, shuffler, size)[0]


@pytest.mark.parametrize("size", [3, 5, 52, 1000])
def test_words_that_would_favour_a_position_are_rejected(size):
    """Seeds are searched for one at which a word is rejected, and there it makes a difference."""
    for number in range(200_000):
        seed = fixed("rejection", number)
        made, rejected = from_the_spec(seed, HAND, "seat/0", size)
        if rejected:
            break
    assert rejected
    naive, _ = from_the_spec(seed, HAND, "seat/0", size, reject=False)
    assert permutation(seed, HAND, "seat/0", size) == made != naive


def test_the_limit_itself_is_rejected_and_the_word_below_it_is_not(monkeypatch):
    """For 3 positions words below 65535 = 3 · 21845 are even; 65535 is one too many."""
    for given_words, wanted in (([65534, 0], [1, 0, 2]), ([65535, 65534, 0], [1, 0, 2])):
        monkeypatch.setattr(shuffle, "words", lambda *_, given=given_words: iter(given))
        assert permutation(b"", b"", "", 3) == wanted
    # without the rejection 65535 mod 3 = 0 would swap 2 and 0, then 65534 mod 2 = 0 swap 1 and 0


def test_limits_are_the_largest_multiples():
    for n in range(1, 1025):
        limit = shuffle.LIMITS[n]
        assert limit % n == 0
        assert limit <= 65536 < limit + n


def test_one_card_needs_no_word():
    assert permutation(b"", b"", "", 1) == [0]


@pytest.mark.parametrize("size", [-1, 0, 1025])
def test_a_deck_has_1_to_1024_cards(size):
    with pytest.raises(ValueError, match=f"1 to 1024 cards, not {size}"):
        permutation(fixed("s"), HAND, "house", size)


def test_blocks_and_words_count_from_one():
    source = blocks(b"key", b"label")
    for number in (1, 2, 3):
        data = struct.pack(">I", number) + b"label"
        assert next(source) == hmac.new(b"key", data, hashlib.sha512).digest()
    first = hmac.new(b"key", b"\x00\x00\x00\x01label", hashlib.sha512).digest()
    second = hmac.new(b"key", b"\x00\x00\x00\x02label", hashlib.sha512).digest()
    taken = list(itertools.islice(words(b"key", b"label"), 64))
    assert taken == list(struct.unpack(">64H", first + second))


# -- composition and dealing --------------------------------------------------------------------------


def test_direction_and_order_of_the_composition():
    """`deck[p] = before[perm[p]]`, first shuffler first."""
    assert apply([2, 0, 1], ["a", "b", "c"]) == ["c", "a", "b"]
    assert apply([1, 0, 2], apply([2, 0, 1], ["a", "b", "c"])) == ["a", "c", "b"]
    assert apply([2, 0, 1], apply([1, 0, 2], ["a", "b", "c"])) == ["c", "b", "a"]


def test_hands_are_dealt_round_and_the_rest_is_the_kitty():
    hands, kitty = hands_of("abcdefghijk", 4)
    assert hands == (("a", "e"), ("b", "f"), ("c", "g"), ("d", "h"))
    assert kitty == ("i", "j", "k")
    hands, kitty = hands_of(FULL_PACK, 4)
    assert (hands[0][:2], hands[3][-1], kitty) == (("2C", "6C"), "AS", ())


@given(st.integers(1, 60), st.integers(2, 10))
@settings(deadline=None)
def test_position_p_goes_to_seat_p_mod_n(cards, seats):
    deck = [f"{n:02}" for n in range(cards)]
    hands, kitty = hands_of(deck, seats)
    k = cards // seats
    assert len(hands) == seats
    for p, card in enumerate(deck):
        if p < k * seats:
            assert hands[p % seats][p // seats] == card
    assert list(kitty) == deck[k * seats :]


# -- statistics ------------------------------------------------------------------------------------


def test_the_critical_values_agree_with_the_formula():
    for freedom, limit in CHI_SQUARE_1E6.items():
        assert (
            0.999
            < wilson_hilferty(freedom) / limit
            < (1.16 if freedom < 5 else 1.05 if freedom < 20 else 1.01)
        )


def within(counts, shuffles, kinds):
    """That all kinds appear, and that the counts pass chi-square at 1e-6."""
    assert len(counts) == kinds
    return chi_square(counts.values(), shuffles / kinds) < CHI_SQUARE_1E6[kinds - 1]


@pytest.mark.parametrize("size", [2, 3, 4, 5])
def test_every_order_of_a_small_deck_is_equally_likely(size):
    shuffles = 200 * math.factorial(size)
    counts = Counter(
        tuple(permutation(fixed("orders", n), HAND, "seat/0", size)) for n in range(shuffles)
    )
    assert within(counts, shuffles, math.factorial(size))


def test_one_card_has_one_order():
    assert {tuple(permutation(fixed("one", n), HAND, "seat/0", 1)) for n in range(50)} == {(0,)}


def test_the_chi_square_test_would_notice():
    """The well-known wrong shuffle (swap each position with any) fails it by far."""
    counts = Counter()
    shuffles = 6 * 2000
    for n in range(shuffles):
        deck, draws = [0, 1, 2], struct.unpack(">3H", fixed("naive", n, 6))
        for i in range(3):
            j = draws[i] % 3
            deck[i], deck[j] = deck[j], deck[i]
        counts[tuple(deck)] += 1
    assert not within(counts, shuffles, 6)


def position_counts(shuffles, size=52):
    counts = [[0] * size for _ in range(size)]
    for n in range(shuffles):
        for position, card in enumerate(permutation(fixed("positions", n), HAND, "seat/0", size)):
            counts[position][card] += 1
    return counts


def test_every_card_is_equally_likely_at_every_position():
    shuffles = 100_000 if LONG else 10_000
    counts = position_counts(shuffles)
    expected = shuffles / 52
    # Rows and columns of a permutation matrix both add up, so (51/52)·X² has 51·51 degrees.
    total = sum(chi_square(row, expected) for row in counts)
    assert total * 51 / 52 < CHI_SQUARE_1E6[51 * 51]
    for row in (*counts, *zip(*counts, strict=True)):
        assert chi_square(row, expected) < CHI_SQUARE_1E6[51]


REVERSED = [4, 3, 2, 1, 0]
ROTATED = [1, 2, 3, 4, 0]
SWAPPED = [1, 0, 2, 3, 4]


@pytest.mark.parametrize("honest", [0, 1, 2, 3])
def test_one_honest_shuffler_among_three_constant_ones_is_enough(honest):
    """Wherever it sits, the composition is uniform though the others always do the same."""
    shuffles = 200 * 120
    counts = Counter()
    for n in range(shuffles):
        turns = [REVERSED, ROTATED, SWAPPED]
        turns.insert(honest, permutation(fixed(f"honest {honest}", n), HAND, f"seat/{honest}", 5))
        deck = list("abcde")
        for perm in turns:
            deck = apply(perm, deck)
        counts["".join(deck)] += 1
    assert within(counts, shuffles, 120)


def test_one_honest_shuffler_among_three_constant_ones_at_52_cards():
    constant = [permutation(fixed("constant", n), HAND, "seat/1", 52) for n in range(3)]
    counts = [[0] * 52 for _ in range(52)]
    shuffles = 4_000
    for n in range(shuffles):
        deck = apply(constant[0], range(52))
        deck = apply(permutation(fixed("honest 52", n), HAND, "seat/0", 52), deck)
        for position, card in enumerate(apply(constant[2], apply(constant[1], deck))):
            counts[position][card] += 1
    total = sum(chi_square(row, shuffles / 52) for row in counts)
    assert total * 51 / 52 < CHI_SQUARE_1E6[51 * 51]


PAIRS = {
    "two seats": lambda seed: (
        permutation(seed, HAND, "seat/0", 5),
        permutation(seed, HAND, "seat/1", 5),
    ),
    "house and seat": lambda seed: (
        permutation(seed, HAND, "house", 5),
        permutation(seed, HAND, "seat/0", 5),
    ),
    "two hands": lambda seed: (
        permutation(seed, HAND, "seat/0", 5),
        permutation(seed, fixed("hand", 1, 32), "seat/0", 5),
    ),
}


@pytest.mark.parametrize("pair", PAIRS)
def test_one_seed_in_two_places_gives_unrelated_permutations(pair):
    """What takes one to the other is uniform over all 120, as for two that have nothing in common."""
    shuffles = 200 * 120
    relations, composed = Counter(), Counter()
    for n in range(shuffles):
        one, other = PAIRS[pair](fixed(pair, n))
        inverse = sorted(range(5), key=one.__getitem__)
        relations[tuple(apply(inverse, other))] += 1
        composed[tuple(apply(other, one))] += 1
    assert within(relations, shuffles, 120)
    assert within(composed, shuffles, 120)


def test_one_permutation_twice_would_not_do():
    """Why seat and hand are bound into the stream: squares of permutations are not uniform."""
    composed = Counter()
    for n in range(200 * 120):
        perm = permutation(fixed("square", n), HAND, "seat/0", 5)
        composed[tuple(apply(perm, perm))] += 1
    assert len(composed) < 120


@pytest.mark.parametrize(
    "other", [(HAND, "seat/1"), (HAND, "house"), (fixed("hand", 1, 32), "seat/0")]
)
def test_one_seed_in_two_places_agrees_as_often_as_chance(other):
    """At 52 cards the agreeing positions number 1 on average with variance 1, as fixed points do."""
    agreeing = []
    for n in range(3000):
        seed = fixed("agree", n)
        one = permutation(seed, HAND, "seat/0", 52)
        two = permutation(seed, *other, 52)
        agreeing.append(sum(a == b for a, b in zip(one, two, strict=True)))
    mean = sum(agreeing) / 3000
    variance = sum((count - mean) ** 2 for count in agreeing) / 2999
    # the mean's deviation is 1/√3000; that of the variance of a Poisson variable √(3/3000)
    assert abs(mean - 1) < 4.9 / math.sqrt(3000)
    assert abs(variance - 1) < 4.9 * math.sqrt(3 / 3000)
    assert max(agreeing) < 12


@pytest.mark.parametrize("size", [3, 5])
def test_another_size_is_another_stream(size):
    """The size is bound too: a seed's stream for 6 cards does not continue the one for 5."""
    seeds = [fixed("size", n) for n in range(64)]
    ends = [
        permutation(s, HAND, "seat/0", size) == permutation(s, HAND, "seat/0", size + 1)[:size]
        for s in seeds
    ]
    assert not all(ends)
