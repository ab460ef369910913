"""The command line: every command, every exit code, and one clear line for whatever goes wrong."""

import json
import os
import pty
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cheats import CHEATS
from click.testing import CliRunner

from fairdeal import cli as program
from fairdeal import read_log, simulate, verify
from fairdeal.encoding import encode
from fairdeal.games.presets import PRESETS
from fairdeal.log import Log
from fairdeal.signing import SigningKey

COMMAND = [sys.executable, "-m", "fairdeal"]
AT = 1_700_000_000_000


def run(*args, data=None):
    return CliRunner().invoke(program.cli, [str(arg) for arg in args], input=data)


def process(*args, **options):
    return subprocess.run([*COMMAND, *map(str, args)], capture_output=True, check=False, **options)


def one_line(result, *parts):
    """It failed with usage or malformed, and said all this in one line and nothing else."""
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    for part in parts:
        assert part in result.stderr
    return result.stderr


@pytest.fixture(scope="module")
def played():
    return simulate.play_hand(simulate.new_table(3), at=AT)


@pytest.fixture(scope="module")
def folder(tmp_path_factory, played):
    """One file of each status."""
    path = tmp_path_factory.mktemp("hands")
    (path / "valid").write_bytes(played.log.encoded())
    (path / "incomplete").write_bytes(Log(played.log.entries[:20]).encoded())
    (path / "invalid").write_bytes(CHEATS["points-wrong"]().log.encoded())
    (path / "malformed").write_bytes(b"{}")
    return path


# -- verify: exit codes --

CODES = {"valid": 0, "invalid": 1, "malformed": 2, "incomplete": 3}


@pytest.mark.parametrize(("status", "code"), CODES.items())
def test_exit_code_of_each_status(folder, status, code):
    result = run("verify", folder / status)
    assert result.exit_code == code
    assert f"{folder / status}: {status}" in (result.stderr if code == 2 else result.stdout)


@pytest.mark.parametrize(
    ("statuses", "code"),
    [
        (("valid", "valid"), 0),
        (("valid", "incomplete"), 3),
        (("incomplete", "malformed", "valid"), 2),
        (("malformed", "invalid", "incomplete"), 1),
        (("missing", "valid"), 2),
        (("missing", "invalid"), 1),
    ],
)
def test_of_several_files_the_worst_counts(folder, statuses, code):
    assert run("verify", *(folder / status for status in statuses)).exit_code == code


def test_other_files_are_verified_after_one_that_cannot_be_read(folder):
    result = run("verify", folder / "missing", folder, folder / "valid")
    assert result.stdout.startswith(f"{folder / 'valid'}: valid\n")
    assert result.stderr == (
        f"fairdeal: {folder / 'missing'}: no such file or directory\n"
        f"fairdeal: {folder}: expected a folder with files named .json or .jsonl or .ndjson, found none\n"
    )


def test_standard_input_is_a_file(played):
    result = run("verify", "-", data=played.log.encoded())
    assert (result.exit_code, result.stdout.splitlines()[0]) == (0, "-: valid")


# -- verify: JSON --


def test_json_is_one_object_a_line_for_every_file(folder):
    paths = [folder / name for name in ("valid", "malformed", "missing", "invalid", "incomplete")]
    result = run("verify", "--json", *paths, folder)
    assert (result.exit_code, result.stderr) == (1, "")
    members = [json.loads(row) for row in result.stdout.splitlines()]
    assert [one["file"] for one in members] == [*map(str, paths), str(folder)]
    assert [one["status"] for one in members] == [
        *("valid", "malformed", "malformed", "invalid", "incomplete", "malformed")
    ]
    assert members[2]["findings"][0]["found"] == "no such file or directory"
    assert result.stdout.isascii()


# -- verify: pins --


def test_pinned_keys_are_compared(folder, played):
    terms = played.dealer.hand.terms
    good = ("--server-key", terms.server_key, "--seat-key", f"seat/1={terms.seats[1].key}")
    result = run("verify", folder / "valid", *good, "--seat-key", f"2={terms.seats[2].key}")
    assert result.exit_code == 0
    assert "the server's key, the key of seat/1, the key of seat/2" in result.stdout
    swapped = run("verify", folder / "valid", "--seat-key", f"2={terms.seats[1].key}")
    assert (swapped.exit_code, "pin-seat-key" in swapped.stdout) == (1, True)


