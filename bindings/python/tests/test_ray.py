"""The example on a Ray cluster, if ray is installed (it is large, and continuous integration does not install it)."""

import json
import subprocess
import sys

import grammata
import pytest


def test_a_folder_becomes_an_archive(compiler, root, tmp_path):
    pytest.importorskip("ray")
    schemas, masks, file = tmp_path / "schemas", tmp_path / "masks", tmp_path / "all.gmasks"
    schemas.mkdir()
    for place in range(20):
        (schemas / f"{place}.json").write_text(json.dumps({"const": place}))
    (schemas / "wrong.json").write_text('{"type": "strin"}')
    (schemas / "binary.json").write_bytes(b"\xff\xfe")
    command = [sys.executable, str(root / "bindings/python/examples/ray_compile.py"), str(schemas), str(masks), str(file)]
    command += ["--tokenizer", str(root / "tests/data/smollm2/tokenizer.json"), "--workers", "2", "--states", "20"]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.startswith("22 of 22 schemas, 0 done before: 20 mask files"), ran.stdout
    assert ran.stdout.splitlines()[-1].startswith("an archive of 20 mask files"), ran.stdout
    archive = grammata.Archive.open(file)
    assert set(archive) == {str(place) for place in range(20)}
    assert compiler.load(archive["7"]).matcher().forced_bytes() == b"7"
    content = file.read_bytes()
    refused = {line["schema"]: line["code"] for line in map(json.loads, (masks / "refused.jsonl").read_text().splitlines())}
    assert refused.keys() == {"wrong", "binary"} and refused["binary"] == "file"
    # existing files are kept
    ran = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert ran.stdout.startswith("2 of 2 schemas, 20 done before: 0 mask files"), ran.stdout
    assert file.read_bytes() == content
