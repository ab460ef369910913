"""What can be found, and who can be blamed (spec section 7): codes, `Finding`, `Verdict`.

A code is never renamed or reused. Each belongs to one numbered check. A finding stands alone: what
it says can be rechecked from the entries it cites.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal, NamedTuple

from msgspec import Struct

Attribution = Literal["proven", "server's word", "unattributed"]
Status = Literal["valid", "invalid", "malformed", "incomplete"]

#: the checks in the order of the protocol; the number is the same in spec, code and finding
CHECKS: Final = {
    1: "format",
    2: "chain",
    3: "terms",
    4: "signatures",
    5: "coverage",
    6: "order",
    7: "equivocation",
    8: "seeds",
    9: "deal",
    10: "pass",
    11: "exchange",
    12: "plays",
    13: "bots",
    14: "clock",
    15: "score",
    16: "result",
    17: "void",
    18: "dispute",
    19: "pins",
    20: "record",
    21: "head",
}


class Code(NamedTuple):
    """A finding's check, and its sentence; `{by}` is the author of the cited entry."""

    check: int
    text: str


CODES: Final = {
    "malformed": Code(1, "This is not a transcript that this version can judge"),
    "chain-prev": Code(2, "An entry does not follow from the one before it"),
    "chain-seq": Code(2, "An entry's number is not its place in the log"),
    "chain-time": Code(2, "An entry is dated before the one it follows"),
    "open-key": Code(3, "The hand was opened with a key that must not be used"),
    "open-hand-key": Code(3, "The server opened the hand with a hand key that cannot be sealed to"),
    "open-previous": Code(3, "The hand names no log before it, although there must be one"),
    "open-terms": Code(3, "The hand was opened with terms that cannot be played"),
    "open-scores": Code(3, "The hand was opened with scores that cannot be"),
    "signature-invalid": Code(4, "A signature in the name of {by} does not verify"),
    "signature-missing": Code(5, "An entry in the name of {by} has no signature, and no later one covers it"),
    "seen-unknown": Code(6, "{by} answered an entry that is not in this log: compare copies of it"),
    "seen-not-previous": Code(6, "An entry of the server does not answer the one before it"),
    "out-of-turn": Code(6, "{by} said what was not its to say at the entry it had seen"),
    "out-of-place": Code(6, "A message of {by}, right where it was said, stands in another place"),
    "repeated": Code(6, "A message of {by} stands in the log twice"),
    "after-end": Code(6, "{by} went on after the log had ended"),
    "body-form": Code(6, "{by} left out or added a part of a message"),
    "commit-hand-key": Code(6, "{by} published a hand key that cannot be sealed to"),
    "close-form": Code(6, "The close does not open everything"),
    "replace-nobody": Code(6, "The server replaced somebody who does not sit there"),
    "void-reason": Code(6, "The server gave up the attempt for a reason that the log does not bear out"),
    "equivocation": Code(7, "{by} signed two messages that cannot both be true"),
    "seed-mismatch": Code(8, "A seed in the close does not open its commitment"),
    "commitment-copied": Code(8, "Two shufflers published one commitment; it can open for one at most"),
    "deal-opening": Code(9, "An opened hand is not the one that was committed to at the deal"),
    "deal-cards": Code(9, "The server dealt other cards than the shuffles give"),
    "pass-opening": Code(10, "An opened pass is not the one that was committed to"),
    "pass-cards": Code(10, "{by} passed cards that it could not pass"),
    "exchange-opening": Code(11, "Opened cards are not those that were committed to at the exchange"),
    "exchange-cards": Code(11, "The server handed on other cards than were passed"),
    "play-unknown-card": Code(12, "{by} played a card that is not in the deck"),
    "play-not-held": Code(12, "{by} played a card that it did not hold"),
    "play-first-lead": Code(12, "{by} did not begin the play with the card that begins it"),
    "play-revoke": Code(12, "{by} did not follow suit although it could"),
    "play-first-trick-points": Code(12, "{by} played points to the first trick although it had other cards"),
    "play-hearts-unbroken": Code(12, "{by} led a heart before hearts were broken"),
    "card-twice": Code(12, "One card was played twice, by different seats"),
    "policy-departed": Code(13, "A bot, {by}, did not do what its policy does"),
    "policy-unknown": Code(13, "A bot's policy is not known here, so it was not shown to play blind"),
    "expelled-early": Code(14, "The server removed a seat that had time left"),
    "points-wrong": Code(15, "The points are not what the tricks give"),
    "scores-wrong": Code(15, "The scores do not follow from the points"),
    "result-wrong": Code(16, "The end of the game, or its result, is wrong"),
    "void-key": Code(17, "The server disclosed another hand key than the one it opened with"),
    "void-seeds": Code(17, "The server did not disclose the seeds that it knew"),
    "bad-reveal": Code(17, "{by} sealed something else than the seed it had committed to"),
    "bad-pass": Code(17, "{by} sealed something else than the cards it had committed to passing"),
    "void-unfounded": Code(17, "The server gave up the attempt over a message that was in order"),
    "void-after-reveals": Code(17, "The server gave up the attempt when it already knew the deck"),
    "silence": Code(17, "By the server's word, a seat did not answer or left"),
    "dispute-key": Code(18, "{by} disputed with another hand key than its own"),
    "dispute-founded": Code(18, "The server sealed something else to a seat than it had committed to"),
    "dispute-unfounded": Code(18, "{by} disputed a box that was in order"),
    "pin-server-key": Code(19, "The transcript is not of the server whose key was pinned"),
    "pin-seat-key": Code(19, "The transcript does not have the pinned key at that seat"),
    "record-key": Code(20, "The seat's own record has another key than the transcript"),
    "record-seed": Code(20, "The seed in the transcript is not the one in the seat's own record"),
    "record-cards": Code(20, "The transcript does not have the cards of the seat's own record"),
    "record-message": Code(20, "The transcript does not have a message of the seat's own record"),
    "record-head": Code(20, "The transcript does not hold the last entry that the seat had seen"),
    "head-missing": Code(21, "The pinned end is no entry of this transcript"),
    "head-passed": Code(21, "The transcript goes on after the pinned end"),
}  # fmt: skip