def test_a_pinned_head_is_compared(folder, played):
    assert run("verify", folder / "valid", "--head", played.log.head).exit_code == 0
    result = run("verify", folder / "incomplete", "--head", played.log.head)
    assert (result.exit_code, "head-missing" in result.stdout) == (1, True)


def test_a_seats_own_record_is_compared(folder, played, tmp_path):
    record = tmp_path / "record"
    record.write_bytes(played.records[1])
    result = run("verify", folder / "valid", "--mine", record)
    assert result.exit_code == 0
    assert "the record of seat/1" in result.stdout


def test_a_record_that_is_none_or_of_another_hand_is_told(folder, played, tmp_path):
    one_line(run("verify", folder / "valid", "--mine", folder / "valid"), "not a seat's own record")
    one_line(run("verify", folder / "valid", "--mine", folder / "no"), "no such file or directory")
    record = tmp_path / "record"
    record.write_bytes(played.records[1])
    other = folder / "invalid"
    one_line(run("verify", other, "--mine", record), str(other), "the record is of the hand")
    told = json.loads(run("verify", "--json", other, "--mine", record).stdout)
    assert (told["status"], told["pinned"]["record"]) == ("malformed", 1)


UPPER = "AB" * 32
BASE64 = "q6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6s="


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (("--server-key", UPPER), "64 lower-case hexadecimal digits, found upper-case ones"),
        (("--server-key", BASE64), "found what looks like base64"),
        (("--server-key", "0x12"), "--server-key: expected 32 bytes"),
        (("--seat-key", f"1={UPPER}"), "--seat-key 1: expected"),
        (("--seat-key", "ab" * 32), "expected SEAT=HEX"),
        (("--seat-key", f"10={'ab' * 32}"), "expected SEAT=HEX"),
        (("--seat-key", f"x/1={'ab' * 32}"), "found x/1=ab"),
        (("--seat-key", f"1={'ab' * 32}", "--seat-key", f"seat/1={'cd' * 32}"), "found two"),
        (("--head", "\x1b[31m"), "--head: expected 32 bytes"),
        (("--nonsense",), "No such option"),
        (("--server-key",), "requires an argument"),
        (("second", "--head", "ab" * 32), "expected one FILE"),
    ],
)
def test_wrong_arguments_are_told_in_a_line(folder, args, told):
    error = one_line(run("verify", folder / "valid", *args), told, "fairdeal", "(see")
    assert "\x1b" not in error


@pytest.mark.parametrize(
    "args",
    [
        *(("verify",), ("show",), ("head",), ("compact",), ("keygen",), ("nonsense",)),
        *(("demo", "--people", "5"), ("demo", "--hands", "0"), ("demo", "--rules", "whist")),
        *(
            ("demo", "--policy", "x"),
            ("demo", "--secrets"),
            ("demo", "--compact"),
            ("show", "a", "b"),
        ),
    ],
    ids=" ".join,
)
def test_wrong_usage_of_each_command_is_a_line(args):
    one_line(run(*args), "fairdeal")


def test_arguments_cannot_act_on_the_terminal(tmp_path):
    evil = "\x1b]0;owned\x07\u202egnp.exe"
    for args in ((evil,), ("verify", evil), ("verify", f"--{evil}"), ("demo", "--rules", evil)):
        error = one_line(run(*args))
        assert error.isascii()
        assert error.rstrip("\n").isprintable()
    (tmp_path / evil).write_bytes(b"[")
    assert "\\x1b]0;owned\\x07\\u202e" in one_line(run("verify", tmp_path / evil))


# -- bad input --


def mangled(name, good):
    return {
        "empty": b"",
        "blank": b" \n",
        "binary": bytes(range(256)) * 400,
        "zeros": bytes(1 << 20),
        "truncated": good[:20_000],
        "deep": b"[" * 100_000,
        "deep objects": b'{"a":' * 100_000,
        "digits": b'{"fairdeal":' + b"9" * 1_000_000 + b',"entries":[]}',
        "only digits": b"9" * 1_000_000,
        "version": good.replace(b'"fairdeal":1', b'"fairdeal":2'),
        "other program": b'{"name":"x","version":"1.0.0","dependencies":{}}',
        "bom": b"\xef\xbb\xbf" + good,
        "long string": b'{"x":"' + b"a" * (1 << 20) + b'"}',
    }[name]


