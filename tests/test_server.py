"""The live table's server, over real connections on loopback (spec/live.md)."""

from __future__ import annotations

import asyncio
import json
import logging
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path
from typing import Any

import pytest
import websockets
from inside import OPTIONS, Person, Served, login, run, served, swallowed

from websockets.frames import Frame
from websockets.streams import StreamReader

import fairdeal
from fairdeal.errors import FairdealError
from fairdeal.server import serve
from fairdeal.server.hall import Hall
from fairdeal.server.limits import Bucket, Buckets
from fairdeal.server.lines import Frames, Line
from fairdeal.server.live import RefusedError, now_ms
from fairdeal.server.logs import log_to_stderr
from fairdeal.server.options import Options
from fairdeal.server.store import (
    Append,
    Begin,
    HandName,
    StoreConflict,
    StoreError,
    StoreUnavailable,
)
from fairdeal.server.wire import protocol, text_frames
from fairdeal.signing import SigningKey


def patient(**changes: Any) -> Options:
    return OPTIONS._replace(**changes)


async def game_of(server: Served, table: str) -> fairdeal.GameVerdict:
    return fairdeal.verify_game_file((await server.get(f"/v1/tables/{table}/game")).body)


async def until_over(server: Served, table: str) -> dict[str, Any]:
    """The table once its game is over, by the spectator's stream or, later, by HTTP."""
    while (await server.get(f"/v1/tables/{table}")).json["state"] != "over":
        await asyncio.sleep(0.02)
    return dict((await server.get(f"/v1/tables/{table}")).json)


# -- a game --------------------------------------------------------------------------------------


def test_four_people_play_a_game_that_verifies(tmp_path: Path) -> None:
    async def test() -> None:
        async with served(tmp_path) as server:
            table = await server.table()
            people = [server.person(name) for name in ("Ana", "Ben", "Cleo", "Dan")]
            last = await asyncio.gather(*(one.play(table) for one in people))
            over = await until_over(server, table)
            assert all(frame == {"over": over} for frame in last)
            assert min(over["result"]["places"]) == 1
            verdict = await game_of(server, table)
            assert verdict.status == "valid"
            hands = (await server.get(f"/v1/tables/{table}/hands")).json["hands"]
            assert len(hands) == len(verdict.hands)
            for one in people:
                await keeps_its_word(server, table, hands, one)
            assert await server.hall.stored(lambda s: [s.secret(h.name) for h in s.hands(table)]) \
                == [None] * len(hands)  # fmt: skip
            assert (await server.get("/healthz")).json == {"status": "ok"}
            metrics = (await server.get("/metrics")).body.decode()
            assert f'fairdeal_hands_total{{end="close"}} {len(hands)}.0' in metrics

    run(test())


async def keeps_its_word(server: Served, table: str, hands: list[Any], one: Person) -> None:
    """Each transcript is what this one heard, and right by its record."""
    heard = [frame["entry"] for frame in one.heard if "entry" in frame]
    for row in hands:
        name = f"{row['hand']}-{row['attempt']}"
        data = (await server.get(f"/v1/tables/{table}/hands/{name}")).body
        entries = json.loads(data)["entries"]
        assert len(entries) == row["entries"]
        assert all(entry in entries for entry in heard[: len(entries)])
        heard = heard[len(entries) :]
        record = one.records[fairdeal.read_log(data).message_hashes[0].hex()]
        assert fairdeal.verify(data, record=record).status == "valid"
    assert not heard


def test_bots_alone_play_to_the_end(tmp_path: Path) -> None:
    async def test() -> None:
        async with served(tmp_path) as server:
            table = await server.table(bots=4, policy="low/1", clock=None)
            over = await until_over(server, table)
            assert [one["kind"] for one in over["seats"]] == ["bot"] * 4
            assert (await game_of(server, table)).status == "valid"

    run(test())


def test_a_spectator_sees_everything_and_says_nothing(tmp_path: Path) -> None:
    async def test() -> None:
        async with served(tmp_path) as server:
            table = await server.table(bots=3)
            async with server.line(table, "watch") as line:
                assert json.loads(await line.recv())["seat"] is None
                await line.send('{"leave": true}')
                playing = asyncio.create_task(server.person().play(table))
                frames = [json.loads(text) async for text in line]
            await playing
            refused = [frame["refused"]["code"] for frame in frames if "refused" in frame]
            entries = [frame["entry"] for frame in frames if "entry" in frame]
            log = json.loads((await server.get(f"/v1/tables/{table}/hands/1-1")).body)["entries"]
            assert refused == ["not-open"]
            assert entries[: len(log)] == log
            assert "over" in frames[-1]

    run(test())


# -- sitting down --------------------------------------------------------------------------------


def test_joining_by_http(tmp_path: Path) -> None:
    async def test() -> None:
        async with served(tmp_path) as server:
            table = await server.table()
            server_key = bytes.fromhex((await server.get("/v1/server")).json["server_keys"][0])
            keys = [SigningKey.generate() for _ in range(5)]

            async def challenge() -> str:
                return str((await server.post(f"/v1/tables/{table}/challenge")).json["challenge"])

            async def join(key: SigningKey, fresh: str, name: str = "Ana") -> Any:
                body = {**login(key, name, server_key, table, fresh), "challenge": fresh}
                return await server.post(f"/v1/tables/{table}/seats", body)

            fresh = await challenge()
            assert (await join(keys[0], fresh)).json == {"seat": 0}
            again = await join(keys[0], fresh)
            assert (again.status, again.code) == (403, "login")  # good once
            assert (await join(keys[0], await challenge(), "Anna")).json == {"seat": 0}
            other = {**login(keys[1], "Ben", server_key, "another", await challenge())}
            bad = await server.post(f"/v1/tables/{table}/seats", {**other, "challenge": fresh})
            assert bad.status == 403
            hidden = await join(keys[1], await challenge(), "a\u202eb")
            assert (hidden.status, hidden.code) == (409, "refused")
            for key in keys[1:4]:
                assert (await join(key, await challenge())).status == 200
            late = await join(keys[4], await challenge())
            assert (late.status, late.code) == (409, "begun")
            assert (await server.get(f"/v1/tables/{table}")).json["state"] == "playing"
            # the server's own key, and no key at all
            for key in ("00" * 32, server_key.hex()):
                body = {"key": key, "name": "Eve", "sig": "0" * 128, "challenge": await challenge()}
                assert (await server.post(f"/v1/tables/{table}/seats", body)).status == 403

    run(test())


