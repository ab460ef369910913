"""Canonical JSON, the strict parser, hexadecimal, frames and tagged hashes (spec section 2)."""

import datetime as dt
import hashlib
import json
import uuid
from decimal import Decimal
from typing import Any

import msgspec
import pytest
import rfc8785
from helpers_primitives import (
    HEARTS,
    at_path,
    framed,
    hearts_rules,
    jcs,
    objects,
    open_body,
    replaced,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from fairdeal import encoding
from fairdeal.encoding import MAX_BYTES, Shape, canonical, check, decode, frame, parse, unhex
from fairdeal.errors import FairdealError, MalformedError
from fairdeal.messages import Open

MAX = 2**53 - 1
names = st.text(st.characters(max_codepoint=0x7F), max_size=12)
clean = st.text(max_size=20)  # without surrogates, as Hypothesis makes it
scalars = st.none() | st.booleans() | st.integers(-MAX, MAX) | clean
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(names, inner, max_size=5),
    max_leaves=30,
)


def refused(data, place, *words):
    """That `check` refuses, naming exactly this place and these words."""
    with pytest.raises(MalformedError) as caught:
        check(data)
    assert caught.value.place == place
    for word in words:
        assert word in caught.value.problem
    assert str(caught.value) == f"{place}: {caught.value.problem}"
    return caught.value


# -- canonical JSON --------------------------------------------------------------------------------


@given(values)
@settings(deadline=None, max_examples=300)
def test_canonical_is_byte_equal_to_rfc8785(value):
    assert canonical(value) == rfc8785.dumps(value)


@given(values)
@settings(deadline=None, max_examples=200)
def test_a_value_survives_the_round_trip(value):
    assert parse(canonical(value)) == value


def test_every_ascii_character_and_the_rims_of_utf8_are_written_as_rfc8785_writes_them():
    value = {chr(code): chr(code) for code in range(128)}
    value["rims"] = "\x80\u07ff\u0800\ud7ff\ue000\uffff\U00010000\U0010ffff"
    assert canonical(value) == rfc8785.dumps(value)


def test_integers_of_the_rims():
    assert canonical([0, MAX, -MAX]) == b"[0,9007199254740991,-9007199254740991]"


def test_by_hand():
    value = {"b": [True, False, None], "a": {"€": "no"}.get("€"), "B": '"\\\n\x1f\x7fé'}
    assert (
        canonical(value) == b'{"B":"\\"\\\\\\n\\u001f\x7f\xc3\xa9","a":"no","b":[true,false,null]}'
    )


@pytest.mark.parametrize(
    "value",
    [
        1.5,
        1.0,
        -0.0,
        1e300,
        MAX + 1,
        -MAX - 1,
        2**64,
        10**400,
        "\ud800",
        "a\udfff",
        {"é": 1},
        {"\ud800": 1},
        {1.5: 2},
        pytest.param(object(), id="object"),
        [1, [2, {"a": 2.5}]],
    ],
    ids=repr,
)
def test_a_value_outside_the_profile_has_no_canonical_form(value):
    with pytest.raises(ValueError) as caught:
        canonical(value)
    assert not isinstance(caught.value, FairdealError)  # it is our caller's fault, nobody else's


@pytest.mark.parametrize(
    "value",
    [
        float("nan"),
        float("inf"),
        -float("inf"),
        b"ab",
        {1: 2},
        {None: 2},
        {"a": {1, 2}},
        [dt.date(2024, 1, 2)],
        Decimal(1),
        uuid.UUID(int=1),
    ],
    ids=repr,
)
def test_what_has_no_json_of_its_own_has_no_canonical_form(value):
    """Fault 2: the encoder made null of NaN, a string of bytes, dates and decimals, names of ints."""
    with pytest.raises(ValueError):
        canonical(value)


def test_sixteen_levels_are_the_limit_of_what_is_written():
    value: Any = 1
    for _ in range(16):
        value = [value]
    assert canonical(value) == b"[" * 16 + b"1" + b"]" * 16
    with pytest.raises(ValueError, match="16 deep"):
        canonical([value])


def test_a_value_that_holds_itself_has_no_canonical_form():
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(ValueError):
        canonical(loop)


