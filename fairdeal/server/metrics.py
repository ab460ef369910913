"""What Prometheus may ask: counts and times, no name, no key."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

_BUCKETS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)


class Metrics:
    """One process's counters."""

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        self.entries = Counter("fairdeal_entries", "Entries broadcast", registry=registry)
        self.hands = Counter("fairdeal_hands", "Hands ended", ["end"], registry=registry)
        self.games = Counter("fairdeal_games", "Games ended", registry=registry)
        self.refused = Counter("fairdeal_refused", "Messages refused", ["code"], registry=registry)
        self.replaced = Counter("fairdeal_replaced", "Seats given to bots", ["reason"],
                                registry=registry)  # fmt: skip
        self.tables = Gauge("fairdeal_tables", "Tables held by this process", registry=registry)
        self.lines = Gauge("fairdeal_lines", "WebSockets open", registry=registry)
        self.written = Histogram("fairdeal_write_seconds", "One transaction of the store",
                                 buckets=_BUCKETS, registry=registry)  # fmt: skip
        self.broadcast = Histogram("fairdeal_broadcast_seconds", "From a message to its broadcast",
                                   buckets=_BUCKETS, registry=registry)  # fmt: skip
        self.store_failures = Counter("fairdeal_store_failures", "Writes to be tried again",
                                      registry=registry)  # fmt: skip

    def text(self) -> bytes:
        """In Prometheus's text format."""
        return generate_latest(self.registry)
