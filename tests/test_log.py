"""The log (spec section 3): hashes by hand, reading, links, who endorsed what, compacting."""

import hashlib
import json
import struct

import pytest
from helpers_primitives import (
    SAMPLES,
    Signer,
    chained,
    entry_digest,
    fixed,
    jcs,
    open_body,
    raw_entries,
    replaced,
    transcript,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from fairdeal import messages
from fairdeal.errors import MalformedError
from fairdeal.kinds import kind_of
from fairdeal.log import (
    GENESIS,
    Log,
    Marks,
    compacted,
    link_problem,
    read_log,
    read_one_entry,
    runs,
)

SERVER, ANA, BEN = Signer("server"), Signer("ana"), Signer("ben")
KEYS = {"server": SERVER, "house": SERVER, "seat/0": ANA, "seat/1": BEN, "seat/2": SERVER}
#: 0 open, 1 the house, 2 and 3 the persons, 4 the server, 5 Ana again
SAID = [
    ("server", "open", open_body(), -1),
    ("house", "commit", {"commitment": "c0" * 32}, 0),
    ("seat/0", "commit", SAMPLES["commit"], 1),
    ("seat/1", "commit", SAMPLES["commit"], 1),
    ("server", "deal", SAMPLES["deal"], 3),
    ("seat/0", "ack", {}, 4),
]
RAW = chained(SAID, KEYS)


def log_of(raw):
    return Log(read_one_entry(jcs(entry)) for entry in raw)


def keys_of(log):
    return [KEYS[entry.message.by].public for entry in log.entries]


def marks_of(raw):
    log = log_of(raw)
    return Marks(log, keys_of(log), SERVER.public)


def stripped(raw, *places):
    return [
        {k: v for k, v in entry.items() if k != "sig" or place not in places}
        for place, entry in enumerate(raw)
    ]


def refused(value, place=None, *words):
    data = value if isinstance(value, bytes) else json.dumps(value, ensure_ascii=False).encode()
    with pytest.raises(MalformedError) as caught:
        read_log(data)
    if place is not None:
        assert caught.value.place == place
    for word in words:
        assert word in caught.value.problem
    assert str(caught.value).replace("…", "").isascii()
    assert len(str(caught.value)) < 400


# -- hashes ----------------------------------------------------------------------------------------------


def test_hashes_by_hand():
    entry = RAW[0]
    said = jcs({name: entry[name] for name in ("body", "by", "seen", "type")})
    frame = b"\x13fairdeal/v1/message" + struct.pack(">I", len(said)) + said
    message_hash = hashlib.sha256(frame).digest()
    frame = (
        b"\x11fairdeal/v1/entry\x00\x00\x00\x08" + bytes(8)
        + b"\x00\x00\x00\x20" + bytes(32)
        + b"\x00\x00\x00\x08" + (1_700_000_000_000).to_bytes(8, "big")
        + b"\x00\x00\x00\x20" + message_hash
    )  # fmt: skip
    log = log_of(RAW[:1])
    assert log.message_hashes == [message_hash]
    assert log.hashes == [hashlib.sha256(frame).hexdigest()]
    assert log.texts == [said]


def test_a_log_knows_the_hashes_that_its_entries_really_have():
    log = log_of(RAW)
    assert log.hashes == [entry_digest(entry).hex() for entry in RAW]
    assert log.head == log.hashes[-1]
    assert log.positions == {digest: place for place, digest in enumerate(log.hashes)}
    assert len(log) == 6
    assert log.last_at == RAW[-1]["at"]
    assert log.seen == [log.seen_by(place) for place in range(6)] == [-1, 0, 1, 1, 3, 4]


def test_an_empty_log():
    log = Log()
    assert (len(log), log.head, log.last_at) == (0, GENESIS, 0)
    assert GENESIS == "0" * 64
    assert log.position_of(GENESIS) == -1
    assert log.position_of("12" * 32) is None
    assert runs(log) == []


def test_appending_is_the_same_as_reading_at_once():
    whole, grown = log_of(RAW), Log()
    for entry in whole.entries:
        grown.append(entry)
    for name in Log.__slots__:
        assert getattr(grown, name) == getattr(whole, name)


def test_what_is_seen_stands_before():
    """An entry that names a later one, or itself, as seen has seen no entry of this log."""
    raw = chained(SAID)
    raw[2] = raw[2] | {"seen": entry_digest(RAW[3]).hex()}
    assert log_of(raw).seen[2] is None
    raw[2] = raw[2] | {"seen": "ab" * 32}
    assert log_of(raw).seen[2] is None


def test_of_two_equal_entries_the_first_has_the_place():
    log = log_of([*RAW[:3], RAW[2]])
    assert log.position_of(log.hashes[2]) == 2


def test_the_next_entry():
    log = log_of(RAW)
    said = log.entries[5].message
    entry = log.next_entry(said, "56" * 64, RAW[-1]["at"] + 5)
    assert (entry.at, entry.prev, entry.seq, entry.sig) == (
        RAW[-1]["at"] + 5,
        log.head,
        6,
        "56" * 64,
    )
    assert entry.message == said
    assert log.next_entry(said, "56" * 64, 0).at == RAW[-1]["at"]  # time never goes back
    first = Log().next_entry(said, "56" * 64, 9)
    assert (first.at, first.prev, first.seq) == (9, GENESIS, 0)
    assert len(log) == 6


# -- reading -----------------------------------------------------------------------------------------------


def test_round_trip():
    data = jcs(transcript(RAW))
    log = read_log(data)
    assert log.encoded() == data
    assert log.entries == log_of(RAW).entries


@given(st.lists(raw_entries(), max_size=6))
@settings(deadline=None, max_examples=60)
def test_any_entries_survive_the_round_trip(more):
    raw = transcript([RAW[0], *more])
    log = read_log(jcs(raw))
    assert log.encoded() == jcs(raw)
    assert log.hashes == [entry_digest(entry).hex() for entry in raw["entries"]]
    pretty = json.dumps(dict(reversed(raw.items())), indent=1).encode()
    assert read_log(pretty).encoded() == jcs(raw)


def test_white_space_and_order_do_not_matter_but_repetition_does():
    data = jcs(transcript(RAW))
    assert read_log(b"\n " + data + b"\n").encoded() == data
    for old, new, place in (
        (b'"fairdeal":1', b'"fairdeal":1,"fairdeal":1', "$.fairdeal"),
        (b'"seq":3', b'"seq":3,"seq":3', "$.entries[3].seq"),
        (b'"seq":0', b'"seq":-0', "$.entries[0].seq"),
        (b'"hand":1', b'"hand":1,"hand":1', "$.entries[0].body.hand"),
        (b'"by":"house"', b'"by":"house","by":"house"', "$.entries[1].by"),
    ):
        assert data.count(old) == 1
        refused(data.replace(old, new), place)


def test_a_name_that_is_not_ascii_makes_a_transcript_malformed():
    """Fault 1: the rules' points are the one table whose names are open."""
    rules = open_body()["rules"] | {"card_points": {"é♥": 1}}
    entries = chained([("server", "open", open_body(rules=rules), -1)])
    refused(transcript(entries), None, "ASCII")


def test_a_log_has_1_to_4096_entries():
    ack = RAW[5]
    refused(transcript([]), "$.entries")
    assert len(read_log(jcs(transcript([RAW[0], *[ack] * 4095])))) == 4096
    refused(transcript([RAW[0], *[ack] * 4096]), "$.entries")
    assert messages.MAX_ENTRIES == 4096


def test_a_log_begins_with_open_by_the_server():
    refused(transcript(RAW[1:]), "$.entries[0]", "open")
    refused(transcript([RAW[0] | {"by": "seat/0"}, *RAW[1:]]), "$.entries[0]", "server")
    refused(transcript([RAW[0] | {"by": "house"}, *RAW[1:]]), "$.entries[0]", "server")


@pytest.mark.parametrize("version", [0, 2, 3, 10, 999_999_999])
def test_another_version_is_said_to_be_that(version):
    for raw in (transcript(RAW), {"entries": "of another shape"}, {"what": [1, 2]}):
        refused(raw | {"fairdeal": version}, "$.fairdeal", "another version", f"found {version}")


@pytest.mark.parametrize("version", [True, None, "1", -1, [], {}])
def test_what_is_no_version(version):
    refused(transcript(RAW) | {"fairdeal": version}, "$.fairdeal")


def test_a_version_that_is_no_integer():
    data = jcs(transcript(RAW))
    for text in (b"1.0", b"1e0", b"01", b"9" * 1_000_000):
        refused(data.replace(b'"fairdeal":1', b'"fairdeal":' + text))


@pytest.mark.parametrize(
    "value", [{}, [], 1, None, "x", {"entries": []}, {"a": {"fairdeal": 1}}, [{"fairdeal": 1}]]
)
def test_other_json(value):
    refused(value, "$", "no fairdeal transcript")


def test_another_kind_of_file_is_said_to_be_that():
    refused({"fairdeal": 1, "hands": [transcript(RAW)]}, "$.hands", "game's file")
    refused({"fairdeal": 1, "record": {}}, "$.record", "seat's own record")
    refused({"fairdeal": 1, "proof": {}}, "$.proof", "proof")
    refused({"fairdeal": 1}, "$", "no fairdeal transcript")


def test_kinds_of_files():
    assert kind_of(jcs(transcript(RAW))) == "transcript"
    assert kind_of(b'{"fairdeal":1,"hands":[]}') == "game"
    assert kind_of(b'{"fairdeal":1,"record":0}') == "record"
    assert kind_of(b'{"fairdeal":1,"proof":0}') == "proof"
    assert kind_of(b'{"fairdeal":2,"proof":0}') == "version 2"
    assert kind_of(b'{"fairdeal":1}') == kind_of(b'{"entries":[]}') == kind_of(b"[1]") == "other"
    assert kind_of(b"no json") == kind_of(b"\xff") == kind_of(b"[" * 10_000) == "other"


def test_no_json_at_all():
    refused(b"", "byte 0", "empty")
    refused(b"\x89PNG\r\n\x1a\n\x00", None)
    refused(b"\xef\xbb\xbf" + jcs(transcript(RAW)), "byte 0", "byte order mark")
    refused(b"[" * 100_000, None, "deep")
    refused(jcs(transcript(RAW)) + b"{}", None, "more after")
    refused(b" " * 16 * 2**20 + b"{}", "the file", "16 MiB")


@given(st.data())
@settings(deadline=None, max_examples=60)
def test_every_proper_prefix_is_malformed(data):
    text = jcs(transcript(RAW))
    refused(text[: data.draw(st.integers(0, len(text) - 1))])


@pytest.mark.parametrize(
    ("path", "value", "place"),
    [
        (["entries", 3, "prev"], "AB" * 32, "$.entries[3]"),
        (["entries", 4, "seen"], "zz" * 32, "$.entries[4]"),
        (["entries", 5, "sig"], "Ab" * 64, "$.entries[5]"),
        (["entries", 5, "sig"], "ab" * 63, "$.entries[5].sig"),
        (["entries", 2, "by"], "seat/10", "$.entries[2].by"),
        (["entries", 2, "type"], "bid", "$.entries[2].type"),
        (["entries", 2, "body", "commitment"], "ab", "$.entries[2].body.commitment"),
        (["entries", 2, "body", "hand_key"], None, "$.entries[2].body.hand_key"),
        (["entries", 1, "at"], -1, "$.entries[1].at"),
        (["entries", 1, "seq"], "1", "$.entries[1].seq"),
        (["entries", 0, "body", "table"], "\u202e", "$.entries[0].body.table"),
        (["entries", 0, "body", "seats", 1, "name"], "\x1b", "$.entries[0].body.seats[1].name"),
        (["entries", 1], [], "$.entries[1]"),
        (["entries"], {}, "$.entries"),
    ],
)
def test_what_is_out_of_shape_is_refused_at_its_place(path, value, place):
    refused(replaced(transcript(RAW), path, value), place)


def test_unknown_members():
    refused(transcript(RAW) | {"more": 1}, "$", "more")
    refused(replaced(transcript(RAW), ["entries", 2], RAW[2] | {"more": 1}), "$.entries[2]", "more")


# -- links ---------------------------------------------------------------------------------------------------


def test_links():
    log = log_of(RAW)
    entry = log.entries[3]
    prev, at = log.hashes[2], RAW[2]["at"]
    assert link_problem(entry, prev, 3, at) is None
    assert link_problem(entry, prev, 3, entry.at) is None  # two at one time
    assert link_problem(entry, log.hashes[1], 3, at) == ("chain-prev", log.hashes[1], prev)
    assert link_problem(entry, prev, 4, at) == ("chain-seq", "4", "3")
    later = entry.at + 1
    assert link_problem(entry, prev, 3, later) == ("chain-time", f"at least {later}", str(entry.at))
    assert (
        link_problem(entry, log.hashes[1], 4, later)[0] == "chain-prev"
    )  # the first that is wrong
    assert link_problem(log.entries[0], GENESIS, 0, 0) is None


def test_runs():
    assert runs(log_of(RAW)) == [0] * 6
    assert runs(log_of(chained(SAID, prevs={3: "ff" * 32}))) == [0, 0, 0, 3, 3, 3]
    assert runs(log_of(chained(SAID, prevs={1: "ff" * 32, 5: "0" * 64}))) == [0, 1, 1, 1, 1, 5]
    assert runs(log_of(chained(SAID, prevs={0: "ff" * 32}))) == [0] * 6
    assert runs(log_of(RAW[:2] + RAW[3:])) == [0, 0, 2, 2, 2]


# -- who endorsed what ---------------------------------------------------------------------------------------------


def test_everything_signed():
    marks = marks_of(RAW)
    assert marks.valid == [True] * 6
    assert marks.authentic == [True] * 6
    # the server's last word is 4, over 3: it vouches for the places up to there
    assert marks.vouched == [True] * 4 + [False] * 2


def test_what_is_not_signed_is_covered_by_a_later_signature_of_the_same_key():
    marks = marks_of(stripped(RAW, 0, 1, 2))
    assert marks.valid == [None, None, None, True, True, True]
    assert marks.authentic == [True] * 6


@pytest.mark.parametrize("place", [3, 4, 5])
def test_what_nothing_covers_is_nobodys_word(place):
    """3: Ben says nothing later. 4: the server does not. 5: nothing follows."""
    assert marks_of(stripped(RAW, place)).authentic == [n != place for n in range(6)]


def test_another_key_does_not_cover():
    """Ana and the server have both seen 3, and cannot say it for Ben."""
    assert not marks_of(stripped(RAW, 3)).authentic[3]
    assert not marks_of(stripped(RAW, 0, 1, 4)).authentic[0]  # only the server's 4 would


def test_a_signature_covers_up_to_what_it_has_seen_and_no_further():
    said = [*SAID[:5], ("seat/0", "ack", {}, 1)]
    raw = chained(said, KEYS)
    assert not marks_of(stripped(raw, 2)).authentic[2]  # Ana's last word has seen 1 only
    assert marks_of(stripped(chained([*SAID[:5], ("seat/0", "ack", {}, 2)], KEYS), 2)).authentic[2]


def test_an_invalid_signature_covers_nothing_and_is_not_covered():
    raw = stripped(RAW, 0)
    raw[4] = raw[4] | {"sig": "00" * 64}
    marks = marks_of(raw)
    assert marks.valid == [None, True, True, True, False, True]
    assert marks.authentic == [True, True, True, True, False, True]  # the house's 1 has seen 0
    assert marks.vouched == [True, False, False, False, False, False]
    raw = list(RAW)
    raw[2] = raw[2] | {"sig": "00" * 64}
    assert not marks_of(raw).authentic[2]  # whatever Ana endorses later: this one is not hers


def test_a_signature_of_another_key_is_invalid():
    raw = list(RAW)
    raw[3] = chained(SAID, KEYS | {"seat/1": ANA})[3]
    assert marks_of(raw).valid == [True, True, True, False, True, True]


def test_a_signature_over_another_message_is_invalid():
    raw = list(RAW)
    raw[3] = raw[3] | {"sig": RAW[2]["sig"]}
    assert marks_of(raw).valid[3] is False


def test_an_unsigned_entry_covers_nothing_itself():
    marks = marks_of(stripped(RAW, 0, 1, 4))
    assert marks.authentic == [False, False, True, True, False, True]
    assert marks.vouched == [False] * 6


def test_endorsement_does_not_cross_a_break_of_the_chain():
    """The server's 4 has seen 3, which stands behind a break: what is before it is another log."""
    raw = chained(SAID, KEYS, prevs={3: "ff" * 32})
    marks = marks_of(raw)
    assert marks.roots == [0, 0, 0, 3, 3, 3]
    assert marks.vouched == [True, False, False, True, False, False]  # 0 by the house's 1
    marks = marks_of(stripped(raw, 0, 1, 2))
    assert marks.authentic == [False, False, False, True, True, True]
    assert marks.vouched == [False, False, False, True, False, False]


def test_what_is_not_signed_behind_a_break_is_nobodys_word():
    """Ana's 5 covers 2 within its run, but what stood before that run is not here."""
    raw = chained(SAID, KEYS, prevs={1: "ff" * 32})
    marks = marks_of(stripped(raw, 2))
    assert marks.roots == [0, 1, 1, 1, 1, 1]
    assert marks.authentic == [True, True, False, True, True, True]
    assert marks.vouched == [True, True, True, True, False, False]


def test_what_saw_another_log_endorses_nothing():
    raw = [*RAW[:4], RAW[4] | {"seen": "ab" * 32}]
    digest = messages.message_hash(jcs({k: raw[4][k] for k in ("body", "by", "seen", "type")}))
    raw[4]["sig"] = SERVER.sign(digest).hex()
    marks = marks_of(raw)
    assert marks.valid == [True] * 5
    assert marks.vouched == [True, False, False, False, False]


def test_what_saw_the_genesis_endorses_nothing():
    marks = marks_of(stripped(RAW[:1]))
    assert (marks.authentic, marks.vouched) == ([True], [False])


# -- compacting -----------------------------------------------------------------------------------------------------

PEOPLE = {f"seat/{n}": Signer(f"person {n}") for n in range(4)}


def whole_hand():
    """As a hand of four people goes: 5 keys, and 62 entries in the order of the protocol."""
    said = [("server", "open", open_body(), -1)]
    said += [(by, "commit", SAMPLES["commit"], 0) for by in PEOPLE]
    said += [(by, "reveal", SAMPLES["reveal"], 4) for by in PEOPLE]
    said += [("server", "deal", SAMPLES["deal"], 8)]
    for n in range(48):
        said.append((f"seat/{n % 4}", "play", {"card": f"{n:02}"}, len(said) - 1))
    said += [("server", "close", SAMPLES["close"], len(said) - 1)]
    said += [(by, "ack", {}, 58) for by in PEOPLE]
    assert said[58][1] == "close"
    return said


def compact(raw, keys):
    log = log_of(raw)
    public = [keys[entry.message.by].public for entry in log.entries]
    return log, compacted(log, public), public


def test_a_hand_of_four_people_keeps_five_signatures():
    keys = PEOPLE | {"server": SERVER}
    log, small, public = compact(chained(whole_hand(), keys), keys)
    kept = [place for place, entry in enumerate(small.entries) if entry.sig is not None]
    assert kept == [58, 59, 60, 61, 62]  # the close and the four acks
    assert small.hashes == log.hashes
    assert [entry.message for entry in small.entries] == [entry.message for entry in log.entries]
    marks = Marks(small, public, SERVER.public)
    assert marks.authentic == [True] * 63
    assert marks.vouched == [True] * 58 + [False] * 5
    assert read_log(small.encoded()).entries == small.entries
    again = compacted(small, public)
    assert again.encoded() == small.encoded()


@pytest.mark.parametrize("place", [58, 59, 60, 61, 62])
def test_none_of_the_five_can_be_spared(place):
    keys = PEOPLE | {"server": SERVER}
    _, small, public = compact(chained(whole_hand(), keys), keys)
    raw = json.loads(small.encoded())["entries"]
    del raw[place]["sig"]
    marks = Marks(log_of(raw), public, SERVER.public)
    assert not all(marks.authentic)


@given(st.integers(0, 10**6), st.integers(1, 20))
@settings(deadline=None, max_examples=40)
def test_any_log_compacts_to_one_that_is_as_authentic(seed, length):
    """Random authors who have seen random entries: nothing that is needed is stripped."""
    choices = fixed("compact", seed, 2 * length)
    said = [SAID[0]]
    for n in range(length):
        by = sorted(KEYS)[choices[2 * n] % len(KEYS)]
        said.append((by, "ack", {}, choices[2 * n + 1] % len(said)))
    log, small, public = compact(chained(said, KEYS), KEYS)
    assert all(Marks(small, public, SERVER.public).authentic)
    assert small.head == log.head
    for place, (entry, full) in enumerate(zip(small.entries, log.entries, strict=True)):
        assert entry.sig in (full.sig, None)
        covered = any(
            public[later] == public[place] and log.seen[later] >= place
            for later in range(place + 1, len(log))
        )
        assert (entry.sig is None) == covered
