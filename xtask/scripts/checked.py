"""Checks files by their SHA-256: wheels from PyPI, and folders with a SHA256SUMS. Needs only the standard library.

usage: checked.py FOLDER   (exits with 0 if FOLDER/SHA256SUMS exists and every file that it lists has its checksum)
"""

import glob
import hashlib
import os
import subprocess
import sys


def sha256(path):
    """Returns the SHA-256 of a file in hexadecimal."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def download(requirement, expected, folder, options=()):
    """Downloads the wheel of `requirement` (name==version) into `folder`, and returns its path.

    Ends the program if the wheel's SHA-256 is not `expected`.
    """
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    command += ["--no-deps", "--only-binary=:all:", "--dest", folder, *options, requirement]
    print(f"  pip download {requirement}", flush=True)
    subprocess.run(command, check=True)
    (path,) = glob.glob(os.path.join(folder, "*.whl"))
    found = sha256(path)
    if found != expected:
        sys.exit(f"{os.path.basename(path)} has the SHA-256 {found}, expected {expected}: not used")
    return path


def seal(folder, names):
    """Writes SHA256SUMS for the files `names` in `folder`. Call it last: the file means that the folder is complete."""
    with open(os.path.join(folder, "SHA256SUMS"), "w", encoding="ascii") as file:
        for name in names:
            path = os.path.join(folder, name)
            digest = sha256(path)
            file.write(f"{digest}  {name}\n")
            print(f"  {digest}  {path}")


def whole(folder):
    """Whether `folder` has a SHA256SUMS that is not empty, and every file listed there has its checksum."""
    try:
        with open(os.path.join(folder, "SHA256SUMS"), encoding="ascii") as file:
            sums = [line.split() for line in file]
        return bool(sums) and all(sha256(os.path.join(folder, name)) == digest for digest, name in sums)
    except (OSError, ValueError):
        return False


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(0 if whole(sys.argv[1]) else 1)
