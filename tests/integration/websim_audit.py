#!/usr/bin/env python3
"""The audit is right: a polite client over real sockets is found innocent, and one that breaks a single rule is
found guilty of that rule."""
import os
import re
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import websim

RATIO, BURST, IDLE = 0.5, 0.5, 0.1
TOLERANCE = "8000"
RULES = ["--ratio", str(RATIO), "--ip-ratio", str(RATIO), "--burst-ms", str(int(BURST * 1000)), "--min-idle-ms",
         str(int(IDLE * 1000)), "--ip-min-idle-ms", str(int(IDLE * 1000)), "--tolerance-us", TOLERANCE]
# The client is careful by this much, and rude by more than it: so long it may wait for a processor at any line.
GRACE = 0.1
ALWAYS = 60  # longer than any visit, on the busiest machine: for tests that are not about bursts
LATE = 0.15  # more than the kernel's clock forgives


class Client:
    """Visits hosts as the design page asks, except where a test makes it do otherwise."""

    def __init__(self, server):
        self.server, self.spent, self.sock = server, 0, None
        self.pages = {}
        for line in server.command("truth", "--digest", "none").splitlines():
            url = line.split("\t")[0]
            self.pages.setdefault(websim.split(url)[0], []).append(url)
        self.names = [name for name, urls in self.pages.items() if len(urls) > 45]

    def rest(self, factor=1.0):
        time.sleep(max(self.spent / RATIO, IDLE) * factor + (GRACE if factor == 1.0 else 0))

    def visit(self, name, count, robots=False, pages=None, burst=BURST):
        """Up to `count` pages of the host over a new connection; none is begun after the burst."""
        begun = time.monotonic()
        urls = list(pages) if pages is not None else self.pages[name][:count]
        left = [f"http://{name}:{self.server.port}/robots.txt"] * robots + urls
        statuses = []
        with self.server.connect(name) as sock:
            while left and time.monotonic() - begun < burst - GRACE:
                statuses.append(websim.get(sock, left.pop(0))[0])
        if pages is None:
            del self.pages[name][:len(urls) - len(left)]
        self.spent = time.monotonic() - begun
        return statuses


def audit(journal, *arguments):
    """(exit code, violations by rule)"""
    done = subprocess.run([websim.PROGRAM, "audit", journal, *arguments], capture_output=True, text=True)
    found = dict(re.findall(r"^(\S.*?) +checked \d+ violations (\d+)$", done.stdout, re.M))
    if len(found) != 11:
        sys.exit(f"cannot read the audit: {done.stdout}{done.stderr}")
    return done.returncode, {rule: int(count) for rule, count in found.items() if int(count)}, done.stdout


def expect(what, act, guilty, arguments=RULES, web=("--think-ms", 20)):
    with tempfile.TemporaryDirectory() as directory:
        journal = os.path.join(directory, "journal")
        with websim.Server("--plain", "--hosts", 30, "--addresses", 10, "--pages", 60, "--journal", journal, *web) as server:
            act(Client(server))
        code, found, text = audit(journal, *arguments)
        good = set(found) == set(guilty) and code == (1 if guilty else 0)
        websim.check(good, f"{what}: exit code {code}, found {found}\n{text}")


def polite(client):
    for name in client.names[:3]:
        client.visit(name, 3, robots=True)
        client.rest()
        client.visit(name, 40)
        client.rest()
        client.visit(name, 1)
        client.rest()


def hang_up(client):
    """Asks and goes away at once, like a client that is killed; then waits as long as it should."""
    for name in client.names[:5]:
        client.visit(name, 0, robots=True)
        client.rest()
        target = websim.split(client.pages[name].pop(0))[2]
        begun = time.monotonic()
        with client.server.connect(name) as sock:
            sock.sendall(f"GET {target} HTTP/1.1\r\nHost: {name}:{client.server.port}\r\n\r\n".encode())
        client.spent = time.monotonic() - begun
        client.rest()
        client.visit(name, 1)
        client.rest()


def short_rest(client):
    name = client.names[0]
    client.visit(name, 30, robots=True)
    client.rest(0.5)
    client.visit(name, 1)


def no_minimum(client):
    name = client.names[0]
    client.visit(name, 1, robots=True)
    time.sleep(max(client.spent / RATIO, BURST) + 2 * GRACE)  # too late for the same visit
    client.visit(name, 1)


def long_burst(client):
    """Goes on with requests on the kept connection after the burst."""
    name = client.names[0]
    with client.server.connect(name) as sock:
        websim.get(sock, f"http://{name}:{client.server.port}/robots.txt")
        begun = time.monotonic()
        while time.monotonic() - begun < BURST + GRACE:
            websim.get(sock, client.pages[name].pop(0))
        websim.get(sock, client.pages[name].pop(0))