def test_the_server_s_own_key_sits_nowhere(tmp_path: Path) -> None:
    async def test() -> None:
        key = SigningKey.generate()
        async with served(tmp_path, OPTIONS, key) as server:
            table = await server.table()
            person = server.person()
            person.key = key
            assert (await person.play(table))["error"]["code"] == "refused"

    run(test())


@pytest.mark.parametrize(
    ("frame", "code"),
    [
        ("{}", "malformed"),
        ("[]", "malformed"),
        ('{"login": {"key": "00", "name": "Ana", "sig": ""}}', "malformed"),
        (json.dumps({"login": {"key": "00" * 32, "name": "Ana", "sig": "0" * 128}}), "login"),
        ("\ud800", "malformed"),
        (b"\xff", "malformed"),
    ],
)
def test_no_login(tmp_path: Path, frame: Any, code: str) -> None:
    async def test() -> None:
        async with served(tmp_path) as server, server.line(await server.table()) as line:
            await line.recv()
            await line.send(
                frame if isinstance(frame, bytes) else frame.encode(errors="surrogatepass")
            )
            assert json.loads(await line.recv())["error"]["code"] == code
            with pytest.raises(websockets.ConnectionClosed) as closed:
                await line.recv()
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.code == 1008

    run(test())


def test_a_login_that_does_not_come(tmp_path: Path) -> None:
    async def test() -> None:
        async with served(tmp_path, patient(login=0.05)) as server:
            async with server.line(await server.table()) as line:
                await line.recv()
                error = json.loads(await line.recv())["error"]
            assert "in time" in error["text"]

    run(test())


def test_who_hangs_up_before_the_login_leaves_nothing(tmp_path: Path) -> None:
    async def test() -> None:
        async with served(tmp_path) as server:
            table = await server.table()
            async with server.line(table) as line:
                await line.recv()
            while b"fairdeal_lines 0.0" not in (await server.get("/metrics")).body:
                await asyncio.sleep(0.01)
            assert (await server.get(f"/v1/tables/{table}")).json["state"] == "waiting"

    run(test())


def test_nobody_comes(tmp_path: Path) -> None:
    async def test() -> None:
        async with served(tmp_path, patient(joining=0.05)) as server:
            over = await until_over(server, await server.table())
            assert over["result"] is None
            assert [one["kind"] for one in over["seats"]] == ["free"] * 4

    run(test())


def test_bots_come_where_people_do_not(tmp_path: Path) -> None:
    async def test() -> None:
        async with served(tmp_path, patient(joining=0.3)) as server:
            table = await server.table()
            over = (await server.person().play(table))["over"]
            assert [one["kind"] for one in over["seats"]] == ["person", "bot", "bot", "bot"]
            assert (await game_of(server, table)).status == "valid"
            # and whoever comes to a game that is over is told so
            async with server.line(table) as line:
                assert [json.loads(text)["over"] for text in [t async for t in line]] == [over]
            assert line.close_code == 1000
            refused = await server.post(f"/v1/tables/{table}/challenge")
            assert (refused.status, refused.code) == (409, "over")

    run(test())


# -- requests ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b"{", "$"),
        (b'{"rules": "quick", "rules": "quick"}', "stands twice"),
        (b'{"rules": 1}', "$.rules"),
        (b'{"rules": "whist"}', "no table has that name"),
        (b'{"rules": "quick", "seats": 5}', "for 4 seats, not 5"),
        (b'{"rules": "cancellation", "seats": 5}', "for 6, 7, 8, 9 or 10 seats, not 5"),
        (b'{"rules": "quick", "bots": 5}', "4 seats for 5 bots"),
        (b'{"rules": "quick", "policy": "mine/1"}', "$.policy"),
        (b'{"rules": "quick", "clock": {"grace_ms": -1, "reserve_ms": 0}}', "$.clock"),
        (b'{"rules": "quick", "more": 1}', "more"),
    ],
)
def test_a_table_that_makes_no_sense(tmp_path: Path, body: bytes, text: str) -> None:
    async def test() -> None:
        async with served(tmp_path) as server:
            answer = await server.post("/v1/tables", body)
            assert (answer.status, answer.code) == (400, "malformed")
            assert text in answer.json["error"]["text"]

    run(test())


def test_another_uvicorn_has_another_websocket(tmp_path: Path, monkeypatch: Any) -> None:
    """Where ours cannot be built the frames go through ASGI, and the game is the same."""
    name = "uvicorn.protocols.websockets.websockets_sansio_impl"
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, name, None)
        assert protocol() == "auto"
    monkeypatch.setattr("inside.protocol", lambda: "auto")

    async def test() -> None:
        async with served(tmp_path) as server:
            table = await server.table(bots=3)
            await server.person().play(table)
            assert (await game_of(server, table)).status == "valid"

    run(test())


def test_an_empty_request_makes_a_table_of_hearts(tmp_path: Path) -> None:
    async def test() -> None:
        async with served(tmp_path) as server:
            made = await server.post("/v1/tables")
            assert (made.status, made.json["rules"], len(made.json["seats"])) == (201, "hearts", 4)

    run(test())


