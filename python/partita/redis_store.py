"""The client of a store that machines share, on a Redis or Valkey server.

A row is a key of the server, so that the server may evict rows by itself; a stream is the index of what was written, in
batches. The layer reads the index and knows without a round trip which queries have no answer. Rows are signed with
`PARTITA_STORE_KEY` if they say `unsat`: a server, or anyone who can write to it, cannot make up such a row.

The thread of a client sends what the layer asks for and writes, in one pipeline per batch. What goes wrong is reported
once and costs time, never an answer.
"""

from __future__ import annotations

import atexit
import hashlib
import hmac
import os
import threading
import time
import weakref
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from partita import _core
from partita.errors import UsageError
from partita.store import without_password

if TYPE_CHECKING:
    import redis

SCHEMES = ("redis", "rediss", "unix")
KEY_VARIABLE = "PARTITA_STORE_KEY"
MIN_KEY = 16
"""Characters of a key; a shorter one can be guessed from any signed row."""

_PREFIX = b"partita:store:1:"
_ROW, _INDEX, _PROBE = _PREFIX + b"row:", _PREFIX + b"index", _PREFIX + b"probe"
_ENTRIES = b"entries"
_SIGNATURE, _ENTRY = 32, 29
_UNSIGNED = bytes(_SIGNATURE)

_TIMEOUT_S = 2.0
"""Longest time for connecting and for each reply."""
_OPEN_S = 3.0
"""Longest time for reading the index at the beginning."""
_POLL_S = 0.5
"""Between looks for new entries of the index."""
_RETRY_S = (0.5, 30.0)
"""First and longest time between attempts after a failure."""
_JOIN_S = 3.0
_PAGE, _MAX_BATCHES, _MAX_ENTRIES = 200, 100_000, 1 << 18
_MAX_BACKLOG = 1024


