"""`python -m grammata` is the program."""

import subprocess
import sys

import grammata


def program(*arguments: str, text: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "grammata", *arguments]
    return subprocess.run(command, input=text, capture_output=True, text=True)


def test_it_runs():
    ran = program("count", "-", "--kind", "regex", text="(ab|c){1,3}")
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "14\n", "")
    assert program("--version").stdout == f"grammata {grammata.__version__}\n"


def test_its_exit_codes():
    rejected = program("check", "-", "--kind", "regex", "--text", "b", text="a")
    assert rejected.returncode == 1 and "rejected" in rejected.stdout
    assert program("no-such-command").returncode == 2
    broken = program("count", "-", "--kind", "regex", "--json", text="(")
    assert broken.returncode == 2 and '"code":"regex/unclosed-group"' in broken.stdout
