"""`fairdeal play` over real sockets: login, lost connections, other processes, refusals."""

from __future__ import annotations

import asyncio
from typing import Any

from live import Live
from live_server import Site, kill

from fairdeal.play import game
from fairdeal.play.address import read_address
from fairdeal.play.connection import Pace
from fairdeal.play.records import Folder


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
