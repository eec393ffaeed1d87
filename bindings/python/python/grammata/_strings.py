"""JSON Schemas of strings that Pydantic's types read: addresses, mails, networks, base64, patterns.

Each schema allows only strings that the type reads. Most types read further spellings, which the schemas do not allow.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterable
from typing import Any

SHORT = 500
"""Number of characters that a short URL does not reach."""

RUST_PATTERN = "x-grammata-pattern"
"""The keyword for a regular expression in the dialect of Rust's regex crate."""

ASCII = r"^[\x00-\x7F]*$"

_LABEL = "[A-Za-z0-9]+(-[A-Za-z0-9]+)*"
_OCTET = "(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
_IPV4 = rf"{_OCTET}(\.{_OCTET}){{3}}"
# the last label begins with a letter: a number would be a part of an IPv4 address
_HOST = rf"(({_LABEL}\.)*[A-Za-z][A-Za-z0-9]*(-[A-Za-z0-9]+)*|{_IPV4})"
_PORT = "(:([1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}))?"
_USER = r"([A-Za-z0-9._~-]+(:[A-Za-z0-9._~!*+-]*)?@)?"
_CHARACTER = r"([A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})"
_PATH = rf"(/{_CHARACTER}*)*"
_REST = rf"{_PATH}(\?({_CHARACTER}|[/?])*)?(#({_CHARACTER}|[/?])*)?"
_AFTER_SCHEME = f"://{_USER}{_HOST}{_PORT}{_REST}"
_OPAQUE = rf"(mailto|news|sms|tel|urn):{_CHARACTER}+"

_GROUP = "[0-9A-Fa-f]{1,4}"
_IPV6 = f"({_GROUP}:){{7}}{_GROUP}"
_BITS_OF_IPV6 = "(12[0-8]|1[01][0-9]|[1-9]?[0-9])"


def matching(pattern: str) -> dict[str, Any]:
    return {"type": "string", "pattern": f"^({pattern})$"}


def url(schemes: Iterable[str] | None, max_length: int | None) -> dict[str, Any]:
    """The schema of absolute URLs with one of these schemes, or with any scheme."""
    file = f"file:///{_CHARACTER}*{_PATH}"
    if schemes is None:
        forms = [f"(?![Ff][Ii][Ll][Ee]:)[A-Za-z][A-Za-z0-9+.-]*{_AFTER_SCHEME}", file, _OPAQUE]
    else:
        names = list(schemes)
        with_host = _any_of(name for name in names if name != "file")
        forms = ([f"({with_host}){_AFTER_SCHEME}"] if with_host else []) + ([file] if "file" in names else [])
    schema = matching("|".join(forms))
    return schema if max_length is None else {**schema, "maxLength": max_length}


def short_url(schemes: Iterable[str]) -> dict[str, Any]:
    """The schema of URLs of less than `SHORT` characters with one of these schemes, without users and queries."""
    label = "[A-Za-z0-9]{1,20}"
    host = rf"({label}\.){{0,4}}[A-Za-z][A-Za-z0-9]{{0,20}}"
    return matching(rf"({_any_of(schemes)})://{host}{_PORT}(/[A-Za-z0-9._~-]{{0,30}}){{0,8}}")


def _any_of(schemes: Iterable[str]) -> str:
    return "|".join(re.escape(name).replace(r"\-", "-") for name in schemes)


def email() -> dict[str, Any]:
    """The schema of mail addresses that the package `email_validator` reads: a domain has a dot and no reserved name."""
    local = "[A-Za-z0-9]{1,15}([._+-][A-Za-z0-9]{1,15}){0,3}"
    label = "[A-Za-z0-9]{1,15}(-[A-Za-z0-9]{1,15}){0,2}"
    reserved = "(arpa|invalid|local|localhost|onion|test)$"
    return {"type": "string", "pattern": rf"^{local}@({label}\.){{1,3}}(?!{reserved})[a-z]{{2,24}}$"}


NETWORKS: dict[str, dict[str, Any]] = {
    "ip_v4_address": {"type": "string", "format": "ipv4"},
    "ip_v6_address": {"type": "string", "format": "ipv6"},
    "ip_v4_interface": matching(rf"{_IPV4}(/(3[0-2]|[12]?[0-9]))?"),
    "ip_v6_interface": matching(f"({_IPV6}|({_GROUP}:){{4}}:{_GROUP})(/{_BITS_OF_IPV6})?"),
    # no bit after the prefix is set
    "ip_v4_network": matching(
        rf"{_OCTET}\.0\.0\.0/8|({_OCTET}\.){{2}}0\.0/16|({_OCTET}\.){{3}}0/24|{_IPV4}(/32)?"
    ),
    "ip_v6_network": matching(f"({_GROUP}:){{2}}:/32|({_GROUP}:){{3}}:/48|({_GROUP}:){{4}}:/64|{_IPV6}(/128)?"),
}
"""The schemas of addresses, interfaces and networks of the module `ipaddress`."""


def either(kind: str) -> dict[str, Any]:
    """The schema of an address, interface or network of IPv4 or IPv6."""
    return {"anyOf": [dict(NETWORKS[f"ip_v4_{kind}"]), dict(NETWORKS[f"ip_v6_{kind}"])]}


def base64(last: str, is_text: bool) -> dict[str, Any]:
    """The schema of base64 whose last two letters are `last`. For a text, it is that of ASCII."""
    letters = string.ascii_uppercase + string.ascii_lowercase + string.digits + last

    def some(mask: int, limit: int = 64) -> str:
        """A class of the letters whose number is below `limit` and has no bit of `mask`."""
        return "[" + "".join(letters[number] for number in range(limit) if not number & mask).replace("-", r"\-") + "]"

    first, second, third = (some(0, 32), some(8), some(2)) if is_text else (some(0),) * 3
    whole = f"({first}{second}{third}{some(0)})*"
    tail = f"({first}{some(15)}==|{first}{some(8 * is_text)}{some(3)}=)?"
    return {"type": "string", "pattern": f"^{whole}{tail}$"}


_LITERAL = r"[^\\.$^()\[\]{}|?*+]|\\[-/.$^()\[\]{}|?*+]"
_CLASS = r"\[\^?(?:[A-Za-z0-9_ ](?:-[A-Za-z0-9])?|[.,:;!?/@#%=<>'\"+*]|\\[-/.\[\]])+-?\]"
_GROUP_OF_PATTERN = r"\((?:\?:|(?!\?))|\)|\|"
_QUANTIFIER = r"(?:[*+?]|\{\d+(?:,\d*)?\})\??(?![*+?{])"
_SAME = re.compile(rf"\^?(?:{_LITERAL}|{_CLASS}|{_GROUP_OF_PATTERN}|{_QUANTIFIER})*\$?")
_ESCAPES = r"\\[dwntr]|\[(?:\\[dw]|[A-Za-z0-9_ .](?:-[A-Za-z0-9])?)+\]|\."
_IN_PYTHON = re.compile(rf"\^?(?:{_LITERAL}|{_CLASS}|{_ESCAPES}|{_GROUP_OF_PATTERN}|{_QUANTIFIER})*\$?")


def means_the_same(pattern: str) -> bool:
    """Whether a pattern means the same for ECMA-262 and Rust's regex crate, by its form."""
    return _SAME.fullmatch(pattern) is not None


def is_within_python(pattern: str) -> bool:
    """Whether all strings that ECMA-262 matches are matched by the module `re`, by the pattern's form."""
    return _IN_PYTHON.fullmatch(pattern) is not None