#: what is worth saying but no deviation: it leaves a verdict as it is
REMARKS: Final = frozenset(("commitment-copied", "policy-unknown", "silence"))


#: the checks across the hands of a game, numbered on
GAME_CHECKS: Final = {
    22: "succession",
    23: "numbers",
    24: "terms kept",
    25: "scores carried",
    26: "who left",
    27: "seeds fresh",
}
GAME_CODES: Final = {
    "hand-missing": Code(22, "A hand does not name the one before it here as the log before it"),
    "number-wrong": Code(23, "A hand is not the next one of its game"),
    "game-over": Code(23, "A hand was opened after the game had ended"),
    "terms-changed": Code(24, "A hand was opened with other terms or seats than the one before it"),
    "scores-not-carried": Code(
        25, "A hand was opened with other scores than the one before it left"
    ),
    "left-wrong": Code(26, "The result does not say rightly who left"),
    "seed-reused": Code(27, "A seed was used before"),
}
GAME_REMARKS: Final = frozenset(("seed-reused",))

#: the worst of several hands is the game's status
WORST_FIRST: Final[tuple[Status, ...]] = ("invalid", "malformed", "incomplete", "valid")


def worst(statuses: Iterable[Status]) -> Status:
    """The worst of some statuses: invalid, then malformed, then incomplete."""
    return min(statuses, key=WORST_FIRST.index)


class Finding(Struct, frozen=True):
    """One thing that deviates, or is worth a remark.

    `culprits` are parties as in `by`, empty where nobody can be named. `attribution` is ``proven``
    if anyone can recheck it from the cited `entries` (positions in the log). `message` is a
    sentence for people.
    """

    attribution: Attribution
    check: int
    code: str
    culprits: tuple[str, ...]
    entries: tuple[int, ...]
    expected: str
    found: str
    message: str


