"""The verdict: what the caller pins, what it guarantees, and what names nobody."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from cheats import BentShuffle, Blind, Lawless, fix_points, void_of
from helpers import SEATS, SERVER, Bend, Key, Table, assert_only, found
from test_dealer import CHOOSER, ONE_HEART, H, play_on, synced, until

from fairdeal import verify
from fairdeal.dealer import Dealer, Terms, bot
from fairdeal.encoding import encode
from fairdeal.errors import MalformedError
from fairdeal.evidence import compare
from fairdeal.findings import CHECKS, CODES, REMARKS, Verdict, finding
from fairdeal.games import DealRules
from fairdeal.games.policies import POLICIES
from fairdeal.games.presets import S0
from fairdeal.log import Log, compacted
from fairdeal.messages import (
    Cards,
    Clock,
    Deck,
    Dispute,
    Entry,
    Play,
    Replace,
    Reveal,
    Signed,
    Void,
    message,
)
from fairdeal.record import read_record, write_record

STRANGER = Key(b"s" * 32)


@pytest.fixture(scope="module")
def hand() -> Table:
    """Three persons, a bot, closed and acknowledged."""
    return Table(3, seed="verify", house=True).run()


def status_of(verdict: Verdict, check: int) -> str:
    return next(one.status for one in verdict.checks if one.number == check)


# -- pins ----------------------------------------------------------------------------------------


def test_pinned_keys(hand: Table) -> None:
    assert hand.verify(server_key=hand.server.public).status == "valid"
    assert hand.verify(seat_keys={1: hand.keys[1].public}).status == "valid"
    assert status_of(hand.verify(), 19) == "not run"
    assert status_of(hand.verify(server_key=hand.server.public), 19) == "passed"
    verdict = hand.verify(server_key=STRANGER.public)
    assert_only(verdict, "pin-server-key", entries=(0,))
    assert verdict.findings[0].expected == STRANGER.public.hex()
    assert verdict.findings[0].found == hand.server.public.hex()


@pytest.mark.parametrize("seat", [0, 3, 4, 9])
def test_pinned_seat_key_that_is_another(hand: Table, seat: int) -> None:
    """At a person's seat, a bot's, and one that the table has not."""
    verdict = hand.verify(seat_keys={seat: STRANGER.public})
    assert_only(verdict, "pin-seat-key", entries=(0,))
    assert f"seat/{seat}" in verdict.findings[0].expected
    bots = "no person's key"
    assert (verdict.findings[0].found == bots) == (seat > 2)


def test_all_pins_are_compared(hand: Table) -> None:
    verdict = hand.verify(
        server_key=STRANGER.public,
        seat_keys={0: STRANGER.public, 1: hand.keys[1].public, 2: STRANGER.public},
    )
    assert [code for code, _ in found(verdict)] == ["pin-server-key"] + ["pin-seat-key"] * 2
    assert verdict.pinned.seat_keys["seat/1"] == hand.keys[1].public.hex()
    assert next(one.looked_at for one in verdict.checks if one.number == 19) == 4


@pytest.mark.parametrize("seat", [-1, 10, 99])
def test_seat_that_no_table_has(hand: Table, seat: int) -> None:
    with pytest.raises(ValueError, match="0 to 9"):
        hand.verify(seat_keys={seat: STRANGER.public})


def record_of(table: Table, n: int = 1, **members: Any) -> bytes:
    record = read_record(table.seats[n].record)
    return write_record(msgspec.structs.replace(record, **members))


def cards_of(record: bytes, name: str) -> Cards:
    return getattr(read_record(record), name)


def test_own_record(hand: Table) -> None:
    for n in hand.seats:
        verdict = hand.verify(record=record_of(hand, n))
        assert verdict.status == "valid"
        assert verdict.pinned.record == n
        assert status_of(verdict, 20) == "passed"


RECORDS: dict[str, tuple[Callable[[Table], bytes], str]] = {
    "key": (lambda t: record_of(t, key=STRANGER.public.hex()), "record-key"),
    "seat of a bot": (lambda t: record_of(t, seat=3, seed="00" * 64, dealt=None, passed=None, received=None), "record-key"),
    "head's hash": (lambda t: record_of(t, head=msgspec.structs.replace(read_record(t.seats[1].record).head, hash=H)), "record-head"),
    "head's number": (lambda t: record_of(t, head=msgspec.structs.replace(read_record(t.seats[1].record).head, seq=5)), "record-head"),
    "seed": (lambda t: record_of(t, seed="00" * 64), "record-seed"),
    "dealt": (lambda t: record_of(t, dealt=Cards(cards=("2C",), salt=H)), "record-cards"),
    "passed": (lambda t: record_of(t, passed=Cards(cards=("2C",), salt=H)), "record-cards"),
    "received": (lambda t: record_of(t, received=Cards(cards=("2C",), salt=H)), "record-cards"),
    "a message missing": (lambda t: record_of(t, sent=read_record(t.seats[1].record).sent[:-1]), "record-message"),
}  # fmt: skip


@pytest.mark.parametrize("name", RECORDS)
def test_record_that_does_not_agree(hand: Table, name: str) -> None:
    make, code = RECORDS[name]
    verdict = hand.verify(record=make(hand))
    assert_only(verdict, code)
    assert status_of(verdict, 20) == "failed"


def test_record_of_a_seat_that_the_table_has_not(hand: Table) -> None:
    """Whatever it remembers, none of that is here."""
    verdict = hand.verify(record=record_of(hand, seat=9))
    assert {code for code, _ in found(verdict)} == {"record-key", "record-cards"}


def test_record_of_cards_where_the_log_opens_none(hand: Table) -> None:
    table = Table(3, hand=4).run()
    for name in ("passed", "received"):
        mine = cards_of(record_of(hand), name)
        if name == "passed":  # nothing was passed, so there is nothing to compare
            assert table.verify(record=record_of(table, passed=mine)).status == "valid"
        else:
            assert_only(table.verify(record=record_of(table, received=mine)), "record-cards")


def test_record_of_another_hand(hand: Table) -> None:
    other = Table(3, seed="other").run()
    with pytest.raises(MalformedError, match="of the hand"):
        hand.verify(record=other.seats[1].record)
    for data in (b"", b"{}", hand.log.encoded(), b'{"fairdeal":1}'):
        with pytest.raises(MalformedError):
            hand.verify(record=data)


def test_record_is_not_looked_at_for_a_file_that_is_none(hand: Table) -> None:
    assert verify(b"{}", record=hand.seats[1].record).status == "malformed"


def test_record_against_a_log_that_goes_on_or_stops_early(hand: Table) -> None:
    """What the seat had seen later is not on a cut log; what came later it need not know."""
    late = synced(until(play=9))
    assert late.verify(record=late.seats[1].record).status == "incomplete"
    early = late.seats[1].record
    late.run()
    verdict = late.verify(record=early)
    assert {code for code, _ in found(verdict)} == {"record-message"}, "it has played since"
    cut = Log(late.log.entries[:12])
    assert_only(verify(cut.encoded(), record=late.seats[1].record), "record-head", entries=(11,))


def test_record_of_a_replaced_seat() -> None:
    """The server's words in its name are not its own, and need not be."""
    for moment in ({"open": 1}, {"reveal": 4}, {"deal": 1}, {"exchange": 1}, {"play": 9}):
        table = synced(until(4, options={"house": True}, **moment))
        table.dealer.replace(1, "left", table.at)
        play_on(table)
        verdict = table.verify(record=table.seats[1].record)
        assert verdict.status == "valid", (moment, verdict.findings)


