"""Two copies, and proofs that stand alone."""

from __future__ import annotations

import json
import random
from typing import Any

import msgspec
import pytest
from cheats import BadBox, void_of
from helpers import SERVER, Bend, Table
from hypothesis import given, settings
from hypothesis import strategies as st
from test_framing_server import edited, honest

from fairdeal import verify
from fairdeal.dealer import Dealer
from fairdeal.errors import MalformedError
from fairdeal.evidence import Comparison, compare
from fairdeal.log import Log, compacted
from fairdeal.messages import Play


def assert_proven(found: Comparison, culprit: str) -> bytes:
    """There is a proof, it stands alone and names this one."""
    assert found.proof is not None, found.text
    assert found.culprit == culprit
    assert not found.same
    verdict = verify(found.proof)
    assert verdict.status == "invalid"
    assert [(one.code, one.culprits, one.attribution) for one in verdict.findings] == [
        ("equivocation", (culprit,), "proven")
    ]
    assert len(found.proof) < 30_000
    return found.proof


def forked(
    kind: str, by: str, change: dict[str, Any], cut: int = 1, **options: Any
) -> tuple[Log, Log]:
    """Two copies that part at one message, everything up to it the same."""
    table = Table(**options).run()
    one, other = table.bend(), table.bend()
    for bend in (one, other):
        bend.cut(bend.place(bend.of(kind, by)[-1]) + cut)
    other.of(kind, by)[-1].change(**change)
    return one.build(), other.build()


@pytest.mark.parametrize(
    ("kind", "by", "change", "culprit"),
    [
        ("deal", "server", {"hands": ()}, "server"),
        ("exchange", "server", {"hands": ()}, "server"),
        ("close", "server", {"points": (1, 2, 3, 4)}, "server"),
        ("commit", "seat/3", {"commitment": "11" * 32}, "server"),
        ("commit", "seat/1", {"commitment": "11" * 32}, "seat/1"),
        ("reveal", "seat/2", {"sealed": "11" * 112}, "seat/2"),
        ("play", "seat/0", {"card": "2C"}, "seat/0"),
        ("pass", "seat/0", {"commitment": "22" * 32}, "seat/0"),
    ],
)
def test_two_messages_of_one_key_are_a_proof(
    kind: str, by: str, change: dict[str, Any], culprit: str
) -> None:
    one, other = forked(kind, by, change, people=3)
    found = compare(one.encoded(), other.encoded())
    assert found.parts_at == len(one) - 1
    assert_proven(found, culprit)
    assert_proven(compare(other.encoded(), one.encoded()), culprit)


def test_two_deals_over_different_entries_are_a_proof() -> None:
    """Persons may reveal in either order; the server may deal once."""
    table = Table(3).run(lambda t: t.hand.deal is not None)
    one, other = table.bend(), table.bend()
    first, second = other.of("reveal")[:2]
    place = other.place(first)
    other.drafts[place : place + 2] = [second, first]
    first.at, second.at = second.at, first.at
    other.one("deal").change(hands=tuple(reversed(other.one("deal").body.hands)))
    assert_proven(compare(one.encoded(), other.encoded()), "server")


def test_two_ends_are_a_proof() -> None:
    table = Table(2)
    table.run(lambda t: len(t.hand.plays) == 3)
    voided = table.bend()
    voided.insert(len(voided.drafts), "server", void_of(table, "operator"))
    assert_proven(compare(table.run().log.encoded(), voided.encoded()), "server")


def test_two_opens_of_one_hand_are_a_proof() -> None:
    one = Table(2, seed=1)
    other = Table(2, seed=1)
    other_bend = other.bend()
    other_bend[0].change(scores=(1, 2, 3, 4))
    found = compare(one.log.encoded(), other_bend.cut(1).encoded())
    proof = assert_proven(found, "server")
    assert verify(proof, server_key=one.server.public).culprits == ("server",)
    pinned = verify(proof, server_key=one.keys[0].public)
    assert "pin-server-key" in [finding.code for finding in pinned.findings]
    other_bend[0].sign = False
    found = compare(one.log.encoded(), other_bend.encoded())
    assert found.proof is None
    assert "not both `open`s carry a signature" in found.text


def test_compacted_closes_still_prove() -> None:
    table = Table(4).run()
    bend = table.bend()
    bend.one("close").change(points=(1, 2, 3, 4))
    logs = []
    for log in (table.log, bend.build()):
        keys = [table.hand.key_of(entry.message.by) for entry in log.entries]
        logs.append(compacted(log, keys))
    assert_proven(compare(logs[0].encoded(), logs[1].encoded()), "server")