SAYS = {
    "empty": "it is empty",
    "blank": "it is empty",
    "binary": "it is not UTF-8 text",
    "zeros": "it is no JSON",
    "truncated": "it",
    "deep": "nested more than 16 deep",
    "deep objects": "nested more than 16 deep",
    "digits": "no integer of magnitude below 2^53",
    "only digits": "no integer of magnitude below 2^53",
    "version": "another version of the format: expected 1, found 2",
    "other program": "no fairdeal transcript",
    "bom": "byte order mark",
    "long string": "no fairdeal transcript",
}

#: a process of its own, because a child starts out with its parent's highest use of memory
MEASURE = """
import json, os, subprocess, sys
child = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
out, err = child.stdout.read().decode(), child.stderr.read().decode()
_, status, used = os.wait4(child.pid, 0)
print(json.dumps([os.waitstatus_to_exitcode(status), out, err, used.ru_utime + used.ru_stime, used.ru_maxrss]))
"""


def measured(*args):
    """Exit code, output, error; it took under a second of the processor and 100 MB."""
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, *COMMAND, *map(str, args)],
        capture_output=True,
        check=True,
    )
    code, out, err, seconds, kilobytes = json.loads(done.stdout)
    assert seconds < 1
    assert kilobytes < 100_000
    return code, out, err


@pytest.mark.parametrize("name", SAYS)
def test_bad_input_is_one_line_in_no_time(tmp_path, played, name):
    path = tmp_path / "file"
    path.write_bytes(mangled(name, played.log.encoded()))
    code, out, err = measured("verify", path)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert err.startswith(f"fairdeal: {path}: malformed: expected a transcript of version 1; ")
    assert SAYS[name] in err


def test_what_is_too_large_or_no_file_is_one_line_in_no_time(tmp_path):
    large = tmp_path / "large"
    large.write_bytes(b" " * 100_000_000)
    os.mkfifo(tmp_path / "pipe")
    said = {
        large: "too large: expected at most 16 MiB, found more",
        "/dev/zero": "too large: expected at most 16 MiB, found more",
        tmp_path / "pipe": "found a pipe that nobody writes to",
        tmp_path: "expected a folder with files named .json or .jsonl or .ndjson, found none",
        tmp_path / "missing": "no such file or directory",
    }
    for path, text in said.items():
        assert measured("verify", path) == (2, "", f"fairdeal: {path}: {text}\n".replace(
            "found a pipe", "expected a transcript, found a pipe"))  # fmt: skip


@pytest.mark.parametrize("command", ["show", "head", "compact"])
def test_the_other_commands_refuse_bad_input_too(folder, command):
    one_line(run(command, folder / "malformed"), str(folder / "malformed"), "malformed")
    one_line(run(command, folder / "missing"), "no such file or directory")


# -- show --


@pytest.mark.parametrize("status", ["valid", "invalid", "incomplete"])
def test_show_begins_with_the_status_and_ends_with_its_code(folder, status):
    result = run("show", folder / status)
    assert result.exit_code == CODES[status]
    assert result.stdout.startswith(f"{status}: hand 1")
    assert "Tricks" in result.stdout or status == "incomplete"


def test_show_writes_what_the_output_can_take(folder):
    for encoding, heart in (("utf-8", "♥"), ("ascii", "H "), ("latin-1", "H ")):
        env = os.environ | {"PYTHONIOENCODING": encoding}
        done = process("show", folder / "valid", env=env)
        assert (done.returncode, done.stderr) == (0, b"")
        assert heart in done.stdout.decode(encoding)


# -- head, compact, keygen --


def test_head_is_the_last_entrys_hash(folder, played):
    assert run("head", folder / "valid").stdout == f"{played.log.head}\n"
    told = json.loads(run("head", "--json", folder / "valid").stdout)
    assert told == {"hash": played.log.head, "seq": len(played.log) - 1}


def test_compact_writes_a_shorter_log_that_is_valid_and_the_same(folder, played, tmp_path):
    out = tmp_path / "out"
    assert run("compact", folder / "valid", "-o", out).exit_code == 0
    short = read_log(out.read_bytes())
    assert verify(out.read_bytes()).status == "valid"
    assert short.head == played.log.head
    assert sum(entry.sig is not None for entry in short.entries) == 4
    assert run("compact", folder / "valid").stdout_bytes == out.read_bytes()
    assert run("compact", "-", data=out.read_bytes()).stdout_bytes == out.read_bytes()


