"""`fairdeal play` over real sockets: login, lost connections, other processes, refusals."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from live import Live
from live_server import Site, kill

from fairdeal.play import game
from fairdeal.play.address import AddressError, read_address
from fairdeal.play.connection import Pace
from fairdeal.play.records import Folder
from fairdeal.play.stream import RefusedError
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
    print(out.out)


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
