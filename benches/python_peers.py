"""Compares this engine with other engines from Python on real schemas: the time of masks and of the first mask.

    python benches/python_peers.py --data dev.jsonl.gz --tokenizer tokenizer.json --eos 128009 --schemas 300 --engines grammata,llguidance

The protocol is MaskBench's; everything runs on one thread, one engine after another. Each line of the data is a schema
with valid and invalid texts. TTFM (time to first mask) is the time to compile a schema and to compute its first mask.
Then, for each text and each token of it, the mask is written to a buffer that was allocated once, the token's bit is
tested and the token is committed; the time of a mask includes the commit. Engines that can write to a registered buffer
do so. Times are given for the schemas that all engines of the run can compile.

With --cpu, times are CPU times: of the thread for masks, of the process for TTFM, because an engine may compile on
other threads. Unlike wall time, they leave out the pauses on a machine that runs other programs. With --seconds, an
engine gets no more schemas once it has run for that long. The schemas come in a fixed random order, so that the
measured ones are a random sample.
"""

import argparse
import gzip
import json
import os
import random
import resource
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from tokenizers import Tokenizer


class Grammata:
    """This engine."""

    def __init__(self, path: str, tokenizer: Tokenizer, eos: int) -> None:
        import grammata

        self.vocabulary = grammata.Vocabulary.from_file(path, eos=eos)
        self.compiler = grammata.Compiler(self.vocabulary)
        self.compiler.prepare()
        self.words = np.zeros(self.vocabulary.mask_words, np.int32)
        self.buffer = grammata.MaskBuffer(self.words)

    def compile(self, schema: str) -> Any:
        return self.compiler.compile_json_schema(schema)

    def begin(self, grammar: Any) -> Any:
        return grammar.matcher()

    def fill(self, matcher: Any) -> None:
        matcher.fill_mask(self.buffer)

    def commit(self, matcher: Any, token: int) -> None:
        matcher.accept_token(token)


