#!/usr/bin/env python3
"""Bodies that end early: what came is stored and marked, its links are followed, the log says what cut it; a cut by
disconnection is tried again before that. A rest that comes late is nobody's answer; who never answers is given up."""
import socket
import sys
import threading
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import warc  # noqa: E402
from listener import Site, read_request  # noqa: E402
from simulated import RUDE, Crawl, main, merge  # noqa: E402

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
TRIES = 2  # and as many retries less one
TUNING = merge(RUDE, {"retry": {"wait": "50ms", "times": str(TRIES - 1)},
                      "net": {"first-byte-timeout": "60s", "fetch-timeout": "3s"}, "robots": {"retry": "200ms"}})


def page(*links):
    return "".join(f'<a href="{link}">x</a>' for link in links).encode()


def whole(body):
    return HEAD + b"Content-Length: %d\r\n\r\n" % len(body) + body


class Scripts(Site):
    """{path: script(connection)}; what is not there is a page without links."""

    def __init__(self, scripts):
        self.scripts, self.asked, self.over = scripts, Counter(), threading.Event()

    def __exit__(self, *what):
        self.over.set()
        super().__exit__(*what)

    def serve(self, connection):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with connection:
            try:
                while path := self.read_path(connection):
                    script = self.scripts.get(path, lambda c: c.sendall(whole(b"")))
                    if script(connection) == "close":
                        return
            except OSError:
                pass  # the crawler has had enough

    def read_path(self, connection):
        request = read_request(connection)
        if not request:
            return None
        path = request.split(b" ")[1].decode()
        self.asked[path] += 1
        return path


def cut_short(c):
    c.sendall(HEAD + b"Content-Length: 9999\r\n\r\n" + page("/from-short"))
    return "close"


def cut_chunks(c):
    body = page("/from-chunks")
    c.sendall(HEAD + b"Transfer-Encoding: chunked\r\n\r\n%x\r\n" % len(body) + body)
    return "close"


def bad_chunk(c):
    body = page("/from-bad")
    c.sendall(HEAD + b"Transfer-Encoding: chunked\r\n\r\n%x\r\n" % len(body) + body + b"\r\nno number\r\n")
    c.recv(1)


def stand_still(c):
    c.sendall(HEAD + b"Content-Length: 9999\r\n\r\n" + page("/from-still"))
    c.recv(1)  # until the crawler has had enough


CUTS = {"/short": (cut_short, "body-truncated", "disconnect", TRIES),
        "/chunks": (cut_chunks, "body-truncated", "disconnect", TRIES),
        "/bad": (bad_chunk, "chunk-bad", "unspecified", TRIES),
        "/still": (stand_still, "exchange-timeout", "time", 1)}


def test_what_came_is_kept():
    scripts = {path: cut[0] for path, cut in CUTS.items()}
    scripts["/"] = lambda c: c.sendall(whole(page(*CUTS)))
    with Scripts(scripts) as web:
        crawl = Crawl(web, TUNING)
        assert crawl.code == 0, crawl.stderr
        rows = {row[3].split("/", 3)[3]: row for row in crawl.log}
        records = {r["WARC-Target-URI"].split("/", 3)[3]: r for path in crawl.warcs() if ".warc" in path.name
                   for r in warc.read(path) if warc.is_capture(r)}
        for path, (_, outcome, word, tries) in CUTS.items():
            name = path[1:]
            assert rows[name][1] == "200" and outcome in rows[name][11].split(","), rows[name]
            assert records[name]["WARC-Truncated"] == word, records[name].fields
            assert records[name].payload() == page("/from-" + name), records[name].block
            assert f"from-{name}" in rows, (name, list(rows))
            assert web.asked[path] == tries, (path, web.asked)
        assert records[""]["WARC-Truncated"] is None
        assert crawl.summary["truncated"] == len(CUTS), crawl.summary


def test_robots_that_were_cut_count():
    text = b"User-agent: *\nDisallow: /private\n"

    def robots(c):
        c.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 9999\r\n\r\n" + text)
        return "close"

    with Scripts({"/robots.txt": robots, "/": lambda c: c.sendall(whole(page("/private/a", "/public")))}) as web:
        crawl = Crawl(web, TUNING)
        assert crawl.code == 0, crawl.stderr
        assert web.asked["/public"] == 1 and web.asked["/private/a"] == 0, web.asked
        assert web.asked["/robots.txt"] == 1, web.asked


def test_a_late_rest_answers_nobody():
    wrong = whole(page("/wrong"))

    def late(status):
        def script(c):
            c.sendall(b"HTTP/1.1 %d X\r\nContent-Length: %d\r\n\r\n" % (status, len(wrong)))
            c.recv(4096)  # the next request, if there is one, or the end
            c.sendall(wrong)
            return "close"
        return script

    links = ["/304", "/204", *(f"/{i}" for i in range(8))]
    with Scripts({"/304": late(304), "/204": late(204), "/": lambda c: c.sendall(whole(page(*links)))}) as web:
        crawl = Crawl(web, TUNING)
        assert crawl.code == 0, crawl.stderr
        assert web.asked["/wrong"] == 0, web.asked
        assert all(web.asked[path] == 1 for path in links), web.asked


def test_odd_statuses_are_counted_as_such():
    def answers(c):
        c.sendall(b"HTTP/1.1 999 Denied\r\nContent-Length: 0\r\n\r\n")

    with Scripts({"/": lambda c: c.sendall(whole(page("/odd"))), "/odd": answers}) as web:
        crawl = Crawl(web, TUNING)
        assert {row[1] for row in crawl.log} == {"200", "999"}, crawl.log
        assert crawl.summary["status"] == {"2xx": 1, "9xx": 1}, crawl.summary["status"]


def test_a_server_that_only_closes_is_given_up():
    links = [f"/{number}" for number in range(20)]
    scripts = {link: lambda c: "close" for link in links}
    scripts["/"] = lambda c: c.sendall(whole(page(*links)))
    failures = 5
    with Scripts(scripts) as web:
        crawl = Crawl(web, merge(TUNING, {"retry": {"host-failures": str(failures), "times": "3"}}))
        assert crawl.code == 0, crawl.stderr
        assert crawl.summary["outcomes"] == {"done": 1, "first-byte-closed": len(links)}, crawl.summary["outcomes"]
        # One more on the connection that was kept alive: that it was closed then is no failure.
        assert sum(web.asked[link] for link in links) <= failures + 1, web.asked


def test_slow_transfers_are_cut():
    def drip(c):
        c.sendall(HEAD + b"Content-Length: 99999\r\n\r\n" + page("/found"))
        while not web.over.wait(0.3):
            c.sendall(b" ")

    with Scripts({"/": drip}) as web:
        crawl = Crawl(web, merge(TUNING, {"net": {"min-rate": "1KiB", "fetch-timeout": "1h"}}))
        assert crawl.code == 0, crawl.stderr
        rows = {row[3].split("/", 3)[3]: row for row in crawl.log}
        assert rows[""][1] == "200" and "slow-transfer" in rows[""][11].split(","), crawl.log
        assert rows["found"][1] == "200" and web.asked["/"] == 1, crawl.log


if __name__ == "__main__":
    main([test_what_came_is_kept, test_robots_that_were_cut_count, test_slow_transfers_are_cut,
          test_a_late_rest_answers_nobody, test_a_server_that_only_closes_is_given_up,
          test_odd_statuses_are_counted_as_such])
