"""Random words of types: the type's own validator reads each word that the masks allow, or a warning was given.

`GRAMMATA_WORDS` is the number of words of each type.
"""

import collections
import datetime
import decimal
import enum
import fractions
import ipaddress
import os
import pathlib
import random
import re
import sys
import uuid
import warnings
import zoneinfo
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import InitVar, dataclass, field
from typing import Annotated, Any, Generic, Literal, NamedTuple, NewType, Optional, TypeVar, Union

import grammata
import pydantic
import pytest
from pydantic import Field, StringConstraints, UrlConstraints
from typing_extensions import NotRequired, TypeAliasType, TypedDict

COUNT = int(os.environ.get("GRAMMATA_WORDS", "25"))
END = 256
MORE = 60
"""Number of tokens that a word may have in addition to those of a shortest word."""



class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Mixed(enum.Enum):
    ONE = 1
    NAME = "x"
    HALF = 2.5
    YES = True
    NONE = None


class Pairs(enum.Enum):
    A = (1, 2)
    B = (3, 4)


class PartlyReadable(enum.Enum):
    A = (1, 2)
    B = "b"


class Cat(pydantic.BaseModel):
    kind: Literal["cat"] = "cat"
    meow: int


class Dog(pydantic.BaseModel, extra="forbid"):
    kind: Literal["dog", "hound"] = "dog"
    bark: bool = True


class Bird(pydantic.BaseModel):
    kind: Literal["bird"] = "bird"
    wing: Literal["short"] = "short"


class Penguin(pydantic.BaseModel):
    kind: Literal["bird"] = "bird"
    wing: Literal["none"] = "none"


Birds = Annotated[Union[Bird, Penguin], Field(discriminator="wing")]
Pet = Annotated[Union[Cat, Dog], Field(discriminator="kind")]
Animal = Annotated[Union[Pet, Birds], Field(discriminator="kind")]


class Aliased(pydantic.BaseModel, extra="forbid"):
    kind: Literal["a"] = Field("a", alias="the kind")


class AliasedToo(pydantic.BaseModel, extra="forbid"):
    kind: Literal["b"] = Field("b", alias="the kind")


class Owner(pydantic.BaseModel, extra="forbid"):
    pet: Pet
    pets: list[Pet] = []


@dataclass
class Left:
    side: Literal["l"] = "l"
    x: int = 0


@dataclass
class Right:
    side: Literal["r"] = "r"


def kind_of(value: Any) -> Any:
    return value.get("kind") if isinstance(value, dict) else None


Called = Annotated[
    Union[Annotated[Cat, pydantic.Tag("cat")], Annotated[Dog, pydantic.Tag("dog")]], pydantic.Discriminator(kind_of)
]


class Node(pydantic.BaseModel, extra="forbid"):
    kind: Literal["node"] = "node"
    next: "Annotated[Union[Node, Leaf], Field(discriminator='kind')] | None" = None


class Leaf(pydantic.BaseModel, extra="forbid"):
    kind: Literal["leaf"] = "leaf"


Node.model_rebuild()


@dataclass
class Initialised:
    x: InitVar[int]
    y: int
    z: int = field(init=False, default=3)
    w: InitVar[str] = "w"


@dataclass
class Positive:
    n: int

    def __post_init__(self) -> None:
        if self.n < 0:
            raise ValueError("n is negative")


@pydantic.dataclasses.dataclass
class OfPydantic:
    n: Annotated[int, Field(ge=0, le=20)]
    tags: dict[int, str] = Field(default_factory=dict)


class Row(TypedDict):
    id: uuid.UUID
    price: NotRequired[Annotated[decimal.Decimal, Field(gt=0, decimal_places=2)]]


class Point(NamedTuple):
    x: int
    y: float = 0.0


class Strict(pydantic.BaseModel, strict=True, extra="forbid"):
    n: int
    f: float
    when: datetime.date
    id: uuid.UUID
    keys: dict[int, bool]


