"""`fairdeal play` over real sockets: login, lost connections, other processes, refusals."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any, ClassVar

import msgspec
import pytest
from live import ID, Live
from live_server import Site, kill

from fairdeal.games.policies import POLICIES
from fairdeal.games.presets import S0
from fairdeal.play import game
from fairdeal.play.address import (
    Address,
    AddressError,
    UnreachableError,
    find_table,
    open_table,
    read_address,
)
from fairdeal.play.connection import Pace, Session
from fairdeal.play.keyboard import Lines
from fairdeal.play.player import HandName, Notice, Send
from fairdeal.play.records import Folder
from fairdeal.play.robot import PolicyError, Robot
from fairdeal.play.stream import RefusedError, StreamError
from fairdeal.signing import SigningKey


class Hasty(Pace):
    quiet = 0.02
    first = 0.01
    longest = 0.05
    frames = 1000


def wish(url: str, **options: Any) -> game.Wish:
    known: dict[str, Any] = {
        "terms": None,
        "name": "Ana",
        "server_key": None,
        "policy": "low/1",
        "pace": Hasty(),
    }
    return game.Wish(here=read_address(url), **{**known, **options})


def play(site: Site, folder: Any, **options: Any) -> Any:
    return game.Run(wish(site.url, **options), Folder(str(folder))).whole()


def test_a_bot_plays_a_game(tmp_path, capsys) -> None:
    async def main() -> int:
        async with Site(Live(1, hands=2)) as site:
            return await play(site, tmp_path)

    assert asyncio.run(main()) == 3  # two hands are no game to 100
    out = capsys.readouterr()
    assert out.out.count(": valid") == 2
    assert out.err == ""


def test_killed_in_the_middle_of_a_message(tmp_path, capsys) -> None:
    async def main() -> int:
        site = Site(Live(1, hands=1))

        async def weather(wire: Any, text: str) -> bool:
            if '"play"' in text and site.connections < 6:
                await kill(wire)
                return True
            return False

        site.weather = weather
        async with site:
            code = await play(site, tmp_path)
        assert site.connections == 6
        return code

    assert asyncio.run(main()) == 3
    assert capsys.readouterr().out.count(": valid") == 1


def lost(tmp_path: Any, site: Site, after: int, **options: Any) -> Any:
    """A game whose first connection is closed after so many frames."""
    seen = 0

    async def weather(wire: Any, text: str) -> bool:
        nonlocal seen
        seen += 1
        if seen == after:
            await wire.close(1012)
            return True
        return False

    site.weather = weather
    return play(site, tmp_path, **options)


def one_game(**options: Any) -> Live:
    """A game that one hand ends."""
    rules = msgspec.structs.replace(S0, end_score=1)
    return Live(1, rules=rules, **options)


def judged(tmp_path: Any, prepare: Any = None, **options: Any) -> tuple[int, Site]:
    async def main() -> tuple[int, Site]:
        site = Site(one_game())
        async with site:
            if prepare:
                prepare(site)
            return await play(site, tmp_path, **options), site

    return asyncio.run(main())


def test_a_whole_game_is_valid(tmp_path, capsys) -> None:
    assert judged(tmp_path, think=0.001, policy="random/1")[0] == 0
    assert "The game is over: won by" in capsys.readouterr().out


def test_a_restart_of_the_server_in_the_middle(tmp_path, capsys) -> None:
    for after in (1, 2, 5, 20):
        folder = tmp_path / str(after)

        async def main(after: int = after, folder: Any = folder) -> int:
            async with Site(one_game()) as site:
                code = await lost(folder, site, after)
                assert site.connections == 2
                return code

        if after < 3:  # it never got in
            with pytest.raises(UnreachableError, match="cannot connect"):
                asyncio.run(main())
        else:
            assert asyncio.run(main()) == 0


def test_an_interrupted_run_goes_on(tmp_path, capsys) -> None:
    """Another process, the same folder: the same words, and a valid hand."""

    async def main() -> int:
        async with Site(one_game()) as site:
            stop = asyncio.Event()

            async def weather(wire: Any, text: str) -> bool:
                if '"exchange"' in text:
                    stop.set()
                return False

            site.weather = weather
            first = asyncio.ensure_future(play(site, tmp_path, think=60.0))
            while not stop.is_set():
                await asyncio.sleep(0)
                if first.done():
                    break
                if '"deal"' in str(site.live.lines[0].outbox if site.live.lines else ""):
                    break
            first.cancel()
            with pytest.raises(asyncio.CancelledError):
                await first
            return await play(site, tmp_path)

    assert asyncio.run(main()) == 0


def test_moved_to_another_process(tmp_path, capsys) -> None:
    async def main() -> int:
        async with Site(one_game()) as old, Site(one_game()) as new:
            old.moved = (4307, new.url)
            code = await play(old, tmp_path)
            assert (old.connections, new.connections) == (1, 1)
            assert (tmp_path / "pins").read_text().startswith(old.address)
            return code

    assert asyncio.run(main()) == 0


def test_found_at_another_process(tmp_path, capsys) -> None:
    async def main() -> int:
        async with Site(one_game()) as old, Site(one_game()) as new:
            old.answers[f"/v1/tables/{ID}"] = (307, {"Location": new.url}, {})
            return await play(old, tmp_path)

    assert asyncio.run(main()) == 0


@pytest.mark.parametrize("how", ["http", "socket"])
def test_moved_in_a_circle(tmp_path, how: str) -> None:
    def circle(site: Site) -> None:
        if how == "http":
            site.answers[f"/v1/tables/{ID}"] = (307, {"Location": site.url}, {})
        site.moved = (4307, site.address)

    with pytest.raises(AddressError, match="redirected too often"):
        judged(tmp_path, circle)


def test_moved_nowhere(tmp_path) -> None:
    def nowhere(site: Site) -> None:
        site.moved = (4307, "what")

    with pytest.raises(AddressError):
        judged(tmp_path, nowhere)


def test_nobody_listens() -> None:
    with pytest.raises(UnreachableError, match=r"cannot connect to http://127.0.0.1:9/v1"):
        find_table(Address("http://127.0.0.1:9", ID))


@pytest.mark.parametrize(
    ("answer", "error", "text"),
    [
        ((404, {}, {}), AddressError, "has no table t-1"),
        ((200, {}, b"<html>"), StreamError, "expected a fairdeal server"),
        ((500, {}, b""), StreamError, "an answer 500"),
        ((503, {}, {"error": {"code": "no-store", "text": "later"}}), RefusedError, "later"),
    ],
)
def test_other_answers(tmp_path, answer: Any, error: Any, text: str) -> None:
    def other(site: Site) -> None:
        site.answers[f"/v1/tables/{ID}"] = answer

    with pytest.raises(error, match=text):
        judged(tmp_path, other)


def test_a_full_table(tmp_path) -> None:
    def full(site: Site) -> None:
        site.live.keys[0] = ("ab" * 32, "Eve")

    with pytest.raises(RefusedError, match="no seat is free"):
        judged(tmp_path, full)


def test_refused_login(tmp_path) -> None:
    def taken(site: Site) -> None:
        site.live._login = lambda line, login: line.send(  # type: ignore[method-assign]
            error={"code": "full", "text": "no seat is free"}
        )

    with pytest.raises(RefusedError, match=r"no seat is free \(full\)"):
        judged(tmp_path, taken)


def test_nobody_there(tmp_path) -> None:
    async def main() -> None:
        async with Site(one_game()) as site:
            url = site.url
        with pytest.raises(UnreachableError, match="cannot connect to http"):
            await game.Run(wish(url), Folder(str(tmp_path))).whole()


def test_a_dead_process_is_named_until_its_lease_is_over(tmp_path, capsys) -> None:
    """The server's address sends to a process that is gone, and then has the table itself."""

    async def main() -> int:
        site = Site(Live(1, hands=1))
        seen: list[int] = []

        async def weather(wire: Any, text: str) -> bool:
            if '"play"' in text and not seen:
                seen.append(site.connections)
                site.moved = (4307, "http://127.0.0.1:1")
                await kill(wire)
                return True
            return False

        async def lease() -> None:
            while site.connections < 20:
                await asyncio.sleep(0.01)
            site.moved = None

        site.weather = weather
        async with site:
            over = asyncio.ensure_future(lease())
            code = await play(site, tmp_path)
            await over
        return code

    assert asyncio.run(main()) == 3
    out = capsys.readouterr()
    assert out.out.count(": valid") == 1
    assert out.out.count("the connection is lost: trying again") == 1
    assert out.err == ""


