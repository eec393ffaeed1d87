"""Downloads one wheel through pip and checks its SHA-256; shared by the fetch scripts. Standard library only."""

import glob
import hashlib
import os
import subprocess
import sys


def sha256(path):
    """The SHA-256 of a file, in hexadecimal."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def download(requirement, expected, folder, options=()):
    """Downloads `requirement` (name==version) into `folder`, checks it against `expected`, returns its path."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    command += ["--no-deps", "--only-binary=:all:", "--dest", folder, *options, requirement]
    print(f"  pip download {requirement}", flush=True)
    subprocess.run(command, check=True)
    (path,) = glob.glob(os.path.join(folder, "*.whl"))
    found = sha256(path)
    if found != expected:
        sys.exit(f"{os.path.basename(path)} has the SHA-256 {found}, expected {expected}: not used")
    return path
