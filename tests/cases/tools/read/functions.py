"""Functions of a file."""
from dataclasses import dataclass
from enum import Enum
from typing import Literal, Optional, TypedDict


class Color(Enum):
    RED = "red"
    BLUE = "blue"


class Options(TypedDict, total=False):
    size: int
    next: "Options"


@dataclass
class Point:
    x: float
    y: float = 0.0


def paint(what: str, color: Color, at: Point, *tags: str, mode: Literal["fast", "slow"] = "fast",
          options: Optional[Options] = None) -> bool:
    """Paints a thing.

    Args:
        what: what is painted, in words
        color (Color): its color
    """
    return True


async def wait(seconds: int | float, until=None, strange: Widget = 0, pair: tuple[int, str] = (1, "a")): ...


def book(day: datetime.date, at: time | None, slot: timedelta, id: uuid.UUID, price: "Decimal", key: bytes = b""): ...


def _private(x: int): ...
