"""What the tests of the primitives share: fixed randomness, statistics, raw JSON of every message.

Nothing here calls the code under test: what it gives is plain Python or comes from other libraries.
"""

import hashlib
import math
import os
import struct

import rfc8785
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from hypothesis import strategies as st

#: whether the long statistics run (FAIRDEAL_LONG=1)
LONG = os.environ.get("FAIRDEAL_LONG") == "1"
#: the upper 1e-6 point of the standard normal distribution
Z_1E6 = 4.753424308822899
FULL_PACK = [rank + suit for suit in "CDHS" for rank in "23456789TJQKA"]


def fixed(label, number=0, size=64):
    """`size` bytes that are random in every way but that they are always the same."""
    out = b""
    block = 0
    while len(out) < size:
        out += hashlib.sha512(f"{label}|{number}|{block}".encode()).digest()
        block += 1
    return out[:size]


#: degrees of freedom: what chi-square exceeds once in 10^6 (regularised incomplete gamma, bisected;
#: R: qchisq(1e-6, k, lower.tail = FALSE)). A test holds it against Wilson and Hilferty's formula.
CHI_SQUARE_1E6 = {
    1: 23.928,
    2: 27.631,
    5: 35.888,
    23: 70.550,
    51: 114.076,
    119: 207.199,
    2601: 2958.348,
}


def wilson_hilferty(freedom):
    """The same, approximately (1931); for few degrees it comes out too large."""
    part = 2 / (9 * freedom)
    return freedom * (1 - part + Z_1E6 * math.sqrt(part)) ** 3


def chi_square(counts, expected):
    """Pearson's statistic of counts that are all expected to be `expected`."""
    return sum((count - expected) ** 2 for count in counts) / expected


def framed(tag, *fields):
    """The frame of spec section 2, written with struct and nothing of ours."""
    out = struct.pack(">B", len(tag.encode())) + tag.encode()
    for field in fields:
        raw = field.encode() if isinstance(field, str) else field
        out += struct.pack(">I", len(raw)) + raw
    return out


def sha(tag, *fields):
    return hashlib.sha256(framed(tag, *fields)).digest()


def jcs(value):
    return rfc8785.dumps(value)


# -- keys and logs, made with `cryptography` -------------------------------------------------------


class Signer:
    """An Ed25519 key of the other library."""

    def __init__(self, label):
        self.seed = fixed("signer " + label, size=32)
        self._key = Ed25519PrivateKey.from_private_bytes(self.seed)
        self.public = self._key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)

    def sign(self, digest):
        return self._key.sign(b"fairdeal/v1/signature\x00" + digest)


def message_digest(entry):
    said = {name: entry[name] for name in ("body", "by", "seen", "type")}
    return sha("fairdeal/v1/message", jcs(said))


def entry_digest(entry):
    return sha(
        "fairdeal/v1/entry",
        struct.pack(">Q", entry["seq"]),
        bytes.fromhex(entry["prev"]),
        struct.pack(">Q", entry["at"]),
        message_digest(entry),
    )


def chained(said, keys=None, prevs=None):
    """Raw entries from (by, type, body, seen) rows: `seen` is a position, -1 the genesis.

    With `keys` (by to Signer) each is signed. `prevs` are other links than the right ones, by
    position.
    """
    entries = []
    hashes = []
    for seq, (by, kind, body, seen) in enumerate(said):
        entry = {
            "at": 1_700_000_000_000 + 1000 * seq,
            "body": body,
            "by": by,
            "prev": (prevs or {}).get(seq, hashes[-1] if hashes else "0" * 64),
            "seen": "0" * 64 if seen == -1 else hashes[seen],
            "seq": seq,
            "type": kind,
        }
        if keys is not None:
            entry["sig"] = keys[by].sign(message_digest(entry)).hex()
        entries.append(entry)
        hashes.append(entry_digest(entry).hex())
    return entries


def transcript(entries):
    return {"entries": entries, "fairdeal": 1}


# -- raw JSON of every body ------------------------------------------------------------------------

HEARTS = {
    "cancellation": False,
    "card_points": {"QS": 13},
    "end_score": 100,
    "exact_reset": None,
    "first_lead": "lowest-club",
    "first_trick_points": "forbidden",
    "game": "hearts",
    "hearts_broken_by": "heart",
    "kitty": None,
    "lead_from_points": False,
    "moon": "others-add",
    "pass_count": 3,
    "pass_cycle": [1, 3, 2, 0],
    "queen_breaks_hearts": False,
    "tie": "shared",
}