def test_what_is_not_there(tmp_path: Path) -> None:
    async def test() -> None:
        async with served(tmp_path) as server:
            table = await server.table()
            for path in (
                "/v1/tables/none", "/v1/tables/none/hands", "/v1/tables/none/game", "/nothing",
                f"/v1/tables/{table}/game", f"/v1/tables/{table}/hands/1-1",
                f"/v1/tables/{table}/hands/1", f"/v1/tables/{table}/hands/x-y",
                f"/v1/tables/{table}/hands/{'9' * 30}-1",
            ):  # fmt: skip
                answer = await server.get(path)
                assert answer.status == 404, path
                assert answer.json["error"]["text"]
            assert (await server.post("/v1/tables/none/challenge")).status == 404
            assert (await server.post("/healthz")).status == 405
            assert (await server.get(f"/v1/tables/{table}/hands")).json == {"hands": []}

    run(test())


def test_tables_are_listed_in_pages(tmp_path: Path) -> None:
    async def test() -> None:
        async with served(tmp_path) as server:
            made = [await server.table() for _ in range(3)]
            first = (await server.get("/v1/tables")).json["tables"]
            after = (await server.get(f"/v1/tables?after={made[0]}")).json["tables"]
            assert [one["table"] for one in first] == made
            assert [one["table"] for one in after] == made[1:]

    run(test())


def test_limits(tmp_path: Path) -> None:
    async def test() -> None:
        tight = patient(max_tables=1, max_lines=1, request_rate=0.001, request_burst=4)
        async with served(tmp_path, tight) as server:
            large = await server.post("/v1/tables", b" " * (tight.max_frame + 1))
            assert (large.status, large.code) == (413, "too-large")
            table = await server.table()
            full = await server.post("/v1/tables", {"rules": "quick"})
            assert (full.status, full.code) == (503, "full")
            async with server.line(table, "watch") as one:
                await one.recv()
                async with server.line(table, "watch") as two:
                    assert json.loads(await two.recv())["error"]["code"] == "full"
            assert (await server.post(f"/v1/tables/{table}/challenge")).status == 200
            often = await server.post(f"/v1/tables/{table}/challenge")
            assert (often.status, often.code, often.headers["Retry-After"]) == (
                429,
                "too-often",
                "1",
            )

    run(test())


def test_a_body_that_does_not_come(tmp_path: Path) -> None:
    async def test() -> None:
        async with served(tmp_path, patient(login=0.05)) as server:
            host, port = server.base.removeprefix("http://").split(":")
            reader, writer = await asyncio.open_connection(host, int(port))
            writer.write(b"POST /v1/tables HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{")
            answer = await reader.read(1000)
            assert answer.startswith(b"HTTP/1.1 408")
            writer.close()
            await writer.wait_closed()

    run(test())


def test_challenges_are_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def test() -> None:
        async with served(tmp_path) as server:
            table = await server.table()
            key = SigningKey.generate()
            monkeypatch.setattr("fairdeal.server.app._CHALLENGES", 1)
            first = (await server.post(f"/v1/tables/{table}/challenge")).json["challenge"]
            await server.post(f"/v1/tables/{table}/challenge")  # there is room for one
            server_key = bytes.fromhex((await server.get("/v1/server")).json["server_keys"][0])
            body = {**login(key, "Ana", server_key, table, first), "challenge": first}
            assert (await server.post(f"/v1/tables/{table}/seats", body)).code == "login"

            monkeypatch.setattr("fairdeal.server.app._CHALLENGE_MS", -1)
            old = (await server.post(f"/v1/tables/{table}/challenge")).json["challenge"]
            body = {**login(key, "Ana", server_key, table, old), "challenge": old}
            assert (await server.post(f"/v1/tables/{table}/seats", body)).code == "login"
            await server.post(f"/v1/tables/{table}/challenge")

    run(test())


# -- what seats send -----------------------------------------------------------------------------


def test_rubbish_is_refused_and_the_game_goes_on(tmp_path: Path) -> None:
    async def test() -> None:
        async with served(tmp_path) as server:
            table = await server.table(bots=2)
            ana = server.person()
            rubbish = [
                "{}", "[]", "\x00", '{"leave": 1}', '{"expel": 1}', '{"expel": 0}', '{"expel": 99}',
                '{"expel": -1}', "x" * 100, json.dumps({"body": {}, "sig": "0" * 128}),
            ]  # fmt: skip
            async with ana.connected(table) as line:
                for one in rubbish:
                    await line.send(one)
                while len(ana.heard) < len(rubbish):
                    frame = json.loads(await line.recv())
                    if "refused" in frame:
                        ana.heard.append(frame)
            codes = {frame["refused"]["code"] for frame in ana.heard}
            assert codes == {"not-open"}
            ana.heard.clear()
            playing = asyncio.create_task(server.person("Ben").play(table))
            async with ana.connected(table) as line:
                said = ""
                async for text in line:
                    frame = json.loads(text)
                    ana.heard.append(frame)
                    out = ana.answer(frame, text)
                    if rubbish and "entry" in frame:
                        await line.send(rubbish.pop())
                    if out is not None and out.send.decode() != said:
                        said = out.send.decode()
                        await line.send(said)
            await playing
            refused = [frame["refused"] for frame in ana.heard if "refused" in frame]
            assert len(refused) == 9  # `{}` says nothing
            assert all(one["text"].isprintable() for one in refused)
            assert (await game_of(server, table)).status == "valid"

    run(test())


def test_too_many_frames(tmp_path: Path) -> None:
    async def test() -> None:
        async with served(tmp_path, patient(frame_rate=0.001, frame_burst=3)) as server:
            table = await server.table()
            async with server.person().connected(table) as line:
                for _ in range(4):
                    await line.send("{}")
                frames = [json.loads(text) async for text in swallowed(line)]
            assert frames[-1]["error"]["code"] == "too-often"

    run(test())


