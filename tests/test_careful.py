"""`careful/1`: situations worked out by hand, the rule sets, its strength; and installed policies."""

import hashlib
import os
import random
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest
from bench.policies import TABLES, compare, play_hand, table, two_packs
from helpers import Table
from hypothesis import given, settings
from hypothesis import strategies as st

from fairdeal import verify
from fairdeal.cards import french_deck
from fairdeal.errors import LocalProtocolError
from fairdeal.games import DealRules, game_of
from fairdeal.games.base import View
from fairdeal.games.careful import Careful
from fairdeal.games.hearts import HeartsGame, HeartsRules
from fairdeal.games.policies import POLICIES, Low, installed
from fairdeal.games.presets import S0
from fairdeal.messages import Play
from fairdeal.parties import SEATS

CAREFUL = POLICIES["careful/1"]
PLAIN, OMNIBUS = TABLES["S0"], TABLES["Omnibus"]


def no_words():
    raise AssertionError("this policy draws nothing")


def view(cards, plays="", game=PLAIN, seat=None):
    """Plays like ``0:2C 1:5C``; the seat is the one on turn."""
    course = game.begin(1)
    for play in plays.split():
        course.play(int(play[0]), play[2:])
    who = course.turn if seat is None else seat
    return View(game, who or 0, 1, tuple(cards.split()), (), (), course)


def plays(cards, plays="", game=PLAIN):
    """The card it plays, whatever the order in which it holds its cards."""
    seen = view(cards, plays, game)
    card = CAREFUL.play_card(seen, no_words)
    assert card in seen.play.legal(seen.cards)
    assert card == CAREFUL.play_card(seen._replace(cards=seen.cards[::-1]), no_words)
    return card


def passes(cards, game=PLAIN):
    chosen = CAREFUL.pass_cards(view(cards, game=game), no_words)
    assert set(chosen) == set(
        CAREFUL.pass_cards(view(" ".join(reversed(cards.split())), game=game), no_words)
    )
    return set(chosen)


# -- passing ----------------------------------------------------------------------------------------

ONE = table(pass_count=1)


@pytest.mark.parametrize(
    ("cards", "passed", "game"),
    [
        # the queen and what catches it
        ("2C 3C AC KC QS KS AS 2D 4D 5D 7H 9H 3S", {"QS", "KS", "AS"}, PLAIN),
        ("2C 3C AC KC KS 2D 4D 5D 7H 9H 3S 4S 2H", {"KS", "AC", "KC"}, PLAIN),
        # low cards of any suit burden nobody, high clubs do
        ("2S 3S 4S AC KC 2C 3C 4D 5D 6D 2H 3H 4H", {"AC", "KC", "6D"}, PLAIN),
        ("AH AC 2C", {"AH"}, ONE),  # 300 against 200
        ("AC AD 2C", {"AD"}, ONE),  # of equal burdens the highest
        ("AS AC 2C", {"AS"}, ONE),
        ("AS AC QS", {"QS"}, ONE),
        # a prize is kept
        ("JD 2C 3C 2S", {"2C", "3C", "2S"}, OMNIBUS),
        ("JD 2C 3C 2S", {"JD", "3C", "2S"}, PLAIN),
        # by value; the ace of spades is a bane, and more than what only catches one
        ("AS KS QS AH", {"QS"}, table(pass_count=1, card_points={"QS": 13, "KS": 10, "AS": 7})),
        ("QS AH 2C", {"AH"}, table(pass_count=1, card_points={"QS": 0})),  # worth nothing here
    ],
)  # fmt: skip
def test_passes(cards, passed, game):
    assert passes(cards, game) == passed


# -- leading ----------------------------------------------------------------------------------------

CLUBS = "0:2C 1:3C 2:4C 3:5C "  # seat 3 leads the second trick