def test_record_of_a_dispute_that_the_log_leaves_out() -> None:
    """A signed dispute is evidence outside the log."""
    table = Table(3, seed="ignored").run()
    seat = table.seats[1]
    deal = table.log.hashes[table.hand.deal]
    seat._say(Dispute(hand_key=seat._hand_key.hex()), deal)
    verdict = table.verify(record=seat.record)
    assert_only(verdict, "record-message", entries=(table.hand.end,))
    cut = Log(table.log.entries[: table.hand.end])
    head = {"hash": cut.head, "seq": len(cut) - 1}
    record = read_record(seat.record)
    sent = tuple(one for one in record.sent if b'"ack"' not in bytes(one))
    early = msgspec.structs.replace(
        record, head=msgspec.convert(head, type(record.head)), sent=sent
    )
    assert verify(cut.encoded(), record=write_record(early)).status == "incomplete"


def test_pinned_head(hand: Table) -> None:
    end = hand.hand.end
    assert hand.verify(head=hand.log.head).status == "valid"
    assert hand.verify(head=hand.log.hashes[end]).status == "valid", "acks may follow"
    assert hand.verify(head=hand.log.hashes[end + 1]).status == "valid"
    missing = hand.verify(head=H)
    assert_only(missing, "head-missing", entries=(len(hand.log) - 1,))
    passed = hand.verify(head=hand.log.hashes[end - 1])
    assert_only(passed, "head-passed", entries=(end,))
    assert_only(hand.verify(head=hand.log.hashes[3]), "head-passed", entries=(4,))
    cut = Log(hand.log.entries[: end + 1])
    assert verify(cut.encoded(), head=cut.head).status == "valid"
    assert_only(verify(cut.encoded(), head=hand.log.head), "head-missing")


def test_pinned_head_of_an_unfinished_log(hand: Table) -> None:
    cut = Log(hand.log.entries[:9])
    verdict = verify(cut.encoded(), head=cut.head)
    assert verdict.status == "incomplete"
    assert status_of(verdict, 21) == "passed"


# -- the guarantee -------------------------------------------------------------------------------

NOBODY = "No person's key was pinned, so this shows only that one log agrees with itself"
ONLY_SERVER = "No person's key was pinned, so this shows only that the pinned server's log"
FOLLOWS = "Nothing is said about what may have followed this log."
KNEW = "The server knew the cards once all seeds were in"


def test_guarantee_without_a_person_s_key(hand: Table) -> None:
    text = hand.verify().guarantee
    assert text.startswith(NOBODY)
    assert KNEW in text
    assert text.endswith(FOLLOWS)
    text = hand.verify(server_key=hand.server.public).guarantee
    assert text.startswith(ONLY_SERVER)


def test_guarantee_with_persons_keys(hand: Table) -> None:
    text = hand.verify(seat_keys={1: hand.keys[1].public}).guarantee
    assert text.startswith("If seat/1 drew its seed at random and kept it secret")
    assert f"seat/1 has signed for entries 0 to {hand.hand.end}." in text
    both = hand.verify(seat_keys={n: hand.keys[n].public for n in (0, 2)}).guarantee
    assert both.startswith("If seat/0 or seat/2 drew its seed")
    assert hand.verify(record=hand.seats[1].record).guarantee == text
    with_record = hand.verify(
        record=hand.seats[1].record, seat_keys={0: hand.keys[0].public}
    ).guarantee
    assert with_record.startswith("If seat/0 or seat/1 drew")


def test_guarantee_with_a_pinned_end_says_nothing_of_the_rest(hand: Table) -> None:
    text = hand.verify(head=hand.log.head).guarantee
    assert FOLLOWS not in text
    assert text.endswith("seat/0, seat/1, seat/2 acknowledged the result.")
    cut = Log(hand.log.entries[: hand.hand.end + 1])
    assert "Nobody acknowledged the result." in verify(cut.encoded()).guarantee


@pytest.mark.parametrize("people", [1, 2])
def test_guarantee_of_somebody_who_plays_alone(people: int) -> None:
    """Against bots a player convinces itself only; somebody who left counts as somebody."""
    table = Table(people).run(lambda t: len(t.hand.plays) > 5)
    if people == 2:
        table.dealer.replace(1, "left", table.at)
    table.run()
    text = table.verify(seat_keys={0: table.keys[0].public}).guarantee
    alone = "The server and seat/0 may be one device: this convinces its owner and nobody else."
    assert text.startswith(alone) == (people == 1)


def test_guarantee_of_bots_alone() -> None:
    assert Table(0).run().verify().guarantee.startswith(NOBODY)


def test_guarantee_of_an_incomplete_log(hand: Table) -> None:
    for size in (1, 2, 20):
        cut = Log(hand.log.entries[:size]).encoded()
        text = verify(cut, seat_keys={1: hand.keys[1].public}).guarantee
        assert text.startswith("Nothing in it deviates, but the hand did not end here.")
        assert "seat/1" in text
        assert KNEW not in text


def test_guarantee_of_a_seat_that_has_signed_nothing(hand: Table) -> None:
    """Then it says no more than with no key at all."""
    for size in (1, 3):
        cut = Log(hand.log.entries[:size]).encoded()
        text = verify(cut, seat_keys={1: hand.keys[1].public}).guarantee
        assert "nobody could choose" not in text
        assert "-1" not in text


