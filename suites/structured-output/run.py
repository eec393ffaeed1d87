#!/usr/bin/env python3
"""Checks the structured output of a server that speaks OpenAI's protocol. README.md explains it.

python3 run.py --url http://127.0.0.1:8000/v1 --model NAME
"""

import argparse
import json
import os
import sys
from pathlib import Path

from structured_output import report
from structured_output.cases import all_cases
from structured_output.client import Client, Transport
from structured_output.judge import GOOD
from structured_output.runner import models, run, select
from structured_output.ways import DIALECTS, Settings


def arguments():
    parser = argparse.ArgumentParser(description="Checks the structured output of an OpenAI-compatible server.")
    add = parser.add_argument
    add("--url", help="address of the API, with its version: http://127.0.0.1:8000/v1")
    add("--model", help="name of the model; default: the first that the server lists")
    add("--key-env", metavar="VARIABLE", help="environment variable with the key (sent as a bearer token)")
    add("--header-env", metavar="NAME=VARIABLE", action="append", default=[], help="a header from a variable")
    add("--dialect", default="openai", help=f"extensions to check, with commas: {', '.join(DIALECTS)}, or all")
    add("--full", action="store_true", help="each schema with each way to ask, not only the core schemas")
    add(
        "--only", metavar="PATTERN", action="append", default=[], help="only these groups or cases: 'chat-schema/enum*'"
    )
    add("--skip", metavar="PATTERN", action="append", default=[], help="not these groups or cases")
    add("--list", action="store_true", help="list the selected cases and stop")
    add("--jobs", type=int, default=1, help="requests at a time; default 1")
    add("--timeout", type=float, default=120, metavar="SECONDS", help="longest time of a request; default 120")
    add("--max-tokens", type=int, default=400, metavar="N", help="limit of tokens of an answer; default 400")
    add("--limit-name", default="max_tokens", choices=["max_tokens", "max_completion_tokens"], help="in chat requests")
    add("--temperature", type=float, default=0, help="temperature of the requests; default 0")
    add("--omit", action="append", default=[], metavar="MEMBER", help="leave a member out of each request: temperature")
    add("--extra", type=json.loads, default={}, metavar="JSON", help="members that each request has in addition")
    add("--report", type=Path, metavar="FILE", help="write all outcomes as JSON")
    add("--expect", type=Path, metavar="FILE", help="lines `ID CLASS`: the classes that are expected of this server")
    add("--write-expect", type=Path, metavar="FILE", help="write such a list from this run")
    add("--quiet", action="store_true", help="show only cases of classes that fail")
    return parser


def main(words=None):
    parser = arguments()
    options = parser.parse_args(words)
    dialects = DIALECTS if options.dialect == "all" else tuple(options.dialect.split(","))
    if unknown := set(dialects) - set(DIALECTS):
        parser.error(f"unknown dialect `{unknown.pop()}`; the dialects are {', '.join(DIALECTS)}, and all")
    if not isinstance(options.extra, dict):
        parser.error("--extra must be a JSON object")
    cases = all_cases(options.full, dialects)
    known = {case.id for case in all_cases(True)}
    cases = select(cases, options.only, options.skip)
    if not cases:
        parser.error("no case is selected; --list shows the names")
    if options.list:
        print(*(case.id for case in cases), sep="\n")
        return 0
    if not options.url:
        parser.error("--url is required")
    try:
        expected = report.read_expected(options.expect.read_text(encoding="utf-8")) if options.expect else {}
        if missing := sorted(set(expected) - known):
            raise report.BadList(f"{missing[0]} is not a case")
        secret = {name: os.environ[name] for name in [options.key_env] if name}
        headers = dict(pair.split("=", 1) for pair in options.header_env)
        headers = {name: os.environ[variable] for name, variable in headers.items()}
        client = Client(options.url, secret.get(options.key_env), options.timeout, headers.items())
    except KeyError as error:
        parser.error(f"the environment variable {error} is not set")
    except (OSError, ValueError) as error:
        parser.error(str(error))
    return check(options, client, cases, expected)


def check(options, client, cases, expected):
    def show(case, outcome):
        if not (options.quiet and outcome.kind in GOOD):
            print(
                f"{outcome.kind:<9} {case.id}: {outcome.reason}" if outcome.reason else f"{outcome.kind:<9} {case.id}",
                flush=True,
            )

    try:
        model = options.model or next(iter(models(client)), None)
        if model is None:
            print(f"{options.url}/models lists no model: give its name with --model", file=sys.stderr)
            return 2
        temperature = None if "temperature" in options.omit else options.temperature
        settings = Settings(
            model, options.max_tokens, options.limit_name, temperature, options.extra, frozenset(options.omit)
        )
        results, times = run(client, settings, cases, options.jobs, show)
    except Transport as error:
        print(f"no answer from {options.url}: {error}", file=sys.stderr)
        return 2
    print("", *report.table(results), "", sep="\n")
    print(f"{len(results)} cases, {len(times)} requests, {sum(times):.1f} s of waiting for {model}")
    if options.report:
        options.report.write_text(report.document(results, options.url, model, len(times)), encoding="utf-8")
    if options.write_expect:
        options.write_expect.write_text(report.write_expected(results), encoding="utf-8")
    lines = report.surprises(results, expected)
    if lines and options.expect:
        print("", "Not as expected:", *lines, sep="\n")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
