"""A `Player` at a live table: hand after hand, through every lost connection, and what it refuses."""

from __future__ import annotations

import json
import random
from typing import Any

import msgspec
import pytest
from live import Client, Line, Live, Memory, listen, run
from test_dealer import CHOOSING, ONE_HEART

from fairdeal.errors import LocalProtocolError, MalformedError, RemoteProtocolError
from fairdeal.games.policies import POLICIES
from fairdeal.messages import Clock
from fairdeal.play.player import Copy, Ended, Gone, Notice, Over, Player
from fairdeal.play.stream import RefusedError, StreamError
from fairdeal.play.stream import write_frame
from fairdeal.signing import SigningKey as Key


def clients(live: Live, *policies: str, **options: Any) -> list[Client]:
    rng = random.Random("clients")
    return [
        Client(live, Key(rng.randbytes(32)), POLICIES[policy], rng, **options)
        for policy in policies
    ]


def joined(live: Live, *policies: str, **options: Any) -> list[Client]:
    all_of_them = clients(live, *policies, **options)
    for one in all_of_them:
        one.connect()
    return all_of_them


def test_two_policies_through_whole_hands() -> None:
    live = Live(2, hands=3)
    both = joined(live, "low/1", "random/1")
    run(*both)
    for one in both:
        assert one.verdicts == ["valid"] * 3
        assert one.memory.of(Over)
        assert not one.memory.of(Notice)
        assert list(one.memory.copies.values()) == [log.encoded() for log in live.logs]
        assert one.player.turn is None
    assert live.refusals == []


# -- connections ---------------------------------------------------------------------------------


def said_once(client: Client) -> None:
    """No two different messages for one place of one hand."""
    slots: dict[tuple[str, str, str], str] = {}
    for text in client.memory.sent:
        one = json.loads(text)
        if "type" in one:
            place = (one["type"], one["by"], one["seen"])
            assert slots.setdefault(place, text) == text
    commits = [place for place in slots if place[0] == "commit"]
    assert len(commits) == len(client.live.logs)


@pytest.mark.parametrize("again", ["connection", "process"])
def test_reconnects_at_every_entry(again: str) -> None:
    live = Live(2, hands=2, seed=again)
    one, two = joined(live, "random/1", "low/1")
    best = 0
    for _ in range(100_000):
        moved = one.step() + two.step()
        if len(live.logs) * 1000 + one.player.news > best and again == "connection":
            best = len(live.logs) * 1000 + one.player.news
            one.connect()
        elif again == "process" and sum(map(len, live.logs)) > best:
            best = sum(map(len, live.logs))
            one.restart()
            one.connect()
        elif not moved:
            break
    assert live.over
    said_once(one)
    assert two.verdicts == ["valid", "valid"]
    assert set(one.verdicts) == {"valid"}
    assert not one.memory.of(Notice)


def test_what_was_not_sent_is_said_again() -> None:
    live = Live(1)
    (one,) = joined(live, "low/1")
    until(one, lambda: one.player.turn == "play")
    one.line.open = False  # it is signed and stored, and lost
    assert one.player.play(one.player.seat.legal()[0])
    one.connect()
    run(one)
    assert one.verdicts == ["valid"]
    said_once(one)


def until(client: Client, holds: Any) -> None:
    while not holds():
        assert client.step()


def test_a_first_word_waits_for_the_whole_log() -> None:
    live = Live(1)
    (one,) = joined(live, "low/1")
    until(one, lambda: one.player.holds)
    assert [json.loads(text).keys() for text in one.memory.sent] == [{"login"}]
    assert one.player.idle()
    assert not one.player.holds
    assert one.player.idle() == []


@pytest.mark.parametrize("after", ["commit", "pass"])
@pytest.mark.parametrize("how", ["lost", "damaged"])
def test_without_its_record_it_only_watches(after: str, how: str) -> None:
    live = Live(2, hands=2)
    one, two = joined(live, "low/1", "low/1")
    while not any(f'"type":"{after}"' in text for text in one.memory.sent):
        one.step()
        two.step()
    run(two)
    hand = one.player.hand
    one.memory.records.clear()
    if how == "damaged":
        one.memory.records[hand] = b"{"
    said = list(one.memory.sent)
    one.restart()
    one.connect()
    run(one, two)
    assert [note for note in one.memory.of(Notice) if "only watch" in note.text]
    assert len(one.memory.sent) == len(said) + 1  # the login
    assert hand not in one.memory.records or how == "damaged"
    assert one.player.turn is None
    with pytest.raises(LocalProtocolError, match="nothing to decide"):
        one.player.play("2C")
    live.replace(0, "unresponsive")
    run(one, two)
    voided = after == "commit"  # nobody knows its seed
    assert one.verdicts == ["incomplete" if voided else "valid"]
    assert one.memory.of(Ended)[0].record is None
    assert "bot takes your seat" in one.memory.of(Notice)[-1].text
    assert one.memory.of(Gone)
    assert two.verdicts == ["incomplete" if voided else "valid", "valid"]


