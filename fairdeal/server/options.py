"""What whoever runs a server may set. The command line and the environment fill it in."""

from __future__ import annotations

from typing import NamedTuple


class Options(NamedTuple):
    """Times are in seconds, sizes in bytes, rates a second."""

    #: how long a machine may take: for a commitment, a reveal, an ack, and after a used-up clock
    patience: float = 30.0
    #: how long a decision may take at a table without a clock
    idle: float = 120.0
    #: between two hands, while somebody watches
    pause: float = 5.0
    #: how long an open table waits for people before bots take their seats
    joining: float = 300.0
    #: how long a login may take
    login: float = 10.0
    #: how long a table belongs to this process without a sign of life
    lease: float = 10.0
    #: tables that this process holds at once
    max_tables: int = 10_000
    #: WebSockets at once
    max_lines: int = 50_000
    #: frames a second from one connection, and at once
    frame_rate: float = 20.0
    frame_burst: int = 60
    #: requests a second from one address that make or join a table, and at once
    request_rate: float = 5.0
    request_burst: int = 100
    #: bytes of one frame or body
    max_frame: int = 16 * 1024
    #: bytes that may wait for a connection that does not read
    max_waiting: int = 256 * 1024
