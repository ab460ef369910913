"""What is written is true: the threat model's table, the spec's version and codes, the README."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from cheats import CHEATS

from fairdeal.findings import CHECKS, CODES, GAME_CHECKS, GAME_CODES, REMARKS
from fairdeal.messages import SPEC_VERSION

ROOT = Path(__file__).parent.parent
ALL_CODES = CODES.keys() | GAME_CODES.keys()
PROTOCOL = (ROOT / "spec/protocol.md").read_text()
ROWS = [
    [cell.strip() for cell in line.strip("|\n").split("|")]
    for line in (ROOT / "spec/threat-model.md").read_text().splitlines()
    if line.startswith("| ") and line.count("|") == 6
][2:]
TESTS = {
    name
    for path in (ROOT / "tests").glob("test_*.py")
    for name in re.findall(r"^def (test_\w+)", path.read_text(), re.MULTILINE)
}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[1][:40])
def test_threat_model_names_codes_and_tests_that_exist(row: list[str]) -> None:
    _, _, codes, _, tests = row
    assert set(re.findall(r"`([a-z-]+)`", codes)) <= ALL_CODES
    for name in tests.split(", "):
        assert name in CHEATS or name in TESTS or (ROOT / "tests" / name).is_file(), name


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[1][:40])
def test_cheats_of_a_row_give_its_codes(row: list[str]) -> None:
    codes = set(re.findall(r"`([a-z-]+)`", row[2]))
    for name in row[4].split(", "):
        if name in CHEATS:
            assert CHEATS[name]().code in codes, name


def test_every_code_is_in_the_threat_model_or_about_pins() -> None:
    named = {code for row in ROWS for code in re.findall(r"`([a-z-]+)`", row[2])}
    outside = {code for code, (check, _) in CODES.items() if check in (19, 20, 21)}
    assert named | outside | REMARKS == ALL_CODES


def test_every_cheat_is_in_the_threat_model() -> None:
    assert {name for row in ROWS for name in row[4].split(", ")} >= CHEATS.keys()


def test_protocol_names_every_code_under_its_check() -> None:
    parts = re.split(r"^\*Check (\d+), ([a-z ]+)[.*]", PROTOCOL, flags=re.MULTILINE)
    numbers = dict(zip(map(int, parts[1::3]), parts[2::3], strict=True))
    assert numbers == CHECKS | GAME_CHECKS
    texts = dict(zip(map(int, parts[1::3]), parts[3::3], strict=True))
    for code, (check, _) in (CODES | GAME_CODES).items():
        assert f"`{code}`" in texts[check] or (check == 6 and f"`{code}`" in texts[12]), code


def test_versions_agree() -> None:
    assert f"Revision of this text: {SPEC_VERSION}." in PROTOCOL
    assert f"## {SPEC_VERSION}" in (ROOT / "spec/CHANGELOG.md").read_text()


@pytest.mark.parametrize(
    "path",
    [*ROOT.glob("*.md"), *ROOT.glob("spec/**/*.md"), *ROOT.glob("docs/*.md")],
    ids=lambda p: p.name,
)
def test_links_lead_somewhere(path: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", path.read_text()):
        if "://" not in target:
            assert (path.parent / target).exists(), target


def test_readme_tour_runs(capsys: pytest.CaptureFixture[str]) -> None:
    """The developer's five minutes, as written."""
    code = re.findall(
        r"^```python\n(.*?)^```", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL
    )
    assert len(code) == 1
    exec(compile(code[0], "README.md", "exec"), {})  # noqa: S102 - our own README
    assert capsys.readouterr().out == "valid\n"


def test_readme_commands_exist() -> None:
    """Every `fairdeal` command that the README shows is one, with the options it shows."""
    from click.testing import CliRunner

    from fairdeal.cli import cli

    shown = re.findall(r"^fairdeal (\w+)([^#\n]*)", (ROOT / "README.md").read_text(), re.MULTILINE)
    assert len(shown) > 8
    for command, rest in shown:
        text = CliRunner().invoke(cli, [command, "--help"]).output
        for option in re.findall(r"--[a-z-]+", rest):
            assert option in text, (command, option)