def test_another_word_of_its_key_ends_it() -> None:
    """Two folders with one key: what one of them did not say is refused."""
    live = Live(1)
    (one,) = joined(live, "low/1")
    until(one, lambda: one.player.turn == "play")
    (twin,) = clients(live, "random/1")
    twin.key = one.key
    twin.memory.records.update(one.memory.records)
    twin.restart()
    twin.connect()
    until(twin, lambda: twin.player.turn == "play")
    one.send(one.player.play(one.player.seat.legal()[0]))
    with pytest.raises(RemoteProtocolError, match="not its own") as found:
        run(twin)
    assert found.value.code == "record-message"
    assert twin.player.stop()[1].verdict.status == "incomplete"


# -- what crosses --------------------------------------------------------------------------------


def test_refused_for_crossing_it_is_said_again() -> None:
    live = Live(2)
    one, two = joined(live, "low/1", "low/1")
    listen(one, two)
    one.line.open = False
    assert one.step()  # its pass goes nowhere; the server says it crossed something
    one.line.open = True
    sent = one.memory.sent[-1]
    refused = {"refused": {"code": "out-of-place", "text": "it crossed"}}
    assert one.player.hear(json.dumps(refused)) == []  # until the log goes on
    run(two)
    run(one, two)
    assert one.memory.sent.count(sent) == 2
    assert one.verdicts == ["valid"]
    assert not one.memory.of(Notice)


def test_refused_after_the_log_went_on_it_is_said_again_at_once() -> None:
    live = Live(2)
    one, two = joined(live, "low/1", "low/1")
    listen(one, two)
    one.line.open = False
    one.step()
    one.line.open = True
    sent = one.memory.sent[-1]
    two.step()
    one.player.hear(one.line.outbox[one.heard])  # the other's pass
    one.heard += 1
    refused = json.dumps({"refused": {"code": "seen-unknown", "text": "it crossed"}})
    assert [act.text for act in one.player.hear(refused)] == [sent]
    assert one.player.hear(refused) == []


def test_other_refusals_are_told() -> None:
    live = Live(1)
    (one,) = joined(live, "low/1")
    while one.player.table is None:
        one.step()
    refused = json.dumps({"refused": {"code": "signature-invalid", "text": "\x1b[2J"}})
    assert "signature-invalid" in one.player.hear(refused)[0].text


# -- leaving, expelling --------------------------------------------------------------------------


def test_leave() -> None:
    live = Live(2, hands=2)
    one, two = joined(live, "low/1", "low/1")
    listen(one, two)
    one.send(one.player.leave())
    run(one, two)
    assert one.player.leaving
    assert one.player.turn is None
    assert one.memory.of(Gone)[0].text.startswith("you left")
    assert one.verdicts == ["incomplete"]
    assert two.verdicts == ["valid", "valid"]


def test_expel() -> None:
    live = Live(2, hands=2, clock=Clock(grace_ms=0, reserve_ms=0))
    one, two = joined(live, "low/1", "low/1")
    listen(one, two)
    assert 0 in two.player.clock.awaited
    live.at += 1000
    two.send(two.player.expel(0))
    assert [act for act in two.memory.acts if getattr(act, "text", "") == '{"expel":0}']
    run(one, two)
    assert one.verdicts == ["valid"]  # it follows the hand to its end
    assert "expelled" in one.memory.of(Notice)[0].text
    assert "no seat" in one.memory.of(Gone)[0].text


@pytest.mark.parametrize("moon", ["add", "subtract"])
def test_choose(moon: Any) -> None:
    for seed in range(60):
        live = Live(4, rules=CHOOSING, deck=ONE_HEART, seed=seed)
        all_four = joined(live, *["low/1"] * 4)
        chosen: list[str] = []
        while sum(one.hear() for one in all_four) or any(one.player.turn for one in all_four):
            for one in all_four:
                if one.player.turn == "choose":
                    one.send(one.player.choose(moon))
                    chosen.append(moon)
                elif one.player.turn:
                    one.send(one.player.decide(one.policy, one.word))
        if chosen:
            break
    assert chosen == [moon]
    assert {status for one in all_four for status in one.verdicts} == {"valid"}


def test_a_policy_chooses() -> None:
    live = Live(1, rules=CHOOSING, deck=ONE_HEART)
    for seed in range(60):
        live = Live(4, rules=CHOOSING, deck=ONE_HEART, seed=seed)
        all_four = joined(live, *["low/1"] * 4)
        run(*all_four)
        if '"type":"choose"' in live.logs[0].encoded().decode():
            return
    pytest.fail("nobody shot the moon")


