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

VERSION = "1.31.1"
# (system, machine) -> (platform tag of pip, SHA-256 of the wheel for CPython 3.12)
WHEELS = {
    ("Linux", "x86_64"): (
        "manylinux_2_28_x86_64",
        "1f3dea47f2f0e5117c2404cea7d21fd253ae7836a3bf167a501cdfbb2600d536",
    ),
    ("Linux", "aarch64"): (
        "manylinux_2_28_aarch64",
        "0b9a492176886992e0e875f06bc0367e333f5fff11711a2d642e18b02f3009cc",
    ),
    ("Darwin", "arm64"): (
        "macosx_14_0_arm64",
        "96dd2564b10ea7153ad9c207e7cd8e5917cb3ba521e0e0a62ac03486fdc8d56c",
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
