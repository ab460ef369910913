"""A second implementation of the fairdeal protocol, written from spec/protocol.md alone.

It exists to be held against the first one. It is slow, short and literal: numbers like 6.4 in the
comments are steps of the specification, and `READING` marks a place where its words allow more
than one meaning and one had to be chosen.

    python spec/reference.py verify FILE...     the verdict on each file, as a line of JSON
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
MAX_INT = 2**53 - 1
MAX_FILE = 16 * 1024 * 1024
MAX_ENTRIES = 4096


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
    # READING: "codes joined" puts nothing between the codes.
    fields = (hand_id, f"seat/{seat}", "".join(cards), salt)
    return tagged("fairdeal/v1/cards/" + kind, *fields)


def opens_cards(kind, hand_id, seat, opening, commitment):
    """Does this CARDS open this commitment (hexadecimal)?"""
    salt = bytes.fromhex(opening["salt"])
    return commit_cards(kind, hand_id, seat, opening["cards"], salt).hex() == commitment


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
            is_object(packs=is_int(1, 8), removed=is_list(code)), is_object(cards=is_list(code))
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
    if len(data) > MAX_FILE:
        raise Malformed("more than 16 MiB")
    value = parse_json(data)
    whole = is_object(fairdeal=is_int(1, 1), entries=is_list(envelope, 1, MAX_ENTRIES))
    if not whole(value):
        raise Malformed("not of the shape of a transcript")
    entries = value["entries"]
    for i, entry in enumerate(entries):
        if not BODIES[entry["type"]](entry["body"]):
            raise Malformed(f"entry {i}: the body has another shape")
    # READING: an `open` that is not by the server is no `open`.
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
        one = [rank + suit for suit in SUITS for rank in RANKS]
        out, bad = one * deck["packs"], False
        # Which pack a removed card leaves makes no difference to a code's first place … unless
        # some copies stay. READING: the copies of the first packs are removed first.
        for card in deck["removed"]:
            if card in out:
                out.remove(card)
            else:
                bad = True
        return out, bad

    def _offset(self):
        cycle = self.rules["pass_cycle"]
        return cycle[(self.hand - 1) % len(cycle)]

    def _first_card(self):
        """The card that must begin the play, if the rules name one."""
        clubs = [card for card in self.deck if suit_of(card) == "C"]
        if not self.hearts or self.rules["first_lead"] != "lowest-club" or not clubs:
            return None
        return min(clubs, key=rank_of)

    def points(self, card):
        if not self.hearts:
            return 0
        return 1 if suit_of(card) == "H" else self.rules["card_points"].get(card, 0)

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
                # READING: also where no offset of the cycle passes anything.
                rules["pass_count"] > self.k,
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
    return card[1] if len(card) == 2 and card[0] in RANKS and card[1] in SUITS else None


def rank_of(card):
    return RANKS.index(card[0]) if suit_of(card) else -1


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
            there = {s for s, _ in self.trick}
            self.turn = {next(s % n for s in range(seat + 1, seat + n) if s % n not in there)}
        else:
            self._end_trick()

    def _end_trick(self):
        """6.2 steps 4 to 6."""
        rules, cards_there = self.terms.rules, [card for _, card in self.trick]
        leader, winner = self.trick[0][0], self.winner()
        self.winners.append(winner)
        if "H" in map(suit_of, cards_there):
            led_hearts = suit_of(cards_there[0]) == "H"
            self.broken |= rules["hearts_broken_by"] == "heart" or not led_hearts
        self.broken |= rules["queen_breaks_hearts"] and "QS" in cards_there
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
        leader, led = self.trick[0]
        if suit_of(led) is None:
            return leader  # READING: no card of a suit was led (it was no card of any deck)
        there = Counter(card for _, card in self.trick)
        best = None
        for seat, card in self.trick:
            if suit_of(card) != suit_of(led):
                continue
            if self.terms.rules["cancellation"] and there[card] > 1:
                continue
            if best is None or rank_of(card) > rank_of(best[1]):
                best = (seat, card)
        return best[0] if best else None

    def legal(self, hand):
        """6.2 steps 2 and 3: the cards of this hand that its seat may play now."""
        terms = self.terms
        if not self.trick:
            if self.nothing_played and terms.first_card:
                return [card for card in hand if card == terms.first_card]
            return self._leads(self._first_trick_ban(hand))
        led = suit_of(self.trick[0][1])
        follow = [card for card in hand if led is not None and suit_of(card) == led]
        return self._first_trick_ban(follow or list(hand))

    def _first_trick_ban(self, allowed):
        if self.tricks > 0 or self.terms.rules["first_trick_points"] == "allowed":
            return allowed
        return [card for card in allowed if not self.terms.scoring(card)] or allowed

    def _leads(self, allowed):
        others = [card for card in allowed if suit_of(card) != "H"]
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
            led = suit_of(self.trick[0][1])
            if suit_of(card) != led and led in map(suit_of, hand):
                return "play-revoke"
            return "play-first-trick-points"
        if card not in self._first_trick_ban(hand):
            return "play-first-trick-points"
        return "play-hearts-unbroken"

    def shooter(self, kitty=()):
        """The one seat that took every scoring card, or None."""
        # READING: in a log in which not every card was played, "every" is of those taken.
        takers = {s for s, some in enumerate(self.all_taken(kitty)) if any(map(self.terms.scoring, some))}
        return takers.pop() if len(takers) == 1 else None

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
    return sorted(some, key=lambda card: (rank_of(card), terms.position[card]))


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
        self.authors, self.signed, self.authentic, self.vouched = [], [], [], []

    def seen_place(self, i):
        """The place of the entry that entry i saw, or None."""
        # READING: an entry can have seen only an entry before it.
        place = self.places.get(self.entries[i]["seen"], [i])[0]
        return place if place < i else None

    def rooted(self, i):
        return self.run[i] == 0

    def read_signatures(self, authors, keys):
        """`signed[i]` is None (there is none), True or False (it does not verify)."""
        self.authors, self.signed = authors, []
        for entry, key, message in zip(self.entries, keys, self.messages):
            sig = entry.get("sig")
            good = sig and signature_good(bytes.fromhex(key), message, bytes.fromhex(sig))
            self.signed.append(good)
        every = range(len(self.entries))
        # How far, in each run, what was seen under each key's later signatures goes.
        reach = {}
        self.authentic = [None] * len(self.entries)
        for i in reversed(every):
            covered = reach.get((keys[i], self.run[i]), -1) >= i
            self.authentic[i] = covered if self.signed[i] is None else self.signed[i]  # 7.2.2
            if self.signed[i]:
                for f in self.places.get(self.entries[i]["seen"], ()):
                    at = (keys[i], self.run[f])
                    reach[at] = max(f, reach.get(at, -1))
        self.vouched = [reach.get((self.server_key, self.run[i]), -1) >= i for i in every]  # 7.2.4

    def whole(self, i):
        """7.2.3."""
        seen = self.entries[i]["seen"]
        rooted = seen == GENESIS or any(map(self.rooted, self.places.get(seen, ())))
        return self.authentic[i] and rooted


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
            enough = log.authentic.__getitem__ if raw_one.get("same_slot") else log.whole
            return log.authors[of] if all(map(enough, entries)) else None
        if blame == "place":
            return "server" if log.vouched[of] and log.rooted(of) else None
        if blame == "vouched-author":
            return "server" if log.whole(of) and log.vouched[of] else None
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
        self.dead = False  # a seed is lost: only `void` may follow
        self.play = None
        self.plays = []  # entries of the plays that took effect
        self.astray = None  # the last entry that led the log astray
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
        elif self.dispute is not None or self.dead or phase in ("start", "voided"):
            return set()
        elif kind == "dispute":
            return {self.deal, self.exchange} - {None}
        elif kind != phase:
            return set()
        elif kind == "commit" and not self.first_committers() and f"seat/{seat}" not in self.commits:
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
        if self.dispute is not None or self.dead:
            return False
        if kind == "replace":
            return by == "server"
        if kind != phase:
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
            self.astray = i
            return
        self.note_dispute(i, entry, author)
        fits, astray = self.judge_place(i, entry, author)
        if fits:
            self.judge_body(i, entry, author)
        late = self.seat_of(entry) if entry["type"] == self.phase == "play" else None
        late = late if self.dispute is None and late is not None else None
        if fits or (late is not None and self.play.may_play_late(late)):
            self.take_effect(i, entry, author, fits)
        self.astray = i if astray else self.astray

    def note_dispute(self, i, entry, author):
        # READING: check 18 looks at a dispute also where it does not fit, but only at one of a
        # `deal` or `exchange` that took effect.
        seen = self.log.seen_place(i)
        if entry["type"] == "dispute" and author != "server":
            if seen is not None and seen in (self.deal, self.exchange):
                self.disputes.append((i, self.seat_of(entry), seen))

    def stands_already(self, i, entry, author, key):
        """6.1 and 7.1: True if this entry is to be judged by them alone."""
        # READING: "or as said in 7.2" in 6.1 adds nothing. An entry is held against the first
        # other message it cannot stand beside, and gives one finding.
        kind, by = entry["type"], entry["by"]
        slot = self.slots.setdefault((key, by, kind, entry["seen"]), [])
        message = self.log.messages[i]
        for j in slot:
            if self.log.messages[j] == message:
                self.out.fail(6, "repeated", [j, i], "place")
                return True
        earlier, same_slot = slot[:1], True
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
            self.out.fail(7, "equivocation", [earlier[0], i], "author", same_slot=same_slot)
        return bool(earlier)

    def judge_place(self, i, entry, author):
        """6.2 to 6.6: does it fit, and does it lead the log astray?"""
        if author != "server":
            return self.judge_person(i, entry)
        fits, astray = self.server_fits(entry), False
        if entry["seen"] != self.log.before[i]:
            self.out.fail(6, "seen-not-previous", [i], "place")
            astray = True
        if not fits:
            # READING: 6.5 on this very entry leads astray "before" 6.6, or who moves an honest
            # entry of the server could have the server named for it.
            if self.astray is not None or astray:
                self.out.fail(6, "out-of-place", [i])
            else:
                self.out.fail(6, self.out_of_turn(), [i], "author")
            astray = True
        return fits, astray

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
            if set(body["seeds"]) != set(self.terms.shufflers) or counts != [n, exchanged, exchanged]:
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
        if all(seat in self.reveals for seat in self.persons() if self.committed_itself(seat)):
            self.phase = "deal"

    def replace(self, i, body):
        seat = body["seat"]
        if not self.is_person(seat):
            return
        if body["reason"] != "left" and self.deal is not None:
            start = self.at_decision(seat)
            now = self.spent(start, i) if start is not None else 0
            self.expulsions.append((i, self.used.get(seat, 0) + now))
        self.replaced[seat] = i
        self.dead = self.committed_itself(seat) and seat not in self.reveals

    # -- 4.3 and check 14

    def at_decision(self, seat):
        """The entry that put the seat on turn, or None if it is at no decision."""
        # READING: "before the first play every person is at a decision" where all are on turn.
        if self.phase == "pass":
            return None if seat in self.passes else self.deal
        waits = self.phase == "play" and seat in self.play.turn
        waits = waits or (self.phase == "choose" and seat == self.play.shooter())
        return self.turn_entry if waits else None

    def spent(self, start, end):
        """The reserve that the time between two entries uses."""
        clock, at = self.log.open["clock"], [self.log.entries[x]["at"] for x in (start, end)]
        return max(0, at[1] - at[0] - clock["grace_ms"]) if clock else 0

    def count_time(self, i, kind, seat, fits):
        if fits and kind in ("pass", "play", "choose"):
            start = self.at_decision(seat)
            self.used[seat] = self.used.get(seat, 0) + self.spent(start, i)


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
        self.kitty = None

    def fail(self, check, code_, entries, of=None):
        self.out.fail(check, code_, entries, "author", of=self.end if of is None else of)

    def run(self):
        self.check_seeds()
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
            seed = self.body["seeds"].get(who)  # READING: one that is missing opens nothing
            if seed is not None and seed_opens(self.log, who, seed, commit):
                self.seeds[who] = bytes.fromhex(seed)
            else:
                self.fail(8, "seed-mismatch", [commit, self.end])

    def opening(self, kind, seat, commitment):
        """The opening stated in `close`, if it is there and opens the commitment."""
        stated = self.body[{"deal": "deals", "pass": "passes", "exchange": "exchanges"}[kind]]
        if seat >= len(stated) or commitment is None:
            return None
        good = opens_cards(kind, self.hand_id, seat, stated[seat], commitment)
        return stated[seat]["cards"] if good else None

    def check_deal(self):
        """Check 9."""
        computed = None
        if len(self.seeds) == len(self.terms.shufflers):
            pairs = [(who, self.seeds[who]) for who in self.terms.shufflers]
            computed, self.kitty = self.terms.hands_of(shuffled(self.terms.deck, self.hand_id, pairs))
        for seat in self.seats:
            commitment = hand_commitment(self.entries[self.r.deal], seat)
            some = self.opening("deal", seat, commitment)
            if some is None:
                self.fail(9, "deal-opening", [self.r.deal, self.end])
                continue
            if computed is not None and some != computed[seat]:
                self.fail(9, "deal-cards", [self.r.deal, self.end])
            if self.terms.deal_in_order(some):
                self.dealt[seat] = some

    def check_passes(self):
        """Check 10."""
        for seat in self.seats:
            entry = self.r.passes[seat]
            some = self.opening("pass", seat, self.entries[entry]["body"]["commitment"])
            if some is None:
                # READING: 10.2 is judged, like 9.2, only of openings that passed 10.1.
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
            elif giver in self.passed and some != self.passed[giver]:  # READING: as lists
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
        if i is not None and i > since and self.r.seat_of(self.entries[i]) == seat:
            if self.entries[i]["body"]["moon"] != policy_choose(name, words):
                self.fail(13, "policy-departed", [i, self.end], i)

    def check_score(self):
        """Check 15."""
        stated, terms = self.body, self.terms
        if not terms.hearts:
            # READING: 4.2 wants both empty in a deal-only hand, and this is the check to say so.
            if stated["points"]:
                self.fail(15, "points-wrong", [self.end])
            if stated["scores"]:
                self.fail(15, "scores-wrong", [self.end])
            return
        choice = None if self.r.choice is None else self.entries[self.r.choice]["body"]["moon"]
        needs_kitty = terms.rules["kitty"] is not None and terms.left_over
        # READING: if the kitty counts and the seeds do not give it, 15.1 is not run.
        if self.kitty is not None or not needs_kitty:
            kitty = self.kitty if needs_kitty else ()
            if stated["points"] != self.r.play.points(kitty, choice):
                self.fail(15, "points-wrong", [self.end])
        before = self.log.open["scores"]
        right = len(before) == len(stated["points"]) == terms.n
        if not right or stated["scores"] != scores_after(terms, before, stated["points"]):
            self.fail(15, "scores-wrong", [self.end])

    def check_result(self):
        """Check 16."""
        stated, n = self.body, self.terms.n
        if not self.terms.hearts:
            expected = None
        elif len(stated["points"]) != n or len(stated["scores"]) != n:
            expected = "nothing follows"
        else:
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


def read_cards(log, kind, private, seat, commitment, sealed, recipient, sender):
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
    return opening["cards"] if opens_cards(kind, log.hand_id, seat, opening, commitment) else None


class Voided:
    """Check 17: a log that a `void` ended."""

    def __init__(self, replay):
        self.r, self.log, self.terms, self.out = replay, replay.log, replay.terms, replay.out
        self.end, self.entries = replay.end, replay.log.entries
        self.body = self.entries[self.end]["body"]
        self.private = bytes.fromhex(self.body["hand_key"])
        self.good_reveals, self.good_passes = set(), {}

    def fail(self, code_, entries, of=None):
        self.out.fail(17, code_, entries, "author", of=self.end if of is None else of)

    def run(self):
        if public_of(self.private).hex() != self.log.open["hand_key"]:
            self.fail("void-key", [0, self.end])
            return
        self.reveals()
        self.seeds()
        self.passes()
        unfounded = self.unfounded()
        self.after_reveals(unfounded)
        if self.body["reason"] in ("no-reveal", "left"):
            self.out.remark(17, "silence", [self.end], "server's word")

    def reveals(self):
        """17.2."""
        for seat, entry in sorted(self.r.reveals.items()):
            who = f"seat/{seat}"
            info = seal_info("reveal", self.log.hand_id, "server", who)
            seed = unseal(self.private, info, bytes.fromhex(self.entries[entry]["body"]["sealed"]))
            commit = self.r.commits[who]
            if seed is not None and len(seed) == 64 and seed_opens(self.log, who, seed.hex(), commit):
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
            some = read_cards(self.log, "pass", self.private, seat, *args)
            if some is not None and self.terms.pass_in_order(some):
                self.good_passes[seat] = some
            else:
                self.fail("bad-pass", [entry, self.end], entry)

    def hands(self):
        """The hands that the seeds give, or None if they are not all known."""
        stated, commits, who = self.body["seeds"], self.r.commits, self.terms.shufflers
        known = all(w in stated and w in commits for w in who)
        if not known or not all(seed_opens(self.log, w, stated[w], commits[w]) for w in who):
            return None
        pairs = [(w, bytes.fromhex(stated[w])) for w in who]
        return self.terms.hands_of(shuffled(self.terms.deck, self.log.hand_id, pairs))[0]

    def unfounded(self):
        """17.5; True if it failed."""
        reason, seat = self.body["reason"], self.body["seat"]
        if reason == "bad-reveal" and seat in self.good_reveals:
            self.fail("void-unfounded", [self.r.reveals[seat], self.end])
            return True
        if reason != "bad-pass" or seat not in self.good_passes:
            return False
        hands_now = self.hands()
        if hands_now and not Counter(self.good_passes[seat]) - Counter(hands_now[seat]):
            self.fail("void-unfounded", [self.r.passes[seat], self.end])
        else:
            self.out.fail(17, "bad-pass", [self.end])
        return True

    def after_reveals(self, unfounded):
        """17.6."""
        if self.r.deal is None and self.r.phase_before_end != "deal":
            return
        # READING: "before it" is before the void: a finding on the void alone excuses nothing.
        excused = any(
            f["attribution"] == "proven" and 2 <= f["check"] <= 17 and f["entries"][0] < self.end
            for f in self.out.findings(self.log)
        )
        if self.r.dispute is None and not excused and not unfounded:
            self.fail("void-after-reveals", [*self.r.reveals.values(), self.end])


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
        return read_cards(log, kind, private, seat, *at, f"seat/{seat}", "server")

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
        out.fail(21, "head-missing", [])
    elif any(entry["type"] != "ack" for entry in log.entries[place + 1 :]):
        out.fail(21, "head-passed", [])  # READING: no entries are cited


def verdict(status, findings, remarks, head):
    return {"status": status, "findings": findings, "remarks": remarks, "head": head}


def verify(data, *, server_key=None, seat_keys=None, head=None):
    """Section 7.3, all checks but 20. Keys and hashes to pin are hexadecimal."""
    out = Findings()
    try:
        entries = parse_transcript(data)
    except Malformed:
        out.fail(1, "malformed", [])
        return verdict("malformed", out.findings(None), [], None)
    log = Log(entries)
    terms = Terms(log.open)
    replay = Replay(log, terms, out)
    replay.run()
    log.read_signatures(replay.authors, replay.keys)
    check_chain(log, out)
    check_terms(log, terms, out)
    check_signatures(log, out)
    if not terms.refused:
        ended = None if replay.end is None else entries[replay.end]["type"]
        check_copies(replay)
        if ended == "close":
            Closed(replay).run()
        check_clock(replay)
        if ended == "void":
            Voided(replay).run()
        check_disputes(replay)
    check_pins(log, out, server_key, seat_keys)
    if head is not None:
        check_head(log, out, head)
    findings = out.findings(log)
    closed = replay.end is not None and entries[replay.end]["type"] == "close"
    # READING: "every check that applies looked at one thing" holds of every closed log.
    status = "invalid" if findings else "valid" if closed else "incomplete"
    last = {"seq": len(entries) - 1, "hash": log.hashes[-1]}
    return verdict(status, findings, out.remarks(), last)


# ================================================================ 4. a simulator

START = 1_700_000_000_000
SMALL_DECK = {"cards": "2C 3C 4C 2D 3D 4D 2H 3H 4H 2S 3S QS".split()}
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


class Over(Exception):  # noqa: N818
    """The hand is over before its end."""


class Hand:
    """One hand of people who keep to the protocol, but where `bends` say otherwise.

    `kinds` has a P or a B for each seat. `bends` maps the name of a step to a function:
    of the hand and the draft of an entry (a dictionary it may change), or of the hand and a value.
    `before` maps the name of a step to a function of the hand that is called first: it may put in
    other entries, replace seats, or end the hand. Whatever they do, all is hashed and signed anew.
    """

    def __init__(self, label, kinds="PPP", *, bends=None, before=None, rules=None, **body):
        self.random, self.kinds, self.n = Bytes(label), kinds, len(kinds)
        self.bends, self.before = bends or {}, before or {}
        self.entries, self.marks, self.step_ms = [], {}, 1000
        self.pairs = {who: self.key_pair() for who in ["server", *range(self.n)]}
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
        if body["hand"] > 1 or body["attempt"] > 1:
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
        self.bends.get(name, lambda _hand, _draft: None)(self, draft)
        secret = draft.pop("secret", secret)
        signature = sign(secret, message_hash(draft)).hex()
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
        if seat not in self.gone and self.kinds[seat] == "P":
            self.gone[seat] = len(self.entries)
        self.put(f"replace:{seat}", "server", "replace", {"seat": seat, "reason": reason})

    def void(self, reason, seat=None):
        seeds = {w: seed for w, seed in self.seeds.items() if w in self.commits and self.server_knows(w)}
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
            body[name] = [self.openings[kind, i] for i in range(self.n) if (kind, i) in self.openings]
        points, scores, result = [], [], None
        if self.terms.hearts:
            choice = self.entries[self.marks["choose"]]["body"]["moon"] if "choose" in self.marks else None
            points = self.bend("points", self.play.points(self.kitty, choice))
            scores = self.bend("scores", scores_after(self.terms, self.body["scores"], points))
            result = result_of(self.terms, points, scores, set(self.gone))
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


# ================================================================ 6. the command line

CODES = {"valid": 0, "invalid": 1, "malformed": 2, "incomplete": 3}


def main(arguments):
    command, *rest = arguments or [""]
    if command == "verify" and rest:
        worst = 0
        for name in rest:
            out = verify(pathlib.Path(name).read_bytes())
            print(json.dumps(out, ensure_ascii=False))
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
