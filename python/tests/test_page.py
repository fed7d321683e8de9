"""The guide's page: every step does what it shows."""

import doctest
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT


PAGE = ROOT / "docs/from-python.md"


def steps() -> doctest.DocTest:
    """The code of the page. Other lines are left empty, so that a failure names the line of the page."""
    is_code, lines = False, []
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        fence = re.fullmatch("```(.*)", line)
        is_code = fence[1] == "python" if fence else is_code
        lines.append(line if is_code and not fence else "")
    return doctest.DocTestParser().get_doctest("\n".join(lines), {}, PAGE.name, str(PAGE), 0)


def test_the_page_does_what_it_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    test = steps()
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    assert len(test.examples) > 20 and runner.run(test).failed == 0
    assert (tmp_path / "python.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.skipif(sys.version_info < (3, 11), reason="the types of older versions of NumPy are stricter")
def test_the_page_has_types(tmp_path: Path) -> None:
    code = tmp_path / "page.py"
    code.write_text("".join(example.source for example in steps().examples), encoding="utf-8")
    mypy = [sys.executable, "-m", "mypy", "--strict", "--ignore-missing-imports", str(code)]
    done = subprocess.run(mypy, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
