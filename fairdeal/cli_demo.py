"""The commands that make something: keys, and hands to play with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from fairdeal import files
from fairdeal.cli_exit import exit_code
from fairdeal.report import screen

if TYPE_CHECKING:
    from fairdeal.findings import Status
    from fairdeal.pins import Pins
    from fairdeal.simulate import PlayedHand, Table


@click.command()
@click.argument("path", metavar="[FILE]", required=False)
@click.option("--print", "show_private", is_flag=True, help="Print the private key, store nothing.")
def keygen(path: str | None, show_private: bool) -> int:
    """Make an Ed25519 key pair.

    The private key goes into FILE, the public key onto the screen. FILE must be new; only its
    owner can read it. Keys are 64 lower-case hexadecimal digits.

    \b
    Examples:
      fairdeal keygen server.key
      fairdeal keygen --print
    """  # noqa: D301
    import secrets

    from fairdeal.signing import SigningKey

    if (path is None) != show_private:
        raise click.UsageError("expected a FILE for the private key, or --print")
    key = SigningKey(secrets.token_bytes(32))
    private, public = key.private_bytes().hex(), key.public.hex()
    if path is not None:
        files.create_secret(path, f"{private}\n".encode())
        screen.show([screen.line(public)])
    else:
        screen.show([screen.line(f"public  {public}"), screen.line(f"private {private}")])
    return 0


# -- demo ----------------------------------------------------------------------------------------


@click.command()
@click.option("--hands", type=click.IntRange(1, 9999), default=1, help="How many hands to play.")
@click.option(
    "--people", type=click.IntRange(0, 10), help="Seats with keys of their own; all by default."
)
@click.option("--rules", metavar="NAME", default="hearts", help="A table of `fairdeal rules`.")
@click.option("--seats", type=click.IntRange(2, 10), help="How many sit, where that is open.")
@click.option(
    "--policy",
    metavar="NAME",
    default="random/1",
    help="How people play: random/1 (default), low/1, careful/1.",
)
@click.option("--out", metavar="DIR", help="Write hand-0001.json and so on there, over older ones.")
@click.option("--secrets", is_flag=True, help="Beside each, every private key and seed, for tests.")
@click.option("--compact", "short", is_flag=True, help="Write compacted transcripts.")
def demo(
    *,
    hands: int,
    people: int | None,
    rules: str,
    seats: int | None,
    policy: str,
    out: str | None,
    secrets: bool,
    short: bool,
) -> int:
    """Play hands of Hearts in this one process and verify them.

    Scores carry over from hand to hand; a new game begins when one is over. With --out, each game
    has a file of its own too, game-1.json and so on.

    \b
    Examples:
      fairdeal demo
      fairdeal demo --hands 10 --people 2 --out hands
      fairdeal demo --rules cancellation --seats 8
      fairdeal verify hands/hand-0001.json

    Exit codes: as of verify, of the worst hand.
    """  # noqa: D301
    import time

    from fairdeal import simulate
    from fairdeal.games.policies import POLICIES
    from fairdeal.games.presets import PRESETS
    from fairdeal.report import demo as report

    _require_known("--rules", rules, PRESETS)
    _require_known("--policy", policy, POLICIES)
    _require_seats(PRESETS[rules].seats, seats, people)
    if out is None and (secrets or short):
        raise click.UsageError("--secrets and --compact are about files: expected --out DIR too")
    if out is not None:
        files.make_folder(out)
    table = simulate.preset_table(PRESETS[rules], seats=seats, people=people)
    now = time.time_ns() // 1_000_000
    statuses: list[Status] = []
    games: dict[str, list[bytes]] = {}
    for played in simulate.play_hands(table, hands, at=now, policy=policy):
        data = _transcript(played, short)
        verdict = _demo_pins(table, played).judge(data)
        statuses.append(verdict.status)
        games.setdefault(played.dealer.hand.terms.game, []).append(data)
        if out is not None:
            _store(out, len(statuses), data, played if secrets else None)
        drawn = report.one_hand if hands == 1 else report.one_of_many
        screen.show(drawn(played.log, verdict, symbols=screen.has_symbols()))
    if out is not None:
        _store_games(out, games)
    screen.show(report.afterwards(statuses, out))
    return exit_code(statuses)


def _require_known(option: str, name: str, known: Any) -> None:
    if name not in known:
        raise click.UsageError(f"{option}: expected {' or '.join(known)}, found {name}")


def _require_seats(known: tuple[int, ...], seats: int | None, people: int | None) -> None:
    if seats not in (None, *known):
        raise click.UsageError(f"--seats: expected {' or '.join(map(str, known))}, found {seats}")
    most = seats or known[0]
    if people is not None and people > most:
        raise click.UsageError(f"--people: expected at most {most}, found {people}")


def _transcript(played: PlayedHand, short: bool) -> bytes:
    from fairdeal.report.course import compacted_log

    return (compacted_log(played.log) if short else played.log).encoded()


def _demo_pins(table: Table, played: PlayedHand) -> Pins:
    """The demo made every key itself, so it knows them from elsewhere than the transcript."""
    from fairdeal.pins import Pins

    keys = {seat: key.public for seat, key in table.keys.persons.items()}
    return Pins(table.keys.server.public, keys, None, played.log.head)


def _store_games(folder: str, games: Mapping[str, Sequence[bytes]]) -> None:
    """Each game's hands in one file."""
    from fairdeal.whole_game import write_game

    for name, hands in games.items():
        files.write(files.inside(folder, f"{name}.json"), write_game(hands))


def _store(folder: str, number: int, data: bytes, played: PlayedHand | None) -> None:
    """A hand's transcript, and its secrets where `played` is given."""
    from fairdeal.encoding import encode

    name = files.inside(folder, f"hand-{number:04}")
    files.write(f"{name}.json", data)
    if played is not None:
        files.write(f"{name}.secrets.json", encode(played.secrets), secret=True)