def test_a_frame_too_large_ends_the_connection(tmp_path: Path) -> None:
    async def test() -> None:
        async with served(tmp_path) as server:
            async with server.person().connected(await server.table()) as line:
                await line.send("x" * (OPTIONS.max_frame + 1))
                frames = [text async for text in swallowed(line)]
            assert line.close_code == 1009
            assert len(frames) <= 3

    run(test())


# -- leaving, and being thrown out ---------------------------------------------------------------


def test_whoever_leaves_is_a_bot_at_once(tmp_path: Path) -> None:
    async def test() -> None:
        async with served(tmp_path) as server:
            table = await server.table(bots=2)
            ana, ben = server.person(), server.person("Ben")

            async def leaves() -> None:
                async with ana.connected(table) as line:
                    said = b""
                    async for text in line:
                        frame = json.loads(text)
                        out = ana.answer(frame, text)
                        if frame.get("entry", {}).get("type") == "play":
                            await line.send('{"leave": true}')
                            return
                        if out is not None and out.send != said:
                            said = out.send
                            await line.send(said.decode())

            sat = asyncio.create_task(leaves())
            over = (await ben.play(table))["over"]
            await sat
            verdict = await game_of(server, table)
            assert verdict.status == "valid"
            left = next(n for n, one in enumerate(over["seats"]) if n in over["result"]["left"])
            assert over["result"]["places"][left] == 4
            assert b'"reason":"left"' in (await server.get(f"/v1/tables/{table}/hands/1-1")).body

    run(test())


def test_a_silent_seat_is_expelled_when_its_time_is_over_and_not_before(tmp_path: Path) -> None:
    async def test() -> None:
        async with served(tmp_path, patient(patience=30.0)) as server:
            table = await server.table(bots=2, clock={"grace_ms": 150, "reserve_ms": 150})
            ana, ben = server.person(), server.person("Ben")
            ana.mute = frozenset({"pass", "ack"})
            silent = asyncio.create_task(ana.play(table))
            asked = False
            async with ben.connected(table) as line:
                said = b""
                async for text in line:
                    frame = json.loads(text)
                    ben.heard.append(frame)
                    out = ben.answer(frame, text)
                    if out is not None and out.send != said:
                        said = out.send
                        await line.send(said.decode())
                    waits = frame.get("clock", {"awaited": []})
                    if waits["awaited"] and not asked and ben.seat:
                        asked, mine = True, ben.seat.seat
                        assert mine is not None
                        await line.send(json.dumps({"expel": mine}))
                        await line.send(json.dumps({"expel": 1 - mine}))  # too early
                        await asyncio.sleep(waits["left_ms"] / 1000 + 0.05)
                        await line.send(json.dumps({"expel": 1 - mine}))
            await silent
            codes = [frame["refused"]["code"] for frame in ben.heard if "refused" in frame]
            assert codes == ["not-awaited", "expelled-early"]
            verdict = await game_of(server, table)
            assert verdict.status == "valid"
            log = (await server.get(f"/v1/tables/{table}/hands/1-1")).body
            assert b'"reason":"expelled"' in log

    run(test())


@pytest.mark.parametrize("kind", ["commit", "reveal", "pass", "play", "ack"])
@pytest.mark.parametrize("clock", [None, {"grace_ms": 50, "reserve_ms": 50}])
def test_a_seat_that_never_answers(tmp_path: Path, kind: str, clock: Any) -> None:
    async def test() -> None:
        async with served(tmp_path, patient(patience=0.15, idle=0.15)) as server:
            table = await server.table(bots=2, clock=clock)
            ana, ben = server.person(), server.person("Ben")
            ana.mute = frozenset({kind})
            await asyncio.gather(ana.play(table), ben.play(table))
            verdict = await game_of(server, table)
            assert verdict.status == "valid"
            assert verdict.culprits == ()
            first = (await server.get(f"/v1/tables/{table}/hands/1-1")).body
            if kind == "reveal":
                assert b'"reason":"no-reveal"' in first
                assert len(verdict.hands) > 1
            elif kind != "ack":
                assert b'"reason":"unresponsive"' in first

    run(test())


# -- surviving -----------------------------------------------------------------------------------


def test_a_hand_goes_on_after_a_stop(tmp_path: Path) -> None:
    async def test() -> None:
        ana = None
        for stop in ("commit", "reveal", "pass", "play", "close", ""):
            async with served(tmp_path) as server:
                if ana is None:
                    table, ana = await server.table(bots=3), server.person()
                ana.served = server
                seen = asyncio.Event()
                ana.on_frame = lambda frame, stop=stop, seen=seen: (  # type: ignore[misc]
                    seen.set() if frame.get("entry", {}).get("type") == stop else None
                )
                task = asyncio.create_task(ana.play(table))
                if stop:
                    await asyncio.wait(
                        [task, asyncio.create_task(seen.wait())],
                        return_when=asyncio.FIRST_COMPLETED,
                    )
                else:
                    await until_over(server, table)
                    assert (await game_of(server, table)).status == "valid"
                    voided = b'"type":"void"' in (await server.get(f"/v1/tables/{table}/game")).body
                    assert not voided
            await asyncio.gather(task, return_exceptions=True)

    run(test())


