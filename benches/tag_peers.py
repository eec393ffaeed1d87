"""Compares this engine with XGrammar and llguidance from Python, on one structural tag with many functions.

    python benches/tag_peers.py --tokenizer tests/data/smollm2/tokenizer.json --eos 2 400 10000

The tag is text in which `<tool_call>` begins a call of one of N functions, each with its own schema. XGrammar and
Grammata read the same JSON, llguidance one `StructTag` for each function. All engines follow the same tokens of the
same texts: sentences, with calls of the first, the middle and the last function. The engines run in one process, one
after another, with a new compiler for each of --runs runs; the table has the medians of the runs. The time to compile
does not include the first mask, and the time of a mask does not include the commit of the token. The masks of all
tokens are measured: cold when a run follows the texts for the first time, warm for the second time.
"""

import argparse
import gc
import json
import statistics
import time
from collections.abc import Callable
from typing import Any

import python_peers
import tools_peers
from tokenizers import Tokenizer


def functions(count: int) -> list[dict[str, Any]]:
    """Makes functions with a few parameters each; no two of their schemas are equal."""
    made = []
    for place in range(count):
        parameters = {
            "type": "object",
            "properties": {
                f"city_{place}": {"type": "string"},
                "days": {"type": "integer", "minimum": 1, "maximum": 10 + place},
                "unit": {"enum": ["celsius", "fahrenheit", f"unit_{place}"]},
                "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 3},
            },
            "required": [f"city_{place}", "days"],
            "additionalProperties": False,
        }
        made.append({"name": f"get_weather_{place}", "arguments": parameters})
    return made


def texts(count: int) -> list[str]:
    def call(place: int) -> str:
        arguments = f'{{"city_{place}": "Oslo and Bergen", "days": 7, "unit": "unit_{place}", "tags": ["a", "long tag"]}}'
        return f'{tools_peers.BEGIN}get_weather_{place}", "arguments": {arguments}{tools_peers.END}'

    places = [0, count // 2, count - 1]
    return [f"I look that up for you.\n{call(place)}\nThat is all I can say about it." for place in places]


class Grammata(python_peers.Grammata):
    """This engine, which compiles the same tag as XGrammar."""

    def compile(self, tools: list[dict[str, Any]]) -> Any:
        return self.compiler.compile_structural_tag(tools_peers.tag(tools))


ENGINES: dict[str, Callable[..., Any]] = {
    "grammata": Grammata,
    "xgrammar": tools_peers.Xgrammar,
    "llguidance": tools_peers.Llguidance,
}


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def walk(engine: Any, compiled: Any, tokens: list[int]) -> tuple[list[float], list[float], int]:
    """Follows the tokens; returns the seconds of masks and of commits, and how many tokens were not in the mask."""
    matcher = engine.begin(compiled)
    masks, commits, forbidden = [], [], 0
    for token in tokens:
        seconds, _ = timed(lambda: engine.fill(matcher))
        masks.append(seconds)
        forbidden += not int(engine.words[token // 32]) >> (token % 32) & 1
        seconds, _ = timed(lambda token=token: engine.commit(matcher, token))
        commits.append(seconds)
    return masks, commits, forbidden


def measure(name: str, arguments: argparse.Namespace, count: int, tokenizer: Tokenizer) -> dict[str, float]:
    made = functions(count)
    walks = [tokenizer.encode(text, add_special_tokens=False).ids for text in texts(count)]
    engine = ENGINES[name](arguments.tokenizer, tokenizer, arguments.eos)
    gc.collect()
    gc.disable()
    compiling, compiled = timed(lambda: engine.compile(made))
    first, _ = timed(lambda: engine.fill(engine.begin(compiled)))
    found: dict[str, float] = {"compile ms": compiling * 1e3, "first mask us": first * 1e6}
    for label in ("cold", "warm"):
        masks: list[float] = []
        commits: list[float] = []
        forbidden = 0
        for tokens in walks:
            made_masks, made_commits, wrong = walk(engine, compiled, tokens)
            masks += made_masks
            commits += made_commits
            forbidden += wrong
        found["forbidden"] = forbidden
        for title, times in (("mask", masks), ("commit", commits)):
            times.sort()
            for place, share in (("p50", 0.5), ("p99", 0.99), ("max", 1.0)):
                found[f"{label} {title} {place} us"] = times[min(int(share * len(times)), len(times) - 1)] * 1e6
    gc.enable()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("counts", type=int, nargs="+", metavar="N", help="numbers of functions")
    parser.add_argument("--tokenizer", required=True, help="a tokenizer.json")
    parser.add_argument("--eos", type=int, required=True, help="the id of the end of a sequence")
    parser.add_argument("--engines", default=",".join(ENGINES))
    parser.add_argument("--runs", type=int, default=5)
    arguments = parser.parse_args()
    tokenizer = Tokenizer.from_file(arguments.tokenizer)
    for count in arguments.counts:
        names = arguments.engines.split(",")
        runs: dict[str, list[dict[str, float]]] = {name: [] for name in names}
        for _ in range(arguments.runs):
            for name in list(runs):
                try:
                    runs[name].append(measure(name, arguments, count, tokenizer))
                except ValueError as error:
                    print(f"{name} refuses {count} functions: {str(error).splitlines()[0]}")
                    del runs[name]
        names = list(runs)
        print(f"{count} functions")
        print("| " + " | ".join(["", *names]) + " |\n|---|" + "--:|" * len(names))
        for key in runs[names[0]][0]:
            values = (statistics.median(run[key] for run in runs[name]) for name in names)
            print("| " + " | ".join([key, *(f"{value:.1f}" for value in values)]) + " |")


if __name__ == "__main__":
    main()
