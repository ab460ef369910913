"""What a player sees, on fixed states, and the command's own words."""

from __future__ import annotations

import random
from typing import Any

import msgspec
import pytest
from live import Client, Live, listen, run

from fairdeal import cli, cli_play
from fairdeal.games.policies import POLICIES
from fairdeal.messages import Clock
from fairdeal.play import game
from fairdeal.play.draw import HELP, Look
from fairdeal.report.screen import Line, plain
from fairdeal.signing import SigningKey as Key

LOOK = Look(symbols=True)


def sat(name: str = "Ana", **options: Any) -> Client:
    live = Live(1, **options)
    rng = random.Random("draw")
    one = Client(live, Key(rng.randbytes(32)), POLICIES["low/1"], rng, name=name)
    one.connect()
    listen(one)
    return one


def styles(lines: list[Line]) -> dict[str, str]:
    return {span.text.strip(): span.style for one in lines for span in one}


def test_a_hand_by_suits() -> None:
    cards = ("2C", "TC", "5H", "QS")
    assert plain(LOOK.hand(cards, ("TC",))) == "    1 2♣  [ 2]10♣\n    3 5♥\n    4 Q♠\n"
    assert plain(Look(symbols=False).hand(cards, ())) == "    1 2C    2 10C\n    3 5H\n    4 QS\n"
    found = styles(list(LOOK.hand(cards, ("5H",))))
    assert found["5♥"] == "bold red"
    assert found["Q♠"] == "dim"
    assert styles(list(LOOK.hand(cards, ())))["5♥"] == "red"


def test_other_cards_stand_in_a_row() -> None:
    assert plain(LOOK.hand(("\x1b1", "b2"), ())) == "    1 \\x1b1  2 b2\n"
    assert plain(LOOK.hand((), ())) == ""


def test_to_pass() -> None:
    one = sat()
    shown = plain(LOOK.table(one.player, 12.4)).splitlines()
    assert shown[1] == "scores: Ana (you) 0, B1 0, B2 0, B3 0"
    assert shown[-1] == "Pass 3 cards to B1 (12 s left): their numbers or codes"
    assert "[" not in "".join(shown)


def test_to_play() -> None:
    one = sat()
    one.step()
    listen(one)
    shown = plain(LOOK.table(one.player))
    assert ("trick:  " in shown) == bool(one.player.seat.hand.play.trick)
    assert shown.splitlines()[-1] == "Your turn: a card's number or code, ? for help"
    assert shown.count("[") == len(one.player.seat.legal())


def test_waiting() -> None:
    live = Live(2, clock=Clock(grace_ms=1, reserve_ms=1))
    rng = random.Random("two")
    one, two = (Client(live, Key(rng.randbytes(32)), POLICIES["low/1"], rng) for _ in "ab")
    assert plain(LOOK.table(one.player)) == ""
    one.connect()
    listen(one)
    assert plain(LOOK.table(one.player)) == "at the table: Ana (you), free, B2, B3; 1 to come\n"
    two.connect()
    listen(one, two)
    one.step()
    listen(one)
    shown = plain(LOOK.table(one.player, 3)).splitlines()
    assert shown[-1] == "waiting for seat 1, Ana (3 s left)"
    one.player.clock = None
    assert plain(LOOK.table(one.player)).splitlines()[-1] == "waiting for seat 1, Ana"


def test_news_of_a_whole_hand() -> None:
    one = sat(seed=3)
    rows: list[str] = []
    shown = len(one.player.seat.log)
    rows.append(plain(LOOK.news(one.player.seat, one.player.seat.log.entries[0])))
    while one.step():
        for entry in one.player.seat.log.entries[shown:]:
            rows.append(plain(LOOK.news(one.player.seat, entry)))
        shown = len(one.player.seat.log)
    text = "".join(rows)
    assert text.startswith("\nhand 1: 0 Ana (you), 1 B1, 2 B2, 3 B3\nyou receive ")
    assert text.count(" plays ") == 20
    assert text.count("takes the trick") == 5
    assert "points: Ana (you) " in text
    assert text.splitlines()[-1].startswith("scores: Ana (you) ")