def test_a_table_of_a_key_that_is_not_here_hides_no_other(tmp_path: Path, caplog: Any) -> None:
    async def test() -> None:
        old, new = SigningKey.generate(), SigningKey.generate()
        async with served(tmp_path, OPTIONS, old) as server:
            table = await server.table()
        async with served(tmp_path, OPTIONS, new) as server:
            other = await server.table()
            while "cannot be resumed" not in caplog.text:
                await asyncio.sleep(0.01)
            lost = await server.post(f"/v1/tables/{table}/challenge")
            assert (lost.status, lost.code) == (503, "unavailable")
            async with server.line(table) as line:
                assert json.loads(await line.recv())["error"]["code"] == "unavailable"
            assert (await server.get(f"/v1/tables/{table}")).json["server_key"] == old.public.hex()
            assert (await server.post(f"/v1/tables/{other}/challenge")).status == 200
        async with served(tmp_path, OPTIONS, new, old) as server:  # rotated: both are here
            assert (await server.post(f"/v1/tables/{table}/challenge")).status == 200
            over = [server.person(f"P{n}").play(table) for n in range(4)]
            await asyncio.gather(*over)
            assert (await game_of(server, table)).status == "valid"
            keys = (await server.get("/v1/server")).json["server_keys"]
            assert keys == [new.public.hex(), old.public.hex()]

    caplog.set_level(logging.ERROR)
    run(test())


def test_while_the_store_is_away_nothing_is_broadcast(tmp_path: Path, monkeypatch: Any) -> None:
    async def test() -> None:
        async with served(tmp_path) as server:
            table = await server.table(bots=3)
            store = server.hall._store
            write, away = store.write, asyncio.Event()

            def refuse(writes: Any) -> Any:
                if away.is_set():
                    raise StoreUnavailable("the disk is full")
                return write(writes)

            monkeypatch.setattr(store, "write", refuse)
            ana = server.person()

            def on_frame(frame: dict[str, Any]) -> None:
                if len([one for one in ana.heard if "entry" in one]) == 10 and not away.is_set():
                    away.set()

            ana.on_frame = on_frame
            playing = asyncio.create_task(ana.play(table))
            while (health := await server.get("/healthz")).status == 200:
                await asyncio.sleep(0.01)
            assert (health.status, health.json) == (503, {"status": "no store"})
            heard = [one for one in ana.heard if "entry" in one]
            stored = (await server.get(f"/v1/tables/{table}/hands")).json["hands"]
            assert len(heard) <= sum(row["entries"] for row in stored)
            ana.on_frame = lambda _: None
            away.clear()
            await playing
            assert (await game_of(server, table)).status == "valid"
            assert (await server.get("/healthz")).status == 200
            assert b"fairdeal_store_failures_total" in (await server.get("/metrics")).body

    run(test())


def test_nobody_loses_a_seat_because_the_store_was_away(tmp_path: Path, monkeypatch: Any) -> None:
    async def test() -> None:
        monkeypatch.setattr("fairdeal.server.live._STALL_MS", 100)
        async with served(tmp_path, patient(patience=0.4)) as server:
            clock = {"grace_ms": 100, "reserve_ms": 0}
            table, ana = await server.table(bots=3, clock=clock), server.person()
            store = server.hall._store
            write, slow = store.write, []

            def late(writes: Any) -> Any:
                if any(b'"type":"pass"' in data for one in writes for data in one.entries):
                    slow.append(1)
                    time.sleep(0.9)
                return write(writes)

            monkeypatch.setattr(store, "write", late)
            await ana.play(table)
            assert slow
            log = (await server.get(f"/v1/tables/{table}/game")).body
            assert b'"type":"replace"' not in log
            assert (await game_of(server, table)).status == "valid"

    run(test())


def test_whoever_cannot_be_stored_is_not_seated(tmp_path: Path, monkeypatch: Any) -> None:
    async def test() -> None:
        async with served(tmp_path) as server:
            table = await server.table()

            def refuse(*_: Any) -> Any:
                raise StoreUnavailable("the disk is full")

            monkeypatch.setattr(server.hall._store, "sit", refuse)
            told = (await server.person().play(table))["error"]
            assert told == {"code": "unavailable", "text": "the store cannot be reached now"}
            assert (await server.get(f"/v1/tables/{table}")).json["seats"][0] == {"kind": "free"}
            monkeypatch.setattr(server.hall._store, "create_table", refuse)
            assert (await server.post("/v1/tables", {"rules": "quick"})).status == 503

    run(test())


def test_a_table_that_waits_for_the_store_waits_on(tmp_path: Path, monkeypatch: Any) -> None:
    async def test() -> None:
        monkeypatch.setattr("fairdeal.server.live._RETRY", 0.02)
        async with served(tmp_path, patient(joining=0.1)) as server:
            table = await server.table()
            finish, tried = server.hall._store.finish, []

            def refuse(name: str) -> None:
                tried.append(name)
                if len(tried) < 3:
                    raise StoreUnavailable("the disk is full")
                finish(name)

            monkeypatch.setattr(server.hall._store, "finish", refuse)
            await until_over(server, table)
            assert len(tried) == 3

    run(test())


def test_a_table_that_another_process_began_is_let_go(tmp_path: Path, monkeypatch: Any) -> None:
    async def test() -> None:
        async with served(tmp_path) as server:
            monkeypatch.setattr(
                server.hall._store, "write", lambda writes: [StoreConflict("there")] * len(writes)
            )
            answer = await server.post("/v1/tables", {"rules": "quick", "bots": 4})
            assert (answer.status, answer.code) == (409, "moved")

    run(test())


def test_a_write_that_nobody_waits_for_is_written(tmp_path: Path, monkeypatch: Any) -> None:
    async def test() -> None:
        async with served(tmp_path) as server:
            store, writer = server.hall._store, server.hall.writer
            store.create_table("t", b"{}", 0)
            write, free = store.write, threading.Event()
            monkeypatch.setattr(store, "write", lambda writes: free.wait() and write(writes))
            name = HandName("t", "1", 1, 1)
            task = asyncio.create_task(writer.write(Begin(name, b"s", [b"{}"])))
            await asyncio.sleep(0)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            second = asyncio.create_task(writer.write(Append(name, 1, [b"{}"])))
            free.set()
            await second
            assert store.entries(name) == [b"{}", b"{}"]

    run(test())