# -- the strict parser: what is accepted ------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "0",
        "-1",
        "9007199254740991",
        "-9007199254740991",
        " \t\r\n[ ]\n",
        "{ }",
        '{"":{}}',
        '"\\u00e9\\ud83d\\ude00\\/\\b\\f\\n\\r\\t\\"\\\\"',
        '"\x7f\u0080\u2028\ufeff"',
        '[1 , 2,{"a" : null , "b":true,"c":false}]',
        '{"a":{"a":{"a":1}},"A":2}',
    ],
)
def test_texts_of_the_profile_are_accepted_as_json_reads_them(text):
    assert parse(text.encode()) == json.loads(text)


def test_sixteen_levels_are_read():
    assert parse(b"[" * 16 + b"]" * 16) is not None
    assert parse(b'{"a":' * 16 + b"1" + b"}" * 16) is not None


# -- what is refused, and where ---------------------------------------------------------------------


@pytest.mark.parametrize("name", ["a", "\\u0061", "b", "x y"])
def test_a_member_named_twice(name):
    place = {"a": "$.k.a", "\\u0061": "$.k.a", "b": "$.k.b"}.get(name, "$.k['x y']")
    refused(f'{{"k":{{"a":1,"b":2,"x y":3,"{name}":4}}}}'.encode(), place, "twice")


def test_the_same_name_in_two_objects_is_no_repetition():
    check(b'[{"a":1},{"a":1,"b":{"a":1}}]')


@pytest.mark.parametrize(
    "number",
    [
        "1.0",
        "1.5",
        "-0",
        "-0.0",
        "0.0",
        "1e2",
        "1E2",
        "1e-2",
        "1E+2",
        "01",
        "-01",
        "00",
        "+1",
        "-",
        ".5",
        "5.",
        "0x10",
        "NaN",
        "Infinity",
        "-Infinity",
        "nan",
        "9007199254740992",
        "-9007199254740992",
        "18446744073709551616",
        "True",
        "nul",
        "nulll",
    ],
)
def test_a_number_or_word_outside_the_profile(number):
    refused(f'{{"a":[0,{{"b":{number}}}]}}'.encode(), "$.a[1].b", number[:24])
    with pytest.raises(MalformedError):
        parse(number.encode())


@pytest.mark.parametrize("number", ["٣", "1_000", "1 000", "$1", "(1)"])
def test_what_is_not_even_a_word(number):
    refused(f"[{number}]".encode(), "$[0]", "near character")


def test_a_number_of_a_million_digits_is_refused_and_not_repeated():
    error = refused(b'{"a":' + b"9" * 1_000_000 + b"}", "$.a", "2^53")
    assert len(str(error)) < 200


@pytest.mark.parametrize(
    "inside",
    [
        "\\ud800",
        "\\udc00",
        "\\udfff\\ud800",
        "\\ud800\\ud800",
        "\\ud800\\u0041",
        "\\ud800x",
        "x\\udbff",
    ],
)
def test_half_of_a_surrogate_pair(inside):
    refused(f'{{"a":["{inside}"]}}'.encode(), "$.a[0]", "surrogate")
    with pytest.raises(MalformedError):
        check(f'{{"{inside}":1}}'.encode())


def test_a_surrogate_written_as_utf8():
    refused(b'["\xed\xa0\x80"]', "byte 2", "UTF-8")


@pytest.mark.parametrize("raw", [b"\xff", b"\xc0\x80", b"\x80", b"\xf4\x90\x80\x80", b"\xe2\x82"])
def test_bytes_that_are_no_utf8(raw):
    refused(b'{"a":"' + raw + b'"}', "byte 6", "UTF-8")


def test_utf16_is_not_utf8():
    with pytest.raises(MalformedError):
        check('{"a":1}'.encode("utf-16"))


def test_a_byte_order_mark():
    refused(b"\xef\xbb\xbf{}", "byte 0", "byte order mark")


@pytest.mark.parametrize("data", [b"", b" ", b"\n\t\r "])
def test_nothing(data):
    refused(data, "byte 0", "empty")


@pytest.mark.parametrize("tail", [b"x", b"1", b"{}", b"}", b"]", b",", b"\x00", b"//", b"\xc2\xa0"])
def test_anything_after_the_value(tail):
    refused(b"{} \n" + tail, "character 2", "more after the end")


@pytest.mark.parametrize("char", [chr(code) for code in range(32)], ids=ascii)
def test_a_raw_control_character_in_a_string(char):
    refused(f'{{"a":"b{char}"}}'.encode(), "$.a", "near character 5")


@pytest.mark.parametrize("char", ["\x0b", "\x0c", "\x00", "\u00a0", "\u2028", "\ufeff", "\u3000"])
def test_other_white_space_is_none(char):
    refused(f'{{"a":{char}1}}'.encode(), "$.a", "near character 5")