class InPath(pydantic.BaseModel):
    x: int = Field(validation_alias=pydantic.AliasPath("a", 0))


class MaybeInPath(pydantic.BaseModel, extra="forbid"):
    x: int = Field(1, validation_alias=pydantic.AliasPath("a", 0))
    y: int = Field(validation_alias=pydantic.AliasChoices(pydantic.AliasPath("b", 0), "why"))


class ByName(pydantic.BaseModel, validate_by_name=True, validate_by_alias=False, extra="forbid"):
    x: int = Field(alias="an alias")


class Base64OfBytes(pydantic.BaseModel, val_json_bytes="base64", extra="forbid"):
    data: bytes
    some: Annotated[bytes, Field(min_length=2, max_length=6)]


class HexOfBytes(pydantic.BaseModel, val_json_bytes="hex", extra="forbid"):
    data: Annotated[bytes, Field(max_length=3)]


class Stripped(pydantic.BaseModel, str_strip_whitespace=True, str_min_length=1, str_max_length=6, extra="forbid"):
    name: str


class InPython(pydantic.BaseModel, regex_engine="python-re", extra="forbid"):
    plain: Annotated[str, Field(pattern=r"^[a-z]+-\d{2}$")]


class InPythonOnly(pydantic.BaseModel, regex_engine="python-re", extra="forbid"):
    back: Annotated[str, Field(pattern=r"^[^\W]+$")]


class NoInfinity(pydantic.BaseModel, allow_inf_nan=False, extra="forbid"):
    x: float


class EnumValues(pydantic.BaseModel, use_enum_values=True, extra="forbid"):
    color: Color
    level: Level


class Checked(pydantic.BaseModel, extra="forbid"):
    name: str

    @pydantic.field_validator("name")
    @classmethod
    def is_short(cls, name: str) -> str:
        assert len(name) < 3
        return name


class Initialising(pydantic.BaseModel, extra="forbid"):
    n: int
    _hidden: int = 1

    def model_post_init(self, context: Any) -> None:
        assert self.n > 10


class Hidden(pydantic.BaseModel, extra="forbid"):
    n: int
    _hidden: int = pydantic.PrivateAttr(default=1)


class Extra(pydantic.BaseModel, extra="allow"):
    __pydantic_extra__: dict[str, int]
    n: int


class Root(pydantic.RootModel[dict[datetime.date, int]]):
    pass


T = TypeVar("T")


class Box(pydantic.BaseModel, Generic[T], extra="forbid"):
    content: T


Name = NewType("Name", str)
Nested = TypeAliasType("Nested", "dict[str, Nested] | int")

Pattern = lambda pattern, **more: Annotated[str, Field(pattern=pattern, **more)]  # noqa: E731
D = decimal.Decimal

