"""Prints outcomes, and compares them with a list of expected classes."""

import json
from collections import Counter

from .judge import CLASSES, GOOD


def table(results):
    """Returns the lines of a table: a row for each group, a column for each class. `results` are (case, outcome)."""
    groups = list(dict.fromkeys(case.group for case, _ in results))
    counts = Counter((case.group, outcome.kind) for case, outcome in results)
    width = max(map(len, [*groups, "group"]))
    rows = [[group, *(counts[group, kind] for kind in CLASSES)] for group in groups]
    total = ["all", *(sum(row[at] for row in rows) for at in range(1, len(CLASSES) + 1))]
    line = lambda row: (
        f"{row[0]:<{width}}"
        + "".join(f"{cell or '.':>{max(len(kind), 4) + 2}}" for kind, cell in zip(CLASSES, row[1:]))
    )
    return [line(["group", *CLASSES]).rstrip(), *map(line, rows), line(total)]


class BadList(ValueError):
    """The list of expected classes cannot be read."""


def read_expected(text):
    """Reads lines `ID CLASS`, or `ID CLASS|CLASS`; `#` begins a comment."""
    expected = {}
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split("#")[0].split()
        if not words:
            continue
        kinds = words[1].split("|") if len(words) == 2 else []
        if not kinds or not set(kinds) <= set(CLASSES):
            raise BadList(f"line {number}: `{line.strip()}` is not `ID CLASS`; the classes are {', '.join(CLASSES)}")
        if words[0] in expected:
            raise BadList(f"line {number}: {words[0]} is listed twice")
        expected[words[0]] = kinds
    return expected


def write_expected(results):
    """Returns the list of all cases that are in no good class."""
    return "".join(f"{case.id} {outcome.kind}\n" for case, outcome in results if outcome.kind not in GOOD)


def surprises(results, expected):
    """Returns lines for cases whose class is not an expected one. Without an entry, the good classes are expected."""
    lines = []
    for case, outcome in results:
        kinds = expected.get(case.id, GOOD)
        if outcome.kind not in kinds:
            lines.append(f"{case.id}: expected {' or '.join(kinds)}, found {outcome.kind}")
    return lines


def document(results, server, model, requests):
    """Returns the report as JSON."""
    counts = Counter(outcome.kind for _, outcome in results)
    cases = [{"id": case.id, "group": case.group, "class": o.kind, "reason": o.reason} for case, o in results]
    head = {"suite": "structured-output", "format": 1, "server": server, "model": model, "requests": requests}
    return json.dumps({**head, "counts": {kind: counts[kind] for kind in CLASSES}, "cases": cases}, indent=1) + "\n"
