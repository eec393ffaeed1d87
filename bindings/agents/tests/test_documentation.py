"""The blocks of docs/agents-python.md run, print what the page says, and are parts of the examples."""

import contextlib
import io

import pytest
from pages import NAMES, PAGE, blocks, own_blocks, shown, shown_block


def test_blocks_of_the_page_print_what_it_says():
    namespace: dict[str, object] = {}
    for block, expected in own_blocks():
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(block, str(PAGE), "exec"), namespace)
        assert printed.getvalue() == expected
    assert len(blocks()) == 5 + len(NAMES) == PAGE.read_text().count("```python")


def test_the_block_of_the_readme_runs(root):
    _, block, _ = (root / "bindings/agents/README.md").read_text().split("```")
    exec(block.removeprefix("python"), {})


@pytest.mark.parametrize("name", NAMES)
def test_the_page_shows_the_examples(name):
    assert shown_block(name)[0] == shown(name)
