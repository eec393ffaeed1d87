"""vLLM with Grammata as its engine of structured outputs: vLLM's own tests, and generation with a model.

    python suite.py FOLDER                     set up vLLM in FOLDER, run everything, compare; exit status 1 if anything differs
    python suite.py FOLDER --update            the same, and write the list of differences anew
    python suite.py FOLDER --only tests        a part: `tests` (vLLM's own), `tags` (its tests of tool calls), `generation`,
                                               `server` (a server, its metrics, and starts that must fail)
    python suite.py FOLDER --version 0.31.0    another version of vLLM. The list of differences is that of the newest; for another
                                               version only failures without a reason in `REASONS` count

`cargo xtask full vllm` does the first. The package is found by `PYTHONPATH`, with its metadata, from which vLLM learns of the plug-in.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import environment
import generation

HERE = Path(__file__).resolve().parent
LIST = HERE / "vllm-differences.toml"
JOBS = HERE / "schemas.json"
TAGS = HERE.parents[1] / "compat" / "xgrammar_suite.py"

PARTS = ("tests", "tags", "generation", "server")

UNKNOWN = "not looked into yet"

REASONS = (
    (r"Could not connect to the Hugging Face Hub", "needs a tokenizer that no package has; vLLM's engines fail as well"),
    (r"test_disable_any_whitespace_is_", "an error of the test, whose class has no `tokenizer`; vLLM's engines fail as well"),
    (r"test_unsupported_json_features|test_list_type_does_not_bypass", "keywords that XGrammar lacks are supported"),
    (r"test_auto_backend_falls_back", "keywords that XGrammar lacks are supported, so nothing falls back"),
    (r"test_validate_xgrammar_preserves_multiline_choice", "a choice stays a list, and is compiled as one"),
    (r"test_validation_rejects_invalid_lark|test_xgrammar_validation_rejects_deeply_nested", "refused in other words"),
    (r"test_regex_with_nul_byte_rejected", "a NUL in a pattern is read; requests with one are refused by vLLM before"),
    (r"plamo3", "tokenizers in Python are not supported"),
)
"""Patterns for the name or the message of a failure; the first that is found counts."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where vLLM is put and outcomes are written")
    parser.add_argument("--update", action="store_true", help="write the list of differences anew")
    parser.add_argument("--peer", action="store_true", help="run vLLM's tests on its own engines instead, to compare")
    parser.add_argument("--only", action="append", choices=PARTS, help="a part, instead of all")
    parser.add_argument("--arms", nargs="*", default=["grammata"], help="engines that generate: grammata, guidance, xgrammar")
    parser.add_argument("--version", choices=environment.VERSIONS, default=environment.VERSIONS[0], help="the version of vLLM")
    arguments = parser.parse_args()
    folder, version = arguments.folder.resolve(), arguments.version
    if version != environment.VERSIONS[0]:
        folder /= version
    folder.mkdir(parents=True, exist_ok=True)
    interpreter = environment.python(folder, version)
    faults: list[str] = []
    for part in arguments.only or PARTS:
        print(f"vLLM: {part}", flush=True)
        if part == "tests":
            faults += host_tests(folder, interpreter, version, arguments.peer, arguments.update)
        elif part == "tags":
            faults += tags(folder, interpreter)
        elif part == "server":
            faults += serve(folder, interpreter)
        else:
            faults += [fault for arm in arguments.arms for fault in generate(folder, interpreter, arm)]
    for fault in faults:
        print(fault)
    return 1 if faults else 0


def variables(folder: Path | None = None, **named: str) -> dict[str, str]:
    """The environment of vLLM's processes: offline, a small cache for keys and values, this folder to import from."""
    path = os.pathsep.join(filter(None, [str(HERE), os.environ.get("PYTHONPATH")]))
    fixed = {
        "PYTHONPATH": path,
        "PYTHONDONTWRITEBYTECODE": "1",
        "HF_HUB_OFFLINE": "1",
        "VLLM_NO_USAGE_STATS": "1",
        "VLLM_CPU_KVCACHE_SPACE": "1",
    }
    home = {} if folder is None else {"HF_HOME": str(environment.hub(folder))}
    return {**os.environ, **fixed, **home, **named}


