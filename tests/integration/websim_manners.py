#!/usr/bin/env python3
"""Each personality of a host, and the protocol itself, as a client sees them."""
import os
import re
import socket
import subprocess
import sys
import time
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import websim
from websim import check, get

WEB = ["--plain", "--hosts", 4, "--pages", 30]


def section(*web):
    """Runs a function with a server of this web and the URLs of one host."""
    def decorate(function):
        with websim.Server(*WEB, *web) as server:
            urls = server.command("truth", "--digest", "none").split("\n")
            name = websim.split(urls[0].split("\t")[0])[0]
            own = [line.split("\t") for line in urls if f"//{name}:" in line]
            function(server, name, [url for url, status, *_ in own if status == "200"])
    return decorate


def timed(function, *arguments):
    begun = time.monotonic()
    return function(*arguments), time.monotonic() - begun


@section()
def protocol(server, name, urls):
    root = urls[0]
    with server.connect(name) as sock:
        status, fields, body = get(sock, root)
        check(status == 200 and body.startswith(b"<!DOCTYPE html>"), "a page")
        check(get(sock, root, method="HEAD")[1]["content-length"] == str(len(body)), "HEAD")
        status, _, _ = get(sock, f"http://{name}:{server.port}/no/such/page")
        check(status == 404, "404 for a page that is not there")
        check(get(sock, root)[2] == body, "the connection goes on after all that")
        # Three at once, then one in three pieces.
        host = f"Host: {name}\r\n\r\n"
        sock.sendall(f"GET / HTTP/1.1\r\n{host}GET /x HTTP/1.1\r\n{host}GET / HTTP/1.1\r\n{host}".encode())
        check([websim.read_response(sock)[0] for _ in range(3)] == [200, 404, 200], "pipelined requests")
        for piece in (b"GET / HT", b"TP/1.1\r\nHo", f"st: {name}\r\n\r\n".encode()):
            sock.sendall(piece)
            time.sleep(0.02)
        check(websim.read_response(sock)[2] == body, "a request in pieces")
        status, fields, _ = get(sock, root, "Connection: close\r\n")
        check(fields.get("connection") == "close" and sock.recv(1) == b"", "Connection: close")
    for request, expected in ((f"POST / HTTP/1.1\r\nHost: {name}\r\n\r\n", 405), ("GET / HTTP/1.1\r\nHost: nobody\r\n\r\n", 421),
                              ("GET / HTTP/1.1\r\n\r\n", 421), ("nonsense\r\n\r\n", 400),
                              (f"GET / HTTP/1.1\r\nHost: {name}\r\nX: {'y' * 20000}\r\n\r\n", 400),
                              (f"GET http://{name}/ HTTP/1.1\r\nHost: x\r\n\r\n", 200)):
        with server.connect(name) as sock:
            sock.sendall(request.encode())
            check(websim.read_response(sock)[0] == expected, f"{request[:40]!r} is not answered with {expected}")
    with server.connect(name) as sock:
        sock.sendall(f"GET / HTTP/1.0\r\nHost: {name}\r\n\r\n".encode())
        check(websim.read_response(sock)[2] == body and sock.recv(1) == b"", "HTTP/1.0 ends with the connection")
    with socket.create_connection(("::1", server.port), 5) as sock:
        check(get(sock, root)[2] == body, "over IPv6")
    try:
        own = socket.gethostbyname(socket.gethostname())
        if not own.startswith("127."):
            socket.create_connection((own, server.port), 2)
            check(False, f"listens on {own}, which is not loopback")
    except OSError:
        pass


@section()
def dns(server, name, urls):
    address = server.resolve(name)
    check(address.startswith("127.") and address != "127.0.0.1", f"address {address}")
    check(server.query(name.upper()) == (0, [address]), "names have no case")
    check(server.query(name, tcp=True) == (0, [address]), "over TCP")
    check(server.query(name, 28) == (0, []), "AAAA: no error, no address")
    check(server.query("h99.d0.sim") == (3, []), "a host that is not there")
    check(server.query("sim") == (0, []), "a top-level domain")
    check(server.query("www.example.com")[0] == 5, "another's name is refused")
    zone = websim.run("zone", *server.web)
    check(re.search(rf"^{re.escape(name)}\. IN A {re.escape(address)}$", zone, re.M), "the zone file says the same")


@section("--think-ms", 60, "--rtt-ms", 120)
def latency(server, name, urls):
    with server.connect(name) as sock:
        first = timed(get, sock, urls[0])[1]
        second = timed(get, sock, urls[0])[1]
    check(first > second > 0.005, f"answers took {first:.3f} and {second:.3f} s")


@section("--bandwidth", "64K", "--size", "100K", "--size-spread", 0)
def bandwidth(server, name, urls):
    with server.connect(name) as sock:
        (_, _, body), seconds = timed(get, sock, urls[0])
    rate = len(body) / seconds
    check(8192 < rate < 1 << 20, f"{rate:.0f} bytes per second")


@section("--chunked", 1)
def chunked(server, name, urls):
    with server.connect(name) as sock:
        status, fields, body = get(sock, urls[0])
        check(fields.get("transfer-encoding") == "chunked" and "content-length" not in fields, "not chunked")
        check(body.endswith(b"</html>\n"), "a chunked body is cut")


def unpack(command, body):
    return subprocess.run([command, "-dc"], input=body, capture_output=True, check=True).stdout


