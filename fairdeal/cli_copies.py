"""The commands that hold things side by side: two copies, and another verifier."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING

import click

from fairdeal import files
from fairdeal.collection import Document, documents
from fairdeal.errors import MalformedError
from fairdeal.report import screen

if TYPE_CHECKING:
    from fairdeal.evidence import Comparison
    from fairdeal.histories import Copy

SAME, PARTED = 0, 1


@click.command()
@click.argument("one", metavar="COPY")
@click.argument("other", metavar="OTHER")
@click.option("-o", "--output", metavar="OUT", help="Where to write the proof, if there is one.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on a line.")
def compare(one: str, other: str, output: str | None, as_json: bool) -> int:
    """Find where two copies of a hand, or of a table's history, part.

    A history is a folder of transcripts or JSON Lines: its hands are matched by the server's key,
    table, game, hand and attempt. OTHER may also be a seat's own record. Where somebody signed two
    messages that cannot both be true, or a log leaves out a signed dispute, OUT is a proof that
    `fairdeal verify` confirms without the copies. Of several proofs the others are written to
    OUT.2, OUT.3 and so on.

    \b
    Examples:
      fairdeal compare mine.json theirs.json -o proof.json
      fairdeal verify proof.json
      fairdeal compare my-hands/ their-hands.jsonl -o proof.json

    Exit codes: 0 the same, 1 they part, 2 unreadable or usage.
    """  # noqa: D301
    writer = _Proofs(output)
    mine, theirs = list(documents(one)), documents(other)
    second = next(theirs)
    if len(mine) == 1 and second.name == other and mine[0].name == one:
        found = _compare_two(mine[0], second)
        _print(found, as_json=as_json, written=writer.write(found))
        return SAME if found.same else PARTED
    return _compare_histories(mine, chain([second], theirs), writer, as_json=as_json)


def _compare_two(one: Document, other: Document) -> Comparison:
    from fairdeal import evidence

    for copy in (one, other):
        if copy.problem is not None:
            raise files.FileError(copy.name, copy.problem)
    try:
        return evidence.compare(one.data, other.data)
    except MalformedError as error:
        raise files.FileError(f"{one.name}, {other.name}", f"malformed: {error}") from error


def _compare_histories(
    mine: Iterable[Document], theirs: Iterable[Document], writer: _Proofs, *, as_json: bool
) -> int:
    from fairdeal.histories import compare_histories

    same = parted = 0
    for one, other, found in compare_histories(_copies(mine), _copies(theirs)):
        same, parted = same + found.same, parted + (not found.same)
        if as_json or not found.same:
            names = one if other is None else f"{one}, {other}"
            _print(found, as_json=as_json, written=writer.write(found), names=names)
    if not as_json:
        screen.show([screen.line(f"{same} the same, {parted} part")])
    return PARTED if parted else SAME


def _copies(history: Iterable[Document]) -> Iterator[Copy]:
    """The transcripts of a history. Raises FileError for what cannot even be read."""
    from fairdeal.histories import Copy

    for one in history:
        if one.problem is not None:
            raise files.FileError(one.name, one.problem)
        yield Copy(one.name, one.data)


class _Proofs:
    """Writes proofs to OUT, OUT.2, OUT.3 and so on, or nowhere."""

    def __init__(self, output: str | None) -> None:
        self._output = output
        self._written = 0

    def write(self, found: Comparison) -> str | None:
        """Where the proof went, if there is one and it was wanted."""
        if self._output is None or found.proof is None:
            return None
        self._written += 1
        name = self._output + (f".{self._written}" if self._written > 1 else "")
        files.write(name, found.proof)
        return name


def _print(found: Comparison, *, as_json: bool, written: str | None, names: str = "") -> None:
    from fairdeal.report import copies

    show = copies.as_json if as_json else copies.as_text
    screen.show([screen.line(row) for row in show(found, written, names)])


@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.argument("command", metavar="COMMAND...", nargs=-1, required=True)
@click.option(
    "--vectors",
    metavar="DIR",
    default="spec/vectors",
    show_default=True,
    help="Folders of a transcript.json or game.json with its expected.json.",
)
def conformance(command: tuple[str, ...], vectors: str) -> int:
    """Run another verifier on every transcript and game of the vectors.

    COMMAND is run with the file's path as its last argument, and before it, where a folder has
    pins, `--server-key HEX`, `--seat-key N=HEX`, `--head HEX` and `--mine RECORD`. It prints a JSON
    object with `status` and `findings` (each with `code`, `culprits` and `entries`), as
    `fairdeal verify --json` does; for a game each has `hands` for `entries`, `remarks` are like
    them, and `hands` are the verdicts on each. Where it differs is printed. Options of this command
    come before COMMAND.

    \b
    Examples:
      fairdeal conformance python spec/reference.py verify
      fairdeal conformance --vectors spec/vectors/games my-verifier --json

    Exit codes: 0 it agrees with all, 1 it differs, 2 usage.
    """  # noqa: D301
    from fairdeal import conformance as run

    folders = run.folders(vectors)
    differing = 0
    for folder in folders:
        said = run.differs(command, folder)
        differing += said is not None
        if said is not None:
            screen.show([screen.line(f"{folder.name}: {said}")])
    screen.show([screen.line(f"{len(folders) - differing} agree, {differing} differ")])
    return SAME if not differing else PARTED