class CheckReport(Struct, frozen=True):
    """How one numbered check went. `reason` says why it was not run, where it was not."""

    looked_at: int
    name: str
    number: int
    reason: str | None
    status: Literal["passed", "failed", "not run"]


class HandLabel(Struct, frozen=True):
    """Which hand a verdict is about. Texts are the file's: show them escaped."""

    attempt: int
    game: str
    hand: int
    id: str
    table: str


class Pinned(Struct, frozen=True):
    """What the verifier was told to believe, and not by the file."""

    head: str | None
    record: int | None
    seat_keys: dict[str, str]
    server_key: str | None


class Stop(Struct, frozen=True):
    """Where an unfinished hand stands: after `entry`, with these parties' messages next."""

    entry: int
    next: tuple[str, ...]
    reason: str


class Verdict(Struct, frozen=True):
    """The outcome of verifying one transcript (spec section 7).

    `given_up` is the deck of a voided attempt, card codes in the order of positions, where every
    shuffler's seed is known and opens its commitment; else None.
    """

    acknowledged: tuple[str, ...]
    checks: tuple[CheckReport, ...]
    findings: tuple[Finding, ...]
    given_up: tuple[str, ...] | None
    guarantee: str
    hand: HandLabel | None
    head: str | None
    pinned: Pinned
    remarks: tuple[Finding, ...]
    status: Status
    stop: Stop | None

    @property
    def culprits(self) -> tuple[str, ...]:
        """Everybody whom a finding names, each once, in the order of the findings."""
        return tuple(dict.fromkeys(one for found in self.findings for one in found.culprits))


class GameFinding(Struct, frozen=True):
    """One thing that deviates between hands; `hands` are their places in the file, from 0."""

    attribution: Attribution
    check: int
    code: str
    culprits: tuple[str, ...]
    expected: str
    found: str
    hands: tuple[int, ...]
    message: str


class GameVerdict(Struct, frozen=True):
    """The outcome of verifying a game: each hand's verdict, and what was found between them.

    `status` is the worst of all. It is at least incomplete where no hand ended the game.
    """

    checks: tuple[CheckReport, ...]
    findings: tuple[GameFinding, ...]
    guarantee: str
    hands: tuple[Verdict, ...]
    pinned: Pinned
    remarks: tuple[GameFinding, ...]
    status: Status

    @property
    def culprits(self) -> tuple[str, ...]:
        """Everybody whom a finding names, each once: between the hands, then in them."""
        named = [one for found in self.findings for one in found.culprits]
        named += [one for verdict in self.hands for one in verdict.culprits]
        return tuple(dict.fromkeys(named))


def game_finding(
    code: str, *, hands: tuple[int, ...], expected: str, found: str, culprit: str | None = None
) -> GameFinding:
    """A finding between hands; ``proven`` if it names a culprit, else ``unattributed``."""
    check, text = GAME_CODES[code]
    proof = f"; the proof is the signature of {culprit}" if culprit else _NOBODY["unattributed"]
    return GameFinding(
        attribution="proven" if culprit else "unattributed",
        check=check,
        code=code,
        culprits=(culprit,) if culprit else (),
        expected=expected,
        found=found,
        hands=hands,
        message=f"{text}{proof}.",
    )


def finding(
    code: str,
    *,
    by: str,
    entries: tuple[int, ...],
    expected: str,
    found: str,
    culprit: str | None = None,
    attribution: Attribution | None = None,
) -> Finding:
    """A finding of a known code; ``proven`` if it names a culprit, else ``unattributed``."""
    check, text = CODES[code]
    attribution = attribution or ("proven" if culprit else "unattributed")
    sentence = text.format(by=by)
    if code not in REMARKS and check != 1:
        sentence += (
            f"; the proof is the signature of {culprit}" if culprit else _NOBODY[attribution]
        )
    return Finding(
        attribution=attribution,
        check=check,
        code=code,
        culprits=(culprit,) if culprit else (),
        entries=entries,
        expected=expected,
        found=found,
        message=f"{sentence}.",
    )


_NOBODY: Final = {
    "unattributed": "; the file does not show who did it",
    "server's word": "; only the server says so",
    "proven": "",
}
