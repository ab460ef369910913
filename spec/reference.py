"""A second implementation of the fairdeal protocol, written from spec/protocol.md alone.

It exists to be held against the first one. It is slow, short and literal: numbers like 6.4 in the
comments are steps of the specification, and `READING` marks a place where its words allow more
than one meaning and one had to be chosen.

    python spec/reference.py verify FILE...     the verdict on each transcript or game's file, as a line of JSON
    python spec/reference.py vectors DIR        write the test vectors
    python spec/reference.py selftest           a few internal checks
"""

import hashlib
import hmac
import json
import pathlib
import re
import sys
from collections import Counter

import nacl.bindings as sodium
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

GENESIS = "0" * 64
RANKS = "23456789TJQKA"
SUITS = "CDHS"
FRENCH = [rank + suit for suit in SUITS for rank in RANKS]
MAX_INT = 2**53 - 1
MAX_FILE = 16 * 1024 * 1024
MAX_ENTRIES = 4096
MAX_HANDS = 4096


# ================================================================ 1. primitives


class Malformed(ValueError):
    """The bytes are no transcript (or no JSON of the profile)."""


# ---------------------------------------------------------------- 2.1 JSON


def _object(pairs):
    names = [name for name, _ in pairs]
    if len(set(names)) != len(names):
        raise Malformed("a member name stands twice")
    if not all(name.isascii() for name in names):
        raise Malformed("a member name is not ASCII")
    return dict(pairs)


def _integer(text):
    if text == "-0":
        raise Malformed("minus zero")
    if len(text) > 17 or abs(int(text)) > MAX_INT:
        raise Malformed("an integer of 2^53 or more")
    return int(text)


def _refused_number(text):
    raise Malformed(f"not an integer: {text[:20]}")


def _check_value(value, depth=0):
    """Nesting and surrogates."""
    # READING: the nesting of a value is the number of arrays and objects around and including it.
    if isinstance(value, str):
        if any("\ud800" <= c <= "\udfff" for c in value):
            raise Malformed("a lone surrogate")
    elif isinstance(value, (list, dict)):
        if depth == 16:
            raise Malformed("nested more than 16 deep")
        for item in value.values() if isinstance(value, dict) else value:
            _check_value(item, depth + 1)


def parse_json(data):
    """Strict JSON of the profile of 2.1; raises `Malformed`."""
    try:
        text = data.decode("utf-8")
        if text.startswith("\ufeff"):
            raise Malformed("a byte order mark")
        value = json.loads(
            text,
            object_pairs_hook=_object,
            parse_int=_integer,
            parse_float=_refused_number,
            parse_constant=_refused_number,
        )
    except RecursionError:
        raise Malformed("nested more than 16 deep") from None
    except ValueError as error:
        raise Malformed(str(error)) from None
    _check_value(value)
    return value


def jcs(value):
    """RFC 8785 on the profile: names are ASCII, numbers are integers, so this is all of it."""
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return text.encode("utf-8")


# ---------------------------------------------------------------- 2.2 frames and hashes


def raw(field):
    return field.encode("utf-8") if isinstance(field, str) else bytes(field)


def u16(number):
    return number.to_bytes(2, "big")


def u32(number):
    return number.to_bytes(4, "big")


def u64(number):
    return number.to_bytes(8, "big")


def frame(tag, *fields):
    out = bytes([len(raw(tag))]) + raw(tag)
    for field in fields:
        out += u32(len(raw(field))) + raw(field)
    return out


def tagged(tag, *fields):
    return hashlib.sha256(frame(tag, *fields)).digest()


def message_hash(entry):
    """3.1: what an author signs."""
    message = {name: entry[name] for name in ("body", "by", "seen", "type")}
    return tagged("fairdeal/v1/message", jcs(message))


def entry_hash(entry):
    """3.1: what the next entry's `prev` is, in hexadecimal."""
    fields = (u64(entry["seq"]), bytes.fromhex(entry["prev"]), u64(entry["at"]))
    return tagged("fairdeal/v1/entry", *fields, message_hash(entry)).hex()


# ---------------------------------------------------------------- 2.3 Ed25519

P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P
SIGN_PREFIX = b"fairdeal/v1/signature\x00"


