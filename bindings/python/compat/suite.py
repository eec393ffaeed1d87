"""Runs the tests of another package on Grammata's engine, and compares the failures with a list of reasons."""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tomllib
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent

UNKNOWN = "not looked into yet"

PIP = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]

Outcomes = dict[str, dict[str, Any]]
"""The outcome of each test by its name."""

Reasons = list[tuple[str, str]]
"""Patterns and what a match says; the first that is found counts."""


def sources(folder: Path, requirement: str, tests: str) -> Path:
    """The folder of tests in a package's source distribution, which is fetched if it is missing."""
    where, inside = folder / "sources", f"*/{requirement.partition('=')[0]}_*/{tests}"
    if not list(where.glob(inside)):
        where.mkdir(parents=True, exist_ok=True)
        # nothing is built: without the build system, pip stops after unpacking, and keeps the folder
        download = ["download", "--no-deps", "--no-binary", ":all:", "--no-build-isolation", "--no-clean", "--dest", str(where)]
        environment = {**os.environ, "TMPDIR": str(where), "TEMP": str(where)}
        stopped = subprocess.run([*PIP, *download, requirement], env=environment, capture_output=True, text=True, check=False)
        if not list(where.glob(inside)):
            raise SystemExit(f"{requirement} could not be fetched:\n{stopped.stdout}{stopped.stderr}")
    return min(where.glob(inside))


def packages(folder: Path, requirements: tuple[str, ...]) -> Path:
    """The folder of packages, the first of which is fetched with the others if it is missing."""
    where = folder / "packages"
    if not (where / requirements[0].partition("=")[0]).is_dir():
        subprocess.run([*PIP, "install", "--no-deps", "--only-binary", ":all:", "--target", str(where), *requirements], check=True)
    return where


def function(test: str) -> str:
    """The name of a test without its parameters."""
    return test.partition("[")[0]


@dataclass
class Run:
    """How pytest runs a file of tests."""

    python: str
    tests: Path
    """The folder of the file."""
    name: str
    plugins: list[str]
    path: list[str]
    """What comes before PYTHONPATH."""
    options: list[str]
    environment: dict[str, str]

    def start(self, target: Path) -> subprocess.Popen[bytes]:
        """Runs the tests in a process that writes their outcomes."""
        path = [*self.path, str(HERE), *filter(None, [os.environ.get("PYTHONPATH")])]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path), "PYTHONDONTWRITEBYTECODE": "1", "HF_HUB_OFFLINE": "1"}
        environment |= {"GRAMMATA_OUTCOMES": str(target), **self.environment}
        environment.pop("HF_TOKEN", None)
        options = ["-q", "-p", "no:cacheprovider", "--tb=native", "--no-header", "--no-summary", "-o", "addopts=", *self.options]
        for plugin in (*self.plugins, "outcomes_plugin"):
            options += ["-p", plugin]
        with open(target.with_suffix(".log"), "w", encoding="utf-8") as log:
            command = [self.python, "-m", "pytest", *options, self.name]
            return subprocess.Popen(command, cwd=self.tests, env=environment, stdout=log, stderr=subprocess.STDOUT)