def open_body(**changes):
    """A plausible `open`: two persons and two bots at Hearts."""
    server = "51" * 32
    body = {
        "attempt": 1,
        "clock": {"grace_ms": 5000, "reserve_ms": 60000},
        "deck": {"packs": 1, "removed": []},
        "game": "g-12",
        "hand": 1,
        "hand_key": "0a" * 32,
        "house": False,
        "previous": None,
        "rules": HEARTS,
        "scores": [0, 0, 0, 0],
        "seats": [
            {"key": "a1" * 32, "kind": "person", "name": "Ana"},
            {"key": "b2" * 32, "kind": "person", "name": "Ben"},
            {"key": server, "kind": "bot", "name": "Bot", "policy": "low/1"},
            {"key": server, "kind": "bot", "name": "Bot 2", "policy": "random/1"},
        ],
        "server_key": server,
        "substitute": "low/1",
        "table": "t-7f3a",
    }
    return body | changes


COMMITMENT, SALT, KEY, SEED, BOX = "c1" * 32, "5a" * 32, "0b" * 32, "5e" * 64, "b0" * 60
OPENING = {"cards": ["2C", "QS"], "salt": SALT}
#: one body of every type with every member
SAMPLES = {
    "open": open_body(
        deck={"cards": ["a", "b"], "packs": 1, "removed": ["2D"]},
        previous="ee" * 32,
        rules=HEARTS | {"exact_reset": [100, 50], "kitty": "first-trick"},
    ),
    "commit": {"commitment": COMMITMENT, "hand_key": KEY},
    "reveal": {"sealed": BOX},
    "deal": {"hands": [{"commitment": COMMITMENT, "sealed": BOX}, {"commitment": COMMITMENT}]},
    "pass": {"commitment": COMMITMENT, "sealed": BOX},
    "exchange": {"hands": [{"commitment": COMMITMENT}, {"commitment": COMMITMENT, "sealed": BOX}]},
    "play": {"card": "2C"},
    "choose": {"moon": "subtract"},
    "close": {
        "deals": [OPENING, OPENING],
        "exchanges": [OPENING],
        "passes": [OPENING],
        "points": [0, 26],
        "result": {"left": [1], "places": [1, 2], "winners": [0]},
        "scores": [-26, 0],
        "seeds": {"house": SEED, "seat/0": SEED},
    },
    "ack": {},
    "replace": {"reason": "left", "seat": 1},
    "dispute": {"hand_key": KEY},
    "void": {"hand_key": KEY, "reason": "no-reveal", "seat": 0, "seeds": {"seat/1": SEED}},
}


def entry_of(kind, body, **changes):
    """A raw entry that says this, signed by nobody."""
    entry = {"at": 5, "body": body, "by": "server", "prev": "12" * 32, "seen": "34" * 32}
    return entry | {"seq": 3, "sig": "56" * 64, "type": kind} | changes


def leaves(value, path=()):
    """Every (path, leaf) of a JSON value."""
    if isinstance(value, dict | list):
        for step, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(inner, (*path, step))
    else:
        yield path, value


def objects(value, path=()):
    """The path of every object in a JSON value."""
    if isinstance(value, dict):
        yield path
    if isinstance(value, dict | list):
        for step, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from objects(inner, (*path, step))


def at_path(value, path):
    for step in path:
        value = value[step]
    return value


def replaced(value, path, new):
    """The value with something else at a path."""
    if not path:
        return new
    step, *rest = path
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[step] = replaced(value[step], rest, new)
    return copy


def hexes(size):
    return st.binary(min_size=size, max_size=size).map(bytes.hex)


