"""What is written is true: the threat model's table, the spec's version and codes, the README."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest
from cheats import CHEATS

import fairdeal
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


PAGES = [ROOT / "README.md", *ROOT.glob("docs/*.md")]


@pytest.mark.parametrize("path", PAGES, ids=lambda p: p.name)
def test_commands_exist(path: Path) -> None:
    """Every `fairdeal` command that a page shows is one, with the options it shows."""
    from click.testing import CliRunner

    from fairdeal.cli import cli

    line = re.compile(r"(?:^|`|fairdeal/bin/)fairdeal ([a-z]+)([^#\n`]*)", re.MULTILINE)
    shown = line.findall(path.read_text())
    assert len(shown) > 8
    for command, rest in shown:
        text = CliRunner().invoke(cli, [command, "--help"]).output
        assert text.startswith("Usage: "), command
        for option in re.findall(r"--[a-z-]+", rest):
            assert option in text, (command, option)


def test_operating_names_every_option_and_its_variable() -> None:
    import click

    from fairdeal.cli_serve import serve

    text = (ROOT / "docs/operating.md").read_text()
    for one in serve.params:
        assert isinstance(one, click.Option)
        variable = f"FAIRDEAL_{(one.name or '').upper()}"
        assert f"| `{one.opts[0]}`, `{variable}` |" in text


def test_operating_snippets_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The pages' Python, in its order, beside a server's folder."""
    from fairdeal.server.store import Append, Begin, HandName, Store
    from fairdeal.server.vault import Vault

    monkeypatch.chdir(tmp_path)
    (tmp_path / "fairdeal-data").mkdir()
    keys = [b"1" * 32, b"2" * 32]
    Path("fairdeal-data/secrets.key").write_text(keys[0].hex())
    Path("new-secrets.key").write_text(keys[1].hex())
    store = Store.open("sqlite:///fairdeal-data/fairdeal.sqlite", Vault(keys[:1]))
    log = fairdeal.read_log(
        (ROOT / "spec/vectors/transcripts/good-all-bots/transcript.json").read_bytes()
    )
    first, *rest = [one.encoded() for one in log.entries]
    for table in ("one", "two"):
        store.create_table(table, b"{}", 0)
        name = HandName(table, "1", 1, 1)
        store.write([Begin(name, b"secret", [first]), Append(name, 1, rest)])
    store.finish("one")
    store.close()
    text = (ROOT / "docs/operating.md").read_text()
    told = []
    for code in re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(code, "operating.md", "exec"), {})  # noqa: S102 - our own page
        told.append(out.getvalue())
        if len(told) == 1:
            Path("fairdeal-data/secrets.key").write_text(keys[1].hex())  # the old one is dropped
    assert told[0] == "1 secrets are under the new key now\n"
    assert told[1] == "two is given up\n"
    assert told[2].split() == [
        part
        for table in ("one", "two")
        for part in (table, "1", "1", str(len(log)), log.hashes[-1])
    ]
    assert sorted(path.name for path in tmp_path.glob("*.json")) == ["one.json", "two.json"]
