"""Every message type read and written, and every way in which its JSON can be out of shape (4.2)."""

import json
import unicodedata

import msgspec
import pytest
from helpers_primitives import (
    BODIES,
    HEARTS,
    MAX,
    SAMPLES,
    at_path,
    entry_digest,
    entry_of,
    jcs,
    leaves,
    message_digest,
    objects,
    open_body,
    raw_entries,
    replaced,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from fairdeal import messages
from fairdeal.errors import MalformedError
from fairdeal.log import read_message, read_one_entry
from fairdeal.messages import Entry, Person, Signed, convert, message, text_problem

KINDS = sorted(BODIES)


def refused(entry, place=None, *words, read=read_one_entry):
    """That an entry is refused, under this place, with these words."""
    data = entry if isinstance(entry, bytes) else json.dumps(entry, ensure_ascii=False).encode()
    with pytest.raises(MalformedError) as caught:
        read(data)
    if place is not None:
        assert caught.value.place == place
    for word in words:
        assert word in caught.value.problem
    assert str(caught.value).replace("…", "").isascii()
    return caught.value


def place_of(path, dictionaries=("seeds", "card_points")):
    """The place of a path as an error writes it: what is inside an open dictionary has no name."""
    place = ""
    for before, step in zip(("", *path), path, strict=False):
        if before in dictionaries:
            place += "[...]"
        else:
            place += f"[{step}]" if isinstance(step, int) else f".{step}"
    return place


def signed_of(entry):
    return {name: entry[name] for name in ("body", "by", "seen", "sig", "type")}


# -- round trips ------------------------------------------------------------------------------------


def test_the_types_are_those_of_the_protocol():
    assert " ".join(messages.BODIES) == (
        "open commit reveal deal pass exchange play choose close ack replace dispute void"
    )
    assert set(BODIES) == set(SAMPLES) == set(messages.BODIES)


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
@settings(deadline=None, max_examples=25)
def test_entries_of_every_type_survive_the_round_trip(kind, data):
    raw = data.draw(raw_entries([kind]))
    text = jcs(raw)
    entry = read_one_entry(text)
    assert entry.encoded() == text
    said = entry.message
    assert said.encoded() == jcs({name: raw[name] for name in ("body", "by", "seen", "type")})
    assert said.digest() == message_digest(raw)
    assert entry.digest(said.digest()) == entry_digest(raw)
    assert (entry.at, entry.seq, entry.prev, entry.sig) == (
        raw["at"],
        raw["seq"],
        raw["prev"],
        raw.get("sig"),
    )
    assert (said.by, said.type, said.seen) == (raw["by"], kind, raw["seen"])
    assert message(said.by, said.seen, said.body) == said
    assert read_one_entry(entry.encoded()) == entry


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
@settings(deadline=None, max_examples=15)
def test_signed_messages_of_every_type_survive_the_round_trip(kind, data):
    raw = signed_of(data.draw(raw_entries([kind]).filter(lambda entry: "sig" in entry)))
    signed = read_message(jcs(raw))
    assert signed.encoded() == jcs(raw)
    assert signed.message.digest() == message_digest(raw)
    assert (signed.sig, signed.message.type) == (raw["sig"], kind)


@given(raw_entries(), st.integers(0, 4))
@settings(deadline=None, max_examples=60)
def test_order_and_white_space_do_not_matter(raw, indent):
    text = json.dumps(dict(reversed(list(raw.items()))), indent=indent, ensure_ascii=False).encode()
    assert read_one_entry(text) == read_one_entry(jcs(raw))
    escaped = json.dumps(raw).encode()  # everything beyond ASCII as \u
    assert read_one_entry(escaped).encoded() == jcs(raw)


@pytest.mark.parametrize("kind", KINDS)
def test_the_samples_are_good(kind):
    raw = entry_of(kind, SAMPLES[kind])
    assert read_one_entry(jcs(raw)).encoded() == jcs(raw)


def test_a_body_that_holds_the_words_around_it():
    """`Signed` puts its signature before the last `type`: not into a text that looks like one."""
    body = open_body(table='","type":"open"}', game='"sig":"","type"')
    raw = signed_of(entry_of("open", body))
    assert read_message(jcs(raw)).encoded() == jcs(raw)


def test_messages_are_frozen_and_equal_by_value():
    one = read_one_entry(jcs(entry_of("play", {"card": "2C"})))
    assert one == read_one_entry(jcs(entry_of("play", {"card": "2C"})))
    for value, name in ((one, "at"), (one.message, "by"), (one.message.body, "card")):
        with pytest.raises(AttributeError):
            setattr(value, name, getattr(value, name))


# -- out of shape: everywhere in every body -----------------------------------------------------------

LEAVES = [(kind, path) for kind in KINDS for path, _ in leaves(SAMPLES[kind])]
NULLABLE = {
    ("open", "previous"),
    ("close", "result"),
    ("void", "seat"),
    ("open", "rules", "kitty"),
}
OBJECTS = [(kind, path) for kind in KINDS for path in objects(SAMPLES[kind])]
OPTIONAL = {
    ("commit", ("hand_key",)),
    ("pass", ("sealed",)),
    ("open", ("deck", "cards")),
    ("open", ("deck", "packs")),
    ("open", ("deck", "removed")),
    ("deal", ("hands", 0, "sealed")),
    ("exchange", ("hands", 1, "sealed")),
}


@pytest.mark.parametrize(("kind", "path"), LEAVES, ids=str)
def test_a_wrong_type_anywhere_is_refused_at_its_place(kind, path):
    good = at_path(SAMPLES[kind], path)
    for wrong in (None, True, 7, "x", [], {}):
        if type(wrong) is type(good) or (wrong is None and (kind, *path) in NULLABLE):
            continue
        error = refused(entry_of(kind, replaced(SAMPLES[kind], path, wrong)))
        assert error.place == "$.body" + place_of(path)


@pytest.mark.parametrize(("kind", "path"), OBJECTS, ids=str)
def test_an_unknown_member_anywhere_is_refused_and_named(kind, path):
    body = replaced(SAMPLES[kind], path, at_path(SAMPLES[kind], path) | {"zzz": 1})
    if path and path[-1] in ("seeds", "card_points"):
        assert refused(entry_of(kind, body)).place.startswith("$.body")
    else:
        refused(entry_of(kind, body), "$.body" + place_of(path), "'zzz'")


@pytest.mark.parametrize(
    ("kind", "path"),
    [(kind, (*path, name)) for kind, path in OBJECTS for name in at_path(SAMPLES[kind], path)
     if not path or path[-1] not in ("seeds", "card_points")],
    ids=str,
)  # fmt: skip
def test_a_missing_member_is_refused_and_named(kind, path):
    *owner, name = path
    without = {n: v for n, v in at_path(SAMPLES[kind], owner).items() if n != name}
    entry = entry_of(kind, replaced(SAMPLES[kind], owner, without))
    if (kind, path) in OPTIONAL:
        assert read_one_entry(jcs(entry)).encoded() == jcs(entry)
    else:
        refused(entry, "$.body" + place_of(owner), name)


@pytest.mark.parametrize(("kind", "path"), OBJECTS, ids=str)
def test_a_member_twice_is_refused_and_named(kind, path):
    for name, value in at_path(SAMPLES[kind], path).items():
        text = json.dumps(entry_of(kind, replaced(SAMPLES[kind], path, "HERE")))
        inner = json.dumps(at_path(SAMPLES[kind], path))
        twice = inner[:-1] + f",{json.dumps(name)}:{json.dumps(value)}}}"
        error = refused(text.replace('"HERE"', twice).encode(), None, "twice")
        assert error.place.endswith((f".{name}", f"['{name}']"))


HEX = [(k, p) for k, p in LEAVES
       if isinstance(v := at_path(SAMPLES[k], p), str) and len(v) >= 64]  # fmt: skip


@pytest.mark.parametrize(("kind", "path"), HEX, ids=str)
def test_wrong_hexadecimal_anywhere_is_refused(kind, path):
    good = at_path(SAMPLES[kind], path)
    wrong = [good[:-1] + "A", "g" + good[1:], " " + good[1:], good[:-1], good[:-1] + "\n", ""]
    if path[-1] != "sealed":
        wrong += [good + "00", good[:-2], good + "\n"]
    for text in wrong:
        error = refused(entry_of(kind, replaced(SAMPLES[kind], path, text)))
        assert error.place.startswith("$.body")


NUMBERS = [(k, p) for k, p in LEAVES if type(at_path(SAMPLES[k], p)) is int]


@pytest.mark.parametrize(("kind", "path"), NUMBERS, ids=str)
def test_no_number_anywhere_is_out_of_the_profile(kind, path):
    """Shapes bound each integer, which the fast path of the parser rests on."""
    for number in (MAX + 1, -MAX - 1, 10**30):
        refused(entry_of(kind, replaced(SAMPLES[kind], path, number)))
    text = json.dumps(entry_of(kind, replaced(SAMPLES[kind], path, "HERE")))
    for number in ("1.0", "-0", "1e2", "01"):
        refused(text.replace('"HERE"', number).encode())


RANGES = [
    ("open", ("hand",), 1, MAX),
    ("open", ("attempt",), 1, MAX),
    ("open", ("clock", "grace_ms"), 0, MAX),
    ("open", ("clock", "reserve_ms"), 0, MAX),
    ("open", ("scores", 0), -MAX, MAX),
    ("open", ("deck", "packs"), 1, 8),
    ("close", ("points", 0), -MAX, MAX),
    ("close", ("result", "places", 0), 1, MAX),
    ("close", ("result", "winners", 0), 0, 9),
    ("close", ("result", "left", 0), 0, 9),
    ("replace", ("seat",), 0, 9),
    ("void", ("seat",), 0, 9),
]


@pytest.mark.parametrize(("kind", "path", "low", "high"), RANGES, ids=str)
def test_ranges_of_numbers(kind, path, low, high):
    for number in (low, high):
        raw = entry_of(kind, replaced(SAMPLES[kind], path, number))
        assert read_one_entry(jcs(raw)).encoded() == jcs(raw)
    for number in (low - 1, high + 1):
        refused(entry_of(kind, replaced(SAMPLES[kind], path, number)))


LENGTHS = [
    ("open", ("seats",), SAMPLES["open"]["seats"][0], 2, 10),
    ("open", ("scores",), 0, 0, 10),
    ("open", ("deck", "cards"), "a", 0, 1024),
    ("open", ("deck", "removed"), "2D", 0, 51),
    ("open", ("rules", "pass_cycle"), 0, 1, 20),
    ("deal", ("hands",), {"commitment": "00" * 32}, 0, 10),
    ("exchange", ("hands",), {"commitment": "00" * 32}, 0, 10),
    ("close", ("deals",), {"cards": [], "salt": "00" * 32}, 0, 10),
    ("close", ("deals", 0, "cards"), "2C", 0, 1024),
    ("close", ("scores",), 0, 0, 10),
    ("close", ("result", "left"), 0, 0, 10),
]


@pytest.mark.parametrize(("kind", "path", "item", "low", "high"), LENGTHS, ids=str)
def test_lengths_of_lists(kind, path, item, low, high):
    for length in (low, high):
        raw = entry_of(kind, replaced(SAMPLES[kind], path, [item] * length))
        assert read_one_entry(jcs(raw)).encoded() == jcs(raw)
    for length in {low - 1, high + 1} - {-1}:
        refused(entry_of(kind, replaced(SAMPLES[kind], path, [item] * length)))


@pytest.mark.parametrize("card", ["", "123456789"])
def test_a_cards_code_has_1_to_8_characters(card):
    refused(entry_of("play", {"card": card}), "$.body.card")
    assert read_one_entry(jcs(entry_of("play", {"card": "12345678"}))).message.body.card


@pytest.mark.parametrize(
    ("digits", "good"),
    [(0, False), (1, False), (2, True), (3, False), (16384, True), (16386, False)],
)
def test_a_box_is_1_to_8192_bytes(digits, good):
    for kind, path in (("reveal", ("sealed",)), ("pass", ("sealed",)), ("deal", ("hands", 0, "sealed")),
                       ("exchange", ("hands", 1, "sealed"))):  # fmt: skip
        raw = entry_of(kind, replaced(SAMPLES[kind], path, "a" * digits))
        if good:
            assert read_one_entry(jcs(raw)).encoded() == jcs(raw)
        else:
            refused(raw)


@pytest.mark.parametrize(
    "name", ["server", "seat/10", "seat/-1", "Seat/0", "seat/0 ", "", "seat/0\n"]
)
def test_a_seed_belongs_to_a_shuffler(name):
    for kind in ("close", "void"):
        body = SAMPLES[kind] | {"seeds": {name: "5e" * 64}}
        refused(entry_of(kind, body))


@pytest.mark.parametrize(
    ("kind", "path", "values"),
    [
        ("choose", ("moon",), ["add", "subtract"]),
        ("replace", ("reason",), ["left", "expelled", "unresponsive"]),
        (
            "void",
            ("reason",),
            ["no-reveal", "bad-reveal", "bad-pass", "dispute", "left", "operator"],
        ),
        ("open", ("substitute",), ["low/1", "a/0", "a" + "b" * 31 + "/9999", "x-1/12"]),
    ],
)
def test_words(kind, path, values):
    for value in values:
        raw = entry_of(kind, replaced(SAMPLES[kind], path, value))
        assert read_one_entry(jcs(raw)).encoded() == jcs(raw)
    for value in ("", "other", values[0].upper(), values[0] + " ", values[0] + "\n"):
        refused(entry_of(kind, replaced(SAMPLES[kind], path, value)), "$.body" + place_of(path))


@pytest.mark.parametrize(
    "policy", ["low", "low/", "/1", "1low/1", "low/12345", "low/x", "a" * 33 + "/1", "low/1/1"]
)
def test_a_policy_is_a_name_and_a_version(policy):
    for path in (("substitute",), ("seats", 2, "policy")):
        refused(
            entry_of("open", replaced(SAMPLES["open"], path, policy)), "$.body" + place_of(path)
        )


@pytest.mark.parametrize(
    "seat",
    [
        {"key": "a1" * 32, "name": "Ana"},
        {"key": "a1" * 32, "kind": "ghost", "name": "Ana"},
        {"key": "a1" * 32, "kind": "person", "name": "Ana", "policy": "low/1"},
        {"key": "a1" * 32, "kind": "bot", "name": "Ana"},
    ],
)
def test_a_seat_is_a_person_or_a_bot(seat):
    refused(entry_of("open", open_body(seats=[*SAMPLES["open"]["seats"][:3], seat])))


@pytest.mark.parametrize(
    "rules", [{}, {"game": "spades"}, {"game": "deal", "x": 1}, {"game": "hearts"}, "hearts"]
)
def test_rules_name_their_game_and_every_parameter(rules):
    refused(entry_of("open", open_body(rules=rules)))


def test_a_points_table_has_two_character_ascii_codes():
    for name in ("Q", "QSS", ""):
        body = open_body(rules=HEARTS | {"card_points": {name: 1}})
        refused(entry_of("open", body))


@pytest.mark.parametrize("name", ["é♥", "Q♠", "\u00a0S"])
def test_a_points_table_whose_names_are_not_ascii(name):
    """Fault 1: `strict` knew such a name by its length only, which is the canonical one."""
    body = open_body(rules=HEARTS | {"card_points": {name: 1}})
    refused(entry_of("open", body), None, "ASCII")


# -- around the body -----------------------------------------------------------------------------------

GOOD = entry_of("play", {"card": "2C"})


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("at", [-1, MAX + 1, None, "5", True, 1.5]),
        ("seq", [-1, MAX + 1, None, "5", True, 1.5]),
        (
            "by",
            ["", "seat/10", "seat", "Server", "seat/0 ", "seat/0\n", "seat/٣", "player", None, 3],
        ),
        ("type", ["", "Play", "plays", "x" * 17, None, 1, []]),
        ("prev", ["", "12" * 31, "12" * 33, "AB" * 32, "zz" * 32, "12 " * 21 + "1", None, 1]),
        ("seen", ["", "12" * 31, "12" * 33, "AB" * 32, "zz" * 32, "٣" * 64, None, 1]),
        ("sig", ["", "12" * 63, "12" * 65, "AB" * 64, "zz" * 64, None, 1]),
        ("body", [None, [], "{}", 1]),
    ],
)
def test_what_is_out_of_shape_around_a_body(name, values):
    for value in values:
        error = refused(GOOD | {name: value})
        assert error.place in (f"$.{name}", "$")
        if name not in ("at", "seq", "prev"):
            refused(signed_of(GOOD) | {name: value}, read=read_message)


