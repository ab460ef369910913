"""Ed25519 under one tag (spec section 2.3), by libsodium through PyNaCl.

Keys and signatures are raw bytes here. A public key is checked where it is registered
(`require_public_key`, at `open`), not at each signature; whose key it is, is the engine's business.
"""

from __future__ import annotations

from functools import lru_cache

from nacl import bindings
from nacl.exceptions import CryptoError

from fairdeal.errors import InvalidKeyError

PUBLIC_KEY_BYTES = 32
SIGNATURE_BYTES = 64
PREFIX = b"fairdeal/v1/signature\x00"


class SigningKey:
    """An Ed25519 private key that never shows itself: not in a `repr`, not in an error."""

    __slots__ = ("_secret", "public")

    def __init__(self, seed: bytes) -> None:
        """From the 32 bytes of the private key (RFC 8032 section 5.1.5). Raises ValueError."""
        if len(seed) != bindings.crypto_sign_SEEDBYTES:
            raise ValueError(f"a private key is 32 bytes, not {len(seed)}")
        self.public, self._secret = bindings.crypto_sign_seed_keypair(seed)

    @classmethod
    def generate(cls) -> SigningKey:
        """A fresh key from the operating system's randomness."""
        import secrets  # here: who only verifies need not wait for it

        return cls(secrets.token_bytes(bindings.crypto_sign_SEEDBYTES))

    def __repr__(self) -> str:
        return f"SigningKey(public={self.public.hex()})"

    def sign(self, message_hash: bytes) -> bytes:
        """The 64-byte signature of a message hash."""
        return bindings.crypto_sign(PREFIX + message_hash, self._secret)[:SIGNATURE_BYTES]

    def private_bytes(self) -> bytes:
        """The 32 bytes this key was made from. For the caller's key store, nothing else."""
        return self._secret[: bindings.crypto_sign_SEEDBYTES]


def verifies(public_key: bytes, message_hash: bytes, signature: bytes) -> bool:
    """Whether libsodium accepts the signature: S < L, canonical A and R, cofactorless."""
    if len(signature) != SIGNATURE_BYTES or len(public_key) != PUBLIC_KEY_BYTES:
        return False
    try:
        bindings.crypto_sign_open(signature + PREFIX + message_hash, public_key)
    except (CryptoError, ValueError):
        return False
    return True


@lru_cache(maxsize=65536)
def is_public_key(key: bytes) -> bool:
    """Whether `key` is a canonical point of the prime-order subgroup, not the neutral element."""
    return len(key) == PUBLIC_KEY_BYTES and bindings.crypto_core_ed25519_is_valid_point(key)


def require_public_key(key: bytes) -> bytes:
    """`key` itself. Raises InvalidKeyError where libraries would disagree on its signatures."""
    if not is_public_key(key):
        raise InvalidKeyError("not a canonical Ed25519 key of the prime-order subgroup")
    return key