def ed_decode(data):
    """The point (x, y) that 32 bytes encode canonically, or None."""
    number = int.from_bytes(data, "little")
    sign, y = number >> 255, number & (2**255 - 1)
    if y >= P:
        return None
    u, v = (y * y - 1) % P, (D * y * y + 1) % P
    x = u * pow(v, 3, P) * pow(u * pow(v, 7, P), (P - 5) // 8, P) % P
    if (v * x * x - u) % P:
        x = x * pow(2, (P - 1) // 4, P) % P
    if (v * x * x - u) % P or (x == 0 and sign):
        return None
    return (P - x if x & 1 != sign else x), y


def ed_add(a, b):
    (x1, y1), (x2, y2) = a, b
    t = D * x1 * x2 * y1 * y2 % P
    x = (x1 * y2 + x2 * y1) * pow(1 + t, -1, P) % P
    return x, (y1 * y2 + x1 * x2) * pow(1 - t, -1, P) % P


def ed_mul(scalar, point):
    out = (0, 1)
    while scalar:
        if scalar & 1:
            out = ed_add(out, point)
        point, scalar = ed_add(point, point), scalar >> 1
    return out


def ed_encode(point):
    return (point[1] | (point[0] & 1) << 255).to_bytes(32, "little")


BASE = ed_decode(bytes.fromhex("58" + "66" * 31))


def signature_by_the_book(key, message, signature):
    """2.3 word for word, on integers: the yardstick for the library used in `signature_good`."""
    a, r = ed_decode(key), ed_decode(signature[:32])
    s = int.from_bytes(signature[32:], "little")
    if a is None or r is None or s >= L or (0, 1) in (ed_mul(8, a), ed_mul(8, r)):
        return False
    h = int.from_bytes(hashlib.sha512(signature[:32] + key + message).digest(), "little") % L
    return ed_mul(s, BASE) == ed_add(r, ed_mul(h, a))


def signature_good(key, hashed, signature):
    """2.3: is this the signature of that message hash? libsodium keeps to the letter of 2.3."""
    try:
        sodium.crypto_sign_open(signature + SIGN_PREFIX + hashed, key)
    except Exception:
        return False
    return True


def sign(secret, hashed):
    """`secret` is 64 bytes: seed and public key."""
    return sodium.crypto_sign(SIGN_PREFIX + hashed, secret)[:64]


def signing_key_good(key):
    """2.3: canonical, in the prime-order subgroup, not the neutral element."""
    return bool(sodium.crypto_core_ed25519_is_valid_point(key))


# ---------------------------------------------------------------- 2.4 X25519 and HPKE


def dh(private, public):
    """X25519, or None if the result is all zeros (the other's point is of small order)."""
    try:
        key = X25519PrivateKey.from_private_bytes(private)
        return key.exchange(X25519PublicKey.from_public_bytes(public))
    except ValueError:
        return None


def public_of(private):
    return X25519PrivateKey.from_private_bytes(private).public_key().public_bytes_raw()


def hand_key_good(public):
    """2.4: canonical and not of small order."""
    return int.from_bytes(public, "little") < P and dh(b"\x40" * 32, public) is not None


def hkdf_extract(salt, material):
    return hmac.digest(salt or bytes(32), material, "sha256")


def hkdf_expand(key, info, length):
    out, block, i = b"", b"", 1
    while len(out) < length:
        block = hmac.digest(key, block + info + bytes([i]), "sha256")
        out, i = out + block, i + 1
    return out[:length]


KEM_ID = b"KEM" + u16(0x0020)  # DHKEM(X25519, HKDF-SHA256)
SUITE_ID = b"HPKE" + u16(0x0020) + u16(0x0001) + u16(0x0002)  # …, HKDF-SHA256, AES-256-GCM


def labeled_extract(suite, salt, label, material):
    return hkdf_extract(salt, b"HPKE-v1" + suite + label + material)


def labeled_expand(suite, key, label, info, length):
    return hkdf_expand(key, u16(length) + b"HPKE-v1" + suite + label + info, length)


def hpke_context(shared, enc, recipient, info):
    """RFC 9180: from the Diffie-Hellman value to the AEAD key and the nonce of message 0."""
    prk = labeled_extract(KEM_ID, b"", b"eae_prk", shared)
    secret = labeled_expand(KEM_ID, prk, b"shared_secret", enc + recipient, 32)
    psk_id = labeled_extract(SUITE_ID, b"", b"psk_id_hash", b"")
    context = b"\x00" + psk_id + labeled_extract(SUITE_ID, b"", b"info_hash", info)
    secret = labeled_extract(SUITE_ID, secret, b"secret", b"")
    key = labeled_expand(SUITE_ID, secret, b"key", context, 32)
    return key, labeled_expand(SUITE_ID, secret, b"base_nonce", context, 12)


def seal(recipient, info, plaintext, ephemeral):
    """A box for the public key `recipient`; `ephemeral` is the private key to use."""
    enc = public_of(ephemeral)
    key, nonce = hpke_context(dh(ephemeral, recipient), enc, recipient, info)
    return enc + AESGCM(key).encrypt(nonce, plaintext, b"")


def unseal(private, info, box):
    """The plaintext, or None if the box does not open."""
    enc, ciphertext = box[:32], box[32:]
    shared = dh(private, enc) if len(enc) == 32 else None
    if shared is None or len(ciphertext) < 16:
        return None
    key, nonce = hpke_context(shared, enc, public_of(private), info)
    try:
        return AESGCM(key).decrypt(nonce, ciphertext, b"")
    except Exception:
        return None


def seal_info(kind, hand_id, recipient, sender):
    return frame("fairdeal/v1/seal/" + kind, hand_id, recipient, sender)


# ---------------------------------------------------------------- 2.5 commitments


def commit_seed(hand_id, shuffler, seed):
    return tagged("fairdeal/v1/commit", hand_id, shuffler, seed)


def commit_cards(kind, hand_id, seat, cards, salt):
    fields = (hand_id, f"seat/{seat}", "".join(cards), salt)
    return tagged("fairdeal/v1/cards/" + kind, *fields)


def opens_cards(kind, hand_id, terms, seat, opening, commitment):
    """Does this CARDS, of codes as long as the deck's (5.3), open this commitment (hexadecimal)?"""
    some, salt = opening["cards"], bytes.fromhex(opening["salt"])
    if any(len(card) != len(terms.deck[0]) for card in some):
        return False
    return commit_cards(kind, hand_id, seat, some, salt).hex() == commitment


# ---------------------------------------------------------------- 5.2 shuffles, 6.3 streams


class Words:
    """16-bit words of the blocks HMAC-SHA-512(seed, u32(i) ‖ label), i = 1, 2, …"""

    def __init__(self, seed, label):
        self.seed, self.label, self.block, self.buffer = seed, label, 0, b""
        self.taken = self.rejected = 0

    def word(self):
        if not self.buffer:
            self.block += 1
            self.buffer = hmac.digest(self.seed, u32(self.block) + self.label, "sha512")
        out, self.buffer = int.from_bytes(self.buffer[:2], "big"), self.buffer[2:]
        self.taken += 1
        return out

    def below(self, m):
        """Words are taken until one is below 65536 - 65536 mod m; that word mod m."""
        while (word := self.word()) >= 65536 - 65536 % m:
            self.rejected += 1
        return word % m

    def draw(self, m):
        """6.3: as `below`, and 0 without a word if m is 1."""
        return 0 if m == 1 else self.below(m)


def shuffle_words(seed, hand_id, shuffler, n):
    return Words(seed, frame("fairdeal/v1/permutation", hand_id, shuffler, u16(n)))


def permutation(words, n):
    """5.2.3."""
    perm = list(range(n))
    for i in range(n - 1, 0, -1):
        j = words.below(i + 1)
        perm[i], perm[j] = perm[j], perm[i]
    return perm


def shuffled(deck, hand_id, seeds):
    """5.2.4: `seeds` are pairs of shuffler and seed, in their order."""
    for shuffler, seed in seeds:
        perm = permutation(shuffle_words(seed, hand_id, shuffler, len(deck)), len(deck))
        deck = [deck[p] for p in perm]
    return deck


def policy_words(seed, hand_id, seat):
    return Words(seed, frame("fairdeal/v1/policy", hand_id, f"seat/{seat}"))


# ---------------------------------------------------------------- the shape of a transcript (3, 4.2)


def is_int(low=-MAX_INT, high=MAX_INT):
    return lambda v: isinstance(v, int) and not isinstance(v, bool) and low <= v <= high


def is_hex(low, high=None):
    high = high or low
    pattern = re.compile("[0-9a-f]*")

    def check(v):
        good = isinstance(v, str) and pattern.fullmatch(v) is not None
        return good and len(v) % 2 == 0 and low <= len(v) // 2 <= high

    return check


def is_match(pattern):
    compiled = re.compile(pattern)
    return lambda v: isinstance(v, str) and compiled.fullmatch(v) is not None


def is_one(*values):
    return lambda v: isinstance(v, str) and v in values


def is_list(item, low=0, high=MAX_INT):
    return lambda v: isinstance(v, list) and low <= len(v) <= high and all(map(item, v))


def is_map(name, item):
    return lambda v: isinstance(v, dict) and all(map(name, v)) and all(map(item, v.values()))


def is_object(*, optional=(), **members):
    def check(v):
        if not isinstance(v, dict) or not set(v) <= set(members):
            return False
        missing = set(members) - set(v)
        return missing <= set(optional) and all(members[name](v[name]) for name in v)

    return check


def either(*checks):
    return lambda v: any(check(v) for check in checks)


def is_null(v):
    return v is None


def is_bool(v):
    return isinstance(v, bool)


BANNED = (
    "\\x00-\\x1f\\x7f-\\x9f\\xad\\u061c\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f"
    "\\ud800-\\udfff\\ufeff\\ufff9-\\ufffb\\U000e0000-\\U000e007f"
)
text = is_match(f"[^{BANNED}]{{1,64}}")
policy_name = is_match("[a-z][a-z0-9-]{0,31}/[0-9]{1,4}")
# READING: a "code" is anything of 1 to 8 printable ASCII characters other than space, in every
# body; whether it is a card of the deck is a question of the checks.
code = is_match("[!-~]{1,8}")
h32, h64, box = is_hex(32), is_hex(64), is_hex(1, 8192)
party = is_match("server|house|seat/[0-9]")
shuffler_name = is_match("house|seat/[0-9]")
seat_number = is_int(0, 9)
positive, natural = is_int(1), is_int(0)
cards = is_object(cards=is_list(code), salt=h32)
hands = is_list(is_object(commitment=h32, sealed=box, optional=["sealed"]))

# READING: a parameter outside the values of the table of 6.2, or an unknown game, is another shape
# (malformed); what step 10 of 6.2 refuses is `open-terms`.
hearts_rules = is_object(
    game=is_one("hearts"),
    pass_count=is_int(1, 26),
    pass_cycle=is_list(natural, 1, 20),
    first_lead=is_one("lowest-club", "left-of-dealer"),
    first_trick_points=is_one("forbidden", "allowed"),
    hearts_broken_by=is_one("heart", "discard"),
    queen_breaks_hearts=is_bool,
    lead_from_points=is_bool,
    card_points=is_map(code, is_int(-1000, 1000)),
    moon=is_one("others-add", "shooter-subtracts", "shooter-chooses", "none"),
    end_score=positive,
    exact_reset=either(is_null, is_list(is_int(), 2, 2)),
    tie=is_one("shared", "last-hand"),
    cancellation=is_bool,
    kitty=either(is_null, is_one("first-trick", "last-trick")),
)

person_seat = is_object(name=text, kind=is_one("person"), key=h32)
bot_seat = is_object(name=text, kind=is_one("bot"), key=h32, policy=policy_name)

BODIES = {
    "open": is_object(
        table=text,
        game=text,
        hand=positive,
        attempt=positive,
        previous=either(is_null, h32),
        rules=either(is_object(game=is_one("deal")), hearts_rules),
        deck=either(
            is_object(packs=is_int(1, 8), removed=is_list(code, 0, 51)),
            is_object(cards=is_list(code)),
        ),
        house=is_bool,
        server_key=h32,
        hand_key=h32,
        substitute=policy_name,
        seats=is_list(either(person_seat, bot_seat), 2, 10),
        scores=is_list(is_int()),
        clock=either(is_null, is_object(grace_ms=natural, reserve_ms=natural)),
    ),
    "commit": is_object(commitment=h32, hand_key=h32, optional=["hand_key"]),
    "reveal": is_object(sealed=box),
    "deal": is_object(hands=hands),
    "pass": is_object(commitment=h32, sealed=box, optional=["sealed"]),
    "exchange": is_object(hands=hands),
    "play": is_object(card=code),
    "choose": is_object(moon=is_one("add", "subtract")),
    "close": is_object(
        seeds=is_map(shuffler_name, h64),
        deals=is_list(cards),
        passes=is_list(cards),
        exchanges=is_list(cards),
        points=is_list(is_int()),
        scores=is_list(is_int()),
        result=either(
            is_null,
            is_object(
                winners=is_list(seat_number), places=is_list(positive), left=is_list(seat_number)
            ),
        ),
    ),
    "ack": is_object(),
    "replace": is_object(seat=seat_number, reason=is_one("left", "expelled", "unresponsive")),
    "dispute": is_object(hand_key=h32),
    "void": is_object(
        reason=is_one("no-reveal", "bad-reveal", "bad-pass", "dispute", "left", "operator"),
        seat=either(is_null, seat_number),
        seeds=is_map(shuffler_name, h64),
        hand_key=h32,
    ),
}

envelope = is_object(
    seq=natural,
    at=natural,
    prev=h32,
    by=party,
    type=is_one(*BODIES),
    seen=h32,
    body=lambda v: isinstance(v, dict),
    sig=h64,
    optional=["sig"],
)


def parse_transcript(data):
    """Check 1: the entries, or `Malformed`."""
    return entries_of(parse_file(data))


def parse_file(data):
    """3.5: the JSON of a file."""
    if len(data) > MAX_FILE:
        raise Malformed("more than 16 MiB")
    return parse_json(data)


def entries_of(value):
    """The entries of a transcript, or `Malformed`."""
    whole = is_object(fairdeal=is_int(1, 1), entries=is_list(envelope, 1, MAX_ENTRIES))
    if not whole(value):
        raise Malformed("not of the shape of a transcript")
    entries = value["entries"]
    for i, entry in enumerate(entries):
        if not BODIES[entry["type"]](entry["body"]):
            raise Malformed(f"entry {i}: the body has another shape")
    if entries[0]["type"] != "open" or entries[0]["by"] != "server":
        raise Malformed("the first entry is not an `open`")
    return entries


# ================================================================ 2. games


class Terms:
    """What `open` says of cards and rules. `refused` says whether 3.4 fails."""

    def __init__(self, body):
        self.body, self.rules, self.hand = body, body["rules"], body["hand"]
        self.hearts = self.rules["game"] == "hearts"
        self.n = len(body["seats"])
        self.deck, self.deck_bad = self._deck(body["deck"])
        self.count = Counter(self.deck)
        self.position = {}
        for i, card in enumerate(self.deck):
            self.position.setdefault(card, i)
        self.k = len(self.deck) // self.n
        self.left_over = len(self.deck) - self.k * self.n
        self.shufflers = ["house"] * body["house"] + [f"seat/{i}" for i in range(self.n)]
        self.offset = self._offset() if self.hearts else 0
        self.pass_count = self.rules["pass_count"] if self.hearts else 0
        self.moon = self.rules["moon"] if self.hearts else "none"
        self.first_card = self._first_card()
        self.total = sum(max(0, self.points(card)) for card in self.deck)
        self.refused = self.deck_bad or len(self.deck) < self.n
        self.refused = self.refused or (self.hearts and self._hearts_refused())

    @staticmethod
    def _deck(deck):
        """5.1: the canonical order, and whether the deck is not as in 5.1."""
        if "cards" in deck:
            listed = deck["cards"]
            bad = len(set(listed)) < len(listed) or len(set(map(len, listed))) > 1
            return listed, bad or len(listed) > 1024
        removed = deck["removed"]
        bad = len(set(removed)) < len(removed) or None in map(suit_of, removed)
        return [c for c in FRENCH if c not in removed] * deck["packs"], bad

    def _offset(self):
        cycle = self.rules["pass_cycle"]
        return cycle[(self.hand - 1) % len(cycle)]

    def _first_card(self):
        """The card that must begin the play, if the rules name one."""
        clubs = [card for card in self.deck if suit_of(card) == "C"]
        if not self.hearts or self.rules["first_lead"] != "lowest-club" or not clubs:
            return None
        return min(clubs, key=self.rank)

    def points(self, card):
        if not self.hearts:
            return 0
        return 1 if self.suit(card) == "H" else self.rules["card_points"].get(card, 0)

    def suit(self, card):
        """6.2.4: a card that is not in the deck has none."""
        return suit_of(card) if card in self.count else None

    def rank(self, card):
        return RANKS.index(card[0]) if self.suit(card) else -1

    def scoring(self, card):
        return self.points(card) > 0

    def _hearts_refused(self):
        """6.2 step 10."""
        rules, reset = self.rules, self.rules["exact_reset"]
        doubled = max(self.count.values(), default=0) > 1
        lowest_club = rules["first_lead"] == "lowest-club"
        named = rules["card_points"]
        return any(
            (
                any(suit_of(card) is None for card in self.deck),
                self.n < 3,
                any(card not in self.count or suit_of(card) == "H" for card in named),
                self.left_over and rules["kitty"] is None,
                lowest_club and (self.count[self.first_card] != 1 or self.left_over),
                any(offset >= self.n for offset in rules["pass_cycle"]),
                # READING: if any are passed by some offset of the cycle, in whatever hand.
                any(rules["pass_cycle"]) and rules["pass_count"] > self.k,
                rules["cancellation"] != doubled,
                rules["moon"] == "shooter-chooses" and rules["kitty"] is not None,
                rules["moon"] != "none" and not any(map(self.scoring, self.deck)),
                reset is not None
                and (
                    reset[1] >= reset[0]
                    or reset[1] >= rules["end_score"]
                    or reset[0] > rules["end_score"] - 1 + max(1, self.total)
                ),
            )
        )

    def scores_bad(self):
        """3.5."""
        scores = self.body["scores"]
        if not self.hearts:
            return bool(scores)
        return (
            len(scores) != self.n
            or (self.hand == 1 and any(scores))
            or any(s >= self.rules["end_score"] or abs(s) > MAX_INT // 2 for s in scores)
        )

    def ordered(self, some):
        """In canonical order (5.1)."""
        return sorted(some, key=lambda card: self.position.get(card, len(self.deck)))

    def in_deck(self, some):
        """Can these be taken out of the deck?"""
        return not Counter(some) - self.count

    def deal_in_order(self, some):
        return len(some) == self.k and self.in_deck(some)

    def pass_in_order(self, some):
        return len(some) == self.pass_count and self.in_deck(some) and some == self.ordered(some)

    def hands_of(self, deck):
        """5.2.5: the hands by seat, and the kitty."""
        dealt = deck[: self.k * self.n]
        return [dealt[seat :: self.n] for seat in range(self.n)], deck[self.k * self.n :]


def suit_of(card):
    """The suit of a French card, else None."""
    return card[1] if card in FRENCH else None


class Play:
    """What is public of the play of a hand: whose turn, the tricks, who took what."""

    def __init__(self, terms):
        self.terms = terms
        self.trick = []  # (seat, card)
        self.pile = []  # the tricks that stayed on the table (cancellation)
        self.taken = [[] for _ in range(terms.n)]
        self.played = [[] for _ in range(terms.n)]
        self.kitty_to = None
        self.tricks = 0
        self.broken = False
        self.winners = []
        everyone = set(range(terms.n))
        self.turn = everyone if terms.first_card else {terms.hand % terms.n}

    @property
    def nothing_played(self):
        return self.tricks == 0 and not self.trick

    @property
    def over(self):
        return self.tricks == self.terms.k

    def may_play_late(self, seat):
        """6.8: has this seat not played to the trick?"""
        return seat < self.terms.n and seat not in [s for s, _ in self.trick]

    def play(self, seat, card):
        n = self.terms.n
        self.trick.append((seat, card))
        self.played[seat].append(card)
        if len(self.trick) < n:
            # 6.8: the first seat from the leader to the left that has not played
            there, leader = {s for s, _ in self.trick}, self.trick[0][0]
            self.turn = {next(s % n for s in range(leader, leader + n) if s % n not in there)}
        else:
            self._end_trick()

    def _end_trick(self):
        """6.2 steps 4 to 6."""
        rules, suit = self.terms.rules, self.terms.suit
        cards_there = [card for _, card in self.trick]
        leader, winner = self.trick[0][0], self.winner()
        self.winners.append(winner)
        if "H" in map(suit, cards_there):
            led_hearts = suit(cards_there[0]) == "H"
            self.broken |= rules["hearts_broken_by"] == "heart" or not led_hearts
        self.broken |= rules["queen_breaks_hearts"] and "QS" in {c for c in cards_there if suit(c)}
        self.tricks += 1
        self.pile += cards_there
        # The kitty lies with the first or last trick until somebody takes that.
        if self.tricks == {"first-trick": 1, "last-trick": self.terms.k}.get(rules["kitty"]):
            self.kitty_to = "pile"
        if winner is None and self.over:
            winner = leader  # 6.2.5: the last trick then goes to its leader
        if winner is not None:
            self.taken[winner] += self.pile
            self.pile = []
            self.kitty_to = winner if self.kitty_to == "pile" else self.kitty_to
        self.trick = []
        self.turn = {leader if winner is None else winner}

    def winner(self):
        """6.2.5: the seat that takes the trick, or None."""
        suit, rank, led = self.terms.suit, self.terms.rank, self.trick[0][1]
        there = Counter(card for _, card in self.trick)
        best = None
        for seat, card in self.trick:
            if suit(card) != suit(led):
                continue
            if self.terms.rules["cancellation"] and there[card] > 1:
                continue
            if best is None or rank(card) > rank(best[1]):
                best = (seat, card)
        return best[0] if best else None

    def legal(self, hand):
        """6.2 steps 2 and 3: the cards of this hand that its seat may play now."""
        terms = self.terms
        if not self.trick:
            if self.nothing_played and terms.first_card:
                return [card for card in hand if card == terms.first_card]
            return self._leads(self._first_trick_ban(hand))
        led = terms.suit(self.trick[0][1])
        follow = [card for card in hand if terms.suit(card) == led]
        return self._first_trick_ban(follow or list(hand))

    def _first_trick_ban(self, allowed):
        if self.tricks > 0 or self.terms.rules["first_trick_points"] == "allowed":
            return allowed
        return [card for card in allowed if not self.terms.scoring(card)] or allowed

    def _leads(self, allowed):
        others = [card for card in allowed if self.terms.suit(card) != "H"]
        if self.broken or not others:
            return allowed
        if self.terms.rules["lead_from_points"] and set(others) == {"QS"}:
            return allowed
        return others

    def why_illegal(self, hand, card):
        """12.2: None if the card is legal, else the code of the first fault that applies."""
        if card in self.legal(hand):
            return None
        if not self.trick and self.nothing_played and self.terms.first_card:
            return "play-first-lead"
        if self.trick:
            suit, led = self.terms.suit, self.terms.suit(self.trick[0][1])
            if suit(card) != led and led in map(suit, hand):
                return "play-revoke"
            return "play-first-trick-points"
        if card not in self._first_trick_ban(hand):
            return "play-first-trick-points"
        return "play-hearts-unbroken"

    def shooter(self, kitty=()):
        """The one seat that took every scoring card, or None."""
        # READING: in a log in which not every card was played, "every" is of those taken.
        taken = enumerate(self.all_taken(kitty))
        takers = [seat for seat, some in taken if any(map(self.terms.scoring, some))]
        return takers[0] if len(takers) == 1 else None

    def all_taken(self, kitty):
        out = [list(some) for some in self.taken]
        if self.kitty_to is not None and kitty:
            out[self.kitty_to] += kitty
        return out

    def points(self, kitty, choice):
        """6.2.7."""
        terms = self.terms
        taken = self.all_taken(kitty)
        points = [sum(map(terms.points, some)) for some in taken]
        shooter = self.shooter(kitty)
        if shooter is None or terms.moon == "none":
            return points
        total = sum(p for p in map(terms.points, taken[shooter]) if p > 0)
        chosen = "add" if terms.moon == "others-add" else "subtract"
        chosen = choice if terms.moon == "shooter-chooses" else chosen
        if chosen == "subtract":
            points[shooter] -= 2 * total
            return points
        return [p - total if s == shooter else p + total for s, p in enumerate(points)]


def scores_after(terms, before, points):
    """6.2.8."""
    reset = terms.rules["exact_reset"]
    totals = [s + p for s, p in zip(before, points)]
    return [reset[1] if reset and total == reset[0] else total for total in totals]


def result_of(terms, points, scores, left):
    """6.2.9."""
    if all(score < terms.rules["end_score"] for score in scores):
        return None
    stay = [s for s in range(terms.n) if s not in left]
    lowest = min((scores[s] for s in stay), default=0)

    def rank(seat):
        last = terms.rules["tie"] == "last-hand" and scores[seat] == lowest
        return scores[seat], points[seat] if last else 0

    places = [
        1 + (sum(rank(s) < rank(seat) for s in stay) if seat in stay else len(stay))
        for seat in range(terms.n)
    ]
    winners = [s for s in range(terms.n) if places[s] == 1]
    return {"winners": winners, "places": places, "left": sorted(left)}


# ---------------------------------------------------------------- 6.3 policies

POLICIES = ("low/1", "random/1")


def by_rank(terms, some):
    return sorted(some, key=lambda card: (terms.rank(card), terms.position[card]))


def policy_pass(name, terms, words, hand):
    """The cards a policy passes, in canonical order."""
    if name == "low/1":
        return terms.ordered(by_rank(terms, hand)[len(hand) - terms.pass_count :])
    rest = terms.ordered(hand)
    out = [rest.pop(words.draw(len(rest))) for _ in range(terms.pass_count)]
    return terms.ordered(out)


def policy_play(name, terms, words, legal):
    if name == "low/1":
        return by_rank(terms, legal)[0]
    return terms.ordered(legal)[words.draw(len(legal))]


def policy_choose(name, words):
    if name == "low/1":
        return "add"
    return "add" if words.draw(2) == 0 else "subtract"


# ================================================================ 3. the verdict


class Log:
    """What can be said of the entries before their meaning is looked at."""

    def __init__(self, entries):
        self.entries = entries
        self.open = entries[0]["body"]
        self.server_key = self.open["server_key"]
        self.hand_id = message_hash(entries[0])
        self.messages = [message_hash(e) for e in entries]
        self.hashes = [entry_hash(e) for e in entries]
        self.before = [GENESIS, *self.hashes[:-1]]
        self.places = {}
        for i, hashed in enumerate(self.hashes):
            self.places.setdefault(hashed, []).append(i)
        # 7.2.1: where the unbroken run of each entry begins
        self.run = [0]
        for i in range(1, len(entries)):
            self.run.append(self.run[-1] if entries[i]["prev"] == self.before[i] else i)
        # set by `read_signatures`, when the replay has found whose each entry is
        self.authors, self.keys, self.signed, self.authentic, self.vouched = [], [], [], [], []

    def seen_place(self, i):
        """The place of the entry that entry i saw, or None."""
        place = self.places.get(self.entries[i]["seen"], [i])[0]
        return place if place < i else None

    def rooted(self, i):
        return self.run[i] == 0

    def read_signatures(self, authors, keys):
        """`signed[i]` is None (there is none), True or False (it does not verify)."""
        self.authors, self.keys, self.signed = authors, keys, []
        for entry, key, message in zip(self.entries, keys, self.messages):
            sig = entry.get("sig")
            good = sig and signature_good(bytes.fromhex(key), message, bytes.fromhex(sig))
            self.signed.append(good)
        every = range(len(self.entries))
        # How far, in each run, what was seen under each key's later signatures goes.
        reach = {}
        self.authentic = [None] * len(self.entries)
        for i in reversed(every):
            covered = self.rooted(i) and reach.get((keys[i], self.run[i]), -1) >= i
            self.authentic[i] = covered if self.signed[i] is None else self.signed[i]  # 7.2.2
            if self.signed[i]:
                for f in self.places.get(self.entries[i]["seen"], ()):
                    at = (keys[i], self.run[f])
                    reach[at] = max(f, reach.get(at, -1))
        self.vouched = [reach.get((self.server_key, self.run[i]), -1) >= i for i in every]  # 7.2.4

    def bound(self, i):
        """7.2.3."""
        seen = self.entries[i]["seen"]
        before = (place for place in self.places.get(seen, ()) if place < i)
        return self.authentic[i] and (seen == GENESIS or any(map(self.rooted, before)))

    def whole(self, i):
        """7.2.3."""
        servers = self.keys[i] == self.server_key
        return self.bound(i) and (not servers or self.entries[i]["seen"] == self.before[i])


class Findings:
    """Failures, kept raw until all that blame needs is known (7.2)."""

    def __init__(self):
        self.raw, self.notes = [], []

    def fail(self, check, code_, entries, blame=None, **more):
        """`blame`: None, "author", "place" or "vouched-author"; `of` is the entry it is about."""
        self.raw.append({"check": check, "code": code_, "entries": entries, "blame": blame, **more})

    def remark(self, check, code_, entries, attribution="unattributed"):
        # READING: a remark names no culprit, also the one whose silence the server states.
        self.notes.append((check, code_, sorted(entries), attribution))

    @staticmethod
    def culprit(log, raw_one):
        blame, entries = raw_one["blame"], raw_one["entries"]
        of = raw_one.get("of", entries[-1] if entries else None)
        if blame == "author":
            enough = {"authentic": log.authentic.__getitem__, "bound": log.bound}
            enough = enough.get(raw_one.get("enough"), log.whole)
            return log.authors[of] if all(map(enough, entries)) else None
        if blame == "place":
            return "server" if log.vouched[of] and log.rooted(of) else None
        if blame == "vouched-author":
            return "server" if log.whole(of) and log.vouched[of] and log.rooted(of) else None
        return None

    def findings(self, log):
        out, grouped = [], {}
        for one in self.raw:
            who = self.culprit(log, one) if log else None
            finding = {
                "code": one["code"],
                "check": one["check"],
                "culprits": [who] if who else [],
                "attribution": "proven" if who else "unattributed",
                "entries": sorted(one["entries"]),
            }
            # The last paragraph of check 6.
            if one["code"] in ("seen-unknown", "seen-not-previous"):
                first = grouped.setdefault((one["code"], who), finding)
                if first is not finding:
                    first["entries"] += finding["entries"]
                    continue
            out.append(finding)
        return sorted(out, key=finding_order)

    def remarks(self):
        out = [
            {"code": c, "check": check, "culprits": [], "attribution": a, "entries": entries}
            for check, c, entries, a in self.notes
        ]
        return sorted(out, key=finding_order)


def finding_order(finding):
    return finding["check"], finding["entries"], finding["code"], finding["culprits"]


def check_chain(log, out):
    """Check 2."""
    latest = 0
    for i, entry in enumerate(log.entries):
        if entry["prev"] != log.before[i]:
            out.fail(2, "chain-prev", [i])
        elif entry["seq"] != i:
            out.fail(2, "chain-seq", [i], "place")
        elif entry["at"] < latest:
            out.fail(2, "chain-time", [i], "place")
        latest = max(latest, entry["at"])


def check_terms(log, terms, out):
    """Check 3."""
    body = log.open
    persons = [seat["key"] for seat in body["seats"] if seat["kind"] == "person"]
    bots = [seat["key"] for seat in body["seats"] if seat["kind"] == "bot"]
    keys = [body["server_key"], *persons]
    for key in keys:
        if not signing_key_good(bytes.fromhex(key)):
            out.fail(3, "open-key", [0], "author")
    if len(set(keys)) < len(keys):
        out.fail(3, "open-key", [0], "author")
    # READING: one finding, however many bots' keys are wrong.
    if set(bots) - {body["server_key"]}:
        out.fail(3, "open-key", [0], "author")
    if not hand_key_good(bytes.fromhex(body["hand_key"])):
        out.fail(3, "open-hand-key", [0], "author")
    if body["previous"] is None and (body["hand"], body["attempt"]) != (1, 1):
        out.fail(3, "open-previous", [0], "author")
    if terms.refused:
        out.fail(3, "open-terms", [0], "author")
    if terms.scores_bad():
        out.fail(3, "open-scores", [0], "author")


def check_signatures(log, out):
    """Checks 4 and 5."""
    for i, good in enumerate(log.signed):
        if good is False:
            out.fail(4, "signature-invalid", [i])
        if good is None and not log.authentic[i]:
            out.fail(5, "signature-missing", [i])


# ---------------------------------------------------------------- checks 6, 7 and the public of 12


class Replay:
    """The phases of 4.1, entry by entry."""

    def __init__(self, log, terms, out):
        self.log, self.terms, self.out = log, terms, out
        self.seats = log.open["seats"]
        self.phase = "start"
        self.replaced = {}  # seat: entry
        self.commits, self.reveals, self.passes, self.acks = {}, {}, {}, set()
        self.commit_base = self.last_commit = self.pass_base = self.turn_entry = None
        self.deal = self.exchange = self.choice = self.dispute = self.end = None
        self.bots_at_deal = []
        self.phase_before_end = None
        self.dead = False  # a seed is lost: only other reveals, `replace` and `void` can follow
        self.play = None
        self.plays = []  # entries of the plays that took effect
        self.astray = None  # the first entry that led the log astray
        self.authors, self.keys = [], []
        self.asked_after = []  # after each entry: {(seat, type): the entries to have seen}
        self.slots, self.singles = {}, {}  # messages, for 6.1 and 7.1
        self.disputes = []  # (entry, seat, entry seen)
        self.used = {}  # seat: ms of reserve that its decisions used
        self.expulsions = []  # (entry, seat, used)
        self.failed_plays = set()
        self.public_fault = False

    # -- who is who

    def is_person(self, seat):
        there = seat < self.terms.n and self.seats[seat]["kind"] == "person"
        return there and seat not in self.replaced

    def persons(self):
        return [seat for seat in range(self.terms.n) if self.is_person(seat)]

    def seat_of(self, entry):
        return int(entry["by"][5:]) if entry["by"].startswith("seat/") else None

    def owner(self, entry):
        """3.1: author and key."""
        seat = self.seat_of(entry)
        if seat is not None and self.is_person(seat):
            return entry["by"], self.seats[seat]["key"]
        return "server", self.log.server_key

    # -- what 4.1 asks for

    def first_committers(self):
        """House and the bots of `open` that have not committed."""
        bots = [f"seat/{i}" for i, s in enumerate(self.seats) if s["kind"] == "bot"]
        house = ["house"] * self.log.open["house"]
        return [who for who in house + bots if who not in self.commits]

    def first_passers(self):
        return [seat for seat in self.bots_at_deal if seat not in self.passes]

    def asked(self, seat, kind):
        """The entries of which a person of this seat may have seen one if it says this now."""
        phase, fitting = self.phase, None
        if phase == "closed":
            fitting = self.end if kind == "ack" and seat not in self.acks else None
        elif self.dispute is not None or phase == "voided" or (self.dead and kind != "reveal"):
            return set()
        elif kind == "dispute":
            return {self.deal, self.exchange} - {None}
        elif kind != phase:
            return set()
        elif (
            kind == "commit" and not self.first_committers() and f"seat/{seat}" not in self.commits
        ):
            fitting = self.commit_base
        elif kind == "reveal" and seat not in self.reveals:
            fitting = self.last_commit
        elif kind == "pass" and not self.first_passers() and seat not in self.passes:
            fitting = self.pass_base
        elif (kind == "play" and seat in self.play.turn) or (
            kind == "choose" and seat == self.play.shooter()
        ):
            fitting = self.turn_entry
        return {fitting} - {None}

    def asked_of_all(self):
        kinds = ("commit", "reveal", "pass", "play", "choose", "dispute", "ack")
        return {(seat, kind): self.asked(seat, kind) for seat in self.persons() for kind in kinds}

    def server_fits(self, entry):
        """Do phase and author of an entry under the server's key fit?"""
        kind, by, phase = entry["type"], entry["by"], self.phase
        if kind == "open":
            return phase == "start"
        if phase in ("start", "closed", "voided"):
            return False
        if kind == "void":
            return by == "server"
        if self.dispute is not None:
            return False
        if kind == "replace":
            return by == "server"
        if kind != phase or self.dead:
            return False
        if kind in ("deal", "exchange", "close"):
            return by == "server"
        seat = self.seat_of(entry)
        if kind == "commit":
            late = [f"seat/{s}" for s in self.replaced if f"seat/{s}" not in self.commits]
            return by in self.first_committers()[:1] + late
        if kind == "pass":
            late = [s for s in self.replaced if s not in self.bots_at_deal and s not in self.passes]
            return seat in self.first_passers()[:1] + late
        if kind == "play":
            return seat in self.play.turn
        return kind == "choose" and seat is not None and seat == self.play.shooter()

    # -- the steps

    def run(self):
        for i, entry in enumerate(self.log.entries):
            author, key = self.owner(entry)
            self.authors.append(author)
            self.keys.append(key)
            # 3.4: after refused terms nothing more is replayed. READING: no `replace` takes effect.
            if not (i and self.terms.refused):
                self.step(i, entry, author, key)
                self.asked_after.append(self.asked_of_all())

    def step(self, i, entry, author, key):
        if self.stands_already(i, entry, author, key):
            self.led_astray(i)
            return
        self.note_dispute(i, entry)
        fits, astray = self.judge_place(i, entry, author)
        if fits and not astray:
            self.judge_body(i, entry, author)
        seat, kind = self.seat_of(entry), entry["type"]
        late = kind == self.phase == "play" and self.dispute is None and seat is not None
        if fits or (late and self.play.may_play_late(seat)):
            self.take_effect(i, entry, author, fits)
        if astray:
            self.led_astray(i)

    def led_astray(self, i):
        self.astray = i if self.astray is None else self.astray

    def note_dispute(self, i, entry):
        # READING: check 18 looks at a dispute also where it does not fit, or where the seat has
        # become the server's since, but only at one of a `deal` or `exchange` that took effect.
        seen, seat = self.log.seen_place(i), self.seat_of(entry)
        of = seen is not None and seen in (self.deal, self.exchange)
        if entry["type"] == "dispute" and of and seat is not None and seat < self.terms.n:
            person = self.seats[seat]["kind"] == "person"
            if person and self.replaced.get(seat, seen) >= seen:
                self.disputes.append((i, seat, seen))

    def stands_already(self, i, entry, author, key):
        """6.1 and 7.1: True if this entry is to be judged by them alone."""
        # READING: an entry is held against the first other message it cannot stand beside, of
        # equal `seen` if there is one, and gives one finding.
        kind, by = entry["type"], entry["by"]
        slot = self.slots.setdefault((key, by, kind, entry["seen"]), [])
        message = self.log.messages[i]
        for j in slot:
            if self.log.messages[j] == message:
                self.out.fail(6, "repeated", [j, i], "place")
                return True
        alike = [j for j in slot if kind != "open" or self.of_one_attempt(i, j)]
        earlier, same_slot = alike[:1], True
        slot.append(i)
        single = None
        if self.log.seen_place(i) is not None:
            if author == by == "server" and kind in ("deal", "exchange", "close", "void"):
                single = ("end" if kind in ("close", "void") else kind,)
            if author != "server" and kind in ("commit", "reveal"):
                single = (key, by, kind)
        if single:
            others = self.singles.setdefault(single, [])
            if not earlier:
                earlier, same_slot = others[:1], False
            others.append(i)
        if earlier:
            enough = "authentic" if same_slot else "bound"
            self.out.fail(7, "equivocation", [earlier[0], i], "author", enough=enough)
        return bool(earlier)

    def of_one_attempt(self, i, j):
        """Two `open`s: of one table, game, hand and attempt?"""
        one, other = (self.log.entries[x]["body"] for x in (i, j))
        return all(one[name] == other[name] for name in ("table", "game", "hand", "attempt"))

    def judge_place(self, i, entry, author):
        """6.2 to 6.6: does it fit, and does it lead the log astray?"""
        if author != "server":
            return self.judge_person(i, entry)
        fits = self.server_fits(entry)
        if entry["seen"] != self.log.before[i]:
            self.out.fail(6, "seen-not-previous", [i], "place")
        elif fits:
            return True, False
        elif self.astray is not None:
            self.out.fail(6, "out-of-place", [i])
        else:
            self.out.fail(6, self.out_of_turn(), [i], "author")
        return fits, True

    def judge_person(self, i, entry):
        seat, kind = self.seat_of(entry), entry["type"]
        seen, now = self.log.seen_place(i), self.asked(seat, kind)
        if seen is None:
            self.out.fail(6, "seen-unknown", [i])
        elif self.astray is not None and seen >= self.astray:
            if now:
                return True, False
            self.out.fail(6, "out-of-place", [i])  # READING: "fails" alone names nobody
        elif seen not in self.asked_after[seen].get((seat, kind), ()):
            # READING: "to say this" means with this `seen`: 4.1 says which entry that is.
            self.out.fail(6, self.out_of_turn(), [i], "author")
        elif seen not in now:
            self.out.fail(6, "out-of-place", [i], "place")
        else:
            return True, False
        return bool(now), True

    def out_of_turn(self):
        # READING: ended here, in the order of the log, whatever the author had seen.
        return "after-end" if self.end is not None else "out-of-turn"

    # -- 6.7, and check 12 by what is public

    def judge_body(self, i, entry, author):
        body, kind = entry["body"], entry["type"]
        person, n = author != "server", self.terms.n

        def fail(code_, check=6):
            self.out.fail(check, code_, [i], "author")

        if kind == "commit":
            if ("hand_key" in body) != person:
                fail("body-form")
            if "hand_key" in body and not hand_key_good(bytes.fromhex(body["hand_key"])):
                fail("commit-hand-key")
        elif kind == "pass":
            if ("sealed" in body) != person:
                fail("body-form")
        elif kind in ("deal", "exchange"):
            sealed = ["sealed" in hand for hand in body["hands"]]
            if sealed != [self.is_person(seat) for seat in range(n)]:
                fail("body-form")
        elif kind == "close":
            exchanged = n if self.exchange is not None else 0
            counts = [len(body[name]) for name in ("deals", "passes", "exchanges")]
            if set(body["seeds"]) != set(self.terms.shufflers) or counts != [
                n,
                exchanged,
                exchanged,
            ]:
                fail("close-form")
        elif kind == "replace":
            if not self.is_person(body["seat"]):
                fail("replace-nobody")
        elif kind == "void":
            if not self.void_reason_good(body["reason"], body["seat"]):
                fail("void-reason")
        elif kind == "play":
            fault = self.public_fault_of(self.seat_of(entry), body["card"])
            if fault:
                self.out.fail(12, fault, [i], None if fault == "card-twice" else "author")
                self.failed_plays.add(i)
                self.public_fault = True

    def void_reason_good(self, reason, seat):
        if (reason == "dispute") != (self.dispute is not None):
            return False
        if reason == "operator":
            return seat is None
        if seat is None or seat >= self.terms.n:
            return False
        if reason == "dispute":
            return seat == self.dispute
        if reason == "no-reveal":
            # READING: "a person" also if it has been replaced since it committed.
            return self.committed_itself(seat) and seat not in self.reveals
        if reason == "bad-reveal":
            return seat in self.reveals
        return seat in self.passes if reason == "bad-pass" else True

    def committed_itself(self, seat):
        entry = self.commits.get(f"seat/{seat}")
        return entry is not None and self.authors[entry] != "server"

    def public_fault_of(self, seat, card):
        """Check 12, first paragraph."""
        play, count = self.play, self.terms.count
        if card not in count:
            return "play-unknown-card"
        if play.nothing_played and self.terms.first_card not in (None, card):
            return "play-first-lead"
        if play.played[seat].count(card) >= count[card]:
            return "play-not-held"
        if sum(some.count(card) for some in play.played) >= count[card]:
            return "card-twice"
        return None

    # -- 6.8

    def take_effect(self, i, entry, author, fits):
        kind, seat = entry["type"], self.seat_of(entry)
        self.count_time(i, kind, seat, fits)
        if kind == "open":
            self.phase, self.commit_base = "commit", None if self.first_committers() else 0
        elif kind == "commit":
            first = entry["by"] in self.first_committers()
            self.commits[entry["by"]] = self.last_commit = i
            if first and not self.first_committers():
                self.commit_base = i
            if len(self.commits) == len(self.terms.shufflers):
                self.phase = "reveal"
                self.end_reveal()
        elif kind == "reveal":
            self.reveals[seat] = i
            self.end_reveal()
        elif kind == "deal":
            self.deal = self.turn_entry = i
            self.bots_at_deal = [s for s in range(self.terms.n) if not self.is_person(s)]
            self.pass_base = None if self.bots_at_deal else i
            self.phase = "pass" if self.terms.offset else "play" if self.terms.hearts else "close"
            self.play = Play(self.terms) if self.terms.hearts else None
        elif kind == "pass":
            self.passes[seat] = i
            if seat in self.bots_at_deal and not self.first_passers():
                self.pass_base = i
            if len(self.passes) == self.terms.n:
                self.phase = "exchange"
        elif kind == "exchange":
            self.exchange = self.turn_entry = i
            self.phase = "play"
        elif kind == "play":
            self.play.play(seat, entry["body"]["card"])
            self.plays.append(i)
            self.turn_entry = i
            if self.play.over:
                choose = self.terms.moon == "shooter-chooses" and self.play.shooter() is not None
                self.phase = "choose" if choose else "close"
        elif kind == "choose":
            self.choice = i
            self.phase = "close"
        elif kind in ("close", "void"):
            self.end, self.phase_before_end = i, self.phase
            self.phase = "closed" if kind == "close" else "voided"
        elif kind == "ack":
            self.acks.add(seat)
        elif kind == "dispute":
            self.dispute = seat
        elif kind == "replace":
            self.replace(i, entry["body"])

    def end_reveal(self):
        # READING: where a seed is lost, no reveal is the last one (17.6).
        due = [seat for seat in self.persons() if self.committed_itself(seat)]
        if not self.dead and all(seat in self.reveals for seat in due):
            self.phase = "deal"

    def replace(self, i, body):
        seat = body["seat"]
        if not self.is_person(seat):
            return
        if body["reason"] != "left" and self.deal is not None:
            now = self.spent(self.at_decision(seat), i)
            self.expulsions.append((i, self.used.get(seat, 0) + now))
        self.replaced[seat] = i
        self.dead |= self.committed_itself(seat) and seat not in self.reveals

    # -- 4.3 and check 14

    def at_decision(self, seat):
        """The entry that put the seat on turn, or None if it is at no decision."""
        if self.phase == "pass":
            early = self.first_passers() and seat not in self.bots_at_deal
            return None if early or seat in self.passes else self.deal
        waits = self.phase == "play" and seat in self.play.turn
        waits = waits or (self.phase == "choose" and seat == self.play.shooter())
        return self.turn_entry if waits else None

    def spent(self, start, end):
        """The reserve that the time between two entries uses."""
        clock, entries = self.log.open["clock"], self.log.entries
        if clock is None or start is None:
            return 0
        return max(0, entries[end]["at"] - entries[start]["at"] - clock["grace_ms"])

    def count_time(self, i, kind, seat, fits):
        if fits and kind in ("pass", "play", "choose"):
            self.used[seat] = self.used.get(seat, 0) + self.spent(self.at_decision(seat), i)


# ---------------------------------------------------------------- checks 8 to 16: a closed log


class Closed:
    """A log that a `close` ended."""

    def __init__(self, replay):
        self.r, self.log, self.terms, self.out = replay, replay.log, replay.terms, replay.out
        self.entries, self.hand_id = self.log.entries, self.log.hand_id
        self.body, self.end = self.entries[replay.end]["body"], replay.end
        self.seats = range(self.terms.n)
        self.seeds = {}  # those that passed 8.1
        self.dealt, self.passed, self.received = {}, {}, {}  # what is known
        self.computed = self.kitty = None  # what the seeds give, if all passed 8.1

    def fail(self, check, code_, entries, of=None):
        self.out.fail(check, code_, entries, "author", of=self.end if of is None else of)

    def run(self):
        self.check_seeds()
        self.shuffle()
        if self.all_opened():
            self.check_deal()
            if self.r.exchange is not None:
                self.check_passes()
                self.check_exchange()
        if self.terms.hearts:
            self.check_plays()
            self.check_bots()
        self.check_score()
        self.check_result()

    def check_seeds(self):
        """8.1."""
        for who in self.terms.shufflers:
            commit = self.r.commits[who]
            seed = self.body["seeds"].get(who)
            if seed is None:
                continue
            if seed_opens(self.log, who, seed, commit):
                self.seeds[who] = bytes.fromhex(seed)
            else:
                self.fail(8, "seed-mismatch", [commit, self.end])

    def shuffle(self):
        """5.2, if all seeds passed 8.1."""
        if len(self.seeds) == len(self.terms.shufflers):
            pairs = [(who, self.seeds[who]) for who in self.terms.shufflers]
            deck = shuffled(self.terms.deck, self.hand_id, pairs)
            self.computed, self.kitty = self.terms.hands_of(deck)

    def all_opened(self):
        """Does `close` open as many as there are seats?"""
        # READING: of every kind that there must be, or none of the checks 9 to 11 is run.
        names = ("deals",) if self.r.exchange is None else ("deals", "passes", "exchanges")
        return all(len(self.body[name]) == self.terms.n for name in names)

    def opening(self, kind, seat, commitment):
        """The opening stated in `close`, if it opens the commitment."""
        stated = self.body[{"deal": "deals", "pass": "passes", "exchange": "exchanges"}[kind]]
        if commitment is None:
            return None
        good = opens_cards(kind, self.hand_id, self.terms, seat, stated[seat], commitment)
        return stated[seat]["cards"] if good else None

    def check_deal(self):
        """Check 9."""
        for seat in self.seats:
            commitment = hand_commitment(self.entries[self.r.deal], seat)
            some = self.opening("deal", seat, commitment)
            if some is None:
                self.fail(9, "deal-opening", [self.r.deal, self.end])
                continue
            if self.computed is not None and some != self.computed[seat]:
                self.fail(9, "deal-cards", [self.r.deal, self.end])
            if self.terms.deal_in_order(some):
                self.dealt[seat] = some

    def check_passes(self):
        """Check 10."""
        for seat in self.seats:
            entry = self.r.passes[seat]
            some = self.opening("pass", seat, self.entries[entry]["body"]["commitment"])
            if some is None:
                self.fail(10, "pass-opening", [entry, self.end])
                continue
            held = seat not in self.dealt or not Counter(some) - Counter(self.dealt[seat])
            if self.terms.pass_in_order(some) and held:
                self.passed[seat] = some
            else:
                self.fail(10, "pass-cards", [entry], entry)

    def check_exchange(self):
        """Check 11."""
        for seat in self.seats:
            commitment = hand_commitment(self.entries[self.r.exchange], seat)
            some = self.opening("exchange", seat, commitment)
            giver = (seat - self.terms.offset) % self.terms.n
            if some is None:
                self.fail(11, "exchange-opening", [self.r.exchange, self.end])
            elif giver in self.passed and some != self.passed[giver]:
                self.fail(11, "exchange-cards", [self.r.exchange, self.end])
            else:
                self.received[seat] = some

    def first_hand(self, seat):
        """The cards the seat has when the play begins, if they are known."""
        if seat not in self.dealt:
            return None
        if self.r.exchange is None:
            return list(self.dealt[seat])
        if seat not in self.passed or seat not in self.received:
            return None
        rest = Counter(self.dealt[seat]) - Counter(self.passed[seat])
        return list(rest.elements()) + self.received[seat]

    def plays(self):
        """Each play that took effect: entry, seat, card, the play before it, the hand before it."""
        play = Play(self.terms)
        held = [self.first_hand(seat) for seat in self.seats]
        for i in self.r.plays:
            seat, card = self.r.seat_of(self.entries[i]), self.entries[i]["body"]["card"]
            yield i, seat, card, play, held[seat]
            if held[seat] is not None and card in held[seat]:
                held[seat].remove(card)
            play.play(seat, card)

    def check_plays(self):
        """12.1 and 12.2."""
        # READING: `repeated` and `equivocation` are found at the later of two entries, and the
        # earlier one is judged here all the same.
        bad = {f["entries"][-1] for f in self.out.raw if f["check"] in (6, 7)} | self.r.failed_plays
        for i, _, card, play, held in self.plays():
            if i in bad or held is None:
                continue
            fault = "play-not-held" if card not in held else play.why_illegal(held, card)
            if fault:
                self.fail(12, fault, [i], i)

    def check_bots(self):
        """Check 13."""
        faulty = self.r.public_fault or any(f["check"] in (3, 6, 7) for f in self.out.raw)
        if faulty or any(self.first_hand(seat) is None for seat in self.seats):
            return
        for seat in self.seats:
            if self.r.is_person(seat):
                continue
            since = self.r.replaced.get(seat, 0)
            name = self.log.open["seats"][seat].get("policy", self.log.open["substitute"])
            if name not in POLICIES:
                # READING: a remark for each such seat, where the check is run at all.
                self.out.remark(13, "policy-unknown", [since])
            elif f"seat/{seat}" in self.seeds:
                self.check_bot(seat, name, since)

    def check_bot(self, seat, name, since):
        terms = self.terms
        words = policy_words(self.seeds[f"seat/{seat}"], self.hand_id, seat)
        entry = self.r.passes.get(seat, -1)
        if entry > since and self.passed[seat] != policy_pass(name, terms, words, self.dealt[seat]):
            self.fail(13, "policy-departed", [entry, self.end], entry)
            return
        for i, who, card, play, held in self.plays():
            if who == seat and i > since:
                legal = play.legal(held)
                if not legal or card != policy_play(name, terms, words, legal):
                    self.fail(13, "policy-departed", [i, self.end], i)
                    return
        i = self.r.choice
        mine = i is not None and i > since and self.r.seat_of(self.entries[i]) == seat
        if mine and self.entries[i]["body"]["moon"] != policy_choose(name, words):
            self.fail(13, "policy-departed", [i, self.end], i)

    def check_score(self):
        """Check 15."""
        stated, terms = self.body, self.terms
        if not terms.hearts:
            if stated["points"]:
                self.fail(15, "points-wrong", [self.end])
            elif stated["scores"]:
                self.fail(15, "scores-wrong", [self.end])
            return
        choice = None if self.r.choice is None else self.entries[self.r.choice]["body"]["moon"]
        needs_kitty = terms.rules["kitty"] is not None and terms.left_over
        # READING: if the kitty counts and the seeds do not give it, 15.1 is not run.
        if self.kitty is not None or not needs_kitty:
            kitty = self.kitty if needs_kitty else ()
            if stated["points"] != self.r.play.points(kitty, choice):
                self.fail(15, "points-wrong", [self.end])
        before, points = self.log.open["scores"], stated["points"]
        countable = len(points) == len(before) == terms.n
        if countable and stated["scores"] != scores_after(terms, before, points):
            self.fail(15, "scores-wrong", [self.end])

    def check_result(self):
        """Check 16."""
        stated = self.body
        due = self.terms.n if self.terms.hearts else 0
        if {len(stated["points"]), len(stated["scores"])} != {due}:
            return
        expected = None
        if self.terms.hearts:
            bots = [s for s in self.seats if self.log.open["seats"][s]["kind"] == "bot"]
            named = stated["result"]["left"] if stated["result"] else []
            left = set(self.r.replaced) | {s for s in bots if s in named}
            expected = result_of(self.terms, stated["points"], stated["scores"], left)
        if stated["result"] != expected:
            self.fail(16, "result-wrong", [self.end])


def seed_opens(log, who, seed, commit):
    commitment = log.entries[commit]["body"]["commitment"]
    return commit_seed(log.hand_id, who, bytes.fromhex(seed)).hex() == commitment


def hand_commitment(entry, seat):
    there = entry["body"]["hands"]
    return there[seat]["commitment"] if seat < len(there) else None


def hand_box(entry, seat):
    there = entry["body"]["hands"]
    return there[seat].get("sealed") if seat < len(there) else None


def check_copies(replay):
    """8.2."""
    # READING: each copy is remarked on once, beside the first commit it equals.
    first = {}
    for commit in sorted(replay.commits.values()):
        commitment = replay.log.entries[commit]["body"]["commitment"]
        if commitment in first:
            replay.out.remark(8, "commitment-copied", [first[commitment], commit])
        first.setdefault(commitment, commit)


# ---------------------------------------------------------------- checks 14, 17, 18


def check_clock(replay):
    """Check 14."""
    clock = replay.log.open["clock"]
    for i, used in replay.expulsions if clock else ():
        if used < clock["reserve_ms"]:
            replay.out.fail(14, "expelled-early", [i], "vouched-author")


def read_cards(log, terms, kind, private, seat, commitment, sealed, recipient, sender):
    """The cards of a sealed opening, if the box opens, holds JCS(CARDS) and opens its commitment."""
    if sealed is None or commitment is None:
        return None
    info = seal_info(kind, log.hand_id, recipient, sender)
    plain = unseal(private, info, bytes.fromhex(sealed))
    try:
        opening = parse_json(plain or b"")
    except Malformed:
        return None
    if not cards(opening) or jcs(opening) != plain:
        return None
    good = opens_cards(kind, log.hand_id, terms, seat, opening, commitment)
    return opening["cards"] if good else None


def void_key_wrong(log, body):
    """17.1."""
    return public_of(bytes.fromhex(body["hand_key"])).hex() != log.open["hand_key"]


class Voided:
    """Check 17: a log that a `void` ended."""

    def __init__(self, replay):
        self.r, self.log, self.terms, self.out = replay, replay.log, replay.terms, replay.out
        self.end, self.entries = replay.end, replay.log.entries
        self.body = self.entries[self.end]["body"]
        self.private = bytes.fromhex(self.body["hand_key"])
        self.good_reveals, self.good_passes, self.given_up = set(), {}, None

    def fail(self, code_, entries, of=None):
        self.out.fail(17, code_, entries, "author", of=self.end if of is None else of)

    def run(self):
        if void_key_wrong(self.log, self.body):
            self.fail("void-key", [0, self.end])
            return None
        self.given_up = self.deck()
        self.reveals()
        self.seeds()
        self.passes()
        self.after_reveals(self.unfounded())
        if self.body["reason"] in ("no-reveal", "left"):
            self.out.remark(17, "silence", [self.end], "server's word")
        return self.given_up

    def reveals(self):
        """17.2."""
        for seat, entry in sorted(self.r.reveals.items()):
            who = f"seat/{seat}"
            info = seal_info("reveal", self.log.hand_id, "server", who)
            seed = unseal(self.private, info, bytes.fromhex(self.entries[entry]["body"]["sealed"]))
            commit = self.r.commits[who]
            if (
                seed is not None
                and len(seed) == 64
                and seed_opens(self.log, who, seed.hex(), commit)
            ):
                self.good_reveals.add(seat)
            else:
                self.fail("bad-reveal", [commit, entry, self.end], entry)

    def seeds(self):
        """17.3."""
        stated, commits = self.body["seeds"], self.r.commits
        due = {who for who, i in commits.items() if self.r.authors[i] == "server"}
        due |= {f"seat/{seat}" for seat in self.good_reveals}
        for who in sorted(due | set(stated)):
            opens = who in stated and who in commits
            if not (opens and seed_opens(self.log, who, stated[who], commits[who])):
                self.fail("void-seeds", [self.end])

    def passes(self):
        """17.4."""
        for seat, entry in sorted(self.r.passes.items()):
            if self.r.authors[entry] == "server":
                continue
            body = self.entries[entry]["body"]
            args = (body["commitment"], body.get("sealed"), "server", f"seat/{seat}")
            some = read_cards(self.log, self.terms, "pass", self.private, seat, *args)
            if some is not None and self.terms.pass_in_order(some):
                self.good_passes[seat] = some
            else:
                self.fail("bad-pass", [entry, self.end], entry)

    def deck(self):
        """17.8: the deck that the seeds give, or None if they are not all known."""
        stated, commits, who = self.body["seeds"], self.r.commits, self.terms.shufflers
        known = all(w in stated and w in commits for w in who)
        if not known or not all(seed_opens(self.log, w, stated[w], commits[w]) for w in who):
            return None
        pairs = [(w, bytes.fromhex(stated[w])) for w in who]
        return shuffled(self.terms.deck, self.log.hand_id, pairs)

    def unfounded(self):
        """17.5; True if it was the last failure of it: the deal stays closed."""
        reason, seat = self.body["reason"], self.body["seat"]
        if reason == "bad-reveal" and seat in self.good_reveals:
            self.fail("void-unfounded", [self.r.reveals[seat], self.end])
        if reason != "bad-pass" or seat not in self.good_passes:
            return False
        hands_now = self.given_up and self.terms.hands_of(self.given_up)[0]
        if hands_now and not Counter(self.good_passes[seat]) - Counter(hands_now[seat]):
            self.fail("void-unfounded", [self.r.passes[seat], self.end])
            return False
        self.out.fail(17, "bad-pass", [self.end])
        return True

    def after_reveals(self, closed_deal):
        """17.6."""
        if self.r.deal is None and self.r.phase_before_end != "deal":
            return
        # READING: "before it" is before the void: a finding on the void alone excuses nothing.
        excused = any(
            f["attribution"] == "proven" and 2 <= f["check"] <= 17 and f["entries"][0] < self.end
            for f in self.out.findings(self.log)
        )
        if self.r.dispute is None and not excused and not closed_deal:
            blame = None if self.out.raw else "author"
            entries = [*self.r.reveals.values(), self.end]
            self.out.fail(17, "void-after-reveals", entries, blame, of=self.end)


def check_disputes(replay):
    """Check 18."""
    for i, seat, seen in replay.disputes:
        check_dispute(replay, i, seat, seen)


def check_dispute(replay, i, seat, seen):
    log, terms, entries = replay.log, replay.terms, replay.log.entries
    private, commit = bytes.fromhex(entries[i]["body"]["hand_key"]), replay.commits[f"seat/{seat}"]
    if public_of(private).hex() != entries[commit]["body"].get("hand_key"):
        replay.out.fail(18, "dispute-key", [commit, i], "author", of=i)
        return

    def opened(entry):
        kind, at = entry["type"], (hand_commitment(entry, seat), hand_box(entry, seat))
        return read_cards(log, terms, kind, private, seat, *at, f"seat/{seat}", "server")

    some = opened(entries[seen])
    if some is None:
        good = False
    elif entries[seen]["type"] == "deal":
        good = terms.deal_in_order(some)
    else:
        dealt = opened(entries[replay.deal]) or []
        good = terms.pass_in_order(some) and terms.in_deck(dealt + some)
    if good:
        replay.out.fail(18, "dispute-unfounded", [commit, seen, i], "author", of=i)
    else:
        replay.out.fail(18, "dispute-founded", [commit, seen, i], "author", of=seen)


# ---------------------------------------------------------------- the whole


def check_pins(log, out, server_key, seat_keys):
    """Check 19."""
    if server_key is not None and server_key != log.server_key:
        out.fail(19, "pin-server-key", [0])
    seats = log.open["seats"]
    for seat, key in sorted((seat_keys or {}).items()):
        if int(seat) >= len(seats) or seats[int(seat)]["key"] != key:
            out.fail(19, "pin-seat-key", [0])


def check_head(log, out, head):
    """Check 21; `head` is an entry hash, or {"seq", "hash"}."""
    place = log.places.get(head["hash"] if isinstance(head, dict) else head, [None])[0]
    if place is None:
        out.fail(21, "head-missing", [len(log.entries) - 1])
    elif any(entry["type"] != "ack" for entry in log.entries[place + 1 :]):
        out.fail(21, "head-passed", [place + 1])


def check_record(log, replay, out, record):
    """Check 20; `record` is a seat's own record. Raises Malformed if it is of another hand."""
    if record["hand"] != log.hand_id.hex():
        raise Malformed("the record is of another hand")
    seat, last = record["seat"], len(log.entries) - 1
    who, seats = f"seat/{seat}", log.open["seats"]
    own = seat < len(seats) and seats[seat]["kind"] == "person" and seats[seat]["key"]
    if own != record["key"]:
        out.fail(20, "record-key", [0])
    head = record["head"]
    if log.places.get(head["hash"], [None])[0] != head["seq"]:
        out.fail(20, "record-head", [min(head["seq"], last)])
    sent = {message_hash(one): one for one in record["sent"]}
    for i, author in enumerate(replay.authors):
        if author == who and log.messages[i] not in sent:
            out.fail(20, "record-message", [i])
    if replay.end is None or log.entries[replay.end]["type"] != "close":
        return
    for hashed, one in sent.items():
        if one["type"] == "dispute" and hashed not in log.messages:
            out.fail(20, "record-message", [replay.end])
    check_recorded_close(log.entries[replay.end]["body"], replay, out, record)


def check_recorded_close(close, replay, out, record):
    """20.4 and 20.5."""
    seat, who = record["seat"], f"seat/{record['seat']}"
    revealed = seat in replay.reveals and replay.authors[replay.reveals[seat]] == who
    if revealed and close["seeds"].get(who) != record["seed"]:
        out.fail(20, "record-seed", [replay.end])
    passed = seat in replay.passes and replay.authors[replay.passes[seat]] == who
    for name, mine in (
        ("deals", record["dealt"]),
        ("passes", record["passed"] if passed else None),
        ("exchanges", record["received"]),
    ):
        if mine is not None and (seat >= len(close[name]) or close[name][seat] != mine):
            out.fail(20, "record-cards", [replay.end])


def verdict(status, findings, remarks, head, given_up=None):
    return {
        "status": status,
        "findings": findings,
        "remarks": remarks,
        "head": head,
        "given_up": given_up,
    }


def verify(data, **pins):
    """Section 7.3. Keys and hashes to pin are hexadecimal; `record` is a seat's own record."""
    try:
        entries = parse_transcript(data)
    except Malformed:
        return malformed()
    return judged(entries, **pins)[0]


def malformed():
    """Check 1 failed."""
    out = Findings()
    out.fail(1, "malformed", [])
    return verdict("malformed", out.findings(None), [], None)


def judged(entries, *, server_key=None, seat_keys=None, head=None, record=None):
    """The verdict on a log, and its replay."""
    out = Findings()
    log = Log(entries)
    terms = Terms(log.open)
    replay = Replay(log, terms, out)
    replay.run()
    log.read_signatures(replay.authors, replay.keys)
    check_chain(log, out)
    check_terms(log, terms, out)
    check_signatures(log, out)
    given_up = None
    if not terms.refused:
        ended = None if replay.end is None else entries[replay.end]["type"]
        check_copies(replay)
        if ended == "close":
            Closed(replay).run()
        check_clock(replay)
        if ended == "void":
            given_up = Voided(replay).run()
        check_disputes(replay)
    check_pins(log, out, server_key, seat_keys)
    if record is not None:
        check_record(log, replay, out, record)
    if head is not None:
        check_head(log, out, head)
    findings = out.findings(log)
    closed = replay.end is not None and entries[replay.end]["type"] == "close"
    status = "invalid" if findings else "valid" if closed else "incomplete"
    last = {"seq": len(entries) - 1, "hash": log.hashes[-1]}
    return verdict(status, findings, out.remarks(), last, given_up), replay


# ---------------------------------------------------------------- 9. whole games


def parse_game(data):
    """9.1: what stands for each hand, or `Malformed`."""
    value = parse_file(data)
    # READING: a game has a hand; what a hand is, is looked at hand by hand.
    whole = is_object(fairdeal=is_int(1, 1), hands=is_list(lambda _hand: True, 1, MAX_HANDS))
    if not whole(value):
        raise Malformed("not of the shape of a game's file")
    return value["hands"]


def entries_of_hand(hand):
    """The entries of one of them, or `Malformed`."""
    if not is_object(entries=lambda _entries: True)(hand):
        raise Malformed("not of the shape of a hand")
    return entries_of({"fairdeal": 1, **hand})


class Game:
    """Section 9: the hands of a game, and what must hold between them."""

    def __init__(self, hands, *, server_key=None, seat_keys=None, head=None, record=None):
        self.findings, self.remarks = [], []
        self.verdicts, self.replays, self.linked = [], [], []
        self.sat, self.left = set(), set()  # where a person sat, and where it has left (26.1)
        self.opened = {}  # seed: the hand and the key of who committed to it, where it was first opened
        self.server_key, self.seat_keys, self.record = server_key, seat_keys or {}, record
        self.record_met = record is None
        for i, hand in enumerate(hands):
            self.take(hand, head if i == len(hands) - 1 else None)
        if not self.record_met:
            raise Malformed("the record is of none of these hands")

    def take(self, hand, head):
        """Judges the next hand, by itself and against the one before."""
        try:
            entries = entries_of_hand(hand)
        except Malformed:
            # 9.2: what is no transcript is held against nothing, and nothing against it.
            self.verdicts.append(malformed())
            self.replays.append(None)
            self.linked.append(False)
            return
        seats = entries[0]["body"]["seats"]
        bots = {i for i, seat in enumerate(seats) if seat["kind"] == "bot"}
        self.left |= self.sat & bots
        self.sat |= set(range(len(seats))) - bots
        pins = {"server_key": self.server_key, "head": head}
        pins["seat_keys"] = {s: key for s, key in self.seat_keys.items() if int(s) not in self.left}
        if self.record and self.record["hand"] == message_hash(entries[0]).hex():
            pins["record"], self.record_met = self.record, True
        one, replay = judged(entries, **pins)
        self.verdicts.append(one)
        self.replays.append(replay)
        self.left |= set(replay.replaced)
        self.succession(replay)
        self.who_left(replay)
        self.seeds_fresh(replay)

    def fail(self, check, code_, hands, who=None):
        self.findings.append(game_finding(check, code_, hands, who))

    def end_of(self, replay):
        return None if replay is None or replay.end is None else replay.log.entries[replay.end]

    def succession(self, replay):
        """Checks 22 to 25."""
        i, now = len(self.replays) - 1, replay.log.open
        before = self.replays[i - 1] if i else None
        first = (now["hand"], now["attempt"]) == (1, 1)
        if i == 0:
            self.linked.append(first)
            if not first:
                self.fail(22, "hand-missing", [0])
        elif before is None:
            self.linked.append(False)
        else:
            end, log = before.end, before.log
            linked = end is not None and log.rooted(end) and now["previous"] == log.hashes[end]
            self.linked.append(linked and not (first and now["game"] != log.open["game"]))
            if self.linked[i]:
                self.against(before, replay, [i - 1, i])
            else:
                self.fail(22, "hand-missing", [i - 1, i])

    def against(self, before, replay, hands):
        """Checks 23 to 25 of a linked hand."""
        end, was, now = self.end_of(before), before.log.open, replay.log.open
        one_key = was["server_key"] == now["server_key"]
        opener = "server" if replay.log.authentic[0] and one_key else None
        closed = end["type"] == "close"
        due = (was["hand"] + 1, 1) if closed else (was["hand"], was["attempt"] + 1)
        named = all(was[name] == now[name] for name in ("table", "game"))
        if not named or (now["hand"], now["attempt"]) != due:
            self.fail(23, "number-wrong", hands, opener)
        if closed and end["body"]["result"] is not None:
            self.fail(23, "game-over", hands, opener)
        if not terms_kept(before, end, was, now):
            self.fail(24, "terms-changed", hands, opener)
        if now["scores"] != (end["body"] if closed else was)["scores"]:
            self.fail(25, "scores-not-carried", hands, opener)

    def who_left(self, replay):
        """Check 26."""
        end = self.end_of(replay)
        if not all(self.linked) or end is None or not end["body"].get("result"):
            return
        if end["body"]["result"]["left"] != sorted(self.left):
            who = "server" if replay.log.whole(replay.end) else None
            self.fail(26, "left-wrong", [len(self.replays) - 1], who)

    def seeds_fresh(self, replay):
        """Check 27."""
        i, end, log = len(self.replays) - 1, self.end_of(replay), replay.log
        # READING: a hand that stands in the file twice opens no seed a second time.
        twice = any(r is not None and r.log.hand_id == log.hand_id for r in self.replays[:i])
        if end is None or twice:
            return
        if end["type"] == "void" and void_key_wrong(log, end["body"]):
            return  # check 17 was stopped before it looked at the seeds
        for who, seed in sorted(end["body"]["seeds"].items()):
            commit = replay.commits.get(who)
            if commit is None or not seed_opens(log, who, seed, commit):
                continue
            key = replay.keys[commit] if log.whole(commit) else None
            if seed not in self.opened:
                self.opened[seed] = i, key
                continue
            first, its_key = self.opened[seed]
            # READING: which of two hands is the later, the links between them show, not the file;
            # under one key it is the same whichever it is.
            later = first < i and (all(self.linked[first + 1 :]) or key == its_key)
            culprit = replay.authors[commit] if key and later else None
            hands = [first, i] if first < i else [i]
            self.remarks.append(game_finding(27, "seed-reused", hands, culprit))

    def status(self):
        """9.3."""
        found = {"invalid"} if self.findings else set()
        ends = [self.end_of(replay) for replay in self.replays]
        for one, end in zip(self.verdicts, ends):
            voided = one["status"] == "incomplete" and end is not None
            found.add("valid" if voided else one["status"])
        if not any(end and end["body"].get("result") for end in ends):
            found.add("incomplete")
        return next(s for s in ("invalid", "malformed", "incomplete", "valid") if s in found)


def terms_kept(before, end, was, now):
    """24.1: of a linked hand, the replay, END and `open` before it, and its own `open`."""
    fixed = ("rules", "deck", "house", "server_key", "substitute", "clock")
    if any(was[name] != now[name] for name in fixed) or len(was["seats"]) != len(now["seats"]):
        return False
    # READING: where a `void` names a bot's seat, nobody has left there.
    void = end["body"] if end["type"] == "void" else {"reason": None, "seat": None}
    for seat, (old, new) in enumerate(zip(was["seats"], now["seats"])):
        person, named = old["kind"] == "person", void["seat"] == seat
        stands_in = new["kind"] == "bot" and new["policy"] == was["substitute"]
        held_up = named and void["reason"] in ("no-reveal", "left")
        if person and (seat in before.replaced or held_up):
            if not stands_in:
                return False
        elif old != new and not (person and named and stands_in):
            return False
    return True


def game_finding(check, code_, hands, who):
    return {
        "code": code_,
        "check": check,
        "culprits": [who] if who else [],
        "attribution": "proven" if who else "unattributed",
        "hands": hands,
    }


def by_hands(finding):
    return finding["check"], finding["hands"], finding["code"], finding["culprits"]


def verify_game(data, **pins):
    """Section 9: the verdict on a game's file; pins as in `verify`."""
    try:
        hands = parse_game(data)
    except Malformed:
        return {"status": "malformed", "findings": [], "remarks": [], "hands": []}
    game = Game(hands, **pins)
    return {
        "status": game.status(),
        "findings": sorted(game.findings, key=by_hands),
        "remarks": sorted(game.remarks, key=by_hands),
        "hands": game.verdicts,
    }


def verify_file(data, **pins):
    """The verdict on a game's file or on a transcript, whichever it is."""
    try:
        value = parse_file(data)
    except Malformed:
        return malformed()
    whole_game = isinstance(value, dict) and "hands" in value
    return (verify_game if whole_game else verify)(data, **pins)


# ================================================================ 4. a simulator

START = 1_700_000_000_000
SMALL_DECK = {"cards": ["2C", "3C", "4C", "2D", "3D", "4D", "2H", "3H", "4H", "2S", "3S", "QS"]}
HEARTS = {
    "game": "hearts",
    "pass_count": 2,
    "pass_cycle": [1, 2, 0],
    "first_lead": "lowest-club",
    "first_trick_points": "forbidden",
    "hearts_broken_by": "heart",
    "queen_breaks_hearts": False,
    "lead_from_points": False,
    "card_points": {"QS": 13},
    "moon": "others-add",
    "end_score": 100,
    "exact_reset": None,
    "tie": "shared",
    "cancellation": False,
    "kitty": None,
}
DEAL_ONLY = {"game": "deal"}


class Bytes:
    """A deterministic generator: SHA-512 of a label and a counter."""

    def __init__(self, label):
        self.label, self.counter, self.buffer = label, 0, b""

    def take(self, n):
        while len(self.buffer) < n:
            self.buffer += hashlib.sha512(f"{self.label}/{self.counter}".encode()).digest()
            self.counter += 1
        out, self.buffer = self.buffer[:n], self.buffer[n:]
        return out


class Over(Exception):
    """The hand is over before its end."""


class Hand:
    """One hand of people who keep to the protocol, but where `bends` say otherwise.

    `kinds` has a P or a B for each seat. `bends` maps the name of a step to a function:
    of the hand and the draft of an entry (a dictionary it may change), or of the hand and a value.
    `before` maps the name of a step to a function of the hand that is called first: it may put in
    other entries, replace seats, or end the hand. Whatever they do, all is hashed and signed anew.
    """

    def __init__(
        self,
        label,
        kinds="PPP",
        *,
        bends=None,
        before=None,
        rules=None,
        pairs=None,
        left=(),
        **body,
    ):
        self.random, self.kinds, self.n = Bytes(label), kinds, len(kinds)
        self.bends, self.before = bends or {}, before or {}
        self.entries, self.marks, self.step_ms, self.signers = [], {}, 1000, {}
        self.pairs = pairs or {who: self.key_pair() for who in ["server", *range(self.n)]}
        self.left = set(left)  # whose person left in an earlier hand
        self.hand_keys = {who: self.random.take(32) for who in ["server", *range(self.n)]}
        self.gone, self.seeds, self.openings = {}, {}, {}
        self.commits, self.passed, self.words, self.disputed = {}, {}, {}, None
        self.body = self.open_body(rules or HEARTS, body)
        self.terms = Terms(self.body)

    # -- keys and entries

    def key_pair(self):
        return sodium.crypto_sign_seed_keypair(self.random.take(32))

    def open_body(self, rules, more):
        server = self.pairs["server"][0].hex()
        seats = []
        for i, kind in enumerate(self.kinds):
            person = {"name": f"Person {i}", "kind": "person", "key": self.pairs[i][0].hex()}
            bot = {"name": f"Bot {i}", "kind": "bot", "key": server, "policy": "low/1"}
            seats.append(person if kind == "P" else bot)
        body = {
            "table": "Vectors",
            "game": "A game",
            "hand": 1,
            "attempt": 1,
            "previous": None,
            "rules": rules,
            "deck": SMALL_DECK if rules["game"] == "hearts" else {"packs": 1, "removed": []},
            "house": False,
            "server_key": server,
            "hand_key": public_of(self.hand_keys["server"]).hex(),
            "substitute": "low/1",
            "seats": seats,
            "scores": [0] * self.n if rules["game"] == "hearts" else [],
            "clock": None,
        }
        policies = more.pop("policies", {})
        body.update(more)
        if "previous" not in more and (body["hand"] > 1 or body["attempt"] > 1):
            body["previous"] = self.random.take(32).hex()
        for seat, name in policies.items():
            seats[seat]["policy"] = name
        return self.bend("body", body)

    def bend(self, name, value):
        """A value as the bend of that name wants it."""
        return self.bends[name](self, value) if name in self.bends else value

    def is_person(self, seat):
        return self.kinds[seat] == "P" and seat not in self.gone

    def person_of(self, by):
        seat = int(by[5:]) if by.startswith("seat/") else None
        return seat if seat is not None and seat < self.n and self.is_person(seat) else None

    @property
    def head(self):
        return entry_hash(self.entries[-1]) if self.entries else GENESIS

    def hash_of(self, mark):
        return entry_hash(self.entries[self.marks[mark]])

    def put(self, name, by, kind, body, seen=None, **more):
        """Appends an entry; its draft can be bent; then it is hashed and signed."""
        person = self.person_of(by)
        draft = {"seq": len(self.entries), "at": START + self.step_ms, "prev": self.head, "by": by}
        draft |= {"type": kind, "seen": seen if person is not None else self.head, "body": body}
        if self.entries:
            draft["at"] = self.entries[-1]["at"] + self.step_ms
        secret = self.pairs["server" if person is None else person][1]
        draft |= more
        bend = self.bends.get(name) or self.bends.get(name.split(":")[0] + ":*")
        if bend:
            bend(self, draft)
        signer = self.signers.get(person, lambda hashed: sign(draft.pop("secret", secret), hashed))
        signature = signer(message_hash(draft)).hex()
        draft.setdefault("sig", signature)
        if draft["sig"] is None:
            del draft["sig"]
        self.marks[name] = len(self.entries)
        self.entries.append(draft)
        return draft

    def at(self, name):
        if name in self.before:
            self.before[name](self)

    # -- what may happen out of order

    def replace(self, seat, reason="left"):
        if seat < self.n and self.is_person(seat):
            self.gone[seat] = len(self.entries)
        self.put(f"replace:{seat}", "server", "replace", {"seat": seat, "reason": reason})

    def void(self, reason, seat=None):
        seeds = {
            w: seed for w, seed in self.seeds.items() if w in self.commits and self.server_knows(w)
        }
        body = {"reason": reason, "seat": seat, "hand_key": self.hand_keys["server"].hex()}
        body["seeds"] = {who: seed.hex() for who, seed in seeds.items()}
        self.put("void", "server", "void", body)
        raise Over

    def server_knows(self, who):
        seat = int(who[5:]) if who != "house" else None
        own = seat is None or self.kinds[seat] == "B" or f"by-server:{who}" in self.marks
        return own or f"reveal:{who}" in self.marks

    def dispute(self, seat, of="deal"):
        body = {"hand_key": self.hand_keys[seat].hex()}
        self.put(f"dispute:{seat}", f"seat/{seat}", "dispute", body, self.hash_of(of))

    # -- the phases, each straight from 4.1

    def run(self):
        try:
            self.put("open", "server", "open", self.body)
            self.hand_id = message_hash(self.entries[0])
            self.do_commits()
            self.do_reveals()
            self.do_deal()
            if self.terms.offset:
                self.do_passes()
                self.do_exchange()
            if self.terms.hearts:
                self.do_play()
            self.do_close()
        except Over:
            pass
        self.at("end")
        return self

    def do_commits(self):
        bots = [f"seat/{i}" for i in range(self.n) if self.kinds[i] == "B"]
        first = ["house"] * self.body["house"] + bots
        for who in first:
            self.do_commit(who, None)
        base = self.head
        for i in self.bend("commit-order", range(self.n)):
            if self.kinds[i] == "P":
                self.do_commit(f"seat/{i}", base)

    def do_commit(self, who, base):
        self.at(f"commit:{who}")
        if who in self.commits:
            return
        seed = self.bend(f"seed:{who}", self.random.take(64))
        self.seeds[who] = seed
        body = {"commitment": commit_seed(self.hand_id, who, seed).hex()}
        person = self.person_of(who)
        if person is not None:
            body["hand_key"] = public_of(self.hand_keys[person]).hex()
        elif who[-1].isdigit() and self.kinds[int(who[-1])] == "P":
            self.marks[f"by-server:{who}"] = len(self.entries)
        self.commits[who] = self.put(f"commit:{who}", who, "commit", body, base)["body"]

    def do_reveals(self):
        base = self.head
        for i in range(self.n):
            who = f"seat/{i}"
            self.at(f"reveal:{who}")
            if self.is_person(i):
                self.do_reveal(i, base)

    def do_reveal(self, i, base):
        who = f"seat/{i}"
        plain = self.bend(f"revealed:{who}", self.seeds[who])
        self.put(f"reveal:{who}", who, "reveal", {"sealed": self.seal_up("reveal", i, plain)}, base)

    def seal_up(self, kind, seat, plain):
        who = f"seat/{seat}"
        if kind in ("deal", "exchange"):
            to, parties = seat, (who, "server")
        else:
            to, parties = "server", ("server", who)
        info = seal_info(kind, self.hand_id, *parties)
        return seal(public_of(self.hand_keys[to]), info, plain, self.random.take(32)).hex()

    def open_up(self, kind, seat, some):
        """An opening, its commitment and (for a person) its box; each can be bent."""
        name = f"{kind}:seat/{seat}"
        some = self.bend("cards:" + name, list(some))
        opening = {"cards": some, "salt": self.random.take(32).hex()}
        self.openings[kind, seat] = opening
        salt = bytes.fromhex(opening["salt"])
        out = {"commitment": commit_cards(kind, self.hand_id, seat, some, salt).hex()}
        if self.is_person(seat):
            plain = self.bend("plain:" + name, jcs(opening))
            out["sealed"] = self.bend("box:" + name, self.seal_up(kind, seat, plain))
        return out

    def do_deal(self):
        self.at("deal")
        pairs = [(who, self.seeds[who]) for who in self.terms.shufflers]
        deck = self.bend("deck", shuffled(self.terms.deck, self.hand_id, pairs))
        self.hands, self.kitty = self.terms.hands_of(deck)
        self.bots_at_deal = [i for i in range(self.n) if not self.is_person(i)]
        body = {"hands": [self.open_up("deal", i, hand) for i, hand in enumerate(self.hands)]}
        self.put("deal", "server", "deal", body)
        self.hands = [list(self.openings["deal", i]["cards"]) for i in range(self.n)]

    def policy(self, seat):
        return self.body["seats"][seat].get("policy", self.body["substitute"])

    def words_of(self, seat):
        if seat not in self.words:
            self.words[seat] = policy_words(self.seeds[f"seat/{seat}"], self.hand_id, seat)
        return self.words[seat]

    def do_passes(self):
        for i in self.bots_at_deal:
            self.do_pass(i, None)
        base = self.head
        for i in range(self.n):
            if i not in self.bots_at_deal:
                self.do_pass(i, base)

    def do_pass(self, i, base):
        self.at(f"pass:seat/{i}")
        if i in self.passed:
            return
        person, hand = self.is_person(i), self.hands[i]
        name = "low/1" if person or self.policy(i) not in POLICIES else self.policy(i)
        chosen = policy_pass(name, self.terms, None if person else self.words_of(i), hand)
        body = self.open_up("pass", i, chosen)
        self.passed[i] = self.openings["pass", i]["cards"]
        self.put(f"pass:seat/{i}", f"seat/{i}", "pass", body, base)

    def do_exchange(self):
        self.at("exchange")
        gifts = [self.passed[(i - self.terms.offset) % self.n] for i in range(self.n)]
        body = {"hands": [self.open_up("exchange", i, gift) for i, gift in enumerate(gifts)]}
        self.put("exchange", "server", "exchange", body)
        for i in range(self.n):
            rest = Counter(self.hands[i]) - Counter(self.passed[i])
            self.hands[i] = list(rest.elements()) + list(self.openings["exchange", i]["cards"])

    def do_play(self):
        self.play = Play(self.terms)
        while not self.play.over:
            number = sum(map(len, self.play.played))
            self.at(f"play:{number}")
            self.do_card(self.bend(f"turn:{number}", self.whose_turn()), f"play:{number}")
        if self.terms.moon == "shooter-chooses" and self.play.shooter() is not None:
            self.at("choose")
            seat = self.play.shooter()
            person = self.is_person(seat)
            moon = "subtract" if person else policy_choose(self.policy(seat), self.words_of(seat))
            self.put("choose", f"seat/{seat}", "choose", {"moon": moon}, self.head)

    def whose_turn(self):
        first = self.terms.first_card
        if self.play.nothing_played and first:
            return next((i for i in range(self.n) if first in self.hands[i]), 0)
        return min(self.play.turn)

    def do_card(self, seat, name):
        person = self.is_person(seat)
        legal = self.play.legal(self.hands[seat]) or self.hands[seat]
        if person or self.policy(seat) not in POLICIES:
            card = by_rank(self.terms, legal)[0]
        else:
            card = policy_play(self.policy(seat), self.terms, self.words_of(seat), legal)
        seen = entry_hash(self.last_turn_entry())
        draft = self.put(name, f"seat/{seat}", "play", {"card": card}, seen)
        card = draft["body"]["card"]
        if card in self.hands[seat]:
            self.hands[seat].remove(card)
        self.play.play(seat, card)

    def last_turn_entry(self):
        """The entry that put the seat on turn: a play, the exchange or the deal."""
        return next(e for e in reversed(self.entries) if e["type"] in ("play", "exchange", "deal"))

    def do_close(self):
        self.at("close")
        body = {"seeds": {w: self.seeds[w].hex() for w in self.terms.shufflers}}
        for kind, name in (("deal", "deals"), ("pass", "passes"), ("exchange", "exchanges")):
            body[name] = [
                self.openings[kind, i] for i in range(self.n) if (kind, i) in self.openings
            ]
        points, scores, result = [], [], None
        if self.terms.hearts:
            choice = (
                self.entries[self.marks["choose"]]["body"]["moon"]
                if "choose" in self.marks
                else None
            )
            points = self.bend("points", self.play.points(self.kitty, choice))
            scores = self.bend("scores", scores_after(self.terms, self.body["scores"], points))
            result = result_of(self.terms, points, scores, self.left | set(self.gone))
        body |= {"points": points, "scores": scores, "result": result}
        close = self.put("close", "server", "close", body)
        for i in range(self.n):
            if self.is_person(i):
                self.at(f"ack:seat/{i}")
                self.put(f"ack:seat/{i}", f"seat/{i}", "ack", {}, entry_hash(close))

    # -- the file

    def compact(self):
        """3.2: strips every signature that is covered."""
        log = Log(self.entries)
        replay = Replay(log, self.terms, Findings())
        replay.run()
        for i, entry in enumerate(self.entries):
            seen = [
                log.places[later["seen"]][0]
                for later, key in zip(self.entries[i + 1 :], replay.keys[i + 1 :])
                if key == replay.keys[i]
            ]
            if any(place >= i for place in seen):
                entry.pop("sig", None)
        return self

    def relink(self, start=0):
        """Sets `seq` and `prev` anew from an entry on: anyone can, they are under no signature."""
        for i in range(start, len(self.entries)):
            self.entries[i]["seq"] = i
            self.entries[i]["prev"] = entry_hash(self.entries[i - 1]) if i else GENESIS

    def data(self):
        return jcs({"fairdeal": 1, "entries": self.entries}) + b"\n"


# ---------------------------------------------------------------- bad and good hands, with claims

# fmt: off

CASES = []


def case(folder, why, hand, status="invalid", findings=(), remarks=(), pins=None):
    """A hand and what is CLAIMED of it: (code, check, culprit or None, entries by step name).

    `pins` are what the verifier is told beside the transcript, as `verify` takes them.
    """
    CASES.append((folder, why, hand, status, list(findings), list(remarks), pins or {}))


def dealt(label, kinds="PPB", **more):
    """A deal-only hand of 12 cards."""
    return Hand(label, kinds, rules=DEAL_ONLY, **({"deck": SMALL_DECK} | more)).run()


def played(label, kinds="PPP", **more):
    return Hand(label, kinds, **more).run()


def setting(**values):
    """A bend of a draft: these members of it."""
    return lambda _hand, draft: draft.update(values)


def body_setting(**values):
    return lambda _hand, draft: draft["body"].update(values)


def changed(value, **more):
    return {**value, **more}


def flipped(_hand, sealed):
    """A box with its last bit flipped."""
    return sealed[:-1] + format(int(sealed[-1], 16) ^ 1, "x")


def with_body(function):
    """A bend of the whole body of `open`."""

    def bend(hand, body):
        function(hand, body)
        return body

    return {"body": bend}


def just_open(label, kinds="PPP", **more):
    """A log of one entry."""
    hand = Hand(label, kinds, **more)
    hand.put("open", "server", "open", hand.body)
    return hand


def search(build):
    """The hand of the first label in which the bend found an occasion (it sets the mark "bad")."""
    for number in range(500):
        hand = build(number)
        if "bad" in hand.marks:
            return hand
    raise AssertionError("no label gave an occasion")


def first_chance(pick, who="P"):
    """A bend for "play:*": the first time that `pick` finds a card, it is played."""

    def bend(hand, draft):
        seat = int(draft["by"][5:])
        if "bad" in hand.marks or ("P" if hand.is_person(seat) else "B") != who:
            return
        card = pick(hand, seat, draft["body"]["card"])
        if card is not None:
            hand.marks["bad"] = len(hand.entries)
            draft["body"] = {"card": card}

    return {"play:*": bend}


def illegal(code_):
    """Picks a card of the hand that breaks this rule."""

    def pick(hand, seat, _card):
        some = hand.hands[seat]
        return next((c for c in some if hand.play.why_illegal(some, c) == code_), None)

    return first_chance(pick)


def key_grinder(hand, seat):
    """Makes the key of a seat one of mixed order, and signs so that its signatures verify."""
    secret = int.from_bytes(hand.random.take(32), "little") % L
    key = ed_encode(ed_add(ed_mul(secret, BASE), ed_decode(ORDER_8)))

    def signer(hashed):
        return mixed_signature(secret, key, SIGN_PREFIX + hashed, lambda h: h % 8 == 0)

    hand.signers[seat] = signer
    return key.hex()


ORDER_8 = bytes.fromhex("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a")


def mixed_signature(secret, key, message, want):
    """S·B = R + h·(secret·B): holds for the key with torsion only where h is a multiple of 8."""
    for r in range(1, 1000):
        point = ed_encode(ed_mul(r, BASE))
        h = int.from_bytes(hashlib.sha512(point + key + message).digest(), "little") % L
        if want(h):
            return point + ((r + h * secret) % L).to_bytes(32, "little")
    raise AssertionError("none found")


def good_cases():
    def good(name, why, hand, remarks=()):
        case("good-" + name, why, hand, "valid", (), remarks)

    def gone(name, **more):
        """Seat 1 is replaced before that step."""
        before = {name: lambda hand: hand.replace(1, "left")}
        return played(f"gone at {name}", "PPB", before=before, **more)

    four = changed(HEARTS, pass_count=3, pass_cycle=[1, 2, 3, 0])
    french = {"packs": 1, "removed": []}
    good("persons", "three people, every entry honest", played("persons"))
    bots = {"house": True, "policies": {1: "random/1"}}
    good("bots-house", "a house, two bots with either policy", played("bots", "PBPB", **bots))
    good("all-bots", "nobody to reveal or to acknowledge", played("all bots", "BBB"))
    hand = played("no pass", "PPPP", rules=changed(four, pass_count=1), hand=4)
    good("no-pass-hand-4", "the fourth hand passes nothing", hand)
    good("compacted", "every covered signature is stripped", played("compact", "PPB").compact())
    hand = played("full", "PPBP", rules=four, deck=french, house=True).compact()
    good("full-deck-compacted", "four seats, 52 cards", hand)
    good("replaced-commit", "replaced before it committed: the server commits for it", gone("commit:seat/1"))
    good("replaced-reveal", "replaced after its reveal, before the last one", gone_in_reveal())
    good("replaced-deal", "replaced before the deal", gone("deal"))
    good("replaced-pass", "replaced in the passing: the server passes for it", gone("pass:seat/1"))
    good("replaced-exchange", "replaced before the exchange", gone("exchange"))
    good("replaced-play", "replaced in the play", gone("play:4", substitute="random/1"))
    good("replaced-close", "replaced before the close", gone("close"))
    good("deal-only", "nothing is played", dealt("deal only", house=True))
    good("deal-only-packs", "two packs, each less three cards, and a kitty", dealt("packs", "PPPB", deck=TWO_PACKS))
    good("deal-only-own-cards", "a list of codes that are no French cards", dealt("own", deck=OWN_CARDS))
    clock = {"clock": {"grace_ms": 500, "reserve_ms": 2000}}
    good("clock", "a clock, and nobody expelled", played("clock", **clock))
    before = {"play:5": lambda hand: hand.replace(min(hand.play.turn), "expelled")}
    late = {"clock": {"grace_ms": 500, "reserve_ms": 0}}
    good("expelled", "expelled with no reserve left", played("expelled", before=before, **late))
    good("score-carried", "the second hand of a game", played("second", hand=2, scores=[3, 14, 15]))
    ending = changed(HEARTS, end_score=10, tie="last-hand", exact_reset=[10, 5])
    good("game-over", "the hand that ends a game", search_result(ending))
    good("policy-unknown", "a bot whose policy nobody knows", played("odd", "PPB", policies={2: "odd/7"}), UNKNOWN)
    doubled = changed(
        HEARTS, cancellation=True, first_lead="left-of-dealer", kitty="last-trick", pass_count=1
    )
    hand = played("doubled", "PPBPB", rules=doubled, deck=TWO_SMALL_PACKS)
    good("cancellation-kitty", "doubled cards cancel, the kitty goes with the last trick", hand)
    chooses = changed(HEARTS, moon="shooter-chooses", card_points={"QS": 13, "3C": -3})
    good("moon-chosen", "a seat shot the moon and chose", search_moon(chooses))


UNKNOWN = [("policy-unknown", 13, None, [0])]
TWO_PACKS = {"packs": 2, "removed": ["2C", "3H", "AS"]}
OWN_CARDS = {"cards": ["one", "two", "six", "ten", "~!?", "Abc", "xyz"]}
LOW = [r + s for s in SUITS for r in RANKS if r not in "23Q"]
TWO_SMALL_PACKS = {"packs": 2, "removed": [*LOW, "QC"]}


def gone_in_reveal():
    before = {"reveal:seat/1": lambda hand: hand.replace(0, "left")}
    return played("gone in reveal", "PPB", before=before)


def search_result(rules):
    for number in range(100):
        hand = played(f"game over {number}", rules=rules, hand=2, scores=[9, 9, 0])
        result = hand.entries[hand.marks["close"]]["body"]["result"]
        if result and len(set(result["places"])) == 3:
            return hand
    raise AssertionError


def search_moon(rules):
    for number in range(500):
        hand = played(f"moon {number}", rules=rules)
        if "choose" in hand.marks:
            return hand
    raise AssertionError


def incomplete_cases():
    def void(name, why, hand, remarks=()):
        case("incomplete-" + name, why, hand, "incomplete", (), remarks)

    silence = [("silence", 17, None, ["void"])]
    hand = dealt("nr", before={"reveal:seat/1": lambda hand: hand.void("no-reveal", 1)}, house=True)
    void("void-no-reveal", "a person does not reveal", hand, silence)
    hand = dealt("left", before={"reveal:seat/1": lambda hand: hand.void("left", 1)})
    void("void-left", "a person left before its reveal", hand, silence)
    void("void-replaced", "replaced between commit and reveal: no deal can follow", void_dead(), silence)
    hand = dealt("op", before={"commit:seat/1": lambda hand: hand.void("operator")})
    void("void-operator", "stopped while seats commit", hand)
    void("cut", "the log of a hand that goes on", cut(dealt("cut"), 5))
    void("cut-open", "only an `open`", cut(dealt("cut"), 1))
    hand = played("cut pass", before={"pass:seat/2": stop})
    void("cut-pass", "the log of a hand in which one seat has not passed", hand)


def stop(_hand):
    raise Over


def cut(hand, length):
    hand.entries = hand.entries[:length]
    return hand


def void_dead():
    def before(hand):
        hand.replace(1, "unresponsive")
        hand.void("left", 1)

    return dealt("dead", before={"reveal:seat/1": before})


def chain_cases():
    r1 = "reveal:seat/1"
    hand = dealt("prev", bends={r1: setting(prev="ab" * 32)})
    case("chain-prev", "`prev` is not the hash of the entry before", hand, findings=[("chain-prev", 2, None, [r1])])
    hand = dealt("seq", bends={r1: setting(seq=77)})
    case("chain-seq", "`seq` is another number", hand, findings=[("chain-seq", 2, "server", [r1])])
    early = lambda hand, draft: draft.update(at=hand.entries[-1]["at"] - 500)  # noqa: E731
    hand = dealt("at", bends={r1: early})
    case("chain-time", "`at` goes back", hand, findings=[("chain-time", 2, "server", [r1])])
    a1 = "ack:seat/1"
    hand = dealt("at end", bends={a1: early})
    why = "`at` goes back in the last entry, which the server has not signed for"
    case("chain-time-last", why, hand, findings=[("chain-time", 2, None, [a1])])


def terms_cases():
    def bad(code_, name, why, hand, times=1):
        folder = f"{code_}-{name}"
        case(folder, why, hand, findings=[(code_, 3, "server", [0])] * times)

    def same_key(hand, body):
        hand.pairs[0] = hand.pairs["server"]
        body["seats"][0]["key"] = body["server_key"]

    bad("open-key", "same", "a person's key is the server's", dealt("same key", bends=with_body(same_key)))
    other = with_body(lambda hand, body: body["seats"][2].update(key=hand.key_pair()[0].hex()))
    bad("open-key", "bot", "a bot's key is not the server's", dealt("bot key", bends=other))
    mixed = with_body(lambda hand, body: body["seats"][0].update(key=key_grinder(hand, 0)))
    why = "a person's key has a small-order component; its signatures verify all the same"
    bad("open-key", "mixed-order", why, dealt("mixed", bends=mixed))

    def top_bit(_hand, body):
        body["hand_key"] = body["hand_key"][:-2] + format(int(body["hand_key"][-2:], 16) | 128, "x")

    bad("open-hand-key", "top-bit", "`hand_key` is not canonical", dealt("top bit", bends=with_body(top_bit)))
    zero = with_body(lambda _hand, body: body.update(hand_key="00" * 32))
    bad("open-hand-key", "small-order", "`hand_key` is zero", just_open("zero", bends=zero))
    null = with_body(lambda _hand, body: body.update(attempt=2))
    bad("open-previous", "attempt", "the second attempt without `previous`", dealt("null", bends=null))
    null = with_body(lambda _hand, body: body.update(hand=2))
    bad("open-previous", "hand", "the second hand without `previous`", dealt("null 2", bends=null))
    few = {"cards": ["2C", "3C"]}
    bad("open-terms", "few-cards", "two cards for three seats", just_open("few", rules=DEAL_ONLY, deck=few))
    twice = {"cards": ["2C", "3C", "2C", "4C"]}
    bad("open-terms", "code-twice", "a listed code stands twice", just_open("twice", rules=DEAL_ONLY, deck=twice))
    ragged = {"cards": ["2C", "3C", "10C", "4C"]}
    bad("open-terms", "code-lengths", "codes of two lengths", just_open("ragged", rules=DEAL_ONLY, deck=ragged))
    away = {"packs": 1, "removed": ["2C", "2C"]}
    bad("open-terms", "removed", "one card removed twice", just_open("away", rules=DEAL_ONLY, deck=away))
    away = {"packs": 2, "removed": ["2C", "1C"]}
    bad("open-terms", "removed-none", "a card removed that no pack has", just_open("none", rules=DEAL_ONLY, deck=away))
    for name, why, refused, rules, deck, kinds in TERMS:
        if refused and name in ("offset", "pass-many", "lowest-club-twice"):
            bad("open-terms", name, why, just_open(name, kinds, rules=changed(HEARTS, **rules), deck=deck))
    hand = played("offset", rules=changed(HEARTS, pass_cycle=[1, 3]))
    bad("open-terms", "played", "terms that are refused, and played all the same", hand)
    bad("open-scores", "first", "points before the first hand", just_open("first", scores=[1, 0, 0]))
    bad("open-scores", "over", "a score at `end_score`", just_open("over", hand=2, scores=[1, 100, 0]))
    bad("open-scores", "count", "a score too few", just_open("count", hand=2, scores=[1, 2]))
    bad("open-scores", "deal", "scores in a deal-only hand", dealt("scores", scores=[0, 0, 0]))


DEFAULT = SMALL_DECK
TERMS = [
    ("plain", "the small deck", False, {}, DEFAULT, "PPP"),
    ("offset", "a pass offset of n", True, {"pass_cycle": [1, 3]}, DEFAULT, "PPP"),
    ("offset-n-1", "the greatest offset", False, {"pass_cycle": [2]}, DEFAULT, "PPP"),
    ("two-seats", "fewer than 3 seats", True, {"pass_cycle": [1]}, DEFAULT, "PP"),
    ("pass-many", "more passed than dealt", True, {"pass_count": 5}, DEFAULT, "PPP"),
    ("pass-all", "all passed", False, {"pass_count": 4}, DEFAULT, "PPP"),
    ("no-french", "a card that is not French", True, {"card_points": {}}, {"cards": ["2C", "2H", "XX"]}, "PPP"),
    ("points-absent", "points for a card not in the deck", True, {"card_points": {"AS": 1}}, DEFAULT, "PPP"),
    ("points-heart", "points for a heart", True, {"card_points": {"2H": 1}}, DEFAULT, "PPP"),
    ("left-over", "cards left over without a kitty", True, {"first_lead": "left-of-dealer"}, DEFAULT, "PPPPP"),
    ("kitty", "cards left over with a kitty", False, {"first_lead": "left-of-dealer", "kitty": "first-trick"}, DEFAULT, "PPPPP"),
    ("kitty-lowest", "the lowest club may lie in the kitty", True, {"kitty": "first-trick"}, DEFAULT, "PPPPP"),
    ("kitty-empty", "a kitty rule, and nothing left over", False, {"kitty": "first-trick"}, DEFAULT, "PPP"),
    ("no-club", "no club begins", True, {"card_points": {}}, {"cards": DEFAULT["cards"][3:]}, "PPP"),
    ("lowest-club-twice", "two lowest clubs", True, {"cancellation": True}, {"packs": 2, "removed": []}, "PPPP"),
    ("doubled", "doubled cards cancel", False, {"cancellation": True, "first_lead": "left-of-dealer"}, {"packs": 2, "removed": []}, "PPPP"),
    ("doubled-plain", "doubled cards without cancellation", True, {"first_lead": "left-of-dealer"}, {"packs": 2, "removed": []}, "PPPP"),
    ("cancel-single", "cancellation with one pack", True, {"cancellation": True}, DEFAULT, "PPP"),
    ("chooses-kitty", "a choice with a kitty", True, {"moon": "shooter-chooses", "kitty": "first-trick"}, DEFAULT, "PPP"),
    ("moon-nothing", "a moon without scoring cards", True, {"card_points": {}}, {"cards": ["2C", "3C", "4C"]}, "PPP"),
    ("no-moon-nothing", "no moon, no scoring cards", False, {"card_points": {}, "moon": "none", "pass_count": 1}, {"cards": ["2C", "3C", "4C"]}, "PPP"),
    ("reset", "100 becomes 50", False, {"exact_reset": [100, 50]}, DEFAULT, "PPP"),
    ("reset-up", "a reset that does not go down", True, {"exact_reset": [50, 50]}, DEFAULT, "PPP"),
    ("reset-over", "a reset to `end_score`", True, {"exact_reset": [101, 100]}, DEFAULT, "PPP"),
    ("reset-reach", "the greatest total: 99 + 16", False, {"exact_reset": [115, 50]}, DEFAULT, "PPP"),
    ("reset-out-of-reach", "a total nobody can reach", True, {"exact_reset": [116, 50]}, DEFAULT, "PPP"),
]


def signature_cases():
    r0, a1 = "reveal:seat/0", "ack:seat/1"
    hand = dealt("sig", bends={r0: lambda hand, draft: draft.update(secret=hand.key_pair()[1])})
    case("signature-invalid", "signed with another key", hand, findings=[("signature-invalid", 4, None, [r0])])
    hand = dealt("sig server", bends={"deal": lambda hand, draft: draft.update(secret=hand.pairs[0][1])})
    why = "the server's entry signed with a person's key"
    case("signature-invalid-server", why, hand, findings=[("signature-invalid", 4, None, ["deal"])])
    hand = dealt("no sig", bends={a1: setting(sig=None)})
    case("signature-missing", "an uncovered entry without a signature", hand, findings=[("signature-missing", 5, None, [a1])])
    hand = dealt("no close sig", bends={"close": setting(sig=None)})
    why = "the `close` is unsigned, and nothing of the server's follows"
    case("signature-missing-close", why, hand, findings=[("signature-missing", 5, None, ["close"])])


def order_cases():
    r0, r1, c0, c1 = "reveal:seat/0", "reveal:seat/1", "commit:seat/0", "commit:seat/1"

    def again(of):
        def before(hand):
            entry = hand.entries[hand.marks[of]]
            hand.put("again", entry["by"], entry["type"], entry["body"], entry["seen"])

        return before

    def bad(folder, why, hand, *findings, **more):
        case(folder, why, hand, findings=findings, **more)

    hand = dealt("repeat", before={r1: again(r0)})
    bad("repeated", "the server appends a reveal twice", hand, ("repeated", 6, "server", [r0, "again"]))
    hand = dealt("repeat ack", before={"end": again("ack:seat/1")})
    why = "somebody appends an acknowledgement twice"
    bad("repeated-last", why, hand, ("repeated", 6, None, ["ack:seat/1", "again"]))
    unknown = setting(seen="cd" * 32)
    hand = dealt("unknown", bends={r0: unknown})
    bad("seen-unknown", "a person saw what is not in this log", hand, ("seen-unknown", 6, None, [r0]))
    hand = dealt("unknown 2", bends={r0: unknown, r1: unknown})
    bad("seen-unknown-two", "two persons saw another log: one finding", hand, ("seen-unknown", 6, None, [r0, r1]))
    hand = dealt("early seen", bends={r0: lambda hand, draft: draft.update(seen=hand.hash_of("open"))})
    why = "a reveal over `open`, before which nobody was to reveal"
    bad("out-of-turn-person", why, hand, ("out-of-turn", 6, "seat/0", [r0]))
    hand = dealt("house", before={c1: lambda hand: hand.put("x", "house", "commit", {"commitment": "00" * 32})})
    bad("out-of-turn-server", "a house commits where there is none", hand, ("out-of-turn", 6, "server", ["x"]))
    hand = dealt("no seat", before={c1: lambda hand: hand.put("x", "seat/9", "commit", {"commitment": "00" * 32})})
    bad("out-of-turn-no-seat", "a seat commits that does not exist", hand, ("out-of-turn", 6, "server", ["x"]))

    def wrong_seat(hand, seat):
        return (seat + 1) % hand.n

    hand = played("turn", bends={"turn:4": wrong_seat})
    bad("out-of-turn-play", "a person plays out of turn; the play counts", hand, ("out-of-turn", 6, turn_culprit(hand), ["play:4"]))
    two_on = {"turn:5": lambda hand, seat: (seat + 1) % hand.n}
    hand = played("turn of four", "PPPP", rules=changed(HEARTS, pass_cycle=[1, 2, 3, 0]), bends=two_on)
    why = "the third seat of a trick plays second: then it is the second's turn, then the fourth's"
    who = hand.entries[hand.marks["play:5"]]["by"]
    bad("out-of-turn-play-four", why, hand, ("out-of-turn", 6, who, ["play:5"]))
    late = lambda hand: hand.put("x", "seat/0", "dispute", {"hand_key": "11" * 32}, hand.hash_of("close"))  # noqa: E731
    hand = dealt("late", before={"end": late})
    bad("after-end-person", "a dispute over `close`", hand, ("after-end", 6, "seat/0", ["x"]))
    hand = dealt("late server", before={"end": lambda hand: hand.replace(0)})
    bad("after-end-server", "a `replace` after `close`", hand, ("after-end", 6, "server", ["replace:0"]))
    hand = played("place", bends={"play:1": lambda hand, draft: draft.update(seen=hand.hash_of("exchange"))})
    why = "a play that its seat said when all were on turn, appended after another"
    bad("out-of-place", why, hand, ("out-of-place", 6, "server", ["play:1"]))
    hand = dealt("placed late", before={"end": lambda hand: hand.dispute(0)})
    why = "a dispute that would have been right before `close`; nothing shows who put it there"
    findings = [("out-of-place", 6, None, ["dispute:0"]), ("dispute-unfounded", 18, "seat/0", [c0, "deal", "dispute:0"])]
    bad("out-of-place-last", why, hand, *findings)
    seen_open = lambda hand, draft: draft.update(seen=hand.hash_of("open"))  # noqa: E731
    hand = dealt("not previous", bends={"deal": seen_open})
    bad("seen-not-previous", "the deal says it follows `open`", hand, ("seen-not-previous", 6, "server", ["deal"]))
    hand = dealt("not previous 2", "PBB", bends={"deal": seen_open, "commit:seat/2": seen_open})
    why = "two entries of the server follow `open`, they say; one finding, and no equivocation: the types differ"
    bad("seen-not-previous-two", why, hand, ("seen-not-previous", 6, "server", ["commit:seat/2", "deal"]))

    def non_canonical(_hand, draft):
        key = draft["body"]["hand_key"]
        draft["body"]["hand_key"] = key[:-2] + format(int(key[-2:], 16) | 128, "x")

    hand = dealt("hand key", bends={c0: non_canonical})
    bad("commit-hand-key", "a person's hand key is not canonical", hand, ("commit-hand-key", 6, "seat/0", [c0]))
    bodies = [
        ("commit-person", "a person commits without a hand key", c0, lambda _hand, d: d["body"].pop("hand_key"), "seat/0"),
        ("commit-server", "a bot commits with a hand key", "commit:seat/2", body_setting(hand_key="09" + "00" * 31), "server"),
        ("deal-box", "a person's hand is not sealed", "deal", lambda _hand, d: d["body"]["hands"][1].pop("sealed"), "server"),
        ("deal-open", "a bot's hand is sealed", "deal", lambda _hand, d: d["body"]["hands"][2].update(sealed="00"), "server"),
        ("deal-more", "a hand for a seat that does not exist", "deal", lambda _hand, d: d["body"]["hands"].append({"commitment": "00" * 32}), "server"),
    ]
    for name, why, step, bend, who in bodies:
        bad("body-form-" + name, why, dealt(name, bends={step: bend}), ("body-form", 6, who, [step]))
    hand = played("pass box", bends={"pass:seat/1": lambda _hand, draft: draft["body"].pop("sealed")})
    bad("body-form-pass", "a person's pass is not sealed", hand, ("body-form", 6, "seat/1", ["pass:seat/1"]))
    more = lambda _hand, draft: draft["body"]["seeds"].update({"house": "00" * 64})  # noqa: E731
    hand = dealt("more seeds", bends={"close": more})
    bad("close-form-seeds", "a seed of a house where there is none", hand, ("close-form", 6, "server", ["close"]))
    more = lambda _hand, draft: draft["body"]["passes"].append(draft["body"]["deals"][0])  # noqa: E731
    hand = dealt("more passes", bends={"close": more})
    bad("close-form-passes", "a pass where nothing was passed", hand, ("close-form", 6, "server", ["close"]))
    for seat in (2, 7):
        hand = dealt(f"nobody {seat}", before={r1: lambda hand, seat=seat: hand.replace(seat)})
        why = f"seat {seat} is replaced, where no person sits"
        bad(f"replace-nobody-{seat}", why, hand, ("replace-nobody", 6, "server", [f"replace:{seat}"]))
    reasons = [
        ("operator", "operator", 1, ()),
        ("no-reveal", "no-reveal", 0, [("silence", 17, None, ["void"])]),
        ("no-reveal-bot", "no-reveal", 2, [("silence", 17, None, ["void"])]),
        ("bad-reveal", "bad-reveal", 1, ()),
        ("bad-pass", "bad-pass", 0, ()),
        ("dispute", "dispute", 0, ()),
        ("left", "left", None, [("silence", 17, None, ["void"])]),
    ]
    for name, reason, seat, remarks in reasons:
        hand = dealt(f"reason {name}", before={r1: lambda hand, r=reason, s=seat: hand.void(r, s)})
        why = f"void as `{reason}` of {seat}, when seat 0 has revealed and seat 1 has not"
        bad("void-reason-" + name, why, hand, ("void-reason", 6, "server", ["void"]), remarks=remarks)


def turn_culprit(hand):
    return hand.entries[hand.marks["play:4"]]["by"]


def equivocation_cases():
    r0, r1 = "reveal:seat/0", "reveal:seat/1"

    def other_reveal(hand):
        seen = hand.entries[hand.marks[r0]]["seen"]
        hand.put("x", "seat/0", "reveal", {"sealed": "aa" * 112}, seen)

    def other_seen(hand):
        hand.put("x", "seat/0", "reveal", {"sealed": "aa" * 112}, hand.head)

    def two_deals(hand):
        body = json.loads(json.dumps(hand.entries[hand.marks["deal"]]["body"]))
        body["hands"][0]["commitment"] = "00" * 32
        hand.put("x", "server", "deal", body)

    def close_too(hand):
        hand.put("close", "server", "void", {"reason": "operator", "seat": None, "seeds": {}, "hand_key": "22" * 32})

    def bad(name, why, hand, who, entries):
        case("equivocation-" + name, why, hand, findings=[("equivocation", 7, who, entries)])

    bad("reveal", "two reveals over one `seen`", dealt("two", before={r1: other_reveal}), "seat/0", [r0, "x"])
    bad("reveal-seen", "two reveals over two entries", dealt("two 2", before={r1: other_seen}), "seat/0", [r0, "x"])
    bad("deal", "two deals", dealt("two deals", before={"close": two_deals}), "server", ["deal", "x"])
    def two_opens(hand):
        body = changed(hand.body, clock={"grace_ms": 0, "reserve_ms": 0})
        hand.bends["x"] = setting(seen=GENESIS)
        hand.put("x", "server", "open", body)

    bad("open", "two `open`s of one attempt", dealt("two opens", before={r1: two_opens}), "server", ["open", "x"])
    hand = dealt("two ends", before={"end": close_too})
    hand.marks["void"], hand.marks["close"] = hand.marks["close"], len(hand.entries) - 4
    bad("ends", "a `close` and a `void`", hand, "server", ["close", "void"])


def opening_cases():
    """Checks 8 to 11: what `close` opens."""

    def other_salt(name):
        return lambda _hand, draft: draft["body"][name].__setitem__(
            0, changed(draft["body"][name][0], salt="00" * 32)
        )

    def bad(folder, why, hand, *findings):
        case(folder, why, hand, findings=findings)

    hand = dealt("seed", bends={"close": lambda _hand, draft: draft["body"]["seeds"].update({"seat/2": "00" * 64})})
    bad("seed-mismatch", "the seed of a bot is another than committed", hand, ("seed-mismatch", 8, "server", ["commit:seat/2", "close"]))
    hand = dealt("person seed", bends={"close": lambda _hand, draft: draft["body"]["seeds"].update({"seat/0": "00" * 64})})
    bad("seed-mismatch-person", "the seed of a person is another", hand, ("seed-mismatch", 8, "server", ["commit:seat/0", "close"]))
    copy = lambda hand, draft: draft["body"].update(commitment=hand.commits["seat/0"]["commitment"])  # noqa: E731
    hand = dealt("copy", bends={"commit:seat/1": copy}, before={"reveal:seat/1": lambda hand: hand.void("no-reveal", 1)})
    remarks = [("commitment-copied", 8, None, ["commit:seat/0", "commit:seat/1"]), ("silence", 17, None, ["void"])]
    case("commitment-copied", "a person copied another's commitment, and cannot reveal", hand, "incomplete", (), remarks)
    hand = dealt("deal salt", bends={"close": other_salt("deals")})
    bad("deal-opening", "the opening of a hand has another salt", hand, ("deal-opening", 9, "server", ["deal", "close"]))

    def stacked(_hand, deck):
        return [deck[1], deck[0], *deck[2:]]

    hand = dealt("stacked", bends={"deck": stacked})
    bad("deal-cards", "two seats have each other's card", hand, *[("deal-cards", 9, "server", ["deal", "close"])] * 2)
    hand = dealt("order", bends={"cards:deal:seat/1": lambda _hand, some: some[::-1]})
    bad("deal-cards-order", "a hand is not listed by position", hand, ("deal-cards", 9, "server", ["deal", "close"]))
    p0 = "pass:seat/0"
    hand = played("pass salt", bends={"close": other_salt("passes")})
    bad("pass-opening", "the opening of a pass has another salt", hand, ("pass-opening", 10, "server", [p0, "close"]))
    hand = played("pass order", bends={"cards:" + p0: lambda _hand, some: some[::-1]})
    bad("pass-cards-order", "a pass is not in canonical order", hand, ("pass-cards", 10, "seat/0", [p0]))
    hand = search(pass_of_others)
    bad("pass-cards-not-held", "a card is passed that the seat was not dealt", hand, ("pass-cards", 10, "seat/0", [p0]))
    hand = played("exchange salt", bends={"close": other_salt("exchanges")})
    bad("exchange-opening", "the opening of an exchange has another salt", hand, ("exchange-opening", 11, "server", ["exchange", "close"]))
    wrong = {"cards:exchange:seat/0": lambda hand, _some: list(hand.passed[0])}
    wrong["cards:exchange:seat/2"] = lambda hand, _some: list(hand.passed[1])
    hand = played("no gift", hand=2, bends=wrong)
    bad("exchange-cards", "the cards go to the wrong seats", hand, *[("exchange-cards", 11, "server", ["exchange", "close"])] * 2)


def pass_of_others(number):
    """Seat 0 passes on a card that seat 2 is about to pass to it; nobody plays a card twice."""

    def foreign(hand, some):
        theirs = policy_pass("low/1", hand.terms, None, hand.hands[2])
        return hand.terms.ordered([some[0], theirs[0]])

    hand = played(f"pass on {number}", bends={"cards:pass:seat/0": foreign})
    there = [e["body"]["card"] for e in hand.entries if e["type"] == "play"]
    if len(set(there)) == len(there):
        hand.marks["bad"] = hand.marks["pass:seat/0"]
    return hand


def play_cases():
    def bad(folder, why, hand, *findings):
        case(folder, why, hand, findings=findings)

    def culprit(hand):
        return hand.entries[hand.marks["bad"]]["by"]

    def one(code_, why, build, folder=None):
        hand = search(build)
        bad(folder or code_, why, hand, (code_, 12, culprit(hand), ["bad"]))

    for name, play, card, why in (
        ("", "play:4", "ZZ", "a card that the deck has not: the play goes on after it"),
        ("-led", "play:3", "ZZ", "a trick is led with such a card: who led it wins it"),
        ("-heart", "play:4", "KH", "a heart that the deck has not is no heart: none are broken"),
    ):
        hand = played("zz", bends={play: body_setting(card=card)})
        who = hand.entries[hand.marks[play]]["by"]
        bad("play-unknown-card" + name, why, hand, ("play-unknown-card", 12, who, [play]))

    def neighbour(hand, seat):
        return (seat + 1) % hand.n

    def not_first(hand, draft):
        hand.marks["bad"] = len(hand.entries)
        draft["body"] = {"card": hand.hands[int(draft["by"][5:])][0]}

    one("play-first-lead", "another card than the lowest club begins", lambda i: played(f"lead {i}", bends={"turn:0": neighbour, "play:0": not_first}))

    def own_again(hand, seat, _card):
        mine = hand.play.played[seat]
        return mine[0] if hand.play.tricks == 2 and hand.play.trick and mine else None

    one("play-not-held", "a seat plays its card of the first trick again", lambda i: played(f"again {i}", bends=first_chance(own_again)), "play-not-held-again")

    def borrowed(hand, seat, _card):
        others = [c for s in range(hand.n) if s != seat for c in hand.hands[s]]
        return others[0] if hand.play.tricks == 1 and hand.play.trick else None

    hand = search(lambda i: played(f"borrow {i}", bends=first_chance(borrowed)))
    card = hand.entries[hand.marks["bad"]]["body"]["card"]
    twice = [i for i, e in enumerate(hand.entries) if e["type"] == "play" and e["body"]["card"] == card][1]
    why = "a seat plays another's card, who then plays it too"
    bad("play-not-held-card-twice", why, hand, ("play-not-held", 12, culprit(hand), ["bad"]), ("card-twice", 12, None, [twice]))
    one("play-revoke", "a seat could follow suit and did not", lambda i: played(f"revoke {i}", bends=illegal("play-revoke")))
    why = "a scoring card in the first trick, with others to play"
    one("play-first-trick-points", why, lambda i: played(f"ftp {i}", bends=illegal("play-first-trick-points")))
    why = "a heart is led before hearts are broken"
    one("play-hearts-unbroken", why, lambda i: played(f"hu {i}", bends=illegal("play-hearts-unbroken")))


def policy_cases():
    def other(hand, seat, card):
        return next((c for c in hand.play.legal(hand.hands[seat]) if c != card), None)

    for name in POLICIES:
        build = lambda i, name=name: played(f"{name} {i}", "PPB", policies={2: name}, bends=first_chance(other, "B"))  # noqa: E731
        hand = search(build)
        why = f"a bot of {name} plays another legal card"
        findings = [("policy-departed", 13, "server", ["bad", "close"])]
        case("policy-departed-" + name.replace("/", "-"), why, hand, findings=findings)

    def lowest(hand, _some):
        return hand.terms.ordered(by_rank(hand.terms, hand.hands[2])[:2])

    hand = played("policy pass", "PPB", bends={"cards:pass:seat/2": lowest})
    findings = [("policy-departed", 13, "server", ["pass:seat/2", "close"])]
    case("policy-departed-pass", "a bot of low/1 passes its lowest cards", hand, findings=findings)
    hand = search(
        lambda i: played(
            f"sub {i}",
            "PPB",
            before={"play:3": lambda hand: hand.replace(0)},
            bends=first_chance(lambda h, s, c: other(h, s, c) if s == 0 else None, "B"),
        )
    )
    findings = [("policy-departed", 13, "server", ["bad", "close"])]
    case("policy-departed-substitute", "the substitute plays another legal card", hand, findings=findings)


def clock_cases():
    clock = {"clock": {"grace_ms": 500, "reserve_ms": 2000}}
    before = {"play:5": lambda hand: hand.replace(min(hand.play.turn), "expelled")}
    hand = played("early", before=before, **clock)
    mark = next(m for m in hand.marks if m.startswith("replace"))
    findings = [("expelled-early", 14, "server", [mark])]
    case("expelled-early", "expelled with reserve left", hand, findings=findings)
    before = {"pass:seat/2": lambda hand: hand.replace(2, "unresponsive")}
    hand = played("early pass", before=before, clock={"grace_ms": 0, "reserve_ms": 60_000})
    findings = [("expelled-early", 14, "server", ["replace:2"])]
    case("expelled-early-pass", "replaced as unresponsive while it had time to pass", hand, findings=findings)


def score_cases():
    def bad(folder, why, hand, *findings):
        case(folder, why, hand, findings=findings)

    raised = lambda _hand, values: [values[0] + 1, *values[1:]]  # noqa: E731
    hand = played("points", bends={"points": raised})
    bad("points-wrong", "a point too many, and carried into the scores", hand, ("points-wrong", 15, "server", ["close"]))
    hand = played("scores", bends={"scores": raised})
    bad("scores-wrong", "the points are right, the scores do not follow", hand, ("scores-wrong", 15, "server", ["close"]))
    result = {"winners": [0], "places": [1, 2, 3], "left": []}
    hand = played("result", bends={"close": body_setting(result=result)})
    bad("result-wrong", "a result, and nobody is at `end_score`", hand, ("result-wrong", 16, "server", ["close"]))
    ending = changed(HEARTS, end_score=1)
    hand = played("no result", rules=ending, bends={"close": body_setting(result=None)})
    bad("result-wrong-missing", "no result, and the game is over", hand, ("result-wrong", 16, "server", ["close"]))
    hand = dealt("deal result", bends={"close": body_setting(result=result)})
    bad("result-wrong-deal", "a result of a hand that was only dealt", hand, ("result-wrong", 16, "server", ["close"]))


def void_cases():
    r0, r1, p0, c0 = "reveal:seat/0", "reveal:seat/1", "pass:seat/0", "commit:seat/0"

    def bad(folder, why, hand, *findings, remarks=()):
        case(folder, why, hand, findings=findings, remarks=remarks)

    def without(who):
        return {"void": lambda _hand, draft: draft["body"]["seeds"].pop(who)}

    def voiding(step, *reason):
        return {"before": {step: lambda hand: hand.void(*reason)}}

    silence = [("silence", 17, None, ["void"])]
    bends = {"void": body_setting(hand_key="33" * 32)}
    hand = dealt("void key", bends=bends, **voiding(r1, "operator"))
    bad("void-key", "another private key is disclosed", hand, ("void-key", 17, "server", [0, "void"]))
    random = {"revealed:seat/0": lambda hand, _seed: hand.random.take(64)} | without("seat/0")
    finding = ("bad-reveal", 17, "seat/0", [c0, r0, "void"])
    hand = dealt("other seed", bends=random, **voiding(r1, "bad-reveal", 0))
    bad("bad-reveal-seed", "a person reveals another seed", hand, finding)
    short = {"revealed:seat/0": lambda _hand, seed: seed[:63]} | without("seat/0")
    hand = dealt("short seed", bends=short, **voiding(r1, "bad-reveal", 0))
    bad("bad-reveal-short", "63 bytes are revealed", hand, finding)
    sealed = {r0: lambda hand, draft: draft["body"].update(sealed=flipped(hand, draft["body"]["sealed"]))}
    hand = dealt("bad box", bends=sealed | without("seat/0"), **voiding(r1, "bad-reveal", 0))
    bad("bad-reveal-box", "a reveal's box does not open", hand, finding)
    hand = dealt("no seed", bends=without("seat/2"), **voiding(r1, "no-reveal", 1))
    bad("void-seeds-missing", "the seed of a bot is not disclosed", hand, ("void-seeds", 17, "server", ["void"]), remarks=silence)
    wrong = {"void": lambda _hand, draft: draft["body"]["seeds"].update({"seat/1": "00" * 64})}
    hand = dealt("wrong seed", bends=wrong, **voiding(r1, "no-reveal", 1))
    bad("void-seeds-wrong", "a seed is disclosed that opens nothing", hand, ("void-seeds", 17, "server", ["void"]), remarks=silence)
    hand = played("pass box", bends={"box:" + p0: flipped}, **voiding("pass:seat/1", "bad-pass", 0))
    finding = ("bad-pass", 17, "seat/0", [p0, "void"])
    bad("bad-pass-box", "a pass's box does not open", hand, finding)
    spaced = {"plain:" + p0: lambda _hand, plain: plain.replace(b":", b": ")}
    hand = played("pass json", bends=spaced, **voiding("pass:seat/1", "bad-pass", 0))
    bad("bad-pass-json", "a pass's box holds another JSON text of the same cards", hand, finding)
    reversed_ = {"cards:" + p0: lambda _hand, some: some[::-1]}
    hand = played("pass order", bends=reversed_, **voiding("pass:seat/1", "bad-pass", 0))
    bad("bad-pass-order", "a pass is not in canonical order", hand, finding)
    foreign = {"cards:" + p0: lambda hand, _some: hand.terms.ordered(hand.hands[1][:2])}
    hand = played("foreign", bends=foreign, **voiding("pass:seat/1", "bad-pass", 0))
    why = "cards are passed that the seeds gave another seat: nobody is named, the deal stays closed"
    bad("bad-pass-foreign", why, hand, ("bad-pass", 17, None, ["void"]))
    hand = played("unfounded", **voiding("pass:seat/1", "bad-pass", 0))
    bad("void-unfounded-pass", "the pass was good", hand, ("void-unfounded", 17, "server", [p0, "void"]))
    hand = dealt("unfounded reveal", **voiding(r1, "bad-reveal", 0))
    bad("void-unfounded-reveal", "the reveal was good", hand, ("void-unfounded", 17, "server", [r0, "void"]))
    finding = ("void-after-reveals", 17, "server", [r0, r1, "void"])
    hand = dealt("after", **voiding("close", "operator"))
    bad("void-after-reveals", "given up when the cards were dealt", hand, finding)
    hand = dealt("after left", **voiding("deal", "left", 0))
    bad("void-after-reveals-left", "given up after the last reveal, because somebody left", hand, finding, remarks=silence)


def dispute_cases():
    c0 = "commit:seat/0"

    def disputed(label, build=dealt, step="close", of="deal", **more):
        def before(hand):
            hand.dispute(0, of)
            hand.void("dispute", 0)

        return build(label, before={step: before}, **more)

    def bad(folder, why, hand, code_, who, entries):
        case(folder, why, hand, findings=[(code_, 18, who, entries)])

    deal, exchange = [c0, "deal", "dispute:0"], [c0, "exchange", "dispute:0"]
    hand = disputed("key", bends={"dispute:0": body_setting(hand_key="44" * 32)})
    bad("dispute-key", "another private key is disclosed", hand, "dispute-key", "seat/0", [c0, "dispute:0"])
    bad("dispute-unfounded", "the box is in order", disputed("unfounded"), "dispute-unfounded", "seat/0", deal)
    hand = disputed("unfounded x", played, "play:2", "exchange")
    bad("dispute-unfounded-exchange", "the box of the exchange is in order", hand, "dispute-unfounded", "seat/0", exchange)
    founded = [
        ("box", "the box does not open", {"box:deal:seat/0": flipped}),
        ("json", "the box holds another JSON text", {"plain:deal:seat/0": lambda _hand, plain: plain + b" "}),
        ("commitment", "the box holds other cards than committed", {"plain:deal:seat/0": lambda _hand, plain: plain.replace(b"2C", b"3C").replace(b"4H", b"3H").replace(b"QS", b"2S").replace(b"4D", b"3D")}),
        ("count", "a card too few", {"cards:deal:seat/0": lambda _hand, some: some[1:]}),
        ("foreign", "a card that the deck has not", {"cards:deal:seat/0": lambda _hand, some: ["AS", *some[1:]]}),
    ]
    for name, why, bends in founded:
        bad("dispute-founded-" + name, why, disputed(name, bends=bends), "dispute-founded", "server", deal)
    again = {"cards:exchange:seat/0": lambda hand, _some: hand.terms.ordered(hand.openings["deal", 0]["cards"][:2])}
    hand = disputed("again", played, "play:0", "exchange", bends=again)
    why = "the exchange gives a seat cards that it was dealt already"
    bad("dispute-founded-exchange", why, hand, "dispute-founded", "server", exchange)


MALFORMED = [
    ("empty", "no bytes", lambda _t: b""),
    ("not-json", "no JSON", lambda t: t[:-5]),
    ("bom", "a byte order mark", lambda t: b"\xef\xbb\xbf" + t),
    ("version", "another version", lambda t: t.replace(b'"fairdeal":1', b'"fairdeal":2')),
    ("version-true", "the version is `true`", lambda t: t.replace(b'"fairdeal":1', b'"fairdeal":true')),
    ("no-entries", "no entries", lambda _t: b'{"entries":[],"fairdeal":1}'),
    ("member", "a member too many", lambda t: t.replace(b'"fairdeal":1', b'"fairdeal":1,"x":0')),
    ("twice", "a member twice", lambda t: t.replace(b'"fairdeal":1', b'"fairdeal":1,"fairdeal":1')),
    ("sig-null", "a signature is null", lambda t: re.sub(rb'"sig":"[0-9a-f]+"', b'"sig":null', t, count=1)),
    ("hex-upper", "a hash in upper case", lambda t: re.sub(rb'"prev":"[0-9a-f]+"', b'"prev":"' + b"A" * 64 + b'"', t, count=1)),
    ("float", "a number with a fraction", lambda t: t.replace(b'"seq":0', b'"seq":0.0')),
    ("minus", "a negative time", lambda t: re.sub(rb'"at":\d+', b'"at":-1', t, count=1)),
    ("type", "an unknown type", lambda t: t.replace(b'"type":"open"', b'"type":"opened"')),
    ("party", "an unknown party", lambda t: t.replace(b'"by":"server"', b'"by":"seat/10"')),
    ("body", "a body with a member too many", lambda t: t.replace(b'"clock":null', b'"clock":null,"x":1')),
    ("body-missing", "a body with a member too few", lambda t: t.replace(b'"clock":null,', b"")),
    ("name", "a table named with a control character", lambda t: t.replace(b"Vectors", b"Vec\\u202etors")),
    ("name-long", "a table named with 65 characters", lambda t: t.replace(b"Vectors", b"V" * 65)),
    ("removed", "52 cards removed", lambda t: re.sub(rb'"deck":{[^}]*}', b'"deck":{"packs":1,"removed":[' + b",".join(b'"%s"' % c.encode() for c in FRENCH) + b"]}", t)),
    ("policy", "a policy name in upper case", lambda t: t.replace(b"low/1", b"Low/1")),
    ("after", "something follows", lambda t: t + b"{}"),
]


def record_of(hand, seat):
    """The record an honest seat has at the end of a hand that it played itself."""
    who = f"seat/{seat}"
    own = [e for e in hand.entries if e["by"] == who]
    opening = {kind: hand.openings.get((kind, seat)) for kind in ("deal", "pass", "exchange")}
    return {
        "hand": hand.hand_id.hex(),
        "seat": seat,
        "key": hand.pairs[seat][0].hex(),
        "seed": hand.seeds[who].hex(),
        "hand_key": hand.hand_keys[seat].hex(),
        "head": {"seq": len(hand.entries) - 1, "hash": hand.head},
        "dealt": opening["deal"],
        "passed": opening["pass"],
        "received": opening["exchange"],
        "sent": [{name: e[name] for name in ("by", "type", "seen", "body", "sig")} for e in own],
    }


def pin_cases():
    """Checks 19 to 21: what the caller knows and the transcript does not bear out."""
    def honest():
        return played("pins", "PPP")

    hand = honest()
    keys = {who: pair[0].hex() for who, pair in hand.pairs.items()}
    mine = record_of(hand, 1)
    case("pins-and-record", "the right keys, the right record, the right end", hand, "valid",
         pins={"server_key": keys["server"], "seat_keys": {"0": keys[0], "2": keys[2]},
               "head": hand.head, "record": mine})
    case("pin-server-key", "the log of another server than the pinned one", honest(),
         findings=[("pin-server-key", 19, None, [0])], pins={"server_key": "11" * 32})
    case("pin-server-key-of-a-seat", "a near miss: the pinned server's key is that of a seat", honest(),
         findings=[("pin-server-key", 19, None, [0])], pins={"server_key": keys[0]})
    case("pin-seat-key", "somebody else sits at the seat whose key is pinned", honest(),
         findings=[("pin-seat-key", 19, None, [0])], pins={"seat_keys": {"1": "22" * 32}})
    case("pin-seat-key-swapped", "two pinned keys, each at the other's seat", honest(),
         findings=[("pin-seat-key", 19, None, [0])] * 2,
         pins={"seat_keys": {"0": keys[1], "1": keys[0]}})
    case("pin-seat-key-no-seat", "a key pinned for a seat that the table does not have", honest(),
         findings=[("pin-seat-key", 19, None, [0])], pins={"seat_keys": {"7": keys[1]}})
    case("record-key", "the record has another key than the transcript at that seat", honest(),
         findings=[("record-key", 20, None, [0])], pins={"record": mine | {"key": "33" * 32}})
    case("record-seed", "the close states another seed than the seat remembers",
         played("record-seed", "PPP"), findings=[("record-seed", 20, None, ["close"])],
         pins={"record": record_of(played("record-seed", "PPP"), 1) | {"seed": "44" * 64}})
    for kind, member in (("deal", "dealt"), ("pass", "passed"), ("exchange", "received")):
        other = {"cards": mine[member]["cards"][::-1], "salt": mine[member]["salt"]}
        case(f"record-cards-{kind}", f"the close opens another {kind} than the seat remembers", honest(),
             findings=[("record-cards", 20, None, ["close"])], pins={"record": mine | {member: other}})
    case("record-message", "the transcript has a play in the seat's name that it never made", honest(),
         findings=[("record-message", 20, None, [hand.entries.index(last_of(hand, "seat/1", "play"))])],
         pins={"record": mine | {"sent": [one for one in mine["sent"]
                                          if one["seen"] != last_of(hand, "seat/1", "play")["seen"]]}})
    case("record-head", "the transcript does not hold the last entry that the seat had seen", honest(),
         findings=[("record-head", 20, None, [8])],
         pins={"record": mine | {"head": {"seq": 8, "hash": "55" * 32}}})
    case("head-missing", "the pinned end is no entry of the log", honest(),
         findings=[("head-missing", 21, None, [len(hand.entries) - 1])], pins={"head": "66" * 32})
    case("head-missing-hand-id", "a near miss: the hand id pins no end", honest(),
         findings=[("head-missing", 21, None, [len(hand.entries) - 1])],
         pins={"head": hand.hand_id.hex()})
    case("head-passed", "the log goes on after the pinned end", honest(),
         findings=[("head-passed", 21, None, ["close"])],
         pins={"head": entry_hash(hand.entries[hand.marks["close"] - 1])})


def last_of(hand, by, kind):
    return [e for e in hand.entries if e["by"] == by and e["type"] == kind][-1]


def malformed_cases():
    whole = cut(dealt("malformed"), 1).data()
    for name, why, change in MALFORMED:
        data = change(whole)
        assert data != whole, name
        case("malformed-" + name, why, data, "malformed", [("malformed", 1, None, [])])
    later = json.loads(dealt("malformed").data())
    later["entries"] = later["entries"][1:2]
    case("malformed-first", "the first entry is a commit", jcs(later), "malformed", [("malformed", 1, None, [])])


# ---------------------------------------------------------------- games, with claims

GAMES = []
SIX = {"cards": ["2C", "3C", "2H", "3H", "2S", "QS"]}
SHORT = changed(HEARTS, pass_cycle=[0], card_points={"QS": 3}, moon="none", end_score=9)


def game_case(folder, why, hands, status="invalid", findings=(), remarks=(), pins=None, statuses=None):
    """A game and what is CLAIMED of it: (code, check, culprit or None, hands).

    `statuses` are the hands', if not all are valid.
    """
    statuses = statuses or ["valid"] * len(hands)
    GAMES.append((folder, why, hands, status, list(findings), list(remarks), pins or {}, statuses))


def opening_hand(label, kinds="PPP", **more):
    """The first hand of a short game: six cards, nothing is passed."""
    return Hand(label, kinds, **({"rules": SHORT, "deck": SIX} | more)).run()


def next_hand(old, **more):
    """The hand after that one, as an honest server opens it, but for what is given."""
    end, body = old.entries[old.marks.get("close", old.marks.get("void"))], old.body
    closed, gone = end["type"] == "close", set(old.gone)
    if not closed:
        gone |= {end["body"]["seat"]} - {None}
    due = {name: body[name] for name in ("table", "game", "house", "substitute", "clock", "deck", "rules")}
    due |= {"hand": body["hand"] + closed, "attempt": 1 if closed else body["attempt"] + 1}
    due |= {"previous": entry_hash(end), "scores": (end["body"] if closed else body)["scores"]}
    due |= {"pairs": old.pairs, "left": old.left | gone}
    due["policies"] = {i: seat["policy"] for i, seat in enumerate(body["seats"]) if seat["kind"] == "bot"}
    due["kinds"] = "".join("B" if i in gone else kind for i, kind in enumerate(old.kinds))
    return Hand(f"{old.random.label}, next", **(due | more)).run()


def close_of(hand):
    return hand.entries[hand.marks["close"]]["body"]


def finished(hands):
    """The game played to its result."""
    while close_of(hands[-1])["result"] is None:
        hands = [*hands, next_hand(hands[-1])]
    return hands


def first_open(label, **more):
    """A first hand that does not end the game, whatever is changed about the next."""
    return opening_hand(label, rules=changed(SHORT, end_score=99), **more)


def leaves(name, seat=1):
    return {name: lambda hand: hand.replace(seat, "left")}


def gives_up(reason, seat=None, name="reveal:seat/1"):
    return {name: lambda hand: hand.void(reason, seat)}


def good_games():
    def good(name, why, hands, status="valid", **more):
        game_case(name, why, hands, status, **more)

    hands = finished([opening_hand("a game")])
    good("22-all-linked", "a game from its first hand to its result", hands)
    good("22-unfinished", "every hand is right, and the game goes on", hands[:-1], "incomplete")
    hands = finished([opening_hand("bots", "PBB", policies={1: "random/1"}, house=True).compact()])
    good("22-compacted", "the first hand is compacted, its bots and the house sit on", hands)
    void = opening_hand("void", before=gives_up("operator"))
    good("23-voided-attempt", "the first attempt is given up, and the next one is attempt 2",
         finished([void, next_hand(void)]), statuses=["incomplete", *["valid"] * 2])
    good("23-voided-at-the-end", "an attempt given up, and no more", [void], "incomplete", statuses=["incomplete"])
    silent = opening_hand("silent", before=gives_up("no-reveal", 1))
    good("24-silent-is-a-bot", "who held up the first attempt is a bot from the second on, and has left at the end",
         finished([silent, next_hand(silent)]), statuses=["incomplete", *["valid"] * 2])
    gone = opening_hand("gone", before=leaves("play:3"))
    good("26-leaver", "a person leaves, a bot sits there from the next hand on, and the result says who left",
         finished([gone, next_hand(gone)]))
    two = [first_open("damage")]
    two.append(next_hand(two[0]))
    good("22-damaged-hand", "a hand that is no transcript among good ones: it is malformed, they are judged",
         [two[0], {"entries": []}, two[1]], "malformed", statuses=["valid", "malformed", "valid"])
    good("22-whole-transcript-as-hand", "a hand with a member more is malformed, whatever else is in it",
         [two[0], {"fairdeal": 1, "entries": two[1].entries}], "malformed", statuses=["valid", "malformed"])
    again = first_open("reused")
    bends = {"seed:seat/1": lambda _hand, _seed: again.seeds["seat/1"]}
    reused = ("seed-reused", 27)
    good("27-seed-reused", "a person commits to the seed of its first hand again",
         [again, next_hand(again, bends=bends)], "incomplete", remarks=[(*reused, "seat/1", [0, 1])])
    bot = first_open("stolen", kinds="PPB")
    bends = {"seed:seat/2": lambda _hand, _seed: bot.seeds["seat/1"]}
    stolen = [bot, next_hand(bot, bends=bends)]
    good("27-seed-reused-by-server", "a bot's seed is one that a person opened before", stolen, "incomplete",
         remarks=[(*reused, "server", [0, 1])])
    game_case("27-seed-reused-turned-round", "the file has the two hands the other way round: the person is not named",
              stolen[::-1], findings=[("hand-missing", 22, None, [0]), ("hand-missing", 22, None, [0, 1])],
              remarks=[(*reused, None, [0, 1])])
    bends = {"seed:seat/2": lambda hand, _seed: hand.seeds["seat/1"]}
    good("27-seed-reused-within", "two shufflers of one hand have one seed: nobody is named",
         [first_open("within", bends=bends)], "incomplete", remarks=[(*reused, None, [0])])


def bad_games():
    def server(folder, why, code_, check, base=None, **more):
        """The next hand, changed by the server that opened it."""
        base = base or first_open("base")
        statuses = ["incomplete" if "void" in base.marks else "valid", "valid"]
        game_case(folder, why, [base, next_hand(base, **more)], statuses=statuses,
                  findings=[(code_, check, "server", [0, 1])])

    one = first_open("missing")
    two = next_hand(one)
    three = next_hand(two)
    missing = [("hand-missing", 22, None, [0, 1])]
    game_case("22-hand-missing", "the second hand is not in the file: nobody is named", [one, three], findings=missing)
    game_case("22-hand-missing-first", "the file begins with the second hand", [two, three],
              findings=[("hand-missing", 22, None, [0])])
    game_case("22-hand-missing-repeated", "a hand stands in the file twice: no seed of it is used twice", [one, one],
              findings=missing)
    game_case("22-hand-missing-end", "the hand before does not end", [cut(first_open("missing"), -4), two],
              findings=missing, statuses=["incomplete", "valid"])
    over = finished([opening_hand("a game")])[-1]
    game = next_hand(over, game="Another game", hand=1, scores=[0] * 3, left=())
    game_case("22-hand-missing-another-game", "the table's next game in the file of the one before: an honest server",
              [over, game], findings=[("hand-missing", 22, None, [0]), *missing])

    server("23-number-wrong", "the hand after the first is numbered 3", "number-wrong", 23, hand=3)
    server("23-number-wrong-attempt", "the attempt after a close is numbered 2", "number-wrong", 23, attempt=2)
    void = opening_hand("void", before=gives_up("operator"))
    server("23-number-wrong-after-void", "a void does not end the hand", "number-wrong", 23, void, hand=2, attempt=1)
    server("23-number-wrong-game", "the second hand says another game", "number-wrong", 23, game="Another game")
    server("23-number-wrong-table", "the second hand says another table", "number-wrong", 23, table="Another table")
    hands = finished([opening_hand("a game")])
    last = [len(hands) - 1, len(hands)]
    game_case("23-game-over", "a hand after the result; with the scores carried, check 3 would refuse its own `open`",
              [*hands, next_hand(hands[-1], scores=[0] * 3)],
              findings=[("game-over", 23, "server", last), ("scores-not-carried", 25, "server", last)])

    for name, value in (
        ("rules", changed(SHORT, end_score=98)), ("deck", {"cards": SIX["cards"][::-1]}), ("house", True),
        ("substitute", "random/1"), ("clock", {"grace_ms": 9000, "reserve_ms": 0}),
    ):
        server(f"24-terms-changed-{name}", f"the second hand has another `{name}`", "terms-changed", 24, **{name: value})
    server("24-terms-changed-stranger", "somebody else sits at seat 1", "terms-changed", 24,
           pairs=first_open("base").pairs | {1: first_open("stranger").pairs[1]})
    server("24-terms-changed-bot", "a bot sits where a person did not leave", "terms-changed", 24, kinds="PBP")
    server("24-terms-changed-policy", "a bot's policy is another", "terms-changed", 24,
           first_open("policy", kinds="PPB"), policies={2: "random/1"})
    gone = first_open("gone", before=leaves("play:3"))
    server("24-terms-changed-back", "who left sits there again", "terms-changed", 24, gone, kinds="PPP")
    server("24-terms-changed-no-substitute", "the bot for who left does not play the substitute", "terms-changed", 24, gone,
           policies={1: "random/1"})
    silent = opening_hand("silent", before=gives_up("no-reveal", 1))
    server("24-terms-changed-silent", "who held up the attempt still sits there", "terms-changed", 24, silent, kinds="PPP")
    false = opening_hand("false", before=gives_up("bad-reveal", 1, "deal"), bends={"revealed:seat/1": lambda *_: bytes(64)})
    for name, kinds in (("stays", "PPP"), ("is-a-bot", "PBP")):
        game_case(f"24-named-{name}", "the `void` names seat 1 for what its person did: it may stay, and may be a bot",
                  [false, next_hand(false, kinds=kinds)], statuses=["invalid", "valid"])
    one = first_open("base")
    two = next_hand(one, hand=3, bends={"open": setting(sig="00" * 64)})
    game_case("23-number-wrong-unsigned", "the signature of the `open` that is misnumbered is none: nobody is named",
              [one, two], statuses=["valid", "invalid"], findings=[("number-wrong", 23, None, [0, 1])])
    one, key = first_open("base"), first_open("another key").pairs["server"]
    game_case("24-terms-changed-server-key", "the second hand is another server's: nobody is named",
              [one, next_hand(one, pairs=one.pairs | {"server": key})], findings=[("terms-changed", 24, None, [0, 1])])

    server("25-scores-not-carried", "the second hand begins with other scores", "scores-not-carried", 25, scores=[1, 2, 3])
    two = next_hand(first_open("base"), before=gives_up("operator"))
    game_case("25-scores-not-carried-void", "the second attempt begins with other scores than the first",
              [first_open("base"), two, next_hand(two, scores=[4, 5, 6])], statuses=["valid", "incomplete", "valid"],
              findings=[("scores-not-carried", 25, "server", [1, 2])])

    wrong = [("left-wrong", 26, "server", [1])]
    hands = two_hands_to_the_end(left={2})
    game_case("26-left-wrong", "the result says of a bot of the first hand that its person left", hands, findings=wrong)
    end = hands[1].entries[hands[1].marks["close"]]
    unsigned = Hand("unsigned")
    unsigned.entries = [*hands[1].entries]
    unsigned.entries[hands[1].marks["close"]] = end | {"sig": "00" * 64}
    game_case("26-left-wrong-unsigned", "the same, but the signature of the `close` is none: nobody is named",
              [hands[0], unsigned], findings=[("left-wrong", 26, None, [1])], statuses=["valid", "invalid"])
    hands = two_hands_to_the_end(before=leaves("play:3"))
    game_case("26-left-wrong-left-out", "a person left in the first hand, and the result does not say so", hands, findings=wrong)


def two_hands_to_the_end(before=None, left=()):
    """A game of two hands whose result says these left, and all that follows from it."""
    for number in range(100):
        one = opening_hand(f"left {number}", "PPB", before=before)
        if close_of(one)["result"] is not None:
            continue
        two = next_hand(one, left=left)
        if close_of(two)["result"] is not None:
            return [one, two]
    raise AssertionError


def pinned_games():
    gone = opening_hand("gone", before=leaves("play:3"))
    hands = finished([gone, next_hand(gone)])
    keys = {who: pair[0].hex() for who, pair in gone.pairs.items()}
    pins = {"server_key": keys["server"], "seat_keys": {"0": keys[0], "1": keys[1]}, "head": hands[-1].head,
            "record": record_of(hands[1], 0)}
    game_case("19-pins-and-record", "the right keys, one of them of who leaves, a record of the second hand, the right end",
              hands, "valid", pins=pins)
    game_case("21-head-of-the-first-hand", "the pinned end is another hand's", hands, pins={"head": hands[0].head},
              statuses=[*["valid"] * (len(hands) - 1), "invalid"])


def all_games():
    GAMES.clear()
    for group in (good_games, bad_games, pinned_games):
        group()
    return GAMES


def claimed(some):
    return sorted((game_finding(check, code_, hands, who) for code_, check, who, hands in some), key=by_hands)


def check_game(folder, why, hands, status, findings, remarks, pins, statuses):
    """Asserts the claim; gives the bytes and the expected verdict."""
    plain = [hand if isinstance(hand, dict) else {"entries": hand.entries} for hand in hands]
    data = jcs({"fairdeal": 1, "hands": plain}) + b"\n"
    expected = {
        "status": status,
        "findings": claimed(findings),
        "remarks": claimed(remarks),
        "hands": statuses,
    }
    found = verify_game(data, **pins)
    found["hands"] = [one["status"] for one in found["hands"]]
    if found != expected:
        raise AssertionError(f"{folder} ({why}):\nclaimed {expected}\nfound   {found}")
    return data, expected


# fmt: on


def all_cases():
    CASES.clear()
    groups = (
        good_cases, incomplete_cases, malformed_cases, chain_cases, terms_cases, signature_cases,
        order_cases, equivocation_cases, opening_cases, play_cases, policy_cases, clock_cases,
        score_cases, void_cases, dispute_cases, pin_cases,
    )  # fmt: skip
    for group in groups:
        group()
    return CASES


def expected_of(hand, status, findings, remarks):
    """The claim in the words of `verify`."""

    def spelled(one, attribution=None):
        code_, check, who, entries = one
        marks = {} if isinstance(hand, bytes) else hand.marks
        attribution = attribution or ("proven" if who else "unattributed")
        return {
            "code": code_,
            "check": check,
            "culprits": [who] if who else [],
            "attribution": attribution,
            "entries": sorted(e if isinstance(e, int) else marks[e] for e in entries),
        }

    word = [spelled(r, "server's word" if r[0] == "silence" else None) for r in remarks]
    return {
        "status": status,
        "findings": sorted(map(spelled, findings), key=finding_order),
        "remarks": sorted(word, key=finding_order),
    }


def check_case(folder, why, hand, status, findings, remarks, pins):
    """Asserts the claim; gives the bytes and the expected verdict."""
    data = hand if isinstance(hand, bytes) else hand.data()
    expected = expected_of(hand, status, findings, remarks)
    found = verify(data, **pins)
    del found["head"], found["given_up"]
    if found != expected:
        raise AssertionError(f"{folder} ({why}):\nclaimed {expected}\nfound   {found}")
    return data, expected


# ================================================================ 5. vectors

HAND_ID = hashlib.sha256(b"a hand id").digest()


def frames_vectors():
    fields = [
        ("fairdeal/v1/message", []),
        ("fairdeal/v1/message", [b""]),
        ("fairdeal/v1/message", [b"", b""]),
        ("fairdeal/v1/entry", [u64(0), bytes(32), u64(START), HAND_ID]),
        ("fairdeal/v1/commit", [HAND_ID, b"seat/0", bytes(64)]),
        ("fairdeal/v1/seal/deal", [HAND_ID, b"seat/0", b"server"]),
        ("t", [b"ab", b"c"]),
        ("t", [b"a", b"bc"]),
        ("é", ["ü".encode(), bytes(300)]),
        ("x" * 255, [b"a tag of 255 bytes"]),
    ]
    return [
        {"tag": tag, "fields": [f.hex() for f in some], "frame": frame(tag, *some).hex(), "hash": tagged(tag, *some).hex()}
        for tag, some in fields
    ]  # fmt: skip


def nested(depth):
    return b"[" * depth + b"]" * depth


ACCEPTED = [
    b"0", b"-1", b"9007199254740991", b"-9007199254740991", b"null", b"true", b'""', b"[]", b"{}",
    b" \t\r\n[ 1 , 2 ]\n ", b'{"b":1,"a":{"d":2,"c":3}}', b'{"aa":1,"a":2,"B":3,"_":4,"":5}',
    b'"\\u0041\\/\\b\\f\\n\\r\\t\\"\\\\"', b'"\\u0000\\u001F\\u007f\\u00e9"', '"\x7fé€😀"'.encode(),
    b'"\\ud83d\\ude00"', b'"\\u2028\\u2029\\ufeff"', b'{"\\u0061":1}', nested(16),
]  # fmt: skip

REFUSED = [
    (b"", "nothing"),
    (b"\xef\xbb\xbf0", "a byte order mark"),
    ("0".encode("utf-16"), "not UTF-8"),
    (b'"\xff"', "not UTF-8"),
    (b'"\xed\xa0\x80"', "a surrogate in UTF-8"),
    (b'"\xc0\x80"', "an overlong encoding"),
    (b"-0", "minus zero"),
    (b"01", "a leading zero"),
    (b"+1", "a plus sign"),
    (b"1.0", "a fraction"),
    (b"1e2", "an exponent"),
    (b"9007199254740992", "2^53"),
    (b"-9007199254740992", "-2^53"),
    (b"1" * 5000, "5,000 digits"),
    (b"NaN", "no JSON"),
    (b"Infinity", "no JSON"),
    (b"-Infinity", "no JSON"),
    (b"[1,]", "a comma too many"),
    (b'{"a":1,}', "a comma too many"),
    (b"[1 2]", "a comma too few"),
    (b"{a:1}", "a name that is no string"),
    (b"'a'", "single quotes"),
    (b'{"a":1,"a":1}', "a name twice"),
    (b'{"a":1,"\\u0061":2}', "a name twice, written otherwise"),
    (b'{"b":{"a":1,"a":1}}', "a name twice, further in"),
    ('{"é":1}'.encode(), "a name that is not ASCII"),
    (b'{"\\u00e9":1}', "a name that is not ASCII"),
    (b'"\\ud83d"', "a lone surrogate"),
    (b'"\\ude00\\ud83d"', "surrogates the wrong way round"),
    (b'"\\ud83dx\\ude00"', "lone surrogates"),
    (b'"\x01"', "a control character"),
    (b'"a\nb"', "a line feed in a string"),
    (b'"\\x41"', "no escape of JSON"),
    (b'"\\u12"', "an escape cut short"),
    (b'"a', "a string cut short"),
    (b"[", "cut short"),
    (b"[]]", "something follows"),
    (b"{} {}", "something follows"),
    (b"0\x00", "a zero byte follows"),
    (b"\x0c0", "a form feed is no white space"),
    (b"0\xc2\xa0", "a no-break space is no white space"),
    (b"[]//", "a comment"),
    (nested(17), "17 deep"),
    (b'{"a":' * 17 + b"0" + b"}" * 17, "17 deep"),
    (nested(100_000)[:100_000], "very deep"),
]


def json_vectors():
    out = [
        {"text": t.hex(), "accepted": True, "canonical": jcs(parse_json(t)).hex()} for t in ACCEPTED
    ]
    for data, why in REFUSED:
        try:
            parse_json(data)
        except Malformed:
            text_ = (
                data.hex() if len(data) < 6000 else {"repeat": data[:1].hex(), "times": len(data)}
            )
            out.append({"text": text_, "accepted": False, "why": why})
        else:
            raise AssertionError(why)
    return out


def hash_vectors():
    out = []
    hand = played("hashes", "PPB", house=True)
    for entry in hand.entries:
        message = jcs({name: entry[name] for name in ("body", "by", "seen", "type")})
        prev = bytes.fromhex(entry["prev"])
        hashed = message_hash(entry)
        out.append(
            {
                "entry": entry,
                "message_bytes": frame("fairdeal/v1/message", message).hex(),
                "message_hash": hashed.hex(),
                "entry_bytes": frame(
                    "fairdeal/v1/entry", u64(entry["seq"]), prev, u64(entry["at"]), hashed
                ).hex(),
                "entry_hash": entry_hash(entry),
            }
        )
    # one entry of each type is enough
    return list({one["entry"]["type"]: one for one in reversed(out)}.values())[::-1]


# ---------------------------------------------------------------- signatures


def little(number):
    return number.to_bytes(32, "little")


def raw_signature(scalar, key, message, r=None, point=None):
    """R and S with S = r + h·scalar, whatever R is said to be."""
    point = ed_encode(ed_mul(r, BASE)) if point is None else point
    h = int.from_bytes(hashlib.sha512(point + key + message).digest(), "little") % L
    return point + little(((r or 0) + h * scalar) % L)


def small_order_points():
    """The canonical and the non-canonical encodings of the eight points of small order."""
    canonical = sorted({ed_encode(ed_mul(i, ed_decode(ORDER_8))) for i in range(8)})
    odd = [little(P), little(P + 1), little(1 | 1 << 255), little(P - 1 | 1 << 255)]
    return canonical, [*odd, little(P | 1 << 255), little(P + 1 | 1 << 255)]


def signature_cases_raw():
    random = Bytes("signatures")
    hashed = HAND_ID
    message = SIGN_PREFIX + hashed
    for number in range(3):
        key, secret = sodium.crypto_sign_seed_keypair(random.take(32))
        digest = hashlib.sha256(f"message {number}".encode()).digest()
        yield key, digest, sign(secret, digest), True, "good"
    good = sign(secret, hashed)
    s = int.from_bytes(good[32:], "little")
    yield key, hashed, good, True, "good"
    yield key, hashed, good[:32] + little(s + L), False, "S + L"
    yield key, hashed, good[:32] + little(L), False, "S = L"
    yield key, hashed, good[:32] + little(2**256 - 1), False, "all bits of S set"
    yield key, hashed, good[:32] + little(0), False, "S = 0"
    yield key, hashed, bytes(64), False, "all zeros"
    yield key, hashed, bytes([good[0] ^ 1]) + good[1:], False, "R changed"
    yield key, hashed, good[:31] + bytes([good[31] ^ 128]) + good[32:], False, "-R"
    yield key, HAND_ID[::-1], good, False, "another message"
    other, other_secret = sodium.crypto_sign_seed_keypair(random.take(32))
    yield other, hashed, good, False, "another key"
    for prefix in (b"", SIGN_PREFIX[:-1], SIGN_PREFIX + b"\x00", SIGN_PREFIX.replace(b"v1", b"v2")):
        wrong = sodium.crypto_sign(prefix + hashed, other_secret)[:64]
        yield other, hashed, wrong, False, f"signed with the prefix {prefix!r}"
    # A of small order: S·B = R + h·A has solutions for everybody
    canonical, odd = small_order_points()
    for points, name in ((canonical, "canonical"), (odd, "not canonical")):
        for a in points:
            for r in range(1, 200):  # so that h·A is the neutral element
                if small_multiple(a, r, message):
                    sig = raw_signature(0, a, message, r)
                    yield a, hashed, sig, False, f"A of small order, {name}; S·B = R + h·A holds"
                    break
    # R of small order: S = h·a
    scalar = int.from_bytes(random.take(32), "little") % L
    mine = ed_encode(ed_mul(scalar, BASE))
    for point in canonical + odd:
        sig = raw_signature(scalar, mine, message, point=point)
        yield (
            mine,
            hashed,
            sig,
            False,
            "R of small order; holds after multiplication by 8, if R is read leniently",
        )
    # torsion in R: a cofactored verifier takes it
    for i in (1, 2, 4):
        torsion = ed_mul(i, ed_decode(ORDER_8))
        point = ed_encode(ed_add(ed_mul(7, BASE), torsion))
        sig = raw_signature(scalar, mine, message, 7, point)
        yield mine, hashed, sig, False, "R with a small-order component: good with cofactor only"
    # torsion in A
    mixed = ed_encode(ed_add(ed_mul(scalar, BASE), ed_decode(ORDER_8)))
    sig = mixed_signature(scalar, mixed, message, lambda h: h % 8 != 0)
    yield mixed, hashed, sig, False, "A of mixed order: good with cofactor only"
    sig = mixed_signature(scalar, mixed, message, lambda h: h % 8 == 0)
    yield (
        mixed,
        hashed,
        sig,
        True,
        "A of mixed order, h a multiple of 8: verifies (but see keys.json)",
    )
    yield little(2), hashed, good, False, "A is no point"
    yield key, hashed, little(2) + good[32:], False, "R is no point"


def small_multiple(a, r, message):
    point = ed_encode(ed_mul(r, BASE))
    h = int.from_bytes(hashlib.sha512(point + a + message).digest(), "little") % L
    return h % 8 == 0


def signature_vectors():
    out = []
    for key, hashed, sig, valid, why in signature_cases_raw():
        assert signature_good(key, hashed, sig) == valid, why
        assert signature_by_the_book(key, SIGN_PREFIX + hashed, sig) == valid, why
        out.append(
            {
                "key": key.hex(),
                "message_hash": hashed.hex(),
                "signature": sig.hex(),
                "valid": valid,
                "why": why,
            }
        )
    return out


def key_vectors():
    """Which keys may be registered: signing keys (2.3) and hand keys (2.4)."""
    random, out = Bytes("keys"), []

    def add(kind, key, valid, why):
        good = signing_key_good(key) if kind == "signing" else hand_key_good(key)
        assert good == valid, why
        out.append({"kind": kind, "key": key.hex(), "valid": valid, "why": why})

    for _ in range(3):
        add("signing", sodium.crypto_sign_seed_keypair(random.take(32))[0], True, "good")
    add("signing", ed_encode(BASE), True, "the base point")
    canonical, odd = small_order_points()
    for key in canonical:
        add("signing", key, False, "of small order" if key != little(1) else "the neutral element")
    for key in odd:
        add("signing", key, False, "of small order and not canonical")
    for i in range(1, 8):
        point = ed_add(BASE, ed_mul(i, ed_decode(ORDER_8)))
        add("signing", ed_encode(point), False, "the base point and a small-order component")
    add("signing", little(2), False, "no point")
    odd_y = next(y for y in range(2, 19) if ed_decode(little(y)))
    add("signing", little(P + odd_y), False, "a point written with y + p")
    for _ in range(3):
        add("hand", public_of(random.take(32)), True, "good")
    add("hand", little(9), True, "the base point")
    good = public_of(random.take(32))
    add("hand", good[:31] + bytes([good[31] | 128]), False, "the top bit is set")
    add("hand", little(P + 9), False, "u + p")
    add("hand", little(2**255 - 1), False, "not canonical: 18")
    for u in SMALL_U:
        add("hand", little(u), False, "of small order")
    for u in (P, P + 1):
        add("hand", little(u), False, "of small order and not canonical")
    add("hand", little(2), True, "a point of the twist")
    return out


SMALL_U = (
    0,
    1,
    P - 1,
    325606250916557431795983626356110631294008115727848805560023387167927233504,
    39382357235489614581723060781553021112529911719440698176882885853963445705823,
)


# ---------------------------------------------------------------- sealing and commitments


def sealing_vectors():
    random, out = Bytes("sealing"), []
    private = random.take(32)
    public = public_of(private)
    kinds = [
        ("reveal", "server", "seat/0", random.take(64)),
        ("deal", "seat/0", "server", jcs({"cards": ["2C", "QS"], "salt": "00" * 32})),
        ("pass", "server", "seat/9", b"short"),
        ("exchange", "seat/3", "server", b""),
    ]
    for kind, recipient, sender, plain in kinds:
        ephemeral = random.take(32)
        info = seal_info(kind, HAND_ID, recipient, sender)
        sealed = seal(public, info, plain, ephemeral)
        assert unseal(private, info, sealed) == plain
        out.append(
            {
                "type": kind,
                "hand_id": HAND_ID.hex(),
                "recipient": recipient,
                "sender": sender,
                "private_key": private.hex(),
                "public_key": public.hex(),
                "ephemeral_key": ephemeral.hex(),
                "info": info.hex(),
                "plaintext": plain.hex(),
                "enc": sealed[:32].hex(),
                "ciphertext": sealed[32:].hex(),
                "box": sealed.hex(),
                "opens": True,
            }
        )
    info = seal_info("deal", HAND_ID, "seat/0", "server")
    good = seal(public, info, b"plain", ephemeral)
    key, nonce = hpke_context(dh(ephemeral, public), good[:32], public, info)
    bad = [
        (good[:-1], info, "cut short"),
        (good + b"\x00", info, "a byte too many"),
        (good[:40] + bytes([good[40] ^ 1]) + good[41:], info, "a bit flipped"),
        (bytes([good[0] ^ 1]) + good[1:], info, "a bit of enc flipped"),
        (
            good[:31] + bytes([good[31] | 128]) + good[32:],
            info,
            "the same point, enc with its top bit set",
        ),
        (bytes(32) + good[32:], info, "enc is zero"),
        (little(1) + good[32:], info, "enc is of small order"),
        (good[:32], info, "no ciphertext"),
        (good[:47], info, "a ciphertext shorter than its tag"),
        (good[:31], info, "an enc cut short"),
        (b"\x00", info, "one byte"),
        (good, seal_info("exchange", HAND_ID, "seat/0", "server"), "of another type"),
        (good, seal_info("deal", HAND_ID[::-1], "seat/0", "server"), "of another hand"),
        (good, seal_info("deal", HAND_ID, "seat/1", "server"), "to another seat"),
        (good, seal_info("deal", HAND_ID, "server", "seat/0"), "the parties the wrong way round"),
        (good[:32] + AESGCM(key).encrypt(nonce, b"plain", b"aad"), info, "with additional data"),
        (
            good[:32] + AESGCM(key).encrypt(nonce[:-1] + bytes([nonce[-1] ^ 1]), b"plain", b""),
            info,
            "the second message of its context",
        ),
    ]
    for sealed, of, why in bad:
        assert unseal(private, of, sealed) is None, why
        out.append(
            {
                "private_key": private.hex(),
                "info": of.hex(),
                "box": sealed.hex(),
                "opens": False,
                "why": why,
            }
        )
    return out


def commitment_vectors():
    random, out = Bytes("commitments"), []
    for shuffler in ("house", "seat/0", "seat/9"):
        seed = random.take(64)
        commitment = commit_seed(HAND_ID, shuffler, seed).hex()
        out.append(
            {
                "hand_id": HAND_ID.hex(),
                "shuffler": shuffler,
                "seed": seed.hex(),
                "commitment": commitment,
            }
        )
    for kind in ("deal", "pass", "exchange"):
        for seat, some in ((0, ["2C", "QS", "AH"]), (9, ["one"]), (3, [])):
            salt = random.take(32)
            commitment = commit_cards(kind, HAND_ID, seat, some, salt).hex()
            out.append(
                {
                    "hand_id": HAND_ID.hex(),
                    "type": kind,
                    "seat": f"seat/{seat}",
                    "cards": some,
                    "salt": salt.hex(),
                    "commitment": commitment,
                }
            )
    return out


# ---------------------------------------------------------------- shuffles


def permutation_vectors():
    out = []

    def add(n, number, shuffler):
        seed = hashlib.sha512(f"seed {number}".encode()).digest()
        words = shuffle_words(seed, HAND_ID, shuffler, n)
        perm = permutation(words, n)
        one = {"hand_id": HAND_ID.hex(), "shuffler": shuffler, "seed": seed.hex(), "n": n}
        one |= {"words": words.taken, "rejected": words.rejected, "permutation": perm}
        return one

    for n in (1, 2, 3, 5, 40, 52, 104, 1024):
        out.append(add(n, 0, "house"))
        out.append(add(n, 1, "seat/3"))
    for n, times in ((5, 1), (40, 1), (52, 1), (52, 2), (104, 2), (1024, 12)):
        found = (add(n, number, "seat/0") for number in range(1_000_000))
        out.append(next(one for one in found if one["rejected"] >= times))
    return out


def composition_vectors():
    out, random = [], Bytes("composition")
    for names, codes, n in (
        (["house", "seat/0", "seat/1", "seat/2"], SMALL_DECK["cards"], 3),
        (["seat/0", "seat/1"], OWN_CARDS["cards"], 2),
        (
            ["house", "seat/0", "seat/1", "seat/2", "seat/3"],
            FRENCH,
            4,
        ),
    ):
        seeds, decks, deck = [(who, random.take(64)) for who in names], [], codes
        for pair in seeds:
            deck = shuffled(deck, HAND_ID, [pair])
            decks.append(deck)
        k = len(deck) // n
        out.append(
            {
                "hand_id": HAND_ID.hex(),
                "deck": codes,
                "shufflers": [{"shuffler": who, "seed": seed.hex()} for who, seed in seeds],
                "after_each": decks,
                "seats": n,
                "hands": [deck[: k * n][seat::n] for seat in range(n)],
                "kitty": deck[k * n :],
            }
        )
    return out


def policy_vectors():
    """Streams and draws, then whole hands of bots as (cards seen, decision)."""
    out, random = [], Bytes("policies")
    for ms in ([1, 1, 2, 3], [13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1], list(range(100, 400))):
        seed, seat = random.take(64), len(ms) % 10
        words = policy_words(seed, HAND_ID, seat)
        draws = [words.draw(m) for m in ms]
        fresh = policy_words(seed, HAND_ID, seat)
        one = {
            "hand_id": HAND_ID.hex(),
            "seat": seat,
            "seed": seed.hex(),
            "first_words": [fresh.word() for _ in range(40)],
        }
        out.append(
            one | {"draw_of": ms, "draws": draws, "words": words.taken, "rejected": words.rejected}
        )
    for name in POLICIES:
        for number in range(3):
            hand = played(
                f"policy vector {name} {number}", "BBB", policies=dict.fromkeys(range(3), name)
            )
            out += decisions(hand, name)
    return out


def decisions(hand, name):
    """What each bot of a hand of bots decided, in its order."""
    log = Log(hand.entries)
    replay = Replay(log, hand.terms, Findings())
    replay.run()
    closed = Closed(replay)
    closed.check_seeds()
    closed.check_deal()
    closed.check_passes()
    closed.check_exchange()
    out = {
        s: {"policy": name, "hand_id": log.hand_id.hex(), "seat": s, "seed": closed.seeds[f"seat/{s}"].hex(),
            "deck": hand.terms.deck, "pass_count": hand.terms.pass_count, "hand": closed.dealt[s], "pass": closed.passed[s], "plays": []}
        for s in range(hand.n)
    }  # fmt: skip
    for _, seat, card, play, held in closed.plays():
        out[seat]["plays"].append({"legal": hand.terms.ordered(play.legal(held)), "card": card})
    return list(out.values())


# ---------------------------------------------------------------- Hearts


def hearts_table(rules, deck, n, number=1):
    """Terms for a table without keys."""
    return Terms(
        {
            "rules": rules,
            "deck": deck,
            "seats": [{}] * n,
            "hand": number,
            "house": False,
            "scores": [0] * n,
        }
    )


def replayed(terms, plays):
    play = Play(terms)
    for seat, card in plays:
        play.play(seat, card)
    return play


def legal_by_hand():
    """Positions whose legal cards were worked out by hand from 6.2: (why, rules, plays, hand, legal)."""
    lead = {"first_lead": "left-of-dealer"}
    allowed = lead | {"first_trick_points": "allowed"}
    first = [(1, "2D"), (2, "3D"), (0, "4D")]  # seat 0 takes the first trick, no heart in it
    heart = [(1, "2D"), (2, "2H"), (0, "4D")]
    led = [(1, "2H"), (2, "3H"), (0, "4H")]
    queen = [(1, "2D"), (2, "QS"), (0, "4D")]
    return [
        ("the lowest club must begin", {}, [], "2C 3C QS 2H", "2C"),
        ("who has it not may begin with nothing", {}, [], "3C QS 2H", ""),
        ("any card begins, but none that scores", lead, [], "3C QS 2H", "3C"),
        ("only scoring cards: of those no heart", lead, [], "QS 2H", "QS"),
        ("only hearts", lead, [], "3H 2H", "2H 3H"),
        ("points allowed: but hearts are not broken", allowed, [], "QS 2H 3S", "3S QS"),
        ("suit is followed", {}, [(0, "2C")], "3C 4C 2D QS 2H", "3C 4C"),
        ("no suit, no points in the first trick", {}, [(0, "2C")], "2D QS 2H", "2D"),
        ("only points: any of them", {}, [(0, "2C")], "QS 2H 3H", "2H 3H QS"),
        (
            "following with a scoring card is refused in the first trick",
            lead,
            [(1, "2S")],
            "3S QS 2D",
            "3S",
        ),
        ("unless it is all there is of the suit", lead, [(1, "2S")], "QS 2D", "QS"),
        (
            "points allowed in the first trick",
            {"first_trick_points": "allowed"},
            [(0, "2C")],
            "2D QS 2H",
            "2D 2H QS",
        ),
        ("later tricks: anything", lead, [*first, (0, "2C")], "2D QS 2H", "2D 2H QS"),
        ("hearts not broken", lead, first, "2C QS 2H", "2C QS"),
        ("hearts broken", allowed, heart, "2C QS 2H", "2C 2H QS"),
        ("broken only once the trick is over", allowed, heart[:2], "4D 2H", "4D"),
        ("hearts led, broken by any heart", allowed, led, "2C 2H", "2C 2H"),
        (
            "hearts led, broken only by a discard",
            allowed | {"hearts_broken_by": "discard"},
            led,
            "2C 2H",
            "2C",
        ),
        ("discarded", allowed | {"hearts_broken_by": "discard"}, heart, "2C 2H", "2C 2H"),
        ("the queen does not break", allowed, queen, "2C 2H", "2C"),
        ("the queen breaks", allowed | {"queen_breaks_hearts": True}, queen, "2C 2H", "2C 2H"),
        ("only the queen and hearts: the queen", lead, first, "QS 2H 3H", "QS"),
        (
            "only the queen and hearts: any",
            lead | {"lead_from_points": True},
            first,
            "QS 2H 3H",
            "2H 3H QS",
        ),
        ("not only the queen", lead | {"lead_from_points": True}, first, "QS 2S 3H", "2S QS"),
        ("only hearts to lead", lead, first, "2H 3H", "2H 3H"),
        (
            "first lead, ban first, then hearts",
            lead | {"lead_from_points": True},
            [],
            "QS 2H",
            "2H QS",
        ),
        (
            "negative cards do not score",
            {"card_points": {"QS": 13, "4D": -10}},
            [(0, "2C")],
            "4D 2H",
            "4D",
        ),
    ]


def hearts_legal():
    out = []
    for why, rules, plays, hand, legal in legal_by_hand():
        rules = changed(HEARTS, **rules)
        terms = hearts_table(rules, SMALL_DECK, 3)
        found = terms.ordered(replayed(terms, plays).legal(hand.split()))
        assert found == legal.split(), (why, found)
        out.append(position(terms, rules, SMALL_DECK, plays, hand.split(), found) | {"why": why})
    return out


def position(terms, rules, deck, plays, hand, legal):
    plays = [[seat, card] for seat, card in plays]
    return {"kind": "legal", "rules": rules, "deck": deck, "seats": terms.n, "hand_number": terms.hand,
            "plays": plays, "hand": terms.ordered(hand), "legal": legal}  # fmt: skip


VARIANTS = [
    ({}, "1", 3),
    (
        {
            "first_lead": "left-of-dealer",
            "first_trick_points": "allowed",
            "hearts_broken_by": "discard",
        },
        "1",
        4,
    ),
    ({"queen_breaks_hearts": True, "lead_from_points": True, "moon": "shooter-subtracts"}, "1", 3),
    (
        {
            "card_points": {"QS": 13, "4D": -10, "2S": 2},
            "first_lead": "left-of-dealer",
            "kitty": "first-trick",
        },
        "1",
        5,
    ),
    (
        {
            "card_points": {},
            "first_lead": "left-of-dealer",
            "kitty": "last-trick",
            "moon": "others-add",
        },
        "1",
        5,
    ),
    ({"moon": "none", "lead_from_points": True}, "1", 4),
    ({"moon": "shooter-chooses", "first_trick_points": "allowed"}, "1", 3),
    ({"cancellation": True, "first_lead": "left-of-dealer"}, "2", 4),
    (
        {
            "cancellation": True,
            "first_lead": "left-of-dealer",
            "kitty": "last-trick",
            "pass_count": 1,
        },
        "2",
        5,
    ),
    (
        {
            "cancellation": True,
            "first_lead": "left-of-dealer",
            "kitty": "first-trick",
            "moon": "shooter-subtracts",
        },
        "2",
        7,
    ),
]
DECKS = {"1": SMALL_DECK, "2": {"packs": 2, "removed": LOW}}


def hearts_hands():
    """Whole hands of random legal plays; every fifth position, each trick's winner, the points."""
    out = []
    for number, (rules, deck, n) in enumerate(VARIANTS * 4):
        rules, random = changed(HEARTS, **rules), Words(f"hearts {number}".encode(), b"")
        terms = hearts_table(rules, DECKS[deck], n, number + 1)
        assert not terms.refused
        cards_ = list(terms.deck)
        order = permutation(random, len(cards_))
        dealt_, kitty = terms.hands_of([cards_[p] for p in order])
        play, plays, held = Play(terms), [], [list(some) for some in dealt_]
        while not play.over:
            first = play.nothing_played and terms.first_card
            seat = next(s for s in play.turn if not first or first in held[s])
            legal = terms.ordered(play.legal(held[seat]))
            if len(plays) % 5 == 0:
                out.append(position(terms, rules, DECKS[deck], plays, held[seat], legal))
            card = legal[random.draw(len(legal))]
            held[seat].remove(card)
            play.play(seat, card)
            plays.append((seat, card))
        one = {
            "kind": "hand",
            "rules": rules,
            "deck": DECKS[deck],
            "seats": n,
            "hand_number": terms.hand,
        }
        one |= {"plays": [[s, c] for s, c in plays], "kitty": kitty, "trick_winners": play.winners}
        shooter = play.shooter(kitty)
        choices = (
            ["add", "subtract"]
            if rules["moon"] == "shooter-chooses" and shooter is not None
            else [None]
        )
        for choice in choices:
            out.append(
                one | {"choice": choice, "shooter": shooter, "points": play.points(kitty, choice)}
            )
    return out


RESULTS = [
    ("nobody is there", {}, [99, 0, 5], [1, 0, 2], [], None),
    ("lowest first", {}, [100, 0, 5], [1, 0, 2], [], ([1], [3, 1, 2])),
    ("a shared first place", {}, [100, 5, 5], [1, 0, 2], [], ([1, 2], [3, 1, 1])),
    ("a shared last place", {}, [100, 100, 5], [1, 0, 2], [], ([2], [2, 2, 1])),
    ("the last hand decides", {"tie": "last-hand"}, [100, 5, 5], [1, 0, 2], [], ([1], [3, 1, 2])),
    (
        "the last hand does not decide",
        {"tie": "last-hand"},
        [100, 5, 5],
        [1, 2, 2],
        [],
        ([1, 2], [3, 1, 1]),
    ),
    ("only of the lowest", {"tie": "last-hand"}, [100, 100, 5], [1, 0, 2], [], ([2], [2, 2, 1])),
    ("who left comes last", {}, [100, 0, 5], [1, 0, 2], [1], ([2], [2, 3, 1])),
    ("both who left", {}, [100, 0, 5], [1, 0, 2], [0, 1], ([2], [2, 2, 1])),
    ("all left", {}, [100, 0, 5], [1, 0, 2], [0, 1, 2], ([0, 1, 2], [1, 1, 1])),
    (
        "the lowest of those who stay",
        {"tie": "last-hand"},
        [100, 0, 100],
        [3, 0, 2],
        [1],
        ([2], [2, 3, 1]),
    ),
    ("below zero", {}, [-20, 120, -20], [0, 26, 0], [], ([0, 2], [1, 3, 1])),
]
SCORES = [
    ("added up", {}, [10, 20, 30], [1, 2, 3], [11, 22, 33]),
    ("exactly 100", {"exact_reset": [100, 50]}, [90, 99, 87], [10, 2, 13], [50, 101, 50]),
    ("below zero", {"exact_reset": [0, -5]}, [3, 0, 5], [-3, 1, -6], [-5, 1, -1]),
]


def hearts_results():
    out = []
    for why, rules, scores, points, left, expected in RESULTS:
        rules = changed(HEARTS, **rules)
        found = result_of(hearts_table(rules, SMALL_DECK, 3), points, scores, left)
        result = expected and {"winners": expected[0], "places": expected[1], "left": left}
        assert found == result, why
        one = {"kind": "result", "why": why, "rules": rules, "points": points, "scores": scores}
        out.append(one | {"left": left, "result": result})
    for why, rules, before, points, after in SCORES:
        rules = changed(HEARTS, **rules)
        assert scores_after(hearts_table(rules, SMALL_DECK, 3), before, points) == after, why
        out.append(
            {
                "kind": "scores",
                "why": why,
                "rules": rules,
                "before": before,
                "points": points,
                "after": after,
            }
        )
    return out


def hearts_terms():
    out = []
    for name, why, refused, rules, deck, kinds in TERMS:
        rules = changed(HEARTS, **rules)
        assert bool(hearts_table(rules, deck, len(kinds)).refused) == refused, name
        out.append(
            {
                "kind": "terms",
                "why": why,
                "rules": rules,
                "deck": deck,
                "seats": len(kinds),
                "refused": refused,
            }
        )
    return out


def hearts_vectors():
    return hearts_legal() + hearts_terms() + hearts_results() + hearts_hands()


# ---------------------------------------------------------------- writing

PRIMITIVES = {
    "frames": ("2.2: frames and tagged hashes", frames_vectors),
    "json": (
        "2.1: texts as hexadecimal, their canonical form, or why they are refused",
        json_vectors,
    ),
    "hashes": ("3.1: message and entry hashes with the bytes that are hashed", hash_vectors),
    "signatures": (
        "2.3: signatures of a message hash, and whether they are valid",
        signature_vectors,
    ),
    "keys": ("2.3, 2.4: which public keys may be registered", key_vectors),
    "sealing": ("2.4: boxes with their ephemeral key, and boxes that do not open", sealing_vectors),
    "commitments": ("2.5: commitments to seeds and to cards", commitment_vectors),
    "permutations": (
        "5.2: permutations, with the number of words taken and rejected",
        permutation_vectors,
    ),
    "composition": ("5.2: shuffles one after another, and the deal", composition_vectors),
    "policies": ("6.3: streams, draws, and whole hands of decisions", policy_vectors),
    "hearts": ("6.2: legal cards, refused terms, results, whole hands", hearts_vectors),
}


def pretty(about, cases):
    """One case on a line."""
    lines = ",\n".join(json.dumps(one, ensure_ascii=True) for one in cases)
    return f'{{"about": {json.dumps(about)},\n"cases": [\n{lines}\n]}}\n'


def write_vectors(folder):
    folder.mkdir(parents=True, exist_ok=True)
    index = {}
    for name, (about, make) in PRIMITIVES.items():
        cases = make()
        index[f"{name}.json"] = len(cases)
        (folder / f"{name}.json").write_text(pretty(about, cases), encoding="utf-8")
    cases = all_cases()
    index["transcripts"] = len(cases)
    for one in cases:
        data, expected = check_case(*one)
        there = folder / "transcripts" / one[0]
        write_case(there, "transcript.json", data, expected, one[1])
        write_pins(there, one[6])
    games = all_games()
    index["games"] = len(games)
    for one in games:
        data, expected = check_game(*one)
        there = folder / "games" / one[0]
        write_case(there, "game.json", data, expected, one[1])
        write_pins(there, one[6])
    (folder / "index.json").write_text(json.dumps(index, indent=1) + "\n", encoding="utf-8")
    print(f"{sum(index.values())} cases in {folder}")


def write_case(folder, name, data, expected, why):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(data)
    (folder / "expected.json").write_text(json.dumps(expected, indent=1) + "\n", encoding="utf-8")
    (folder / "why.txt").write_text(why + "\n", encoding="utf-8")


def write_pins(folder, pins):
    """What a verifier is told beside the transcript: `pins.json`, and the record as a seat keeps it."""
    named = {name: value for name, value in pins.items() if name != "record"}
    if named:
        text = json.dumps(named, indent=1, sort_keys=True)
        (folder / "pins.json").write_text(text + "\n", encoding="utf-8")
    if "record" in pins:
        (folder / "record.json").write_bytes(jcs({"fairdeal": 1, "record": pins["record"]}) + b"\n")


# ---------------------------------------------------------------- self-test


def selftest():
    """Primitives against other libraries, claims, and whole hands bent in one byte."""
    hpke_selftest()
    for make in (
        json_vectors,
        signature_vectors,
        key_vectors,
        sealing_vectors,
        hearts_legal,
        hearts_terms,
        hearts_results,
    ):
        make()
    random = Words(b"self-test", b"")
    hand = played("self-test", "PPB", house=True)
    assert verify(hand.data())["status"] == "valid"
    assert verify(hand.compact().data())["status"] == "valid"
    data, counts = hand.data(), Counter()
    for _ in range(3000):
        place, bent = random.below(len(data)), bytearray(data)
        bent[place] = random.below(96) + 32
        counts[verify(bytes(bent))["status"]] += 1
    print("one byte changed:", dict(counts))
    for _ in range(300):
        verify(shaken(hand.entries, random))
    head = verify(data)["head"]
    codes = [
        f["code"]
        for f in verify(data, head="00" * 32, server_key="11" * 32, seat_keys={0: "22" * 32})[
            "findings"
        ]
    ]
    assert codes == ["pin-seat-key", "pin-server-key", "head-missing"], codes
    assert verify(data, head=head)["status"] == "valid"
    before = entry_hash(hand.entries[hand.marks["play:3"]])
    assert [f["code"] for f in verify(data, head=before)["findings"]] == ["head-passed"]
    print(len(all_cases()), "transcripts")
    for one in CASES:
        check_case(*one)
    print(len(all_games()), "games")
    for one in GAMES:
        check_game(*one)
    print("good")


def shaken(entries, random):
    """Entries left out, doubled and moved, and the chain linked anew."""
    hand = Hand("shaken")
    hand.entries = [dict(entry) for entry in entries]
    for _ in range(1 + random.below(3)):
        i = 1 + random.below(len(hand.entries) - 1)
        taken = hand.entries.pop(i) if random.below(2) else dict(hand.entries[i])
        if random.below(3):
            hand.entries.insert(1 + random.below(len(hand.entries)), taken)
    hand.relink()
    return hand.data()


def hpke_selftest():
    """The hand-made HPKE against the library's."""
    from cryptography.hazmat.primitives import hpke

    suite = hpke.Suite(hpke.KEM.X25519, hpke.KDF.HKDF_SHA256, hpke.AEAD.AES_256_GCM)
    random = Bytes("hpke")
    private = random.take(32)
    key, info = X25519PrivateKey.from_private_bytes(private), b"info"
    assert (
        suite.decrypt(seal(public_of(private), info, b"plain", random.take(32)), key, info)
        == b"plain"
    )
    assert unseal(private, info, suite.encrypt(b"plain", key.public_key(), info)) == b"plain"


# ================================================================ 6. the command line

CODES = {"valid": 0, "invalid": 1, "malformed": 2, "incomplete": 3}


def read_options(arguments):
    """Files, and pins as `verify` takes them: --server-key HEX, --seat-key N=HEX, --mine, --head."""
    names, pins, rest = [], {}, iter(arguments)
    for one in rest:
        if one == "--seat-key":
            seat, _, key = next(rest).partition("=")
            pins.setdefault("seat_keys", {})[seat] = key
        elif one == "--mine":
            pins["record"] = parse_json(pathlib.Path(next(rest)).read_bytes())["record"]
        elif one in ("--server-key", "--head"):
            pins[one[2:].replace("-", "_")] = next(rest)
        else:
            names.append(one)
    return names, pins


def main(arguments):
    command, *rest = arguments or [""]
    if command == "verify" and rest:
        names, pins = read_options(rest)
        worst = 0
        for name in names:
            out = verify_file(pathlib.Path(name).read_bytes(), **pins)
            print(json.dumps(out))
            worst = worst or CODES[out["status"]]
        return worst
    if command == "vectors" and len(rest) == 1:
        write_vectors(pathlib.Path(rest[0]))
        return 0
    if command == "selftest":
        selftest()
        return 0
    print(__doc__)
    return 64


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