def test_who_was_never_let_in_is_not_sent_about_for_ever(tmp_path) -> None:
    async def main() -> None:
        async with Site(Live(1, hands=1)) as site:
            site.moved = (4307, site.address)
            with pytest.raises(AddressError, match="redirected too often"):
                await play(site, tmp_path)

    asyncio.run(main())


def test_rejected_at_the_door(tmp_path, capsys) -> None:
    def rejecting(*statuses: int) -> Any:
        def prepare(site: Site) -> None:
            async def weather(wire: Any, text: str) -> bool:
                if site.connections == 1 and '"deal"' in text:
                    await wire.close(1011)
                    return True
                return False

            site.weather = weather
            site.rejects = list(statuses)

        return prepare

    assert judged(tmp_path / "a", rejecting(503, 502))[0] == 0
    with pytest.raises(AddressError, match="has no table"):
        judged(tmp_path / "b", rejecting(503, 404))

    def at_once(site: Site) -> None:
        site.connections = 1
        site.rejects = [403]

    with pytest.raises(UnreachableError, match="answers 403"):
        judged(tmp_path / "c", at_once)


def test_errors_in_the_middle_are_tried_again_but_not_for_ever(tmp_path, capsys) -> None:
    def angry(site: Site) -> None:
        async def weather(wire: Any, text: str) -> bool:
            if '"deal"' in text:
                await wire.send('{"error":{"code":"slow","text":"too slow"}}')
                return True
            return False

        site.weather = weather

    code, site = judged(tmp_path, angry)
    assert code == 1
    assert site.connections == Hasty.refusals + 1
    assert "too slow (slow)" in capsys.readouterr().err