EXACT: list[Any] = [
    # numbers
    int,
    pydantic.StrictInt,
    pydantic.PositiveInt,
    Annotated[int, Field(multiple_of=3, ge=-9)],
    Annotated[int, Field(ge=2**62)],
    bool,
    float,
    pydantic.FiniteFloat,
    pydantic.StrictFloat,
    pydantic.NegativeFloat,
    Annotated[float, Field(lt=1)],
    Annotated[float, Field(ge=-1, le=1)],
    Annotated[float, Field(multiple_of=0.5)],
    NoInfinity,
    D,
    Annotated[D, Field(max_digits=6, decimal_places=2)],
    Annotated[D, Field(gt=0, lt=1)],
    pydantic.condecimal(ge=1, le=D("99.5"), decimal_places=2),
    fractions.Fraction,
    Annotated[fractions.Fraction, Field(gt=0, lt=1)],
    complex,
    pydantic.ByteSize,
    # strings
    str,
    Annotated[str, StringConstraints(ascii_only=True)],
    Annotated[str, StringConstraints(ascii_only=True, pattern="^..$")],
    Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)],
    Annotated[str, StringConstraints(strip_whitespace=True, max_length=3, pattern="^[a ]+$")],
    Annotated[str, StringConstraints(to_upper=True, pattern="^[a-c]+$")],
    Pattern(r"^\W$"),
    Pattern(r"^[[:alpha:]]$"),
    Pattern(r"^[a-z&&[^aeiou]]$"),
    Pattern(r"(?i)^straße$"),
    Pattern(r"^\d{2}\s\w$"),
    Pattern(r"^[^\d]$"),
    Pattern(r"^\p{Greek}+$", max_length=4),
    Pattern(r"^.$"),
    Pattern(r"b"),
    Annotated[str, Field(pattern=re.compile("^[a-c]{2}$"))],
    Stripped,
    InPython,
    bytes,
    Annotated[bytes, Field(min_length=1, max_length=3)],
    Base64OfBytes,
    HexOfBytes,
    pydantic.Base64Bytes,
    pydantic.Base64UrlBytes,
    pydantic.Base64Str,
    pydantic.Base64UrlStr,
    pydantic.SecretStr,
    pydantic.SecretBytes,
    pydantic.Secret[int],
    pydantic.Json[int],
    pydantic.Json[bool],
    pathlib.Path,
    Name,
    # times
    datetime.date,
    datetime.datetime,
    datetime.time,
    datetime.timedelta,
    pydantic.NaiveDatetime,
    pydantic.AwareDatetime,
    zoneinfo.ZoneInfo,
    # identifiers
    uuid.UUID,
    pydantic.UUID1,
    pydantic.UUID4,
    pydantic.UUID7,
    pydantic.EmailStr,
    pydantic.NameEmail,
    ipaddress.IPv4Address,
    ipaddress.IPv6Address,
    ipaddress.IPv4Network,
    ipaddress.IPv6Network,
    ipaddress.IPv4Interface,
    ipaddress.IPv6Interface,
    pydantic.IPvAnyAddress,
    pydantic.IPvAnyNetwork,
    pydantic.IPvAnyInterface,
    pydantic.AnyUrl,
    pydantic.AnyHttpUrl,
    pydantic.HttpUrl,
    pydantic.FileUrl,
    pydantic.FtpUrl,
    pydantic.WebsocketUrl,
    pydantic.AnyWebsocketUrl,
    pydantic.PostgresDsn,
    pydantic.CockroachDsn,
    pydantic.AmqpDsn,
    pydantic.RedisDsn,
    pydantic.MongoDsn,
    pydantic.KafkaDsn,
    pydantic.NatsDsn,
    pydantic.MySQLDsn,
    pydantic.MariaDBDsn,
    pydantic.ClickHouseDsn,
    pydantic.SnowflakeDsn,
    Annotated[pydantic.AnyUrl, UrlConstraints(allowed_schemes=["git+ssh", "file"], max_length=40)],
    # listed values
    Literal["a", 1, None, True],
    Color,
    Level,
    Mixed,
    PartlyReadable,
    # collections
    list[int],
    set[str],
    frozenset[int],
    Annotated[set[int], Field(min_length=2, max_length=3)],
    tuple[int, str],
    tuple[()],
    tuple[int, ...],
    collections.deque[int],
    Sequence[bool],
    Iterable[int],
    collections.Counter[str],
    collections.defaultdict[str, list[int]],
    collections.OrderedDict[str, int],
    Mapping[str, int],
    dict[str, Any],
    dict[int, str],
    dict[Annotated[int, Field(ge=1)], bool],
    dict[Annotated[int, Field(ge=-2, le=2)], bool],
    dict[bool, int],
    dict[float, int],
    dict[D, int],
    dict[datetime.date, int],
    dict[datetime.datetime, int],
    dict[uuid.UUID, int],
    dict[Level, int],
    dict[Color, int],
    dict[Mixed, int],
    dict[Literal["a", 1, True], int],
    dict[ipaddress.IPv4Address, int],
    dict[pydantic.HttpUrl, int],
    dict[Annotated[str, Field(pattern=r"^\d+$")], int],
    dict[Annotated[str, Field(min_length=2, max_length=3)], int],
    dict[Optional[int], int],
    dict[Union[int, Color], int],
    Annotated[dict[int, bool], Field(min_length=1, max_length=2)],
    dict[pydantic.NegativeInt, int],
    dict[pydantic.Json[int], int],
    dict[pydantic.EmailStr, int],
    dict[fractions.Fraction, int],
    Annotated[D, Field(ge=D("1e20"))],
    Annotated[float, Field(gt=0, lt=1e-300)],
    Annotated[float, Field(ge=0.1, lt=0.3)],
    Annotated[ipaddress.IPv6Network, pydantic.Strict()],
    Pattern(r"(?x) a b # c"),
    Pattern(r"\bcat\b"),
    EnumValues,
    # classes
    Cat,
    Pet,
    Birds,
    Animal,
    Owner,
    Annotated[Union[Aliased, AliasedToo], Field(discriminator="kind")],
    Annotated[Union[Left, Right], Field(discriminator="side")],
    list[Animal],
    Node,
    Initialised,
    OfPydantic,
    Row,
    Point,
    Strict,
    MaybeInPath,
    ByName,
    Hidden,
    Extra,
    Root,
    Box[dict[int, bool]],
    Nested,
    pydantic.JsonValue,
    Any,
    Optional[Pet],
]
"""Types without a warning: each word is read."""

