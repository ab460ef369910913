"""Whole games: each check across hands has a cheat that only it catches, and honest games have none."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest
from click.testing import CliRunner, Result
from helpers import SERVER, SHORT, Bend, Table

from fairdeal import simulate
from fairdeal.cli import cli
from fairdeal.dealer import Dealer, bot
from fairdeal.errors import MalformedError
from fairdeal.findings import GAME_CHECKS, GAME_CODES, GameVerdict
from fairdeal.games.presets import S0
from fairdeal.log import Log, read_log
from fairdeal.messages import Bot, Clock, Deck, Void
from fairdeal.seat import Seat
from fairdeal.whole_game import read_game, verify_game, verify_game_file, write_game

ROOT = Path(__file__).parent.parent
RULES = msgspec.structs.replace(S0, end_score=60, first_lead="left-of-dealer")


class Game:
    """One game at one table, hand after hand, with everybody's keys; `events` bend its course."""

    def __init__(self, people: int = 3, seed: object = 0, **terms: Any) -> None:
        self.table = Table(people, seed=seed, rules=RULES, deck=SHORT, **terms)
        self.logs: list[Log] = []

    def play(self, event: Callable[[Table], None] | None = None, stop: Any = None) -> Game:
        """The hand to its end, or to `stop` and then whatever `event` does."""
        if event is None:
            self.table.run()
        else:
            self.table.run(stop)
            event(self.table)
            self.table.run()
        self.logs.append(self.table.log)
        return self

    def next(self, **changed: Any) -> Game:
        """The next hand is opened, with these terms changed by the server."""
        table = self.table
        terms = msgspec.structs.replace(table.dealer.next_terms(), **changed)
        self.begin(terms)
        return self

    def begin(self, terms: Any) -> None:
        table = self.table
        table.at = table.log.last_at + 1000
        table.terms = terms
        table.dealer = Dealer(terms, table.server, at=table.at, entropy=table.entropy)
        persons = [n for n, seat in enumerate(terms.seats) if not isinstance(seat, Bot)]
        table.seats = {
            n: Seat(table.keys[n], server_key=table.server.public, entropy=table.entropy)
            for n in persons
        }
        table.refused, table.heard = {}, dict.fromkeys(table.seats, 0)

    def whole(self) -> Game:
        """To the end of the game."""
        self.play()
        while self.close.result is None:
            self.next().play()
        return self

    @property
    def close(self) -> Any:
        end = self.table.hand.end
        return self.table.log.entries[end or 0].message.body

    def data(self) -> bytes:
        return write_game(log.encoded() for log in self.logs)

    def verify(self, **pins: Any) -> GameVerdict:
        return verify_game_file(self.data(), **pins)

    def bend(self, place: int) -> Bend:
        return Bend(self.logs[place], self.table.secrets)


def found(verdict: GameVerdict) -> list[tuple[str, tuple[str, ...], tuple[int, ...]]]:
    return [(one.code, one.culprits, one.hands) for one in verdict.findings]


def assert_only(verdict: GameVerdict, code: str, *culprits: str, hands: tuple[int, ...]) -> None:
    """Exactly this finding, and nothing wrong within any hand."""
    assert found(verdict) == [(code, culprits, hands)]
    assert verdict.status == "invalid"
    assert [one.findings for one in verdict.hands] == [()] * len(verdict.hands)
    failed = [one.number for one in verdict.checks if one.status == "failed"]
    assert failed == [GAME_CODES[code].check]


# -- honest games --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def game() -> Game:
    """Three persons and a bot, from the first hand to the result."""
    return Game(seed="whole").whole()


def test_an_honest_game_is_valid(game: Game) -> None:
    verdict = game.verify(
        server_key=game.table.server.public, seat_keys={0: game.table.keys[0].public}
    )
    assert (verdict.status, verdict.findings, verdict.remarks) == ("valid", (), ())
    assert len(verdict.hands) == len(game.logs) > 2
    assert {one.status for one in verdict.checks} == {"passed"}
    assert "as far as the pinned keys signed" in verdict.guarantee
    assert "no person's key was pinned" in game.verify().guarantee


