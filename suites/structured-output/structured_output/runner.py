"""Selects cases and runs them, several at a time if asked."""

from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatchcase

from .judge import ERROR, REFUSED, Early, Judge, Outcome
from .values import short
from .ways import PATHS

# Statuses by which a server says that it does not have a path.
ABSENT = {404, 405, 501}


def select(cases, only, skip):
    """Returns the cases of which the group or the id matches a pattern of `only` and none of `skip`."""
    matches = lambda case, patterns: any(fnmatchcase(case.id, one) or fnmatchcase(case.group, one) for one in patterns)
    return [case for case in cases if (not only or matches(case, only)) and not matches(case, skip)]


def absent_paths(client, apis):
    """Returns the APIs that the server does not have, with the status that says so. Raises `Transport`."""
    found = {}
    for api in apis:
        reply = client.send("POST", PATHS[api], {})
        # a missing model is 404, too
        if reply.status in ABSENT and b"model" not in reply.body:
            found[api] = reply.status
    return found


def run(client, settings, cases, jobs=1, progress=lambda case, outcome: None):
    """Returns (case, outcome) for each case, and the seconds of each request. Raises `Transport` if none answers."""
    judge = Judge(client)
    absent = absent_paths(client, sorted({case.api for case in cases}))

    def one(case):
        if case.api in absent:
            return Outcome(REFUSED, f"status {absent[case.api]}: the server has no {PATHS[case.api]}")
        try:
            return case.run(judge, settings)
        except Early as early:
            return early.outcome
        except RecursionError:
            return Outcome(ERROR, "the answer is nested too deeply to check")

    results = []
    with ThreadPoolExecutor(max(jobs, 1)) as pool:
        for case, outcome in zip(cases, pool.map(one, cases)):
            outcome = Outcome(outcome.kind, short(outcome.reason, 200))
            results.append((case, outcome))
            progress(case, outcome)
    return results, judge.times


def models(client):
    """Returns the names of the server's models, or an empty list if it does not list them."""
    try:
        reply = client.send("GET", "/models")
        return [entry["id"] for entry in reply.json()["data"]] if reply.status == 200 else []
    except (ValueError, KeyError, TypeError):
        return []
