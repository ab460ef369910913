"""Secrets at rest: sealed under the operator's keys, each bound to what it belongs to.

XChaCha20-Poly1305 by libsodium, a random nonce each time. A `Vault` shows its keys nowhere: not in
a `repr`, not in an error. Where the keys come from, and where the boxes lie, is others' business.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from nacl.exceptions import CryptoError
from nacl.secret import Aead

from fairdeal.encoding import tagged_hash
from fairdeal.errors import FairdealError

KEY_BYTES: Final = Aead.KEY_SIZE


class VaultError(FairdealError):
    """A box that does not open, or a vault without a key. It says nothing of what is inside."""


class Box(NamedTuple):
    """A sealed secret and the name of the key that opens it."""

    key_id: str
    sealed: bytes


def key_id(key: bytes) -> str:
    """A key's public name: 16 hex digits of a hash of it."""
    return tagged_hash("fairdeal/v1/vault-key", key).hex()[:16]


class Vault:
    """The operator's keys of 32 random bytes: the first seals, all open.

    A new key is put in front; after `Store.reseal` the old one can be dropped. A vault without keys
    is for who only reads what is public.
    """

    __slots__ = ("_keys", "key_id")

    def __init__(self, keys: Sequence[bytes]) -> None:
        """Raises ValueError for a key of another length."""
        if any(len(key) != KEY_BYTES for key in keys):
            raise ValueError(f"a vault's key is {KEY_BYTES} bytes")
        self._keys = {key_id(key): Aead(key) for key in reversed(keys)}
        #: the name of the key that seals; None in a vault without keys
        self.key_id: str | None = key_id(keys[0]) if keys else None

    def __repr__(self) -> str:
        return f"Vault(key_id={self.key_id})"

    def seal(self, secret: bytes, about: bytes) -> Box:
        """A box that opens only together with `about`. Raises VaultError without a key."""
        if self.key_id is None:
            raise VaultError("the vault has no key")
        return Box(self.key_id, bytes(self._keys[self.key_id].encrypt(secret, about)))

    def open(self, box: Box, about: bytes) -> bytes:
        """The secret. Raises VaultError if its key is not here, or the box is not about that."""
        if box.key_id not in self._keys:
            raise VaultError(f"it is sealed under the key {box.key_id}, which is not here")
        try:
            return self._keys[box.key_id].decrypt(box.sealed, about)
        except (CryptoError, ValueError):
            raise VaultError("the box is damaged, or belongs elsewhere") from None