def test_guarantee_of_a_seat_that_left_before_it_committed() -> None:
    """The server committed for it: its honesty kept nobody from choosing the deck."""
    table = Table(4, seed="left early")
    table.dealer.replace(1, "left", table.at)
    verdict = table.run().verify(seat_keys={1: table.keys[1].public})
    assert verdict.status == "valid"
    assert "nobody could choose" not in verdict.guarantee
    assert verdict.guarantee.startswith("seat/1 revealed no seed here")
    both = table.verify(seat_keys={n: table.keys[n].public for n in (1, 2)}).guarantee
    assert both.startswith("If seat/2 drew its seed")


def test_guarantee_covers_what_was_seen_and_no_more(hand: Table) -> None:
    """A signature endorses the log up to its `seen` (3.2): not what others said meanwhile."""
    for size in range(4, len(hand.log) + 1):
        cut = Log(hand.log.entries[:size])
        own = [one.message.seen for one in cut.entries if one.message.by == "seat/1"]
        if not own:
            continue
        covered = max(cut.positions[seen] for seen in own)
        text = verify(cut.encoded(), seat_keys={1: hand.keys[1].public}).guarantee
        assert f"seat/1 has signed for entries 0 to {covered}." in text, size


def test_guarantee_of_what_deviates(hand: Table) -> None:
    text = hand.verify(head=H, seat_keys={1: hand.keys[1].public}).guarantee
    assert text.startswith("Something deviates from the protocol: no fair hand is guaranteed.")
    nothing = verify(b"").guarantee
    assert "nothing follows, for or against anybody" in nothing


# -- proofs that stand alone ----------------------------------------------------------------------


def forked() -> tuple[Bend, Bend]:
    """Two copies of a hand; seat 1 revealed differently in each."""
    table = until(4, commit=4)
    one, other = (table.bend() for _ in range(2))
    for bend, box in ((one, "00" * 112), (other, "11" * 112)):
        bend.insert(5, "seat/1", Reveal(sealed=box), seen=bend[4])
    return one, other


def test_proof_and_pinned_keys() -> None:
    """Whose key it is in the world only a pin says, for a seat that the table has."""
    one, other = forked()
    proof = compare(one.encoded(), other.encoded()).proof
    assert proof is not None
    verdict = verify(
        proof, seat_keys={1: one.keys["seat/1"].public}, server_key=one.keys[SERVER].public
    )
    assert_only(verdict, "equivocation", "seat/1")
    for seat in (1, 2, 9):
        codes = {code for code, _ in found(verify(proof, seat_keys={seat: STRANGER.public}))}
        assert codes == {"equivocation", "pin-seat-key"}


def changed(proof: bytes, change: Callable[[Any], Any]) -> Verdict:
    file = json.loads(proof)
    change(file["proof"])
    return verify(json.dumps(file).encode())


def test_proof_that_proves_nothing() -> None:
    one, other = forked()
    proof = compare(one.encoded(), other.encoded()).proof
    assert proof is not None
    third = until(4, commit=4).bend()
    third.insert(5, "seat/2", Reveal(sealed="22" * 112), seen=third[4])
    for change in (
        lambda file: file["claims"][0]["message"].update(seen="xy" * 32),
        lambda file: file["claims"][0]["message"].update(type="bet"),
        lambda file: file["claims"][0]["message"].update(sig="00" * 64),
        lambda file: file.update(key=STRANGER.public.hex()),
        lambda file: file["claims"][1].update(chain=[]),
        lambda file: file["claims"].reverse() or file["claims"][0].update(chain=file["claims"][0]["chain"][1:]),
    ):  # fmt: skip
        verdict = changed(proof, change)
        assert verdict.status == "malformed"
        assert verdict.culprits == ()


def test_proof_of_two_authors_of_one_key_is_none() -> None:
    """The server speaks for several; two commits of its bots are no contradiction."""
    table = Table(2, seed="two bots")
    log = table.log
    one, other = log.entries[1], log.entries[2]
    claim = lambda entry, size: {  # noqa: E731
        "chain": [
            {"at": log.entries[n].at, "message": log.message_hashes[n].hex()} for n in range(size)
        ],
        "message": json.loads(Signed(message=entry.message, sig=entry.sig or "").encoded()),
    }
    opened = json.loads(encode(log.entries[0].message.body))
    file = {
        "fairdeal": 1,
        "proof": {"claims": [claim(one, 1), claim(other, 2)], "key": table.server.public.hex(), "open": opened},
    }  # fmt: skip
    verdict = verify(json.dumps(file).encode())
    assert verdict.status == "malformed"
    assert "both can be true" in verdict.findings[0].found


@pytest.mark.parametrize("how", ["terms", "chain"])
def test_copies_are_compared_as_far_as_they_can_be_followed(how: str) -> None:
    """Terms that cannot be played, or a broken chain: what stands after is nobody's proof."""
    one, other = forked()
    for bend in (one, other):
        if how == "terms":
            bend[0].change(deck=Deck(packs=1, removed=("2D",)))
        else:
            bend[3].prev = H
    compared = compare(one.encoded(), other.encoded())
    assert (compared.proof, compared.culprit, compared.same) == (None, None, False)


def test_two_opens_without_a_signature_are_no_proof() -> None:
    one, other = Table(3, seed="opens").bend().cut(1), Table(3, seed="opens").bend().cut(1)
    other[0].change(substitute="random/1")
    proven = compare(one.encoded(), other.encoded())
    assert proven.culprit == SERVER
    assert proven.proof is not None
    assert verify(proven.proof).culprits == (SERVER,)
    for bend in (one, other):
        bend[0].sign = False
        unsigned = compare(one.encoded(), other.encoded())
        assert (unsigned.proof, unsigned.culprit) == (None, None)
        assert "not both" in unsigned.text


# -- policies ------------------------------------------------------------------------------------


def test_unknown_policy_leaves_a_hand_valid_but_says_so(hand: Table) -> None:
    known = {name: policy for name, policy in POLICIES.items() if name != "low/1"}
    verdict = hand.verify(policies=known)
    assert verdict.status == "valid"
    assert [(one.code, one.entries, one.culprits) for one in verdict.remarks] == [
        ("policy-unknown", (0,), ())
    ]
    assert "These bots were not shown to play blind: low/1 at seat/3." in verdict.guarantee
    assert status_of(verdict, 13) == "not run"
    report = next(one for one in verdict.checks if one.number == 13)
    assert report.reason == "a policy is not known here"


def test_unknown_substitute_cites_the_replacement() -> None:
    table = until(4, play=9)
    place = len(table.log)
    table.dealer.replace(1, "left", table.at)
    verdict = table.run().verify(policies={})
    assert verdict.status == "valid"
    assert [(one.code, one.entries) for one in verdict.remarks] == [("policy-unknown", (place,))]


