"""Measures other engines from Python on calls of many tools, with one grammar for all tools of OpenAPI documents.

    grammata tools list --output-format json catalogues/services/openapi.json > tools.json
    python benches/tools_peers.py --tools tools.json --tokenizer tokenizer.json --eos 128009 --engines llguidance,xgrammar 10 100 1000

A turn is text, then `<tool_call>`, the object with name and arguments, and `</tool_call>`. XGrammar reads it as
triggered tags, llguidance as a structural tag for each tool (`StructTag`) or as one `anyOf` of JSON Schema
(`llguidance-anyof`, without the text and the tags). If the file has fewer than N tools, the remaining ones are copies
with other names, as in `examples/tools_scale.rs`, which measures this engine. Each process measures one engine with one
number of tools, and the parent kills it after --limit seconds. Times are medians of --runs runs, in microseconds: of
compiling; of the first mask; of the mask where a name begins, and of the same mask again; where the name ends; where
the arguments begin; of compiling 20 of the tools with their first mask. Durations over 20 ms are CPU time. Memory is
the growth of the process in the first run.
"""

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import python_peers
from tokenizers import Tokenizer

# a duration of more seconds is given as CPU time, so that other programs do not count
LONG = 0.02
BEGIN = '<tool_call>\n{"name": "'
END = "}\n</tool_call>"


def tag(tools: list[dict[str, Any]]) -> dict[str, Any]:
    """Returns the structural tag of text in which the tools may be called."""
    tags = [
        {
            "type": "tag",
            "begin": f'{BEGIN}{tool["name"]}", "arguments": ',
            "content": {"type": "json_schema", "json_schema": tool["arguments"]},
            "end": END,
        }
        for tool in tools
    ]
    form = {"type": "triggered_tags", "triggers": ["<tool_call>"], "tags": tags}
    return {"type": "structural_tag", "format": form}


class Llguidance(python_peers.Llguidance):
    """https://github.com/guidance-ai/llguidance with a structural tag for each tool."""

    text = "Well.\n"

    def grammar(self, tools: list[dict[str, Any]]) -> str:
        tag = self.library.StructTag
        tags = [
            tag(
                trigger="<tool_call>",
                begin=f'{BEGIN}{tool["name"]}", "arguments": ',
                grammar=tool["arguments"],
                end=END,
            )
            for tool in tools
        ]
        return str(tag.to_grammar(tags, assume_special=False))

    def compile(self, tools: list[dict[str, Any]]) -> Any:
        matcher = self.library.LLMatcher(self.tokenizer, self.grammar(tools), log_level=0)
        if matcher.is_error():
            raise ValueError(matcher.get_error())
        return matcher

    def fill(self, matcher: Any) -> None:
        super().fill(matcher)
        if matcher.is_error():
            raise ValueError(matcher.get_error())

    def commit(self, matcher: Any, token: int) -> None:
        if not matcher.consume_token(token):
            raise ValueError(matcher.get_error())


class LlguidanceAnyOf(Llguidance):
    """llguidance with one JSON Schema for all tools; a turn is only the object of the call, without text and tags."""

    text = ""

    def grammar(self, tools: list[dict[str, Any]]) -> str:
        calls = [
            {
                "type": "object",
                "properties": {"name": {"const": tool["name"]}, "arguments": tool["arguments"]},
                "required": ["name", "arguments"],
                "additionalProperties": False,
            }
            for tool in tools
        ]
        return str(self.library.LLMatcher.grammar_from_json_schema({"anyOf": calls}))


class Xgrammar(python_peers.Xgrammar):
    """https://github.com/mlc-ai/xgrammar with triggered tags."""

    text = "Well.\n"

    def compile(self, tools: list[dict[str, Any]]) -> Any:
        return self.compiler.compile_structural_tag(tag(tools))

    def commit(self, matcher: Any, token: int) -> None:
        if not matcher.accept_token(token):
            raise ValueError(f"token {token} is refused")


ENGINES: dict[str, Callable[[str, Tokenizer, int], Any]] = {
    "llguidance": Llguidance,
    "llguidance-anyof": LlguidanceAnyOf,
    "xgrammar": Xgrammar,
}


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    busy, start = time.process_time(), time.perf_counter()
    made = work()
    elapsed, busy = time.perf_counter() - start, time.process_time() - busy
    return made, (busy if elapsed > LONG else elapsed) * 1e6


def resident() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def measure(options: argparse.Namespace) -> dict[str, Any]:
    with open(options.tools) as file:
        known = json.load(file)["tools"]
    known = sorted((tool for tool in known if not tool["refusal"]), key=lambda tool: tool["name"])
    count = options.counts[0]
    tools = []
    for at in range(count):
        tool, copy = known[at % len(known)], at // len(known)
        name = tool["name"] if copy == 0 else f's{copy:03}__{tool["name"]}'
        tools.append({"name": name, "arguments": tool["arguments"]})
    tokenizer = Tokenizer.from_file(options.tokenizer)
    engine = ENGINES[options.engines](options.tokenizer, tokenizer, options.eos)
    name = sorted(tool["name"] for tool in tools)[count // 2]
    before = '{"name": "' if engine.text == "" else engine.text + BEGIN
    pieces = [before, f'{name}"', ', "arguments": {']
    times: dict[str, list[float]] = {}

    def note(key: str, time: float) -> None:
        times.setdefault(key, []).append(time)

    grown = 0
    for _ in range(options.runs):
        memory = resident()
        grammar, time_ = timed(lambda: engine.compile(tools))
        note("compile", time_)
        matcher, begin = timed(lambda: engine.begin(grammar))
        note("first mask", begin + timed(lambda: engine.fill(matcher))[1])
        keys = ["name, first", "name's end", "arguments"]
        for piece, key in zip(pieces, keys, strict=True):
            for token in tokenizer.encode(piece, add_special_tokens=False).ids:
                engine.commit(matcher, token)
            note(key, timed(lambda: engine.fill(matcher))[1])
            if key == "name, first":
                note("name, again", timed(lambda: engine.fill(matcher))[1])
        grown = grown or resident() - memory
        some = [tools[at * count // 20] for at in range(min(20, count))]
        note("20 others", timed(lambda: engine.fill(engine.begin(engine.compile(some))))[1])
    medians = {key: float(np.median(values)) for key, values in times.items()}
    return {"engine": options.engines, "tools": count, **medians, "MB": grown / 1e6}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", required=True)
    parser.add_argument("--tokenizer", required=True)
    parser.add_argument("--eos", type=int, required=True)
    parser.add_argument("--engines", default="llguidance,llguidance-anyof,xgrammar")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--limit", type=float, default=60)
    parser.add_argument("--one", action="store_true", help="measure here, and print JSON")
    parser.add_argument("counts", type=int, nargs="+")
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(options)))
        return
    for engine in options.engines.split(","):
        for count in options.counts:
            command = [sys.executable, __file__, "--one", "--tools", options.tools, "--tokenizer", options.tokenizer]
            command += ["--eos", str(options.eos), "--engines", engine, "--runs", str(options.runs), str(count)]
            try:
                run = subprocess.run(command, capture_output=True, text=True, timeout=options.limit, check=False)
            except subprocess.TimeoutExpired:
                print(f"{engine} {count}: not within {options.limit:.0f} s", flush=True)
                break
            lines = run.stderr.strip().splitlines() or ["no output"]
            print(run.stdout.strip() if run.returncode == 0 else f"{engine} {count}: {lines[-1][:300]}", flush=True)


if __name__ == "__main__":
    main()
