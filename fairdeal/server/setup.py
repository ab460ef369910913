"""What a table was made with, who sits there, and the terms that follow (spec/live.md 1.1)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Annotated, Any, Final, NamedTuple

import msgspec
from msgspec import UNSET, Meta, UnsetType

from fairdeal import encoding
from fairdeal.dealer import Terms, bot
from fairdeal.errors import LocalProtocolError, MalformedError
from fairdeal.games.policies import POLICIES
from fairdeal.games.presets import PRESETS, Preset
from fairdeal.messages import Bot, Clock, Close, Deck, Open, Person, text_problem
from fairdeal.signing import is_public_key

#: a table plays one game; another game is another table
GAME: Final = "1"
DEFAULT_CLOCK: Final = Clock(grace_ms=20_000, reserve_ms=120_000)
_BOTS: Final = ("Ada", "Bo", "Cyd", "Dov", "Ebo", "Fay", "Gus", "Hal", "Ivy", "Jet")

_Number = Annotated[int, Meta(ge=0, le=10)]
_Name = Annotated[str, Meta(max_length=64)]


class Setup(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The terms that a table keeps: the body of the request that made it, filled in."""

    rules: _Name
    seats: _Number = 0
    bots: _Number = 0
    policy: _Name = "careful/1"
    clock: Clock | UnsetType | None = UNSET
    house: bool = False

    @property
    def preset(self) -> Preset:
        """The rules with their deck."""
        return PRESETS[self.rules]

    @property
    def people(self) -> int:
        """How many seats are for people."""
        return self.seats - self.bots


class Kept(msgspec.Struct, frozen=True, kw_only=True):
    """What the store keeps of a table: its setup, and the key that opens its hands."""

    setup: Setup
    server_key: str

    def encoded(self) -> bytes:
        """As `read_kept` reads it."""
        return msgspec.json.encode(self)


_setups: Final = msgspec.json.Decoder(Setup)
_kept: Final = msgspec.json.Decoder(Kept)


def read_setup(data: bytes) -> Setup:
    """The setup of a request, filled in and checked. Raises MalformedError, naming the place."""
    setup = encoding.decode(data, _setups) if data else Setup(rules="hearts")
    if setup.rules not in PRESETS:
        raise MalformedError("no table has that name: see `fairdeal rules`", "$.rules")
    sizes = setup.preset.seats
    seats = setup.seats or sizes[0]
    if seats not in sizes:
        raise MalformedError(f"{setup.rules} is for {_listed(sizes)} seats, not {seats}", "$.seats")
    if setup.bots > seats:
        raise MalformedError(f"there are {seats} seats for {setup.bots} bots", "$.bots")
    if setup.policy not in POLICIES:
        raise MalformedError("no policy of that name is installed here", "$.policy")
    clock = DEFAULT_CLOCK if setup.clock is UNSET else setup.clock
    return msgspec.structs.replace(setup, seats=seats, clock=clock)


def read_kept(data: bytes) -> Kept:
    """What this program stored itself; a preset that is gone since raises MalformedError."""
    kept = encoding.shape(data, _kept)
    if kept.setup.rules not in PRESETS:
        raise MalformedError(f"this version has no table {kept.setup.rules!a}", "$.setup.rules")
    return kept


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers[:-1])) + " or " * (len(numbers) > 1) + str(numbers[-1])


def person(key: str, name: str, server_key: bytes) -> Person:
    """A person who may sit down. Raises LocalProtocolError with the reason if not."""
    if problem := text_problem(name):
        raise LocalProtocolError(f"the name is refused: {problem}")
    raw = bytes.fromhex(key)
    if not is_public_key(raw) or raw == server_key:
        raise LocalProtocolError("the key is none that a person may have")
    return Person(key=key, name=name)


def first_terms(table: str, setup: Setup, people: Sequence[Person]) -> Terms:
    """The first hand's: people in the order of their coming, bots at the seats after them."""
    preset = setup.preset
    bots = (bot(f"{_BOTS[n]} (bot)", setup.policy) for n in range(len(people), setup.seats))
    return Terms(
        table=table,
        game=GAME,
        rules=preset.rules,
        deck=Deck(packs=preset.packs, removed=preset.removed),
        seats=(*people, *bots),
        house=setup.house,
        substitute=setup.policy,
        clock=setup.clock or None,
    )


class Course(NamedTuple):
    """How far a table has come: its last hand, and seats that a bot took over in that."""

    state: str
    opened: Open | None = None
    close: Close | None = None
    replaced: Collection[int] = ()


def described(table: str, kept: Kept, people: Sequence[Person], course: Course) -> dict[str, Any]:
    """TABLE of spec/live.md."""
    setup = kept.setup
    opened, close = course.opened, course.close
    scores = close.scores if close else opened.scores if opened else ()
    return {
        "table": table,
        "state": course.state,
        "server_key": kept.server_key,
        "rules": setup.rules,
        "seats": _seats(setup, people, course),
        "hand": opened.hand if opened else 0,
        "attempt": opened.attempt if opened else 0,
        "scores": scores,
        "result": close.result if close else None,
    }


def _seats(setup: Setup, people: Sequence[Person], course: Course) -> list[dict[str, str]]:
    opened = course.opened
    if opened is None:
        free = [{"kind": "free"}] * (setup.people - len(people))
        terms = first_terms("", setup, people)
        bots = terms.seats[setup.people :]
        return [*map(_seat, people), *free, *map(_seat, bots)]
    return [
        {"kind": "bot", "name": one.name, "policy": opened.substitute}
        if seat in course.replaced
        else _seat(one)
        for seat, one in enumerate(opened.seats)
    ]


def _seat(one: Person | Bot) -> dict[str, str]:
    if isinstance(one, Bot):
        return {"kind": "bot", "name": one.name, "policy": one.policy}
    return {"kind": "person", "name": one.name, "key": one.key}
