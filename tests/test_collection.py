"""One document, JSON Lines, folders: streamed, bounded, and one that is damaged hides no other."""

from __future__ import annotations

import os
import tracemalloc
from pathlib import Path

import pytest

from fairdeal.collection import Document, documents


def read(path: Path, limit: int = 1 << 20) -> list[tuple[str, bytes, str | None]]:
    """Names without the folder."""
    base = str(path if path.is_dir() else path.parent) + os.sep
    return [(one.name.removeprefix(base), *one[1:]) for one in documents(str(path), limit)]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{}",
        b"{}\n",
        b"{}\n\n \n",
        b'{\n "a": 1\n}\n',
        b"{} {}\n",
        b"nonsense\nmore\n",
        b"[]\n[]\n",
        b"{\n" + b'"a": 1,\n' * 100_000 + b"}",
    ],
)
def test_one_document_is_given_whole(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(data)
    ((name, found, problem),) = read(path)
    assert (name, problem) == ("a.json", None)
    assert found.strip() == data.strip()  # what is blank after an object says nothing


def test_lines_are_numbered_as_they_stand(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"a":1}\n{"b":2}\n\nbroken\n{"c":3}')
    assert read(path) == [
        ("a.jsonl:1", b'{"a":1}\n', None),
        ("a.jsonl:2", b'{"b":2}\n', None),
        ("a.jsonl:4", b"broken\n", None),
        ("a.jsonl:5", b'{"c":3}', None),
    ]


def test_a_blank_line_before_the_second_is_none(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"{}\n\n\n{}\n")
    assert [one[1] for one in read(path)] == [b"{}\n", b"{}\n"]


def test_a_folder_is_taken_in_order_and_below(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    for name in ("c.json", "a.json", "b/x.json", "b/y.jsonl", "note.txt", "a.secrets.json"):
        (tmp_path / name).write_bytes(b"{}\n{}\n" if name.endswith("l") else b"{}\n")
    (tmp_path / "b" / "loop").symlink_to(tmp_path)
    names = [one[0] for one in read(tmp_path)]
    assert names == ["a.json", "c.json", "b/x.json", "b/y.jsonl:1", "b/y.jsonl:2"]


def test_a_folder_without_any_and_a_path_without_a_file(tmp_path: Path) -> None:
    ((_, data, problem),) = read(tmp_path)
    assert (data, "found none" in str(problem)) == (b"", True)
    (one,) = documents(str(tmp_path / "no.json"))
    assert one == Document(str(tmp_path / "no.json"), b"", "no such file or directory")


def test_what_cannot_be_read_hides_no_other(tmp_path: Path) -> None:
    (tmp_path / "a.json").symlink_to("nowhere")
    (tmp_path / "b.json").write_bytes(b"{}")
    assert [(name, problem) for name, _, problem in read(tmp_path)] == [
        ("a.json", "no such file or directory"),
        ("b.json", None),
    ]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b" " * 101, ["found more"]),
        (b"{}" + b" " * 101, ["found more"]),
        (b"{" + b" " * 101 + b"}\n", ["found more"]),
        (b"{}\n{" + b" " * 101 + b"}\n{}\n", [None, "nothing after this line"]),
        (b"{" + b" " * 97 + b"}\n{}\n", [None, None]),
        (b"{" + b" " * 98 + b"}\n{}\n", ["nothing after this line"]),
    ],
)
def test_no_more_than_the_limit_is_held(
    data: bytes, expected: list[str | None], tmp_path: Path
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(data)
    problems = [one[2] for one in read(path, limit=100)]
    assert len(problems) == len(expected)
    for problem, text in zip(problems, expected, strict=True):
        assert (problem is None) == (text is None)
        assert text is None or text in str(problem)


def test_a_device_without_end_is_left() -> None:
    (one,) = documents("/dev/zero", 1000)
    assert "too large" in str(one.problem)


def test_memory_does_not_grow_with_the_number(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    line = b'{"a":"' + b"x" * 2000 + b'"}\n'
    peaks = []
    for number in (2_000, 20_000):
        path.write_bytes(line * number)
        tracemalloc.start()
        assert sum(1 for _ in documents(str(path))) == number
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.5 * peaks[0]
