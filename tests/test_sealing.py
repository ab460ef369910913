"""HPKE boxes (spec section 2.4), against a decapsulation written out from RFC 9180."""

import pytest
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.hmac import HMAC
from helpers_primitives import fixed, framed
from hypothesis import given, settings
from hypothesis import strategies as st

from fairdeal.errors import SealingError
from fairdeal.sealing import OVERHEAD, info, is_hand_key, public_hand_key, seal, unseal

P = 2**255 - 19
PRIVATE = fixed("hand key", size=32)
PUBLIC = public_hand_key(PRIVATE)


# -- RFC 9180, base mode, from X25519, HMAC and AES-GCM alone ---------------------------------------


def hmac(key, data):
    mac = HMAC(key, SHA256())
    mac.update(data)
    return mac.finalize()


def expand(prk, label_info, size):
    out, block, number = b"", b"", 1
    while len(out) < size:
        block = hmac(prk, block + label_info + bytes([number]))
        out += block
        number += 1
    return out[:size]


def labelled_extract(suite, salt, label, ikm):
    return hmac(salt or bytes(32), b"HPKE-v1" + suite + label + ikm)


def labelled_expand(suite, prk, label, label_info, size):
    return expand(prk, size.to_bytes(2, "big") + b"HPKE-v1" + suite + label + label_info, size)


KEM = b"KEM\x00\x20"  # DHKEM(X25519, HKDF-SHA256)
SUITE = b"HPKE\x00\x20\x00\x01\x00\x02"  # with HKDF-SHA256 and AES-256-GCM


def key_and_nonce(shared, enc, recipient, box_info):
    eae = labelled_extract(KEM, b"", b"eae_prk", shared)
    secret = labelled_expand(KEM, eae, b"shared_secret", enc + recipient, 32)
    psk_hash = labelled_extract(SUITE, b"", b"psk_id_hash", b"")
    info_hash = labelled_extract(SUITE, b"", b"info_hash", box_info)
    context = b"\x00" + psk_hash + info_hash
    prk = labelled_extract(SUITE, secret, b"secret", b"")
    key = labelled_expand(SUITE, prk, b"key", context, 32)
    return key, labelled_expand(SUITE, prk, b"base_nonce", context, 12)


def independent_open(box, private, box_info):
    own = X25519PrivateKey.from_private_bytes(private)
    enc, ciphertext = box[:32], box[32:]
    shared = own.exchange(X25519PublicKey.from_public_bytes(enc))
    key, nonce = key_and_nonce(shared, enc, own.public_key().public_bytes_raw(), box_info)
    return AESGCM(key).decrypt(nonce, ciphertext, b"")


def independent_seal(plaintext, recipient, box_info, ephemeral):
    own = X25519PrivateKey.from_private_bytes(ephemeral)
    enc = own.public_key().public_bytes_raw()
    shared = own.exchange(X25519PublicKey.from_public_bytes(recipient))
    key, nonce = key_and_nonce(shared, enc, recipient, box_info)
    return enc + AESGCM(key).encrypt(nonce, plaintext, b"")


plaintexts = st.binary(max_size=300)
infos = st.binary(max_size=80)


@given(plaintexts, infos, st.binary(min_size=32, max_size=32))
@settings(deadline=None, max_examples=60)
def test_round_trip(plain, box_info, private):
    box = seal(plain, public_hand_key(private), box_info)
    assert unseal(box, private, box_info) == plain
    assert len(box) == len(plain) + 48 == len(plain) + OVERHEAD


@given(plaintexts, infos, st.binary(min_size=32, max_size=32))
@settings(deadline=None, max_examples=60)
def test_our_boxes_open_by_the_rfc(plain, box_info, private):
    assert (
        independent_open(seal(plain, public_hand_key(private), box_info), private, box_info)
        == plain
    )


@given(plaintexts, infos, st.binary(min_size=32, max_size=32))
@settings(deadline=None, max_examples=60)
def test_boxes_sealed_by_the_rfc_open_here(plain, box_info, ephemeral):
    assert unseal(independent_seal(plain, PUBLIC, box_info, ephemeral), PRIVATE, box_info) == plain


def test_no_two_boxes_are_alike():
    boxes = {seal(b"same", PUBLIC, b"info") for _ in range(20)}
    assert len({box[:32] for box in boxes}) == len({box[32:] for box in boxes}) == 20


# -- who can open what ------------------------------------------------------------------------------

HAND = fixed("hand", size=32)


def test_info_is_the_frame_of_the_spec():
    by_hand = framed("fairdeal/v1/seal/deal", HAND, "seat/1", "server")
    assert info("deal", HAND, "seat/1", "server") == by_hand
    assert by_hand.startswith(b"\x15fairdeal/v1/seal/deal\x00\x00\x00\x20" + HAND)


@pytest.mark.parametrize(
    "other",
    [
        info("exchange", HAND, "seat/1", "server"),
        info("deal", fixed("hand", 1, 32), "seat/1", "server"),
        info("deal", HAND, "seat/2", "server"),
        info("deal", HAND, "seat/1", "seat/0"),
        info("deal", HAND, "server", "seat/1"),
        b"",
    ],
    ids=["type", "hand", "recipient", "sender", "swapped", "none"],
)
def test_a_box_opens_under_its_own_info_only(other):
    box = seal(b"cards", PUBLIC, info("deal", HAND, "seat/1", "server"))
    with pytest.raises(SealingError, match="does not open"):
        unseal(box, PRIVATE, other)
    with pytest.raises(InvalidTag):
        independent_open(box, PRIVATE, other)


def test_another_key_does_not_open_it():
    with pytest.raises(SealingError):
        unseal(seal(b"cards", PUBLIC, b""), fixed("hand key", 1, 32), b"")


