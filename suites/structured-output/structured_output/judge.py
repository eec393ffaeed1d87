"""Decides the class of a case from what the server answered.

Each decision is about the server. No decision relies on what the model behind it would write.
"""

import re
import threading
import time
from dataclasses import dataclass

from . import answers, partial, sse
from .client import Client, Transport
from .validator import Validator
from .values import NotJson, parse, short
from .ways import Request

PASS, REFUSED, UNPLACED, IGNORED, WRONG = "pass", "refused", "unplaced", "ignored", "wrong"
ERROR, TRANSPORT, UNDECIDED = "error", "transport", "undecided"
CLASSES = (PASS, REFUSED, UNPLACED, IGNORED, WRONG, ERROR, TRANSPORT, UNDECIDED)
# The classes that do not fail a run.
GOOD = (PASS, REFUSED)

ODD_SHAPE = (answers.Malformed, AttributeError, KeyError, TypeError, IndexError, ValueError)


@dataclass(frozen=True)
class Outcome:
    """The class of a case and the reason, in one line."""

    kind: str
    reason: str


class Early(Exception):
    """The case is decided before an answer was read."""

    def __init__(self, kind, reason):
        super().__init__(reason)
        self.outcome = Outcome(kind, reason)


# Names that say nothing about the place of an error, since messages contain them as words.
COMMON = {"type", "name", "model", "role", "content", "text", "format", "input", "value", "title", "not", "if", "then"}
COMMON |= {"else", "items", "required", "user", "stream", "function", "default", "strict", "description"}


def places(request):
    """Returns the names in a request that an error may name: members, keywords, and values of `format` and `type`."""
    found = set()

    def walk(value):
        if isinstance(value, dict):
            for name, member in value.items():
                found.add(name)
                if name in ("format", "type") and isinstance(member, str):
                    found.add(member)
                walk(member)
        for item in value if isinstance(value, list) else ():
            walk(item)

    walk(request)
    return found


def error_place(reply, names, exact=False):
    """Returns the place that the error object of a reply names, and None; or None and what is missing."""
    try:
        body = reply.json()
    except ValueError:
        return None, f"the body is not JSON: {short(reply.body[:80].decode('utf-8', 'replace'))!r}"
    error = body.get("error") if isinstance(body, dict) else None
    if not isinstance(error, dict):
        return None, "the body has no object `error`"
    message = error.get("message")
    if not (isinstance(message, str) and message.strip() and isinstance(error.get("type"), str)):
        return None, "`error` has no `message` and `type`"
    # if `exact`, a name is a whole word; otherwise it may be a part of words
    edge = r"(?<![\w$]){}(?![\w$])" if exact else "{}"
    rare = {name for name in names if len(name) > 2 and name not in COMMON} if exact else names
    # in the message, a common word is not a place
    for text, named in ((error.get("param"), names), (message, rare if len(names) > 1 else names)):
        for name in sorted(named, key=len, reverse=True):
            if isinstance(text, str) and name and re.search(edge.format(re.escape(name)), text, 0 if exact else re.I):
                return name, None
    return None, f"the message names no place: {short(message, 100)}"


class Kept:
    """Replies that several rules read. Each is asked for once."""

    def __init__(self):
        self.lock, self.kept = threading.Lock(), {}

    def get(self, name, ask):
        with self.lock:
            if name not in self.kept:
                try:
                    self.kept[name] = ask()
                except (Early, sse.StreamError, answers.Malformed) as error:
                    self.kept[name] = error
        if isinstance(self.kept[name], Exception):
            raise self.kept[name]
        return self.kept[name]