for option, token, decode in (("gzip", "gzip", lambda body: zlib.decompress(body, 31)),
                              ("brotli", "br", lambda body: unpack("brotli", body)),
                              ("zstd", "zstd", lambda body: unpack("zstd", body))):
    for chunks in (0, 1):
        with websim.Server(*WEB, f"--{option}", 1, "--chunked", chunks) as server:
            url = server.command("seeds").split()[0]
            with server.connect(websim.split(url)[0]) as sock:
                plain = get(sock, url)[2]
                status, fields, body = get(sock, url, f"Accept-Encoding: identity, {token};q=0.5\r\n")
                check(fields.get("content-encoding") == token, f"{option}: not encoded")
                check(len(body) < len(plain) and decode(body) == plain, f"{option}: does not decode")
                fields = get(sock, url, f"Accept-Encoding: {token};q=0, other\r\n")[1]
                check("content-encoding" not in fields, f"{option}: encoded though not accepted")


@section("--connection-limit", 1)
def limited(server, name, urls):
    socks = [server.connect(name) for _ in range(6)]
    statuses = [get(sock, urls[0])[0] for sock in socks]
    allowed = statuses.count(200)
    check(2 <= allowed <= 4 and statuses == [200] * allowed + [503] * (6 - allowed), f"statuses {statuses}")
    for sock in socks:
        sock.close()
    for _ in range(100):  # until the server has seen that they are closed
        with server.connect(name) as sock:
            status = get(sock, urls[0])[0]
        if status == 200:
            break
        time.sleep(0.02)
    check(status == 200, "the limit does not end with the connections")


@section("--close-after", 1)
def closing(server, name, urls):
    requests = 0
    with server.connect(name) as sock:
        while True:
            requests += 1
            if get(sock, urls[0])[1].get("connection") == "close":
                break
        check(sock.recv(1) == b"" and requests <= 64, f"closed after {requests} requests")
    with server.connect(name) as sock:
        closes = [get(sock, urls[0])[1].get("connection") for _ in range(requests)]
        check(closes == [None] * (requests - 1) + ["close"], "another number of requests the next time")


def robots_of(server, name):
    with server.connect(name) as sock:
        return get(sock, f"http://{name}:{server.port}/robots.txt")


for kind, expected in (("absent", 404), ("rules", 200), ("agent", 200), ("delay", 200), ("error", 500), ("moved", None),
                       ("closed", 200)):
    with websim.Server(*WEB, f"--robots-{kind}", 1, "--agent", "spider") as server:
        name = websim.split(server.command("seeds").split()[0])[0]
        status, fields, body = robots_of(server, name)
        text = body.decode()
        if kind == "moved":
            check(300 < status < 309, f"robots {kind}: {status}")
            with server.connect(name) as sock:
                status, _, body = get(sock, fields["location"])
            text, expected = body.decode(), 200
        check(status == expected, f"robots {kind}: {status}")
        check(("Crawl-delay:" in text) == (kind == "delay"), f"robots {kind}: Crawl-delay")
        check(("User-agent: spider" in text) == (kind == "agent"), f"robots {kind}: {text}")
        check(("Disallow: /\n" in text.replace("otherbot\nDisallow: /\n", "")) >= (kind == "closed"), f"robots {kind}")
        check(("Disallow: /private/" in text) == (kind in ("rules", "agent", "delay", "moved")), f"robots {kind}: {text}")


@section("--sitemaps", 1, "--robots-absent", 0)
def sitemaps(server, name, urls):
    text = robots_of(server, name)[2].decode()
    sitemap = re.search(r"^Sitemap: (.*)$", text, re.M).group(1)
    with server.connect(name) as sock:
        status, fields, body = get(sock, sitemap)
        listed = [url.replace("&amp;", "&") for url in re.findall(r"<loc>(.*?)</loc>", body.decode())]
        check(fields["content-type"] == "application/xml", "a sitemap")
        check(len(listed) > 1 and all(get(sock, url)[0] < 400 for url in listed), "it lists pages")


@section("--throttled", 1, "--retry-s", 3)
def throttled(server, name, urls):
    with server.connect(name) as sock:
        answers = [get(sock, urls[0])[:2] for _ in range(16)]
    check([status for status, _ in answers] == ([200] * 7 + [429]) * 2, "every eighth is a 429")
    check(all(fields.get("retry-after") == ("3" if status == 429 else None) for status, fields in answers), "Retry-After")


@section("--spells", 1)
def spells(server, name, urls):
    seen = {}
    deadline = time.monotonic() + 12
    with server.connect(name) as sock:
        while time.monotonic() < deadline and len(seen) < 2:
            status, fields, _ = get(sock, urls[0])
            seen[status] = fields
            time.sleep(0.05)
    check(set(seen) == {200, 503} and seen[503].get("retry-after") == "1", f"statuses {set(seen)}")


@section("--meta-nofollow", 0.9)
def nofollow(server, name, urls):
    metas = headers = 0
    with server.connect(name) as sock:
        for url in urls:
            _, fields, body = get(sock, url)
            metas += b'<meta name="robots" content="nofollow">' in body
            headers += fields.get("x-robots-tag") == "nofollow"
    check(metas > 0 and headers > 0, f"nofollow: {metas} in pages, {headers} in headers")


websim.finish()
