"""The floors: a module imports only from lower ones, at the top of the file or in a function.

What stands under `if TYPE_CHECKING:` runs never and is looked at apart. Below the edge nothing
touches the system: no files, clock, process or network; randomness comes in as an argument, and
`secrets` stands only where it is the argument's default.
"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import NamedTuple

import pytest

import fairdeal

ROOT = Path(fairdeal.__file__).parent

#: from the ground up; a folder stands for all in it
FLOORS: tuple[tuple[str, ...], ...] = (
    ("errors", "cards", "parties"),
    ("encoding",),
    ("commitment", "sealing", "signing", "shuffle", "games"),
    ("messages",),
    ("kinds",),
    ("log", "record", "opening", "table", "findings"),
    ("hand",),
    ("bots", "clock", "evidence"),
    ("histories",),
    ("dealer", "seat", "checks"),
    ("guarantee",),
    ("verify",),
    ("whole_game",),
    # the edge: files, clock, terminal
    ("__init__", "files", "simulate", "conformance"),
    ("report", "collection"),
    ("pins",),
    ("cli_exit",),
    ("play", "server"),
    ("cli_copies", "cli_demo", "cli_play", "cli_rules", "cli_serve"),
    ("cli",),
    ("__main__",),
)
EDGE = next(n for n, floor in enumerate(FLOORS) if "files" in floor)
#: inside the folders, from the ground up
INSIDE: dict[str, tuple[tuple[str, ...], ...]] = {
    "games": (("base",), ("deal", "hearts"), ("careful",), ("policies", "presets", "__init__")),
    "report": (
        ("__init__", "harmless", "machine", "course"),
        ("screen", "copies"),
        ("text",),
        ("sheet", "whole"),
        ("demo",),
    ),
    "server": (
        ("__init__", "limits", "logs", "metrics", "options", "schema", "setup", "vault", "wire"),
        ("database", "lines"),
        ("store",),
        ("live", "writer"),
        ("hall",),
        ("app",),
        ("serve",),
    ),
    "play": (
        ("__init__", "stream", "keyboard"),
        ("player", "address"),
        ("records", "outcome", "draw"),
        ("connection",),
        ("robot", "terminal"),
        ("game",),
    ),
}
#: what only the edge may import, and who may use the operating system's randomness
SYSTEM = frozenset(
    (
        *("os", "sys", "time", "datetime", "random", "socket", "pathlib", "io", "tempfile"),
        *("subprocess", "threading", "asyncio", "shutil", "glob", "logging"),
    )
)
RANDOM = frozenset(("signing", "dealer", "seat"))
#: what may be imported upwards for a type alone
FOR_TYPES = {("table", "hand"), ("server.live", "server.hall")}


class Import(NamedTuple):
    """One import: the module it names, whether inside a function, whether for types alone."""

    name: str
    late: bool
    typing: bool


def modules() -> dict[str, Path]:
    """Every module as dotted under `fairdeal`; a package is its `__init__`."""
    return {
        ".".join(path.relative_to(ROOT).with_suffix("").parts): path
        for path in sorted(ROOT.rglob("*.py"))
    }


MODULES = modules()


def imports(path: Path) -> list[Import]:
    found: list[Import] = []

    def visit(node: ast.AST, *, late: bool, typing: bool) -> None:
        if isinstance(node, ast.Import):
            found.extend(Import(one.name, late, typing) for one in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            found.extend(Import(name, late, typing) for name in _named(node))
        checks = isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        inside = late or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        for child in ast.iter_child_nodes(node):
            only = typing or (checks and child in node.body)
            visit(child, late=inside, typing=only)

    visit(ast.parse(path.read_text()), late=False, typing=False)
    return found


def _named(node: ast.ImportFrom) -> list[str]:
    """`from fairdeal import log` names a module, `from fairdeal.log import Log` the module too."""
    base = str(node.module)
    below = base.removeprefix("fairdeal").strip(".")
    if base.partition(".")[0] != "fairdeal":
        return [base]
    names = []
    for one in node.names:
        dotted = f"{below}.{one.name}".strip(".")
        is_module = dotted in MODULES or f"{dotted}.__init__" in MODULES
        names.append(f"fairdeal.{dotted}" if is_module else base)
    return names


def own(name: str) -> str | None:
    """A module of ours, as in `MODULES`; None for somebody else's."""
    if name.partition(".")[0] != "fairdeal":
        return None
    below = name.removeprefix("fairdeal").strip(".")
    return below if below in MODULES else f"{below}.__init__".strip(".")


