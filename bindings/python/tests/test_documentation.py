"""The examples of docstrings, the README, docs/python.md and the tutorial run; and all public names have docstrings."""

import doctest
import inspect
import json
import re
import subprocess
import sys
from types import ModuleType

import grammata
import grammata._native
import grammata._schemas
import pytest

NATIVE = [item for item in vars(grammata._native).values() if inspect.isclass(item) or inspect.isroutine(item)]


@pytest.mark.parametrize("module", [grammata, grammata._schemas], ids=lambda module: module.__name__)
def test_docstrings_of_python(module: ModuleType):
    found = doctest.testmod(module)
    assert found.attempted > 0 and found.failed == 0


@pytest.mark.parametrize("item", NATIVE, ids=lambda item: item.__name__)
def test_docstrings_of_the_extension(item):
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner()
    members = [(item.__name__, item)]
    if inspect.isclass(item):
        members += [(f"{item.__name__}.{name}", one) for name, one in vars(item).items()]
    for name, member in members:
        doc = inspect.getdoc(member) or ""
        if not name.split(".")[-1].startswith("__"):
            assert doc and ">>>" in doc or "." in name or name.startswith("_"), f"{name} has no example"
            assert doc, f"{name} is not described"
        runner.run(parser.get_doctest(doc, {}, name, None, 0))
    assert runner.failures == 0


def blocks(text: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", text, re.DOTALL)


def test_blocks_of_the_pages_run(root, tmp_path, monkeypatch):
    """The blocks of a page run in one namespace, in a folder with the tokenizer and a model's folder."""
    (tmp_path / "tokenizer.json").symlink_to(root / "tests/data/smollm2/tokenizer.json")
    monkeypatch.chdir(tmp_path)
    pages = [root / "bindings/python/README.md", root / "docs/python.md", root / "docs/tutorial.md"]
    for page in pages:
        namespace: dict[str, object] = {}
        found = [block for block in blocks(page.read_text()) if "model.onnx" not in block]
        assert found, page
        for block in found:
            exec(compile(block, str(page), "exec"), namespace)


def test_the_block_of_the_readme_runs(root, monkeypatch, capsys):
    (block,) = blocks((root / "README.md").read_text())
    monkeypatch.chdir(root)
    exec(compile(block, "README.md", "exec"), {})
    assert capsys.readouterr().out in ['"yes"\n', '"no"\n']


def test_the_quick_start_generates(root):
    if not (root / ".models/smollm2/model.onnx").exists():
        pytest.skip("there is no model: `cargo xtask setup` makes one")
    pytest.importorskip("onnxruntime")
    example = "bindings/python/examples/quick_start.py"
    ran = subprocess.run([sys.executable, example], cwd=root, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert set(json.loads(ran.stdout)) == {"name", "age"}