def test_another_key_than_before(tmp_path, capsys) -> None:
    async def main() -> int:
        async with Site(one_game(seed=1)) as site:
            folder = Folder(str(tmp_path))
            folder.pin(
                site.address,
                bytes.fromhex("3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c"),
            )
            return await play(site, tmp_path)

    assert asyncio.run(main()) == 1
    err = capsys.readouterr().err
    assert "shows another key than before" in err
    assert err.count("\n") == 1


def test_the_key_given_by_hand(tmp_path, capsys) -> None:
    key = one_game().server.public
    assert judged(tmp_path, server_key=key)[0] == 0
    assert judged(tmp_path / "b", server_key=key[::-1])[0] == 1


def test_what_is_refused_is_kept(tmp_path, capsys) -> None:
    def bent(site: Site) -> None:
        async def weather(wire: Any, text: str) -> bool:
            if '"deal"' in text:
                await wire.send(text.replace('"seq": ', '"seq": 1'))
                return True
            return False

        site.weather = weather

    assert judged(tmp_path, bent)[0] == 1
    assert "refused: expected" in capsys.readouterr().err
    names = {one.name.partition(".")[2].partition("-")[0] for one in tmp_path.glob("game-*/*")}
    assert names == {"json", "record", "refused"}


def test_no_frame_at_all(tmp_path, capsys) -> None:
    def noisy(site: Site) -> None:
        site.greeting = "hello"

    assert judged(tmp_path, noisy)[0] == 1
    assert "no JSON" in capsys.readouterr().err


def test_a_server_that_says_nothing(tmp_path) -> None:
    class Impatient(Hasty):
        timeout = 0.05

    def silent(site: Site) -> None:
        async def weather(wire: Any, text: str) -> bool:
            return True

        site.weather = weather

    with pytest.raises(UnreachableError, match="cannot connect"):
        judged(tmp_path, silent, pace=Impatient())


