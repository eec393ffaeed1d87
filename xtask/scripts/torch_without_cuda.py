#!/usr/bin/env python3
"""Writes stand-ins for the CUDA libraries that torch's wheel links to, so that torch can be imported without CUDA.

usage: torch_without_cuda.py   (with the Python in which torch is installed; needs readelf and gcc)

A stand-in defines the symbols that torch needs, as functions that return an error code; computations on the CPU call
none of them. The libraries of nvidia-cuda-runtime and nvidia-cuda-cupti are real, so they get no stand-ins. Existing
stand-ins are replaced.
"""

import collections
import re
import subprocess
import sysconfig
import tempfile
from pathlib import Path

REAL = {"libcudart.so.13", "libcupti.so.13"}
CUDA = re.compile(r"lib(cu|nccl|nvrtc|nvshmem_host|nvJit)")
PREFIXES = {
    "libcudnn.so.9": "cudnn",
    "libnccl.so.2": "nccl",
    "libcufile.so.0": "cuFile",
    "libcusparseLt.so.0": "cusparseLt",
    "libnvrtc.so.13": "nvrtc",
    "libcufft.so.12": "cufft",
    "libcusparse.so.12": "cusparse",
    "libcublas.so.13": "cublas",
    "libcublasLt.so.13": "cublasLt",
    "libcusolver.so.12": "cusolver",
}
"""For libraries whose symbols have no versions: the prefix by which their symbols are recognised."""

Symbols = dict[str | None, set[tuple[str, str | None]]]
"""The names and versions of symbols for each library; the key None has the symbols of unknown libraries."""


def readelf(option: str, file: Path) -> list[str]:
    return subprocess.run(["readelf", "-W", option, file], capture_output=True, text=True, check=True).stdout.splitlines()


def undefined(files: list[Path]) -> tuple[set[str], Symbols]:
    """Returns the libraries that `files` need, and the undefined symbols in them."""
    needed: set[str] = set()
    symbols: Symbols = collections.defaultdict(set)
    for file in files:
        needed |= set(re.findall(r"NEEDED.*\[(.*)\]", "\n".join(readelf("-d", file))))
        versions: dict[str, tuple[str, str]] = {}
        library = None
        for line in readelf("-V", file):
            if found := re.search(r"File: (\S+)", line):
                library = found[1]
            if library and (found := re.search(r"Name: (\S+)\s+Flags: \S+\s+Version: (\d+)", line)):
                versions[found[2]] = (library, found[1])
        for line in readelf("--dyn-syms", file):
            fields = line.split()
            if len(fields) < 8 or fields[6] != "UND":
                continue
            name = fields[7].split("@")[0]
            number = fields[8].strip("()") if len(fields) > 8 else ""
            library, version = versions.get(number, (None, None))
            symbols[library].add((name, version))
    return needed, symbols


def write(library: Path, symbols: set[tuple[str, str | None]]) -> None:
    library.unlink(missing_ok=True)
    versions = sorted({version for _, version in symbols if version})
    with tempfile.TemporaryDirectory() as scratch:
        code, script = Path(scratch, "a.c"), Path(scratch, "versions")
        code.write_text("".join(f"int {name}(void){{return 999;}}\n" for name, _ in sorted(symbols, key=str)) or "int stand_in;\n")
        command = ["gcc", "-shared", "-fPIC", "-w", code, "-o", library, f"-Wl,-soname,{library.name}"]
        if versions:
            names = {version: "; ".join(sorted(name for name, one in symbols if one == version)) for version in versions}
            script.write_text("".join(f"{version} {{ global: {names[version]}; }};\n" for version in versions))
            command.append(f"-Wl,--version-script={script}")
        subprocess.run(command, check=True)


def main() -> None:
    folder = Path(sysconfig.get_path("purelib"), "torch", "lib")
    files = [*folder.glob("libtorch*.so"), folder / "libc10_cuda.so", folder / "libcaffe2_nvrtc.so"]
    needed, symbols = undefined(files)
    wanted = {name for name in needed | {name for name in symbols if name} if CUDA.match(name)} | {"libnvshmem_host.so.3"}
    for name in sorted(wanted - REAL):
        found = symbols.get(name, set())
        if not found and name in PREFIXES:
            found = {(symbol, None) for symbol, _ in symbols[None] if symbol.startswith(PREFIXES[name])}
        write(folder / name, found)
    print(f"{len(wanted - REAL)} stand-ins in {folder}")


if __name__ == "__main__":
    main()
