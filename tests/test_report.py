"""What people and programs read: nothing from a file acts or hides, nothing false looks true."""

import json
import unicodedata
from pathlib import Path

import jsonschema
import msgspec
import pytest
from cheats import CHEATS
from helpers import Table

from fairdeal import read_log, simulate, verify
from fairdeal.findings import CHECKS, HandLabel, Pinned
from fairdeal.games import DealRules
from fairdeal.log import Log
from fairdeal.messages import Clock
from fairdeal.report import text
from fairdeal.report.course import compacted_log, course_of
from fairdeal.report.demo import one_hand, one_of_many
from fairdeal.report.harmless import fit, harmless, width
from fairdeal.report.machine import as_json, unreadable
from fairdeal.report.screen import Span, line, plain
from fairdeal.report.sheet import Sheet

AT = 1_700_000_000_000
NOTHING = Pinned(head=None, record=None, seat_keys={}, server_key=None)
SCHEMA = json.loads((Path(__file__).parent.parent / "spec" / "verdict.schema.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


@pytest.fixture(scope="module")
def played():
    return simulate.play_hand(simulate.new_table(3), at=AT)


def cut(log, size):
    return Log(log.entries[:size])


def told(log, verdict=None, **options):
    return plain(Sheet(log, **options).whole(verdict or verify(log.encoded())))


# -- harmless --

BAD = [
    *("\x00", "\x07", "\x1b[31m", "\r", "\n", "\t", "\x7f", "\x9b2J", "\x85"),
    *("\u202e", "\u2066", "\u200b", "\u200d", "\u200f", "\u2028", "\u2029", "\ufeff", "\u00ad"),
    *(
        "\ud800",
        "\udcff",
        "\U000e0041",
        "\ue000",
        "\u3164",
        "\u115f",
        "\u2800",
        "\ufe01",
        "\U000e0101",
    ),
]


@pytest.mark.parametrize("bad", BAD, ids=ascii)
def test_what_acts_or_hides_is_written_out(bad):
    shown = harmless(f"A{bad}B")
    assert bad[0] not in shown
    assert shown == f"A{ascii(bad[0])[1:-1]}{bad[1:]}B"


def test_every_code_point_comes_out_visible_and_encodable():
    for start in range(0, 0x110000, 256):
        shown = harmless("".join(map(chr, range(start, start + 256))), 10_000)
        shown.encode()
        assert not {unicodedata.category(c) for c in shown} & {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}


def test_people_keep_their_names():
    for name in ("Ana", "Zoë", "Nguyễn Thị", "Мария", "יעל", "さくら", "O'Brien-Smith", "🂡", "नेहा"):
        assert harmless(name) == name


def test_marks_pile_up_no_higher_than_three_and_need_a_letter():
    assert harmless("e\u0301\u0301\u0301") == "e\u0301\u0301\u0301"
    assert harmless("e" + "\u0301" * 50).count("\u0301") == 3
    assert harmless("\u0301e") == "\\u0301e"


def test_long_text_is_cut():
    assert harmless("a" * 401) == "a" * 400 + "…"
    assert harmless("a" * 400) == "a" * 400
    assert harmless("abc", 2) == "ab…"


def test_columns_hold_wide_and_marked_letters():
    assert width("さくら") == 6
    assert width("e\u0301") == 1
    for name in ("さくらさくら", "Ana", "abcdefgh", "e\u0301" * 9, ""):
        assert width(fit(name, 7)) == 7


# -- the verdict for people --


def test_a_verdict_says_all_it_has_to_say(played):
    verdict = verify(played.log.encoded())
    told = plain(text.verdict("h.json", verdict))
    assert told.startswith("h.json: valid\n")
    for part in (verdict.hand.id, verdict.head, verdict.hand.table, "pinned   nothing"):
        assert part in told
    words = " ".join(told.split())
    assert verdict.guarantee in words
    for one in verdict.checks:
        looked = f"looked at {one.looked_at}" if one.looked_at else one.reason
        assert f"{one.number} {one.name} {one.status} {looked}" in words


@pytest.mark.parametrize("name", CHEATS)
def test_each_cheat_is_told_with_all_its_parts(name):
    verdict = verify(CHEATS[name]().log.encoded())
    words = " ".join(plain(text.verdict("f", verdict)).split())
    for one in verdict.findings:
        named = ", ".join(one.culprits) or "nobody"
        entries = ", ".join(map(str, one.entries))
        head = f"{one.code}, check {one.check} ({CHECKS[one.check]}); "
        assert f"{head}names {named} ({one.attribution}); entries {entries}" in words
        for part in (one.message, f"expected {one.expected}", f"found {one.found}"):
            assert " ".join(part.split()) in words


def test_pins_are_named(played):
    pinned = Pinned(head="ab" * 32, record=2, seat_keys={"seat/1": "cd" * 32}, server_key="ef" * 32)
    verdict = msgspec.structs.replace(verify(played.log.encoded()), pinned=pinned)
    told = plain(text.verdict("f", verdict))
    assert "the server's key, the key of seat/1, the record of seat/2, the end" in told


def test_texts_of_the_file_cannot_act(played):
    evil = "\x1b[2J\u202e[bold]x\n  1. You won"
    verdict = verify(next(iter(CHEATS.values()))().log.encoded())
    finding = msgspec.structs.replace(
        verdict.findings[0], found=evil, expected=evil, message=evil, entries=()
    )
    label = HandLabel(attempt=1, game=evil, hand=1, id="00" * 32, table=evil)
    evil_verdict = msgspec.structs.replace(
        verdict, findings=(finding,), remarks=(finding,), hand=label, guarantee=evil
    )
    told = plain(text.verdict(evil, evil_verdict))
    assert told.isascii()
    assert "\x1b" not in told
    assert "\n  1. You won" not in told
    assert "[bold]" in told
    assert as_json(evil, evil_verdict).isprintable()


def test_lines_stay_within_the_page(played):
    words = " ".join(["word"] * 60)
    rows = plain(text.wrapped("  head ", words)).splitlines()
    assert len(rows) > 1
    assert max(map(len, rows)) <= 96
    assert [row[:7] for row in rows] == ["  head ", *[" " * 7] * (len(rows) - 1)]


def test_plain_lines_have_no_trailing_blanks():
    assert plain([line("a ", Span("b  ", "red")), line()]) == "a b\n\n"


# -- the verdict for programs --


def json_of(data):
    raw = as_json("f", verify(data))
    VALIDATOR.validate(json.loads(raw))
    assert "\n" not in raw
    return json.loads(raw)


def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["$defs"]["check"]["properties"]["name"]["enum"] == list(CHECKS.values())
    assert SCHEMA["properties"]["checks"]["minItems"] == len(CHECKS)


def test_json_has_all_of_the_verdict(played):
    data = played.log.encoded()
    verdict = verify(data)
    members = json_of(data)
    assert members.pop("fairdeal") == 1
    assert members.pop("file") == "f"
    assert members.pop("culprits") == []
    assert members == json.loads(msgspec.json.encode(verdict))


def test_every_kind_of_verdict_follows_the_schema(played):
    assert json_of(played.log.encoded())["status"] == "valid"
    assert json_of(cut(played.log, 20).encoded())["status"] == "incomplete"
    assert json_of(b"{}")["status"] == "malformed"
    VALIDATOR.validate(json.loads(as_json("x", unreadable("no such file", NOTHING))))


@pytest.mark.parametrize("name", CHEATS)
def test_every_cheat_follows_the_schema(name):
    case = CHEATS[name]()
    members = json_of(case.log.encoded())
    assert members["status"] == "invalid"
    assert members["culprits"] == list(case.culprits)


def test_the_schema_refuses_what_no_verdict_is(played):
    good = json_of(played.log.encoded())
    for change in (
        {"status": "fine"},
        {"status": "invalid"},
        {"status": "malformed"},
        {"checks": good["checks"][1:]},
        {"culprits": ["bot"]},
        {"head": "00"},
        {"new": 1},
    ):
        assert not VALIDATOR.is_valid(good | change), change
    for name in good:
        assert not VALIDATOR.is_valid({key: good[key] for key in good if key != name}), name


def test_a_file_name_that_is_no_text_can_be_told(played):
    raw = as_json("a\udcffb", verify(b""))
    assert json.loads(raw)["file"] == "a\\udcffb"
    assert raw.isascii()
    assert as_json("\x7f\u202e", verify(b"")).isprintable()


# -- the hand as people write it --


def test_a_hand_is_shown_from_deal_to_scores(played):
    told_ = told(played.log)
    assert told_.startswith("valid: hand 1 (attempt 1)")
    for seat in (0, 1, 2):
        assert f"  {seat}  {simulate.NAMES[seat]}  (person)\n" in told_
    assert "  3  Dan (bot)  (bot, random/1)" in told_
    assert "Pass to the left" in told_
    assert told_.count(">") == 13 + 1
    assert told_.count("*") == 13 + 1
    points = [row.split()[1:] for row in told_.splitlines() if row.startswith("  points ")]
    assert points == [[str(value) for value in played.close.points]]


def test_every_card_is_in_the_deal_and_the_tricks_once(played):
    rows = told(played.log, symbols=False).splitlines()
    start = rows.index(next(row for row in rows if row.startswith("Tricks"))) + 2
    cards = [
        cell.strip(">*").replace("10", "T")
        for row in rows[start : start + 13]
        for cell in row.split()[1:-1]
    ]
    assert sorted(cards) == sorted(played.dealer.hand.game.deck)
    deal = rows.index("Deal")
    for seat, row in enumerate(rows[deal + 1 : deal + 5]):
        shown, suit = set(), ""
        for word in row.split()[2 + (seat == 3) :]:
            if word in "CDHS":
                suit = word
            elif word != "-":
                shown.add(word.replace("10", "T") + suit)
        assert shown == set(played.close.deals[seat].cards)


def test_lead_winner_and_worth_of_a_trick_are_right(played):
    rows = told(played.log, symbols=False).splitlines()
    start = rows.index(next(row for row in rows if row.startswith("Tricks"))) + 2
    tricks = played.dealer.hand.play
    for number, trick in enumerate(tricks.tricks):
        cells = rows[start + number].split()
        by_seat = dict(trick)
        winner, taken = tricks.taken[number]
        values = played.dealer.hand.game.values
        wanted = [
            (">" if seat == trick[0][0] else "")
            + by_seat[seat].replace("T", "10")
            + ("*" if seat == winner else "")
            for seat in range(4)
        ]
        worth = sum(values.get(card, 0) for card in taken)
        assert cells == [str(number + 1), *wanted, str(worth)]


def test_symbols_only_where_they_can_be_written(played):
    assert "♥" in told(played.log)
    assert told(played.log, symbols=False).isascii()


def test_a_pass_goes_to_whom_it_went(played):
    rows = told(played.log, symbols=False).splitlines()
    start = rows.index("Pass to the left") + 1
    for seat in range(4):
        giver, _, rest = rows[start + seat].partition(" to ")
        assert giver.split()[0] == str(seat)
        assert rest.split()[0] == str((seat + 1) % 4)
        cards = {word.replace("10", "T") for word in rest.split()[-3:]}
        assert cards == set(played.close.passes[seat].cards)


def test_directions_follow_the_hands():
    table, titles = simulate.new_table(0), []
    for played in simulate.play_hands(table, 4, at=AT):
        rows = told(played.log).splitlines()
        titles += [row for row in rows if row.startswith("Pass")]
    assert titles == [
        "Pass to the left",
        "Pass to the right",
        "Pass across",
        "Pass (none in this hand)",
    ]


def test_of_an_open_hand_only_the_plays_are_shown(played):
    log = cut(played.log, 30)
    shown = told(log)
    assert shown.startswith("incomplete: ")
    assert "not opened" in shown
    assert "Count" not in shown
    assert "Not closed: the log stops here" in shown
    assert f"next: play by seat/{played.log.entries[30].message.by[-1]}" in " ".join(shown.split())
    plays = sum(entry.message.type == "play" for entry in log.entries)
    tricks = shown[shown.index("Tricks") :]
    assert sum(tricks.count(symbol) for symbol in "♣♦♥♠") == plays > 4


def test_every_part_of_a_hand_can_be_shown(played):
    for size in range(1, len(played.log) + 1):
        log = cut(played.log, size)
        assert told(log).startswith(("incomplete: ", "valid: "))


@pytest.mark.parametrize("name", CHEATS)
def test_an_invalid_hand_is_shown_with_its_findings_first(name):
    log = CHEATS[name]().log
    verdict = verify(log.encoded())
    shown = told(log, verdict)
    rows = shown.splitlines()
    assert rows[0].startswith("invalid: ")
    assert "do not take what follows for true" in rows[1]
    assert verdict.findings[0].message in " ".join(shown.split())


def test_replacement_and_void_are_told():
    table = Table(4)
    table.dealer.replace(2, "left", table.at)
    assert "seat/2 was replaced by a bot in entry 1: left" in told(table.log)
    table.dealer.void("operator", None, table.at)
    assert "Not closed: the server voided the attempt: operator" in told(table.log)


def test_a_deal_of_other_cards_is_shown_as_it_is():
    deck = simulate.Deck(cards=("sun", "mon", "tue", "wed", "thu"))
    table = simulate.new_table(2, seats=2, rules=DealRules(), deck=deck)
    shown = told(simulate.play_hand(table, at=AT).log)
    for card in deck.cards:
        assert shown.count(card) == 1
    assert "kitty" in shown
    assert "Tricks" not in shown
    assert "Pass" not in shown


def test_an_ended_game_has_its_winner():
    for played in simulate.play_hands(simulate.new_table(1, bots="low/1"), 60, at=AT):
        result = played.close.result
        assert ("The game is over" in told(played.log)) == (result is not None)
        if result:
            winners = [played.dealer.hand.terms.seats[seat].name for seat in result.winners]
            assert f"won by {' and '.join(winners)}." in told(played.log)
            break
    else:
        pytest.fail("sixty hands of Hearts did not reach 100")


# -- the course, compacting --


def test_the_keys_of_a_log_are_those_that_signed_it(played):
    keys = course_of(played.log).keys
    terms = played.dealer.hand.terms
    for entry, key in zip(played.log.entries, keys, strict=True):
        number = int(entry.message.by[-1]) if entry.message.by.startswith("seat/") else None
        wanted = terms.server_key if number is None else terms.seats[number].key
        assert key.hex() == wanted


def test_a_compacted_hand_keeps_a_signature_a_party_and_is_valid():
    played = simulate.play_hand(simulate.new_table(4), at=AT)
    short = compacted_log(played.log)
    assert sum(entry.sig is not None for entry in short.entries) == 5
    assert verify(short.encoded()).status == "valid"
    assert compacted_log(short).encoded() == short.encoded()


# -- the demo --


def test_the_demo_tells_a_hand_and_its_verdict(played):
    verdict = verify(played.log.encoded())
    shown = plain(one_hand(played.log, verdict, symbols=True))
    assert f"Verdict: valid, {len(played.log)} entries" in shown
    assert "21 checks: 15 passed, 0 failed, 6 not run" in shown
    assert "convinces nobody else" in shown
    (row,) = plain(one_of_many(played.log, verdict, symbols=True)).splitlines()
    assert row.split() == [
        *("game-1", "hand", "1", "points"),
        *map(str, played.close.points),
        "scores",
        *map(str, played.close.scores),
        "valid",
    ]


# -- simulation --


def test_a_hand_played_leaves_every_secret_and_record(played):
    assert played.secrets.keys() == {"signing", "hand", "seeds"}
    assert played.secrets["signing"].keys() == {"server", "seat/0", "seat/1", "seat/2"}
    assert played.secrets["hand"].keys() == played.secrets["signing"].keys()
    assert played.secrets["seeds"].keys() == {f"seat/{seat}" for seat in range(4)}
    for seat, record in played.records.items():
        verdict = verify(played.log.encoded(), record=record)
        assert (verdict.status, verdict.pinned.record) == ("valid", seat)
    assert repr(played) == f"PlayedHand({len(played.log)} entries)"


def test_secrets_are_the_private_sides_of_what_is_published(played):
    from fairdeal.commitment import seed_commitment
    from fairdeal.sealing import public_hand_key
    from fairdeal.signing import SigningKey

    hand, log = played.dealer.hand, played.log
    for party, private in played.secrets["signing"].items():
        seat = None if party == "server" else int(party[-1])
        public = hand.terms.server_key if seat is None else hand.terms.seats[seat].key
        assert SigningKey(bytes.fromhex(private)).public.hex() == public
    for party, private in played.secrets["hand"].items():
        commit = None if party == "server" else log.entries[hand.commits[party]].message.body
        public = hand.terms.hand_key if commit is None else commit.hand_key
        assert public_hand_key(bytes.fromhex(private)).hex() == public
    for party, seed in played.secrets["seeds"].items():
        commitment = seed_commitment(hand.hand_id, party, bytes.fromhex(seed)).hex()
        assert log.entries[hand.commits[party]].message.body.commitment == commitment


def test_times_start_where_the_caller_says(played):
    times = [entry.at for entry in played.log.entries]
    assert times[0] == AT
    assert times == sorted(times)


def test_hands_in_a_row_are_one_chain_and_start_games_anew():
    from fairdeal.games.presets import PRESETS

    table = simulate.new_table(0, rules=PRESETS["hearts-50"].rules)
    hands = list(simulate.play_hands(table, 14, at=AT))
    opened = [played.dealer.hand.terms for played in hands]
    for before, after, terms in zip(hands, hands[1:], opened[1:], strict=False):
        assert terms.previous == before.log.hashes[before.dealer.hand.end]
        over = before.close.result is not None
        assert terms.hand == (1 if over else before.dealer.hand.terms.hand + 1)
        assert terms.scores == ((0,) * 4 if over else before.close.scores)
        assert (terms.game == before.dealer.hand.terms.game) == (not over)
        assert after.log.entries[0].at > before.log.last_at
    assert len({terms.game for terms in opened}) > 1
    assert read_log(hands[-1].log.encoded()).encoded() == hands[-1].log.encoded()


# -- the clock --


def test_the_clock_says_who_used_how_much():
    """Seat 1 takes 9 s for its first decision, of which 5 are grace; the others use no reserve."""
    table = Table(3, seed="clock", clock=Clock(grace_ms=5000, reserve_ms=60_000))
    table.run(lambda t: t.hand.deal is not None)
    shown = told(table.log)
    assert "Clock (5.0 s for each decision, then the reserve)" in " ".join(shown.split())
    assert "1 P1 0.0 s of 60.0 s reserve used; 0 decisions took 0.0 s" in " ".join(shown.split())
    for n in (0, 2):
        for out in table.tell(n):
            table.give(n, out)
    out = table.tell(1)[0]
    table.at = table.log.entries[table.hand.deal].at + 8900
    table.give(1, out)
    rows = [" ".join(row.split()) for row in told(table.log).splitlines()]
    assert "1 P1 4.0 s of 60.0 s reserve used; 1 decisions took 9.0 s" in rows
    assert "0 P0 0.0 s of 60.0 s reserve used; 1 decisions took 0.1 s" in rows
    assert not any(row.startswith("3 B3 ") and "reserve" in row for row in rows)


def test_the_clock_of_a_seat_that_was_expelled_counts_what_it_had_not_decided():
    table = Table(4, seed="clock", clock=Clock(grace_ms=5000, reserve_ms=1000))
    table.run(lambda t: len(t.hand.plays) == 5)
    turn = table.hand.tricks.turn
    table.dealer.replace(turn, "expelled", table.log.last_at + 7000)
    table.run()
    rows = [" ".join(row.split()) for row in told(table.log).splitlines()]
    assert any(row.startswith(f"{turn} P{turn} 2.0 s of 1.0 s reserve used") for row in rows)


def test_a_table_without_a_clock_shows_none():
    assert "Clock" not in told(Table(3, seed="clock").run().log)
