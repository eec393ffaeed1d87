#!/usr/bin/env python3
"""Copies the shared library of ONNX Runtime from the PyPI wheel into a folder, without installing a Python package.

usage: onnxruntime.py DEST

Needs only the standard library. The wheel's SHA-256 is checked before any of its files is written.
"""

import os
import platform
import sys
import tempfile
import zipfile

import checked

VERSION = "1.32.0"
# (system, machine) -> (platform tag of pip, SHA-256 of the wheel for CPython 3.12)
WHEELS = {
    ("Linux", "x86_64"): (
        "manylinux_2_28_x86_64",
        "99e1074c4b2197accd5073052a465361be17b89c093b8ffb6e6bd8f986c52df8",
    ),
    ("Linux", "aarch64"): (
        "manylinux_2_28_aarch64",
        "e36c187006e7a7c8b8d6d57f1a209dd63f52430dca6c282b177718ad6b841054",
    ),
    ("Darwin", "arm64"): (
        "macosx_14_0_arm64",
        "d52510bbbcc880c13b826f7d75cdf33ac5cf0bb864d960000fc29ce73f0cb83e",
    ),
}


def main(destination):
    machine = (platform.system(), platform.machine())
    if machine not in WHEELS:
        sys.exit(f"no ONNX Runtime wheel is pinned for {machine}; install {VERSION} and set ORT_DYLIB_PATH to its library")
    tag, digest = WHEELS[machine]
    os.makedirs(destination, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        options = ["--python-version", "3.12", "--implementation", "cp", "--platform", tag]
        path = checked.download(f"onnxruntime=={VERSION}", digest, scratch, options)
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                base = os.path.basename(name)
                library = name.startswith("onnxruntime/capi/libonnxruntime.")
                if library:
                    # the name has no version, so that the library can be found without knowing the version
                    base = "libonnxruntime.dylib" if base.endswith(".dylib") else "libonnxruntime.so"
                if library or base in ("LICENSE", "ThirdPartyNotices.txt"):
                    # write to a temporary file and rename it, so that an interruption leaves no incomplete library
                    target = os.path.join(destination, base)
                    with open(target + ".part", "wb") as file:
                        file.write(archive.read(name))
                    os.replace(target + ".part", target)
                    print(f"  {target}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