MAX = 2**53 - 1
ints = st.integers(-MAX, MAX) | st.sampled_from([0, 1, -1, MAX, -MAX])
counts = st.integers(0, MAX) | st.sampled_from([0, MAX])
positives = st.integers(1, MAX) | st.just(MAX)
seat_numbers = st.integers(0, 9)
sealed = st.binary(min_size=1, max_size=80).map(bytes.hex)
people_text = st.text("aZ09 -'é漢😀\"\\/<>&", min_size=1, max_size=64)
codes = st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), min_size=1, max_size=8)
policy_names = st.from_regex(r"[a-z][a-z0-9-]{0,31}/[0-9]{1,4}", fullmatch=True)
parties = st.sampled_from(["server", "house", *(f"seat/{n}" for n in range(10))])
cards_openings = st.fixed_dictionaries({"cards": st.lists(codes, max_size=20), "salt": hexes(32)})
shares = st.fixed_dictionaries({"commitment": hexes(32)}, optional={"sealed": sealed})
scores = st.lists(ints, max_size=10)
shufflers = st.sampled_from(["house", *(f"seat/{n}" for n in range(10))])
seeds = st.dictionaries(shufflers, hexes(64), max_size=11)
hearts_rules = st.fixed_dictionaries(
    {
        "cancellation": st.booleans(),
        "card_points": st.dictionaries(
            st.sampled_from([card for card in FULL_PACK if card[1] != "H"]),
            st.integers(-1000, 1000),
            max_size=5,
        ),
        "end_score": st.integers(1, MAX // 2),
        "exact_reset": st.none()
        | st.tuples(st.integers(1, MAX // 2), st.integers(0, MAX // 2)).map(list),
        "first_lead": st.sampled_from(["lowest-club", "left-of-dealer"]),
        "first_trick_points": st.sampled_from(["forbidden", "allowed"]),
        "game": st.just("hearts"),
        "hearts_broken_by": st.sampled_from(["heart", "discard"]),
        "kitty": st.sampled_from([None, "first-trick", "last-trick"]),
        "lead_from_points": st.booleans(),
        "moon": st.sampled_from(["others-add", "shooter-subtracts", "shooter-chooses", "none"]),
        "pass_count": st.integers(1, 26),
        "pass_cycle": st.lists(st.integers(0, 9), min_size=1, max_size=20),
        "queen_breaks_hearts": st.booleans(),
        "tie": st.sampled_from(["shared", "last-hand"]),
    }
)
seats_of_open = st.lists(
    st.fixed_dictionaries({"key": hexes(32), "kind": st.just("person"), "name": people_text})
    | st.fixed_dictionaries(
        {"key": hexes(32), "kind": st.just("bot"), "name": people_text, "policy": policy_names}
    ),
    min_size=2,
    max_size=10,
)
results = st.fixed_dictionaries(
    {
        "left": st.lists(seat_numbers, max_size=10),
        "places": st.lists(positives, max_size=10),
        "winners": st.lists(seat_numbers, max_size=10),
    }
)

#: a strategy of raw JSON bodies for every message type of the protocol's table
BODIES = {
    "open": st.fixed_dictionaries(
        {
            "attempt": positives,
            "clock": st.none() | st.fixed_dictionaries({"grace_ms": counts, "reserve_ms": counts}),
            "deck": st.fixed_dictionaries(
                {},
                optional={
                    "cards": st.lists(codes, max_size=20),
                    "packs": st.integers(1, 8),
                    "removed": st.lists(codes, max_size=5),
                },
            ),
            "game": people_text,
            "hand": positives,
            "hand_key": hexes(32),
            "house": st.booleans(),
            "previous": st.none() | hexes(32),
            "rules": hearts_rules | st.just({"game": "deal"}),
            "scores": scores,
            "seats": seats_of_open,
            "server_key": hexes(32),
            "substitute": policy_names,
            "table": people_text,
        }
    ),
    "commit": st.fixed_dictionaries({"commitment": hexes(32)}, optional={"hand_key": hexes(32)}),
    "reveal": st.fixed_dictionaries({"sealed": sealed}),
    "deal": st.fixed_dictionaries({"hands": st.lists(shares, max_size=10)}),
    "pass": shares,
    "exchange": st.fixed_dictionaries({"hands": st.lists(shares, max_size=10)}),
    "play": st.fixed_dictionaries({"card": codes}),
    "choose": st.fixed_dictionaries({"moon": st.sampled_from(["add", "subtract"])}),
    "close": st.fixed_dictionaries(
        {
            "deals": st.lists(cards_openings, max_size=10),
            "exchanges": st.lists(cards_openings, max_size=10),
            "passes": st.lists(cards_openings, max_size=10),
            "points": scores,
            "result": st.none() | results,
            "scores": scores,
            "seeds": seeds,
        }
    ),
    "ack": st.just({}),
    "replace": st.fixed_dictionaries(
        {
            "reason": st.sampled_from(["left", "expelled", "unresponsive"]),
            "seat": seat_numbers,
        }
    ),
    "dispute": st.fixed_dictionaries({"hand_key": hexes(32)}),
    "void": st.fixed_dictionaries(
        {
            "hand_key": hexes(32),
            "reason": st.sampled_from(
                ["no-reveal", "bad-reveal", "bad-pass", "dispute", "left", "operator"]
            ),
            "seat": st.none() | seat_numbers,
            "seeds": seeds,
        }
    ),
}


@st.composite
def raw_entries(draw, kinds=tuple(BODIES)):
    """A raw entry of any type, as JSON has it."""
    kind = draw(st.sampled_from(kinds))
    entry = {
        "at": draw(counts),
        "body": draw(BODIES[kind]),
        "by": draw(parties),
        "prev": draw(hexes(32)),
        "seen": draw(hexes(32)),
        "seq": draw(counts),
        "type": kind,
    }
    if draw(st.booleans()):
        entry["sig"] = draw(hexes(64))
    return entry