@pytest.mark.parametrize("escape", ["\\a", "\\x41", "\\u12", "\\u12g4", "\\'", "\\U0001f600"])
def test_an_escape_that_json_does_not_have(escape):
    refused(f'["{escape}"]'.encode(), "$[0]", "no JSON")


@pytest.mark.parametrize("name", ["é", "\\u00e9", "a漢", "\U0001f600"])
def test_a_member_name_that_is_not_ascii(name):
    error = refused(
        f'{{"ok":[{{"{name}":1}}]}}'.encode(),
        f"$.ok[0][{ascii(json.loads(chr(34) + name + chr(34)))}]",
        "ASCII",
    )
    assert str(error).isascii()


def test_seventeen_levels():
    refused(b"[" * 17 + b"]" * 17, "$" + "[0]" * 16, "16 deep")
    refused(b'{"a":' * 17 + b"1" + b"}" * 17, "$" + ".a" * 16, "16 deep")


def test_a_hundred_thousand_levels_are_refused_without_a_traceback():
    deep = 100_000
    for data in (b"[" * deep, b"[" * deep + b"]" * deep, b'{"a":' * deep + b"1" + b"}" * deep):
        for read in (check, parse, lambda raw: decode(raw, msgspec.json.Decoder(Open))):
            with pytest.raises(MalformedError, match="16 deep"):
                read(data)


def test_size(monkeypatch):
    exact = b" " * (MAX_BYTES - 2) + b"[]"
    assert parse(exact) == []
    decoder = msgspec.json.Decoder(list[int])
    assert decode(exact, decoder) == []
    for read in (parse, lambda raw: decode(raw, decoder)):
        with pytest.raises(MalformedError, match="larger than 16 MiB") as caught:
            read(exact + b" ")
        assert caught.value.place == f"byte {MAX_BYTES}"


@pytest.mark.parametrize(
    ("data", "place", "word"),
    [
        (b"[", "$[0]", "ends too early"),
        (b"[1", "$[0]", "ends too early"),
        (b"[1,", "$[1]", "ends too early"),
        (b'{"a":1', "$.a", "ends too early"),
        (b'{"a":[true,{"b"', "$.a[1].b", "ends too early"),
        (b'{"a":', "$.a", "ends too early"),
        (b'[1,"abc', "$[1]", "too early"),
        (b'[1,"abc\\', "$[1]", "too early"),
        (b"[1 2]", "$[0]", "comma"),
        (b"[1:2]", "$[0]", "comma"),
        (b'[1,{"a":1}"b"]', "$[1]", "comma"),
        (b"[,1]", "$[0]", "value is missing"),
        (b"[1,]", "$[1]", "value is missing"),
        (b"[1,,2]", "$[1]", "value is missing"),
        (b"[1}", "$[0]", "comma"),
        (b'{"a":}', "$.a", "value is missing"),
        (b'{"a":1]', "$.a", "comma"),
        (b'{"a" 1}', "$.a", "colon"),
        (b'{"a","b"}', "$.a", "colon"),
        (b":", "character 1", "value is missing"),
        (b"]", "character 1", "value is missing"),
        (b"'a'", "character 0", "no JSON"),
        (b"[1,/**/2]", "$[1]", "no JSON"),
    ],
)
def test_broken_texts(data, place, word):
    refused(data, place, word)
    with pytest.raises(ValueError):
        json.loads(data)  # and the other parser agrees that it is none


@pytest.mark.parametrize("data", [b'{"a":1,}', b"{1:2}", b"{null:2}", b'{"a":1,2}', b"{[]:1}"])
def test_a_member_without_a_name(data):
    with pytest.raises(MalformedError, match="name is missing near character"):
        check(data)


@given(values.filter(lambda value: isinstance(value, (dict, list))), st.data())
@settings(deadline=None, max_examples=100)
def test_every_proper_prefix_of_a_text_is_refused(value, data):
    text = canonical(value)
    with pytest.raises(MalformedError):
        check(text[: data.draw(st.integers(0, len(text) - 1))])