def floor(module: str) -> tuple[int, int]:
    """Where a module stands: its floor, and the floor inside its folder."""
    folder, dot, name = module.partition(".")
    outer = next(n for n, names in enumerate(FLOORS) if folder in names)
    inner = INSIDE[folder] if dot else ()
    return outer, next((n for n, names in enumerate(inner) if name in names), 0)


ALL = [(module, one) for module, path in MODULES.items() for one in imports(path)]


def test_every_module_has_a_floor_and_every_floor_its_modules() -> None:
    told = {name for names in FLOORS for name in names} - INSIDE.keys()
    told |= {f"{folder}.{n}" for folder, inner in INSIDE.items() for names in inner for n in names}
    assert told == MODULES.keys()


@pytest.mark.parametrize("module", MODULES)
def test_imports_go_down(module: str) -> None:
    for one in imports(MODULES[module]):
        target = own(one.name)
        if target is None or one.typing:
            continue
        mine, theirs = floor(module), floor(target)
        same_folder = module.partition(".")[0] == target.partition(".")[0] in INSIDE
        assert (theirs < mine) if same_folder else (theirs[0] < mine[0]), (module, one.name)


def test_only_types_come_from_above() -> None:
    upward = {
        (module, target)
        for module, one in ALL
        if one.typing and (target := own(one.name)) and floor(target)[0] >= floor(module)[0]
    }
    assert upward == FOR_TYPES


def test_the_three_who_judge_alike_do_not_know_each_other() -> None:
    """Seat, dealer and verifier, not even by way of another."""
    reach = {module: _reached(module) for module in ("seat", "dealer", "verify")}
    for module, below in reach.items():
        assert not below & (reach.keys() - {module}), module


def _reached(module: str) -> set[str]:
    seen: set[str] = set()
    wait = [module]
    while wait:
        for one in imports(MODULES[wait.pop()]):
            target = own(one.name)
            if target and target not in seen and not one.typing:
                seen.add(target)
                wait.append(target)
    return seen


def test_click_is_the_command_line_s_alone() -> None:
    users = {module for module, one in ALL if one.name.partition(".")[0] == "click"}
    commands = {"cli_copies", "cli_demo", "cli_exit", "cli_play", "cli_rules", "cli_serve"}
    assert users <= {"pins", "cli", *commands}


def test_rich_is_imported_where_it_draws() -> None:
    """Start-up is measured: only inside a function, of a report or the command line."""
    for module, one in ALL:
        if one.name.partition(".")[0] == "rich":
            assert one.late or one.typing, (module, one.name)
            assert module.startswith(("report.", "cli")), (module, one.name)


def test_cryptography_is_imported_at_the_first_box() -> None:
    users = {(module, one.late or one.typing) for module, one in ALL if "cryptography" in one.name}
    assert users == {("sealing", True)}


@pytest.mark.parametrize("module", [name for name in MODULES if floor(name)[0] < EDGE])
def test_the_core_touches_no_system(module: str) -> None:
    names = {one.name.partition(".")[0] for one in imports(MODULES[module])}
    assert not names & SYSTEM, module
    assert "secrets" not in names or module in RANDOM
    calls = {
        ast.unparse(node.func)
        for node in ast.walk(ast.parse(MODULES[module].read_text()))
        if isinstance(node, ast.Call)
    }
    assert not calls & {"open", "print", "input", "exec", "eval", "compile", "__import__"}, module


def test_the_core_needs_only_what_is_declared() -> None:
    """The standard library, libsodium, HPKE and msgspec."""
    import sys

    for module, one in ALL:
        top = one.name.partition(".")[0]
        if floor(module)[0] < EDGE and top != "fairdeal" and top not in sys.stdlib_module_names:
            assert top in {"msgspec", "nacl", "cryptography"}, (module, one.name)
