"""The player's folder, what is typed, addresses, and what its copies say in the end."""

from __future__ import annotations

import asyncio
import os
import stat
from pathlib import Path
from typing import Any

import pytest
from helpers import SHORT, Table

from fairdeal import verify
from fairdeal.errors import FairdealError
from fairdeal.files import FileError
from fairdeal.play.address import AddressError, moved, read_address, reason
from fairdeal.play.keyboard import (
    Command,
    Lines,
    MoveError,
    at_any_time,
    command,
    in_thread,
    stdin_lines,
)
from fairdeal.play.outcome import Outcome, voided
from fairdeal.play.player import Ended, HandName
from fairdeal.play.records import Folder
from fairdeal.play.stream import MAX_FRAME, read_frame
from fairdeal.report.screen import plain
from fairdeal.signing import SigningKey as Key
from fairdeal.whole_game import verify_game

HAND = HandName("ab" * 32, "../../etc", "\x1b[2J", 1, 1)


def mode(path: Any) -> int:
    return stat.S_IMODE(Path(path).stat().st_mode)


# -- the folder --


def test_the_key_is_made_once_and_is_private(tmp_path) -> None:
    first = Folder(str(tmp_path / "deep" / "er")).key()
    folder = Folder(str(tmp_path / "deep" / "er"))
    assert folder.key().public == first.public
    path = tmp_path / "deep" / "er" / "seat.key"
    assert mode(path) == 0o600
    assert mode(path.parent) == 0o700
    path.write_text("0" * 63 + "G")
    with pytest.raises(FileError, match="64 lower-case") as found:
        folder.key()
    assert "000" not in str(found.value)
    assert found.value.__cause__ is None


def test_pins(tmp_path) -> None:
    folder = Folder(str(tmp_path))
    one, two = Key(bytes(32)).public, Key(bytes([1] * 32)).public
    assert folder.pinned("http://a") is None
    folder.pin("http://a", one)
    folder.pin("http://b:1", two)
    assert folder.pinned("http://a") == one
    assert folder.pinned("http://b:1") == two
    assert mode(tmp_path / "pins") == 0o600
    for damaged in ("http://a", "http://a 00", f"http://a {'00' * 32}"):
        (tmp_path / "pins").write_text(damaged)
        with pytest.raises(FileError, match="pins"):
            folder.pinned("http://a")


def test_no_name_becomes_a_path(tmp_path) -> None:
    folder = Folder(str(tmp_path))
    assert folder.record(HAND) is None
    assert folder.copies(HAND) == {}
    folder.keep_record(HAND, b"record")
    folder.keep_copy(HAND, b'{"entries":[1],"fairdeal":1}')
    (game,) = [one for one in tmp_path.iterdir() if one.is_dir()]
    assert mode(game) == 0o700
    assert sorted(one.name for one in game.iterdir()) == ["hand-0001-1.json", "hand-0001-1.record"]
    assert mode(game / "hand-0001-1.record") == 0o600
    assert folder.record(HAND) == b"record"
    assert folder.record(HAND._replace(table="..")) is None
    (game / "hand-0001-1.record").unlink()
    assert folder.record(HAND) == b""  # it was there: only watch


def test_copies_grow_and_are_never_lost(tmp_path) -> None:
    folder = Folder(str(tmp_path))

    def log(*entries: int) -> bytes:
        return b'{"entries":[%b],"fairdeal":1}' % ",".join(map(str, entries)).encode()

    path = folder.keep_copy(HAND, log(1, 2))
    assert folder.keep_copy(HAND, log(1, 2, 3)) == path
    assert folder.keep_copy(HAND, log(1)) == path
    assert folder.copies(HAND) == {(1, 1): log(1, 2, 3)}
    other = folder.keep_copy(HAND, log(1, 4))
    assert other != path
    refused = folder.keep_refused(HAND, b"\x00")
    assert mode(refused) == 0o600
    folder.keep_copy(HAND._replace(hand=12, attempt=2), log(7))
    folder.keep_copy(HAND._replace(hand=2, attempt=1), log(6))
    assert list(folder.copies(HAND)) == [(1, 1), (2, 1), (12, 2)]