def test_a_game_that_goes_on_is_incomplete(game: Game) -> None:
    hands = [log.encoded() for log in game.logs[:-1]]
    verdict = verify_game(hands)
    assert (verdict.status, verdict.findings) == ("incomplete", ())
    assert "does not end here" in verdict.guarantee


def test_a_game_with_voids_departures_and_an_expulsion_is_valid() -> None:
    """A voided attempt, then somebody leaves in play; the result lists who left."""
    game = Game(people=4, seed="departures")
    game.play(
        lambda t: t.dealer.void("no-reveal", 1, t.at + 1) and None,
        stop=lambda t: len(t.hand.commits) == 4,
    )
    game.next().play(lambda t: t.dealer.replace(2, "left", t.at + 1) and None,
                     stop=lambda t: len(t.hand.plays) >= 5)  # fmt: skip
    game.next().whole()
    verdict = game.verify(seat_keys={n: game.table.keys[n].public for n in range(4)})
    assert (found(verdict), verdict.status) == ([], "valid")
    assert game.close.result.left == (1, 2)
    assert [one.attempt for one in (v.hand for v in verdict.hands) if one][:2] == [1, 2]
    statuses = [one.status for one in verdict.hands]
    assert statuses == ["incomplete", *["valid"] * (len(statuses) - 1)]


def test_simulated_games_are_valid() -> None:
    table = simulate.new_table(2)
    played = list(simulate.play_hands(table, 4, at=1000))
    verdict = verify_game([one.log.encoded() for one in played])
    assert (found(verdict), verdict.status) == ([], "incomplete")


# -- cheats --------------------------------------------------------------------------------------


def two_hands(seed: object = "two", **changed: Any) -> Game:
    """A hand, and the next one opened with what the server changed."""
    return Game(seed=seed).play().next(**changed).play()


def test_a_hand_left_out_of_the_file_names_nobody(game: Game) -> None:
    hands = [log.encoded() for log in game.logs]
    del hands[1]
    verdict = verify_game(hands)
    assert_only(verdict, "hand-missing", hands=(0, 1))
    assert "what was between them is not here" in verdict.findings[0].found


def test_a_file_that_begins_later_names_nobody(game: Game) -> None:
    verdict = verify_game([log.encoded() for log in game.logs[1:]])
    assert_only(verdict, "hand-missing", hands=(0,))


@pytest.mark.parametrize(
    ("order", "text"),
    [((0, 0), "the same number again"), ((0, 1, 0), "an earlier one")],
)
def test_hands_repeated_or_in_another_order_name_nobody(
    order: tuple[int, ...], text: str, game: Game
) -> None:
    verdict = verify_game([game.logs[n].encoded() for n in order])
    assert {one.code for one in verdict.findings} == {"hand-missing"}
    assert verdict.culprits == ()
    assert text in verdict.findings[0].found


def test_a_hand_of_another_table_names_nobody(game: Game) -> None:
    other = Game(seed="other").play().logs[0]
    other_game = Bend(other, Game(seed="other").table.secrets)
    other_game[0].change(game="g-2")
    verdict = verify_game([game.logs[0].encoded(), other_game.build().encoded()])
    assert {one.code for one in verdict.findings} == {"hand-missing"}
    assert "of another game or table" in verdict.findings[0].found


def test_a_hand_after_one_that_did_not_end_names_nobody(game: Game) -> None:
    cut = Log(game.logs[0].entries[:-8])
    verdict = verify_game([cut.encoded(), game.logs[1].encoded()])
    assert found(verdict) == [("hand-missing", (), (0, 1))]


@pytest.mark.parametrize(
    ("code", "changed"),
    [
        ("number-wrong", {"hand": 3}),
        ("number-wrong", {"attempt": 2}),
        ("number-wrong", {"game": "g-9"}),
        ("number-wrong", {"table": "t-9"}),
        ("terms-changed", {"rules": msgspec.structs.replace(RULES, end_score=61)}),
        ("terms-changed", {"deck": Deck(packs=1, removed=SHORT.removed[:-4])}),
        ("terms-changed", {"house": True}),
        ("terms-changed", {"substitute": "random/1"}),
        ("terms-changed", {"clock": Clock(grace_ms=1, reserve_ms=1)}),
        ("scores-not-carried", {"scores": (1, 2, 3, 4)}),
    ],
)
def test_what_the_server_changes_between_hands_is_its_fault(
    code: str, changed: dict[str, Any]
) -> None:
    assert_only(two_hands(**changed).verify(), code, SERVER, hands=(0, 1))