def test_one_unknown_policy_beside_a_known_one() -> None:
    table = Table(2, bots="random/1").run(lambda t: len(t.hand.plays) > 9)
    table.dealer.replace(0, "left", table.at)  # the substitute is low/1
    verdict = table.run().verify(policies={"random/1": POLICIES["random/1"]})
    assert verdict.status == "valid"
    assert status_of(verdict, 13) == "passed"
    assert [one.found for one in verdict.remarks] == ["low/1 at seat/0"]


def test_bots_are_replayed_in_every_kind_of_decision() -> None:
    """Pass, play and choice; words go on from one to the next."""
    for seed in range(8):
        table = Table(2, seed=seed, bots="random/1", **{**CHOOSER, "hand": 1}).run()
        verdict = table.verify()
        assert verdict.status == "valid"
        if not table.bend().one("choose").by.endswith(("0", "1")):
            return
    raise AssertionError("no bot shot the moon")


def test_bot_that_chooses_otherwise_departs() -> None:
    class Contrary(Dealer):
        def _decide(self, by: str, kind: Any) -> tuple[str, ...]:
            decided = super()._decide(by, kind)
            if kind == "choose":
                decided = ("subtract" if decided == ("add",) else "add",)
                self._decided[by] = decided
            return decided

    table = Table(0, dealer=Contrary, rules=CHOOSER["rules"], deck=ONE_HEART).run()
    assert_only(table.verify(), "policy-departed", SERVER)


# -- remarks -------------------------------------------------------------------------------------


def test_silence_is_remarked_on() -> None:
    for reason, seat in (("no-reveal", 1), ("left", 1), ("left", 3)):
        table = until(commit=4)
        table.dealer.void(reason, seat, table.at)
        verdict = table.verify()
        assert (verdict.status, verdict.findings) == ("incomplete", ())
        (remark,) = verdict.remarks
        assert (remark.code, remark.attribution, remark.culprits) == (
            "silence", "server's word", (),
        )  # fmt: skip
        assert remark.message.startswith("By the server's word")
        assert verdict.stop is not None
        assert verdict.stop.reason.endswith(f"{reason} (seat/{seat})")


def test_copied_commitment_is_remarked_on_in_a_closed_hand_too() -> None:
    """The copier cannot open it, so the close names the server; the copy itself names nobody."""
    bend = Table(4, seed="copied").run().bend()
    first, second = bend.one("commit", "seat/0"), bend.one("commit", "seat/1")
    second.change(commitment=first.body.commitment)
    verdict = bend.verify()
    assert [one.code for one in verdict.remarks] == ["commitment-copied"]
    assert verdict.remarks[0].entries == (bend.place(first), bend.place(second))
    assert "seed-mismatch" in {one.code for one in verdict.findings}


def test_remarks_and_findings_are_apart() -> None:
    for code in CODES:
        one = finding(code, by="seat/1", entries=(0,), expected="", found="")
        assert one.attribution == "unattributed"
        assert one.message.endswith(".")
        assert ("does not show who" in one.message) == (code not in REMARKS and code != "malformed")


# -- where a log stops ---------------------------------------------------------------------------


def test_stop_says_what_comes_next(hand: Table) -> None:
    data = hand.log
    end = hand.hand.end
    for size in range(1, len(data) + 1):
        verdict = verify(Log(data.entries[:size]).encoded())
        if size > end:
            assert verdict.stop is None
            continue
        stop = verdict.stop
        assert stop is not None
        assert stop.entry == size - 1
        assert "server's word" in stop.reason
        said = data.entries[size].message
        assert f"{said.type} by {said.by}" in stop.next
        assert verdict.acknowledged == ()


def test_stop_of_a_void() -> None:
    table = until(commit=4)
    table.dealer.void("operator", None, table.at)
    stop = table.verify().stop
    assert stop is not None
    assert (stop.next, stop.entry) == ((), len(table.log) - 1)
    assert stop.reason == "the server voided the attempt: operator"


# -- malformed -----------------------------------------------------------------------------------

MALFORMED: dict[str, tuple[bytes, str]] = {
    "nothing": (b"", "empty"),
    "white space": (b" \n", "empty"),
    "no text": (b"\xff\xfe\x00", "UTF-8"),
    "byte order mark": (b'\xef\xbb\xbf{"fairdeal":1}', "byte order mark"),
    "no JSON": (b"hello", "JSON"),
    "a number": (b"7", "no fairdeal transcript"),
    "a list": (b"[]", "no fairdeal transcript"),
    "another program's": (b'{"cards":[1]}', "no fairdeal transcript"),
    "newer version": (b'{"fairdeal":2,"entries":[]}', "another version of the format: expected 1, found 2"),
    "much newer version": (b'{"fairdeal":2,"hands":{"a":[]},"x":null}', "another version"),
    "version 0": (b'{"fairdeal":0,"entries":[]}', "another version"),
    "a game's file": (b'{"fairdeal":1,"hands":[]}', "several hands"),
    "a record": (b'{"fairdeal":1,"record":{}}', "own record"),
    "no entries": (b'{"fairdeal":1,"entries":[]}', "length >= 1"),
    "entries of nothing": (b'{"fairdeal":1,"entries":[{}]}', "missing required field"),
    "another member": (b'{"x":1,"fairdeal":1,"entries":[]}', "unknown member"),
    "member twice": (b'{"fairdeal":1,"fairdeal":1,"entries":[]}', "stands twice"),
    "a fraction": (b'{"fairdeal":1.0,"entries":[]}', "integer"),
    "deep": (b"[" * 100_000, "nested more than 16"),
    "long number": (b'{"fairdeal":' + b"1" * 1_000_000 + b"}", "integer"),
    "surrogate": (b'{"fairdeal":"\\ud800"}', "surrogate"),
    "cut": (b'{"fairdeal":1,"entries":[', "too early"),
    "huge": (b" " * (16 * 2**20 + 1), "16 MiB"),
}  # fmt: skip


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed_names_nobody(name: str) -> None:
    data, problem = MALFORMED[name]
    verdict = verify(data, server_key=STRANGER.public, seat_keys={0: STRANGER.public}, head=H)
    assert verdict.status == "malformed"
    assert [(one.code, one.culprits, one.check) for one in verdict.findings] == [
        ("malformed", (), 1)
    ]
    assert problem in verdict.findings[0].found, verdict.findings[0].found
    assert (verdict.hand, verdict.head, verdict.stop, verdict.remarks) == (None, None, None, ())
    assert [one.status for one in verdict.checks] == ["failed"] + ["not run"] * 20
    assert verdict.culprits == ()


