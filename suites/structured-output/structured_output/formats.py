"""The values of `format` that the cases use. Each function says whether a string has the format."""

import datetime
import ipaddress
import re

DATE = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")
TIME = re.compile(r"([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.[0-9]+)?(?:[zZ]|[+-]([0-9]{2}):([0-9]{2}))")
UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
LABEL = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?")
LOCAL = re.compile(r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*")
DURATION = re.compile(
    r"P(?:[0-9]+W|(?=[0-9T])(?:[0-9]+Y)?(?:[0-9]+M)?(?:[0-9]+D)?(?:T(?=[0-9])(?:[0-9]+H)?(?:[0-9]+M)?(?:[0-9]+S)?)?)"
)
URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?:[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*")


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
    offset_is_right = found[4] is None or (int(found[4]) < 24 and int(found[5]) < 60)
    # a leap second is allowed at any time of day, since its offset need not be known here
    return hour < 24 and minute < 60 and second < 61 and offset_is_right


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
    return bool(at and LOCAL.fullmatch(local) and hostname(domain))


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
    "uri": lambda text: URI.fullmatch(text) is not None,
}