def seats_changed(game: Game, seat: int, other: Any) -> GameVerdict:
    seats = list(game.table.terms.seats)
    seats[seat] = other
    return game.next(seats=tuple(seats)).play().verify()


def test_a_person_who_stayed_is_not_made_a_bot() -> None:
    game = Game(seed="stay").play()
    verdict = seats_changed(game, 1, bot("P1", "low/1"))
    assert_only(verdict, "terms-changed", SERVER, hands=(0, 1))
    assert verdict.findings[0].found == "seat/1"


def test_a_bot_keeps_its_policy() -> None:
    verdict = seats_changed(Game(seed="bot").play(), 3, bot("B3", "random/1"))
    assert_only(verdict, "terms-changed", SERVER, hands=(0, 1))


def test_who_left_does_not_come_back() -> None:
    game = Game(people=4, seed="back")
    game.play(
        lambda t: t.dealer.replace(2, "left", t.at + 1) and None,
        stop=lambda t: len(t.hand.plays) >= 3,
    )
    verdict = game.next(seats=game.table.terms.seats, left=()).play().verify()
    assert_only(verdict, "terms-changed", SERVER, hands=(0, 1))


def test_after_a_silence_a_bot_must_sit_there() -> None:
    game = Game(people=4, seed="silent")
    game.play(
        lambda t: t.dealer.void("no-reveal", 1, t.at + 1) and None,
        stop=lambda t: len(t.hand.commits) == 4,
    )
    verdict = game.next(seats=game.table.terms.seats, left=()).play().verify()
    assert_only(verdict, "terms-changed", SERVER, hands=(0, 1))


def test_another_number_of_seats() -> None:
    game = Game(seed="five").play()
    terms = msgspec.structs.replace(
        game.table.dealer.next_terms(), seats=(*game.table.terms.seats, bot("B4")), scores=(0,) * 5
    )
    game.begin(terms)
    verdict = game.play().verify()
    assert [one.found for one in verdict.findings if one.code == "terms-changed"] == [
        "the number of seats"
    ]
    assert verdict.culprits == (SERVER,)


def test_a_hand_after_the_result() -> None:
    game = Game(seed="over").whole()
    end = game.table.hand.end
    terms = msgspec.structs.replace(
        game.table.terms, hand=len(game.logs) + 1, previous=game.table.log.hashes[end or 0],
        scores=(0, 0, 0, 0),
    )  # fmt: skip
    game.begin(terms)
    verdict = game.play().verify()
    assert {one.code for one in verdict.findings} == {"game-over", "scores-not-carried"}
    assert verdict.culprits == (SERVER,)


def test_a_result_that_calls_a_bot_of_the_start_one_who_left() -> None:
    """Its place is right for somebody who left: only the game's other hands show that nobody did."""
    game = Game(seed="left").whole()
    place = len(game.logs) - 1
    bend = game.bend(place)
    close = bend.one("close")
    outcome = game.table.hand.game.outcome(close.body.scores, close.body.points, {3})
    close.change(result=msgspec.structs.replace(close.body.result, **outcome._asdict()))
    game.logs[place] = bend.build()
    assert_only(game.verify(), "left-wrong", SERVER, hands=(place,))


def test_without_the_beginning_nobody_can_say_who_left(game: Game) -> None:
    verdict = verify_game([log.encoded() for log in game.logs[1:]])
    assert next(one for one in verdict.checks if one.number == 26).status == "not run"


