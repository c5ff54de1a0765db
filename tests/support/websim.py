"""Starts websim for a test and speaks to it the way a client would, with nothing but the standard library."""
import os
import re
import socket
import struct
import subprocess
import sys

BUILD = os.environ.get("BUILD_DIR", "build/debug")
PROGRAM = os.path.join(BUILD, "websim")


def run(*arguments, **options):
    """Output of a websim command that must succeed."""
    done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=240, **options)
    if done.returncode != 0:
        sys.exit(f"websim {arguments[0]} ended with {done.returncode}: {done.stderr}")
    return done.stdout


def without_own(words):
    """Serve's own options are not the web's."""
    kept = []
    for word in words:
        if word in ("--journal", "--ca", "--threads", "--connections"):
            next(words)
        elif word == "--no-dns":
            continue
        else:
            kept.append(word)
    return kept


class Server:
    """`websim serve` on ports of its own; it ends with this object, or when the test dies."""

    def __init__(self, *web):
        self.process = subprocess.Popen(
            [PROGRAM, "serve", "--port", "0", "--tls-port", "0", "--refuse-port", "0", "--until-eof", "--no-pin",
             "--connections", "1024", *map(str, web)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        words = self.process.stdout.readline().split()
        if words[:1] != ["websim:"]:
            sys.exit(f"websim serve did not start: {words}")
        self.ports = {name: int(where.rsplit(":", 1)[1]) for name, where in zip(words[1::2], words[2::2])}
        self.port = self.ports["http"]
        self.web = [*without_own(map(str, web)), "--port", self.port]
        for name, option in (("https", "--tls-port"), ("refuse", "--refuse-port")):
            if name in self.ports:
                self.web += [option, self.ports[name]]
        self.addresses = {}
        self.totals = {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        """Ends the server: its closing line as a dict."""
        if self.process.stdin.closed:
            return self.totals
        self.process.stdin.close()
        words = self.process.stdout.read().split()
        if self.process.wait(60) != 0:
            sys.exit(f"websim serve ended with {self.process.returncode}")
        self.totals = {name: int(value) for name, value in zip(words[1::2], words[2::2])}
        return self.totals

    def command(self, name, *arguments):
        """A command about the same web."""
        return run(name, *arguments, *self.web)

    def resolve(self, name):
        """The IPv4 address of a name, by DNS over UDP."""
        if name not in self.addresses:
            code, addresses = self.query(name)
            if code or not addresses:
                raise OSError(f"{name}: rcode {code}")
            self.addresses[name] = addresses[0]
        return self.addresses[name]

    def query(self, name, type_=1, tcp=False, timeout=5):
        """(rcode, addresses) of a question."""
        labels = b"".join(bytes([len(label)]) + label.encode() for label in name.split("."))
        question = struct.pack("!6H", 4711, 0x0100, 1, 0, 0, 0) + labels + b"\0" + struct.pack("!2H", type_, 1)
        where = ("127.0.0.1", self.ports["dns"])
        if tcp:
            with socket.create_connection(where, timeout) as sock:
                sock.sendall(struct.pack("!H", len(question)) + question)
                length, = struct.unpack("!H", read_exactly(sock, 2))
                return parse_answer(read_exactly(sock, length), question)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
            sock.settimeout(timeout)
            sock.sendto(question, where)
            return parse_answer(sock.recv(4096), question)

    def connect(self, name, timeout=20, port=None):
        return socket.create_connection((self.resolve(name), port or self.port), timeout)


def read_exactly(sock, count):
    data = b""
    while len(data) < count:
        more = sock.recv(count - len(data))
        if not more:
            raise EOFError
        data += more
    return data


def parse_answer(answer, question):
    ident, flags, questions, answers = struct.unpack("!4H", answer[:8])
    if ident != 4711 or not flags & 0x8000 or questions != 1:
        sys.exit(f"not an answer: {answer!r}")
    at, addresses = len(question), []
    for _ in range(answers):
        _, type_, _, _, length = struct.unpack("!3HIH", answer[at:at + 12])
        if type_ == 1:
            addresses.append(socket.inet_ntoa(answer[at + 12:at + 16]))
        at += 12 + length
    return flags & 15, addresses


def split(url):
    """(name, port, target) of a URL."""
    match = re.fullmatch(r"https?://([^/:]+)(?::(\d+))?(/.*)", url)
    return match.group(1), int(match.group(2) or 80), match.group(3)


def get(sock, url, headers="", method="GET"):
    """One request over an open socket: (status, headers, body) with the framing taken off."""
    name, port, target = split(url)
    sock.sendall(f"{method} {target} HTTP/1.1\r\nHost: {name}:{port}\r\n{headers}\r\n".encode())
    return read_response(sock, method)


def read_head(sock):
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        byte = sock.recv(1)
        if not byte:
            raise EOFError(f"end of the connection after {head!r}")
        head += byte
    lines = head.decode("latin-1").split("\r\n")
    fields = dict(line.split(": ", 1) for line in lines[1:] if line)
    return int(lines[0].split()[1]), {name.lower(): value for name, value in fields.items()}


def read_response(sock, method="GET"):
    status, fields = read_head(sock)
    if method == "HEAD":
        return status, fields, b""
    if fields.get("transfer-encoding") == "chunked":
        body = b""
        while True:
            line = b""
            while not line.endswith(b"\r\n"):
                line += read_exactly(sock, 1)
            size = int(line, 16)
            body += read_exactly(sock, size)
            read_exactly(sock, 2)
            if size == 0:
                return status, fields, body
    return status, fields, read_exactly(sock, int(fields["content-length"]))


failures = 0


def check(condition, what):
    global failures
    if not condition:
        failures += 1
        print(f"FAILED: {what}", file=sys.stderr)


def finish():
    sys.exit(1 if failures else 0)