def test_names_are_harmless() -> None:
    one = sat()
    evil = "\x1b[2J\u202e" + "x" * 60
    terms = one.player.seat.hand.terms
    seats = tuple(msgspec.structs.replace(seat, name=evil) for seat in terms.seats)
    one.player.seat.hand.terms = msgspec.structs.replace(terms, seats=seats)
    table = one.player.table
    seats = tuple(msgspec.structs.replace(seat, name=evil) for seat in table.seats)
    one.player.table = msgspec.structs.replace(table, seats=seats)
    shown = plain(LOOK.table(one.player)) + plain(LOOK.waiting(one.player.table, 0))
    shown += plain(LOOK.news(one.player.seat, one.player.seat.log.entries[0]))
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert "\\x1b[2J\\u202e" in shown
    assert max(map(len, shown.splitlines())) < 250


def test_it_goes_on_after_the_end() -> None:
    one = sat()
    run(one)
    assert plain(LOOK.table(one.player)).endswith("\n")
    assert any("leave" in row for row in HELP)


# -- the command ---------------------------------------------------------------------------------


def call(capsys: Any, *args: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as done:
        cli.cli.main(["play", *args], prog_name="fairdeal")
    out = capsys.readouterr()
    return int(str(done.value.code)), out.out, out.err


@pytest.mark.parametrize(
    ("args", "text"),
    [
        ((), "Missing argument 'URL'"),
        (("host",), "expected an address like"),
        (("http://h", "--bot", "clever/1"), "expected low/1 or random/1 or careful/1"),
        (("http://h", "--server-key", "00"), "--server-key: expected 32 bytes"),
        (("http://h", "--name", "\u202e"), "--name: a text holds U+202E"),
        (("http://h", "--rules", "own"), "own is the server's own"),
        (("http://h/v1/tables/a", "--bots", "3"), "are about a new table"),
    ],
)
def test_usage(capsys: Any, args: tuple[str, ...], text: str) -> None:
    code, out, err = call(capsys, *args)
    assert code == 2
    assert text in err
    assert err.count("\n") == 1
    assert out == ""


def test_without_its_extra(capsys: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(cli_play, "_has_extra", lambda: False)
    assert call(capsys, "http://h") == (
        2,
        "",
        "fairdeal play needs: pip install 'fairdeal[play]'\n",
    )


@pytest.mark.parametrize(
    ("args", "terms"),
    [
        ((), {"rules": "hearts", "bots": 3}),
        (("--rules", "hearts-5", "--bots", "1"), {"rules": "hearts-5", "bots": 1}),
        (
            ("--rules", "cancellation", "--seats", "7"),
            {"rules": "cancellation", "seats": 7, "bots": 6},
        ),
        (("--rules", "own", "--seats", "3"), {"rules": "own", "seats": 3, "bots": 2}),
    ],
)
def test_a_new_table(capsys: Any, monkeypatch: Any, args: Any, terms: Any) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(game, "play", lambda wish, folder: asked.append((wish, folder)) or 3)
    assert call(capsys, "http://h", *args, "--folder", "f")[0] == 3
    assert asked[0][0].terms == terms
    assert asked[0][1] == "f"


def test_at_a_table(capsys: Any, monkeypatch: Any) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(game, "play", lambda wish, folder: asked.append((wish, folder)) or 0)
    url = "http://h/v1/tables/a"
    assert call(capsys, url, "--bot", "low/1", "--think", "2", "--server-key", "ab" * 32)[0] == 0
    wish, folder = asked[0]
    assert wish.here.url == url
    assert (wish.terms, wish.policy, wish.think) == (None, "low/1", 2.0)
    assert wish.server_key == b"\xab" * 32
    assert folder.endswith(".fairdeal")


def test_ctrl_c(capsys: Any, monkeypatch: Any) -> None:
    def interrupted(wish: Any, folder: str) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(game, "play", interrupted)
    assert call(capsys, "http://h") == (130, "", "\n")