@pytest.mark.parametrize(
    ("cards", "before", "card"),
    [
        ("9S 4S 8D KC", CLUBS, "9S"),  # bleeds the queen with its highest low spade
        ("9S 4S 2D", "0:2C 1:3C 2:QS 3:5C ", "2D"),  # which has been played here
        ("KS 9S 8D 7D", CLUBS, "8D"),  # whoever holds a king does not; 8D and 7D risk as much
        ("AS 8D 7D", CLUBS, "8D"),
        ("QS 3S TD", CLUBS, "3S"),  # nor the queen's own holder
        ("KS AD", CLUBS, "AD"),  # 100 against 91 times 14
        ("QS AD", CLUBS, "AD"),  # 100 against 83 times 14
        ("2C 3D 4C", "", "2C"),
    ],
)
def test_leads(cards, before, card):
    assert plays(cards, before) == card


def test_leads_what_somebody_can_take():
    """Two of clubs is the only club: whoever leads it takes the trick."""
    rules = {"first_lead": "left-of-dealer", "moon": "none", "card_points": {}, "pass_cycle": (0,)}
    game = HeartsGame(msgspec.structs.replace(S0, **rules), ("2C", *[f"{r}D" for r in "56789"]), 3)
    assert plays("2C 6D", "", game) == "6D"


def test_leads_no_suit_that_others_have_run_out_of():
    """8C: 2 of 8 unseen are lower, 25. 7D: 2 of 9, 22; but seat 1 has no diamond, so 66."""
    before = CLUBS + "3:2D 0:3D 1:9H 2:4D "
    assert plays("8C 7D", before, TABLES["hearts alone"]) == "8C"
    assert plays("8C 6D", before, TABLES["hearts alone"]) == "8C"  # 25 against 33
    assert plays("9C 6D", before, TABLES["hearts alone"]) == "6D"  # 37 against 33


def test_bleeds_nobody_at_the_price_of_a_prize():
    assert plays("9S TS 2D", CLUBS, table(card_points={"QS": 13, "TS": -10})) == "2D"
    assert plays("9S TS 2D", CLUBS) == "TS"


def test_leads_a_prize_that_nobody_takes():
    before = CLUBS + "3:QD 0:KD 1:AD 2:2D "
    assert plays("JD 9C", before, OMNIBUS) == "JD"
    assert plays("JD KC", CLUBS, OMNIBUS) == "KC"  # three diamonds are higher
    assert plays("JD KC", before, PLAIN) == "KC"  # no prize: 12 of 13 against all


#: seat 1 has taken 16 points of 26, nobody else any; seat 0 leads
MOON = "0:2C 1:AC 2:3C 3:4C 1:AS 2:QS 3:2H 0:3H 1:KS 2:4H 3:2S 0:3S 1:2D 2:3D 3:4D 0:AD "
#: the same, with one point for seat 0
STOPPED = MOON.replace("2:3D", "2:5H")


def test_leads_its_best_heart_to_stop_a_moon():
    assert plays("AH 5D", MOON) == "AH"
    assert plays("KH 5D", MOON) == "5D"  # the ace is with somebody
    assert plays("AH 5D", STOPPED) == "5D"
    assert plays("AH 5D", MOON, TABLES["no moon"]) == "5D"
    assert plays("8C 5D", MOON) == "5D"
    assert plays("AH 5D", MOON.replace("2:4H", "2:4S")) == "5D"  # 15 points are less than 3 in 5
    assert plays("AH 5D", MOON.replace("3:4C", "3:JD"), OMNIBUS) == "AH"  # whatever the prizes


def test_leads_a_heart_that_others_take():
    """9H: 3 of 8 unseen are lower, 37. Seat 2 has no diamond: 6D is 22 times 3, 5D 11 times 3."""
    assert plays("9H 6D", STOPPED) == "9H"
    assert plays("9H 5D", STOPPED) == "5D"