def test_one_process_at_a_table(tmp_path) -> None:
    folder = Folder(str(tmp_path))
    with folder.alone("t"):
        with folder.alone("u"):
            pass
        with pytest.raises(FileError, match="another fairdeal"), folder.alone("t"):
            pass
    with folder.alone("t"):
        pass


# -- addresses --


@pytest.mark.parametrize(
    ("text", "server", "table"),
    [
        ("http://host:1", "http://host:1", None),
        ("https://HOST/", "https://host", None),
        ("http://[::1]:8000/v1/tables/a-b", "http://[::1]:8000", "a-b"),
        ("wss://host/v1/tables/a/seat", "https://host", "a"),
    ],
)
def test_addresses(text: str, server: str, table: str | None) -> None:
    assert read_address(text) == (server, table)


def test_socket() -> None:
    assert read_address("https://h/v1/tables/a").socket == "wss://h/v1/tables/a/seat"
    assert read_address("http://h:1/v1/tables/a").socket == "ws://h:1/v1/tables/a/seat"


@pytest.mark.parametrize(
    "text",
    [
        "", "host", "ftp://host", "http://", "http://h/x", "http://h/v1/tables/", "http://h:x",
        "http://h/v1/tables/a/../b", "http://h/v1/tables/a?x", "http://u:p@h", "http://h#x",
        "http://[", "file:///etc/passwd", "http://h/v1/tables/" + "a" * 65,
    ],
)  # fmt: skip
def test_no_addresses(text: str) -> None:
    with pytest.raises(AddressError, match="expected an address"):
        read_address(text)


def test_moved() -> None:
    here = read_address("https://h/v1/tables/a")
    assert moved(here, "https://other:2").url == "https://other:2/v1/tables/a"
    assert moved(here, "https://other/v1/tables/a").url == "https://other/v1/tables/a"
    with pytest.raises(AddressError, match="another table"):
        moved(here, "/v1/tables/b")
    with pytest.raises(AddressError, match="from https to http"):
        moved(here, "http://h/v1/tables/a")


def test_reasons() -> None:
    assert reason(OSError(1, "No way")) == "No way"
    assert reason(TimeoutError()) == "TimeoutError"


def test_frames_have_a_size() -> None:
    assert read_frame('{"refused":{"code":"a","text":"b"}}')[0] == "refused"
    with pytest.raises(FairdealError, match="too large"):
        read_frame(b" " * (MAX_FRAME + 1))


# -- what is typed --

HELD = ("2C", "TH", "QS", "QS")


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("", Command("look")),
        ("  ? ", Command("help")),
        ("QUIT", Command("quit")),
        ("leave", Command("leave")),
        ("e 3", Command("expel", seat=3)),
        ("add", Command("add")),
        ("1", Command("cards", ("2C",))),
        ("qs", Command("cards", ("QS",))),
        ("10h, 2♣ 3", Command("cards", ("TH", "2C", "QS"))),
        ("qs QS", Command("cards", ("QS", "QS"))),
    ],
)
def test_commands(text: str, wanted: Command) -> None:
    assert command(text, HELD) == wanted


@pytest.mark.parametrize(
    "text", ["0", "5", "x", "e", "e x", "expel 1 2", "1 1", "th th", "²", "-1", "\x1b[2J", "9" * 9]
)
def test_no_commands(text: str) -> None:
    with pytest.raises(MoveError) as found:
        command(text, HELD)
    assert str(found.value).isprintable()


def test_what_can_be_done_at_any_time() -> None:
    assert all(map(at_any_time, ("", "?", "quit", "leave", "e 1", "expel x")))
    assert not any(map(at_any_time, ("add", "1", "qs")))