class Server:
    """A server, and the key that signs rows."""

    def __init__(self, url: str) -> None:
        scheme, self.name = url.partition(":")[0], without_password(url)
        if scheme not in SCHEMES:
            raise UsageError(f"expected a store redis://HOST:PORT/0, rediss://... or unix://..., found `{self.name}`")
        try:
            import redis
            from redis.backoff import NoBackoff
            from redis.retry import Retry
        except ImportError:
            raise UsageError(f"the store {self.name} needs the package redis: pip install 'partita[redis]'") from None
        self._errors = redis.exceptions
        self.key = os.environ.get(KEY_VARIABLE, "").encode()
        if self.key and len(self.key) < MIN_KEY:
            raise UsageError(f"expected at least {MIN_KEY} characters in {KEY_VARIABLE}, found {len(self.key)}")
        settings: dict[str, Any] = {"socket_timeout": _TIMEOUT_S, "socket_connect_timeout": _TIMEOUT_S, "protocol": 2}
        try:
            self._redis: redis.Redis = redis.Redis.from_url(url, retry=Retry(NoBackoff(), 0), **settings)
        except (ValueError, TypeError) as error:
            raise UsageError(f"cannot use the store {self.name}: {error}") from None

    def check(self) -> None:
        """Raises a usage error if the server refuses what the store does, and OSError if it cannot be reached."""
        pipe = self._redis.pipeline(transaction=False)
        pipe.get(_PROBE)
        pipe.xrevrange(_INDEX, count=1)
        pipe.set(_PROBE, b"", px=1)
        replies = self._talk(pipe)
        for reply in replies:
            if isinstance(reply, self._errors.ConnectionError):  # it is loading its data, for instance
                raise OSError(str(reply))
            if isinstance(reply, Exception) and not isinstance(reply, self._errors.OutOfMemoryError):
                raise UsageError(f"cannot use the store {self.name}: {reply}")

    def _talk(self, pipe: Any) -> list[Any]:
        """The replies, errors of single commands among them. OSError: there is no server, or it makes no sense."""
        try:
            return list(pipe.execute(raise_on_error=False))
        except (self._errors.AuthenticationError, self._errors.AuthorizationError) as error:
            raise UsageError(f"cannot use the store {self.name}: {error}") from None
        except (
            self._errors.ResponseError
        ) as error:  # a refusal of what comes with connecting, as the choice of a database
            raise UsageError(f"cannot use the store {self.name}: {error}") from None
        except OSError:
            raise
        except Exception as error:  # the parser of replies raises what it likes at bytes that are none
            raise OSError(f"{error}" or type(error).__name__) from error

    def index(self, deadline: float) -> tuple[bytes, list[bytes]]:
        """The position in the index and its newest entries, oldest first, as far as time and their limit allow."""
        newest, end, batches, count = b"0-0", b"+", [], 0
        while count < _MAX_ENTRIES and time.monotonic() < deadline:
            (reply,) = self._talk(self._redis.pipeline(transaction=False).xrevrange(_INDEX, max=end, count=_PAGE))
            page = _stream(reply)
            for _, entries in page:
                batches.append(entries)
                count += len(entries) // _ENTRY
            if page and newest == b"0-0":
                newest = page[0][0]
            if len(page) < _PAGE:
                break
            end = b"(" + page[-1][0]
        return newest, batches[::-1]

    def signature(self, key: bytes, row: bytes) -> bytes:
        return hmac.digest(self.key, _PREFIX + key + row, hashlib.sha256)

    def is_signed(self, key: bytes, value: bytes) -> bool:
        if not self.key:
            return False
        return hmac.compare_digest(value[:_SIGNATURE], self.signature(key, value[_SIGNATURE:]))

    def exchange(
        self,
        wanted: list[bytes],
        rows: list[tuple[bytes, bool, bytes]],
        entries: bytes,
        removed: list[bytes],
        position: bytes | None,
    ) -> tuple[list[Any], list[Any], list[tuple[bytes, bytes]]]:
        """One round trip: values of `wanted`, replies to what was written, and the index after `position`, if given."""
        pipe = self._redis.pipeline(transaction=False)
        for key in wanted:
            pipe.get(_ROW + key.hex().encode())
        for key, is_unsat, row in rows:
            sign = self.signature(key, row) if is_unsat else _UNSIGNED
            pipe.set(_ROW + key.hex().encode(), sign + row)
        for key in removed:
            pipe.unlink(_ROW + key.hex().encode())
        if entries:
            pipe.xadd(_INDEX, {_ENTRIES: entries}, maxlen=_MAX_BATCHES, approximate=True)
        if position is not None:
            pipe.xrange(_INDEX, min=b"(" + position, count=_PAGE)
        replies = self._talk(pipe)
        news = _stream(replies.pop()) if position is not None else []
        return replies[: len(wanted)], replies[len(wanted) :], news

    def rows(self) -> Iterator[tuple[bytes, dict[str, Any] | None]]:
        """All rows, each with its value and as a dict; None for a damaged one."""
        for names in self._scan():
            for value in self._talk_or_refuse(self._redis.pipeline(transaction=False).mget(names))[0]:
                if value is not None:  # removed in the meantime
                    yield value, _core.store_row(value[_SIGNATURE:])

    def clear(self) -> int:
        gone = 0
        for names in self._scan():
            gone += self._talk_or_refuse(self._redis.pipeline(transaction=False).unlink(*names))[0]
        self._talk_or_refuse(self._redis.pipeline(transaction=False).unlink(_INDEX))
        return gone

    def _scan(self) -> Iterator[list[bytes]]:
        cursor = 0
        while True:
            command = self._redis.pipeline(transaction=False).scan(cursor, match=_ROW + b"*", count=_PAGE)
            cursor, names = self._talk_or_refuse(command)[0]
            if names:
                yield names
            if not int(cursor):
                return

    def _talk_or_refuse(self, pipe: Any) -> list[Any]:
        """For commands of the user: every error is one of usage."""
        try:
            replies = self._talk(pipe)
        except OSError as error:
            raise UsageError(f"cannot use the store {self.name}: {error}") from None
        for reply in replies:
            if isinstance(reply, Exception):
                raise UsageError(f"cannot use the store {self.name}: {reply}")
        return replies

    def disconnect(self) -> None:
        self._redis.close()


def _stream(reply: Any) -> list[tuple[bytes, bytes]]:
    """Positions and entries of a part of the index."""
    if isinstance(reply, Exception):
        raise reply if isinstance(reply, OSError) else OSError(str(reply))
    try:
        found = [(position, fields[_ENTRIES]) for position, fields in reply]
    except (TypeError, ValueError, KeyError) as error:
        raise OSError("its index has another format") from error
    if not all(isinstance(word, bytes) for row in found for word in row):
        raise OSError("its index has another format")
    return found