class Llguidance:
    """https://github.com/guidance-ai/llguidance."""

    def __init__(self, path: str, tokenizer: Tokenizer, eos: int) -> None:
        import llguidance
        import llguidance.hf

        self.library = llguidance
        with open(path) as file:
            self.tokenizer = llguidance.LLTokenizer(file.read(), eos_token=eos)
        self.words = np.zeros((self.tokenizer.vocab_size + 31) // 32, np.int32)

    def compile(self, schema: str) -> Any:
        grammar = self.library.LLMatcher.grammar_from_json_schema(schema)
        matcher = self.library.LLMatcher(self.tokenizer, grammar, log_level=0)
        if matcher.is_error():
            raise ValueError(matcher.get_error())
        return matcher

    def begin(self, grammar: Any) -> Any:
        return grammar.deep_copy()

    def fill(self, matcher: Any) -> None:
        matcher.unsafe_compute_mask_ptr(self.words.ctypes.data, self.words.nbytes)

    def commit(self, matcher: Any, token: int) -> None:
        matcher.consume_token(token)


class Xgrammar:
    """https://github.com/mlc-ai/xgrammar."""

    def __init__(self, path: str, tokenizer: Tokenizer, eos: int) -> None:
        import torch
        import xgrammar

        self.library = xgrammar
        size = tokenizer.get_vocab_size()
        tokens: list[str] = [""] * size
        for token, place in tokenizer.get_vocab().items():
            tokens[place] = token
        info = xgrammar.TokenizerInfo(tokens, xgrammar.VocabType.BYTE_LEVEL, vocab_size=size, stop_token_ids=[eos])
        self.compiler = xgrammar.GrammarCompiler(info, max_threads=1, cache_enabled=False)
        self.tensor = torch.zeros((1, (size + 31) // 32), dtype=torch.int32)
        self.words = self.tensor.numpy()[0]

    def compile(self, schema: str) -> Any:
        return self.compiler.compile_json_schema(schema, strict_mode=False)

    def begin(self, grammar: Any) -> Any:
        return self.library.GrammarMatcher(grammar)

    def fill(self, matcher: Any) -> None:
        # it returns False if every token is allowed, and then does not write the buffer
        if not matcher.fill_next_token_bitmask(self.tensor):
            self.words.fill(-1)

    def commit(self, matcher: Any, token: int) -> None:
        matcher.accept_token(token)


class Glrmask:
    """https://pypi.org/project/glrmask, with its mask strategy `PARSER_DWA`, the static masks."""

    def __init__(self, path: str, tokenizer: Tokenizer, eos: int) -> None:
        import glrmask
        import grammata

        self.library = glrmask
        known = grammata.Vocabulary.from_file(path, eos=eos)
        self.vocabulary = glrmask.Vocab.from_id_to_bytes({id_: known.bytes(id_) for id_ in range(len(known)) if known.bytes(id_)})
        self.words = np.zeros(known.mask_words, np.int32)

    def compile(self, schema: str) -> Any:
        grammar = self.library.Grammar.from_json_schema(schema)
        return grammar.compile(self.vocabulary, mask_strategy=self.library.MaskStrategy.PARSER_DWA)

    def begin(self, grammar: Any) -> Any:
        return grammar.start()

    def fill(self, matcher: Any) -> None:
        matcher.fill_mask(self.words)

    def commit(self, matcher: Any, token: int) -> None:
        matcher.commit_token(token)

    def may_end(self, matcher: Any) -> bool:
        # the id of the end of the sequence has no bytes here, and its masks contain no such id
        return matcher.is_accepting()


ENGINES: dict[str, Callable[[str, Tokenizer, int], Any]] = {
    "grammata": Grammata,
    "llguidance": Llguidance,
    "xgrammar": Xgrammar,
    "glrmask": Glrmask,
}


def schemas(path: str, count: int) -> list[dict[str, Any]]:
    """Reads `count` schemas, evenly spread over a file, and returns them in a fixed random order."""
    with gzip.open(path, "rt") if path.endswith(".gz") else open(path) as file:
        lines = file.readlines()
    step = max(1, len(lines) // count)
    some = [json.loads(line) for line in lines[::step][:count]]
    random.Random(29).shuffle(some)
    return some


def may_end(engine: Any, matcher: Any) -> bool:
    if hasattr(engine, "may_end"):
        return engine.may_end(matcher)
    engine.fill(matcher)
    return bool(engine.words[engine.eos >> 5] >> (engine.eos & 31) & 1)


def measure(
    engine: Any, tasks: list[dict[str, Any]], tokens: dict[str, list[int]], cpu: bool, seconds: float
) -> Iterator[dict[str, Any]]:
    clock, words = time.thread_time_ns if cpu else time.perf_counter_ns, engine.words
    clock_of_all = time.process_time_ns if cpu else time.perf_counter_ns
    end = time.monotonic() + seconds
    for task in tasks:
        if time.monotonic() > end:
            return
        begun = clock_of_all()
        try:
            grammar = engine.compile(task["schema"])
            engine.fill(engine.begin(grammar))
        except Exception as error:  # each engine raises its own types of errors
            yield {"id": task["id"], "error": str(error).splitlines()[0] if str(error) else repr(error)}
            continue
        found = {"id": task["id"], "ttfm": clock_of_all() - begun, "masks": [], "accepted_invalid": 0, "rejected_valid": 0}
        for test in task["tests"]:
            matcher, is_accepted = engine.begin(grammar), True
            for token in tokens[test["text"]]:
                start = clock()
                engine.fill(matcher)
                if not words[token >> 5] >> (token & 31) & 1:
                    found["masks"].append(clock() - start)
                    is_accepted = False
                    break
                engine.commit(matcher, token)
                found["masks"].append(clock() - start)
            if is_accepted:
                # an invalid text may be the beginning of a valid one: then only its end is refused
                is_accepted = may_end(engine, matcher)
            found["accepted_invalid"] += is_accepted and not test["valid"]
            found["rejected_valid"] += test["valid"] and not is_accepted
        yield found


def row(name: str, found: list[dict[str, Any]], common: set[str]) -> str:
    some = [one for one in found if one["id"] in common]
    masks = np.array([time_ for one in some for time_ in one["masks"]]) / 1e3
    first = np.array([one["ttfm"] for one in some]) / 1e6
    compiled = [one for one in found if "error" not in one]
    figures = [masks.mean(), *np.percentile(masks, [50, 99, 99.9]), masks.max()]
    times = [first.mean(), *np.percentile(first, [50, 99])]
    wrong = [sum(one[kind] for one in compiled) for kind in ("accepted_invalid", "rejected_valid")]
    cells = [name, len(found), len(compiled), len(masks), *(f"{one:.2f}" for one in figures), *(f"{one:.2f}" for one in times), *wrong]
    return "| " + " | ".join(map(str, cells)) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True)
    parser.add_argument("--tokenizer", required=True)
    parser.add_argument("--eos", type=int, required=True)
    parser.add_argument("--schemas", type=int, default=600)
    parser.add_argument("--engines", default="grammata")
    parser.add_argument("--cpu", action="store_true", help="time of the processor in the place of wall time")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="the most that an engine takes, in wall time")
    arguments = parser.parse_args()
    tokenizer = Tokenizer.from_file(arguments.tokenizer)
    tasks = schemas(arguments.data, arguments.schemas)
    texts = {test["text"] for task in tasks for test in task["tests"]}
    tokens = {text: tokenizer.encode(text, add_special_tokens=False).ids for text in texts}
    found: dict[str, list[dict[str, Any]]] = {}
    for name in arguments.engines.split(","):
        engine = ENGINES[name](arguments.tokenizer, tokenizer, arguments.eos)
        engine.eos = arguments.eos
        found[name] = list(measure(engine, tasks, tokens, arguments.cpu, arguments.seconds))
        print(f"{name}: {len(found[name])} schemas taken", file=sys.stderr, flush=True)
        del engine
    sets = [{one["id"] for one in each if "error" not in one} for each in found.values()]
    common = set.intersection(*sets)
    clock = time.thread_time_ns if arguments.cpu else time.perf_counter_ns
    spent = min((lambda begun: clock() - begun)(clock()) for _ in range(1000))
    what = "time of the processor" if arguments.cpu else "wall time"
    print(f"{len(tasks)} schemas, {len(common)} that all took and compile; load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    print(f"{what}; to read the clock takes {spent} ns of each mask")
    print("| engine | taken | compiled | masks | mean µs | p50 | p99 | p99.9 | max | TTFM mean ms | p50 | p99 | invalid accepted | valid rejected |")
    print("|---|" + "--:|" * 13)
    for name, each in found.items():
        print(row(name, each, common))
    print(f"peak memory of the process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10} MiB")


if __name__ == "__main__":
    main()