def host_tests(folder: Path, interpreter: Path, version: str, peer: bool, update: bool) -> list[str]:
    """Runs vLLM's own tests of structured outputs, and compares them with the list."""
    sources, work = environment.tests(folder, version), folder / "run"
    # apart from its package, which is the one that is installed
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(sources / "tests", work / "tests")
    shutil.copy(sources / "pyproject.toml", work)
    target = folder / ("peer.jsonl" if peer else "outcomes.jsonl")
    target.unlink(missing_ok=True)
    environ = variables(folder, GRAMMATA_OUTCOMES=str(target), GRAMMATA_PEER="1" if peer else "", GRAMMATA_VLLM="off")
    command = [str(interpreter), "-m", "pytest", "-q", "-p", "suite_plugin", "-p", "no:cacheprovider", "tests/v1/structured_output"]
    with open(target.with_suffix(".log"), "w", encoding="utf-8") as log:
        status = subprocess.run(command, cwd=work, env=environ, stdout=log, stderr=subprocess.STDOUT, check=False).returncode
    if status not in (0, 1):
        return [f"vLLM's tests end with {status}; see {target.with_suffix('.log')}"]
    outcomes = {line["test"]: line for line in map(json.loads, target.read_text(encoding="utf-8").splitlines())}
    count = Counter(outcome["outcome"] for outcome in outcomes.values())
    print(dict(count), f"{sum(outcome['reached'] for outcome in outcomes.values())} compile or check on Grammata")
    failed = {test: reason(outcome) for test, outcome in outcomes.items() if outcome["outcome"] in ("failed", "error")}
    if peer:
        print("\n".join(sorted(failed)))
        return []
    if update and version == environment.VERSIONS[0]:
        write(failed)
    if version != environment.VERSIONS[0]:
        return [f"fails without a known reason: {test}\n{outcomes[test]['reason'][-300:]}" for test, why in failed.items() if why == UNKNOWN]
    return compare(failed, outcomes)


def reason(outcome: dict[str, Any]) -> str:
    """Why a test fails."""
    found = f"{outcome['test']} {outcome['reason']}"
    return next((text for pattern, text in REASONS if re.search(pattern, found)), UNKNOWN)


def write(failed: dict[str, str]) -> None:
    """Writes the list of differences."""
    lines = [
        f"# Tests of vllm=={environment.VERSIONS[0]} that fail on Grammata's engine, by reason. `python suite.py FOLDER --update` writes this file."
    ]
    for text in sorted(set(failed.values())):
        tests = sorted(test for test, why in failed.items() if why == text)
        lines += ["", "[[difference]]", f"reason = {json.dumps(text)}", "tests = ["]
        lines += [*(f"    {json.dumps(test)}," for test in tests), "]"]
    LIST.write_text("\n".join(lines) + "\n", encoding="utf-8")


def compare(failed: dict[str, str], outcomes: dict[str, Any]) -> list[str]:
    """The differences from the list."""
    differences = tomllib.loads(LIST.read_text(encoding="utf-8"))["difference"]
    listed = {test: difference["reason"] for difference in differences for test in difference["tests"]}
    wrong = [f"fails and is not listed: {test}\n{outcomes[test]['reason'][-300:]}" for test in sorted(failed.keys() - listed.keys())]
    wrong += [f"is listed and does not fail: {test}" for test in sorted(listed.keys() - failed.keys())]
    return wrong + [f"has no reason: {test}" for test, text in sorted(listed.items()) if text == UNKNOWN]


def tags(folder: Path, interpreter: Path) -> list[str]:
    """vLLM's tests of tool calls, on the look-alike of XGrammar."""
    command = [sys.executable, str(TAGS), str(folder / "tags"), "--only", "vllm"]
    status = subprocess.run(command, env={**os.environ, "GRAMMATA_PYTHON_WITH_VLLM": str(interpreter)}, check=False).returncode
    return ["vLLM's tests of tool calls differ from the list of the look-alike"] if status else []


def generate(folder: Path, interpreter: Path, arm: str) -> list[str]:
    """The jobs of the data file, by one engine. Only Grammata is held to completeness."""
    out = folder / f"generation-{arm}.json"
    command = [str(interpreter), str(HERE / "generation.py"), "--arm", arm, "--model", str(environment.model(folder, interpreter))]
    with open(out.with_suffix(".log"), "w", encoding="utf-8") as log:
        call = [*command, "--jobs", str(JOBS), "--out", str(out)]
        status = subprocess.run(call, env=variables(folder), stdout=log, stderr=subprocess.STDOUT, check=False).returncode
    if status:
        return [f"generation by {arm} ends with {status}; see {out.with_suffix('.log')}"]
    outcome = json.loads(out.read_text(encoding="utf-8"))
    print(json.dumps(outcome["summary"]))
    return generation.verdict(outcome) if arm == "grammata" else []


def serve(folder: Path, interpreter: Path) -> list[str]:
    """A server with metrics, and servers that must not start."""
    options = {"python": interpreter, "model": environment.model(folder, interpreter), "jobs": JOBS, "work": folder}
    command = [sys.executable, str(HERE / "server.py"), *(f"--{name}={value}" for name, value in options.items())]
    status = subprocess.run(command, env=variables(folder), check=False).returncode
    return ["the server with the plug-in is not as it must be"] if status else []


if __name__ == "__main__":
    sys.exit(main())