@pytest.mark.parametrize("entry", [0, 10])
def test_a_table_that_another_process_writes_is_let_go(
    tmp_path: Path, monkeypatch: Any, entry: int
) -> None:
    async def test() -> None:
        async with served(tmp_path) as server:
            table, ana = await server.table(bots=3), server.person()
            store = server.hall._store
            write = store.write

            def taken(writes: Any) -> Any:
                if any(getattr(one, "first", 0) >= entry for one in writes):
                    return [StoreConflict("there")] * len(writes)
                return write(writes)

            monkeypatch.setattr(store, "write", taken)
            async with ana.connected(table) as line:
                frames = []
                async for text in swallowed(line):
                    frames.append(json.loads(text))
                    out = ana.answer(frames[-1], text)
                    if out is not None:
                        await line.send(out.send.decode())
            assert line.close_code == 1012
            assert "over" not in frames[-1]
            monkeypatch.setattr(store, "write", write)
            await ana.play(table)
            assert (await game_of(server, table)).status == "valid"

    run(test())


def test_another_process_s_table(tmp_path: Path) -> None:
    async def test() -> None:
        async with served(tmp_path) as server:
            store = server.hall._store
            for name, url in (("far", "http://127.0.0.1:1/"), ("lost", "")):
                kept = b'{"setup":{"rules":"quick","seats":4},"server_key":"%b"}'
                key = next(iter(server.hall.keys)).encode()
                store.create_table(name, kept % key, now_ms())
                store.claim(name, "another", url, now_ms(), 60_000)
            moved = await server.post("/v1/tables/far/challenge")
            assert moved.status == 307
            assert moved.headers["Location"] == "http://127.0.0.1:1/v1/tables/far/challenge"
            assert (await server.post("/v1/tables/lost/challenge")).status == 503
            async with server.line("far") as line:
                assert [text async for text in swallowed(line)] == []
            assert (line.close_code, line.close_reason) == (4307, "http://127.0.0.1:1/")
            assert (await server.get("/v1/tables/far")).json["state"] == "waiting"
            server.hall.url = "http://127.0.0.1:1/"  # one at this very address was killed just now
            assert (await server.post("/v1/tables/far/challenge")).status == 503
            for name in ("far", "lost"):
                async with server.line(name) as line:
                    (told,) = [json.loads(text) async for text in swallowed(line)]
                assert told["error"]["code"] == "moved"
                assert line.close_code == 1012

    run(test())


def test_a_preset_that_is_gone_is_told(tmp_path: Path) -> None:
    async def test() -> None:
        async with served(tmp_path) as server:
            kept = b'{"setup":{"rules":"whist","seats":4},"server_key":""}'
            server.hall._store.create_table("old", kept, now_ms())
            answer = await server.get("/v1/tables/old")
            assert (answer.status, "whist" in answer.json["error"]["text"]) == (400, True)

    run(test())


# -- the parts -----------------------------------------------------------------------------------


def test_a_bucket_fills_again() -> None:
    bucket = Bucket(2.0, 2)
    assert [bucket.take(0.0) for _ in range(3)] == [True, True, False]
    assert [bucket.take(0.5), bucket.take(0.5), bucket.take(0.99)] == [True, False, False]
    assert [bucket.take(100.0) for _ in range(3)] == [True, True, False]


def test_whoever_asked_longest_ago_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fairdeal.server.limits._REMEMBERED", 2)
    buckets = Buckets(0.0, 1)
    assert [buckets.take(who, 0.0) for who in "aba"] == [True, True, False]
    assert buckets.take("c", 0.0)  # `b` is forgotten for it
    assert [buckets.take(who, 0.0) for who in "ab"] == [False, True]


def test_a_line_sends_in_order_and_then_closes() -> None:
    async def test() -> None:
        line, sent = Line(0, 100), []

        async def send(frame: str) -> None:
            sent.append(frame)

        async def close(code: int, reason: str) -> None:
            sent.append(f"{code} {reason}")

        line.greet(["a" * 80, "b" * 80])
        line.send("c")
        pump = asyncio.create_task(line.pump(send, close))
        while len(sent) < 3:
            await asyncio.sleep(0)
        line.send("d")
        line.end(1000, "over")
        line.end(1008, "again")
        line.send("never")
        await pump
        assert sent == ["a" * 80, "b" * 80, "c", "d", "1000 over"]

    run(test())


def test_a_line_that_nobody_reads_is_closed() -> None:
    async def test() -> None:
        line, sent = Line(0, 100), []

        async def close(code: int, reason: str) -> None:
            sent.append(code)

        for _ in range(11):
            line.send("0123456789")
        await line.pump(close, close)  # type: ignore[arg-type]
        assert sent == [1008]

    run(test())


def test_a_line_past_asgi_is_closed_too_where_too_much_waits() -> None:
    async def test() -> None:
        put, waits = [], [10, 200]
        line = Line(0, 100, lambda frames: put.append(frames) or waits[len(put) - 1])

        async def close(code: int, reason: str) -> None:
            put.append(code)

        shared = Frames(["a", "b" * 200])
        line.share(shared)
        line.share(shared)
        line.send("never")
        await line.pump(close, close)  # type: ignore[arg-type]
        assert put == [shared.encoded, shared.encoded, 1008]

    run(test())


def test_what_is_no_websocket_is_refused(tmp_path: Path) -> None:
    async def test() -> None:
        async with served(tmp_path) as server:
            host, port = server.base.removeprefix("http://").split(":")
            reader, writer = await asyncio.open_connection(host, int(port))
            writer.write(
                b"GET /v1/tables/t/seat HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\n"
                b"Upgrade: websocket\r\nSec-WebSocket-Version: 7\r\n\r\n"
            )
            assert (await reader.readline()).split()[1] in (b"400", b"426")
            writer.close()

    run(test())


