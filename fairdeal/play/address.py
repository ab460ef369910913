"""Where a table is: addresses, and the few HTTP requests that a player makes (spec/live.md 1).

Requests block; `connection` runs them in a thread. A server's redirection to another process is
followed, never from https to http.
"""

from __future__ import annotations

import re
import urllib.error
import urllib.request
from http import HTTPStatus
from http.client import HTTPException
from typing import Any, Final, NamedTuple
from urllib.parse import urljoin, urlsplit

import msgspec

from fairdeal import encoding
from fairdeal.errors import FairdealError, MalformedError
from fairdeal.play.stream import RefusedError, StreamError, TableState, Trouble

_TABLE: Final = re.compile(r"/v1/tables/([A-Za-z0-9._~-]{1,64})(?:/seat)?/?")
_SCHEMES: Final = {"http": "http", "https": "https", "ws": "http", "wss": "https"}
_TIMEOUT: Final = 10.0
_HOPS: Final = 5
_MAX_BODY: Final = 1 << 20


class AddressError(FairdealError):
    """An address that is none, or that leads to no table."""


class UnreachableError(FairdealError):
    """A server that cannot be reached."""


class Address(NamedTuple):
    """A server, and a table at it where one is named."""

    server: str
    table: str | None = None

    @property
    def url(self) -> str:
        """The table's HTTP address."""
        return f"{self.server}/v1/tables/{self.table}"

    @property
    def socket(self) -> str:
        """The address of the table's seat stream."""
        return f"ws{self.url.removeprefix('http')}/seat"


def read_address(text: str) -> Address:
    """A table's address as the server gives it, or a server's. Raises AddressError."""
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError as error:
        raise AddressError(f"expected an address like {_LIKE}, found {text[:80]}") from error
    found = _TABLE.fullmatch(parts.path)
    bare = parts.path in ("", "/")
    odd = parts.query or parts.fragment or parts.username is not None or not parts.hostname
    if parts.scheme not in _SCHEMES or odd or not (found or bare):
        raise AddressError(f"expected an address like {_LIKE}, found {text[:80]}")
    host = f"[{parts.hostname}]" if ":" in str(parts.hostname) else str(parts.hostname)
    server = f"{_SCHEMES[parts.scheme]}://{host}" + (f":{port}" if port else "")
    return Address(server, found[1] if found else None)


_LIKE: Final = "http://host:port or http://host:port/v1/tables/ID"


def moved(here: Address, there: str) -> Address:
    """Where a table went, by the server's word: a table's address, or a server's for this one.

    Raises AddressError for another table, or a way from https to http.
    """
    new = read_address(urljoin(here.url, there))
    if new.table not in (None, here.table):
        raise AddressError("the server sends this client to another table")
    if here.server.startswith("https:") and not new.server.startswith("https:"):
        raise AddressError("the server sends this client from https to http")
    return Address(new.server, here.table)


class _Stay(urllib.request.HTTPRedirectHandler):
    """Redirections are followed by `_ask`, which knows what may be followed."""

    def redirect_request(self, *args: Any, **kwargs: Any) -> None:
        return None


class _Problem(msgspec.Struct, frozen=True):
    error: Trouble


_problems: Final = msgspec.json.Decoder(_Problem)
_tables: Final = msgspec.json.Decoder(TableState)


def find_table(here: Address) -> tuple[Address, TableState]:
    """A table, and the process that has it. Raises what `open_table` raises."""
    for _ in range(_HOPS):
        status, body, there = _ask(here.url)
        if status == HTTPStatus.TEMPORARY_REDIRECT:
            here = moved(here, there)
            continue
        if status == HTTPStatus.NOT_FOUND:
            raise AddressError(f"{here.server} has no table {here.table}")
        return here, _table(status, body)
    raise AddressError(f"{here.server}: redirected too often")


def open_table(server: str, terms: dict[str, object]) -> Address:
    """Open a table with these terms; its address.

    Raises UnreachableError, RefusedError for the server's own words, AddressError for where it
    leads, StreamError for what is no answer.
    """
    status, body, _ = _ask(f"{server}/v1/tables", encoding.encode(terms))
    return read_address(f"{server}/v1/tables/{_table(status, body).table}")


def _table(status: int, body: bytes) -> TableState:
    try:
        if status in (HTTPStatus.OK, HTTPStatus.CREATED):
            return encoding.shape(body, _tables)
        trouble = encoding.shape(body, _problems).error
    except MalformedError as error:
        raise StreamError(f"expected a fairdeal server, found an answer {status}") from error
    raise RefusedError(trouble.code, trouble.text)


def _ask(url: str, body: bytes | None = None) -> tuple[int, bytes, str]:
    """Status, body, and where it redirects to."""
    headers = {"Accept": "application/json"}
    if body is not None:
        headers["Content-Type"] = "application/json"
    request = urllib.request.Request(url, body, headers)  # noqa: S310 - http and https only
    opener = urllib.request.build_opener(_Stay)
    try:
        with opener.open(request, timeout=_TIMEOUT) as answer:
            return int(answer.status), answer.read(_MAX_BODY), ""
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read(_MAX_BODY), str(error.headers.get("Location", ""))
    except (OSError, HTTPException, ValueError) as error:
        why = error.reason if isinstance(error, urllib.error.URLError) else error
        raise UnreachableError(f"cannot connect to {url}: {reason(why)}") from error


def reason(error: object) -> str:
    """Why a connection failed, in words."""
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return str(text)[:200]
