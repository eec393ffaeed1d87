"""Runs the suite against stand-in servers, each once."""

from collections import Counter

from stand_ins import faulty
from stand_ins.server import MODEL, Perfect, Served
from structured_output.cases import all_cases
from structured_output.client import Client
from structured_output.judge import CLASSES
from structured_output.runner import run
from structured_output.ways import Settings

KEPT = {}
# The stand-ins of the summary.
NAMES = (
    "Perfect", "Prose", "Obeys", "AnyObject", "Remembers", "FirstTool", "SaysStop", "TooLong", "AlwaysCut", "Refuses",
    "RefusesSilently", "Details", "ErrorInStream", "Fails", "HangsUp", "WebPage",
)  # fmt: skip


def outcomes(stand_in, cases=None, full=False):
    """Returns the outcome of each case, by id."""
    cases = all_cases(full) if cases is None else cases
    with Served(stand_in) as url:
        results, _ = run(Client(url, deadline=20), Settings(MODEL), cases, jobs=4)
    return {case.id: outcome for case, outcome in results}


def of(name):
    """Returns the outcomes of all cases of all dialects for a stand-in."""
    if name not in KEPT:
        stand_in = Perfect() if name == "Perfect" else getattr(faulty, name)()
        KEPT[name] = outcomes(stand_in, full=name == "Perfect")
    return KEPT[name]


def group(id_):
    return id_.split("/")[0]


def summary():
    """Returns the lines of a table: what became of the cases with each stand-in."""
    lines = [f"{'stand-in':<16}" + "".join(f"{kind:>{len(kind) + 2}}" for kind in CLASSES)]
    core = {case.id for case in all_cases()}
    for name in NAMES:
        counts = Counter(outcome.kind for id_, outcome in of(name).items() if id_ in core)
        lines.append(f"{name:<16}" + "".join(f"{counts[kind] or '.':>{len(kind) + 2}}" for kind in CLASSES))
    return lines
