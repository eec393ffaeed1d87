#!/usr/bin/env python3
"""Tests the suite itself: its data, its validator, and its judgement of stand-in servers that behave in known ways.

python3 selftest.py
"""

import sys
import unittest
from pathlib import Path

FOLDER = Path(__file__).resolve().parent

if __name__ == "__main__":
    sys.path.insert(0, str(FOLDER))
    from tests.servers import summary

    tests = unittest.defaultTestLoader.discover(str(FOLDER / "tests"), top_level_dir=str(FOLDER))
    good = unittest.TextTestRunner(verbosity=1).run(tests).wasSuccessful()
    print("", *summary(), sep="\n")
    sys.exit(0 if good else 1)