@pytest.mark.parametrize("name", sorted(set(GOOD) - {"sig"}))
def test_a_member_missing_around_a_body(name):
    refused({key: value for key, value in GOOD.items() if key != name}, "$", name)


@pytest.mark.parametrize("name", sorted(signed_of(GOOD)))
def test_a_member_missing_around_a_signed_body(name):
    raw = {key: value for key, value in signed_of(GOOD).items() if key != name}
    refused(raw, "$", name, read=read_message)


def test_a_member_too_many_around_a_body():
    refused(GOOD | {"more": 1}, "$", "'more'")
    refused(signed_of(GOOD) | {"at": 1}, "$", "'at'", read=read_message)  # the server says when


def test_an_unknown_type_is_named():
    refused(GOOD | {"type": "pláy"}, "$.type", "'pl\\xe1y'")
    refused(signed_of(GOOD) | {"type": "bid"}, "$.type", "'bid'", read=read_message)


def test_a_body_of_another_type_does_not_fit():
    for kind in KINDS:
        for other in KINDS:
            same = {"deal", "exchange"}, {"commit", "dispute"}, {"pass", "commit"}
            if kind != other and kind != "ack" and {kind, other} not in same:
                refused(entry_of(other, SAMPLES[kind]))


def test_an_entry_without_a_signature():
    raw = {name: value for name, value in GOOD.items() if name != "sig"}
    entry = read_one_entry(jcs(raw))
    assert entry.sig is None
    assert entry.encoded() == jcs(raw)