def test_expelled_while_away() -> None:
    live = Live(2, hands=2)
    one, two = joined(live, "low/1", "low/1")
    listen(one, two)
    live.drop(one.line)
    one.line = None
    live.replace(0, "unresponsive")
    while len(live.logs) == 1:
        two.step()
    one.connect()
    with pytest.raises(StreamError, match="somebody else"):
        live.keys.pop(0)
        live.people = 1
        one.player.hear(one.line.outbox[0])
        one.player.hear(json.dumps({"welcome": live.state(), "seat": 0}))


def test_a_hand_that_is_cut_off_is_kept() -> None:
    """The server begins another hand before this one ended."""
    live = Live(1, hands=2)
    (one,) = joined(live, "low/1")
    until(one, lambda: one.player.turn == "play")
    first = one.player.hand
    live.dealer.void("operator", None, live.at)
    live._open(live.dealer.next_terms())
    run(one)
    assert one.verdicts[:2] == ["incomplete", "valid"]
    assert first in one.memory.copies
    assert list(one.memory.copies)[1].attempt == 2


def test_void_and_another_attempt() -> None:
    live = Live(2, hands=2)
    one, two = joined(live, "low/1", "low/1")
    while live.dealer is None or live.dealer.hand.phase.value != "reveal":
        one.step()
        two.step()
    silent = next(n for n in (0, 1) if f"seat/{n}" not in live.dealer.hand.reveals)
    live.replace(silent, "unresponsive")
    run(one, two)
    assert (two, one)[silent].verdicts == ["incomplete", "valid"]
    assert (one, two)[silent].memory.of(Gone)


# -- what it refuses -----------------------------------------------------------------------------


def test_another_server_key() -> None:
    live = Live(1)
    other = Key(bytes(32)).public
    (one,) = joined(live, "low/1", server_key=other)
    with pytest.raises(RemoteProtocolError, match="another key than before") as found:
        one.step()
    assert found.value.code == "pin-server-key"
    assert one.memory.sent == []
    assert one.player.server_key == other


def test_a_hand_of_another_server_key() -> None:
    live = Live(1)
    (one,) = joined(live, "low/1")
    live.signer = Key(bytes(32))
    with pytest.raises(RemoteProtocolError) as found:
        run(one)
    assert found.value.code == "pin-server-key"


def test_errors_of_the_server() -> None:
    live = Live(1)
    one, two = joined(live, "low/1", "low/1")
    one.step()
    with pytest.raises(RefusedError, match="no seat is free") as found:
        run(two)
    assert found.value.code == "full"
    bad, *_ = clients(Live(1), "low/1", table="another")
    bad.connect()
    with pytest.raises(RefusedError, match="signature is wrong"):
        run(bad)


def test_frames_out_of_their_place() -> None:
    live = Live(1)
    (one,) = joined(live, "low/1")
    challenge = one.line.outbox[0]
    with pytest.raises(StreamError, match="sent clock"):
        one.player.hear('{"clock":{"awaited":[],"left_ms":0}}')
    one.step()
    with pytest.raises(StreamError, match="sent challenge"):
        one.player.hear(challenge)
    welcome = json.loads(one.line.outbox[1])
    with pytest.raises(StreamError, match="not sit"):
        one.player.hear(json.dumps({**welcome, "seat": None}))
    for seat in (1, 9):
        with pytest.raises(StreamError, match="somebody else"):
            one.player.hear(json.dumps({**welcome, "seat": seat}))
    one.step()
    first, second = json.loads(one.line.outbox[2]), json.loads(one.line.outbox[3])
    with pytest.raises(StreamError, match="in its middle"):
        one.player.hear(json.dumps(second))
    second["entry"]["seq"] = 0
    with pytest.raises(RemoteProtocolError, match="begins with open"):
        one.player.hear(json.dumps(second))
    one.player.hear(json.dumps(first))
    one.connect()
    one.step(), one.step()
    third = json.loads(one.line.outbox[3])
    with pytest.raises(StreamError, match="in its middle"):  # each connection begins with entry 0
        one.player.hear(json.dumps(third))


def test_another_open_under_one_name() -> None:
    live = Live(1)
    (one,) = joined(live, "low/1")
    until(one, lambda: one.player.turn == "play")
    for restart in (False, True):
        if restart:
            one.restart()
        live._open(live._terms())
        one.connect()
        with pytest.raises(RemoteProtocolError) as found:
            run(one)
        assert found.value.code == "record-head"


def test_a_seat_that_is_gone_in_the_middle_of_the_game() -> None:
    """The server opens a hand without a seat that nothing took away."""
    live = Live(2, hands=2)
    one, two = joined(live, "low/1", "low/1")
    listen(one, two)
    live.people = 1
    live._open(msgspec.structs.replace(live._terms(), game="g-2"))
    with pytest.raises(RemoteProtocolError) as found:
        run(two)
    assert found.value.code == "pin-seat-key"
    two.connect()
    until(two, lambda: two.memory.of(Gone))
    assert two.verdicts == ["incomplete"]