def lines_of(data: bytes) -> list[str | None]:
    async def main() -> list[str | None]:
        read, write = os.pipe()
        os.write(write, data)
        os.close(write)
        lines = Lines(read)
        assert not lines.typed
        found = [await lines.next()]
        while found[-1] is not None:
            found.append(await lines.next())
        os.close(read)
        return found

    return asyncio.run(main())


def test_lines() -> None:
    assert lines_of(b"") == [None]
    assert lines_of(b"a\n\n b \nlast") == ["a", "", "b", "last", None]
    assert lines_of(b"\xff\n") == ["\ufffd", None]


def test_lines_of_nothing() -> None:
    async def main() -> None:
        assert not Lines(-1).typed
        assert await Lines(-1).next() is None

    asyncio.run(main())


def test_there_may_be_no_standard_input(monkeypatch) -> None:
    monkeypatch.setattr("sys.stdin", None)
    assert not stdin_lines().typed


def test_in_thread() -> None:
    async def main() -> None:
        assert await in_thread(max, 1, 2) == 2
        with pytest.raises(ZeroDivisionError):
            await in_thread(divmod, 1, 0)

    asyncio.run(main())


# -- what the copies say --


def ended(table: Table, *, hand: int = 1, attempt: int = 1) -> Ended:
    name = HandName(table.server.public.hex(), "t-1", "g-1", hand, attempt)
    return Ended(name, table.log, verify(table.log.encoded()), None)


def test_outcome_of_hands() -> None:
    table = Table(1, deck=SHORT).run()
    outcome = Outcome()
    assert outcome.exit_code() == 0
    assert plain(outcome.hand(ended(table))).startswith("hand 1: valid, 34 entries")
    assert outcome.exit_code() == 0
    cheat = table.bend()
    cheat.one("close").change(points=(0, 0, 0, 0))
    bad = Ended(ended(table).hand, table.log, cheat.verify(), b"record")
    shown = plain(outcome.hand(bad))
    assert "invalid" in shown
    assert "by your own record" in shown
    assert "names server" in shown
    assert outcome.exit_code() == 1


def test_outcome_of_an_attempt_given_up() -> None:
    table = Table(2, deck=SHORT)
    table.dealer.void("operator", None, table.at)
    outcome = Outcome()
    one = ended(table, attempt=2)
    assert voided(one.verdict)
    assert plain(outcome.hand(one)).startswith("hand 1, attempt 2: incomplete: ")
    assert outcome.exit_code() == 0
    outcome.unfinished()
    assert outcome.exit_code() == 3


def test_outcome_of_a_game() -> None:
    import msgspec

    from fairdeal.games.presets import S0

    rules = msgspec.structs.replace(S0, end_score=1)
    table = Table(1, deck=SHORT, rules=rules).run()
    key, outcome = table.keys[0].public, Outcome()
    assert "no copy" in plain(outcome.game({}, key))
    outcome = Outcome()
    list(outcome.hand(ended(table)))
    log = table.log.encoded()
    shown = plain(outcome.game({(1, 1): log}, key))
    assert shown.startswith("valid: ")
    assert "The game is over" in shown
    assert outcome.exit_code() == 0
    assert verify_game([log]).status == "valid"
    assert plain(outcome.game({(1, 1): log}, Key(bytes(32)).public)).startswith("valid: ")
    for copies in ({(2, 1): log}, {(1, 1): log, (3, 1): log}, {(1, 1): log, (1, 3): log}):
        shown = plain(outcome.game(copies, key))
        assert shown.startswith("Your copies do not hold")
        assert "1.1 points" in shown
    assert outcome.exit_code() == 3


def test_outcome_of_a_copy_without_its_end() -> None:
    table = Table(1, deck=SHORT).run(lambda t: len(t.log) > 20)
    outcome = Outcome()
    list(outcome.hand(ended(table)))
    shown = plain(outcome.game({(1, 1): table.log.encoded()}, table.keys[0].public))
    assert "do not hold" in shown
    assert "not closed" in shown
    assert outcome.exit_code() == 3