class Judge:
    """Sends requests and judges replies."""

    def __init__(self, client: Client):
        self.client, self.kept = client, Kept()
        # seconds of each request
        self.times = []

    def send(self, request: Request):
        started = time.monotonic()
        try:
            reply = self.client.send("POST", request.path, request.body)
        except Transport as error:
            raise Early(TRANSPORT, short(error, 120)) from error
        finally:
            self.times.append(time.monotonic() - started)
        if reply.status >= 500 or reply.status in (401, 403, 429):
            raise Early(ERROR, f"status {reply.status}: {short(reply.body[:160].decode('utf-8', 'replace'), 120)}")
        if 300 <= reply.status < 400 or reply.status < 200:
            raise Early(ERROR, f"status {reply.status}")
        return reply

    def raw(self, request):
        """Returns a reply with the status 200. Raises `Early` for all others."""
        reply = self.send(request)
        if reply.status >= 400:
            place, missing = error_place(reply, places(request.body), exact=True)
            if place is None:
                raise Early(UNPLACED, f"status {reply.status}: {missing}")
            raise Early(REFUSED, f"status {reply.status}: {short(reply.json()['error']['message'], 110)}")
        return reply

    def answer(self, request):
        """Returns the answer to a request, or an `answers.Malformed` as a value."""
        reply = self.raw(request)
        try:
            if request.streams:
                return sse.read(request.api, reply.body)
            return answers.READERS[request.api](reply.json())
        except sse.StreamError as error:
            raise Early(ERROR, str(error)) from error
        except ODD_SHAPE as error:
            return answers.Malformed(f"the reply has another form: {short(error, 100)}")


OK, BAD, CUT = "ok", "bad", "cut"


def taken(answer, take):
    """Returns the structured text of an answer. Raises `NotJson` if there is none."""
    if take == "text":
        if answer.text is None:
            raise NotJson("no text" + (", but a call" if answer.calls else ""))
        return answer.text
    if not answer.calls:
        raise NotJson(f"no call, but the text {short(answer.text, 60)!r}")
    return answer.calls[0].text


def json_check(schema, take):
    """Returns a check: the structured text is JSON that a schema allows."""
    validator = Validator(schema)

    def check(answer):
        if isinstance(answer, answers.Malformed):
            return BAD, str(answer)
        if answer.declined:
            return CUT, "the model declined"
        try:
            text = taken(answer, take)
        except NotJson as error:
            # a call of which nothing was written yet
            return (CUT, "cut before the call") if answer.finish == "length" and not answer.text else (BAD, str(error))
        if answer.finish == "length":
            problem = partial.problem(validator, text)
            return (BAD, f"cut, and {problem}") if problem else (CUT, f"cut after {short(text, 40)!r}")
        if answer.finish not in ("stop", "calls"):
            return BAD, f"the answer ended with {answer.finish!r}"
        for one in [call.text for call in answer.calls] if take == "call" else [text]:
            try:
                problem = validator.error(parse(one))
            except NotJson as error:
                problem = str(error)
            if problem:
                return BAD, f"{problem}; the answer is {short(one, 60)!r}"
        return OK, short(text, 60)

    return check


def text_check(match, balanced, take):
    """Returns a check: the whole text matches a pattern and has brackets in pairs."""
    whole = re.compile(match)

    def check(answer):
        if isinstance(answer, answers.Malformed):
            return BAD, str(answer)
        try:
            text = taken(answer, take)
        except NotJson as error:
            return (CUT, "cut before the call") if answer.finish == "length" and not answer.text else (BAD, str(error))
        if answer.finish == "length":
            return CUT, f"cut after {short(text, 40)!r}"
        pairs = not balanced or text.count(balanced[0]) == text.count(balanced[1])
        if answer.finish in ("stop", "calls") and whole.fullmatch(text) and pairs:
            return OK, short(text, 60)
        return BAD, f"{short(text, 60)!r} does not match"

    return check


def calls_check(expect, tools, schemas):
    """Returns a check of the number, names and arguments of calls, and of the text next to them."""
    least, most = expect["calls"]
    validators = {name: Validator(tool["parameters"]) for name, tool in tools.items()}

    def check(answer):
        if isinstance(answer, answers.Malformed):
            return BAD, str(answer)
        if answer.finish == "length":
            return CUT, "cut"
        found = len(answer.calls)
        if found < least or (most is not None and found > most):
            bound = "no call" if most == 0 else "one call" if most == least else "at least one call"
            what = short(answer.text or [call.name for call in answer.calls], 60)
            return BAD, f"{bound} is allowed, found {found}: {what!r}"
        if (answer.finish == "calls") != bool(found):
            return BAD, f"{found} calls, and the answer ended with {answer.finish!r}"
        for call in answer.calls:
            if call.name not in expect.get("names", tools):
                return BAD, f"a call of {call.name!r}"
            try:
                problem = validators[call.name].error(parse(call.text))
            except NotJson as error:
                problem = str(error)
            if problem:
                return BAD, f"arguments of {call.name}: {problem}"
        if not found and "schema" in expect:
            return json_check(schemas[expect["schema"]], "text")(answer)
        return OK, ", ".join(call.name for call in answer.calls) or short(answer.text, 40)

    return check


