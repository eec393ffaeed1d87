"""One engine of vLLM's answers a list of schemas, with speculation, cancelled requests and a bad grammar.

    python generation.py --arm grammata|guidance|xgrammar --model FOLDER --jobs FILE --out FILE

`--jobs` is a JSON list of `{"name", "schema", "max_tokens"}`. Eight requests run at once, tokens are drafted by n-grams, every eighth
request has a copy that is cancelled, one has a grammar that cannot be read, and one has a grammar that only the engine finds to be bad.
Requests are run in this process, so that the time of masks can be taken: compiling (on vLLM's own threads), filling, accepting and checking
drafts, at the same methods for each engine. The outcome is written as JSON; whether it is as it must be, `verdict` says.
"""

from __future__ import annotations

import argparse
import json
import os
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

BATCH = 8
DRAFT = 3
BAD = {"type": "object", "properties": {"a": {"type": "objct"}}}
"""A schema that no engine should read."""
UNKNOWN_TOKEN = 'root ::= "a" <|no-such-token|>'
"""A grammar that can be read, and has no meaning for the model's tokens."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--arm", choices=("grammata", "guidance", "xgrammar"), required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--jobs", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--limit", type=int)
    arguments = parser.parse_args()
    os.environ["GRAMMATA_VLLM"] = "guidance" if arguments.arm == "grammata" else "off"
    os.environ["VLLM_ENABLE_V1_MULTIPROCESSING"] = "0"
    jobs = json.loads(arguments.jobs.read_text())[: arguments.limit]
    outcome = run(arguments.arm, arguments.model, jobs)
    arguments.out.write_text(json.dumps(outcome, indent=1))
    print(json.dumps(outcome["summary"]))


class Clock:
    """Time spent in some methods, by name; threads add up."""

    def __init__(self) -> None:
        self.seconds: Counter[str] = Counter()
        self.calls: Counter[str] = Counter()
        self._lock = threading.Lock()

    def watch(self, owner: Any, method: str, name: str) -> None:
        """Measures the time of a method from now on."""
        original = getattr(owner, method)

        def timed(*arguments: Any, **named: Any) -> Any:
            start = time.perf_counter()
            try:
                return original(*arguments, **named)
            finally:
                with self._lock:
                    self.seconds[name] += time.perf_counter() - start
                    self.calls[name] += 1

        setattr(owner, method, timed)


def run(arm: str, model: str, jobs: list[dict[str, Any]]) -> dict[str, Any]:
    """Answers all jobs, and returns the outcome of each."""
    from vllm import EngineArgs, LLMEngine, SamplingParams
    from vllm.exceptions import VLLMValidationError
    from vllm.sampling_params import StructuredOutputsParams
    from vllm.v1.structured_output import StructuredOutputManager

    clock = Clock()
    for method, name in (
        ("_create_grammar", "compile"),
        ("grammar_bitmask", "fill"),
        ("accept_tokens", "accept"),
        ("validate_tokens", "validate"),
    ):
        clock.watch(StructuredOutputManager, method, name)
    engine = LLMEngine.from_engine_args(
        EngineArgs(
            model=model,
            max_model_len=1024,
            max_num_seqs=BATCH,
            dtype="float32",
            enforce_eager=True,
            structured_outputs_config={"backend": "xgrammar" if arm == "xgrammar" else "guidance"},
            speculative_config={
                "method": "ngram",
                "num_speculative_tokens": DRAFT,
                "prompt_lookup_max": 4,
                "prompt_lookup_min": 1,
            },
        )
    )
    results: dict[str, dict[str, Any]] = {}
    cancelled: set[str] = set()

    def submit(name: str, max_tokens: int, **constraint: Any) -> None:
        results[name] = {"text": "", "tokens": 0, "finish": None}
        params = SamplingParams(max_tokens=max_tokens, temperature=0.7, seed=7, structured_outputs=StructuredOutputsParams(**constraint))
        try:
            engine.add_request(name, prompt_of(name), params)
        except (VLLMValidationError, ValueError) as error:
            results[name]["refused"] = str(error)

    start = time.perf_counter()
    submit("bad schema", 50, json=BAD)
    if arm == "grammata":
        submit("unknown token", 50, grammar=UNKNOWN_TOKEN)
    for place, job in enumerate(jobs):
        submit(job["name"], job["max_tokens"], json=job["schema"])
        if place % 8 == 0 and "refused" not in results[job["name"]]:
            copy = f"cancelled {place}"
            submit(copy, job["max_tokens"], json=job["schema"])
            cancelled.add(copy)
    steps = 0
    while engine.has_unfinished_requests():
        for output in engine.step():
            # an engine may change the ids of its requests, not those of outputs
            found = results[output.request_id]
            found["text"], found["tokens"] = output.outputs[0].text, len(output.outputs[0].token_ids)
            if output.finished:
                found["finish"] = output.outputs[0].finish_reason
            if output.request_id in cancelled and found["tokens"] >= 5 and not found.get("aborted"):
                engine.abort_request([output.request_id])
                found["aborted"] = True
        steps += 1
    seconds = time.perf_counter() - start
    names = [job["name"] for job in jobs]
    for job in jobs:
        results[job["name"]].update(judged(results[job["name"]], job["schema"]))
    tokens = sum(found["tokens"] for found in results.values())
    summary = {
        "arm": arm,
        "jobs": len(jobs),
        "refused": sum("refused" in results[name] for name in names),
        "complete": sum(results[name]["complete"] for name in names),
        "valid": sum(results[name]["valid"] for name in names),
        "stop": sum(results[name]["finish"] == "stop" for name in names),
        "cancelled": sum(bool(results[name].get("aborted")) for name in cancelled),
        "bad schema": "refused" in results["bad schema"],
        "tokens": tokens,
        "seconds": round(seconds, 2),
        "tokens a second": round(tokens / seconds, 2),
        "steps": steps,
        "mask seconds": {name: round(value, 4) for name, value in clock.seconds.items()},
        "mask calls": dict(clock.calls),
    }
    if arm == "grammata":
        summary["unknown token"] = results["unknown token"].get("refused") is not None or results["unknown token"]["finish"] == "error"
    return {"summary": summary, "results": results}


def prompt_of(name: str) -> str:
    return f"<|im_start|>user\nWrite an example of {name} as JSON.<|im_end|>\n<|im_start|>assistant\n"


def judged(found: dict[str, Any], schema: Any) -> dict[str, bool]:
    """Whether a text is JSON, and whether it is an instance of the schema."""
    import jsonschema

    try:
        value = json.loads(found["text"])
    except ValueError:
        return {"complete": False, "valid": False}
    checker = jsonschema.validators.validator_for(schema)
    return {"complete": True, "valid": checker(schema).is_valid(value)}


def verdict(outcome: dict[str, Any]) -> list[str]:
    """The parts of an outcome that are wrong, by the rules for Grammata."""
    summary, results = outcome["summary"], outcome["results"]
    faults = [
        f"{name}: {found['text']!r} ({found['finish']})"
        for name, found in results.items()
        if "complete" in found and not (found["complete"] and found["valid"] and found["finish"] == "stop")
    ]
    if not summary["bad schema"]:
        faults.append("the bad schema was not refused")
    if not summary["unknown token"]:
        faults.append("the grammar with an unknown token did not fail")
    if not summary["cancelled"]:
        faults.append("no request was cancelled")
    return faults


if __name__ == "__main__":
    main()
