"""Ed25519 under one tag (spec section 2.3), against `cryptography` and the edge cases of libraries."""

import hashlib

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from helpers_primitives import Signer, fixed
from hypothesis import given, settings
from hypothesis import strategies as st
from nacl import bindings

from fairdeal.errors import InvalidKeyError
from fairdeal.signing import SigningKey, is_public_key, require_public_key, verifies

PREFIX = b"fairdeal/v1/signature\x00"
P = 2**255 - 19
#: the order of the prime-order subgroup (RFC 8032 section 5.1)
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P


# -- the curve, written out: what the edge cases are made with --------------------------------------


def add(one, other):
    (x1, y1), (x2, y2) = one, other
    both = D * x1 * x2 * y1 * y2
    x = (x1 * y2 + x2 * y1) * pow(1 + both, -1, P)
    y = (y1 * y2 + x1 * x2) * pow(1 - both, -1, P)
    return x % P, y % P


def times(number, point):
    total = (0, 1)
    while number:
        if number & 1:
            total = add(total, point)
        point = add(point, point)
        number >>= 1
    return total


def encoded(point):
    return (point[1] | (point[0] & 1) << 255).to_bytes(32, "little")


def decoded(raw):
    number = int.from_bytes(raw, "little")
    y = number & (2**255 - 1)
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    if x * x % P != square:
        x = x * pow(2, (P - 1) // 4, P) % P
    assert x * x % P == square
    return (P - x if x & 1 != number >> 255 else x), y


def torsion():
    """The eight points of small order, from a point that is cleared of its large part."""
    number = 2
    while True:
        try:
            point = times(ORDER, decoded(number.to_bytes(32, "little")))
        except AssertionError:
            point = (0, 1)
        if times(4, point) != (0, 1):
            return [times(n, point) for n in range(8)]
        number += 1


SMALL = torsion()


def test_the_small_order_points_are_right():
    assert len(set(SMALL)) == 8
    assert all(times(8, point) == (0, 1) for point in SMALL)
    assert encoded(SMALL[0]) == (1).to_bytes(32, "little")
    assert encoded(SMALL[4]) == (P - 1).to_bytes(32, "little")


# -- signing and verifying --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("secret", "public"),
    [  # RFC 8032 section 7.1, tests 1 to 3
        (
            "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
            "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        ),
        (
            "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
            "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        ),
        (
            "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
            "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
        ),
    ],
)
def test_public_keys_of_rfc8032(secret, public):
    key = SigningKey(bytes.fromhex(secret))
    assert key.public.hex() == public
    assert key.private_bytes().hex() == secret
    assert is_public_key(key.public)


@given(st.binary(min_size=32, max_size=32), st.binary(min_size=32, max_size=32))
@settings(deadline=None, max_examples=100)
def test_both_libraries_agree_on_signatures(seed, digest):
    key = SigningKey(seed)
    signature = key.sign(digest)
    other = Ed25519PublicKey.from_public_bytes(key.public)
    other.verify(signature, PREFIX + digest)
    with pytest.raises(InvalidSignature):
        other.verify(signature, digest)  # the tag is under the signature
    assert verifies(key.public, digest, signature)
    assert len(signature) == 64


@given(st.integers(0, 10**9), st.binary(min_size=32, max_size=32))
@settings(deadline=None, max_examples=50)
def test_signatures_of_the_other_library_verify(number, digest):
    signer = Signer(str(number))
    assert verifies(signer.public, digest, signer.sign(digest))
    assert SigningKey(signer.seed).sign(digest) == signer.sign(digest)  # Ed25519 is deterministic


def test_a_fresh_key_signs_and_is_like_no_other():
    one, other = SigningKey.generate(), SigningKey.generate()
    assert one.public != other.public
    assert verifies(one.public, bytes(32), one.sign(bytes(32)))
    assert not verifies(other.public, bytes(32), one.sign(bytes(32)))
    assert SigningKey(one.private_bytes()).public == one.public


KEY = SigningKey(fixed("signing", size=32))
DIGEST = fixed("digest", size=32)
SIGNATURE = KEY.sign(DIGEST)


@given(st.integers(0, 511))
@settings(deadline=None)
def test_a_changed_bit_does_not_verify(bit):
    bent = bytearray(SIGNATURE)
    bent[bit // 8] ^= 1 << bit % 8
    assert not verifies(KEY.public, DIGEST, bytes(bent))
    digest = bytearray(DIGEST)
    digest[bit // 8 % 32] ^= 1 << bit % 8
    assert not verifies(KEY.public, bytes(digest), SIGNATURE)


def test_another_key_does_not_verify():
    assert not verifies(Signer("other").public, DIGEST, SIGNATURE)


def test_a_signature_without_the_tag_does_not_verify():
    bare = bindings.crypto_sign(DIGEST, fixed("signing", size=32) + KEY.public)[:64]
    Ed25519PublicKey.from_public_bytes(KEY.public).verify(bare, DIGEST)
    assert not verifies(KEY.public, DIGEST, bare)


@pytest.mark.parametrize("multiple", [1, 2, 15])
def test_a_signature_whose_s_is_not_reduced_does_not_verify(multiple):
    """S + L satisfies the equation too: accepted, anyone could alter a signature."""
    s = int.from_bytes(SIGNATURE[32:], "little")
    assert s < ORDER
    grown = SIGNATURE[:32] + (s + multiple * ORDER).to_bytes(32, "little")
    assert times(s + ORDER, BASE) == times(s, BASE)
    assert not verifies(KEY.public, DIGEST, grown)


BASE = decoded(bytes.fromhex("58" + "66" * 31))


@pytest.mark.parametrize("point", SMALL, ids=lambda point: encoded(point).hex()[:8])
def test_a_signature_with_r_of_small_order_is_refused(point):
    """S = h(R, A, M)·a makes S·B = h·A, so with R neutral the equation holds."""
    scalar = hashlib.sha512(KEY.private_bytes()).digest()[:32]
    clamped = int.from_bytes(scalar, "little") & ~7 & (2**254 - 1) | 2**254
    assert encoded(times(clamped, BASE)) == KEY.public
    raw = encoded(point)
    h = int.from_bytes(hashlib.sha512(raw + KEY.public + PREFIX + DIGEST).digest(), "little")
    forged = raw + (h * clamped % ORDER).to_bytes(32, "little")
    if point == (0, 1):
        left = times(int.from_bytes(forged[32:], "little"), BASE)
        assert left == add(point, times(h % ORDER, decoded(KEY.public)))
    assert not verifies(KEY.public, DIGEST, forged)


@pytest.mark.parametrize("point", SMALL, ids=lambda point: encoded(point).hex()[:8])
def test_a_key_of_small_order_is_none_and_verifies_nothing(point):
    key = encoded(point)
    assert not is_public_key(key)
    with pytest.raises(InvalidKeyError, match="prime-order"):
        require_public_key(key)
    forged = encoded((0, 1)) + bytes(32)  # 0·B = neutral + h·A wherever h·A is neutral
    assert not any(verifies(key, fixed("m", n, 32), forged) for n in range(16))


@pytest.mark.parametrize("y", range(P, 2**255))
@pytest.mark.parametrize("sign", [0, 1])
def test_a_key_that_is_not_canonical_is_none(y, sign):
    key = (y | sign << 255).to_bytes(32, "little")
    assert not is_public_key(key)
    assert not verifies(key, DIGEST, encoded((0, 1)) + bytes(32))


def test_x_zero_with_the_sign_set_is_no_key():
    for y in (1, P - 1):
        assert not is_public_key((y | 1 << 255).to_bytes(32, "little"))


@pytest.mark.parametrize("point", SMALL[1:], ids=lambda point: encoded(point).hex()[:8])
def test_a_key_with_a_part_of_small_order_is_none(point):
    """On the signatures of such keys cofactored and cofactorless libraries disagree."""
    mixed = bindings.crypto_core_ed25519_add(KEY.public, encoded(point))
    assert mixed == encoded(add(decoded(KEY.public), point))
    assert not is_public_key(mixed)
    with pytest.raises(InvalidKeyError):
        require_public_key(mixed)


def test_a_number_that_is_no_point_is_no_key():
    assert not is_public_key((2).to_bytes(32, "little"))
    assert not is_public_key(bytes(32))
    assert not is_public_key(b"\xff" * 32)


@pytest.mark.parametrize("size", [0, 31, 33, 64])
def test_a_key_of_another_length_is_none(size):
    assert not is_public_key((KEY.public * 2)[:size])


def test_a_good_key_is_given_back():
    assert require_public_key(KEY.public) == KEY.public
    assert is_public_key(encoded(BASE))


@pytest.mark.parametrize("size", [0, 1, 63, 65, 128])
def test_a_signature_of_another_length_does_not_verify(size):
    assert not verifies(KEY.public, DIGEST, (SIGNATURE * 2)[:size])


def test_a_signature_is_64_bytes_even_where_more_would_fit():
    """Fault 3: bytes after the signature were taken for the beginning of the message."""
    tail = PREFIX + b"something else that was signed"
    signature = KEY.sign(tail[len(PREFIX) :] + PREFIX + DIGEST)
    assert not verifies(KEY.public, DIGEST, signature + tail)


def test_a_key_of_another_length_verifies_nothing():
    """Fault 3: libsodium reads 32 bytes wherever the key begins, beyond the end of a short one."""
    assert not verifies(KEY.public + b"\x00", DIGEST, SIGNATURE)
    assert not verifies(b"", DIGEST, SIGNATURE)
    number = next(n for n in range(10_000) if Signer(f"short {n}").public[31] == 0)
    signer = Signer(f"short {number}")
    assert verifies(signer.public, DIGEST, signer.sign(DIGEST))
    assert not verifies(signer.public[:31], DIGEST, signer.sign(DIGEST))  # Python ends bytes with 0


# -- what never shows -------------------------------------------------------------------------------


def test_a_key_shows_its_public_half_only():
    secret = KEY.private_bytes()
    for shown in (repr(KEY), str(KEY), f"{KEY}", repr([KEY]), repr({"key": KEY})):
        assert KEY.public.hex() in shown
        assert secret.hex() not in shown
        assert repr(secret)[2:-1] not in shown
    assert not hasattr(KEY, "__dict__")


@pytest.mark.parametrize("size", [0, 31, 33, 64])
def test_a_private_key_is_32_bytes_and_an_error_does_not_repeat_it(size):
    seed = fixed("never shown", size=size)
    with pytest.raises(ValueError, match=f"32 bytes, not {size}") as caught:
        SigningKey(seed)
    assert seed == b"" or repr(seed) not in str(caught.value)
    assert seed == b"" or seed.hex() not in str(caught.value)
