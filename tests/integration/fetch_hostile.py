#!/usr/bin/env python3
"""lycosa fetch against servers that break the rules, plain and inside TLS: each fault gives its named outcome,
the program ends in order (its own assertions check descriptors, buffers and operations), and what one response
brought is never taken for the next."""
import itertools
import json
import os
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from listener import Listener, load_certificate, read_request  # noqa: E402

LYCOSA = os.path.join(os.environ["BUILD_DIR"], "lycosa")
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"


class Server(Listener):
    """Runs `script(connection, number)` over each connection."""

    def __init__(self, script, context=None):
        self.script, self.context, self.numbers = script, context, itertools.count(1)
        super().__init__(self.run_script)

    def run_script(self, connection):
        try:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            number = next(self.numbers)
            if self.context:
                connection = self.context.wrap_socket(connection, server_side=True)
            self.script(connection, number)
        except OSError:
            pass  # the client has had enough
        finally:
            connection.close()


def drain(connection):
    while connection.recv(4096):
        pass


def answers(*pieces):
    """Reads a request, sends the pieces, waits for the client to close."""
    def script(connection, number):
        if read_request(connection):
            for piece in pieces:
                connection.sendall(piece)
            drain(connection)
    return script


def answers_and_leaves(*pieces):
    """In TLS: without saying so."""
    def script(connection, number):
        if read_request(connection):
            for piece in pieces:
                connection.sendall(piece)
    return script


def answers_and_closes(*pieces):
    def script(connection, number):
        answers_and_leaves(*pieces)(connection, number)
        if isinstance(connection, ssl.SSLSocket):
            connection.unwrap()
    return script


def answers_and_rambles(connection, number):
    """After the first answer comes the rest of a body, when the next request is there."""
    if read_request(connection):
        connection.sendall(OK)
    if number % 2 and read_request(connection):
        connection.sendall(b"rest of the body")
        drain(connection)


def slowly(data):
    return [data[i:i + 1] for i in range(len(data))]


def endless(head, piece):
    def script(connection, number):
        read_request(connection)
        connection.sendall(head)
        while True:
            connection.sendall(piece)
    return script


def keeps_answering(connection, number):
    while read_request(connection):
        connection.sendall(OK)


def answers_twice(connection, number):
    """A second response that nobody asked for, in the same piece, to every request."""
    while read_request(connection):
        connection.sendall(OK + OK.replace(b"hello", b"wrong"))


def closes_after_each(connection, number):
    """Promises to keep the connection, and does not."""
    if read_request(connection):
        connection.sendall(OK)


HEAD = b"HTTP/1.1 200 OK\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"

