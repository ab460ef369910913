"""`fairdeal compare` and `fairdeal conformance`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from helpers import Table
from test_evidence import forked

from fairdeal.cli import cli

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
    some = sorted((ROOT / "spec/vectors/transcripts").iterdir())[::40]
    for folder in some:
        (tmp_path / folder.name).symlink_to(folder)
    done = run(
        "conformance", "--vectors", tmp_path, sys.executable, ROOT / "spec/reference.py", "verify"
    )
    assert done.exit_code == 0, done.output