@pytest.mark.parametrize("read", [read_one_entry, read_message])
def test_what_is_no_json_or_too_much(read):
    refused(b"", "byte 0", "empty", read=read)
    refused(b"\xef\xbb\xbf{}", "byte 0", "byte order mark", read=read)
    refused(b"[" * 100_000, None, "deep", read=read)
    raw = signed_of(GOOD) if read is read_message else GOOD
    refused(jcs(raw) + b"x", f"character {len(jcs(raw))}", "more after", read=read)
    refused(jcs(raw)[:-1], None, "too early", read=read)
    refused(b" " * (16 * 2**20) + jcs(raw), None, "larger than 16 MiB", read=read)
    assert read(b"\n" + jcs(raw) + b" " * 100)


# -- hashes by hand -------------------------------------------------------------------------------------


def test_the_canonical_json_of_a_message_by_hand():
    said = message("seat/1", "34" * 32, messages.Play(card="QS"))
    assert said.encoded() == (
        b'{"body":{"card":"QS"},"by":"seat/1","seen":"' + b"34" * 32 + b'","type":"play"}'
    )
    signed = Signed(message=said, sig="56" * 64)
    assert signed.encoded() == (
        b'{"body":{"card":"QS"},"by":"seat/1","seen":"' + b"34" * 32
        + b'","sig":"' + b"56" * 64 + b'","type":"play"}'
    )  # fmt: skip
    entry = Entry(at=7, message=said, prev="12" * 32, seq=2, sig=None)
    assert entry.encoded() == (
        b'{"at":7,"body":{"card":"QS"},"by":"seat/1","prev":"' + b"12" * 32
        + b'","seen":"' + b"34" * 32 + b'","seq":2,"type":"play"}'
    )  # fmt: skip