def test_frames_are_paced(tmp_path, capsys) -> None:
    class Slow(Hasty):
        frames = 9

    assert judged(tmp_path, pace=Slow())[0] == 0


def test_a_policy_that_fails(tmp_path) -> None:
    class Broken:
        def pass_cards(self, view: Any, word: Any) -> Any:
            raise ZeroDivisionError("\x1b[2J")

    async def main() -> None:
        async with Site(one_game()) as site:
            run = game.Run(wish(site.url), Folder(str(tmp_path)))
            player = run._player(read_address(site.url))
            robot = Robot(Broken(), 0, run.tell)  # type: ignore[arg-type]
            session = Session(player, run.folder, read_address(site.url), robot, Hasty())
            with pytest.raises(PolicyError, match="the policy fails: ZeroDivisionError"):
                await game.first_of(session.run(), robot.play(session))

    asyncio.run(main())


def test_what_is_decided_without_a_connection_is_stored(tmp_path, capsys) -> None:
    async def main() -> None:
        run = game.Run(wish("http://h/v1/tables/t-1"), Folder(str(tmp_path)))
        player = run._player(run.wish.here)
        robot = Robot(POLICIES["low/1"], 0, run.tell)
        session = Session(player, run.folder, run.wish.here, robot, Hasty())
        hand = HandName("ab" * 32, "t", "g", 1, 1)
        await session.do([Send("x", hand, b"stored"), Notice("\x1b[2J is told")])
        assert run.folder.record(hand) == b"stored"

    asyncio.run(main())
    assert capsys.readouterr().out == "\\x1b[2J is told\n"


# -- a person ------------------------------------------------------------------------------------


def typed(tmp_path: Any, text: bytes, live: Live | None = None) -> tuple[int, Site]:
    async def main() -> tuple[int, Site]:
        read, write = os.pipe()
        os.write(write, text)
        os.close(write)
        try:
            async with Site(live or one_game()) as site:
                return await play(site, tmp_path, policy=None, lines=Lines(read)), site
        finally:
            os.close(read)

    return asyncio.run(main())


def test_a_person_plays_by_numbers(tmp_path, capsys) -> None:
    every = b"".join(b"%d\n" % n for n in (1, 2, 3, 4, 5))
    assert typed(tmp_path, b"?\n\n1 2\n1 2 3\nadd\n1 2\n" + 6 * every)[0] == 0
    out = capsys.readouterr().out
    assert "a pass is 3 of the seat's own cards" in out
    assert "nothing to choose now" in out
    assert "expected one card" in out
    assert "Ana (you) plays" in out
    assert "takes the trick" in out
    assert "The game is over" in out
    assert "\x1b" not in out


def test_a_person_quits_and_comes_back(tmp_path, capsys) -> None:
    live = one_game()
    assert typed(tmp_path, b"1 2 3\n", live)[0] == 0
    assert "your seat is kept" in capsys.readouterr().out
    assert typed(tmp_path, b"quit\n", live)[0] == 0
    assert live.dealer.hand.phase.value == "play"


def test_a_person_leaves(tmp_path, capsys) -> None:
    live = one_game()
    assert typed(tmp_path, b"1 2 3\n", live)[0] == 0
    assert typed(tmp_path, b"2 2\nleave\n", live)[0] == 3
    assert "you left: a bot plays your seat" in capsys.readouterr().out


def test_a_table_whose_server_hangs_up_on_who_leaves(tmp_path, capsys) -> None:
    def hangs_up(site: Site) -> None:
        real = site.live.hear

        def hear(line: Any, text: str) -> None:
            if "leave" in text:
                _, wire = next(iter(site.wires.values()))
                site.leaving = asyncio.ensure_future(wire.close())  # type: ignore[attr-defined]
            else:
                real(line, text)

        site.live.hear = hear  # type: ignore[method-assign]

    class Leaver(Robot):
        async def play(self, session: Session) -> None:
            while session.player.turn is None:
                await self._wake.wait()
                self._wake.clear()
            await session.do(session.player.leave())
            await asyncio.Event().wait()

    async def main() -> str:
        async with Site(one_game()) as site:
            hangs_up(site)
            run = game.Run(wish(site.url), Folder(str(tmp_path)))
            player = run._player(read_address(site.url))
            front = Leaver(POLICIES["low/1"], 0, run.tell)
            session = Session(player, run.folder, read_address(site.url), front, Hasty())
            await game.first_of(session.run(), front.play(session))
            return session.ended

    assert asyncio.run(main()) == "you left the table"


