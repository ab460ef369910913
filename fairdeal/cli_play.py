"""The command that plays: at a live table, by hand or by a policy."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from fairdeal.errors import FairdealError, MalformedError
from fairdeal.report import screen

if TYPE_CHECKING:
    from fairdeal.play.address import Address


@click.command()
@click.argument("url", metavar="URL")
@click.option("--bot", "policy", metavar="POLICY", help="Let a policy play, such as careful/1.")
@click.option(
    "--think", type=click.FloatRange(0, 3600), default=0.0, help="Seconds a bot takes to decide."
)
@click.option("--name", metavar="NAME", help="Your name at the table; everybody sees it.")
@click.option("--folder", metavar="DIR", help="Your key, records and copies; ~/.fairdeal.")
@click.option("--server-key", metavar="HEX", help="The server's public key; remembered.")
@click.option("--rules", metavar="NAME", help="At a new table: its rules, hearts by default.")
@click.option("--seats", type=click.IntRange(2, 10), help="At a new table: how many sit.")
@click.option(
    "--bots", type=click.IntRange(0, 9), help="At a new table: how many bots; all others."
)
def play(
    *,
    url: str,
    policy: str | None,
    think: float,
    name: str | None,
    folder: str | None,
    server_key: str | None,
    rules: str | None,
    seats: int | None,
    bots: int | None,
) -> int:
    """Play at a live table, and verify every hand.

    URL is a table's address; or a server's, which then opens a new table. Your key is made at first
    use, and the server's is remembered. Whoever comes back with the same folder takes the same seat
    and goes on.

    \b
    Examples:
      fairdeal play http://localhost:8000
      fairdeal play http://localhost:8000 --rules black-maria --bots 1
      fairdeal play http://localhost:8000/v1/tables/ID --name Ana
      fairdeal play http://localhost:8000/v1/tables/ID --bot careful/1

    Exit codes: as of verify, of the worst hand and of the game; 130 after Ctrl-C.
    """  # noqa: D301 - \b is click's: it keeps the lines as they are
    if not _has_extra():
        screen.complain("fairdeal play needs: pip install 'fairdeal[play]'")
        return 2
    from fairdeal.games.policies import POLICIES
    from fairdeal.play import game

    here = _address(url, rules, seats, bots)
    if policy is not None and POLICIES.get(policy) is None:
        raise click.UsageError(f"--bot: expected {' or '.join(POLICIES)}, found {policy}")
    wish = game.Wish(
        here=here,
        terms=None if here.table else _terms(rules or "hearts", seats, bots),
        name=_name(name),
        server_key=_key(server_key),
        policy=policy,
        think=think,
    )
    place = folder or os.path.join(os.path.expanduser("~"), ".fairdeal")  # noqa: PTH111, PTH118
    return game.play(wish, place)


def _has_extra() -> bool:
    from importlib.util import find_spec

    return find_spec("websockets") is not None


def _address(url: str, *terms: object) -> Address:
    from fairdeal.play.address import read_address

    try:
        here = read_address(url)
    except FairdealError as error:
        raise click.UsageError(str(error)) from None
    if here.table and any(one is not None for one in terms):
        raise click.UsageError("--rules, --seats and --bots are about a new table")
    return here


def _terms(rules: str, seats: int | None, bots: int | None) -> dict[str, object]:
    from fairdeal.games.presets import PRESETS

    known = PRESETS.get(rules)
    size = seats or (known.seats[0] if known else None)
    if size is None and bots is None:
        raise click.UsageError(f"--rules: {rules} is the server's own: expected --seats or --bots")
    terms: dict[str, object] = {"rules": rules}
    if seats is not None:
        terms["seats"] = seats
    terms["bots"] = bots if bots is not None or size is None else size - 1
    return terms


def _name(name: str | None) -> str | None:
    from fairdeal.messages import text_problem

    if name is not None and (problem := text_problem(name)):
        raise click.UsageError(f"--name: {problem}")
    return name


def _key(text: str | None) -> bytes | None:
    from fairdeal.encoding import unhex

    try:
        return None if text is None else unhex(text, 32)
    except MalformedError as error:
        raise click.UsageError(f"--server-key: {error.problem}") from None