def test_a_seed_used_twice_is_a_warning_to_whoever_drew_it() -> None:
    game = Game(seed="seeds").play()
    seed = bytes.fromhex(game.close.seeds["seat/1"])
    game.next()
    fresh = game.table.entropy
    game.table.seats[1] = Seat(
        game.table.keys[1],
        server_key=game.table.server.public,
        entropy=lambda n: seed if n == 64 else fresh(n),
    )
    verdict = game.play().verify()
    assert found(verdict) == []
    assert [(one.code, one.culprits, one.hands) for one in verdict.remarks] == [
        ("seed-reused", ("seat/1",), (0, 1))
    ]


def test_a_person_s_seed_that_a_bot_uses_is_a_warning_to_the_server() -> None:
    game = Game(seed="stolen").play()
    seed = bytes.fromhex(game.close.seeds["seat/1"])
    fresh = game.table.entropy
    game.table.entropy = lambda n: seed if n == 64 else fresh(n)
    game.next()
    game.table.entropy = fresh
    for n, key in game.table.keys.items():
        game.table.seats[n] = Seat(key, server_key=game.table.server.public, entropy=fresh)
    verdict = game.play().verify()
    assert [(one.code, one.culprits) for one in verdict.remarks] == [("seed-reused", (SERVER,))]


def test_every_code_is_caught_here() -> None:
    """The cheats above, by code; a new code needs one."""
    named = {"hand-missing", "number-wrong", "terms-changed", "scores-not-carried", "game-over"}
    assert named | {"left-wrong", "seed-reused"} == set(GAME_CODES)
    assert {code.check for code in GAME_CODES.values()} == set(GAME_CHECKS)


# -- framing -------------------------------------------------------------------------------------


def test_what_a_file_s_maker_can_do_names_nobody(game: Game) -> None:
    """Whoever holds the logs leaves out, repeats and reorders them, and cuts their ends."""
    import itertools
    import random

    rng = random.Random(5)
    logs = game.logs
    orders = [list(some) for some in itertools.permutations(range(len(logs)), 2)]
    orders += [[rng.randrange(len(logs)) for _ in range(rng.randrange(1, 5))] for _ in range(20)]
    for order in orders:
        hands = [Log(logs[n].entries[: rng.choice((None, -1, -3, -9))]).encoded() for n in order]
        verdict = verify_game(hands)
        assert (verdict.culprits, [one.culprits for one in verdict.remarks]) == ((), [])


def test_two_games_of_a_table_in_one_file_name_nobody() -> None:
    """The server opened the next game as it must, with the end of the one before as `previous`."""
    table = simulate.new_table(2)
    played = list(simulate.play_hands(table, 40, at=1000))
    first = next(n for n, one in enumerate(played) if n and one.dealer.hand.terms.hand == 1)
    verdict = verify_game([one.log.encoded() for one in played[: first + 1]])
    assert found(verdict) == [("hand-missing", (), (first - 1, first))]


def test_a_person_s_seed_stolen_later_and_shown_first_names_nobody() -> None:
    """A bot's seed is a person's of the hand before; the file has the hands turned round."""
    game = Game(seed="stolen").play()
    seed, fresh = bytes.fromhex(game.close.seeds["seat/1"]), game.table.entropy
    game.table.entropy = lambda n: seed if n == 64 else fresh(n)
    game.next()
    game.table.entropy = fresh
    for n, key in game.table.keys.items():
        game.table.seats[n] = Seat(key, server_key=game.table.server.public, entropy=fresh)
    logs = [log.encoded() for log in game.play().logs]
    verdict = verify_game(logs[::-1])
    assert [(one.code, one.culprits) for one in verdict.remarks] == [("seed-reused", ())]


def test_terms_that_cannot_be_played_are_held_against_the_hand_before() -> None:
    game = two_hands()
    bend = game.bend(1)
    bend[0].change(rules=msgspec.structs.replace(RULES, pass_cycle=(9,)))
    verdict = verify_game([game.logs[0].encoded(), bend.encoded()])
    assert found(verdict) == [("terms-changed", (SERVER,), (0, 1))]