def two_connections(client):
    name = client.names[0]
    client.visit(name, 0, robots=True)
    client.rest()
    with client.server.connect(name) as first, client.server.connect(name) as second:
        websim.get(first, client.pages[name].pop(0))
        websim.get(second, client.pages[name].pop(0))
        time.sleep(LATE)


def neighbours(client):
    by_address = {}
    for name in client.names:
        by_address.setdefault(client.server.resolve(name), []).append(name)
    return next(names for names in by_address.values() if len(names) > 1)


def address_without_rest(client):
    first, second = neighbours(client)[:2]
    client.visit(first, 30, robots=True)
    client.rest(0.5)
    client.visit(second, 1, robots=True)


def address_with_two(client):
    first, second = neighbours(client)[:2]
    with client.server.connect(first) as one, client.server.connect(second) as two:
        websim.get(one, f"http://{first}:{client.server.port}/robots.txt")
        websim.get(two, f"http://{second}:{client.server.port}/robots.txt")
        time.sleep(LATE)


def without_robots(client):
    client.visit(client.names[0], 1)


def twice(client):
    name = client.names[0]
    url = client.pages[name][0]
    client.visit(name, 2, robots=True, pages=[url, url], burst=ALWAYS)


def requests_in_a_row(client):
    client.visit(client.names[0], 3, robots=True, burst=ALWAYS)


def ignore_429(client):
    name = client.names[0]
    with client.server.connect(name) as sock:
        websim.get(sock, f"http://{name}:{client.server.port}/robots.txt")
        for _ in range(9):
            status = websim.get(sock, client.pages[name].pop(0))[0]
    websim.check(status == 200, "the ninth request is not answered")


def obey_429(client):
    name = client.names[0]
    with client.server.connect(name) as sock:
        websim.get(sock, f"http://{name}:{client.server.port}/robots.txt")
        for _ in range(9):
            status, fields, _ = websim.get(sock, client.pages[name].pop(0))
            if status == 429:
                time.sleep(float(fields["retry-after"]) + GRACE)


def go_where_forbidden(client):
    """Pages that the truth lists as forbidden."""
    for line in client.server.command("truth", "--digest", "none", "--all").splitlines():
        url, _, _, _, note = line.split("\t")
        if note == "robots":
            client.visit(websim.split(url)[0], 1, robots=True, pages=[url])
            return
    sys.exit("nothing is forbidden")


def ask_again(client):
    """For a page that was no good the first time, until the page is good: the client's right."""
    rows = (line.split("\t") for line in client.server.command("truth", "--digest", "none").splitlines())
    url = next(row[0] for row in rows if row[4] in ("short", "badchunk", "bighead"))
    name, port, target = websim.split(url)
    for path in ("/robots.txt", target, target):
        with client.server.connect(name) as sock:
            sock.sendall(f"GET {path} HTTP/1.1\r\nHost: {name}:{port}\r\nConnection: close\r\n\r\n".encode())
            while sock.recv(1 << 16):
                pass


expect("polite", polite, [])
expect("hanging up", hang_up, [], RULES, ["--think-ms", 40])
for fault in ("short", "badchunk", "bighead"):
    expect(f"again after {fault}", ask_again, [], [], ["--fault", f"{fault}=1"])
expect("short rest", short_rest, ["rest of a host after a visit, by the ratio", "rest of an address after a visit, by the ratio"])
expect("no minimum", no_minimum, ["minimum idle time"], RULES + ["--min-idle-ms", "3000"])
expect("long burst", long_burst, ["rest of a host after a visit, by the ratio", "rest of an address after a visit, by the ratio"])
expect("two connections", two_connections,
       ["connections to one host at a time", "connections to one address at a time"], ["--tolerance-us", TOLERANCE])
expect("address without rest", address_without_rest, ["rest of an address after a visit, by the ratio"])
expect("address with two", address_with_two, ["connections to one address at a time"], ["--tolerance-us", TOLERANCE])
expect("two where two are allowed", address_with_two, [], ["--connections-per-address", "2"])
expect("without robots.txt", without_robots, ["robots.txt before anything else"])
expect("the same twice", twice, ["each URL once"], [])
expect("no delay", requests_in_a_row, ["fixed delay between two requests to a host"], ["--delay-ms", "1000"])
expect("no Crawl-delay", requests_in_a_row, ["Crawl-delay"], [], ["--robots-delay", 1])
expect("Retry-After ignored", ignore_429, ["Retry-After"], [], ["--throttled", 1])
expect("Retry-After obeyed", obey_429, [], [], ["--throttled", 1])
expect("forbidden", go_where_forbidden, ["what robots.txt forbids"], [], ["--robots-rules", 1])
websim.finish()
