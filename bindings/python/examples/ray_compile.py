"""Compiles a folder of schemas to an archive of mask files on a Ray cluster, which is started on this machine if none is given.

    pip install ray
    python bindings/python/examples/ray_compile.py SCHEMAS MASKS ARCHIVE --tokenizer tokenizer.json --address auto

Each `name.json` of the folder SCHEMAS becomes `name.gmask` in the folder MASKS, and at the end `name` in the file ARCHIVE, where what files
share lies once. Workers read and write the folders, so on several machines they are on a file system that all of them have. What is
there already is left, so that a run that was ended goes on; once there is the archive, the folder MASKS is needed no more. A
vocabulary is made once a worker; what is sent are names. Schemas that are refused are listed in `refused.jsonl`, and stop nothing.
"""

import argparse
import collections
import itertools
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grammata
import ray

TOGETHER = 16  # schemas that a worker gets at a time, so that requests for more take little time


@ray.remote(max_restarts=2, max_task_retries=2)
class Worker:
    """A process with the vocabulary, and a compiler whose grammars share their common parts."""

    def __init__(self, tokenizer: str, schemas: str, masks: str, states: int, work: int) -> None:
        self.compiler = grammata.Compiler(grammata.Vocabulary.from_file(tokenizer))
        self.schemas, self.masks = Path(schemas), Path(masks)
        self.bounds = {"states": states, "work": work}

    def compile(self, names: list[str]) -> list[tuple[str, int, str | None, str | None]]:
        """For each schema: its name, and the size of its file or the code and the text of the error."""
        return [self.one(name) for name in names]

    def one(self, name: str) -> tuple[str, int, str | None, str | None]:
        file = self.masks / f"{name}.gmask"
        try:
            schema = (self.schemas / f"{name}.json").read_text()
            self.compiler.compile_json_schema(schema, whitespace="short", max_digits=40).save(file, **self.bounds)
        except grammata.GrammataError as error:
            return name, 0, error.code, str(error)
        except (OSError, UnicodeDecodeError) as error:
            return name, 0, "file", str(error)
        return name, file.stat().st_size, None, None


def batches(names: list[str]) -> Iterator[list[str]]:
    left = iter(names)
    return iter(lambda: list(itertools.islice(left, TOGETHER)), [])


def results(workers: list[Any], batches: Iterator[list[str]], end: float) -> Iterator[tuple[str, int, str | None, str | None]]:
    """The results of the workers. A worker gets the next batch when it has finished one, and none after `end`."""
    running = {worker.compile.remote(some): worker for worker, some in zip(workers, batches)}
    while running:
        (done,), _ = ray.wait(list(running))
        worker = running.pop(done)
        yield from ray.get(done)
        if time.monotonic() < end and (some := next(batches, None)):
            running[worker.compile.remote(some)] = worker


def archive(vocabulary: grammata.Vocabulary, masks: Path, file: Path) -> tuple[int, int]:
    """Puts all mask files of a folder into an archive, in the order of their names, so that the same files make the
    same bytes. Returns their number and the size of the archive."""
    builder = grammata.ArchiveBuilder(vocabulary)
    for mask in sorted(masks.glob("*.gmask")):
        builder.add(mask.stem, grammata.MaskFile.open(mask))
    return len(builder), builder.save(file)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("schemas", type=Path)
    parser.add_argument("masks", type=Path)
    parser.add_argument("archive", type=Path)
    parser.add_argument("--tokenizer", required=True, type=Path)
    parser.add_argument("--address", help="of a cluster; without it one is started here")
    parser.add_argument("--workers", type=int, help="as many as the cluster has processors unless it is given")
    parser.add_argument("--states", type=int, default=4_096, help="the most places to explore of a schema")
    parser.add_argument("--work", type=int, default=4_000_000, help="the most steps of a schema; the default takes some 200 ms")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="after which no more schemas are begun")
    arguments = parser.parse_args()

    arguments.masks.mkdir(parents=True, exist_ok=True)
    done = {file.stem for file in arguments.masks.glob("*.gmask")}
    names = sorted(file.stem for file in arguments.schemas.glob("*.json") if file.stem not in done)
    begun = time.monotonic()
    ray.init(address=arguments.address, log_to_driver=False, include_dashboard=False)
    workers = arguments.workers or int(ray.cluster_resources().get("CPU", 1))
    folders = [str(path.resolve()) for path in (arguments.tokenizer, arguments.schemas, arguments.masks)]
    pool = [Worker.remote(*folders, arguments.states, arguments.work) for _ in range(workers)]
    started = time.monotonic()

    codes: collections.Counter[str] = collections.Counter()
    taken = count = size = 0
    with (arguments.masks / "refused.jsonl").open("w") as refused:
        for name, length, code, text in results(pool, batches(names), started + arguments.seconds):
            taken, count, size = taken + 1, count + (code is None), size + length
            if code is not None:
                codes[code] += 1
                refused.write(json.dumps({"schema": name, "code": code, "error": text}) + "\n")
    seconds = time.monotonic() - started
    print(f"{taken} of {len(names)} schemas, {len(done)} done before: {count} mask files of {size / 1e6:.1f} MB, {sum(codes.values())} refused")
    print(f"{seconds:.1f} s with {workers} workers, {taken / max(seconds, 1e-9):.1f} schemas a second; the cluster took {started - begun:.1f} s")
    for code, often in codes.most_common(5):
        print(f"  {often:5} {code}")
    ray.shutdown()
    begun = time.monotonic()
    count, size = archive(grammata.Vocabulary.from_file(arguments.tokenizer), arguments.masks, arguments.archive)
    print(f"an archive of {count} mask files, {size / 1e6:.1f} MB, in {time.monotonic() - begun:.1f} s")


if __name__ == "__main__":
    main()
