#!/usr/bin/env python3
"""A page or a robots.txt that finds too little memory to be decoded waits until others have given theirs back: no link is
lost, no rule forgotten, no host blamed."""
import base64
import gzip
import http.server
import random
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from simulated import RUDE, Crawl, Pages, main, merge  # noqa: E402

LONG = b"x" * (3 << 20)
PACKED = gzip.compress(b"<p>" + LONG + b'<a href="/last">')
BUDGET = {"memory": {"pages": "8MiB"}, "net": {"connections": "8"}, "robots": {"obey": "no"}, "store": {"kind": "none"}}


class Crowd(Pages):
    """127.0.7.1 sends most of a long body and holds the rest back until some time after 127.0.7.2 has sent what it has at
    `path`, packed, which is sent only once the long body is there."""

    def __init__(self, long, path, packed):
        super().__init__({"127.0.7.1": {}, "127.0.7.2": {}})
        self.long, self.path, self.packed = long, path, packed
        self.is_full, self.is_packed = threading.Event(), threading.Event()

    def handler(self, address):
        web = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                web.asked.append((address, self.path))
                if self.path == "/robots.txt" and web.path != self.path:
                    self.send_error(404)
                    return
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                if address == "127.0.7.2" and self.path == web.path:
                    self.pack()
                elif address == "127.0.7.1" and self.path == "/":
                    self.hold()
                else:
                    self.send_header("Content-Length", "0")
                    self.end_headers()

            def hold(self):
                self.send_header("Content-Length", str(len(web.long) + 4))
                self.end_headers()
                self.wfile.write(web.long)
                time.sleep(0.3)
                web.is_full.set()
                web.is_packed.wait(20)
                time.sleep(0.7)
                self.wfile.write(b"last")

            def pack(self):
                web.is_full.wait(20)
                self.send_header("Content-Encoding", "gzip")
                self.send_header("Content-Length", str(len(web.packed)))
                self.end_headers()
                self.wfile.write(web.packed)
                web.is_packed.set()

            def log_message(self, *_):
                pass

        return Handler


def test_a_page_waits_for_memory():
    with Crowd(LONG, "/", PACKED) as web:
        crawl = Crawl(web, merge(RUDE, BUDGET), timeout=60)
        assert crawl.summary["outcomes"] == {"done": 3}, crawl.summary["outcomes"]
        assert web.url("127.0.7.2", "/last") in crawl.fetched, crawl.fetched


def robots(size):
    """A long robots.txt: what matters is at its end."""
    return b"# nothing\n" * (size // 10) + b"User-agent: *\nDisallow: /no\n"


def seeds_of(web, *urls):
    path = web.directory / "chosen.txt"
    path.write_text("".join(url + "\n" for url in urls))
    return path


def test_a_robots_txt_waits_for_memory():
    """One failure would be the end of the host. The file takes twelve times its size to compile: half of the budget."""
    with Crowd(LONG, "/robots.txt", gzip.compress(robots(250000))) as web:
        seeds = seeds_of(web, web.url("127.0.7.1"), web.url("127.0.7.2"), web.url("127.0.7.2", "/no"))
        tuning = merge(RUDE, BUDGET, {"robots": {"obey": "yes"}, "retry": {"host-failures": "1"}})
        crawl = Crawl(web, tuning, "--threads", "1", seeds=seeds, timeout=60)
        assert crawl.summary["outcomes"] == {"done": 2, "robots-denied": 1}, crawl.summary["outcomes"]
        assert web.asked.count(("127.0.7.2", "/robots.txt")) > 1, "there was to be too little memory at first"


def test_a_robots_txt_beyond_all_memory_ends():
    """It would never be compiled: its host is one whose robots.txt cannot be had."""
    site = {"/robots.txt": (200, {"Content-Type": "text/plain"}, robots(250000)), "/": (200, {}, b"hello")}
    with Pages({"127.0.7.2": site}) as web:
        tuning = merge(RUDE, BUDGET, {"robots": {"obey": "yes", "retry": "100ms"}, "retry": {"host-failures": "3"},
                                      "memory": {"pages": "4MiB"}})
        crawl = Crawl(web, tuning, "--threads", "1", "--max-time", "20")
        assert crawl.summary["outcomes"] == {"robots-unreachable": 1}, crawl.summary["outcomes"]
        assert web.asked == 3 * [("127.0.7.2", "/robots.txt")], len(web.asked)


def test_a_long_page_needs_what_it_holds():
    """2.5 MB that become 3.3: not eight times as many."""
    text = base64.b64encode(random.Random(1).randbytes(2500000))
    packed = gzip.compress(b"<p>" + text + b'</p><a href="/last">')
    site = {"/": (200, {"Content-Type": "text/html", "Content-Encoding": "gzip"}, packed), "/last": (200, {}, b"")}
    with Pages({"127.0.7.2": site}) as web:
        crawl = Crawl(web, merge(RUDE, BUDGET, {"memory": {"pages": "32MiB"}}), "--threads", "1")
        print(f"  {len(packed)} bytes")
        assert len(packed) > 2500000 and crawl.summary["outcomes"] == {"done": 2}, crawl.summary["outcomes"]


main([test_a_page_waits_for_memory, test_a_robots_txt_waits_for_memory, test_a_robots_txt_beyond_all_memory_ends,
      test_a_long_page_needs_what_it_holds])
