"""`fairdeal compare` and `fairdeal conformance`."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from helpers import Table
from test_evidence import forked

from fairdeal.cli import cli
from fairdeal.messages import Clock

ROOT = Path(__file__).parent.parent


def run(*arguments: object) -> Result:
    return CliRunner().invoke(cli, [str(one) for one in arguments])


@pytest.fixture
def copies(tmp_path: Path) -> tuple[Path, Path]:
    one, other = forked("play", "seat/0", {"card": "2C"}, people=3)
    paths = tmp_path / "one.json", tmp_path / "other.json"
    for path, log in zip(paths, (one, other), strict=True):
        path.write_bytes(log.encoded())
    return paths


def test_compare_writes_a_proof_that_verify_confirms(
    copies: tuple[Path, Path], tmp_path: Path
) -> None:
    proof = tmp_path / "proof.json"
    done = run("compare", *copies, "-o", proof)
    assert done.exit_code == 1
    assert "seat/0 signed two messages (play) that cannot both be true" in done.output.lower()
    judged = run("verify", proof)
    assert judged.exit_code == 1
    assert "equivocation" in judged.output
    assert "seat/0" in judged.output


def test_compare_without_output_writes_nothing(copies: tuple[Path, Path], tmp_path: Path) -> None:
    before = sorted(tmp_path.iterdir())
    done = run("compare", *copies, "--json")
    found = json.loads(done.stdout)
    assert (found["culprit"], found["same"], found["proof"]) == ("seat/0", False, None)
    assert sorted(tmp_path.iterdir()) == before


def test_compare_the_same(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(Table(2).run().log.encoded())
    done = run("compare", path, path)
    assert (done.exit_code, done.output) == (0, "The copies are the same.\n")


@pytest.mark.parametrize("text", ["", "{}", "nonsense"])
def test_compare_unreadable_is_one_line(text: str, tmp_path: Path) -> None:
    bad, good = tmp_path / "bad.json", tmp_path / "good.json"
    bad.write_text(text)
    good.write_bytes(Table(2).run().log.encoded())
    for pair in ((bad, good), (good, bad)):
        done = run("compare", *pair)
        assert done.exit_code == 2
        assert done.output.count("\n") == 1
    assert run("compare", tmp_path / "none.json", good).exit_code == 2


# -- histories -----------------------------------------------------------------------------------


def lines(path: Path, *logs: Any) -> Path:
    path.write_bytes(b"".join(log.encoded() + b"\n" for log in logs))
    return path


def test_histories_are_matched_hand_by_hand(tmp_path: Path) -> None:
    """A folder against JSON Lines in another order: what parts is told with its proof, the rest counted."""
    one, other = forked("play", "seat/0", {"card": "2C"}, people=3)
    second = Table(2, hand=2).run().log
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "1.json").write_bytes(one.encoded())
    (mine / "2.json").write_bytes(second.encoded())
    theirs = lines(tmp_path / "theirs.jsonl", second, other)
    proof = tmp_path / "proof.json"
    done = run("compare", mine, theirs, "-o", proof)
    assert done.exit_code == 1
    assert f"{mine / '1.json'}, {theirs}:2:" in done.output
    assert "1 the same, 1 part" in done.output
    assert run("verify", proof).exit_code == 1


def test_histories_that_are_the_same(tmp_path: Path) -> None:
    logs = [Table(2, hand=hand).run().log for hand in (1, 2)]
    one, other = (lines(tmp_path / name, *logs) for name in ("a.jsonl", "b.jsonl"))
    done = run("compare", one, other)
    assert (done.exit_code, done.output) == (0, "2 the same, 0 part\n")
    rows = [json.loads(row) for row in run("compare", one, other, "--json").stdout.splitlines()]
    assert [(row["same"], row["copies"]) for row in rows] == [
        (True, f"{one}:{n}, {other}:{n}") for n in (1, 2)
    ]


def test_a_hand_that_only_one_history_has(tmp_path: Path) -> None:
    logs = [Table(2, hand=hand).run().log for hand in (1, 2, 3)]
    whole = lines(tmp_path / "a.jsonl", *logs)
    less = lines(tmp_path / "b.jsonl", logs[0], logs[2])
    for pair in ((whole, less), (less, whole)):
        done = run("compare", *pair)
        assert done.exit_code == 1
        assert f"{whole}:2:\nOnly one history has a transcript of this hand." in done.output
        assert "2 the same, 1 part" in done.output


def test_a_hand_opened_twice_is_found_in_one_history_alone(tmp_path: Path) -> None:
    """Two opens under one number, in one copy; with a second proof both are written."""
    first = Table(2, seed="one").run()
    again = Table(2, seed="one", clock=Clock(grace_ms=1, reserve_ms=2)).run()
    third = Table(2, seed="one", clock=Clock(grace_ms=2, reserve_ms=2)).run()
    mine = lines(tmp_path / "a.jsonl", first.log, again.log, third.log)
    theirs = lines(tmp_path / "b.jsonl", first.log)
    proof = tmp_path / "proof.json"
    done = run("compare", mine, theirs, "-o", proof)
    assert "Server signed two messages (open)" in done.output
    assert "1 the same, 2 part" in done.output
    for path in (proof, tmp_path / "proof.json.2"):
        judged = run("verify", path, "--server-key", first.server.public.hex())
        assert (judged.exit_code, "equivocation" in judged.output) == (1, True)


def test_a_damaged_transcript_hides_no_other(tmp_path: Path) -> None:
    log = Table(2).run().log
    mine, theirs = lines(tmp_path / "a.jsonl", log), lines(tmp_path / "b.jsonl", log)
    mine.write_bytes(b"{}\n" + mine.read_bytes())
    done = run("compare", mine, theirs)
    assert done.exit_code == 1
    assert f"{mine}:1:\nMalformed: " in done.output
    assert "1 the same, 1 part" in done.output


def test_a_history_that_cannot_be_read_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "gone.json").symlink_to("nowhere")
    theirs = lines(tmp_path / "b.jsonl", *[Table(2).run().log] * 2)
    done = run("compare", tmp_path, theirs)
    assert (done.exit_code, done.output.count("\n")) == (2, 1)


# -- conformance ---------------------------------------------------------------------------------


def vectors(tmp_path: Path, expected: dict[str, object]) -> Path:
    folder = tmp_path / "vectors" / "good-hand"
    folder.mkdir(parents=True)
    (folder / "transcript.json").write_bytes(Table(2).run().log.encoded())
    (folder / "expected.json").write_text(json.dumps(expected))
    return folder.parent


VERIFY = (sys.executable, "-m", "fairdeal", "verify", "--json")


def test_conformance_agrees(tmp_path: Path) -> None:
    folder = vectors(tmp_path, {"status": "valid", "findings": [], "remarks": []})
    done = run("conformance", "--vectors", folder, *VERIFY)
    assert (done.exit_code, done.output) == (0, "1 agree, 0 differ\n")


def test_conformance_says_where_it_differs(tmp_path: Path) -> None:
    folder = vectors(tmp_path, {"status": "invalid", "findings": [], "remarks": []})
    done = run("conformance", "--vectors", folder, *VERIFY)
    assert done.exit_code == 1
    assert "good-hand: status: expected invalid, found valid" in done.output
    assert "0 agree, 1 differ" in done.output


def test_conformance_of_games_compares_remarks_and_hands(tmp_path: Path) -> None:
    folder = tmp_path / "27-seed-reused"
    shutil.copytree(ROOT / "spec/vectors/games/27-seed-reused", folder)
    expected = json.loads((folder / "expected.json").read_text())
    done = run("conformance", "--vectors", tmp_path, *VERIFY)
    assert (done.exit_code, done.output) == (0, "1 agree, 0 differ\n")
    for member, other in (("remarks", []), ("hands", ["valid"])):
        (folder / "expected.json").write_text(json.dumps(expected | {member: other}))
        done = run("conformance", "--vectors", tmp_path, *VERIFY)
        assert (done.exit_code, f"seed-reused: {member}: expected" in done.output) == (1, True)


@pytest.mark.parametrize(
    "command", [("false",), ("echo", "nonsense"), ("echo", "[1]"), ("no-such-command-at-all",)]
)
def test_conformance_of_a_broken_verifier_is_no_traceback(
    command: tuple[str, ...], tmp_path: Path
) -> None:
    folder = vectors(tmp_path, {"status": "valid", "findings": []})
    done = run("conformance", "--vectors", folder, *command)
    assert done.exit_code == 1
    assert "no verdict" in done.output


def test_conformance_without_vectors_is_usage(tmp_path: Path) -> None:
    done = run("conformance", "--vectors", tmp_path, "true")
    assert done.exit_code == 2
    assert "found none" in done.output


def test_the_reference_conforms_on_a_few(tmp_path: Path) -> None:
    """The whole set runs in test_reference.py; here the entrance itself."""
    folders = sorted((ROOT / "spec/vectors/transcripts").iterdir())
    folders += sorted((ROOT / "spec/vectors/games").iterdir())
    some = [*folders[::40], *(one for one in folders if one.name.startswith("pins-and"))]
    for folder in some:
        (tmp_path / folder.name).symlink_to(folder)
    done = run(
        "conformance", "--vectors", tmp_path, sys.executable, ROOT / "spec/reference.py", "verify"
    )
    assert done.exit_code == 0, done.output