@dataclass
class Suite:
    """The tests of a package, and why some fail."""

    requirement: str
    """The package and its version."""
    script: str
    list: Path
    """The file of failures."""
    groups: dict[str, tuple[str, ...]]
    """Files of tests by group."""
    prepare: Callable[[Path, str, bool], Run]
    """What runs a file of tests. The last argument says whether the package's own engine is to run."""
    named: Reasons
    """Reasons by the name of a test, which go before those by messages."""
    reasons: Reasons
    """Reasons by the message and the traceback of a failure."""

    def main(self, description: str | None, optional: tuple[str, ...] = ()) -> int:
        """Runs the tests and compares the failures with the list. `optional` are groups that run only if they are named."""
        parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
        parser.add_argument("folder", type=Path, help="where the packages are put and outcomes are written")
        parser.add_argument("--update", action="store_true", help="write the list of failures anew")
        parser.add_argument("--peer", action="store_true", help="run the package's own engine instead, to compare outcomes")
        parser.add_argument("--jobs", type=int, default=1, help="processes; each takes some of the files")
        parser.add_argument("--only", action="append", choices=list(self.groups), help="a group of tests, instead of all")
        arguments = parser.parse_args()
        folder = arguments.folder.resolve()
        groups = arguments.only or [group for group in self.groups if group not in optional]
        files = [name for group in groups for name in self.groups[group]]
        outcomes = self.run(folder, files, arguments.peer, arguments.jobs)
        self.report(outcomes, groups)
        if arguments.peer:
            return 0
        if arguments.update:
            self.write(outcomes, files)
        return self.compare(outcomes, files)

    def run(self, folder: Path, files: list[str], peer: bool, jobs: int) -> Outcomes:
        """Runs files of tests."""
        folder.mkdir(parents=True, exist_ok=True)
        waiting = [*files]
        running: list[tuple[str, Path, subprocess.Popen[bytes]]] = []
        outcomes: Outcomes = {}
        while waiting or running:
            while waiting and len(running) < jobs:
                name = waiting.pop(0)
                target = folder / f"{'peer' if peer else 'outcomes'}-{name.removesuffix('.py').replace('/', '-')}.jsonl"
                running.append((name, target, self.prepare(folder, name, peer).start(target)))
            name, target, process = running.pop(0)
            status = process.wait()
            if status not in (0, 1):
                raise SystemExit(f"{name}: pytest ended with {status}; see {target.with_suffix('.log')}")
            for line in target.read_text(encoding="utf-8").splitlines():
                outcome = json.loads(line)
                outcomes[outcome["test"]] = outcome
        return outcomes

    def reason(self, outcome: dict[str, Any]) -> str:
        """Why a test fails."""
        for pattern, text in self.named:
            if re.search(pattern, outcome["test"]):
                return text
        found = f"{outcome['kind']}: {outcome['why']}"
        return next((text for pattern, text in self.reasons if re.search(pattern, found)), UNKNOWN)

    def failures(self, outcomes: Outcomes) -> dict[str, str]:
        """The tests that failed, with reasons."""
        return {test: self.reason(outcome) for test, outcome in outcomes.items() if outcome["outcome"] == "failed"}

    def report(self, outcomes: Outcomes, groups: list[str]) -> None:
        """Prints how the tests of each group ended, and the reasons."""
        for group in groups:
            inside = [outcome for test, outcome in outcomes.items() if test.partition("::")[0] in self.groups[group]]
            count = Counter(outcome["outcome"] for outcome in inside)
            ran = count["passed"] + count["failed"]
            share = 100 * count["passed"] / ran if ran else 0
            print(f"{group}: {count['passed']} of {ran} agree ({share:.1f} %), {count['skipped']} skipped")
        for text, number in Counter(self.failures(outcomes).values()).most_common():
            print(f"  {number:5}  {text}")

    def write(self, outcomes: Outcomes, files: list[str]) -> None:
        """Writes the list of failures. The entries of files that did not run are kept."""
        failed = {test: text for test, text in self.load(outcomes, None).items() if test.partition("::")[0] not in files}
        failed |= self.failures(outcomes)
        ran: dict[str, int] = Counter(function(test) for test, outcome in outcomes.items() if outcome["outcome"] != "skipped")
        by_reason: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
        for test, text in failed.items():
            by_reason[text][function(test)].append(test)
        lines = [
            f"# Tests of {self.requirement} that fail on Grammata's engine, by reason. "
            f"`python {self.script} FOLDER --update` writes this file.",
            "# A name without brackets is all tests of the function.",
        ]
        for text in sorted(by_reason):
            lines += ["", "[[difference]]", f"reason = {json.dumps(text, ensure_ascii=False)}", "tests = ["]
            for name, tests in sorted(by_reason[text].items()):
                whole = tests == [name] or len(tests) == ran.get(name, -1) or all(function(test) == test for test in tests)
                lines += [f"    {json.dumps(test)}," for test in ([name] if whole else sorted(tests))]
            lines += ["]"]
        self.list.write_text("\n".join(lines) + "\n", encoding="utf-8")

    def load(self, outcomes: Outcomes, files: list[str] | None) -> dict[str, str]:
        """The listed tests with reasons. The name of a function means all its tests that were not skipped."""
        if not self.list.is_file():
            return {}
        tests_of: dict[str, list[str]] = defaultdict(list)
        for test, outcome in outcomes.items():
            if outcome["outcome"] != "skipped":
                tests_of[function(test)].append(test)
        listed: dict[str, str] = {}
        for difference in tomllib.loads(self.list.read_text(encoding="utf-8")).get("difference", []):
            for name in difference["tests"]:
                if files is None or name.partition("::")[0] in files:
                    for test in tests_of.get(name, [name]) if function(name) == name else [name]:
                        listed[test] = difference["reason"]
        return listed

    def compare(self, outcomes: Outcomes, files: list[str]) -> int:
        """Compares the failures with the list, prints the differences, and returns the exit status."""
        failed, listed = self.failures(outcomes), self.load(outcomes, files)
        wrong = [f"fails and is not listed: {test}\n    {outcomes[test]['why'][:300]}" for test in sorted(failed.keys() - listed.keys())]
        wrong += [f"is listed and does not fail: {test}" for test in sorted(listed.keys() - failed.keys())]
        wrong += [f"has no reason: {test}" for test, text in sorted(listed.items()) if text == UNKNOWN]
        if not outcomes:
            wrong.append("no test ran")
        for line in wrong[:200]:
            print(line)
        print(f"{len(failed)} failures, {len(listed)} listed, {len(wrong)} differences from the list")
        return 1 if wrong else 0