# -- following --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cards", "trick", "card"),
    [
        ("2D 9D JD", "3:TD", "9D"),  # ducks as high as it goes
        ("JD KD", "3:TD 0:QH 1:QD", "JD"),  # under a trick with points
        ("JD KD AD", "3:TD 0:4D 1:QD", "AD"),  # nothing to lose: rid of the highest
        ("JD KD", "3:TD 0:QH 1:9D", "KD"),  # it takes it anyway
        ("2S QS", "3:KS 0:3S", "QS"),  # the queen goes under the king
        ("2S QS", "3:AS", "QS"),
        ("2S QS", "3:JS", "2S"),
        ("KS QS", "3:JS 0:2S 1:3S", "KS"),
        ("QS AS", "3:JS 0:2H 1:3S", "AS"),
        ("JD QD KD", "3:TD", "KD"),  # the first round is cheap
        ("JS KS", "3:TS", "JS"),  # but not with what catches the queen
        ("JS KS", "3:TS 0:QS", "JS"),  # which is in the trick: somebody may go higher
        ("JD QD", "3:TD 0:QH", "JD"),  # nor where there is a point
        ("5D 6D 7D 8D 9D TD JD QD KD", "3:4D", "5D"),  # two others can hardly have these three
        ("JS QS", "3:TS 0:2H 1:3S", "JS"),  # it takes it anyway, so not with the queen
        ("8H 9H", "3:5H", "8H"),
        ("8H", "3:5H", "8H"),
    ],
)
def test_follows(cards, trick, card):
    assert plays(cards, CLUBS + trick) == card


def test_follows_low_where_somebody_has_run_out():
    """Seat 1 had no diamond before, so it would not be cheap."""
    before = CLUBS + "3:2D 0:3D 1:9H 2:4D 2:5D 3:6D "
    assert plays("TD KD", before) == "TD"
    assert plays("JD QD", before, OMNIBUS) == "QD"  # nor would the prize be sure


def test_throws_the_worst_bane_first():
    assert plays("QS KS", "1:AS", TABLES["Black Maria"]) == "QS"


@pytest.mark.parametrize(
    ("cards", "trick", "card"),
    [
        ("TD QD KD", "3:9D 0:JD", "KD"),  # takes the prize, and surely
        ("TD QD KD", "3:9D 0:QS 1:JD", "TD"),  # not with the queen
        ("4D JD", "3:9D 0:2D 1:3D", "JD"),  # nobody is left to take it
        ("4D JD", "3:9D 0:2D", "4D"),
        ("4D JD", "3:9D 0:QS 1:3D", "4D"),
        ("TD JD", "3:9D 0:QH 1:QS", "JD"),
        ("4D JD", "3:QD 0:2D 1:3H", "4D"),  # keeps the prize from others
        ("2D 3D", "3:9D 0:JD", "3D"),
        ("TD QD", "3:9D 0:QH 1:QS", "QD"),  # it takes it anyway
    ],
)
def test_follows_for_the_jack_of_diamonds(cards, trick, card):
    assert plays(cards, CLUBS + trick, OMNIBUS) == card


#: seat 1 has won three tricks in a row, and leads
RUN = "0:2C 1:AC 2:3C 3:4C 1:KC 2:5C 3:6C 0:7C 1:QC 2:8C 3:9C 0:TC "


@pytest.mark.parametrize(
    ("cards", "trick", "card"),
    [
        ("9H JH KH", "1:TH 2:2H", "KH"),  # takes a point from the suspect
        ("3H 9H", "1:TH", "3H"),  # keeps what might stop it later
        ("2S QS", "1:KS", "2S"),  # no queen for the suspect
        ("2S QS", "1:TS 2:KS", "QS"),  # the king is another's
        ("9D KD", "1:TD 2:2D", "9D"),  # nothing to take yet
        # discards
        ("3H KC 2S", "1:AD", "2S"),  # the suspect gets no point and no high card
        ("3H QS", "1:AD", "3H"),
        ("3H KC QS", "1:5D 2:AD", "QS"),  # somebody else gets one
        ("3H 9H KC", "1:5D 2:AD", "9H"),
        ("QS KH KC", "1:5D 2:AD", "QS"),
        ("2S KS KC", "1:5D 2:AD", "KS"),
    ],
)
def test_stops_a_moon(cards, trick, card):
    assert plays(cards, RUN + trick) == card