@given(st.data())
@settings(deadline=None, max_examples=80)
def test_a_changed_bit_does_not_open(data):
    box = bytearray(seal(b"cards", PUBLIC, b"i"))
    bit = data.draw(st.integers(0, 8 * len(box) - 1))
    box[bit // 8] ^= 1 << bit % 8
    if bit == 255:  # X25519 ignores the top bit of enc, but HPKE has enc under the key
        assert box[31] >> 7
    with pytest.raises(SealingError):
        unseal(bytes(box), PRIVATE, b"i")


@pytest.mark.parametrize("size", [0, 1, 31, 32, 47])
def test_a_short_box_does_not_open(size):
    with pytest.raises(SealingError, match="does not open"):
        unseal(seal(b"cards", PUBLIC, b"")[:size], PRIVATE, b"")


def test_a_cut_or_grown_box_does_not_open():
    box = seal(b"cards", PUBLIC, b"")
    for bent in (box[:-1], box + b"\x00", box[1:]):
        with pytest.raises(SealingError):
            unseal(bent, PRIVATE, b"")


@pytest.mark.parametrize("size", [0, 31, 33])
def test_a_private_key_of_another_length_opens_nothing(size):
    with pytest.raises(SealingError):
        unseal(seal(b"cards", PUBLIC, b""), bytes(size), b"")
    with pytest.raises(ValueError, match=f"32 bytes, not {size}"):
        public_hand_key(bytes(size))


@pytest.mark.parametrize("size", [0, 31, 33])
def test_nothing_is_sealed_to_a_key_of_another_length(size):
    with pytest.raises(SealingError, match="cannot be sealed to"):
        seal(b"cards", bytes([9] * size), b"")


def test_an_error_says_nothing_of_what_was_sealed():
    with pytest.raises(SealingError) as caught:
        seal(b"the queen of spades", bytes(32), b"")
    assert "queen" not in str(caught.value)


# -- hand keys --------------------------------------------------------------------------------------


@given(st.binary(min_size=32, max_size=32))
@settings(deadline=None, max_examples=50)
def test_public_keys_agree_with_the_other_library_and_are_hand_keys(private):
    other = X25519PrivateKey.from_private_bytes(private).public_key().public_bytes_raw()
    assert public_hand_key(private) == other
    assert is_hand_key(other)


def ladder(number, u):
    """X25519 of RFC 7748, section 5, without the clamping."""
    x1, x2, z2, x3, z3, swap = u, 1, 0, u, 1, 0
    for t in reversed(range(255)):
        bit = number >> t & 1
        if swap ^ bit:
            x2, x3, z2, z3 = x3, x2, z3, z2
        swap = bit
        a, b = x2 + z2, x2 - z2
        aa, bb = a * a % P, b * b % P
        e = aa - bb
        da, cb = (x3 - z3) * a % P, (x3 + z3) * b % P
        x3, z3 = (da + cb) ** 2 % P, x1 * (da - cb) ** 2 % P
        x2, z2 = aa * bb % P, e * (aa + 121665 * e) % P
    if swap:
        x2, z2 = x3, z3
    return x2 * pow(z2, P - 2, P) % P


SMALL_ORDER = [
    0,
    1,
    P - 1,
    325606250916557431795983626356110631294008115727848805560023387167927233504,
    39382357235489614581723060781553021112529911719440698176882885853963445705823,
]


def test_the_ladder_is_right():
    for number in range(3):
        private = fixed("ladder", number, 32)
        clamped = int.from_bytes(private, "little") & ~7 & (2**254 - 1) | 2**254
        assert ladder(clamped, 9).to_bytes(32, "little") == public_hand_key(private)


@pytest.mark.parametrize("u", SMALL_ORDER)
def test_a_key_of_small_order_is_no_hand_key(u):
    assert ladder(8 * 12345, u) == 0  # so anybody knows the secret shared with it
    assert not is_hand_key(u.to_bytes(32, "little"))
    with pytest.raises(SealingError):
        seal(b"cards", u.to_bytes(32, "little"), b"")


@pytest.mark.parametrize("u", SMALL_ORDER)
def test_a_box_whose_sender_key_is_of_small_order_does_not_open(u):
    enc = u.to_bytes(32, "little")
    key, nonce = key_and_nonce(bytes(32), enc, PUBLIC, b"")
    with pytest.raises(SealingError):
        unseal(enc + AESGCM(key).encrypt(nonce, b"known to all", b""), PRIVATE, b"")


def test_there_are_no_other_small_orders_near():
    """8·(u) of every other u in a sample is not 0; 8 kills all of small order on curve and twist."""
    others = [
        2,
        3,
        9,
        P - 2,
        P - 3,
        *(int.from_bytes(fixed("u", n, 31), "little") for n in range(20)),
    ]
    for u in others:
        assert ladder(8, u) != 0
        assert is_hand_key(u.to_bytes(32, "little"))


@pytest.mark.parametrize("u", range(P, 2**255))
def test_a_key_that_is_not_canonical_is_no_hand_key(u):
    assert not is_hand_key(u.to_bytes(32, "little"))


@pytest.mark.parametrize("u", [0, 2, 9, P - 2, P, 2**255 - 1])
def test_a_key_with_the_top_bit_set_is_no_hand_key(u):
    assert not is_hand_key((u | 1 << 255).to_bytes(32, "little"))


@pytest.mark.parametrize("size", [0, 1, 31, 33, 64])
def test_a_key_of_another_length_is_no_hand_key(size):
    assert not is_hand_key(bytes([9]) + bytes(size - 1) if size else b"")