def test_an_open_under_another_key_blames_nobody() -> None:
    """Who answers for a change when the server's key is another one, no signature shows."""
    game = Game(seed="rotated").play()
    end = game.table.hand.end
    other = Game(seed="other key")
    other.table.terms = msgspec.structs.replace(
        other.table.terms, hand=2, previous=game.logs[0].hashes[end or 0], scores=game.close.scores,
        seats=game.table.terms.seats,
    )  # fmt: skip
    other.table.keys = game.table.keys
    other.begin(other.table.terms)
    verdict = verify_game([game.logs[0].encoded(), other.play().logs[0].encoded()])
    assert [(one.code, one.culprits) for one in verdict.findings] == [("terms-changed", ())]


# -- files ---------------------------------------------------------------------------------------


def test_one_damaged_hand_hides_no_other(game: Game) -> None:
    hands = json.loads(game.data())["hands"]
    hands[1]["entries"][3]["sig"] = "00" * 64
    hands.insert(1, {"entries": []})
    verdict = verify_game_file(json.dumps({"fairdeal": 1, "hands": hands}).encode())
    assert verdict.status == "invalid"
    assert [one.status for one in verdict.hands][:3] == ["valid", "malformed", "invalid"]
    assert {one.status for one in verdict.hands[3:]} == {"valid"}
    assert verdict.culprits == ()


@pytest.mark.parametrize(
    "data",
    [
        b'{"fairdeal":1,"hands":[]}',
        b'{"fairdeal":2,"hands":[{"entries":[]}]}',
        b'{"fairdeal":1,"hands":[{"entries":[]}],"more":1}',
        b'{"fairdeal":1,"hands":{}}',
        b'{"fairdeal":1,"hands":[{"entries":[],"entries":[]}]}',
        b'{"fairdeal":1,"hands":[{"entries":[]}],"hands":[{"entries":[]}]}',
        b'{"fairdeal":1,"hands":[{"entries":[]}]',
        b'{"fairdeal":1,"fairdeal":1, "hands":[{"entries":[]}]}',
    ],
)
def test_what_is_no_game_is_malformed(data: bytes) -> None:
    with pytest.raises(MalformedError):
        read_game(data)


def test_a_fault_of_the_text_within_a_hand_is_that_hand_s(game: Game) -> None:
    """The file is compact, so its outer text is proved by its length; within, each hand is judged."""
    data = write_game([log.encoded() for log in game.logs])
    good = b'"attempt":1,'
    assert data.count(good) == len(game.logs)
    verdict = verify_game_file(data.replace(good, good + good, 1))
    assert [one.status for one in verdict.hands] == ["malformed"] + ["valid"] * (len(game.logs) - 1)


def test_a_game_with_white_space_is_read_as_well(game: Game) -> None:
    data = json.dumps(json.loads(write_game([log.encoded() for log in game.logs])), indent=1)
    assert verify_game_file(data.encode()).status == "valid"


@pytest.mark.parametrize(
    "hand", ['{"a":1,"a":2}', "[]", "1", "null", '{"entries":1}', '{"entries":[],"more":1}', "{}"]
)
def test_a_hand_of_another_shape_is_malformed_alone(hand: str) -> None:
    verdict = verify_game_file(f'{{"fairdeal":1,"hands":[{hand}]}}'.encode())
    assert (verdict.status, [one.status for one in verdict.hands]) == ("malformed", ["malformed"])


def test_no_hands_at_all() -> None:
    verdict = verify_game([])
    assert (verdict.status, verdict.hands) == ("incomplete", ())


def test_pins_are_of_the_hands_they_are_about(game: Game) -> None:
    record = game.table.stores[0]
    right = game.verify(record=record, head=game.logs[-1].head)
    assert right.status == "valid"
    assert (right.pinned.record, right.pinned.head) == (0, game.logs[-1].head)
    wrong = game.verify(head=game.logs[0].head)
    assert [one.findings[0].code for one in wrong.hands if one.findings] == ["head-missing"]
    stranger = Game(seed="stranger").play().table.stores[0]
    with pytest.raises(MalformedError, match="none of the hands"):
        game.verify(record=stranger)
    damaged = [b"{}", *(log.encoded() for log in game.logs)]
    assert verify_game(damaged, record=record).pinned.record == 0


# -- the command line ----------------------------------------------------------------------------


def run(*arguments: object) -> Result:
    return CliRunner().invoke(cli, [str(one) for one in arguments])