def test_suspects_nobody_without_reason():
    assert plays("9H JH KH", CLUBS + "3:TH 0:2H") == "9H"  # one trick is no run
    assert plays("2H JH", CLUBS + "3:2D 0:3D 1:9H 2:4D 2:TH") == "2H"  # nor one point a moon
    twice = RUN[: 2 * 20] + "1:TH 2:2H"
    assert plays("9H JH KH", twice) == "9H"
    assert plays("9H JH KH", RUN + "1:TH 2:2H", TABLES["no moon"]) == "9H"


def test_a_run_is_no_moon_once_another_has_points():
    before = "0:2C 1:3C 2:4H 3:4C 3:5C 0:KC 1:AC 2:6C 1:QC 2:8C 3:9C 0:TC 1:JC 2:2D 3:7C 0:8C "
    assert plays("9H JH KH", before + "1:TH 2:2H") == "9H"


def test_never_suspects_itself():
    assert plays("AH 3D", RUN.replace("0:TC", "0:2H")) == "3D"


# -- discarding -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cards", "before", "card"),
    [
        ("QS 2H AC", CLUBS + "3:TD", "QS"),  # on another's trick
        ("KS 2H AC", CLUBS + "3:TD", "KS"),  # what might catch it
        ("2S KH AC", CLUBS + "3:TD", "KH"),
        ("AH KC", CLUBS + "3:TD", "KC"),  # the best heart stops a moon
        ("KH KC", CLUBS + "3:TD", "KH"),  # which the king does not
        ("AH KC", STOPPED + "0:TD", "AH"),  # nor need it any more
        ("2D AC KC", "0:2S 1:3S 2:4S", "AC"),
    ],
)
def test_discards(cards, before, card):
    assert plays(cards, before) == card


def test_discards_no_prize():
    assert plays("JD 2C", CLUBS + "3:TS", OMNIBUS) == "2C"
    assert plays("AH KC", CLUBS + "3:TD", TABLES["no moon"]) == "AH"


# -- two packs --------------------------------------------------------------------------------------


def test_cards_that_cancel_each_other():
    game = two_packs(6)
    assert plays("5C 5C", "1:TC", game) == "5C"
    # the tens cancel: only a twin of a card in the trick is under
    assert plays("2C TC", "1:TC 2:TC 3:3H 4:4C 5:4C", game) == "TC"
    assert plays("9C KC", "1:TC 2:TC 3:5C", game) == "KC"


def test_a_cancelled_trick_is_nobody_s():
    """The hearts that wait on the table make no taker: seat 1's run is one."""
    game = two_packs(6)
    run = "".join(f"1:{r}C 2:2C 3:3C 4:4C 5:5C 0:6C " for r in "AKQ")
    waiting = "1:7D 2:7D 3:2H 4:3D 5:3D 0:3H "
    assert plays("9H KH", run + "1:TH 2:2H", game) == "KH"
    assert plays("9H KH", run + waiting + "1:TH 2:2H", game) == "9H"
    # so a moon is open, and the best heart kept for it
    first = "1:AC 2:2C 3:3C 4:4C 5:5C 0:2H "
    assert plays("AH AH KC", first + waiting + "1:TS", game) == "KC"
    # 32 of 52 points wait, and seat 1 has one: that is not 3 in 5
    much = "1:QS 2:QS 3:KS 4:KS 5:2S 0:2S 1:9H 2:9H 3:8H 4:8H 5:7H 0:7H "
    assert plays("3H KH", first + much + "1:TH", game) == "3H"


def test_a_third_twin_is_under():
    game = table(6, (), 3, pass_cycle=(0,), first_lead="left-of-dealer", cancellation=True)
    assert plays("TC 4C", "1:TC 2:TC 3:5C", game) == "TC"


# -- what it must not stumble over --------------------------------------------------------------------


def test_chooses_to_add():
    assert CAREFUL.choose_moon(view("2C"), no_words) == "add"


def test_plays_hearts_only():
    deck = french_deck()
    game = game_of(DealRules(), deck, 4)
    with pytest.raises(TypeError, match="Hearts only"):
        CAREFUL.pass_cards(View(game, 0, 1, deck[:5], (), (), PLAIN.begin(1)), no_words)