@pytest.mark.parametrize("status", ["invalid", "incomplete"])
def test_compact_refuses_what_is_not_valid(folder, tmp_path, status):
    out = tmp_path / "out"
    result = run("compact", folder / status, "-o", out)
    assert result.exit_code == CODES[status]
    assert f"expected a valid transcript, found {status}" in result.stderr
    assert not out.exists()
    assert result.stdout == ""


def test_keygen_keeps_the_private_key_to_its_file(tmp_path):
    path = tmp_path / "key"
    result = run("keygen", path)
    private = path.read_text()
    assert SigningKey(bytes.fromhex(private)).public.hex() == result.stdout.strip()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    one_line(run("keygen", path), "expected a new file, found one that exists")
    assert path.read_text() == private


def test_keygen_prints_a_private_key_only_when_told():
    public, private = run("keygen", "--print").stdout.split()[1::2]
    assert SigningKey(bytes.fromhex(private)).public.hex() == public
    one_line(run("keygen"), "expected a FILE for the private key, or --print")
    one_line(run("keygen", "f", "--print"), "expected a FILE")
    assert run("keygen", "--print").stdout != run("keygen", "--print").stdout


# -- demo --


def test_demo_plays_a_hand_and_verifies_it():
    result = run("demo")
    assert (result.exit_code, result.stderr) == (0, "")
    for part in ("Ana  (person)", "Tricks", "Count", "Verdict: valid, 72 entries", "Guarantee: If"):
        assert part in result.stdout


@pytest.mark.parametrize("people", range(5))
def test_demo_writes_valid_hands_for_any_number_of_people(tmp_path, people):
    out = tmp_path / "new" / "out"
    result = run("demo", "--hands", 3, "--people", people, "--out", out, "--secrets")
    assert result.exit_code == 0
    assert "3 of 3 hands are valid." in result.stdout
    for number in (1, 2, 3):
        data = (out / f"hand-000{number}.json").read_bytes()
        assert verify(data).status == "valid"
        kinds = [type(seat).__name__ for seat in read_log(data).entries[0].message.body.seats]
        assert kinds == ["Person"] * people + ["Bot"] * (4 - people)
        secret = out / f"hand-000{number}.secrets.json"
        assert stat.S_IMODE(secret.stat().st_mode) == 0o600
        told = json.loads(secret.read_bytes())
        persons = {f"seat/{seat}" for seat in range(people)}
        assert told["signing"].keys() == told["hand"].keys() == {"server"} | persons
        assert told["seeds"].keys() == {f"seat/{seat}" for seat in range(4)}
        assert {len(one) for one in told["seeds"].values()} == {128}
    assert len(list(out.iterdir())) == 7  # and the game's file
    assert run("verify", *sorted(out.glob("hand-000?.json"))).exit_code == 0


def test_demo_carries_scores_over_and_begins_anew(tmp_path):
    assert run("demo", "--hands", 12, "--rules", "hearts-50", "--out", tmp_path).exit_code == 0
    files = sorted(tmp_path.glob("hand-*"))
    assert [path.name for path in files] == [f"hand-{n:04}.json" for n in range(1, 13)]
    logs = [read_log(path.read_bytes()) for path in files]
    games = {log.entries[0].message.body.game for log in logs}
    assert len(games) > 1


def test_demo_can_write_compacted_hands_and_play_by_another_policy(tmp_path):
    result = run("demo", "--compact", "--policy", "low/1", "--out", tmp_path)
    assert result.exit_code == 0
    log = read_log((tmp_path / "hand-0001.json").read_bytes())
    assert sum(entry.sig is not None for entry in log.entries) == 5