@pytest.mark.parametrize("size", [0, 125, 126, 65535, 65536])
def test_a_frame_is_what_a_client_reads(size: int) -> None:
    reader = StreamReader()
    reader.feed_data(text_frames(["x" * size, "é"]))
    for text in ("x" * size, "é"):
        parsing = Frame.parse(reader.read_exact, mask=False)
        with pytest.raises(StopIteration) as done:
            next(parsing)
        assert (done.value.value.opcode, done.value.value.data) == (1, text.encode())


def test_logs_are_json_and_hold_what_was_given(capsys: pytest.CaptureFixture[str]) -> None:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    try:
        log_to_stderr("info")
        logging.getLogger("fairdeal.server").info("a table", extra={"table": "t\u202e1"})
        try:
            raise ValueError("a fault of ours")
        except ValueError:
            logging.getLogger("fairdeal.server").exception("it went wrong")
        logging.getLogger("uvicorn.error").info("connection open")
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)
        logging.getLogger("uvicorn").setLevel(logging.NOTSET)
    first, second = capsys.readouterr().err.splitlines()
    row = json.loads(first)
    assert (row["level"], row["event"], row["table"]) == ("info", "a table", "t\u202e1")
    assert first.isascii()  # nothing acts on a terminal
    assert "a fault of ours" in json.loads(second)["trace"]


def test_writes_that_cannot_be_stored_are_given_up_at_the_end(
    tmp_path: Path, monkeypatch: Any, caplog: Any
) -> None:
    async def test() -> None:
        async with served(tmp_path) as server:
            table = await server.table(bots=3)

            def refuse(_: Any) -> Any:
                raise StoreUnavailable("the disk is full")

            monkeypatch.setattr(server.hall._store, "write", refuse)
            flush = server.hall.writer.flush
            monkeypatch.setattr(server.hall.writer, "flush", lambda: flush(0.05))
            playing = asyncio.create_task(server.person().play(table))
            while (await server.get("/healthz")).status == 200:
                await asyncio.sleep(0.01)
        playing.cancel()
        await asyncio.gather(playing, return_exceptions=True)
        assert "writes are given up" in caplog.text

    run(test())


def test_a_store_that_fails_for_a_fault_of_its_own_is_told(
    tmp_path: Path, monkeypatch: Any
) -> None:
    async def test() -> None:
        async with served(tmp_path) as server:
            table = await server.table(bots=3)

            def refuse(_: Any) -> Any:
                raise StoreError("the database file is damaged")

            monkeypatch.setattr(server.hall._store, "write", refuse)
            last = await server.person().play(table)
            assert last["error"]["code"] == "unavailable"

    run(test())


def test_a_table_that_is_over_lets_nobody_in(tmp_path: Path) -> None:
    async def test() -> None:
        async with served(tmp_path) as server:
            table = await server.hall.find(await server.table(bots=3))
            await server.person().play(table.name)
            with pytest.raises(RefusedError) as refusal:
                await table.attach(Line(None, 100))
            assert refusal.value.code == "over"

    run(test())


def test_a_hand_whose_secret_is_lost_is_told(tmp_path: Path, caplog: Any) -> None:
    async def test() -> None:
        async with served(tmp_path) as server:
            table, ana = await server.table(bots=3), server.person()
            ana.mute = frozenset({"commit"})
            async with ana.connected(table) as line:
                while "entry" not in json.loads(await line.recv()):
                    pass
        with sqlite3.connect(tmp_path / "store.sqlite") as connection:
            connection.execute("DELETE FROM fairdeal_secret")
        connection.close()
        async with served(tmp_path):
            while "is not there" not in "".join(str(vars(one)) for one in caplog.records):
                await asyncio.sleep(0.01)

    caplog.set_level(logging.ERROR)
    run(test())


def test_the_keeper_goes_on_whatever_happens(tmp_path: Path, monkeypatch: Any, caplog: Any) -> None:
    """A store that is away, a table that another was faster to take, a fault of ours."""

    async def test() -> None:
        async with served(tmp_path, patient(lease=0.03)) as server:
            store, hall = server.hall._store, server.hall
            renew, asked = store.renew, []
            rows: list[Any] = []

            def away(*arguments: Any) -> Any:
                asked.append(1)
                if len(asked) < 3:
                    raise StoreUnavailable("the disk is full")
                return renew(*arguments)

            resumed = hall._resumed

            def faulty(one: Any, row: Any) -> Any:
                if row.table == "faulty":
                    raise ZeroDivisionError
                return resumed(one, row)

            monkeypatch.setattr(hall, "_resumed", faulty)
            monkeypatch.setattr(store, "renew", away)
            monkeypatch.setattr(store, "orphans", lambda _: rows)
            kept = b'{"setup":{"rules":"quick","seats":4},"server_key":"%b"}'
            key = next(iter(hall.keys)).encode()
            for name in ("ours", "theirs", "faulty"):
                store.create_table(name, kept % key, now_ms())
            store.claim("theirs", "another", "", now_ms(), 60_000)
            rows += [store.table(name) for name in ("theirs", "faulty", "ours")]
            told = {"the store does not answer", "a table cannot be resumed"}
            while hall._here("ours") is None or not told <= {
                one.getMessage() for one in caplog.records
            }:
                await asyncio.sleep(0.01)

    caplog.set_level(logging.WARNING)
    run(test())


def test_a_table_that_is_still_resumed_holds_up_no_stop(tmp_path: Path, monkeypatch: Any) -> None:
    async def test() -> None:
        monkeypatch.setattr("fairdeal.server.hall._LOADING", 0.01)
        async with served(tmp_path) as server:
            forever = asyncio.Event()

            async def load(_: str) -> Any:
                await forever.wait()

            monkeypatch.setattr(server.hall, "_load", load)
            asking = asyncio.create_task(server.hall.find("t"))
            await asyncio.sleep(0)
        with pytest.raises(asyncio.CancelledError):
            await asking

    run(test())