@pytest.mark.parametrize(
    "change",
    [
        lambda file: file["entries"].pop(0),
        lambda file: file["entries"][0].update(by="seat/0"),
        lambda file: file["entries"][3]["body"].update(more=1),
        lambda file: file["entries"][3].pop("seen"),
        lambda file: file["entries"][3].update(prev="xy" * 32),
        lambda file: file["entries"][3].update(sig="AB" * 64),
        lambda file: file["entries"][3].update(at=-1),
        lambda file: file["entries"][3].update(at=2**53),
        lambda file: file["entries"][3].update(type="deal"),
        lambda file: file["entries"][3].update(type="bet"),
        lambda file: file["entries"][3].update(by="seat/10"),
        lambda file: file["entries"][0]["body"].update(table="a\u202eb"),
        lambda file: file["entries"][0]["body"]["seats"][0].update(name=""),
        lambda file: file["entries"].extend(file["entries"] * 60),
    ],
)
def test_transcript_of_another_shape_names_nobody(hand: Table, change: Any) -> None:
    file = json.loads(hand.log.encoded())
    change(file)
    verdict = verify(json.dumps(file).encode())
    assert verdict.status == "malformed"
    assert verdict.culprits == ()
    assert verdict.findings[0].found.startswith("$")


def test_box_of_half_a_byte_is_malformed(hand: Table) -> None:
    file = json.loads(hand.log.encoded())
    for entry in file["entries"]:
        if entry["type"] == "reveal":
            entry["body"]["sealed"] += "0"
            break
    verdict = verify(json.dumps(file).encode())
    assert "odd number" in verdict.findings[0].found


def test_writing_of_a_transcript_does_not_matter(hand: Table) -> None:
    """White space, order of members, escapes."""
    file = json.loads(hand.log.encoded())
    for text in (
        json.dumps(file, indent=2),
        json.dumps(dict(reversed(file.items()))),
        json.dumps(file).replace('"P0"', '"\\u00500"'),
    ):
        verdict = verify(text.encode() + b"\n")
        assert verdict.status == "valid"
        assert verdict.head == hand.log.head


# -- terms that cannot be played -----------------------------------------------------------------


def test_after_unplayable_terms_only_what_is_public_is_checked() -> None:
    """Chain, signatures and pins still say something; the rest is not run, and says why."""
    bend = Table(3, seed="unplayable").run().bend()
    bend[0].change(deck=Deck(packs=1, removed=("2D",)))
    bend[-1].sign = "00" * 64
    verdict = bend.verify(server_key=STRANGER.public, seat_keys={0: bend.keys["seat/0"].public})
    codes = {code for code, _ in found(verdict)}
    assert codes == {"open-terms", "signature-invalid", "pin-server-key"}
    for report in verdict.checks:
        if 6 <= report.number <= 18:
            assert report.status == "not run"
            assert report.reason == "the terms of the hand cannot be played"
    assert verdict.stop is None
    assert "open-terms" in [one.code for one in verdict.findings if one.culprits == (SERVER,)]


# -- merged findings -----------------------------------------------------------------------------


def test_answers_to_another_log_are_one_finding() -> None:
    """A log pieced together from two: everybody's answers are to the other one."""
    table = Table(4, seed="merged").run()
    bend = table.bend()
    for draft in bend.of("play")[4:8]:
        draft.seen = "33" * 32
    verdict = bend.verify()
    unknown = [one for one in verdict.findings if one.code == "seen-unknown"]
    assert len(unknown) == 1
    assert len(unknown[0].entries) == 4
    assert unknown[0].culprits == ()


def test_server_s_answers_are_merged_by_culprit() -> None:
    table = Table(3, seed="merged too").run()
    bend = table.bend()
    exchange, last = bend.one("exchange"), bend.one("close")
    first_bot = bend.one("pass", "seat/3")
    exchange.seen = bend.one("deal")
    first_bot.seen = bend[1]
    last.seen = bend.one("exchange")
    verdict = bend.cut(bend.place(last) + 1).verify()
    rows = [one for one in verdict.findings if one.code == "seen-not-previous"]
    assert sorted((one.culprits, one.entries) for one in rows) == [
        ((), (bend.place(last),)),
        ((SERVER,), (bend.place(first_bot), bend.place(exchange))),
    ]


# -- blame of what nobody has signed -------------------------------------------------------------


def cheating(table: Table) -> tuple[Bend, int]:
    """Seat 1 reveals before all have committed: its own fault, where it has signed that."""
    bend = table.bend().cut(3)
    first = bend.one("commit", "seat/0")
    bend.insert(3, "seat/0", Reveal(sealed="00" * 112), seen=first)
    return bend, 3


def test_blame_needs_a_signature() -> None:
    table = until(4, commit=4)
    bend, place = cheating(table)
    assert_only(bend.verify(), "out-of-turn", "seat/0", entries=(place,))
    bend[place].sign = False
    assert sorted(found(bend.verify())) == [("out-of-turn", ()), ("signature-missing", ())]
    bend[place].sign = "00" * 64
    assert sorted(found(bend.verify())) == [("out-of-turn", ()), ("signature-invalid", ())]


def test_blame_by_a_later_signature() -> None:
    """Unsigned, but covered by what its author signed later over it."""
    table = until(4, commit=4)
    bend, place = cheating(table)
    bend[place].sign = False
    later = bend.insert(4, "seat/0", Play(card="2C"), seen=bend[place])
    codes = found(bend.verify())
    assert ("out-of-turn", ("seat/0",)) in codes
    assert ("signature-missing", ()) not in codes
    later.sign = "00" * 64
    codes = found(bend.verify())
    assert ("signature-missing", ()) in codes
    assert all(culprits == () for _, culprits in codes)


def test_blame_ends_where_the_chain_is_broken() -> None:
    """What an author saw must be rooted: else anyone may have put it there."""
    table = until(4, commit=4)
    bend, place = cheating(table)
    bend[1].prev = H
    codes = found(bend.verify())
    assert ("chain-prev", ()) in codes
    assert ("out-of-turn", ()) in codes
    assert all(culprits == () for _, culprits in codes), "the break stands before what was seen"
    assert place == 3


def test_blame_of_a_place_needs_the_server_s_signature_over_it() -> None:
    for kind in ("seq", "at"):
        table = Table(4, seed="places").run()
        bend = table.bend()
        draft = bend.of("play")[10]
        setattr(draft, kind, 1)
        codes = found(bend.verify())
        code = "chain-seq" if kind == "seq" else "chain-time"
        assert (code, (SERVER,)) in codes
        bend.cut(bend.place(draft) + 1)
        assert_only(bend.verify(), code, entries=(bend.place(draft),))
        bend.drafts[0].prev = H
        assert (code, ()) in found(bend.verify())