def test_demo_says_what_it_cannot_write(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    one_line(run("demo", "--out", tmp_path / "file"), str(tmp_path / "file"))


# -- help and version --

NAMES = ["verify", "show", "demo", "keygen", "compact", "head"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("option", ["-h", "--help"])
def test_each_command_has_help_with_examples(name, option):
    result = run(name, option)
    assert result.exit_code == 0
    assert "Examples:" in result.stdout
    assert result.stdout.isascii()  # any terminal can take it
    assert f"fairdeal {name}" in result.stdout.partition("Examples:")[2]


def test_no_command_is_help_but_not_success():
    result = run()
    assert result.exit_code == 2
    assert all(name in result.stdout for name in NAMES)
    assert run("-h").exit_code == 0


def test_the_version_is_that_of_the_package():
    from importlib.metadata import version

    assert run("--version").stdout.startswith(
        f"fairdeal {version('fairdeal')} (format 1, protocol "
    )


# -- terminals, pipes, interruptions, our own faults --


def on_terminal(*args, **env):
    """What a command draws on a terminal."""
    master, slave = pty.openpty()
    env = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "200"} | env
    subprocess.run([*COMMAND, *map(str, args)], stdout=slave, env=env, check=False)
    os.close(slave)
    drawn = b""
    try:
        while part := os.read(master, 65536):
            drawn += part
    except OSError:  # the end, on Linux
        pass
    os.close(master)
    return drawn.decode()


def test_colour_on_a_terminal_only(folder):
    coloured = on_terminal("show", folder / "invalid")
    assert "\x1b[1;31m" in coloured
    plain = process("show", folder / "invalid").stdout.decode()
    assert "\x1b" not in plain
    for env in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        assert on_terminal("show", folder / "invalid", **env).replace("\r\n", "\n") == plain


def test_colours_change_nothing_else(folder):
    import re

    drawn = re.sub(r"\x1b\[[0-9;]*m", "", on_terminal("verify", folder / "valid"))
    rows = [row.rstrip() for row in drawn.replace("\r\n", "\n").splitlines()]
    assert rows == process("verify", folder / "valid").stdout.decode().splitlines()


def test_markup_in_a_file_is_text(tmp_path, monkeypatch):
    monkeypatch.setattr(simulate, "NAMES", ("[red]Ana[/red]", ":smile:", "Cleo", "Dan"))
    path = tmp_path / "[bold]x"
    path.write_bytes(simulate.play_hand(simulate.new_table(4), at=AT).log.encoded())
    drawn = on_terminal("show", path)
    assert "[red]Ana[/red]" in drawn
    assert ":smile:" in drawn
    assert "[bold]x" in on_terminal("verify", path)


def test_rich_is_loaded_to_draw_on_a_terminal_only(folder):
    code = (
        "import sys; from fairdeal.cli import main\n"
        "try: main()\nexcept SystemExit: print([m for m in ('rich', 'cryptography', 'json',"
        " 'fairdeal.simulate') if m in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "verify", folder / "valid"], capture_output=True, check=True
    )
    assert done.stderr == b"[]\n"


@pytest.mark.parametrize("command", ["verify", "show", "compact", "demo --hands 30", "-h"])
def test_a_reader_that_goes_away_is_no_error(folder, command):
    file = "" if command.startswith(("demo", "-h")) else str(folder / "valid")
    shell = f"{sys.executable} -m fairdeal {command} {file} | true; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", shell], capture_output=True, check=True, text=True)
    assert (done.stdout, done.stderr) == ("0\n", "")


def test_a_reader_that_goes_away_does_not_change_the_verdict(folder):
    shell = (
        f"{sys.executable} -m fairdeal verify {folder / 'invalid'} | true; echo ${{PIPESTATUS[0]}}"
    )
    done = subprocess.run(["bash", "-c", shell], capture_output=True, check=True, text=True)
    assert (done.stdout, done.stderr) == ("1\n", "")


def test_a_full_disk_is_a_line(folder):
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [*COMMAND, "verify", folder / "valid"],
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    told = b"fairdeal: standard output: no space left on device\n"
    assert (done.returncode, done.stderr) == (2, told)


def test_closed_streams_do_no_harm(folder):
    command = " ".join([*COMMAND, "verify"])
    for tail, code in ((f"{folder / 'valid'} >&-", 0), (f"{folder / 'missing'} 2>&-", 2)):
        done = subprocess.run(["sh", "-c", f"{command} {tail}"], capture_output=True, check=False)
        assert (done.returncode, done.stdout, done.stderr) == (code, b"", b"")


