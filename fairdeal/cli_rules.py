"""`fairdeal rules`: the tables that have a name."""

from __future__ import annotations

import click

from fairdeal.report import screen


@click.command()
@click.argument("name", metavar="[NAME]", required=False)
@click.option("--json", "as_json", is_flag=True, help="One JSON object on a line.")
def rules(name: str | None, as_json: bool) -> int:
    """List the tables that have a name, or print one in full.

    What is printed are the members `rules` and `deck` of an `open` entry, where every parameter
    stands in full: a transcript never names a table of this list.

    \b
    Examples:
      fairdeal rules
      fairdeal rules omnibus
      fairdeal demo --rules omnibus
    """  # noqa: D301
    from fairdeal.games.presets import PRESETS

    if name is not None and name not in PRESETS:
        raise click.UsageError(f"expected one of {', '.join(PRESETS)}, found {name}")
    names = PRESETS if name is None else {name: PRESETS[name]}
    if as_json:
        from fairdeal.report.machine import one_line

        screen.show([screen.line(one_line({one: _members(one) for one in names}))])
    elif name is None:
        wide = max(map(len, names))
        rows = (f"{one:<{wide}}  {preset.about}" for one, preset in PRESETS.items())
        screen.show([screen.line(row) for row in rows])
    else:
        screen.show([screen.line(row) for row in _in_full(name)])
    return 0


def _members(name: str) -> dict[str, object]:
    """The table as JSON has it."""
    import msgspec

    from fairdeal.games.presets import PRESETS

    preset = PRESETS[name]
    return {
        "deck": {"packs": preset.packs, "removed": list(preset.removed)},
        "rules": msgspec.to_builtins(preset.rules),
        "seats": list(preset.seats),
    }


def _in_full(name: str) -> list[str]:
    import json

    from fairdeal.games.presets import PRESETS

    text = json.dumps(_members(name), indent=2, sort_keys=True)
    return [f"{name}: {PRESETS[name].about}", *text.splitlines()]