def test_verify_and_show_a_game(game: Game, tmp_path: Path) -> None:
    path = tmp_path / "game.json"
    path.write_bytes(game.data())
    judged = run("verify", path)
    assert (
        judged.exit_code,
        judged.stdout.startswith(f"{path}: valid, {len(game.logs)} hands"),
    ) == (0, True)
    shown = run("show", path)
    assert shown.exit_code == 0
    rows = [row.split() for row in shown.stdout.splitlines()]
    scores = [row[1:] for row in rows if row[:1] == ["scores"]]
    assert scores == [[str(n) for n in end_of(log).scores] for log in game.logs]
    assert "The game is over: won by" in shown.stdout
    assert "3 won" in shown.stdout


def end_of(log: Log) -> Any:
    return next(e.message.body for e in log.entries if e.message.type == "close")


def test_the_json_of_a_game_is_what_the_schema_says(game: Game, tmp_path: Path) -> None:
    schema = json.loads((ROOT / "spec/game-verdict.schema.json").read_text())
    hand = json.loads((ROOT / "spec/verdict.schema.json").read_text())
    path = tmp_path / "game.json"
    cheat = two_hands(scores=(1, 2, 3, 4))
    for one in (game, cheat):
        path.write_bytes(one.data())
        line = json.loads(run("verify", path, "--json").stdout)
        jsonschema.validate(line, schema)
        for verdict in line["hands"]:
            jsonschema.validate(verdict | {"fairdeal": 1, "file": "-"}, hand)
    assert line["culprits"] == ["server"]


def test_a_bad_game_is_told_between_and_within_its_hands(tmp_path: Path) -> None:
    game = two_hands(scores=(1, 2, 3, 4))
    hands = json.loads(game.data())
    hands["hands"][1]["entries"][3]["sig"] = "00" * 64
    path = tmp_path / "game.json"
    path.write_text(json.dumps(hands))
    told = run("verify", path)
    assert told.exit_code == 1
    for text in (
        "scores-not-carried, check 25 (scores carried)",
        "signature-invalid",
        "hand 1 of the file",
    ):
        assert text in told.stdout
    shown = run("show", path)
    assert (shown.exit_code, "do not take what follows for true" in shown.stdout) == (1, True)


def test_show_a_game_with_voids_and_damage(tmp_path: Path) -> None:
    game = Game(people=4, seed="void and damage")
    game.play(
        lambda t: t.dealer.void("no-reveal", 1, t.at + 1) and None,
        stop=lambda t: len(t.hand.commits) == 4,
    )
    game.next().play(
        lambda t: t.dealer.void("operator", None, t.at + 1) and None,
        stop=lambda t: len(t.hand.commits) >= 2,
    )
    game.next().play()
    hands = json.loads(game.data())["hands"]
    hands += [{"entries": []}, {"entries": hands[-1]["entries"][:9]}]
    path = tmp_path / "game.json"
    path.write_text(json.dumps({"fairdeal": 1, "hands": hands}))
    shown = run("show", path).stdout
    for text in (
        "given up: no-reveal (seat/1)",
        "given up: operator",
        "cannot be read",
        "not closed",
    ):
        assert text in shown
    path.write_text('{"fairdeal":1,"hands":[{}]}')
    assert "no hand can be read" in run("show", path).stdout
    path.write_text('{"fairdeal":1,"hands":[]}')
    for command in ("show", "verify"):
        told = run(command, path)
        assert (told.exit_code, told.output.count("\n")) == (2, 1)


def test_demo_writes_a_game_s_file(tmp_path: Path) -> None:
    done = run("demo", "--hands", 3, "--out", tmp_path)
    assert done.exit_code == 0
    verdict = verify_game_file((tmp_path / "game-1.json").read_bytes())
    assert (found(verdict), len(verdict.hands)) == ([], 3)
    one = read_log((tmp_path / "hand-0002.json").read_bytes())
    assert one.entries[0].message.digest().hex() == (verdict.hands[1].hand or pytest.fail()).id


def test_a_void_is_no_end(game: Game) -> None:
    assert not any(
        isinstance(entry.message.body, Void) for log in game.logs for entry in log.entries
    )
