#!/usr/bin/env python3
"""Servers that promise much and drip: they hold neither the memory nor the connections of the others."""
import socket
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from simulated import RUDE, Crawl, Pages, main, merge, wait_until  # noqa: E402

# Each page in a visit of its own.
QUICK = {"robots": {"obey": "no"}, "store": {"kind": "none"}, "crawl": {"stop-within": "0s"}, "politeness": {"burst": "0s"}}
HTML = {"Content-Type": "text/html"}
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 262144\r\n\r\n"


class Drips:
    """Listens on many addresses, one port; answers with `start` and then a byte now and then until the client goes."""

    def __init__(self, addresses, start=HEAD):
        self.start = start
        self.stopped, self.lock = threading.Event(), threading.Lock()
        self.open = self.open_most = 0
        self.listeners, self.port = [], 0
        for address in addresses:
            listener = socket.create_server((address, self.port), backlog=8)
            self.port = listener.getsockname()[1]
            self.listeners.append(listener)
            threading.Thread(target=self.accept, args=(listener,), daemon=True).start()

    def accept(self, listener):
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=self.drip, args=(client,), daemon=True).start()

    def drip(self, client):
        self.count(1)
        try:
            client.recv(65536)
            client.sendall(self.start)
            while not self.stopped.wait(1):
                client.sendall(b"x")
        except OSError:
            pass
        finally:
            self.count(-1)
            client.close()

    def count(self, change):
        with self.lock:
            self.open += change
            self.open_most = max(self.open_most, self.open)

    def close(self):
        self.stopped.set()
        for listener in self.listeners:
            listener.close()


class Late(dict):
    """The pages of a host that answers when so many drips are open."""

    def __init__(self, slow, drips):
        super().__init__({"/": (200, HTML, b'<a href="/next">'), "/next": (200, HTML, b"hello")})
        self.slow, self.drips = slow, drips

    def get(self, path, default=None):
        wait_until(lambda: self.slow.open >= self.drips or path == "/next", "the drips")
        return super().get(path, default)


def crawl_with_drips(tuning, drips=24, healthy=12, start=HEAD, drips_first=0):
    """Seconds until both pages of each healthy host were asked for, which answers when so many drips are there."""
    dripping = [f"127.0.5.{i}" for i in range(1, drips + 1)]
    slow = Drips(dripping, start)
    try:
        with Pages({f"127.0.6.{i}": Late(slow, drips_first) for i in range(1, healthy + 1)}) as web:
            seeds = web.directory / "all.txt"
            seeds.write_text("".join(f"http://{address}:{slow.port}/\n" for address in dripping) +
                             "".join(web.url(address) + "\n" for address in web.pages))
            began = time.monotonic()
            asked = []

            def watch(crawl):
                while len(set(web.asked)) < 2 * healthy and crawl.process.poll() is None and time.monotonic() - began < 60:
                    time.sleep(0.02)
                asked.append(time.monotonic() - began)
                crawl.process.terminate()

            Crawl(web, merge(RUDE, QUICK, tuning), seeds=seeds, during=watch)
            assert len(set(web.asked)) == 2 * healthy, f"{len(set(web.asked))} of {2 * healthy} healthy pages were asked for"
            return asked[0]
    finally:
        slow.close()


def test_slow_hosts_hold_a_share_of_the_connections():
    """The floor on the rate would cut them after ten seconds, or after twenty if much came at first."""
    for kind, start in ("body", HEAD), ("head", HEAD[:-2] + b"X: "), ("rest", HEAD + b"x" * 20000):
        seconds = crawl_with_drips({"net": {"connections": "16", "min-rate": "100"}}, start=start)
        print(f"  {kind}: healthy hosts waited {seconds:.1f} s")
        assert seconds < 9, kind


def test_slow_hosts_hold_a_share_of_the_memory():
    """The start of each response takes 32 KiB, and a loop has 512, of which a quarter is kept for a page to grow."""
    seconds = crawl_with_drips({"net": {"connections": "80", "min-rate": "100"}, "memory": {"pages": "1MiB"}}, drips=40,
                               drips_first=26)
    print(f"  healthy hosts waited {seconds:.1f} s")
    assert seconds < 9


def test_promises_take_no_memory():
    """Sixteen promises of 256 KiB would be all of it."""
    seconds = crawl_with_drips({"net": {"connections": "1000", "min-rate": "0"}, "memory": {"pages": "4MiB"}})
    assert seconds < 9, f"healthy hosts waited {seconds:.1f} s"


def test_connections_are_as_many_as_the_key_says():
    """Over all loops, also where they do not part evenly, or are fewer than the loops."""
    dripping = [f"127.0.5.{i}" for i in range(1, 13)]
    for threads, connections in (2, 3), (2, 1):
        slow = Drips(dripping)
        try:
            with Pages({}) as web:
                seeds = web.directory / "all.txt"
                seeds.write_text("".join(f"http://{address}:{slow.port}/\n" for address in dripping))
                Crawl(web, merge(RUDE, QUICK, {"net": {"connections": connections}}),
                      "--threads", str(threads), "--max-time", "2", seeds=seeds)
                assert slow.open_most == connections, (threads, connections, slow.open_most)
        finally:
            slow.close()


main([test_connections_are_as_many_as_the_key_says, test_slow_hosts_hold_a_share_of_the_connections,
      test_slow_hosts_hold_a_share_of_the_memory, test_promises_take_no_memory])
