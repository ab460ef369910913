"""Files are read within bounds, never waited for in vain, and written whole or not at all."""

import os
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from fairdeal import files
from fairdeal.encoding import MAX_BYTES
from fairdeal.files import FileError


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def refused(path, **options):
    with pytest.raises(FileError) as caught:
        files.read(str(path), **options)
    assert caught.value.path == str(path)
    return caught.value.problem


# -- reading --


def test_reads_a_file_up_to_its_limit(tmp_path):
    path = tmp_path / "f"
    path.write_bytes(b"12345678")
    assert files.read(str(path), limit=8) == b"12345678"
    assert refused(path, limit=7) == "too large: expected at most 0 MiB, found 8 bytes"


def test_says_why_it_does_not_read(tmp_path):
    assert refused(tmp_path / "missing") == "no such file or directory"
    assert refused(tmp_path) == "expected a file, found a directory"
    assert refused("a\0b") == "embedded null byte"
    (tmp_path / "loop").symlink_to("loop")
    assert "symbolic links" in refused(tmp_path / "loop")


def test_a_sparse_file_is_refused_before_it_is_read(tmp_path, monkeypatch):
    path = tmp_path / "f"
    with path.open("wb") as stream:
        stream.truncate(1 << 40)
    monkeypatch.setattr(os, "read", lambda *_: pytest.fail("it was read"))
    assert refused(path) == f"too large: expected at most 16 MiB, found {1 << 40} bytes"


def test_a_device_without_end_is_stopped_at_the_limit():
    assert refused("/dev/zero") == "too large: expected at most 16 MiB, found more"
    assert files.read("/dev/null") == b""


def test_a_file_that_grows_past_the_limit_while_it_is_read_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "f"
    path.write_bytes(b"12")
    whole, chunks = os.read, iter([b"1" * 5, b"2" * 5, b""])
    monkeypatch.setattr(os, "read", lambda *_: next(chunks))
    assert "too large" in refused(path, limit=8)
    monkeypatch.setattr(os, "read", whole)


def test_a_pipe_is_read_to_its_end_and_no_byte_is_lost(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    data = os.urandom(300_000)

    def write():
        time.sleep(0.1)
        with path.open("wb") as stream:
            stream.write(data[:10])
            stream.flush()
            time.sleep(0.1)
            stream.write(data[10:])

    writer = threading.Thread(target=write)
    writer.start()
    assert files.read(str(path)) == data
    writer.join()


def test_a_pipe_that_nobody_writes_to_is_not_waited_for(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    began = time.monotonic()
    assert refused(path) == "expected a transcript, found a pipe that nobody writes to"
    assert time.monotonic() - began < 5


def test_process_substitution_is_a_file_like_any_other():
    code = (
        "import sys; from fairdeal import files; sys.stdout.buffer.write(files.read(sys.argv[1]))"
    )
    script = f'{sys.executable} -c "{code}" <(sleep 0.2; printf hello)'
    done = subprocess.run(["bash", "-c", script], capture_output=True, check=True)
    assert done.stdout == b"hello"


def test_standard_input_is_bounded_too():
    code = "from fairdeal import files\ntry: files.read('-')\nexcept files.FileError as e: print(e)"
    command = f'head -c {MAX_BYTES + 1} /dev/zero | {sys.executable} -c "{code}"'
    done = subprocess.run(["sh", "-c", command], capture_output=True, check=True, text=True)
    assert done.stdout == "-: too large: expected at most 16 MiB, found more\n"
    closed = subprocess.run(
        ["sh", "-c", f'{sys.executable} -c "{code}" <&-'],
        capture_output=True,
        check=True,
        text=True,
    )
    assert closed.stdout == "-: there is no standard input\n"


# -- writing --


def test_writes_a_new_file_and_over_an_old_one(tmp_path):
    path = tmp_path / "f"
    for data in (b"one", b"two"):
        files.write(str(path), data)
        assert path.read_bytes() == data
    assert [one.name for one in tmp_path.iterdir()] == ["f"]


def test_a_secret_is_its_owners_alone_even_where_an_open_file_was(tmp_path):
    path = tmp_path / "f"
    path.write_bytes(b"")
    path.chmod(0o666)
    old = os.umask(0)
    try:
        files.write(str(path), b"s", secret=True)
        assert mode(path) == 0o600
        files.write(str(tmp_path / "public"), b"p")
        assert mode(tmp_path / "public") == 0o666
    finally:
        os.umask(old)


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_what_fails_half_way_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch, step):
    path = tmp_path / "f"
    path.write_bytes(b"old")

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(FileError, match="f: no space left on device"):
        files.write(str(path), b"new")
    assert [one.name for one in tmp_path.iterdir()] == ["f"]
    assert path.read_bytes() == b"old"


def test_data_is_on_the_disk_before_its_name_is(tmp_path, monkeypatch):
    order = []
    for step in ("fsync", "replace"):
        whole = getattr(os, step)
        monkeypatch.setattr(os, step, lambda *a, s=step, w=whole: (order.append(s), w(*a))[1])
    files.write(str(tmp_path / "f"), b"x")
    assert order == ["fsync", "replace", "fsync"]


def test_a_link_stays_one_and_a_device_stays_a_device(tmp_path):
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_bytes(b"old")
    link.symlink_to(target)
    files.write(str(link), b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"
    null = tmp_path / "null"
    null.symlink_to(os.devnull)
    files.write(str(null), b"x")
    assert Path(os.devnull).is_char_device()
    with pytest.raises(FileError, match="found a directory"):
        files.write(str(tmp_path), b"x")
    with pytest.raises(FileError, match="no such file"):
        files.write(str(tmp_path / "no" / "f"), b"x")


def test_a_secret_is_created_once(tmp_path):
    path = tmp_path / "key"
    files.create_secret(str(path), b"first")
    assert mode(path) == 0o600
    with pytest.raises(FileError, match="expected a new file, found one that exists"):
        files.create_secret(str(path), b"second")
    assert path.read_bytes() == b"first"


def test_a_secret_that_could_not_be_written_leaves_no_file(tmp_path, monkeypatch):
    def fail(*_):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(FileError, match="input/output error"):
        files.create_secret(str(tmp_path / "key"), b"x")
    assert list(tmp_path.iterdir()) == []


def test_folders_are_made_with_those_above(tmp_path):
    files.make_folder(files.inside(str(tmp_path), "a/b"))
    assert (tmp_path / "a" / "b").is_dir()
    (tmp_path / "f").write_bytes(b"")
    with pytest.raises(FileError, match="f: "):
        files.make_folder(str(tmp_path / "f"))