def test_ctrl_c_in_a_process_of_its_own_and_on_with_a_bot(tmp_path) -> None:
    """The real command: interrupted it is quiet, and the same folder goes on."""
    command = (sys.executable, "-m", "fairdeal", "play")

    async def start(*args: str) -> Any:
        pipe = asyncio.subprocess.PIPE
        return await asyncio.create_subprocess_exec(
            *command, *args, "--folder", str(tmp_path), stdin=pipe, stdout=pipe, stderr=pipe
        )

    async def main() -> None:
        async with asyncio.timeout(60), Site(one_game()) as site:
            person = await start(site.url)
            while b"Pass 3 cards" not in await person.stdout.readline():
                pass
            person.send_signal(signal.SIGINT)
            _, err = await person.communicate()
            assert (person.returncode, err) == (130, b"\n")
            bot = await start(site.url, "--bot", "careful/1")
            out, err = await bot.communicate()
            assert (bot.returncode, err) == (0, b"")
            assert b"hand 1: valid" in out

    asyncio.run(main())


# -- a new table ---------------------------------------------------------------------------------


class Opening(BaseHTTPRequestHandler):
    """A server that opens one table, and says nothing more."""

    asked: ClassVar[list[Any]] = []
    answer: ClassVar[tuple[int, Any]] = (201, {})

    def do_POST(self) -> None:
        self.asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        status, body = self.answer
        raw = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, *args: Any) -> None:
        pass


@pytest.fixture
def opening() -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), Opening) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


def test_a_new_table(opening: str) -> None:
    Opening.answer = (201, one_game().state())
    terms = {"rules": "hearts", "bots": 3}
    assert open_table(opening, terms) == read_address(f"{opening}/v1/tables/{ID}")
    assert Opening.asked[-1] == terms
    Opening.answer = (400, {"error": {"code": "rules", "text": "no such rules"}})
    with pytest.raises(RefusedError, match="no such rules"):
        open_table(opening, terms)


def test_a_new_table_is_told(tmp_path, capsys, opening: str) -> None:
    Opening.answer = (201, one_game().state())

    async def main() -> None:
        new = wish(opening, terms={"rules": "hearts"})
        with pytest.raises(StreamError, match="expected a fairdeal server"):
            await game.Run(new, Folder(str(tmp_path))).whole()  # it knows no GET

    asyncio.run(main())
    assert capsys.readouterr().out == f"table: {opening}/v1/tables/{ID}\n"


def test_the_whole_command(tmp_path, monkeypatch) -> None:
    async def whole(self: Any) -> int:
        return 7

    monkeypatch.setattr(game.Run, "whole", whole)
    assert game.play(wish("http://h/v1/tables/a"), str(tmp_path)) == 7


def test_a_key_that_the_user_names_takes_the_place_of_the_pinned_one(tmp_path, capsys) -> None:
    async def main() -> list[int]:
        async with Site(Live(1, hands=1)) as site:
            folder = Folder(str(tmp_path))
            folder.pin(site.address, SigningKey.generate().public)
            codes = [await play(site, tmp_path)]
            named = site.live.server.public
            codes.append(await play(site, tmp_path, server_key=named))
            assert folder.pinned(site.address) == named
            return codes

    assert asyncio.run(main()) == [1, 3]
    assert "--server-key" in capsys.readouterr().err


def test_a_table_that_is_over_says_where_its_game_is(tmp_path) -> None:
    async def main() -> None:
        async with Site(Live(1, hands=1)) as site:
            site.live.over = True
            with pytest.raises(RefusedError, match=f"is over: see {site.url}/game"):
                await play(site, tmp_path)

    asyncio.run(main())
