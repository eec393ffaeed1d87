"""Compares what structural tags of many tools cost in each style of arguments, with JSON as the measure.

    cargo build --release --workspace --features ort --bin grammata
    python benches/tag_styles.py target/release/grammata

Each row is a set of tools. A figure is CPU time of the program, the median of RUNS runs of `grammata check` with a tag
and a short text, divided by that of the preset `hermes`, whose arguments are JSON.
"""

import json
import random
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

FAMILIES = ["hermes", "qwen_3_5", "minimax", "minimax_m3", "deepseek_v3_2", "glm_4_7", "cohere", "kimi_k3"]
RUNS = 5


def tool(name, properties):
    parameters = {"type": "object", "properties": properties, "additionalProperties": False}
    return {"type": "function", "function": {"name": name, "parameters": parameters}}


def with_string(count, string):
    """Tools with one string each, of one schema; the other member makes the schemas of the tools differ."""
    return [tool(f"tool_{at}", {"text": string, f"n{at}": {"type": "integer"}}) for at in range(count)]


def mixed(count):
    """Tools with 20 parameters of many kinds each."""
    draw = random.Random(3)
    kinds = [
        lambda: {"type": "string"},
        lambda: {"type": "string", "maxLength": draw.choice([64, 128, 256])},
        lambda: {"type": "string", "format": draw.choice(["date-time", "date", "email", "uuid", "uri"])},
        lambda: {"type": "string", "pattern": draw.choice(["^[a-z]+$", "^[A-Z]{3}-[0-9]{4}$", "^[0-9]{5}$"])},
        lambda: {"enum": ["a", "b", "c"]},
        lambda: {"type": "integer"},
        lambda: {"type": "number", "minimum": 0},
        lambda: {"type": "boolean"},
        lambda: {"type": "array", "items": {"type": "string"}},
        lambda: {"type": "object", "properties": {"x": {"type": "string"}}, "additionalProperties": False},
        lambda: {"type": ["string", "null"]},
    ]
    return [tool(f"tool_{at}", {f"p{n}": draw.choice(kinds)() for n in range(20)}) for at in range(count)]


SETS = {
    "200 tools with a date-time": with_string(200, {"type": "string", "format": "date-time"}),
    "200 tools with `maxLength: 256`": with_string(200, {"type": "string", "maxLength": 256}),
    "256 mixed tools of 20 parameters": mixed(256),
}


def cpu_time(program, family, tools, folder):
    file, tag = folder / "tools.json", folder / "tag.json"
    file.write_text(json.dumps(tools))
    options = ["--tools", file, "--choice", "required", "--reasoning", "disabled"]
    tag.write_text(subprocess.run([program, "tag", family, *options], check=True, capture_output=True, text=True).stdout)
    times = []
    for _ in range(RUNS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        run = subprocess.run([program, "check", tag, "--text", "x"], capture_output=True, text=True)
        assert run.returncode == 1, run.stderr
        times.append(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before)
    return statistics.median(times)


def main():
    program = sys.argv[1]
    print("| tools | " + " | ".join(f"`{family}`" for family in FAMILIES) + " |")
    print("|---|" + "--:|" * len(FAMILIES))
    with tempfile.TemporaryDirectory() as folder:
        for name, tools in SETS.items():
            times = [cpu_time(program, family, tools, Path(folder)) for family in FAMILIES]
            cells = [f"{1000 * times[0]:.0f} ms"] + [f"{time / times[0]:.1f}" for time in times[1:]]
            print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
