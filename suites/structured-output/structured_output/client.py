"""An HTTP client for one server. It reads whole bodies, within a size and a time."""

import http.client
import json
import ssl
import time
from dataclasses import dataclass
from urllib.parse import urlsplit

LARGEST_BODY = 16 << 20
# Statuses that say that the server is busy, and how often a request is repeated after them.
BUSY = {429, 503}
REPEATS = 3
LONGEST_WAIT = 30.0


class Transport(Exception):
    """No complete HTTP response came."""


@dataclass
class Reply:
    """A response of the server."""

    status: int
    content_type: str
    body: bytes

    def json(self):
        """Returns the body as JSON. Raises ValueError."""
        return json.loads(self.body.decode("utf-8"))


class Client:
    """Sends requests below one address."""

    def __init__(self, url, key=None, deadline=120.0, headers=()):
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"`{url}` is not an address: use http://HOST:PORT/v1")
        self.parts, self.deadline = parts, deadline
        self.headers = {"content-type": "application/json", **dict(headers)}
        if key:
            self.headers["authorization"] = f"Bearer {key}"

    def send(self, method, path, body=None):
        """Sends a request; `body` is text or a value. Repeats it while the server is busy."""
        if body is not None and not isinstance(body, str):
            body = json.dumps(body)
        for repeat in range(REPEATS + 1):
            reply, after = self.once(method, path, body)
            if reply.status not in BUSY or repeat == REPEATS:
                return reply
            time.sleep(min(after if after is not None else 2.0**repeat, LONGEST_WAIT))

    def once(self, method, path, body):
        secure = self.parts.scheme == "https"
        host, port, options = self.parts.hostname, self.parts.port, {"timeout": self.deadline}
        if secure:
            connection = http.client.HTTPSConnection(host, port, context=ssl.create_default_context(), **options)
        else:
            connection = http.client.HTTPConnection(host, port, **options)
        target = self.parts.path.rstrip("/") + path + (f"?{self.parts.query}" if self.parts.query else "")
        try:
            connection.request(method, target, body.encode("utf-8") if body is not None else None, self.headers)
            response = connection.getresponse()
            content = self.read(response)
            after = response.headers.get("retry-after", "")
            wait = float(after) if after.isdigit() else None
            return Reply(response.status, response.headers.get("content-type", ""), content), wait
        except (OSError, http.client.HTTPException) as error:
            raise Transport(f"{type(error).__name__}: {error}") from error
        finally:
            connection.close()

    def read(self, response):
        end, parts, size = time.monotonic() + self.deadline, [], 0
        while part := response.read1(1 << 16):
            parts.append(part)
            size += len(part)
            if size > LARGEST_BODY:
                raise Transport(f"the body has more than {LARGEST_BODY} bytes")
            if time.monotonic() > end:
                raise Transport(f"the body was not complete after {self.deadline:g} s")
        if response.length:
            raise Transport(f"the body ended {response.length} bytes early")
        return b"".join(parts)
