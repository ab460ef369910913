"""The examples run, say what they should, and import nothing but fairdeal and the library."""

import ast
import contextlib
import json
import secrets
import socket
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

import fairdeal

EXAMPLES = Path(__file__).parent.parent / "examples"
SOURCES = sorted(EXAMPLES.rglob("*.py"))
TABLE = EXAMPLES / "socket_table"
LIMIT = 120  # seconds for anything that is waited for


def run(*args, timeout=LIMIT):
    return subprocess.run(
        [sys.executable, *map(str, args)],
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )


def types(log):
    return [entry["type"] for entry in json.loads(log)["entries"]]


def is_private(path):
    return stat.S_IMODE(path.stat().st_mode) == 0o600


# -- what they are made of --


@pytest.mark.parametrize("source", SOURCES, ids=lambda one: one.name)
def test_imports_only_the_standard_library_and_public_fairdeal(source):
    allowed = {"fairdeal", "fairdeal.games", "fairdeal.games.presets", "fairdeal.games.policies"}
    for node in ast.walk(ast.parse(source.read_text())):
        names = []
        if isinstance(node, ast.Import):
            names = [one.name for one in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            names = [node.module]
        for name in names:
            assert name in allowed or name.split(".")[0] in sys.stdlib_module_names, name
        public = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
        if public and node.value.id == "fairdeal":
            assert node.attr in fairdeal.__all__


def test_local_table_is_under_80_lines():
    assert len((EXAMPLES / "local_table.py").read_text().splitlines()) < 80


# -- in one process --


def test_local_table(tmp_path):
    path = tmp_path / "hand.json"
    done = run(EXAMPLES / "local_table.py", path)
    assert done.returncode == 0, done.stderr
    assert f"{path}: valid" in done.stdout
    assert "If seat/0 drew its seed at random" in done.stdout
    stored = [path, path.with_suffix(".secret"), *tmp_path.glob("hand.seat-*")]
    assert len(stored) == 6
    assert all(is_private(one) for one in stored)
    for record in tmp_path.glob("hand.seat-*"):
        assert fairdeal.verify(path.read_bytes(), record=record.read_bytes()).status == "valid"


def test_local_table_without_a_path():
    done = run(EXAMPLES / "local_table.py")
    assert done.returncode == 0, done.stderr
    assert ": valid" in done.stdout


def test_cheating_dealer_is_caught():
    done = run(EXAMPLES / "cheating_dealer.py")
    assert done.returncode == 0, done.stderr
    assert "Acknowledged by seat/0, seat/1, seat/2. Verdict: invalid" in done.stdout
    assert "deal-cards: The server dealt other cards than the shuffles give" in done.stdout
    assert "culprits: server; entries: 8 (deal), 66 (close)" in done.stdout


def test_tarot_deal(tmp_path):
    """Five hands of fifteen as each seat has them, a dog of three, and every card once."""
    path = tmp_path / "deal.json"
    done = run(EXAMPLES / "tarot_deal.py", path)
    assert done.returncode == 0, done.stderr
    *hands, status = done.stdout.splitlines()
    assert status == "valid"
    held = [row.split()[1:] for row in hands]
    assert [len(cards) for cards in held] == [15] * 5
    close = json.loads(path.read_bytes())["entries"][-6]["body"]
    assert [sorted(one["cards"]) for one in close["deals"]] == held
    assert len({card for cards in held for card in cards}) == 75


# -- over sockets --


def test_socket_table(tmp_path):
    folder = tmp_path / "table"
    done = run(TABLE / "run.py", "--hands", 1, "--folder", folder)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("valid\n") == 5
    assert all(is_private(path) for path in folder.rglob("*") if path.is_file())


def test_socket_table_goes_on_when_a_seat_is_killed(tmp_path):
    folder = tmp_path / "table"
    done = run(
        *(TABLE / "run.py", "--hands", 1, "--folder", folder),
        *("--kill", 2, "--think", 0.03, "--patience", 1),
    )
    assert done.returncode in (0, 3), done.stdout + done.stderr
    transcripts = sorted((folder / "server").glob("hand-*.json"))
    verdicts = [fairdeal.verify(path.read_bytes()) for path in transcripts]
    assert not any(verdict.findings for verdict in verdicts)
    assert verdicts[-1].status == "valid"
    assert "replace" in types(transcripts[0].read_bytes())


class Server:
    """A server process, and seats of every kind at it."""

    def __init__(self, folder, stack, patience):
        self.folder, self.stack, self.seats = folder, stack, []
        args = (TABLE / "server.py", folder / "server", "--hands", "1", "--patience", patience)
        self.process = self.start(*args, stdout=subprocess.PIPE)
        hello = json.loads(self.process.stdout.readline())
        self.port, self.key = hello["port"], hello["key"]

    def start(self, *args, **kwargs):
        command = [sys.executable, *map(str, args)]
        process = self.stack.enter_context(subprocess.Popen(command, **kwargs))
        self.stack.callback(process.kill)
        return process

    def sit(self, number, think=0.0):
        args = (self.folder / f"seat-{number}", self.port, "--server-key", self.key)
        return self.start(TABLE / "seat.py", *args, "--think", think)

    def connect(self, hello):
        line = self.stack.enter_context(socket.create_connection(("127.0.0.1", self.port), LIMIT))
        line.sendall(hello)
        return line, self.stack.enter_context(line.makefile("rb"))

    def join(self, key):
        return self.connect(json.dumps({"key": key.public.hex()}).encode() + b"\n")

    def transcript(self, attempt=1):
        return (self.folder / "server" / f"hand-0001-{attempt}.json").read_bytes()

    def until(self, kind):
        deadline = time.monotonic() + LIMIT
        while time.monotonic() < deadline:
            with contextlib.suppress(FileNotFoundError):
                if kind in types(self.transcript()):
                    return
            time.sleep(0.01)
        pytest.fail(f"no {kind} came")

    def end(self):
        """The server's exit code, when it has had time to end by itself."""
        return self.process.wait(LIMIT)


@pytest.fixture
def table(tmp_path):
    with contextlib.ExitStack() as stack:
        yield lambda patience=20.0: Server(tmp_path, stack, patience)


def new_key():
    return fairdeal.SigningKey(secrets.token_bytes(32))


RUBBISH = {
    "no JSON": b"hello?\n",
    "other JSON": b'{"by":"seat/0"}\n',
    "deep": b"[" * 60_000 + b"\n",
    "a line too long": b"x" * 200_000 + b"\n",
    "blank": b"\n",
    "binary": bytes(range(255)) + b"\n",
}


@pytest.mark.parametrize("rubbish", RUBBISH.values(), ids=RUBBISH)
def test_a_seat_that_sends_rubbish_is_a_bots_from_then_on(table, rubbish):
    server = table()
    for number in range(3):
        server.sit(number)
    line, entries = server.join(new_key())
    assert json.loads(entries.readline())["type"] == "open"
    line.sendall(rubbish)
    with contextlib.suppress(ConnectionResetError):
        while entries.readline():
            pass  # until the server hangs up
    assert server.end() == 0
    verdict = fairdeal.verify(server.transcript())
    assert verdict.status == "valid"
    assert len(verdict.acknowledged) == 3
    assert types(server.transcript()).count("replace") == 1


@pytest.mark.parametrize(
    "hello",
    [*RUBBISH.values(), b'{"key":5}\n', b'{"key":"ab"}\n', b'{"key":"%s"}\n' % (b"0" * 64)],
)
def test_nobody_sits_down_with_rubbish_for_a_key(table, hello):
    server = table()
    _, answer = server.connect(hello)
    with contextlib.suppress(ConnectionResetError):
        assert answer.read() == b""
    for number in range(4):
        server.sit(number)
    assert server.end() == 0
    assert len(fairdeal.verify(server.transcript()).acknowledged) == 4


def test_a_seat_that_never_says_anything_is_replaced(table):
    server = table(patience=3.0)
    server.join(new_key())
    for number in range(3):
        server.sit(number)
    assert server.end() == 0
    verdict = fairdeal.verify(server.transcript())
    assert verdict.status == "valid"
    assert len(verdict.acknowledged) == 3


def test_a_seat_that_commits_and_does_not_reveal_costs_an_attempt(table):
    server = table(patience=3.0)
    key = new_key()
    line, entries = server.join(key)
    for number in range(3):
        server.sit(number)
    commitment = fairdeal.Seat(key).receive(entries.readline().rstrip())
    line.sendall(commitment.send + b"\n")
    assert server.end() == 0
    first, second = (fairdeal.verify(server.transcript(n)) for n in (1, 2))
    assert first.status == "incomplete"
    assert "no-reveal (seat/0)" in first.stop.reason
    assert second.status == "valid"
    assert json.loads(server.transcript(2))["entries"][0]["body"]["previous"] == first.head


def test_a_seat_that_is_killed_and_started_again_plays_on(table):
    server = table()
    processes = [server.sit(number, think=0.03) for number in range(4)]
    server.until("play")
    processes[1].kill()
    processes[1].wait(LIMIT)
    processes[1] = server.sit(1, think=0.03)
    assert server.end() == 0
    assert [process.wait(LIMIT) for process in processes] == [0] * 4
    assert "replace" not in types(server.transcript())
    for record in server.folder.glob("seat-*/*.record"):
        verdict = fairdeal.verify(server.transcript(), record=record.read_bytes())
        assert verdict.status == "valid"
        assert len(verdict.acknowledged) == 4


def test_a_seat_does_not_talk_to_another_server(table):
    server = table(patience=3.0)
    key = server.key
    server.key = new_key().public.hex()
    wary = server.sit(0)
    server.key = key
    for number in range(1, 4):
        server.sit(number)
    assert wary.wait(LIMIT) == 1
    assert server.end() == 0
    assert fairdeal.verify(server.transcript()).status == "valid"