def pair(judge, first, second):
    """Judges a case and its control: two (request, check), whose allowed answers differ."""
    try:
        one = judge.answer(first[0])
    except Early as early:
        return early.outcome
    state, detail = first[1](one)
    try:
        other = judge.answer(second[0])
    except Early as early:
        if state == BAD:
            return Outcome(WRONG, detail)
        return Outcome(early.outcome.kind, f"the control: {early.outcome.reason}")
    control, control_detail = second[1](other)
    if BAD not in (state, control):
        if CUT in (state, control):
            return Outcome(UNDECIDED, detail if state == CUT else f"the control: {control_detail}")
        return Outcome(PASS, f"{detail} (control: {control_detail})")
    kind = IGNORED if constraint_is_ignored(one, state, other, control) else WRONG
    return Outcome(kind, detail if state == BAD else f"the control: {control_detail}")


def constraint_is_ignored(one, state, other, control):
    """Returns whether two answers, of which one is bad, show that the constraint had no effect."""
    if isinstance(one, answers.Malformed) or isinstance(other, answers.Malformed):
        return False
    return state == control or one.same(other)


def refusal(judge, bad, mended, names, exact=False):
    """Judges a request that must be refused; `mended` is the same request without the fault."""
    try:
        reply = judge.send(bad)
    except Early as early:
        return early.outcome
    if reply.status < 400:
        return Outcome(IGNORED, f"status {reply.status}: the fault was accepted")
    place, missing = error_place(reply, names, exact)
    if place is None:
        return Outcome(UNPLACED, f"status {reply.status}: {missing}")
    try:
        judge.raw(mended)
    except Early as early:
        return Outcome(early.outcome.kind, f"the request without the fault: {early.outcome.reason}")
    return Outcome(PASS, f"status {reply.status} names `{place}`")


def truncation(judge, bounded, free, schema, take, limit, fits):
    """Judges an answer within few tokens; `free` is the same request with the usual limit."""
    try:
        one = judge.answer(bounded)
    except Early as early:
        return early.outcome
    state, detail = json_check(schema, take)(one)
    try:
        other = judge.answer(free)
        control, control_detail = json_check(schema, take)(other)
    except Early as early:
        return Outcome(early.outcome.kind, f"without the limit: {early.outcome.reason}")
    if BAD in (state, control):
        text = detail if state == BAD else f"without the limit: {control_detail}"
        ignored = state == control and not isinstance(one, answers.Malformed)
        return Outcome(IGNORED if ignored else WRONG, text)
    if one.used is not None and one.used > limit:
        return Outcome(WRONG, f"{one.used} tokens, though the limit is {limit}")
    if fits is False and state == OK:
        return Outcome(WRONG, "a complete answer cannot be so short")
    if control == CUT:
        return Outcome(UNDECIDED, f"without the limit: {control_detail}")
    return Outcome(PASS, f"{'complete' if state == OK else 'length'} within {limit} tokens: {detail}")


def json_object(judge, request, plain):
    """Judges `json_object`: the answer is an object, though the prompt asks for prose."""
    check = json_check({"type": "object"}, "text")
    try:
        one = judge.answer(request)
        state, detail = check(one)
        other = judge.answer(plain)
    except Early as early:
        return early.outcome
    control, _ = check(other)
    if state == BAD:
        return Outcome(IGNORED if constraint_is_ignored(one, state, other, control) else WRONG, detail)
    if state == CUT or control != BAD:
        return Outcome(UNDECIDED, detail if state == CUT else "without `response_format` the answer is an object, too")
    return Outcome(PASS, f"{detail}; without `response_format` it is no object")


def rule(check, subject):
    """Judges a rule about the form of a reply or stream; `subject` returns it or raises `Early`."""
    try:
        problem = check(subject())
    except Early as early:
        return early.outcome
    except answers.Undecided as error:
        return Outcome(UNDECIDED, str(error))
    except sse.StreamError as error:
        return Outcome(ERROR, str(error))
    except ODD_SHAPE as error:
        problem = f"the reply has another form: {type(error).__name__}: {short(error, 80)}"
    return Outcome(WRONG, short(problem, 140)) if problem else Outcome(PASS, "")