ODD: list[tuple[Any, str]] = [
    (Called, "kind_of: the discriminator"),
    (InPath, "AliasPath"),
    (InPythonOnly, "Python's `re`"),
    (Annotated[str, Field(pattern=re.compile("a", re.IGNORECASE))], "Python's `re`"),
    (Checked, "Checked.is_short"),
    (Initialising, "Initialising.model_post_init"),
    (Positive, "Positive.__post_init__"),
    (Annotated[list[Positive], Field(max_length=2)], "Positive.__post_init__"),
    (Annotated[int, pydantic.AfterValidator(abs)], "abs: a validator"),
    (Annotated[datetime.date, Field(ge=datetime.date(2020, 1, 1))], "date: ge"),
    (pydantic.PastDate, "date: now_op"),
    (pydantic.FutureDatetime, "datetime: now_op"),
    (Annotated[datetime.timedelta, Field(le=datetime.timedelta(1))], "timedelta: le"),
    (pydantic.Json[list[int]], "Json:"),
    (pydantic.Json[Annotated[int, Field(ge=3)]], "Json:"),
    (Pairs, "Pairs: Pydantic reads no JSON value"),
    (Literal[Color.RED], "Literal: Pydantic reads no JSON value"),
    (list[Literal[b"a"]], "Literal: Pydantic reads no JSON value"),
    (set[Any], "set: the items"),
    (Annotated[set[float], Field(min_length=2)], "set: min_length"),
    (re.Pattern, "pattern_either_validator"),
    (pydantic.ImportString, "import_string"),
    (pydantic.FilePath, "PathType.validate_file"),
    (dict[tuple[int, int], int], "dict: no name"),
    (dict[Annotated[int, Field(le=-7)], int], "dict: bounds of keys"),
    (dict[Annotated[D, Field(le=7)], int], "dict: bounds of keys"),
    (object, "object"),
]
"""Types with a warning that names the reason."""


def words(type_: Any, count: int) -> tuple[list[str], list[str]]:
    """Random words of a type with white space left out, and the texts of the warnings. The masks are within a budget, so
    that each word has an end."""
    vocabulary = grammata.Vocabulary.from_tokens([*(bytes([byte]) for byte in range(256)), None], specials={"<end>": END}, eos=END)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        grammar = grammata.Compiler(vocabulary).compile_json_schema(type_, whitespace="compact")
    found = random_texts(grammar, count)
    return found, [str(one.message) for one in caught if issubclass(one.category, grammata.TypeWarning)]


def adapter(type_: Any) -> Callable[[str], Any]:
    return pydantic.TypeAdapter(type_).validate_json