# -- what is no proof ----------------------------------------------------------------------------


def test_the_same_copies_are_the_same() -> None:
    data = Table(2).run().log.encoded()
    assert compare(data, data).same


def test_a_shorter_copy_is_no_proof() -> None:
    log = Table(2).run().log
    found = compare(log.encoded(), Log(log.entries[:40]).encoded())
    assert (found.proof, found.parts_at, found.same) == (None, 40, False)
    assert "ends after entry 39" in found.text


def test_another_order_of_persons_messages_is_no_proof() -> None:
    table = Table(4).run(lambda t: len(t.hand.reveals) == 3)
    one, other = table.bend(), table.bend()
    cut = one.place(one.one("reveal")) + 2
    one.cut(cut), other.cut(cut)
    other.drafts[-2:] = reversed(other.drafts[-2:])
    other[-1].at, other[-2].at = other[-2].at, other[-1].at
    found = compare(one.encoded(), other.encoded())
    assert (found.proof, found.culprit) == (None, None)
    assert "nobody's signatures contradict" in found.text


def test_two_hands_of_a_table_are_told_apart() -> None:
    found = compare(Table(2).log.encoded(), Table(2, hand=2).log.encoded())
    assert found.proof is None
    assert "two hands: hand 1, attempt 1 of game g-1, and hand 2" in found.text
    found = compare(Table(2).log.encoded(), Table(2, seed="other").log.encoded())
    assert "two different servers" in found.text


def test_a_forged_signature_is_no_proof() -> None:
    one, other = forked("play", "seat/0", {"card": "2C"}, people=3)
    bend = Bend(other, Table(people=3).secrets)
    bend[-1].sign = "00" * 64
    assert compare(one.encoded(), bend.encoded()).proof is None


def mutations(proof: bytes) -> dict[str, bytes]:
    """A proof with one part made wrong."""

    def change(edit: Any) -> bytes:
        value = json.loads(proof)
        edit(value["proof"])
        return json.dumps(value).encode()

    def swap(p: Any) -> None:
        p["claims"][1] = p["claims"][0]

    def sign(p: Any) -> None:
        p["claims"][0]["message"]["sig"] = "00" * 64

    def card(p: Any) -> None:
        p["claims"][0]["message"]["body"]["card"] = "3C"

    def key(p: Any) -> None:
        p["key"] = p["open"]["server_key"]

    def cut(p: Any) -> None:
        del p["claims"][0]["chain"][-1]

    def empty(p: Any) -> None:
        p["claims"][0]["chain"] = []

    def date(p: Any) -> None:
        p["claims"][1]["chain"][3]["at"] += 1

    def shape(p: Any) -> None:
        p["claims"][0]["message"]["body"] = {}

    def terms(p: Any) -> None:
        p["open"]["hand"] = 9

    def seats(p: Any) -> None:
        p["open"]["seats"] = p["open"]["seats"][1:]

    edits = (swap, sign, card, key, cut, empty, date, shape, terms, seats)
    return {edit.__name__: change(edit) for edit in edits}


@pytest.mark.parametrize(
    "name",
    ["swap", "sign", "card", "key", "cut", "empty", "date", "shape", "terms", "seats"],
)
def test_a_bent_proof_proves_nothing(name: str) -> None:
    one, other = forked("play", "seat/0", {"card": "2C"}, people=3)
    proof = assert_proven(compare(one.encoded(), other.encoded()), "seat/0")
    verdict = verify(mutations(proof)[name])
    assert (verdict.status, verdict.culprits) == ("malformed", ())


def test_plays_over_different_entries_are_no_proof() -> None:
    """Two true plays of one person, dressed up as a proof, prove nothing."""
    one, other = forked("play", "seat/0", {"card": "2C"}, people=3)
    value = json.loads(compare(one.encoded(), other.encoded()).proof or b"")
    earlier = next(
        place
        for place, entry in enumerate(one.entries)
        if entry.message.by == "seat/0" and isinstance(entry.message.body, Play)
    )
    entry = one.entries[earlier]
    seen = one.position_of(entry.message.seen)
    claim = {
        "chain": value["proof"]["claims"][0]["chain"][: (seen or 0) + 1],
        "message": json.loads(msgspec.json.encode(entry.message)) | {"sig": entry.sig},
    }
    value["proof"]["claims"][1] = claim
    verdict = verify(json.dumps(value).encode())
    assert (verdict.status, verdict.culprits) == ("malformed", ())
    assert "both can be true" in verdict.findings[0].found


