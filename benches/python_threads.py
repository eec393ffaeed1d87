"""Measures the overhead of calls from Python, masks per second for each number of threads, and memory.

    python benches/python_threads.py --tokenizer tokenizer.json --seconds 5 --minutes 5

The threads share the grammars, and each follows texts with its own matchers. For each token it computes the mask into
memory that was registered once, and then accepts the token.
"""

import argparse
import os
import threading
import time
from pathlib import Path

import grammata
import numpy as np

SCHEMAS = [
    {
        "type": "object",
        "required": ["name", "age"],
        "additionalProperties": False,
        "properties": {
            "name": {"type": "string", "maxLength": 40},
            "age": {"type": "integer", "minimum": 0, "maximum": 150},
            "tags": {"type": "array", "items": {"type": "string"}},
        },
    },
    {"type": "array", "items": {"anyOf": [{"type": "string", "pattern": "^[a-z]+(-[a-z]+)*$"}, {"type": "number"}]}},
    {"type": "object", "patternProperties": {"^x-": {"type": "boolean"}}, "additionalProperties": {"type": "string"}},
]
TEXTS = [
    '{"name": "Ada Lovelace", "age": 36, "tags": ["mathematics", "engines"]}',
    '["some-words", 3.25, "and-more-of-them", -17, 1e9]',
    '{"x-first": true, "second": "a longer text, with a few words in it", "x-third": false}',
]


def resident() -> int:
    """The resident memory of this process in bytes (Linux)."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Sequences:
    """Grammars with the tokens of texts, and loops over them that count the masks."""

    def __init__(self, compiler: grammata.Compiler) -> None:
        vocabulary = compiler.vocabulary
        self.words = vocabulary.mask_words
        self.pairs = [
            (compiler.compile_json_schema(schema), vocabulary.encode_greedy(text) or [])
            for schema, text in zip(SCHEMAS, TEXTS)
        ]
        self.stop = threading.Event()

    def follow(self, counts: list[int], place: int) -> None:
        bound = grammata.MaskBuffer(np.zeros(self.words, np.int32))
        masks = 0
        while not self.stop.is_set():
            for grammar, tokens in self.pairs:
                matcher = grammar.matcher()
                fill, accept = matcher.fill_mask, matcher.accept_token
                for token in tokens:
                    fill(bound)
                    accept(token)
                masks += len(tokens)
        counts[place] = masks

    def run(self, threads: int, seconds: float, watch: list[int] | None = None) -> float:
        """The masks per second of all threads together; `watch` gets the resident memory every 5 seconds."""
        self.stop.clear()
        counts = [0] * threads
        running = [threading.Thread(target=self.follow, args=(counts, place)) for place in range(threads)]
        begun = time.perf_counter()
        for thread in running:
            thread.start()
        while (left := begun + seconds - time.perf_counter()) > 0:
            time.sleep(min(left, 5))
            if watch is not None:
                watch.append(resident())
        self.stop.set()
        for thread in running:
            thread.join()
        return sum(counts) / (time.perf_counter() - begun)


    def batches(self, count: int, seconds: float) -> float:
        """The masks per second of one Python thread that calls the batch functions; these use the package's threads."""
        sequences = [self.pairs[place % len(self.pairs)] for place in range(count)]
        matchers = [grammar.matcher() for grammar, _ in sequences]
        shortest = min(len(tokens) for _, tokens in sequences)
        steps = [[tokens[step] for _, tokens in sequences] for step in range(shortest)]
        bound = grammata.MaskBuffer(np.zeros((count, self.words), np.int32))
        masks, begun = 0, time.perf_counter()
        while time.perf_counter() < begun + seconds:
            for tokens in steps:
                grammata.fill_masks(matchers, bound)
                grammata.accept_tokens(matchers, tokens)
            for matcher in matchers:
                matcher.reset()
            masks += shortest * count
        return masks / (time.perf_counter() - begun)


def each(name: str, call: object, times: int = 200_000) -> None:
    """Prints the nanoseconds per call in the fastest of seven loops."""
    best = float("inf")
    for _ in range(7):
        begun = time.perf_counter_ns()
        for _ in range(times // 7):
            call()  # type: ignore[operator]
        best = min(best, (time.perf_counter_ns() - begun) / (times // 7))
    print(f"| {name} | {best:.0f} |")


def costs(compiler: grammata.Compiler) -> None:
    """Prints the durations of calls whose result is cached, so that little more than the call itself is measured."""
    letters = grammata.Vocabulary.from_tokens([bytes([byte]) for byte in range(32)])
    few = grammata.Compiler(letters).compile_regex("[\\x00-\\x1f]*").matcher()
    many = compiler.compile_json_schema(SCHEMAS[0]).matcher()
    memory = np.zeros(compiler.vocabulary.mask_words, np.int32)
    bound, one = grammata.MaskBuffer(memory), grammata.MaskBuffer(bytearray(4))
    few.mask(), many.mask()
    print("| a call, the mask known | ns |\n|---|--:|")
    each("an empty function of Python", lambda: None)
    each("`fill_mask`, bound, 32 tokens", lambda: few.fill_mask(one))
    each(f"`fill_mask`, bound, {compiler.vocabulary.width} tokens", lambda: many.fill_mask(bound))
    each("the same into a NumPy array", lambda: many.fill_mask(memory))
    each("`is_token_allowed`", lambda: many.is_token_allowed(0))
    each("`is_accepting`", many.is_accepting)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tokenizer", required=True)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--threads", default="1,2,4,8,16")
    parser.add_argument("--minutes", type=float, default=5, help="of 16 threads, for memory")
    parser.add_argument("--matchers", type=int, default=10_000)
    arguments = parser.parse_args()
    compiler = grammata.Compiler(grammata.Vocabulary.from_file(arguments.tokenizer))
    costs(compiler)

    sequences = Sequences(compiler)
    sequences.run(1, 1)
    print(f"\nload {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors\n| threads | masks a second |\n|--:|--:|")
    for threads in map(int, arguments.threads.split(",")):
        print(f"| {threads} | {sequences.run(threads, arguments.seconds):,.0f} |", flush=True)

    print(f"in batches of 256 by one thread: {sequences.batches(256, arguments.seconds):,.0f} masks a second", flush=True)

    bound = grammata.MaskBuffer(np.zeros(compiler.vocabulary.mask_words, np.int32))

    def make(count: int) -> None:
        for place in range(count):
            grammar, tokens = sequences.pairs[place % len(sequences.pairs)]
            matcher = grammar.matcher()
            for token in tokens[:8]:
                matcher.fill_mask(bound)
                matcher.accept_token(token)
            matcher.fork().rollback(4)

    make(500)
    before = resident()
    make(arguments.matchers)
    print(f"\n{arguments.matchers} matchers made and dropped: {(resident() - before) / 1024:+.0f} KiB")
    if arguments.minutes:
        watched: list[int] = []
        speed = sequences.run(16, arguments.minutes * 60, watched)
        first = watched[len(watched) // 10]
        print(
            f"16 threads for {arguments.minutes:g} minutes at {speed:,.0f} masks a second: {first >> 20} MiB after a tenth, "
            f"{watched[-1] >> 20} MiB at the end, {max(watched) >> 20} MiB at most ({(watched[-1] - first) / 1024:+.0f} KiB)"
        )


if __name__ == "__main__":
    main()