def test_a_signature_is_not_under_the_entry_hash_but_the_rest_is():
    def digest(**changes):
        entry = read_one_entry(jcs(GOOD | changes))
        return entry.digest(entry.message.digest())

    assert digest() == digest(sig="00" * 64)
    others = [
        digest(at=6),
        digest(seq=4),
        digest(prev="13" * 32),
        digest(seen="35" * 32),
        digest(by="house"),
        digest(body={"card": "3C"}),
    ]
    assert len({digest(), *others}) == 7


# -- text that people chose --------------------------------------------------------------------------------

#: section 3.5 of the protocol, as ranges
REFUSED = [
    (0x00, 0x1F),
    (0x7F, 0x9F),
    (0xAD, 0xAD),
    (0x61C, 0x61C),
    (0x200B, 0x200F),
    (0x2028, 0x202E),
    (0x2060, 0x206F),
    (0xD800, 0xDFFF),
    (0xFEFF, 0xFEFF),
    (0xFFF9, 0xFFFB),
    (0xE0000, 0xE007F),
]


@pytest.mark.parametrize(("first", "last"), REFUSED, ids=lambda code: f"{code:04X}")
def test_every_refused_range_from_rim_to_rim(first, last):
    for code in (first, last, (first + last) // 2):
        for text in (chr(code), "a" + chr(code), chr(code) + "a", "a" * 31 + chr(code) + "b" * 32):
            assert f"U+{code:04X}" in text_problem(text)
    for code in (first - 1, last + 1):
        if code >= 0 and not any(low <= code <= high for low, high in REFUSED):
            assert text_problem(chr(code)) is None


def test_every_other_code_point_is_a_text():
    inside = {code for low, high in REFUSED for code in range(low, high + 1)}
    assert {code for code in range(0x110000) if text_problem(chr(code))} == inside


def test_a_text_has_1_to_64_code_points():
    assert text_problem("") == "a text is 1 to 64 code points, not 0"
    assert text_problem("😀" * 64) is None
    assert text_problem("😀" * 65) == "a text is 1 to 64 code points, not 65"


def test_the_character_is_named_and_never_shown():
    assert text_problem("a\u202eb") == f"a text holds U+202E ({unicodedata.name(chr(0x202E))})"
    assert "control character" in text_problem("\x1b[31m")


@pytest.mark.parametrize(
    ("path", "place"),
    [
        (("table",), "$.body.table"),
        (("game",), "$.body.game"),
        (("seats", 0, "name"), "$.body.seats[0].name"),
        (("seats", 3, "name"), "$.body.seats[3].name"),
    ],
)
def test_texts_of_an_open_are_looked_at(path, place):
    for text in ("a\u200bb", "\u202e", "\x1b[31m", "\U000e0041"):
        refused(entry_of("open", replaced(open_body(), path, text)), place, "U+")
    for text in ("", "x" * 65, "😀" * 65):
        refused(entry_of("open", replaced(open_body(), path, text)), place)
    raw = entry_of("open", replaced(open_body(), path, "😀" * 64))
    assert read_one_entry(jcs(raw)).encoded() == jcs(raw)


# -- from plain values ---------------------------------------------------------------------------------------


def test_plain_values_are_converted_strictly():
    person = convert({"key": "a1" * 32, "kind": "person", "name": "Ana"}, Person)
    assert person == Person(key="a1" * 32, name="Ana")
    with pytest.raises(MalformedError) as caught:
        convert({"key": "A1" * 32, "kind": "person", "name": "Ana"}, Person, "$.seats[0]")
    assert caught.value.place == "$.seats[0].key"
    with pytest.raises(MalformedError):
        convert({"grace_ms": "5", "reserve_ms": 1}, messages.Clock)


def test_no_message_type_has_a_member_for_a_secret_but_where_one_is_disclosed():
    fields = {kind: set(body.__struct_fields__) for kind, body in messages.BODIES.items()}
    assert {kind for kind, names in fields.items() if "seeds" in names} == {"close", "void"}
    assert {kind for kind, names in fields.items() if "hand_key" in names} == {
        "open",
        "commit",
        "dispute",
        "void",
    }
    assert not any(names & {"seed", "secret", "private", "salt"} for names in fields.values())
    assert msgspec.structs.fields(messages.Ack) == ()