# -- what a later message of the server's leaves out ---------------------------------------------


def back_in_time() -> tuple[Log, Log]:
    """What a player holds, and what a server restored from a backup before that play signs.

    A bot sits behind each person, so the server has signed over the play.
    """
    table = Table(3, seed="backup").run(lambda t: len(t.hand.plays) == 6)
    while table.hand.tricks.turn not in (0, 1, 2):
        assert table.step()
    seat = table.hand.tricks.turn
    backup = table.log.encoded()
    table.run(lambda t: t.log.entries[-1].message.by == "seat/3" and len(t.hand.plays) > 6)
    again = Dealer.resume(backup, table.dealer.secret, table.server)
    again.replace(seat, "unresponsive", table.at)
    parts = next(n for n, one in enumerate(again.log.hashes) if one != table.log.hashes[n])
    assert again.log.entries[parts].message.type == "replace"
    return table.log, Log(again.log.entries[: parts + 1])


def claims_of(proof: bytes) -> list[dict[str, Any]]:
    return list(json.loads(proof)["proof"]["claims"])


def test_a_server_that_went_back_in_time_is_proven() -> None:
    """One copy has a person's play in a place, and the server's over it; the other a `replace`."""
    seen, restored = back_in_time()
    place = len(restored) - 1
    assert seen.entries[place].message.by != "seat/3"
    for pair in ((seen, restored), (restored, seen)):
        found = compare(*(log.encoded() for log in pair))
        assert found.parts_at == place
        claims = claims_of(assert_proven(found, "server"))
        assert {one["message"]["type"] for one in claims} == {"play", "replace"}
        assert min(len(one["chain"]) for one in claims) == place


def test_only_what_the_server_signed_over_both_sides_is_a_proof() -> None:
    """The play alone, with nothing of the server's over it, may be anybody's work."""
    seen, restored = back_in_time()
    found = compare(Log(seen.entries[: len(restored)]).encoded(), restored.encoded())
    assert (found.proof, found.parts_at) == (None, len(restored) - 1)
    assert "nothing that the server signed over" in found.text


def test_two_of_the_server_s_in_one_place_are_a_proof() -> None:
    """A `deal` and a `void`, which may both be true but for their place."""
    table = Table(4).run(lambda t: t.hand.deal is not None)
    dealt = table.bend().cut((table.hand.deal or 0) + 1)
    voided = table.bend().cut(table.hand.deal or 0)
    voided.insert(len(voided.drafts), SERVER, void_of(table, "operator"))
    proof = assert_proven(compare(dealt.encoded(), voided.encoded()), "server")
    first, second = claims_of(proof)
    assert first["chain"] == second["chain"]
    finding = verify(proof).findings[0]
    assert "deal by server and void by server" in finding.expected


def test_an_entry_slipped_in_under_the_server_s_is_no_proof() -> None:
    """It did not see what now stands before it."""
    log = Table(2).run(lambda t: t.hand.deal is not None).log
    place = next(n for n, one in enumerate(log.entries) if one.message.type == "deal")
    slipped = Log(log.entries[:place])
    for said in (log.entries[place - 1], log.entries[place]):
        slipped.append(slipped.next_entry(said.message, said.sig or "", said.at))
    assert compare(log.encoded(), slipped.encoded()).proof is None
    assert compare(slipped.encoded(), log.encoded()).proof is None


def claim_of(log: Log, place: int) -> dict[str, Any]:
    entry = log.entries[place]
    links = zip(log.entries, log.message_hashes, strict=True)
    chain = [{"at": one.at, "message": digest.hex()} for one, digest in links]
    said = json.loads(msgspec.json.encode(entry.message)) | {"sig": entry.sig}
    return {"chain": chain[: (log.seen_by(place) or 0) + 1], "message": said}


def proof_of(log: Log, key: str, *claims: dict[str, Any]) -> bytes:
    terms = json.loads(msgspec.json.encode(log.entries[0].message.body))
    proof = {"claims": claims, "key": key, "open": terms}
    return json.dumps({"fairdeal": 1, "proof": proof}).encode()


