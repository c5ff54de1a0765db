#!/usr/bin/env python3
"""Each fault, as a client sees it: what the option promised is what happens."""
import os
import select
import socket
import ssl
import sys
import tempfile
import time
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import websim
from websim import check, get

WEB = ["--plain", "--hosts", 3, "--pages", 30, "--redirects", 0, "--duplicates", 0, "--near-duplicates", 0]


def leaf(server, note):
    """A URL whose note in the truth is the fault."""
    for line in server.command("truth", "--digest", "none").splitlines():
        fields = line.split("\t")
        if fields[4] == note and "hop" not in fields[0]:
            return fields[0]
    sys.exit(f"no page with {note}")


def page_fault(name, *web):
    """A decorator: runs the function with a server whose leaves all have this fault, and one of them."""
    def decorate(function):
        with websim.Server(*WEB, *web, "--fault", f"{name}=1") as server:
            url = leaf(server, name)
            with server.connect(websim.split(url)[0], timeout=5) as sock:
                function(server, url, sock)
    return decorate


def send(sock, url):
    name, port, target = websim.split(url)
    sock.sendall(f"GET {target} HTTP/1.1\r\nHost: {name}:{port}\r\n\r\n".encode())


def read_all(sock, limit=1 << 24):
    data = bytearray()
    while len(data) < limit:
        more = sock.recv(65536)
        if not more:
            return data
        data += more
    return data


@page_fault("resethead")
def _(server, url, sock):
    send(sock, url)
    got = b""
    try:
        while True:
            more = sock.recv(4096)
            check(more, "resethead: an orderly end instead of a reset")
            got += more
            if not more:
                break
    except ConnectionResetError:
        check(b"\r\n\r\n" not in got, "resethead: the head was complete")


@page_fault("resetbody")
def _(server, url, sock):
    send(sock, url)
    status, fields = websim.read_head(sock)
    got = 0
    try:
        while True:
            more = sock.recv(65536)
            check(more, "resetbody: an orderly end instead of a reset")
            if not more:
                break
            got += len(more)
    except ConnectionResetError:
        pass
    check(got < int(fields["content-length"]), "resetbody: the body was complete")


@page_fault("short")
def _(server, url, sock):
    send(sock, url)
    status, fields = websim.read_head(sock)
    body = read_all(sock)
    check(len(body) == int(fields["content-length"]) - 1000, f"short: {len(body)} of {fields['content-length']}")


@page_fault("long")
def _(server, url, sock):
    send(sock, url)
    status, fields = websim.read_head(sock)
    websim.read_exactly(sock, int(fields["content-length"]))
    check(sock.recv(100) == b"bytes beyond the length", "long: nothing beyond the length")


@page_fault("badchunk")
def _(server, url, sock):
    try:
        get(sock, url)
        check(False, "badchunk: the chunks were good")
    except ValueError as error:
        check("zz" in str(error), f"badchunk: {error}")


@page_fault("endless")
def _(server, url, sock):
    send(sock, url)
    status, fields = websim.read_head(sock)
    check("content-length" not in fields, "endless: has a length")
    check(len(read_all(sock, 32 << 20)) >= 32 << 20, "endless: ended")


@page_fault("drip", "--drip-ms", 50)
def _(server, url, sock):
    """Never more bytes than the time allows, however late this process looks."""
    begun = time.monotonic()
    send(sock, url)
    websim.read_head(sock)
    count = 0
    while count < 6:
        more = sock.recv(100)
        if not more:
            check(False, "drip: an end after a few bytes")
            break
        count += len(more)
        passed = time.monotonic() - begun
        check(count <= 1 + passed / 0.05, f"drip: {count} bytes in {passed} s")


@page_fault("bomb", "--bomb-size", "8M")
def _(server, url, sock):
    status, fields, body = get(sock, url)
    check(fields.get("content-encoding") == "gzip", "bomb: not gzip")
    plain = zlib.decompress(body, 31)
    check(len(plain) == 8 << 20 and len(body) < 16384, f"bomb: {len(body)} bytes unpack to {len(plain)}")