class Client(threading.Thread):
    """Serves an exchange until it is closed."""

    def __init__(self, server: Server, exchange: _core.StoreExchange) -> None:
        super().__init__(name="partita-store", daemon=True)  # `close_all` ends it in order
        self._server, self._exchange = server, exchange
        self._position = b"0-0"
        self._next_look = self._retry_at = 0.0
        self._retry_s = _RETRY_S[0]
        self._said: set[str] = set()
        # Written when the server answers again.
        self._rows: list[tuple[bytes, bool, bytes]] = []
        self._entries = b""

    def open(self) -> None:
        """Connects and reads the index. A server that cannot be reached is tried again later."""
        try:
            self._server.check()
            self._position, batches = self._server.index(time.monotonic() + _OPEN_S)
        except OSError as error:
            self._fail(error)
            return
        for entries in batches:
            self._add(entries)
        self._next_look = time.monotonic() + _POLL_S

    def run(self) -> None:
        is_last = False
        while not is_last:
            wanted, rows, entries, removed, is_last = self._exchange.take_batch(_POLL_S)
            settled = len(rows) + len(removed)
            lost = self._keep(rows, entries)
            is_answered = False
            now = time.monotonic()
            if is_last or now >= self._retry_at:
                position = self._position if now >= self._next_look and not is_last else None
                if wanted or self._rows or removed or position is not None:
                    try:
                        lost += self._serve(wanted, removed, position)
                        is_answered = True
                    except (OSError, UsageError) as error:
                        self._fail(error)
            else:
                lost += len(removed)
            self._exchange.finish_batch(settled, lost, is_answered or now >= self._retry_at)
        self._server.disconnect()

    def _keep(self, rows: list[tuple[bytes, bool, bytes]], entries: bytes) -> int:
        """Adds rows to those to be written; returns how many are too many."""
        room = _MAX_BACKLOG - len(self._rows)
        self._rows += rows[:room]
        self._entries += entries[: room * _ENTRY]
        return len(rows[room:])

    def _serve(self, wanted: list[bytes], removed: list[bytes], position: bytes | None) -> int:
        """One round trip; returns how many rows the server refused."""
        values, written, news = self._server.exchange(wanted, self._rows, self._entries, removed, position)
        for key, value in zip(wanted, values, strict=True):
            if isinstance(value, bytes):
                self._exchange.deliver(key, value[_SIGNATURE:], self._server.is_signed(key, value))
            else:
                self._exchange.deliver(key, None)
        refusals = [reply for reply in (*values, *written) if isinstance(reply, Exception)]
        lost = sum(isinstance(reply, Exception) for reply in written[: len(self._rows)])
        for refusal in refusals:
            self._say(f"the store {self._server.name} refuses commands: {refusal}")
        self._rows, self._entries = [], b""
        for place, entries in news:
            self._add(entries)
            self._position = place
        if position is not None and len(news) < _PAGE:
            self._next_look = time.monotonic() + _POLL_S
        self._retry_s, self._retry_at = _RETRY_S[0], 0.0
        return lost

    def _add(self, entries: bytes) -> None:
        if not self._exchange.add_index(entries):
            self._say(f"the store {self._server.name} has an index that Partita did not write")

    def _fail(self, error: Exception) -> None:
        self._server.disconnect()
        self._retry_at = time.monotonic() + self._retry_s
        self._retry_s = min(2 * self._retry_s, _RETRY_S[1])
        text = str(error) or type(error).__name__
        self._say(f"the store {self._server.name} does not answer: {text}; going on without it until it does", "fails")

    def _say(self, message: str, kind: str | None = None) -> None:
        """Reports a message unless it, or one of its kind, has been reported."""
        if (kind or message) not in self._said:
            self._said.add(kind or message)
            self._exchange.report(message)


_clients: weakref.WeakSet[Client] = weakref.WeakSet()


@atexit.register
def close_all() -> None:
    """Ends all clients; the last answers are written within a bounded time."""
    clients = list(_clients)
    for client in clients:
        client._exchange.close()
    deadline = time.monotonic() + _JOIN_S
    for client in clients:
        if client.is_alive():
            client.join(max(0.0, deadline - time.monotonic()))


def connect(url: str) -> _core.StoreExchange:
    """An exchange with the server; its client runs until the layer that uses it is gone."""
    server = Server(url)
    exchange = _core.StoreExchange(server.name, bool(server.key))
    client = Client(server, exchange)
    client.open()
    client.start()
    _clients.add(client)
    return exchange