def test_follows_a_false_log():
    """Cards played twice, or that are no cards: an answer, though of no use."""
    assert plays("9D JD", "0:2C 1:2C 2:XX 3:2C 0:TD 1:TD") in {"9D", "JD"}
    assert plays("9D JD", "0:XX 1:2C 2:3C") in {"9D", "JD"}


# -- every rule set -----------------------------------------------------------------------------------


@st.composite
def games(draw):
    """Any game that the rules accept: most of what is drawn is, the rest is drawn again."""
    seats, packs = draw(st.integers(3, 10)), draw(st.integers(1, 3))
    removed = draw(st.sets(st.sampled_from(french_deck()), max_size=8))
    deck = french_deck(packs, removed)
    left_over = len(deck) % seats
    by_club = packs == 1 and not left_over
    whole = st.integers(-30, 30)
    banes = st.sampled_from([card for card in deck if card[1] != "H"])
    pick = lambda *values: draw(st.sampled_from(values))  # noqa: E731
    rules = HeartsRules(
        cancellation=packs > 1,
        card_points=draw(st.dictionaries(banes, whole, max_size=6)),
        end_score=100,
        exact_reset=None,
        first_lead=pick("lowest-club", "left-of-dealer") if by_club else "left-of-dealer",
        first_trick_points=pick("forbidden", "allowed"),
        hearts_broken_by=pick("heart", "discard"),
        kitty=pick("first-trick", "last-trick") if left_over else None,
        lead_from_points=draw(st.booleans()),
        moon=pick("others-add", "shooter-subtracts", "none", *(() if left_over else ("shooter-chooses",))),
        pass_count=draw(st.integers(1, min(26, len(deck) // seats))),
        pass_cycle=tuple(draw(st.lists(st.integers(0, seats - 1), min_size=1, max_size=4))),
        queen_breaks_hearts=draw(st.booleans()),
        tie="shared",
    )  # fmt: skip
    return HeartsGame(rules, deck, seats)


@given(games(), st.integers(0, 2**32), st.integers(0, 1023))
@settings(deadline=None, max_examples=60, derandomize=True)
def test_plays_by_every_rule_set(game, seed, mix):
    """`play_hand` asserts that each pass, play and choice is in order. `mix`: who plays at random."""
    policies = [POLICIES["random/1"] if mix >> seat & 1 else CAREFUL for seat in range(game.seats)]
    play_hand(game, 1, policies, random.Random(seed))


@pytest.mark.parametrize("name", TABLES)
def test_plays_at_every_table_better_than_the_others(name):
    game = TABLES[name]
    for other in ("low/1", "random/1"):
        mine, theirs, _ = compare(game, CAREFUL, POLICIES[other], 60)
        assert mine < theirs


# -- strength and determinism ---------------------------------------------------------------------------


def test_beats_the_other_policies_clearly():
    """Mean points of a hand: one among three of the others, and the other way round."""
    for other in ("low/1", "random/1"):
        mine, theirs, _ = compare(PLAIN, CAREFUL, POLICIES[other], 100)
        assert mine + 4 < theirs
        alone, careful, _ = compare(PLAIN, POLICIES[other], CAREFUL, 100)
        assert careful + 4 < alone


def trail():
    """A digest of what it decides over some hands of every table."""
    digest = hashlib.sha256()

    class Told(Careful):
        def pass_cards(self, view, word):
            cards = super().pass_cards(view, word)
            digest.update("".join(cards).encode())
            return cards

        def play_card(self, view, word):
            card = super().play_card(view, word)
            digest.update(card.encode())
            return card

    for game in TABLES.values():
        for number in range(3):
            play_hand(game, number + 1, [Told()] * game.seats, random.Random(number))
    return digest.hexdigest()


def test_decides_as_ever():
    """A policy is never changed. If this fails, what was written is another: `careful/2`."""
    assert trail() == "eca51c37ad76dd99628b230417811cbe586164bac3d15db9752e69109e5ec2bc"


@pytest.mark.parametrize("seed", ["0", "1"])
def test_decides_alike_in_another_process(seed):
    """Whatever order sets have there."""
    code = "import test_careful; print(test_careful.trail())"
    run = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.strip() == trail()


def bots_check(verdict):
    report = next(one for one in verdict.checks if one.number == 13)
    return report.status, report.reason


@pytest.mark.parametrize("people", [0, 1])
def test_a_hand_of_careful_bots_is_verified(people):
    played = Table(people, seed="careful", bots="careful/1", policy="careful/1").run()
    verdict = played.verify()
    assert (verdict.status, verdict.remarks) == ("valid", ())
    assert bots_check(verdict) == ("passed", None)
    report = next(one for one in verdict.checks if one.number == 13)
    assert report.looked_at == (4 - people) * 14


def test_another_s_decisions_are_not_careful_s():
    verdict = Table(1, seed="careful", bots="low/1").run().verify(
        policies={"low/1": CAREFUL}
    )  # fmt: skip
    assert "policy-departed" in {one.code for one in verdict.findings}


# -- a policy that does not work at replay ------------------------------------------------------------


class Raises(Low):
    def play_card(self, view, word):
        raise ZeroDivisionError


class Revokes(Low):
    def play_card(self, view, word):
        return "XX" if len(view.cards) == 5 else super().play_card(view, word)


class Unhashable(Low):
    def pass_cards(self, view, word):
        return [["2C"], ["3C"], ["4C"]]


class Greedy(Low):
    def pass_cards(self, view, word):
        return view.cards[:2]


class Foreign(Low):
    def pass_cards(self, view, word):
        return tuple(card for card in view.game.deck if card not in view.cards)[:3]


@pytest.mark.parametrize("policy", [Raises, Revokes, Unhashable, Greedy, Foreign])
def test_a_policy_that_fails_is_not_known_and_blames_nobody(policy):
    verdict = Table(3, seed="fails").run().verify(policies={"low/1": policy()})
    assert (verdict.status, verdict.findings) == ("valid", ())
    assert [(one.code, one.found, one.culprits) for one in verdict.remarks] == [
        ("policy-unknown", "low/1 at seat/3", ())
    ]
    assert bots_check(verdict) == ("not run", "a policy is not known here")


def test_a_policy_that_chooses_nonsense_is_not_known():
    class Wavers(Low):
        def choose_moon(self, view, word):
            return "perhaps"

    from test_dealer import CHOOSER, ONE_HEART

    hand = Table(0, rules=CHOOSER["rules"], deck=ONE_HEART).run()
    assert bots_check(hand.verify()) == ("passed", None)
    verdict = hand.verify(policies={"low/1": Wavers()})
    assert [one.code for one in verdict.remarks] == ["policy-unknown"]
    assert bots_check(verdict) == ("passed", "a policy is not known here")  # the other seats'


@pytest.mark.parametrize("bots", ["low/1", "random/1", "careful/1"])
def test_a_bot_that_opens_with_a_card_it_does_not_hold(bots):
    """No play of it is legal, so no policy can be asked: it has departed from any."""
    hand = Table(0, seed="op", bots=bots).run()
    bend = hand.bend()
    drafts = bend.of("play")
    course, thief = hand.hand.game.begin(1), (int(drafts[0].by[-1]) + 1) % 4
    for draft in drafts:
        seat, card = thief if course.turn is None else course.turn, draft.body.card
        draft.by, draft.body = SEATS[seat], Play(card=card)
        course.play(seat, card)
    verdict = bend.verify()
    place = bend.place(drafts[0])
    departed = [one for one in verdict.findings if one.code == "policy-departed"]
    assert (verdict.status, departed[0].culprits) == ("invalid", ("server",))
    assert place in {one.entries[0] for one in departed}


# -- policies that a package brings ---------------------------------------------------------------------

MODULE = """
from fairdeal.games.policies import Low
class Highest(Low):
    def play_card(self, view, word):
        return max(view.play.legal(view.cards))
ACME = Highest()
HALF = object()
"""


@pytest.fixture(autouse=True)
def _forget():
    installed.cache_clear()
    yield
    installed.cache_clear()
    for name in [name for name in sys.modules if name.startswith("acme_")]:
        del sys.modules[name]


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Lay down a package with entry points, as an installer does."""

    def lay(points, group="fairdeal.policies", name="acme", module=MODULE):
        home = tmp_path / name
        info = home / f"{name}-1.dist-info"
        info.mkdir(parents=True)
        (home / f"acme_{name}.py").write_text(module)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
        lines = "".join(f"{point} = acme_{name}:{value}\n" for point, value in points.items())
        (info / "entry_points.txt").write_text(f"[{group}]\n{lines}")
        monkeypatch.syspath_prepend(home)

    return lay


def test_a_package_s_policy_deals_and_is_verified(install):
    install({"acme/3": "ACME"})
    assert "acme_acme" not in sys.modules
    assert "acme/3" not in list(POLICIES)  # only what is built in is listed
    assert set(POLICIES) == {"low/1", "random/1", "careful/1"}
    assert len(POLICIES) == 3
    hand = Table(1, bots="acme/3").run()
    verdict = hand.verify()
    assert (verdict.status, verdict.remarks) == ("valid", ())
    assert bots_check(verdict) == ("passed", None)
    assert "acme_acme" in sys.modules
    assert verify(hand.log.encoded(), policies={"acme/3": Low()}).status == "invalid"


def test_without_the_package_it_is_not_known(install):
    install({"acme/3": "ACME"})
    hand = Table(1, bots="acme/3").run()
    elsewhere = dict(POLICIES)
    verdict = hand.verify(policies=elsewhere)
    assert verdict.status == "valid"
    assert {one.code for one in verdict.remarks} == {"policy-unknown"}
    with pytest.raises(LocalProtocolError, match="no policy acme/4 is registered"):
        Table(1, bots="acme/4")


@pytest.mark.parametrize(
    "name", ["acme/4", "acme/03", "ACME/3", "acme", "acme_acme", "acme_acme:ACME", "os/1", ""]
)
def test_nothing_is_loaded_for_another_name(install, name):
    install({"acme/3": "ACME"})
    assert name not in POLICIES
    assert POLICIES.get(name) is None
    with pytest.raises(KeyError):
        POLICIES[name]
    assert "acme_acme" not in sys.modules


def test_nothing_is_loaded_from_another_group(install):
    install({"acme/3": "ACME"}, group="console_scripts")
    assert "acme/3" not in POLICIES
    assert "acme_acme" not in sys.modules


def test_what_is_built_in_stays(install):
    install(dict.fromkeys(("low/1", "random/1", "careful/1"), "ACME"))
    assert POLICIES["careful/1"] is CAREFUL
    assert isinstance(POLICIES["low/1"], Low)
    assert "acme_acme" not in sys.modules


def test_for_what_is_built_in_nothing_is_looked_up(monkeypatch):
    def never(**_):
        raise AssertionError("looked up")

    monkeypatch.setattr(metadata, "entry_points", never)
    assert Table(1, bots="careful/1").run().verify().status == "valid"


def test_of_two_packages_neither_is_meant(install):
    install({"acme/3": "ACME"})
    install({"acme/3": "ACME"}, name="rival")
    assert "acme/3" not in POLICIES
    assert not {"acme_acme", "acme_rival"} & sys.modules.keys()


@pytest.mark.parametrize("value", ["HALF", "Highest", "MISSING", "missing.part"])
def test_what_is_no_policy_is_not_known(install, value):
    install({"acme/3": value})
    assert "acme/3" not in POLICIES


def test_a_package_that_cannot_be_imported_is_not_known(install):
    install({"acme/3": "ACME"}, module="raise RuntimeError('broken')")
    assert "acme/3" not in POLICIES
    with pytest.raises(RuntimeError, match="broken"):
        installed("acme/3")  # which says why


def test_a_policy_is_looked_up_once(monkeypatch):
    looked = []

    def fake(*, group):
        looked.append(group)
        return [SimpleNamespace(name="acme/3", load=Low), SimpleNamespace(name="acme/2", load=None)]

    monkeypatch.setattr(metadata, "entry_points", fake)
    assert POLICIES["acme/3"] is POLICIES["acme/3"]
    assert looked == ["fairdeal.policies"]
