"""The blocks of docs/agents-python.md, and the parts of the examples that it shows."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs/agents-python.md"
EXAMPLES = ROOT / "bindings/agents/examples"
NAMES = ("langgraph", "pydantic_ai", "openai")


def blocks() -> list[tuple[str, str]]:
    """Each block of Python and its output."""
    return re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", PAGE.read_text(), re.DOTALL)


def own_blocks() -> list[tuple[str, str]]:
    """The blocks that need no framework."""
    return blocks()[: -len(NAMES)]


def example(name: str) -> Path:
    return EXAMPLES / f"{name}_library.py"


def shown(name: str) -> str:
    """The part of an example that the page shows."""
    _, text = example(name).read_text().split("# the example\n")
    return text.split("# the end of the example")[0].strip("\n") + "\n"


def shown_block(name: str) -> tuple[str, str]:
    """The block of an example on the page."""
    return blocks()[NAMES.index(name) - len(NAMES)]
