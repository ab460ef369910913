"""Coverage-guided fuzzing with atheris: `python tests/fuzz/fuzz.py TARGET [-max_total_time=600]`.

Needs the extra `fuzz`. New inputs go to a folder of their own unless `--grow` adds them to the corpus.
A crash is written to the working folder by libFuzzer; make it a case of tests/test_fuzz.py.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["fairdeal"]):
    from targets import TARGETS

CORPUS = Path(__file__).parent / "corpus"


def main() -> None:
    name, *options = sys.argv[1:]
    corpus = CORPUS / name
    grow = "--grow" in options
    found = corpus if grow else Path(tempfile.mkdtemp())
    flags = [one for one in options if one != "--grow"]
    atheris.Setup(
        [sys.argv[0], *flags, "-max_len=65536", "-timeout=20", str(found), str(corpus)],
        TARGETS[name],
    )
    atheris.Fuzz()


if __name__ == "__main__":
    main()