@given(st.binary(max_size=40) | st.text('{}[]:,"\\ue19.-+tfn \n', max_size=40).map(str.encode))
@settings(deadline=None, max_examples=500)
def test_any_bytes_are_accepted_or_malformed_and_never_more_than_json_accepts(data):
    def never(_):
        raise ValueError

    def integer(digits):
        if digits == "-0" or abs(int(digits)) > MAX:
            raise ValueError
        return int(digits)

    def members(pairs):
        if len(dict(pairs)) != len(pairs) or not all(name.isascii() for name, _ in pairs):
            raise ValueError
        return dict(pairs)

    try:
        text = data.decode()
        value = json.loads(
            text,
            parse_float=never,
            parse_int=integer,
            parse_constant=never,
            object_pairs_hook=members,
        )
        json.dumps(value, ensure_ascii=False).encode()  # no lone surrogate
    except ValueError:
        with pytest.raises(MalformedError):
            check(data)
    else:
        assert parse(data) == value


# -- shapes ---------------------------------------------------------------------------------------


class Leaf(Shape):
    code: str
    size: int


class Tree(Shape):
    leaves: tuple[Leaf, ...]
    name: str
    rest: dict[str, int]


TREES = msgspec.json.Decoder(Tree)
TREE = b'{"leaves":[{"code":"a","size":1},{"code":"b","size":2}],"name":"n","rest":{"k":1}}'


def shape_refused(data, place, *words):
    with pytest.raises(MalformedError) as caught:
        decode(data, TREES)
    assert caught.value.place == place
    for word in words:
        assert word in caught.value.problem
    return caught.value


def test_a_shape_is_read():
    tree = decode(TREE, TREES)
    assert [(leaf.code, leaf.size) for leaf in tree.leaves] == [("a", 1), ("b", 2)]
    assert (tree.name, tree.rest) == ("n", {"k": 1})
    with pytest.raises(AttributeError):
        tree.name = "other"


def test_the_place_of_a_wrong_type():
    shape_refused(TREE.replace(b'"size":2', b'"size":"2"'), "$.leaves[1].size", "int", "str")
    shape_refused(TREE.replace(b'"size":2', b'"size":true'), "$.leaves[1].size", "int", "bool")
    shape_refused(TREE.replace(b'"n"', b"null"), "$.name", "str", "null")
    shape_refused(b"[]", "$", "object", "array")


def test_an_unknown_member_is_named_and_shown_harmless():
    shape_refused(TREE.replace(b'"size":2', b'"size":2,"more":3'), "$.leaves[1]", "'more'")
    bad = TREE.replace(b'"name"', '"x\u202e\\n\\u001b":1,"name"'.encode())
    with pytest.raises(MalformedError) as caught:
        decode(bad, TREES)
    assert str(caught.value).isascii()
    assert str(caught.value).isprintable()


def test_a_missing_member_is_named():
    shape_refused(TREE.replace(b'"name":"n",', b""), "$", "name")


def test_a_fault_of_the_text_explains_more_than_the_shape():
    shape_refused(b'{"leaves":[{"code":"a","size":1.0}]', "$.leaves[0].size", "1.0")
    shape_refused(TREE + b"]", f"character {len(TREE)}", "more after")


def test_a_place_is_put_before_the_path():
    with pytest.raises(MalformedError) as caught:
        encoding.shape(TREE.replace(b'"size":2', b'"size":[]'), TREES, "$.entries[7].body")
    assert caught.value.place == "$.entries[7].body.leaves[1].size"


def test_a_very_deep_text_has_no_shape():
    with pytest.raises(MalformedError):
        encoding.shape(b"[" * 100_000 + b"]" * 100_000, msgspec.json.Decoder())


def test_what_is_accepted_whatever_its_order_and_blanks():
    loose = (
        b' {\n"rest" : {"k":1},"name":"\\u006e",\t"leaves":[{"size":1 , "code":"a"},'
        b'{"code":"b","size":2}]\r\n} '
    )
    assert decode(loose, TREES) == decode(TREE, TREES)


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        (b'"name":"n"', b'"name":"n","name":"n"', "$.name"),
        (b'"name":"n"', b'"name":"m","name":"n"', "$.name"),
        (b'"k":1', b'"k":1,"k":1', "$.rest.k"),
        (b'"k":1', b'"k":-0', "$.rest.k"),
        (b'"size":1', b'"size":-0', "$.leaves[0].size"),
        (b'"code":"a"', b'"code":"a", "code":"a"', "$.leaves[0].code"),
    ],
)
def test_what_only_the_strict_pass_can_see(old, new, place):
    shape_refused(TREE.replace(old, new), place)