def test_expulsion_blames_nobody_where_nothing_vouches_for_the_times() -> None:
    """The last entries' times are nobody's word yet."""
    table = until(4, options={"clock": Clock(grace_ms=5000, reserve_ms=60_000)}, play=7)
    turn = table.hand.tricks.turn
    bend = table.bend()
    bend.insert(len(bend.drafts), SERVER, Replace(seat=turn, reason="expelled"))
    assert_only(bend.verify(), "expelled-early")


# -- clock ---------------------------------------------------------------------------------------

PATIENT = Clock(grace_ms=1000, reserve_ms=5000)


def expelled(
    moment: dict[str, int], wait: int, reason: Any = "expelled", **options: Any
) -> Verdict:
    """Whoever is awaited first is expelled so many milliseconds after the last entry."""
    table = until(4, options={"clock": PATIENT, **options}, **moment)
    seat = table.dealer.awaited()[0][1]
    table.dealer.replace(seat, reason, table.log.last_at + wait)
    table.at += wait
    return table.run().verify()


@pytest.mark.parametrize("moment", [{"deal": 1}, {"exchange": 1}, {"play": 9}, {"play": 1}])
def test_whoever_used_its_reserve_may_be_expelled(moment: dict[str, int]) -> None:
    assert found(expelled(moment, 100)) == [("expelled-early", (SERVER,))]
    assert found(expelled(moment, 5999 - 800)) == [("expelled-early", (SERVER,))]
    assert expelled(moment, 6000).status == "valid"
    assert expelled(moment, 100, "left").status == "valid"
    assert expelled(moment, 100, "unresponsive").status == "invalid"


def test_reserve_is_used_up_over_decisions() -> None:
    """Two decisions of 4 seconds use 3 of reserve each; the third began just now."""
    table = until(4, options={"clock": PATIENT}, play=4)
    spent = 0
    turn = None
    while spent < 2:
        turn = table.hand.tricks.turn
        if turn == 1:
            table.at += 4000
            spent += 1
        synced(table)
        table.give(turn, table.decide(turn))
    while table.hand.tricks.turn != 1:
        turn = table.hand.tricks.turn
        synced(table)
        table.give(turn, table.decide(turn))
    table.dealer.replace(1, "expelled", table.at)
    assert table.run().verify().status == "valid"


def test_choice_of_a_moon_runs_on_the_clock() -> None:
    table = Table(4, clock=PATIENT, **CHOOSER).run(lambda t: t.hand.phase.value == "choose")
    seat = table.dealer.awaited()[0][1]
    table.dealer.replace(seat, "expelled", table.log.last_at + 6000)
    assert table.run().verify().status == "valid"


def test_clock_report_where_nobody_was_replaced() -> None:
    verdict = Table(4, clock=PATIENT).run().verify()
    assert verdict.status == "valid"
    report = next(one for one in verdict.checks if one.number == 14)
    assert (report.status, report.reason) == ("not run", "nobody was replaced")


def test_clock_report_where_nobody_ran_out_of_time() -> None:
    table = Table(4, clock=PATIENT)
    table.dealer.replace(3, "left", table.at)
    verdict = table.run().verify()
    report = next(one for one in verdict.checks if one.number == 14)
    assert (report.status, report.reason) == ("not run", "nobody ran out of time")


# -- deal-only hands -----------------------------------------------------------------------------


@pytest.mark.parametrize("people", [0, 2, 4])
@pytest.mark.parametrize(
    ("deck", "seats"),
    [
        (Deck(packs=1, removed=()), 4),
        (Deck(packs=2, removed=("2C",)), 7),
        (Deck(cards=tuple("ABCDEFGHIJ")), 5),
        (Deck(cards=("one", "two")), 2),
        (Deck(packs=8, removed=()), 10),
    ],
)
def test_deal_only_hands_are_valid(people: int, deck: Deck, seats: int) -> None:
    table = Table(
        min(people, seats), rules=DealRules(), deck=deck, seats=seats, house=people == 2
    ).run()
    verdict = table.verify(seat_keys={n: key.public for n, key in table.keys.items()})
    assert verdict.status == "valid", verdict.findings
    assert {one.number for one in verdict.checks if one.status == "passed"} >= {6, 8, 9}
    for number in (10, 11, 12, 13, 14):
        assert status_of(verdict, number) == "not run"


@pytest.mark.parametrize("people", [0, 4])
def test_deal_only_cheats(people: int) -> None:
    table = Table(people, rules=DealRules(), dealer=BentShuffle).run()
    verdict = table.verify()
    assert set(found(verdict)) == {("deal-cards", (SERVER,))}
    assert len(verdict.findings) == 2
    bend = Table(people, rules=DealRules()).run().bend()
    close = bend.one("close")
    close.change(seeds={**close.body.seeds, "seat/2": "00" * 64})
    assert_only(bend.verify(), "seed-mismatch", SERVER)
    assert status_of(bend.verify(), 9) == "passed", "openings still open"


def test_deal_only_hands_have_no_points() -> None:
    for members, code in (
        ({"points": (1, 2, 3, 4)}, "points-wrong"),
        ({"scores": (1, 2, 3, 4)}, "scores-wrong"),
        ({"points": (1, 2, 3, 4), "scores": (1, 2, 3, 4)}, "points-wrong"),
    ):
        bend = Table(4, rules=DealRules()).run().bend()
        bend.one("close").change(**members)
        assert (code, (SERVER,)) in found(bend.verify())


def test_deal_only_hand_has_no_result() -> None:
    result = Table(4, hand=8, scores=(95, 96, 97, 98)).run().bend().one("close").body.result
    bend = Table(4, rules=DealRules()).run().bend()
    bend.one("close").change(result=result)
    assert_only(bend.verify(), "result-wrong", SERVER)


# -- hearts of other rules -----------------------------------------------------------------------


def rules(**members: Any) -> Any:
    return msgspec.structs.replace(S0, **members)


