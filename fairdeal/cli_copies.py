"""The commands that hold things side by side: two copies, and another verifier."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from fairdeal import files
from fairdeal.errors import MalformedError
from fairdeal.report import screen

if TYPE_CHECKING:
    from fairdeal.evidence import Comparison

SAME, PARTED = 0, 1


@click.command()
@click.argument("one", metavar="COPY")
@click.argument("other", metavar="OTHER")
@click.option("-o", "--output", metavar="OUT", help="Where to write the proof, if there is one.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on a line.")
def compare(one: str, other: str, output: str | None, as_json: bool) -> int:
    """Find where two copies of a hand part.

    OTHER may also be a seat's own record. Where somebody signed two messages that cannot both be
    true, or a log leaves out a signed dispute, OUT is a proof that `fairdeal verify` confirms
    without the copies.

    \b
    Examples:
      fairdeal compare mine.json theirs.json -o proof.json
      fairdeal verify proof.json

    Exit codes: 0 the same, 1 they part, 2 unreadable or usage.
    """  # noqa: D301
    from fairdeal import evidence

    copies = [files.read(path) for path in (one, other)]
    try:
        found = evidence.compare(*copies)
    except MalformedError as error:
        raise files.FileError(f"{one}, {other}", f"malformed: {error}") from error
    if output is not None and found.proof is not None:
        files.write(output, found.proof)
    _print(found, as_json=as_json, written=output if found.proof is not None else None)
    return SAME if found.same else PARTED


def _print(found: Comparison, *, as_json: bool, written: str | None) -> None:
    from fairdeal.report import copies

    show = copies.as_json if as_json else copies.as_text
    screen.show([screen.line(row) for row in show(found, written)])


@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.argument("command", metavar="COMMAND...", nargs=-1, required=True)
@click.option(
    "--vectors",
    metavar="DIR",
    default="spec/vectors/transcripts",
    show_default=True,
    help="The folders to run: transcript.json and expected.json in each, pins.json in some.",
)
def conformance(command: tuple[str, ...], vectors: str) -> int:
    """Run another verifier on every transcript of the vectors.

    COMMAND is run with the transcript's path as its last argument, and before it, where a folder
    has pins, `--server-key HEX`, `--seat-key N=HEX`, `--head HEX` and `--mine RECORD`. It prints a
    JSON object with `status` and `findings` (each with `code`, `culprits` and `entries`), as `fairdeal verify
    --json` does. Where it differs is printed. Options of this command come before COMMAND.

    \b
    Examples:
      fairdeal conformance python spec/reference.py verify
      fairdeal conformance --vectors vectors my-verifier --json

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