# name: (script, outcome, of plain and TLS if they differ, body or None)
CASES = {
    "slow head": (answers(*slowly(OK)), "done", b"hello"),
    "slow chunks": (answers(*slowly(CHUNKED + b"2\r\nhe\r\n3;x=y\r\nllo\r\n0\r\nT: x\r\n\r\n")), "done", b"hello"),
    "http/1.0": (answers_and_closes(b"HTTP/1.0 200 OK\r\n\r\nhello"), "done", b"hello"),
    "until close": (answers_and_closes(HEAD + b"\r\nhel", b"lo"), "done", b"hello"),
    "interim": (answers(b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 103 Early\r\n\r\n", OK), "done", b"hello"),
    "until gone": (answers_and_leaves(HEAD + b"\r\nhel", b"lo"), {"http": "done", "https": "tls-truncated"}, b"hello"),
    "no answer": (answers_and_closes(), "first-byte-closed", b""),
    "head cut": (answers_and_closes(HEAD + b"X: "), "head-truncated", b""),
    "body cut": (answers_and_closes(HEAD + b"Content-Length: 9\r\n\r\nhello"), "body-truncated", b"hello"),
    "chunk cut": (answers_and_closes(CHUNKED + b"9\r\nhello"), "body-truncated", b"hello"),
    "two lengths": (answers_and_closes(HEAD + b"Content-Length: 2\r\nContent-Length: 6\r\n\r\nhello"), "done", b"hello"),
    "length and chunked": (answers(HEAD + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n"
                                   b"5\r\nhello\r\n0\r\n\r\n"), "done", b"hello"),
    "chunked twice": (answers(HEAD + b"Transfer-Encoding: chunked, chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"),
                      "done", b"hello"),
    "bare line feeds": (answers(CHUNKED + b"5\nhello\n0\n\n"), "done", b"hello"),
    "length no number": (answers_and_closes(HEAD + b"Content-Length: five\r\n\r\nhello"), "done", b"hello"),
    "length empty": (answers_and_closes(HEAD + b"Content-Length:\r\n\r\nhello"), "done", b"hello"),
    "thousands of fields": (answers(HEAD + b"X: y\r\n" * 5000 + b"Content-Length: 5\r\n\r\nhello"), "done", b"hello"),
    "long head": (answers(HEAD + b"X: " + b"y" * 250000 + b"\r\nContent-Length: 5\r\n\r\nhello"), "done", b"hello"),
    "bad chunk": (answers(CHUNKED + b"5\r\nhelloxx\r\n0\r\n\r\n"), "chunk-bad", b"hello"),
    "unknown coding": (answers_and_closes(HEAD + b"Transfer-Encoding: gzip\r\n\r\nhello"), "done", b"hello"),
    "not http": (answers(b"SSH-2.0-OpenSSH_9.2\r\n\r\n"), "status-line-bad", b""),
    "upgrade": (answers(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n"), "upgraded", b""),
    "endless head": (endless(HEAD, b"X-Y: zzzzzzzzzzzzzzzzzzzzzzzzzzz\r\n"), "head-too-long", b""),
    "endless interim": (endless(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n"), "too-many-interim", b""),
}


def fetch(url, *arguments):
    run = subprocess.run([LYCOSA, "fetch", "--insecure", "--json", *arguments, url], capture_output=True, timeout=120)
    assert run.returncode in (0, 1), (url, run.returncode, run.stderr[-4000:])
    lines = [json.loads(line) for line in run.stdout.splitlines()]
    assert (run.returncode == 0) == all(line["outcome"] == "done" for line in lines)
    return lines


def fetch_bodies(url, folder, *arguments):
    out = os.path.join(folder, "out")
    shutil.rmtree(out, ignore_errors=True)
    lines = fetch(url, "-o", out, *arguments)
    bodies = []
    for line in lines:
        with open(os.path.join(out, line["file"]), "rb") as f:
            bodies.append(f.read())
    return lines, bodies


def check_case(name, scheme, context, folder):
    script, outcome, body = CASES[name]
    server = Server(script, context)
    lines, bodies = fetch_bodies("%s://127.0.0.1:%d/" % (scheme, server.port), folder)
    server.close()
    expected = outcome[scheme] if isinstance(outcome, dict) else outcome
    assert lines[0]["outcome"] == expected, (name, scheme, lines[0])
    assert bodies[0] == body, (name, scheme, bodies[0])


def check_sequence(script, scheme, context, folder, repeat=6):
    """Several requests: each gets the answer that is its own, whatever else the server sends."""
    server = Server(script, context)
    lines, bodies = fetch_bodies("%s://127.0.0.1:%d/" % (scheme, server.port), folder, "--repeat",
                                 str(repeat))
    server.close()
    for line, body in zip(lines, bodies):
        assert (line["outcome"], body) in (("done", b"hello"), ("unsolicited", b"")), (script.__name__, line, body)
    return lines


def check_no_end(scheme, context):
    """A body without end and a server without a word are given up in time."""
    for script in (endless(HEAD + b"\r\n", b"x" * 65536), lambda c, n: drain(c)):
        server = Server(script, context)
        line, = fetch("%s://127.0.0.1:%d/" % (scheme, server.port), "--max-time", "0.5")
        server.close()
        assert line["outcome"] == "exchange-timeout" and 500 <= line["total_ms"] < 20000, line


def make_context(folder):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    load_certificate(context, folder)
    return context


def main():
    if not shutil.which("openssl"):
        print("skipped: no openssl")
        sys.exit(77)
    folder = tempfile.mkdtemp(prefix="lycosa_hostile.")
    try:
        context = make_context(folder)
        for scheme, tls in (("http", None), ("https", context)):
            for name in CASES:
                check_case(name, scheme, tls, folder)
            lines = check_sequence(keeps_answering, scheme, tls, folder)
            assert [l["reused"] for l in lines] == [False] + [True] * 5, lines
            lines = check_sequence(closes_after_each, scheme, tls, folder)
            assert all(l["outcome"] == "done" for l in lines), lines
            check_sequence(answers_twice, scheme, tls, folder, 60)
            lines = check_sequence(answers_and_rambles, scheme, tls, folder)
            assert all(l["outcome"] == "done" for l in lines), lines
            check_no_end(scheme, tls)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