TABLES: dict[str, dict[str, Any]] = {
    "3 players": {"seats": 3, "deck": Deck(packs=1, removed=("2D",)), "rules": rules(pass_cycle=(1, 2, 0))},
    "5 players": {"seats": 5, "deck": Deck(packs=1, removed=("2D", "2S")), "rules": rules(pass_cycle=(1, 4, 2, 3, 0))},
    "6 players, two packs": {
        "seats": 6, "deck": Deck(packs=2, removed=("2C",)),
        "rules": rules(cancellation=True, first_lead="left-of-dealer", pass_cycle=(1, 5, 0)),
    },
    "6 players, two packs and a kitty": {
        "seats": 6, "deck": Deck(packs=2, removed=()),
        "rules": rules(cancellation=True, first_lead="left-of-dealer", kitty="last-trick", pass_cycle=(1, 5, 0)),
    },
    "3 players and a kitty": {"seats": 3, "rules": rules(first_lead="left-of-dealer", kitty="first-trick", pass_cycle=(1, 2))},
    "5 players and a kitty": {"seats": 5, "rules": rules(first_lead="left-of-dealer", kitty="last-trick", pass_cycle=(1, 2))},
    "points allowed, queen breaks": {"rules": rules(first_trick_points="allowed", queen_breaks_hearts=True, lead_from_points=True)},
    "discard breaks, shooter subtracts": {"rules": rules(hearts_broken_by="discard", moon="shooter-subtracts", tie="last-hand")},
    "jack of diamonds, no moon": {"rules": rules(card_points={"QS": 13, "JD": -10}, moon="none")},
    "exact reset": {"rules": rules(exact_reset=(100, 50))},
}  # fmt: skip


@pytest.mark.parametrize("people", [0, 3])
@pytest.mark.parametrize("hand_number", [1, 3])
@pytest.mark.parametrize("name", TABLES)
def test_hands_by_other_rules_are_valid(name: str, hand_number: int, people: int) -> None:
    table = Table(people, seed=name, hand=hand_number, house=True, **TABLES[name]).run()
    assert not table.rejected
    assert not table.refused
    verdict = table.verify(seat_keys={n: key.public for n, key in table.keys.items()})
    assert verdict.status == "valid", verdict.findings
    assert {one.status for one in verdict.checks if one.number in (8, 9, 12, 15, 16)} == {"passed"}
    keys = [table.hand.key_of(entry.message.by) for entry in table.log.entries]
    assert verify(compacted(table.log, keys).encoded()).status == "valid"


def test_kitty_that_is_not_known_is_not_counted() -> None:
    """Without all seeds nobody knows who took what."""
    table = Table(3, seed="kitty", **TABLES["3 players and a kitty"]).run()
    bend = table.bend()
    close = bend.one("close")
    close.change(seeds={**close.body.seeds, "seat/1": "00" * 64})
    verdict = bend.verify()
    assert_only(verdict, "seed-mismatch", SERVER)
    report = next(one for one in verdict.checks if one.number == 15)
    assert (report.status, report.reason) == ("not run", "the kitty is not known")


def test_fives_seats_play_ten_too() -> None:
    """The largest table."""
    deck = Deck(packs=2, removed=("2C", "2D"))
    table = Table(
        10, seats=10, deck=deck,
        rules=rules(cancellation=True, first_lead="left-of-dealer", pass_cycle=(9,)),
    ).run()  # fmt: skip
    assert table.verify().status == "valid"
    assert len(table.verify().acknowledged) == 10


# -- checks 8 to 11 on what the close leaves out or bends ------------------------------------------


def closed(**members: Any) -> Bend:
    bend = Table(3, seed="bent").run().bend()
    close = bend.one("close")
    close.change(**{name: change(close.body) for name, change in members.items()})
    return bend


@pytest.mark.parametrize(
    ("name", "check", "reason"),
    [
        ("deals", 9, "the close does not open every hand"),
        ("passes", 10, "the close does not open every pass"),
        ("exchanges", 11, "the close does not open every exchange"),
    ],
)
def test_close_that_opens_too_little(name: str, check: int, reason: str) -> None:
    verdict = closed(**{name: lambda body: getattr(body, name)[1:]}).verify()
    assert set(found(verdict)) == {("close-form", (SERVER,))}
    report = next(one for one in verdict.checks if one.number == check)
    assert (report.status, report.reason) == ("not run", reason)


def test_close_that_opens_no_hand_at_all() -> None:
    """No play can be judged."""
    salted = lambda body: tuple(Cards(cards=one.cards, salt=H) for one in body.deals)  # noqa: E731
    verdict = closed(deals=salted).verify()
    assert found(verdict) == [("deal-opening", (SERVER,))] * 4
    report = next(one for one in verdict.checks if one.number == 12)
    assert (report.status, report.reason) == ("not run", "no hand was opened")


def test_close_with_fewer_points_or_scores_than_seats() -> None:
    verdict = closed(points=lambda body: body.points[1:]).verify()
    assert found(verdict) == [("points-wrong", (SERVER,))]
    report = next(one for one in verdict.checks if one.number == 16)
    assert (report.status, report.reason) == ("not run", "the scores are not by seat")
    verdict = closed(scores=lambda body: body.scores[1:]).verify()
    assert found(verdict) == [("scores-wrong", (SERVER,))]


def test_close_before_the_last_card() -> None:
    table = Table(3, seed="early close").run()
    bend = table.bend()
    close = bend.one("close")
    bend.drafts = [*bend.drafts[: bend.place(bend.of("play")[40])], close]
    close.seen = None
    verdict = bend.verify()
    assert ("out-of-turn", (SERVER,)) in found(verdict)


def test_codes_that_are_split_otherwise_open_nothing() -> None:
    """A commitment is made to the codes joined: only codes of the deck's length are meant."""

    def split(body: Any) -> tuple[Cards, ...]:
        one, two, three = body.passes[0].cards
        wrong = (one + two[:1], two[1:] + three)
        return (Cards(cards=wrong, salt=body.passes[0].salt), *body.passes[1:])

    assert_only(closed(passes=split).verify(), "pass-opening", SERVER)


def test_exchange_that_opens_to_what_no_pass_holds() -> None:
    """What a giver's bad pass held is not known: then its receiver's cards are what they are."""
    bend = closed(passes=lambda body: (Cards(cards=body.passes[0].cards, salt=H), *body.passes[1:]))
    assert_only(bend.verify(), "pass-opening", SERVER)


# -- check 12 and 13: what stands in a bent course -------------------------------------------------


def test_bots_are_not_judged_where_the_course_is_not_certain() -> None:
    bend = Table(3, seed="course").run().bend()
    play = bend.of("play", "seat/0")[3]
    bend.insert(bend.place(play) + 1, "seat/0", play.body, seen=play.seen)
    verdict = bend.verify()
    assert_only(verdict, "repeated", SERVER)
    report = next(one for one in verdict.checks if one.number == 13)
    assert (report.status, report.reason) == ("not run", "the course of the hand is not certain")


