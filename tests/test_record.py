"""What a seat remembers (spec section 3.4): read, written, hidden, and told apart from other files."""

import json

import pytest
from helpers_primitives import (
    OPENING,
    SAMPLES,
    chained,
    entry_of,
    fixed,
    hexes,
    jcs,
    open_body,
    raw_entries,
    replaced,
    transcript,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from fairdeal.errors import MalformedError
from fairdeal.record import read_record, write_record

SIGNED = {
    k: v
    for k, v in entry_of("commit", SAMPLES["commit"]).items()
    if k in ("body", "by", "seen", "sig", "type")
}
RECORD = {
    "dealt": {"cards": ["2C", "QS"], "salt": "d1" * 32},
    "hand": "aa" * 32,
    "hand_key": fixed("hand key", size=32).hex(),
    "head": {"hash": "bb" * 32, "seq": 7},
    "key": "cc" * 32,
    "passed": {"cards": ["3C"], "salt": "d2" * 32},
    "received": {"cards": ["4C"], "salt": "d3" * 32},
    "seat": 2,
    "seed": fixed("seed").hex(),
    "sent": [SIGNED, {**SIGNED, "type": "ack", "body": {}}],
}
FILE = {"fairdeal": 1, "record": RECORD}


def refused(value, place=None, *words):
    data = value if isinstance(value, bytes) else jcs(value)
    with pytest.raises(MalformedError) as caught:
        read_record(data)
    if place is not None:
        assert caught.value.place == place
    for word in words:
        assert word in caught.value.problem


def test_round_trip():
    record = read_record(jcs(FILE))
    assert write_record(record) == jcs(FILE)
    assert read_record(write_record(record)) == record
    assert (record.hand, record.seat, record.head.seq) == ("aa" * 32, 2, 7)
    assert [one.message.type for one in record.messages()] == ["commit", "ack"]
    assert record.messages()[0].encoded() == jcs(SIGNED)


openings = st.none() | st.just(OPENING)


@given(
    st.fixed_dictionaries(
        {
            "dealt": openings,
            "hand": hexes(32),
            "hand_key": hexes(32),
            "head": st.fixed_dictionaries({"hash": hexes(32), "seq": st.integers(0, 4096)}),
            "key": hexes(32),
            "passed": openings,
            "received": openings,
            "seat": st.integers(0, 9),
            "seed": hexes(64),
            "sent": st.lists(
                raw_entries(["commit", "reveal", "pass", "play", "ack", "dispute"])
                .filter(lambda entry: "sig" in entry)
                .map(lambda entry: {k: entry[k] for k in SIGNED}),
                max_size=4,
            ),
        }
    )
)
@settings(deadline=None, max_examples=40)
def test_any_record_survives_the_round_trip(raw):
    data = jcs({"fairdeal": 1, "record": raw})
    record = read_record(data)
    assert write_record(record) == data
    assert [one.encoded() for one in record.messages()] == [jcs(one) for one in raw["sent"]]
    assert (
        read_record(json.dumps(json.loads(data), indent=2).encode()).messages() == record.messages()
    )


def test_a_repr_hides_every_secret():
    record = read_record(jcs(FILE))
    for shown in (repr(record), str(record), repr([record])):
        assert "aa" * 32 in shown
        assert "seat=2" in shown
        for secret in (RECORD["seed"], RECORD["hand_key"], "d1" * 32, "QS", "3C"):
            assert secret not in shown


def test_nothing_is_there_for_a_signing_key():
    assert "signing" not in " ".join(read_record(jcs(FILE)).__struct_fields__)
    refused(
        replaced(FILE, ["record"], RECORD | {"signing_key": "00" * 32}), "$.record", "signing_key"
    )


@pytest.mark.parametrize("name", sorted(RECORD))
def test_every_member_is_there(name):
    without = {key: value for key, value in RECORD.items() if key != name}
    refused({"fairdeal": 1, "record": without}, "$.record", name)


@pytest.mark.parametrize(
    ("path", "value", "place"),
    [
        (["record", "seed"], "5e" * 63, "$.record.seed"),
        (["record", "seed"], "5E" * 64, "$.record.seed"),
        (["record", "hand"], "aa" * 31, "$.record.hand"),
        (["record", "hand_key"], "AA" * 32, "$.record.hand_key"),
        (["record", "key"], None, "$.record.key"),
        (["record", "seat"], 10, "$.record.seat"),
        (["record", "seat"], -1, "$.record.seat"),
        (["record", "head", "seq"], -1, "$.record.head.seq"),
        (["record", "head", "hash"], "", "$.record.head.hash"),
        (["record", "dealt"], {"cards": []}, "$.record.dealt"),
        (["record", "sent"], {}, "$.record.sent"),
        (["record", "sent"], [SIGNED] * 257, "$.record.sent"),
        (["record", "sent", 1], [], "$.record.sent[1]"),
        (["record", "sent", 1], {**SIGNED, "type": "bid"}, "$.record.sent[1].type"),
        (["record", "sent", 1], {**SIGNED, "body": {}}, "$.record.sent[1].body"),
        (["record", "sent", 1], {**SIGNED, "sig": "zz" * 64}, "$.record.sent[1]"),
        (["record", "sent", 1], {**SIGNED, "seen": "AB" * 32}, "$.record.sent[1]"),
        (["record", "sent", 0], {**SIGNED, "more": 1}, "$.record.sent[0]"),
        (["record", "sent", 0], {**SIGNED, "by": "me"}, "$.record.sent[0].by"),
    ],
)
def test_what_is_out_of_shape_is_refused_at_its_place(path, value, place):
    refused(replaced(FILE, path, value), place)


def test_256_messages_are_not_too_many():
    assert (
        len(read_record(jcs(replaced(FILE, ["record", "sent"], [SIGNED] * 256))).messages()) == 256
    )


def test_other_versions():
    for version in (0, 2, 10**6):
        refused(FILE | {"fairdeal": version})
    refused({"record": RECORD})
    refused(FILE | {"fairdeal": True}, "$.fairdeal")
    refused(FILE | {"more": 1}, "$", "more")


def test_another_kind_of_file_is_said_to_be_that():
    entries = chained([("server", "open", open_body(), -1)])
    refused(transcript(entries), "$.entries", "transcript")
    refused({"fairdeal": 1, "hands": [{"entries": entries}]}, "$.hands", "game's file")
    refused({"fairdeal": 1, "proof": {}}, "$.proof", "proof")
    for value in ({}, [], 1, {"a": 1}, "record", [FILE]):
        refused(value, "$", "no seat's record")


def test_what_is_no_json():
    refused(b"", "byte 0", "empty")
    refused(jcs(FILE) + b"{}", None, "more after")
    refused(jcs(FILE).replace(b'"seat":2', b'"seat":2,"seat":2'), "$.record.seat", "twice")
    refused(jcs(FILE).replace(b'"seat":2', b'"seat":2.0'), "$.record.seat", "2.0")
    refused(b"[" * 100_000, None, "deep")
    refused(b" " * 16 * 2**20 + jcs(FILE), None, "larger than 16 MiB")


@pytest.mark.parametrize("left", [-1, -2, 200, 40])
def test_a_record_that_is_cut_off_is_no_json(left):
    """Fault 7: it was said to be JSON, but no record."""
    refused(jcs(FILE)[:left], None, "too early")


def test_a_member_twice_in_a_message_that_was_sent():
    """Fault 6: the messages are kept as written, so their length told nothing of their text."""
    data = jcs(FILE).replace(b'"by":"server"', b'"by":"server","by":"server"', 1)
    refused(data, "$.record.sent[0].by", "twice")
