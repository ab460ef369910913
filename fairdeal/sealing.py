"""HPKE boxes (RFC 9180, spec section 2.4) and the checks of their keys.

Base mode, DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, AES-256-GCM, empty `aad`. A sealed box is
`enc ‖ ciphertext`. Randomness of the encapsulation comes from the operating system, inside
`cryptography`. What a box must hold is the business of whoever opens it.

`cryptography` is imported at the first box: a verdict on a finished hand needs none.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from nacl import bindings

from fairdeal.encoding import frame
from fairdeal.errors import SealingError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.hpke import Suite

KEY_BYTES = 32
OVERHEAD = 32 + 16  # the encapsulated key and the tag

_P = 2**255 - 19
#: u-coordinates of the points of small order on the curve and its twist (RFC 7748 section 6.1)
_SMALL_ORDER = frozenset(
    (
        0,
        1,
        _P - 1,
        325606250916557431795983626356110631294008115727848805560023387167927233504,
        39382357235489614581723060781553021112529911719440698176882885853963445705823,
    )
)


@lru_cache(maxsize=1)
def _suite() -> Suite:
    from cryptography.hazmat.primitives.hpke import AEAD, KDF, KEM, Suite

    return Suite(KEM.X25519, KDF.HKDF_SHA256, AEAD.AES_256_GCM)


def is_hand_key(key: bytes) -> bool:
    """Whether `key` is a canonical X25519 public key (u < 2^255 - 19) not of small order."""
    u = int.from_bytes(key, "little")
    return len(key) == KEY_BYTES and u < _P and u not in _SMALL_ORDER


def public_hand_key(private: bytes) -> bytes:
    """The X25519 public key of 32 private bytes. Raises ValueError for another length."""
    if len(private) != KEY_BYTES:
        raise ValueError(f"a hand key is 32 bytes, not {len(private)}")
    return bindings.crypto_scalarmult_base(private)


def info(kind: str, hand_id: bytes, recipient: str, sender: str) -> bytes:
    """HPKE's `info` of a box: message type, hand id, recipient and sender as written in `by`."""
    return frame(f"fairdeal/v1/seal/{kind}", hand_id, recipient, sender)


def seal(plaintext: bytes, public_key: bytes, box_info: bytes) -> bytes:
    """Seal to a hand key. Raises SealingError for a key that cannot be sealed to."""
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PublicKey

    try:
        key = X25519PublicKey.from_public_bytes(public_key)
        return _suite().encrypt(plaintext, key, box_info)
    except Exception as error:  # cryptography documents no type; the key is all that can be wrong
        raise SealingError("the recipient's hand key cannot be sealed to") from error


def unseal(sealed: bytes, private_key: bytes, box_info: bytes) -> bytes:
    """Open a box. Raises SealingError if it does not open under this key and `info`."""
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

    try:
        key = X25519PrivateKey.from_private_bytes(private_key)
        return _suite().decrypt(sealed, key, box_info)
    except Exception as error:  # InvalidTag, or a ValueError for a short or degenerate box
        raise SealingError("the box does not open under this key") from error