def test_bot_that_plays_what_it_does_not_hold() -> None:
    """It is no bot's policy, and it is not held: both are said of the server."""

    table = Table(0, seed="thief").run()
    bend = table.bend()
    one, other = bend.of("play")[-2:]
    one.body, other.body = other.body, one.body
    fix_points(table, bend, bend.one("close"))
    verdict = bend.verify()
    assert found(verdict).count(("play-not-held", (SERVER,))) == 2
    assert ("policy-departed", (SERVER,)) in found(verdict)
    assert {code for code, _ in found(verdict)} == {"play-not-held", "policy-departed"}


# -- check 17 ------------------------------------------------------------------------------------


def voided(
    bend: Bend, table: Table, reason: Any, seat: int | None = None, **members: Any
) -> Verdict:
    bend.insert(len(bend.drafts), SERVER, void_of(table, reason, seat, **members))
    return bend.verify()


def test_17_3_seeds_of_those_who_have_not_committed() -> None:
    """A seed in the void that opens no commitment."""
    table = Table(3)
    seeds = void_of(table, "operator").seeds
    verdict = voided(table.bend(), table, "operator", seeds={**seeds, "seat/1": "00" * 64})
    assert_only(verdict, "void-seeds", SERVER)
    table = until(commit=4)
    verdict = voided(table.bend(), table, "operator", seeds={"seat/3": "00" * 64})
    assert_only(verdict, "void-seeds", SERVER)


def test_17_5_void_over_a_good_pass() -> None:
    table = until(4, **{"pass": 4})
    bend = table.bend()
    bend.cut(bend.place(bend.one("exchange")))
    assert_only(voided(bend, table, "bad-pass", 2), "void-unfounded", SERVER)


def test_17_5_void_over_a_pass_of_cards_that_it_was_not_dealt() -> None:
    """A void does not open the deal: it names nobody."""

    class Foreign(Lawless):
        def _sealed_pass(self, opening: Cards) -> Any:
            deck = self.hand.game.deck
            wrong = tuple([card for card in deck if card not in self.cards][:3])
            return super()._sealed_pass(Cards(cards=wrong, salt=opening.salt))

    table = Table(4, seat={2: Foreign}, dealer=Blind)
    table.run(lambda t: t.hand.deal is not None)
    for n, out in [(n, table.tell(n)[0]) for n in (0, 1, 2)]:
        table.give(n, out)
    verdict = voided(table.bend(), table, "bad-pass", 2)
    assert_only(verdict, "bad-pass")


def test_17_5_void_over_a_pass_where_the_seeds_are_not_all_known() -> None:
    table = until(4, **{"pass": 4})
    bend = table.bend()
    bend.cut(bend.place(bend.one("exchange")))
    seeds = {by: seed for by, seed in void_of(table, "operator").seeds.items() if by != "seat/0"}
    verdict = voided(bend, table, "bad-pass", 2, seeds=seeds)
    assert sorted(found(verdict)) == [("bad-pass", ()), ("void-seeds", (SERVER,))]


def test_17_reports_of_a_void(hand: Table) -> None:
    assert status_of(hand.verify(), 17) == "not run"
    table = until(commit=4)
    table.dealer.void("operator", None, table.at)
    verdict = table.verify()
    assert status_of(verdict, 17) == "passed"
    body = table.log.entries[-1].message.body
    assert isinstance(body, Void)
    assert verdict.hand is not None
    assert (verdict.hand.table, verdict.hand.game) == ("t-1", "g-1")


# -- check 18 ------------------------------------------------------------------------------------


def test_18_dispute_of_what_is_no_box() -> None:
    """It is out of turn; there is nothing to open."""
    table = until(4, deal=1)
    for seen in (table.log.hashes[0], H):
        bend = table.bend()
        bend.insert(len(bend.drafts), "seat/1", Dispute(hand_key=H), seen=seen)
        code = ("seen-unknown", ()) if seen == H else ("out-of-turn", ("seat/1",))
        assert found(bend.verify()) == [code]


@pytest.mark.parametrize("hands", ["none", "no box"])
def test_18_dispute_of_a_box_that_is_not_there(hands: str) -> None:
    """The server dealt no hand at all, or none to this seat: both are its own fault."""
    table = until(4, deal=1)
    bend = table.bend().cut(table.hand.deal + 1)
    deal = bend.one("deal")
    without = msgspec.structs.replace(deal.body.hands[1], sealed=msgspec.UNSET)
    shares = (deal.body.hands[0], without, *deal.body.hands[2:])
    deal.change(hands=() if hands == "none" else shares)
    key = table.seats[1]._hand_key.hex()
    bend.insert(len(bend.drafts), "seat/1", Dispute(hand_key=key), seen=deal)
    verdict = bend.verify()
    assert found(verdict) == [("body-form", (SERVER,)), ("dispute-founded", (SERVER,))]


# -- the report ----------------------------------------------------------------------------------


def test_findings_are_in_the_order_of_the_checks() -> None:
    bend = Table(4, seed="order").run().bend()
    close = bend.one("close")
    close.change(
        seeds={**close.body.seeds, "seat/2": "44" * 64},
        scores=tuple(score + 1 for score in close.body.scores),
    )
    bend[-1].at = 5
    verdict = bend.verify(head=H)
    assert [one.code for one in verdict.findings] == [
        *("chain-time", "seed-mismatch", "scores-wrong", "head-missing"),
    ]
    assert verdict.culprits == (SERVER,)
    assert [one.number for one in verdict.checks] == list(CHECKS)


def test_verdict_is_plain_data(hand: Table) -> None:
    verdict = hand.verify(seat_keys={1: hand.keys[1].public})
    again = msgspec.json.decode(msgspec.json.encode(verdict), type=Verdict)
    assert again == verdict
    assert again.acknowledged == ("seat/0", "seat/1", "seat/2")
    assert again.hand is not None
    assert again.hand.id == hand.hand.hand_id.hex()


def test_table_of_two_cannot_play_hearts() -> None:
    """But a log of it can be made up; it is judged like any other."""
    dealer = Dealer(
        Terms(table="t", game="g", seats=(bot("A"), bot("B")), rules=DealRules()), STRANGER, at=1
    )
    bend = Bend(dealer.log, {SERVER: STRANGER}).cut(1)
    bend[0].change(rules=S0, scores=(0, 0))
    assert_only(bend.verify(), "open-terms", SERVER)
    assert encode(message(SERVER, H, bend[0].body)).startswith(b"{")
    assert isinstance(dealer.log.entries[0], Entry)
    assert SEATS[0] == "seat/0"
