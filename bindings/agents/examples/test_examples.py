"""The examples run, and print what docs/agents-python.md says."""

import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from pages import NAMES, ROOT, example, shown_block


@pytest.mark.parametrize("name", NAMES)
def test_they_print_what_the_page_says(name):
    ran = subprocess.run([sys.executable, example(name)], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert (ran.returncode, ran.stdout) == (0, shown_block(name)[1]), ran.stderr
