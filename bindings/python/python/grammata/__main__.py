"""`python -m grammata` is the program `grammata`."""

import signal
import sys

from grammata._native import run_program


def main() -> int:
    """Runs the program on the process's arguments; gives its exit code."""
    # Python's own handler only takes a note, which nobody looks at before the program ends
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.stdout.flush()
    return run_program(["grammata", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
