"""The command line: commands and exit codes, nothing else.

Exit codes: 0 valid, 1 invalid, 2 malformed or usage, 3 incomplete; of several files the worst
counts, in the order invalid, malformed, incomplete, valid. What a command needs is imported inside
it: start-up is most of the time that `verify` takes.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final

import click

from fairdeal import files
from fairdeal.cli_copies import compare, conformance
from fairdeal.cli_demo import demo, keygen
from fairdeal.cli_exit import EXIT, exit_code
from fairdeal.cli_play import play
from fairdeal.cli_rules import rules
from fairdeal.cli_serve import serve
from fairdeal.collection import documents
from fairdeal.errors import FairdealError, MalformedError
from fairdeal.kinds import kind_of
from fairdeal.report import screen

if TYPE_CHECKING:
    from fairdeal.findings import Status, Verdict
    from fairdeal.pins import Judged
    from fairdeal.report.screen import Line

USAGE: Final = 2
INTERRUPTED: Final = 130
INTERNAL: Final = 70


class _Program(click.Group):
    """The group of commands; whatever happens in one, its user gets one line and a code."""

    def main(self, *args: Any, **kwargs: Any) -> Any:
        kwargs["standalone_mode"] = False
        sys.exit(_guarded(lambda: super(_Program, self).main(*args, **kwargs)))


def _guarded(run: Callable[[], Any]) -> int:
    try:
        code = run()
        return code if isinstance(code, int) else 0
    except click.UsageError as error:
        path = error.ctx.command_path if error.ctx else "fairdeal"
        return _refuse(f"{path}: {error.format_message()} (see {path} -h)")
    except click.ClickException as error:
        return _refuse(f"fairdeal: {error.format_message()}")
    except FairdealError as error:
        return _refuse(f"fairdeal: {error}")
    except SystemExit:  # click's own answer where the reader of a help text has gone away
        return 0
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001 - the last resort: a traceback helps no user
        screen.complain(
            f"fairdeal: internal error: {type(error).__name__}: {error}; this is a fault of "
            "fairdeal: please report it with the command and the file"
        )
        return INTERNAL


def _refuse(text: str) -> int:
    screen.complain(text)
    return USAGE


@click.group(
    name="fairdeal",
    cls=_Program,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option("--version", is_flag=True, help="Print the version and leave.")
@click.pass_context
def cli(context: click.Context, version: bool) -> int | None:
    """Deal cards that nobody has to be trusted with, and check hands that others dealt.

    \b
    Examples:
      fairdeal demo                      play a hand and verify it
      fairdeal verify hand.json          judge a transcript
      fairdeal show hand.json            read it as people write it

    Exit codes: 0 valid, 1 invalid, 2 malformed or usage, 3 incomplete.
    """  # noqa: D301 - \b is click's: it keeps the lines as they are
    if version:
        return _print_version()
    if context.invoked_subcommand is None:
        screen.show([screen.line(row) for row in context.get_help().splitlines()])
        return USAGE  # a script whose command got lost must not read this as `valid`
    return None


def _print_version() -> int:
    from importlib.metadata import version

    from fairdeal.messages import FORMAT_VERSION, SPEC_VERSION

    text = f"fairdeal {version('fairdeal')} (format {FORMAT_VERSION}, protocol {SPEC_VERSION})"
    screen.show([screen.line(text)])
    return 0


# -- verify --------------------------------------------------------------------------------------


@cli.command()
@click.argument("paths", metavar="FILE...", nargs=-1, required=True)
@click.option("--server-key", metavar="HEX", help="The server's public key, if you know it.")
@click.option(
    "--seat-key", metavar="SEAT=HEX", multiple=True, help="A person's public key, by seat number."
)
@click.option("--mine", metavar="FILE", help="Your own record of the hand, as your seat stored it.")
@click.option("--head", metavar="HEX", help="The hash of the log's last entry, if you know it.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a file, each on a line.")
def verify(
    paths: tuple[str, ...],
    *,
    server_key: str | None,
    seat_key: tuple[str, ...],
    mine: str | None,
    head: str | None,
    as_json: bool,
) -> int:
    """Judge transcripts. FILE - is standard input.

    FILE may also be JSON Lines, a transcript a line, or a folder of files: of these only what is
    not valid is shown in full, and then how many there were of each kind.

    What is in a file proves nothing about whose keys are in it: say which keys you know from
    elsewhere, and the verdict ends with what follows from them.

    \b
    Examples:
      fairdeal verify hand.json
      fairdeal verify hand.json --seat-key 1=8f3c... --server-key 07ab...
      fairdeal verify hand.json --mine my-record.json
      fairdeal verify hands/ more-hands.jsonl
      curl -s https://example.org/hand.json | fairdeal verify - --json

    Exit codes: 0 valid, 1 invalid, 2 malformed or usage, 3 incomplete; of several files the worst.
    """  # noqa: D301
    from fairdeal.pins import judge, read_pins

    alone = mine is not None or head is not None
    if alone and len(paths) > 1:
        raise click.UsageError(_ALONE)
    pins = read_pins(server_key, seat_key, mine, head)
    found: dict[Status, int] = {}  # how many of each status
    several = False
    for path in paths:
        for document in documents(path):
            if alone and found:
                raise click.UsageError(_ALONE)
            judged = judge(document, pins)
            status, one_of_many = judged.verdict.status, document.name != path
            if as_json:
                _print_json(judged)
            elif not (one_of_many and status == "valid"):
                _print_verdict(judged, first={"malformed"}.issuperset(found))
            found[status] = found.get(status, 0) + 1
            several |= one_of_many
    if several and not as_json:
        _print_counts(found)
    return exit_code(found)


_ALONE: Final = "--mine and --head are about one hand: expected one FILE with one transcript"


def _print_counts(found: dict[Status, int]) -> None:
    counts = ", ".join(f"{found[status]} {status}" for status in EXIT if status in found)
    screen.show([screen.line(f"{sum(found.values())} transcripts: {counts}")])


def _print_json(judged: Judged) -> None:
    from fairdeal.report.machine import as_json

    screen.write(as_json(judged.file, judged.verdict).encode() + b"\n")


def _print_verdict(judged: Judged, *, first: bool) -> None:
    from fairdeal.findings import Verdict
    from fairdeal.report import text

    if judged.problem is not None:
        screen.complain(f"fairdeal: {judged.file}: {judged.problem}")
    elif judged.verdict.status == "malformed" and isinstance(judged.verdict, Verdict):
        screen.complain(f"fairdeal: {text.malformed(judged.file, judged.verdict)}")
    else:
        space = [] if first else [screen.line()]
        screen.show([*space, *_said(judged)])


def _said(judged: Judged) -> Iterable[Line]:
    from fairdeal.findings import GameVerdict
    from fairdeal.report import text, whole

    if isinstance(judged.verdict, GameVerdict):
        return whole.verdict(judged.file, judged.verdict)
    return text.verdict(judged.file, judged.verdict)


# -- show, head, compact -------------------------------------------------------------------------


def _judged_alone(data: bytes) -> Verdict:
    """The verdict on a transcript, nothing pinned."""
    from fairdeal.pins import Pins

    return Pins(None, {}, None, None).judge(data)


@cli.command()
@click.argument("path", metavar="FILE")
def show(path: str) -> int:
    """Show a hand as people write it, or the score sheet of a game.

    Seats, deal, pass, tricks in a table, points. The first line is the verdict's status: a hand
    that is not valid is shown, but not vouched for.
    Of a hand that is not closed only the plays are public. FILE - is standard input.

    \b
    Examples:
      fairdeal show hand.json
      fairdeal show hand.json | less

    Exit codes: as of verify.
    """  # noqa: D301
    from fairdeal.log import read_log
    from fairdeal.report import text
    from fairdeal.report.sheet import Sheet

    data = files.read(path)
    if kind_of(data) == "game":
        return _show_game(path, data)
    verdict = _judged_alone(data)
    if verdict.status == "malformed":
        screen.complain(f"fairdeal: {text.malformed(path, verdict)}")
    else:
        table = Sheet(read_log(data), symbols=screen.has_symbols())
        screen.show(table.whole(verdict))
    return EXIT[verdict.status]


def _show_game(path: str, data: bytes) -> int:
    from fairdeal.log import read_log
    from fairdeal.report.whole import ScoreSheet
    from fairdeal.whole_game import read_game, verify_game

    try:
        hands = read_game(data)
    except MalformedError as error:
        raise files.FileError(path, f"malformed: {error}") from error
    judged = verify_game(hands)
    logs = [
        None if one.status == "malformed" else read_log(hand)
        for hand, one in zip(hands, judged.hands, strict=True)
    ]
    screen.show(ScoreSheet(logs, judged).whole())
    return EXIT[judged.status]


@cli.command()
@click.argument("path", metavar="FILE")
@click.option("--json", "as_json", is_flag=True, help='{"hash": HEX, "seq": NUMBER} on a line.')
def head(path: str, as_json: bool) -> int:
    """Print the hash of a log's last entry.

    It pins the whole log. Keep it, or exchange it at the table: `fairdeal verify --head HEX` then
    tells whether a transcript is that log and all of it. It is computed, not believed; nothing else
    is checked.

    \b
    Examples:
      fairdeal head hand.json
      fairdeal verify hand.json --head $(fairdeal head my-copy.json)
    """  # noqa: D301
    from fairdeal.log import read_log

    try:
        log = read_log(files.read(path))
    except MalformedError as error:
        raise files.FileError(path, f"malformed: {error}") from error
    text = log.head
    if as_json:
        from fairdeal.report.machine import one_line

        text = one_line({"hash": log.head, "seq": len(log) - 1})
    screen.show([screen.line(text)])
    return 0


@cli.command()
@click.argument("path", metavar="FILE")
@click.option("-o", "--output", metavar="OUT", help="Where to write it; else standard output.")
def compact(path: str, output: str | None) -> int:
    """Strip the signatures that later ones cover.

    What is left proves the same. Only a valid transcript is compacted: what is stripped can never
    be checked again.

    \b
    Examples:
      fairdeal compact hand.json -o hand.compact.json
      fairdeal compact hand.json | gzip > hand.json.gz

    Exit codes: as of verify.
    """  # noqa: D301
    from fairdeal.log import read_log
    from fairdeal.report.course import compacted_log

    data = files.read(path)
    verdict = _judged_alone(data)
    if verdict.status != "valid":
        why = verdict.findings[0] if verdict.findings else None
        reason = f"{why.message} {why.found}" if why else "the hand did not end here"
        screen.complain(
            f"fairdeal: {path}: expected a valid transcript, found {verdict.status}: {reason}"
        )
        return EXIT[verdict.status]
    short = compacted_log(read_log(data)).encoded()
    files.write(output, short) if output is not None else screen.write(short)
    return 0


for _command in (keygen, demo, play, serve, rules, compare, conformance):
    cli.add_command(_command)


def main() -> None:
    """Run the command line and leave with its exit code."""
    cli.main(prog_name="fairdeal")