def identifier(case: Any) -> str:
    return re.sub(r" at 0x\w+|typing\.|pydantic\.|FieldInfo|annotation=NoneType, required=True, ", "", str(case))[:100]


@pytest.mark.parametrize("type_", EXACT, ids=identifier)
def test_types_read_all_their_words(type_: Any) -> None:
    found, warned = words(type_, COUNT)
    assert not warned
    read = adapter(type_)
    for word in found:
        read(word)
    assert len(set(found)) > 1 or type_ in (tuple[()], PartlyReadable) or COUNT < 10


@pytest.mark.parametrize(("type_", "reason"), ODD, ids=lambda case: identifier(case))
def test_types_that_refuse_words_warn_with_the_reason(type_: Any, reason: str) -> None:
    found, warned = words(type_, 3)
    assert len(warned) == 1 and reason in warned[0], warned
    assert not re.search("0x[0-9a-f]{6}", warned[0])
    assert found


def test_the_table_is_long_enough() -> None:
    assert len(EXACT) >= 100 and len(ODD) >= 20


PATTERNS: list[tuple[str, bool, bool]] = [
    # (pattern, means the same for ECMA-262 and Rust, is within Python's meaning)
    ("^[a-z]+(-[a-z]+)*$", True, True),
    (r"^(?:a|b\.c){2,3}?$", True, True),
    (r"[^A-F.]x", True, True),
    ("^é ü$", True, True),
    (r"^\d\w.$", False, True),
    (r"^[\d.]+\n$", False, True),
    (r"^\s$", False, False),
    (r"^[^\d]$", False, False),
    (r"^\W$", False, False),
    ("(?x) a b", False, False),
    ("(?i)a", False, False),
    ("^(?!a)b$", False, False),
    ("^(?P<y>a)$", False, False),
    ("^a*+$", False, False),
    ("^a{2}{3}$", False, False),
    ("^[a&&b]$", False, False),
    ("^[[:alpha:]]$", False, False),
    ("^[]a]$", False, False),
    (r"\bcat", False, False),
    ("^a$|^b", False, False),
    (r"^\1$", False, False),
]


@pytest.mark.parametrize(("pattern", "is_same", "is_within"), PATTERNS)
def test_patterns_that_mean_the_same(bytewise: grammata.Compiler, pattern: str, is_same: bool, is_within: bool) -> None:
    from grammata import _strings

    assert (_strings.means_the_same(pattern), _strings.is_within_python(pattern)) == (is_same, is_within)
    if not is_within:
        return
    dialects = [bytewise.compile_regex(pattern, dialect=dialect, search=True) for dialect in ("ecma", "rust")]
    for grammar in dialects:
        for word in (one.encode() for one in random_texts(grammar, 30)):
            if grammar is dialects[0] or is_same:
                assert re.search(pattern, word.decode())
                matchers = [one.matcher() for one in dialects]
                assert all(one.try_accept_bytes(word) and one.is_accepting() for one in matchers), word


def random_texts(grammar: grammata.CompiledGrammar, count: int) -> list[str]:
    """Random words of a grammar over bytes that are UTF-8."""
    shortest = grammar.matcher().distance().known
    assert shortest is not None
    length, generator, found = shortest + MORE, random.Random(7), []
    while len(found) < count:
        matcher, text = grammar.matcher(), bytearray()
        while True:
            ids = matcher.mask_within(length - len(text)).ids()
            if END in ids and (len(ids) == 1 or generator.random() < 0.3):
                break
            token = generator.choice([token for token in ids if token != END])
            matcher.accept_token(token)
            text.append(token)
        found.append(text.decode())
    return found


@pytest.mark.skipif(sys.version_info < (3, 11), reason="unpacked tuples are written so from Python 3.11 on")
def test_tuples_with_items_after_a_variable_number() -> None:
    type_ = eval("tuple[int, *tuple[str, ...], bool]")
    found, warned = words(type_, COUNT)
    assert not warned
    for word in found:
        adapter(type_)(word)
