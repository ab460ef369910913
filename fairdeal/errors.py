"""The error tree: three kinds of failure that are never mixed.

* Our caller asked for what the protocol forbids: `LocalProtocolError`, or a plain `ValueError`.
* Another party broke the protocol: `RemoteProtocolError`, which names the finding's code and, where
  that is sound, the culprit.
* Bytes that are no message, entry, log or record of this version: `MalformedError`, which names
  nobody.

Anything else that escapes is a fault of this library.
"""

from __future__ import annotations


class FairdealError(Exception):
    """Base of every error that fairdeal raises on purpose."""


class MalformedError(FairdealError, ValueError):
    """Bytes that this version cannot read; it accuses nobody.

    `place` says where (``$.entries[3].body.card``, or ``byte 17``), `problem` what is wrong there.
    """

    def __init__(self, problem: str, place: str = "$") -> None:
        super().__init__(f"{place}: {problem}")
        self.place = place
        self.problem = problem

    def under(self, place: str) -> MalformedError:
        """The same problem, its place counted from `place`."""
        return MalformedError(self.problem, place + self.place.removeprefix("$"))


class LocalProtocolError(FairdealError):
    """The caller asked its own seat or dealer for what the protocol does not allow now."""


class RemoteProtocolError(FairdealError):
    """Another party broke the protocol; what it sent was refused and the state is as it was.

    `code` is the finding's code (`fairdeal.findings`), `culprit` a party as in `by`, or None where
    nobody can be named.
    """

    def __init__(self, code: str, text: str, culprit: str | None = None) -> None:
        super().__init__(text)
        self.code = code
        self.culprit = culprit


class SealingError(FairdealError):
    """A box does not open, or cannot be sealed. Says nothing about whose fault that is."""


class InvalidKeyError(FairdealError, ValueError):
    """A key that the protocol refuses: not canonical, of small or mixed order."""
