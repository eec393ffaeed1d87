"""The library of the examples: its procedure, its APIs, and the script of a model that skips steps."""

from pathlib import Path
from typing import Any

from grammata_agents import Procedure

PROCEDURE = Procedure.from_file(Path(__file__).parents[3] / "grammars/procedures/library_loan.yaml")
REQUEST = "I am R123 and would like to borrow Emma."
SCRIPT: list[tuple[str, dict[str, Any]]] = [
    ("lend", {"reader": "R123", "title": "Emma"}),  # refused: nothing is known about the reader
    ("check_reader", {"reader": "R999"}),  # refused: nobody said this value
    ("check_reader", {"reader": "R123"}),
    ("find_title", {"title": "Emma"}),
    ("lend", {"reader": "R123", "title": "Emma"}),
]


def check_reader(reader: str) -> dict[str, Any]:
    return {"fines": 0}


def find_title(title: str) -> dict[str, Any]:
    return {"copies": 2}


def lend(reader: str, title: str) -> dict[str, Any]:
    return {"due": "Monday"}


def reserve(reader: str, title: str) -> dict[str, Any]:
    return {"place_in_queue": 1}


APIS = {api.__name__: api for api in (check_reader, find_title, lend, reserve)}