def test_an_interruption_is_quiet():
    child = subprocess.Popen(
        [*COMMAND, "verify", "-"], stdin=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert child.stdin is not None
    child.stdin.write(b" " * 1_000_000)  # more than a pipe holds: it is running, and reads
    child.stdin.flush()
    child.send_signal(signal.SIGINT)
    _, error = child.communicate()
    assert child.returncode == 130
    assert error.strip() == b""


def test_our_own_fault_is_a_line_and_no_traceback(folder, monkeypatch):
    def fail(*_, **__):
        raise KeyError("\x1b[2J")

    monkeypatch.setattr("fairdeal.pins.verify", fail)
    result = run("verify", folder / "valid")
    assert result.exit_code == 70
    assert result.stderr.startswith("fairdeal: internal error: KeyError: ")
    assert result.stderr.count("\n") == 1
    assert "report it" in result.stderr
    assert "\x1b" not in result.stderr


# -- start-up --


def test_verify_starts_in_twice_the_time_of_its_libraries(folder, tmp_path):
    """With byte code in place, as in any installation; the best of many runs, paired."""
    env = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    env["PYTHONPYCACHEPREFIX"] = str(tmp_path)
    bare = [sys.executable, "-c", "import nacl.bindings, msgspec, click"]
    whole = [*COMMAND, "verify", str(folder / "valid")]

    def seconds(command):
        began = time.perf_counter()
        subprocess.run(command, env=env, check=True, stdout=subprocess.DEVNULL)
        return time.perf_counter() - began

    for _ in range(2):
        seconds(bare), seconds(whole)
    times = [(seconds(bare), seconds(whole)) for _ in range(12)]
    assert min(one for _, one in times) <= 2 * min(one for one, _ in times)


def test_the_secrets_file_is_canonical_json(tmp_path):
    run("demo", "--out", tmp_path, "--secrets")
    data = (tmp_path / "hand-0001.secrets.json").read_bytes()
    assert data == encode(json.loads(data))


# -- collections ---------------------------------------------------------------------------------


def test_of_many_only_what_is_not_valid_is_shown_and_all_are_counted(folder, tmp_path):
    """A folder, and JSON Lines; the worst decides."""
    many = tmp_path / "many.jsonl"
    many.write_bytes(
        b"".join(
            (folder / name).read_bytes().strip() + b"\n"
            for name in ("valid", "incomplete", "valid")
        )
    )
    result = run("verify", many)
    assert result.exit_code == 3
    assert f"{many}:2: incomplete" in result.stdout
    assert f"{many}:1:" not in result.stdout
    assert result.stdout.endswith("3 transcripts: 2 valid, 1 incomplete\n")
    (tmp_path / "bad.json").write_bytes((folder / "invalid").read_bytes())
    assert run("verify", tmp_path).stdout.endswith(
        "4 transcripts: 2 valid, 1 invalid, 1 incomplete\n"
    )
    assert run("verify", tmp_path).exit_code == 1


def test_of_many_each_is_a_line_of_json(folder, tmp_path):
    many = tmp_path / "many.jsonl"
    many.write_bytes(((folder / "valid").read_bytes().strip() + b"\n") * 2)
    rows = [json.loads(row) for row in run("verify", many, "--json").stdout.splitlines()]
    assert [(row["file"], row["status"]) for row in rows] == [
        (f"{many}:{n}", "valid") for n in (1, 2)
    ]


def test_a_record_or_an_end_is_about_one_hand(folder, played, tmp_path):
    many = tmp_path / "many.jsonl"
    many.write_bytes(((folder / "valid").read_bytes().strip() + b"\n") * 2)
    result = run("verify", many, "--head", played.log.head)
    assert result.exit_code == 2
    assert "expected one FILE with one transcript" in result.stderr


# -- rules ---------------------------------------------------------------------------------------


def test_rules_lists_every_table_and_prints_one_in_full():
    listed = run("rules").stdout.splitlines()
    assert [row.split()[0] for row in listed] == list(PRESETS)
    shown = run("rules", "omnibus").stdout
    assert shown.startswith("omnibus: ")
    told = json.loads(shown.partition("\n")[2])
    assert told == json.loads(run("rules", "omnibus", "--json").stdout)["omnibus"]
    assert told["rules"]["card_points"] == {"JD": -10, "QS": 13}
    assert told["deck"] == {"packs": 1, "removed": []}
    one_line(run("rules", "chess"), "expected one of hearts, ")


def test_demo_plays_any_table_by_name():
    shown = run("demo", "--rules", "cancellation", "--seats", 7, "--people", 2)
    assert shown.exit_code == 0
    assert "  6  Gia (bot)  (bot, random/1)" in shown.stdout
    one_line(run("demo", "--rules", "hearts-3", "--seats", 4), "--seats: expected 3, found 4")
    one_line(
        run("demo", "--rules", "hearts-3", "--people", 4), "--people: expected at most 3, found 4"
    )