def test_a_name_outside_ascii_is_refused_where_a_shape_leaves_the_names_open():
    """Fault 1: the lengths agree, so the fast path let `{"é": 1}` through."""
    shape_refused(TREE.replace(b'"k"', '"é"'.encode()), "$.rest['\\xe9']", "ASCII")
    body = open_body(rules=HEARTS | {"card_points": {"é♥": 1}})
    with pytest.raises(MalformedError, match="ASCII"):
        decode(jcs_anything(body), msgspec.json.Decoder(Open))


def jcs_anything(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


BLANKS = st.text(" \t\r\n", max_size=3).map(str.encode)


def tokens_of(data):
    """A JSON text cut between its tokens."""
    pieces, at = [], 0
    while at < len(data):
        end = at + 1
        if data[at : at + 1] == b'"':
            while data[end : end + 1] != b'"':
                end += 2 if data[end : end + 1] == b"\\" else 1
            end += 1
        elif data[at] not in b"[]{}:,":
            while data[end] not in b"[]{}:,":
                end += 1
        pieces.append(data[at:end])
        at = end
    return pieces


class Twice(dict):
    """An object that is written with one member twice."""

    def __init__(self, members, name, second):
        super().__init__(members)
        self.pairs = [*members.items(), (name, second)]


def written(value):
    if isinstance(value, dict):
        pairs = value.pairs if isinstance(value, Twice) else value.items()
        inner = ",".join(
            f"{json.dumps(name, ensure_ascii=False)}:{written(one)}" for name, one in pairs
        )
        return "{" + inner + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(written, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


@st.composite
def mangled(draw):
    """A text near a valid `open` body: a member doubled, `-0`, escapes, blanks, or a byte changed."""
    body = open_body(
        rules=draw(hearts_rules), clock=draw(st.none() | st.just({"grace_ms": 0, "reserve_ms": 0}))
    )
    kinds = draw(
        st.sets(
            st.sampled_from(["double", "zero", "escape", "blank", "byte", "cut", "name"]),
            max_size=3,
        )
    )
    if "name" in kinds:
        body["rules"]["card_points"][draw(st.sampled_from(["éé", "é♥", "QS", "Q♠"]))] = 1
    if "double" in kinds:
        path = draw(st.sampled_from([path for path in objects(body) if at_path(body, path)]))
        owner = at_path(body, path)
        name = draw(st.sampled_from(list(owner)))
        second = draw(st.sampled_from([owner[name], None, 0, ""]))
        body = replaced(body, path, Twice(owner, name, second))
    pieces = tokens_of(written(body).encode())
    if "zero" in kinds:
        pieces = [b"-0" if piece == b"0" and draw(st.booleans()) else piece for piece in pieces]
    if "escape" in kinds:
        place = draw(
            st.sampled_from(
                [n for n, piece in enumerate(pieces) if len(piece) > 2 and piece[:1] == b'"']
            )
        )
        inside = pieces[place][1:-1].decode()
        if inside[:1].isascii() and "\\" not in inside:
            pieces[place] = f'"\\u{ord(inside[0]):04x}{inside[1:]}"'.encode()
    if "blank" in kinds:
        pieces = [draw(BLANKS) + piece for piece in pieces[:40]] + pieces[40:]
    data = b"".join(pieces)
    if "byte" in kinds:
        place = draw(st.integers(0, len(data) - 1))
        data = data[:place] + draw(st.binary(max_size=2)) + data[place + 1 :]
    if "cut" in kinds:
        data = data[: draw(st.integers(0, len(data)))]
    return data


OPENS = msgspec.json.Decoder(Open)


@given(mangled())
@settings(deadline=None, max_examples=600)
def test_the_fast_path_accepts_exactly_what_the_slow_one_does(data):
    try:
        check(data)
        encoding.shape(data, OPENS)
        good = True
    except MalformedError:
        good = False
    try:
        body = decode(data, OPENS)
    except MalformedError as error:
        assert not good, error
    else:
        assert good
        assert encoding.encode(body) == jcs(json.loads(data))


def test_an_explanation_looks_only_so_far():
    """A fault of the text is told where it is near, and a wrong shape where it would take seconds."""
    for members, place in ((10, "$[10]"), (encoding.MAX_EXPLAINED + 10, "$")):
        with pytest.raises(MalformedError) as caught:
            decode(b"[" + b"1," * members + b"1.5]", TREES)
        assert caught.value.place == place


# -- hexadecimal ----------------------------------------------------------------------------------


@given(st.binary(max_size=80))
@settings(deadline=None)
def test_hexadecimal_round_trip(raw):
    assert unhex(raw.hex(), len(raw)) == raw


@pytest.mark.parametrize(
    ("text", "size", "words"),
    [
        ("AB" * 32, 32, "upper-case"),
        ("aB" + "00" * 31, 32, "upper-case"),
        ("zz" * 32, 32, "other characters"),
        ("ab " * 32, 48, "other characters"),  # fromhex would skip the blanks
        ("ab" * 31 + "\n\n", 32, "other characters"),
        ("٠٠" * 32, 32, "other characters"),
        ("ab" * 31, 32, "62 characters"),
        ("ab" * 33, 32, "66 characters"),
        ("ab" * 31 + "a", 32, "63 characters"),
        ("", 32, "0 characters"),
        ("q83vq83vq83vq83vq83vq83vq83vq83vq83vq83vq80=", 32, "base64"),
        ("q83vq83vq83vq83vq83vq83vq83vq83vq83vq83vq80", 32, "base64"),
        ("q83v_83vq83vq83vq83vq83vq83vq83vq83vq83vq-0=", 32, "base64"),
        ("q83vq83vq83vq83vq83vq83vq83vq83vq83vq83vq80 =", 32, "45 characters"),
    ],
)
def test_wrong_hexadecimal_is_explained(text, size, words):
    with pytest.raises(MalformedError) as caught:
        unhex(text, size, "$.body.key")
    assert caught.value.place == "$.body.key"
    assert words in caught.value.problem
    assert f"{size} bytes as {2 * size} lower-case" in caught.value.problem


@given(st.text(max_size=12), st.integers(0, 6))
@settings(deadline=None, max_examples=300)
def test_only_the_one_way_to_write_bytes_is_read(text, size):
    try:
        assert unhex(text, size).hex() == text
        assert len(text) == 2 * size
    except MalformedError:
        assert not (len(text) == 2 * size and set(text) <= set("0123456789abcdef"))


# -- frames ---------------------------------------------------------------------------------------


def test_frames_by_hand():
    assert frame("t") == b"\x01t"
    assert frame("") == b"\x00"
    assert frame("t", b"") == b"\x01t\x00\x00\x00\x00"
    assert frame("tag", b"ab", "c") == b"\x03tag\x00\x00\x00\x02ab\x00\x00\x00\x01c"
    assert frame("é", "€") == b"\x02\xc3\xa9\x00\x00\x00\x03\xe2\x82\xac"
    assert frame("x" * 255, b"y" * 258) == b"\xff" + b"x" * 255 + b"\x00\x00\x01\x02" + b"y" * 258


def test_a_tag_has_at_most_255_bytes():
    with pytest.raises(OverflowError):
        frame("x" * 256)


frames = st.tuples(
    st.text("ab\x00\x01", max_size=4),
    st.lists(
        st.binary(max_size=6) | st.sampled_from([b"\x00\x00\x00\x00", b"\x00\x00\x00\x01a"]),
        max_size=4,
    ),
)


@given(frames, frames)
@settings(deadline=None, max_examples=300)
def test_frames_are_injective(one, other):
    same = (one[0], one[1]) == (other[0], other[1])
    assert (frame(one[0], *one[1]) == frame(other[0], *other[1])) == same


@given(frames)
@settings(deadline=None)
def test_a_frame_can_be_taken_apart_again(parts):
    """What injective means: reading the frame gives tag and fields back, and nothing is left."""
    data = frame(parts[0], *parts[1])
    tag, data = data[1 : 1 + data[0]], data[1 + data[0] :]
    fields = []
    while data:
        size = int.from_bytes(data[:4], "big")
        fields.append(data[4 : 4 + size])
        data = data[4 + size :]
    assert (tag.decode(), fields) == parts


@given(frames)
@settings(deadline=None)
def test_tagged_hashes(parts):
    tag, fields = parts
    assert encoding.tagged_hash(tag, *fields) == hashlib.sha256(framed(tag, *fields)).digest()


def test_numbers_are_big_endian():
    assert encoding.u16(0x0102) == b"\x01\x02"
    assert encoding.u32(0x01020304) == b"\x01\x02\x03\x04"
    assert encoding.u64(0x0102030405060708) == b"\x01\x02\x03\x04\x05\x06\x07\x08"
    for function, bits in ((encoding.u16, 16), (encoding.u32, 32), (encoding.u64, 64)):
        assert function(2**bits - 1) == b"\xff" * (bits // 8)
        with pytest.raises(OverflowError):
            function(2**bits)
        with pytest.raises(OverflowError):
            function(-1)