def test_a_table_whose_lease_is_lost_is_let_go(tmp_path: Path, monkeypatch: Any) -> None:
    async def test() -> None:
        async with served(tmp_path, patient(lease=0.03)) as server:
            table = await server.table(bots=3)
            async with server.person().connected(table) as line:
                await line.recv()
                monkeypatch.setattr(server.hall._store, "renew", lambda *_: [])
                async for _ in swallowed(line):
                    pass
            assert line.close_code == 1012

    run(test())


def test_whoever_leaves_between_two_hands_has_left(tmp_path: Path) -> None:
    async def test() -> None:
        async with served(tmp_path, patient(pause=0.2)) as server:
            table, ana = await server.table(bots=3, rules="hearts-50"), server.person()
            async with ana.connected(table) as line:
                async for text in swallowed(line):
                    frame = json.loads(text)
                    out = ana.answer(frame, text)
                    if out is not None:
                        await line.send(out.send.decode())
                    if frame.get("entry", {}).get("type") == "close":
                        await line.send('{"leave": true}')
                        break
                entry: dict[str, Any] = {}
                while entry.get("type") != "replace":
                    entry = json.loads(await line.recv()).get("entry", {})
            assert entry["body"] == {"reason": "left", "seat": 0}
            assert (await until_over(server, table))["result"]["left"] == [0]
            assert (await game_of(server, table)).status == "valid"

    run(test())


# -- the command ---------------------------------------------------------------------------------


def serving(*arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "fairdeal", "serve", "--port", "0", *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_serve_needs_no_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with serving() as server:
        assert server.stdout is not None
        words = server.stdout.readline().split()
        base = next(word for word in words if word.startswith("http://"))
        with urllib.request.urlopen(f"{base}/v1/server") as answer:
            assert json.load(answer)["server_keys"] == [words[-1]]
        second = serving()
        assert "another server has this store" in second.communicate()[1]
        assert second.returncode == 2
        server.send_signal(signal.SIGTERM)
        assert server.wait() == 0
    data = tmp_path / "fairdeal-data"
    secret = [data / name for name in ("server.key", "secrets.key", "fairdeal.sqlite")]
    assert [stat.S_IMODE(path.stat().st_mode) for path in secret] == [0o600] * 3


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("--key", "nothing"), "nothing"),
        (("--key", "bad.key"), "64 hexadecimal digits"),
        (("--secret-key", "bad.key"), "64 hexadecimal digits"),
        (("--store", "mysql://root:hunter2@db/x"), "the store's URL must be"),
        (("--store", "postgresql://u:hunter2@127.0.0.1:1/x"), "127.0.0.1"),
        (("--patience", "-1"), "--patience"),
        (("--host", "203.0.113.1"), "203.0.113.1"),
    ],
)
def test_serve_says_in_one_line_what_is_wrong(
    tmp_path: Path, monkeypatch: Any, arguments: Any, text: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bad.key").write_text("xyz\n")
    server = serving(*arguments)
    said = server.communicate()[1]
    assert (server.returncode, said.count("\n"), text in said) == (2, 1, True), said
    assert "hunter2" not in said


def test_serve_in_this_process(tmp_path: Path) -> None:
    key = tmp_path / "old.key"
    key.write_text("11" * 32 + "\n")
    said: list[tuple[str, str]] = []

    def started(address: str, public: str) -> None:
        said.append((address, public))
        servers[0].should_exit = True

    servers: list[Any] = []

    class Remembered(serve._Server):
        def __init__(self, config: Any) -> None:
            super().__init__(config)
            servers.append(self)

    data = str(tmp_path / "data")
    settings = serve.Settings(data, "::1", 0, keys=(str(key),), secret_keys=(str(key),))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(serve, "_Server", Remembered)
        thread = threading.Thread(target=serve.serve, args=(settings, OPTIONS, started))
        thread.start()
        thread.join()
        assert said[0][0].startswith("http://[::1]:")
        assert said[0][1] == SigningKey(b"\x11" * 32).public.hex()
        # no key is made where keys are given
        assert sorted(path.name for path in Path(data).iterdir()) == [
            "fairdeal.sqlite",
            "fairdeal.sqlite.lock",
        ]
        with pytest.raises(FairdealError, match=r"203.0.113.1, port 0: cannot assign"):
            serve.serve(settings._replace(host="203.0.113.1"), OPTIONS, started)
        with pytest.raises(FairdealError, match="cannot listen at no such host"):
            serve.serve(serve.Settings(str(tmp_path / "new"), "no such host", 0), OPTIONS, started)
        made = sorted(path.name for path in (tmp_path / "new").iterdir())
        assert made == ["secrets.key", "server.key"]


def test_a_server_that_does_not_start_says_so(tmp_path: Path, monkeypatch: Any) -> None:
    def fail(_: Any) -> Any:
        raise ValueError("a fault of ours")

    monkeypatch.setattr(Hall, "open", fail)
    key = tmp_path / "some.key"
    key.write_text("11" * 32)
    store, keys = f"sqlite:///{tmp_path}/some.sqlite", (str(key),)
    settings = serve.Settings("nowhere", "127.0.0.1", 0, store, None, keys, keys)
    before = [signal.getsignal(one) for one in (signal.SIGTERM, signal.SIGINT)]
    try:
        with pytest.raises(FairdealError, match="did not start"):
            serve.serve(settings, OPTIONS, print)
        signal.raise_signal(signal.SIGTERM)  # it ends nothing: it was for the server
    finally:
        for one, handler in zip((signal.SIGTERM, signal.SIGINT), before, strict=True):
            signal.signal(one, handler)


@pytest.mark.parametrize("text", ["", "xyz", "11" * 31, "11" * 33, "é"])
def test_what_is_no_key(tmp_path: Path, text: str) -> None:
    path = tmp_path / "some.key"
    path.write_text(text)
    with pytest.raises(FairdealError, match="64 hexadecimal digits"):
        serve.read_key(str(path))