@page_fault("bighead", "--head-size", "100K")
def _(server, url, sock):
    send(sock, url)
    data = b""
    while b"\r\n\r\n" not in data:
        data += sock.recv(65536)
    head, _, body = data.partition(b"\r\n\r\n")
    check(len(head) > 100 << 10, f"bighead: {len(head)} bytes")
    check(head.startswith(b"HTTP/1.1 200 OK\r\n"), "bighead: no status line")
    length = int(head.split(b"Content-Length: ")[1].split(b"\r\n")[0])
    body += websim.read_exactly(sock, length - len(body))
    check(body.endswith(b"</html>\n"), "bighead: the body is not what follows")


@page_fault("loop")
def _(server, url, sock):
    seen = []
    for _ in range(6):
        status, fields, _ = get(sock, url)
        check(status in (301, 302, 303, 307, 308), f"loop: {status}")
        seen.append(url)
        url = fields["location"]
    check(seen[1] == seen[3] == seen[5] and seen[2] == seen[4] and seen[1] != seen[2], f"loop: {seen}")


@page_fault("chain")
def _(server, url, sock):
    hops = 0
    while True:
        status, fields, _ = get(sock, url)
        if status == 200:
            break
        url = fields["location"]
        hops += 1
    check(hops == 12, f"chain: {hops} redirects")


@page_fault("badhtml")
def _(server, url, sock):
    body = get(sock, url)[2]
    check(b"<b><i></b>" in body and b"<!-- no end" in body, "badhtml: it is well-formed")


@page_fault("badurl")
def _(server, url, sock):
    body = get(sock, url)[2]
    check(b'href="http://[::1/"' in body and b"javascript:" in body, "badurl: all are good")


def host_fault(name, *web):
    def decorate(function):
        with websim.Server(*WEB, *web, "--fault", f"{name}=1") as server:
            function(server)
    return decorate


def name_of(server, host):
    """The host's name; `websim seeds` leaves faulty hosts out, so it is asked about a web without the fault."""
    web = [word for word in server.web if not str(word).endswith("=1")]
    web.remove("--fault")
    return websim.split(websim.run("seeds", *web).split()[host])[0]


@host_fault("refuse")
def _(server):
    name = name_of(server, 1)
    try:
        server.connect(name, port=server.ports["refuse"])
        check(False, "refuse: connected")
    except ConnectionRefusedError:
        pass


@host_fault("silent")
def _(server):
    name = name_of(server, 1)
    with server.connect(name) as sock:
        send(sock, f"http://{name}:{server.port}/")
        check(not select.select([sock], [], [], 1)[0], "silent: it said something")


@host_fault("nxdomain")
def _(server):
    check(server.query(name_of(server, 1)) == (3, []), "nxdomain: over UDP")
    check(server.query(name_of(server, 1), tcp=True) == (3, []), "nxdomain: over TCP")


@host_fault("servfail")
def _(server):
    check(server.query(name_of(server, 1)) == (2, []), "servfail")


@host_fault("dnstimeout")
def _(server):
    for tcp in (False, True):
        try:
            server.query(name_of(server, 1), tcp=tcp, timeout=1)
            check(False, "dnstimeout: answered")
        except TimeoutError:
            pass


@host_fault("calendar")
def _(server):
    name = name_of(server, 1)
    with server.connect(name) as sock:
        root = get(sock, f"http://{name}:{server.port}/")[2]
        check(b"/calendar/month-0" in root, "calendar: not linked from the root")
        month = get(sock, f"http://{name}:{server.port}/calendar/month-123456")[2]
        check(b"/calendar/month-123457" in month, "calendar: it ends")


with tempfile.TemporaryDirectory() as directory:
    ca = os.path.join(directory, "ca.pem")
    for fault, expired in (("expired=1", True), ("silent=0", False)):
        with websim.Server(*WEB, "--https", 1, "--ca", ca, "--fault", fault) as server:
            name = name_of(server, 1) if expired else websim.split(server.command("seeds").split()[1])[0]
            context = ssl.create_default_context(cafile=ca)
            raw = server.connect(name, port=server.ports["https"])
            try:
                with context.wrap_socket(raw, server_hostname=name) as sock:
                    status, _, body = get(sock, f"https://{name}:{server.ports['https']}/")
                    check(not expired, "expired: the certificate was accepted")
                    check(status == 200 and body.endswith(b"</html>\n"), f"https: {status}")
            except ssl.SSLCertVerificationError as error:
                check(expired and "expired" in str(error), f"certificate: {error}")
websim.finish()