def test_a_person_may_leave_out_what_it_said() -> None:
    """A commit stands anywhere among the others', so only the server is held to its places."""
    table = Table(4).run()
    log = table.log
    said = [n for n, one in enumerate(log.entries) if one.message.by == "seat/2"][:2]
    assert said[0] > 1
    data = proof_of(log, table.keys[2].public.hex(), *(claim_of(log, n) for n in said))
    verdict = verify(data)
    assert (verdict.status, verdict.culprits) == ("malformed", ())
    assert "both can be true" in verdict.findings[0].found


def signed_by_the_server(log: Log) -> list[int]:
    """Its own messages, each over the entry before."""
    return [
        n
        for n, one in enumerate(log.entries)
        if n and one.sig and one.message.by == SERVER and log.seen_by(n) == n - 1
    ]


@settings(max_examples=150, deadline=None)
@given(st.randoms(use_true_random=False))
def test_copies_made_of_an_honest_log_prove_nothing_against_its_server(rng: random.Random) -> None:
    """Cut, edited and compacted; with entries of other hands, other times, other signatures."""
    logs = honest()
    name = rng.choice([name for name in logs if f"compact {name}" in logs])
    pool = list(logs.values())
    copies = []
    for _ in range(2):
        log = logs[rng.choice((name, f"compact {name}"))]
        if rng.random() < 0.7:
            log = Log(log.entries[: rng.randrange(1, len(log) + 1)])
        if rng.random() < 0.8:
            log = edited(rng, log, pool)
        copies.append(log)
    both = compare(*(log.encoded() for log in copies))
    assert both.culprit is None, both.text


@settings(max_examples=150, deadline=None)
@given(st.randoms(use_true_random=False))
def test_claims_made_of_an_honest_log_prove_nothing_against_its_server(rng: random.Random) -> None:
    """Any two of its messages, over their chains or over any others."""
    logs = [log for log in honest().values() if len(signed_by_the_server(log)) > 1]
    log = rng.choice(logs)
    claims = [claim_of(log, place) for place in rng.sample(signed_by_the_server(log), 2)]
    for claim in claims:
        chain = claim["chain"]
        place = rng.randrange(len(chain))
        what = rng.randrange(6)
        if what == 0:
            chain[place]["at"] += rng.choice((1, 1000))
        elif what == 1:
            del chain[place:]
        elif what == 2:
            chain[place] = rng.choice(rng.choice(claims)["chain"] or [chain[place]])
        elif what == 3:
            chain.insert(place, chain[place])
        elif what == 4:
            other = rng.choice(logs)
            chain[place:] = claim_of(other, len(other) - 1)["chain"][place:]
    key = json.loads(msgspec.json.encode(log.entries[0].message.body))["server_key"]
    verdict = verify(proof_of(rng.choice((log, rng.choice(logs))), key, *claims))
    assert (verdict.status, verdict.culprits) == ("malformed", ())


# -- disputes that a log leaves out --------------------------------------------------------------


def test_an_ignored_dispute_is_proven_by_the_record() -> None:
    table = Table(4, dealer=BadBox)
    table.run(lambda t: t.hand.disputed is not None)
    place = table.hand.deal
    ignoring = Log(table.log.entries[: place + 1])  # the server goes on as if nothing had been said
    found = compare(ignoring.encoded(), table.seats[1].record)
    assert found.proof is not None
    verdict = verify(found.proof)
    assert [(one.code, one.culprits) for one in verdict.findings] == [
        ("dispute-founded", ("server",))
    ]


def test_a_record_that_agrees_says_so() -> None:
    table = Table(4).run()
    assert compare(table.log.encoded(), table.seats[2].record).same
    other = Table(4, seed=1).run()
    assert "another hand" in compare(other.log.encoded(), table.seats[2].record).text
    shorter = Log(table.log.entries[:30])
    assert "does not hold entry" in compare(shorter.encoded(), table.seats[2].record).text


def test_what_cannot_be_read_is_refused() -> None:
    with pytest.raises(MalformedError):
        compare(b"{}", b"{}")


def test_a_bots_key_is_no_persons_in_a_proof_either() -> None:
    """The server's key pinned at its bot's seat: refused as in a transcript."""
    one, other = forked("play", "seat/0", {"card": "2C"}, people=3)
    proof = assert_proven(compare(one.encoded(), other.encoded()), "seat/0")
    server = Table(people=3).server.public
    for data in (proof, one.encoded()):
        codes = [finding.code for finding in verify(data, seat_keys={3: server}).findings]
        assert "pin-seat-key" in codes