def test_repr_shows_no_secret() -> None:
    live = Live(1)
    (one,) = joined(live, "low/1")
    until(one, lambda: one.player.turn == "play")
    one.send(one.player.stop())
    assert one.memory.of(Ended)
    secrets = [one.key.private_bytes().hex()]
    secrets += [json.loads(record)["record"]["seed"] for record in one.memory.records.values()]
    shown = repr(one.player) + repr(one.memory.acts)
    assert not [secret for secret in secrets if secret in shown]


def test_over_before_anything() -> None:
    live = Live(1)
    (one,) = joined(live, "low/1")
    run(one)
    late, _ = one, one.restart()
    late.connect()
    run(late)
    assert isinstance(late.memory.acts[-1], Over)
    nobody = Player(one.key, table="t-1", name="Ana", recall=lambda name: None)
    nobody._state = "playing"
    assert [type(act) for act in nobody.hear(one.line.outbox[-1])] == [Over]
    with pytest.raises(StreamError, match="no hand"):
        nobody._current()
    assert nobody.stop() == []


# -- anything at every place ---------------------------------------------------------------------

SHAPES: list[Any] = [None, True, -1, 0, 2**53, "", "\ud800", "a" * 64, [], [[]], {}, {"x": 1}]


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path]
    if isinstance(value, dict | list):
        members = value.items() if isinstance(value, dict) else enumerate(value)
        for name, member in members:
            found += places(member, (*path, name))
    return found


def put(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = put(value[path[0]], path[1:], new)
    return copy


def state(player: Player) -> Any:
    seat = player.seat
    log = b"" if seat is None or not len(seat.log) else seat.log.encoded()
    return (log, player.table, player.number, player.clock, player.over, player._state, player.hand)


def test_hostile_frames() -> None:
    """Any shape at every place: a documented error that changes nothing, or it is taken."""
    live = Live(1, clock=Clock(grace_ms=9, reserve_ms=9))
    (one,) = joined(live, "low/1")
    seen: set[str] = set()
    taken = 0
    while one.heard < len(one.line.outbox) or one.step():
        if one.heard == len(one.line.outbox):
            continue
        frame = json.loads(one.line.outbox[one.heard])
        kind = next(iter(frame))
        kind += frame["entry"]["type"] if kind == "entry" else ""
        if kind not in seen:
            seen.add(kind)
            some = [path for path in places(frame) if not {2, 3, 4, 5, 6, 7, 8, 9} & {*path}]
            for path in some:
                for shape in SHAPES:
                    if put(frame, path, shape) == frame:
                        continue
                    taken += hostile(one, put(frame, path, shape), path)
        one.step()
    assert {"challenge", "welcome", "clock", "over", "entryopen", "entryclose"} <= seen
    assert taken < 200
    assert one.verdicts[-1] == "valid"


def hostile(client: Client, frame: Any, path: tuple[Any, ...]) -> bool:
    """Whether it was taken, by a player of its own: then the state has changed."""
    before = state(client.player)
    saved = dict(vars(client.player))
    try:
        client.player.hear(json.dumps(frame))
    except (MalformedError, StreamError, RemoteProtocolError):
        assert state(client.player) == before
        return False
    assert "entry" not in frame or path == ("entry", "at"), frame  # nobody signs the time
    vars(client.player).update(saved)
    return True


@pytest.mark.parametrize(
    "text",
    [
        "", "{", "[]", "1", "{}", '{"what":1}', '{"entry":{}}', '{"challenge":"00"}', b"\xff",
        '{"over":1,"error":2}', '{"error":{"code":1,"text":""}}', '{"entry":null,"entry":null}',
        "[" * 100, " " * ((1 << 20) + 1), '{"clock":{"awaited":[0.5],"left_ms":1}}',
    ],
)  # fmt: skip
def test_no_frames(text: Any) -> None:
    player = Player(Key(bytes(32)), table="t-1", name="Ana", recall=Memory().records.get)
    player._state = "playing"
    with pytest.raises(MalformedError):
        player.hear(text)


def test_decide_with_nothing_to_decide() -> None:
    player = Player(Key(bytes(32)), table="t-1", name="Ana", recall=Memory().records.get)
    assert player.decide(POLICIES["low/1"], lambda: 0) == []
    assert not player.seated
    assert Line().open
    assert not Memory().of(Copy)


def test_a_game_that_ended_while_this_player_was_away() -> None:
    live = Live(1)
    (one,) = joined(live, "low/1")
    run(one)
    one.player.connected()
    acts = one.player.hear(write_frame(over=live.state()))
    assert [type(act) for act in acts] == [Over]
