"""The values of `format` that the cases use. Each function says whether a string has the format.

Host names are checked by their letters and lengths; internationalised names are not decoded.
"""

import datetime
import ipaddress
import re

DATE = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")
TIME = re.compile(r"([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.[0-9]+)?(?:[zZ]|([+-])([0-9]{2}):([0-9]{2}))")
UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
LABEL = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?")
LOCAL = re.compile(r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*")
QUOTED = re.compile(r'"(?:[\x20-\x21\x23-\x5b\x5d-\x7e]|\\[\x20-\x7e])*"')
DURATION = re.compile(
    r"P(?:[0-9]+W|(?=[0-9T])(?:[0-9]+Y(?:[0-9]+M(?:[0-9]+D)?)?|[0-9]+M(?:[0-9]+D)?|[0-9]+D)?"
    r"(?:T(?:[0-9]+H(?:[0-9]+M(?:[0-9]+S)?)?|[0-9]+M(?:[0-9]+S)?|[0-9]+S))?)"
)


def date(text):
    found = DATE.fullmatch(text)
    if not found:
        return False
    try:
        # Python has no year 0; the year 4 has the same days
        datetime.date(int(found[1]) or 4, int(found[2]), int(found[3]))
    except ValueError:
        return False
    return True


def time(text):
    found = TIME.fullmatch(text)
    if not found:
        return False
    hour, minute, second = (int(found[at]) for at in (1, 2, 3))
    hours, minutes = int(found[5] or 0), int(found[6] or 0)
    if hour > 23 or minute > 59 or second > 60 or hours > 23 or minutes > 59:
        return False
    # a leap second is the last second of a day in UTC
    offset = (hours * 60 + minutes) * (-1 if found[4] == "-" else 1)
    return second < 60 or (hour * 60 + minute - offset) % 1440 == 1439


def date_time(text):
    return len(text) > 10 and text[10] in "Tt" and date(text[:10]) and time(text[11:])


def _address(kind):
    def check(text):
        try:
            kind(text)
        except ValueError:
            return False
        return "%" not in text

    return check


def hostname(text):
    return 0 < len(text) < 254 and all(LABEL.fullmatch(label) for label in text.split("."))


def email(text):
    local, at, domain = text.rpartition("@")
    if not (at and (LOCAL.fullmatch(local) or QUOTED.fullmatch(local))):
        return False
    if domain.startswith("[") and domain.endswith("]"):
        literal = domain[1:-1]
        return FORMATS["ipv6"](literal[5:]) if literal.startswith("IPv6:") else FORMATS["ipv4"](literal)
    return hostname(domain)


FORMATS = {
    "date": date,
    "time": time,
    "date-time": date_time,
    "duration": lambda text: DURATION.fullmatch(text) is not None,
    "uuid": lambda text: UUID.fullmatch(text) is not None,
    "ipv4": _address(ipaddress.IPv4Address),
    "ipv6": _address(ipaddress.IPv6Address),
    "hostname": hostname,
    "email": email,
}
