#!/usr/bin/env python3
"""A disk that is slower than the crawl, or fails, and a terminal that nobody reads: the crawl hears its signals and its
clock all the same, and what it logged is what it stored."""
import fcntl
import os
import signal
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import warc  # noqa: E402
from journal import last_commit_s  # noqa: E402
from simulated import BUILD, RUDE, Crawl, Pages, Web, is_sanitized, main, merge, wait_until  # noqa: E402

ENDLESS = ["--hosts", "40", "--pages", "6", "--plain", "--size", "40000", "--fault", "calendar=1"]
STORE = {"store": {"buffer": "1MiB", "compress": "none"}, "net": {"body-bytes": "64KiB"},
         "status": {"interval": "100ms"}}
# With 2 MB on their way to a disk of 1 MB/s, an end takes two seconds; the machine may be busy.
SLOW = {"DISK_BYTES_PER_S": "1000000"}
END_S = 20


def disk(**settings):
    return {**os.environ, "LD_PRELOAD": str(BUILD / "preload_disk.so"), **settings}


def check_kept(crawl):
    """The log and the store tell the same."""
    assert not [path for path in crawl.directory.rglob("*.open")], "a file was left open"
    stored = [record["WARC-Target-URI"] for path in crawl.warcs() for record in warc.read(path)
              if warc.is_capture(record)]
    assert sorted(stored) == sorted(crawl.fetched), (len(stored), len(crawl.fetched))
    assert crawl.summary["stored"] == len(stored), (crawl.summary["stored"], len(stored))
    return len(stored)


def test_slow_disk_and_max_time():
    with Web(*ENDLESS) as web:
        begun = time.monotonic()
        crawl = Crawl(web, merge(RUDE, STORE), "--threads", "2", "--max-time", "2", env=disk(**SLOW), timeout=60)
        took = time.monotonic() - begun
        print(f"  {check_kept(crawl)} pages in {took:.1f} s, {crawl.summary['stalls']} stalls")
        assert crawl.code == 0 and crawl.summary["end"] == "time" and took < 2 + END_S, (crawl.code, took)
        assert crawl.summary["stalls"] > 0, "the disk was to be slower than the crawl"


def test_slow_disk_and_signal():
    told = []

    def interrupt(crawl):
        log = crawl.directory / "crawl.log"
        wait_until(lambda: log.exists() and log.stat().st_size > 0, "a page")
        told.append(time.monotonic())
        crawl.process.send_signal(signal.SIGTERM)

    with Web(*ENDLESS) as web:
        crawl = Crawl(web, merge(RUDE, STORE), "--threads", "2", env=disk(**SLOW), during=interrupt, timeout=60)
        took = time.monotonic() - told[0]
        assert crawl.code == 11 and took < END_S, (crawl.code, took)
        assert "MB are still to be written" in crawl.stderr, crawl.stderr
        check_kept(crawl)


def is_pending(process, number):
    """Whether a signal that was sent to a process was not taken yet."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    pending = next(line.split()[1] for line in status.splitlines() if line.startswith("ShdPnd:"))
    return int(pending, 16) >> (number - 1) & 1


def test_signals_are_heard_while_the_disk_stands_still():
    """A block of 256 KiB takes twelve seconds: whoever waits for the disk hears nothing for as long."""
    taken = []

    def ask_often(crawl):
        log = crawl.directory / "crawl.log"
        wait_until(lambda: log.exists() and log.stat().st_size > 0, "a page")
        for _ in range(15):
            begun = time.monotonic()
            crawl.process.send_signal(signal.SIGHUP)
            wait_until(lambda: not is_pending(crawl.process, signal.SIGHUP), "the signal")
            taken.append(time.monotonic() - begun)
        crawl.process.kill()

    with Web(*ENDLESS) as web:
        Crawl(web, merge(RUDE, STORE), "--threads", "2", env=disk(DISK_BYTES_PER_S="20000"), during=ask_often)
        taken.sort()
        print(f"  heard after {1e3 * taken[7]:.0f} ms, at most {1e3 * taken[-1]:.0f}")
        assert taken[7] < 0.1, taken  # the median: the machine may be busy


def test_disk_that_fails():
    """After some seconds, in which a part of the log was written, neither the store nor the log can be."""
    for threads in ("1", "2"):
        with Web(*ENDLESS) as web:
            env = disk(DISK_BYTES_PER_S="2000000", DISK_FAILS_AFTER="6000000")
            crawl = Crawl(web, merge(RUDE, STORE), "--threads", threads, env=env, timeout=60)
            assert crawl.code == 1 and "Input/output error" in crawl.stderr, (crawl.code, crawl.stderr)
            assert crawl.summary["end"] == "failed", crawl.summary["end"]
            assert check_kept(crawl) > 10


def fill(fd):
    """Leaves no room in a pipe; the description stays as it was."""
    flags = fcntl.fcntl(fd, fcntl.F_GETFL)
    fcntl.fcntl(fd, fcntl.F_SETFL, flags | os.O_NONBLOCK)
    try:
        while True:
            os.write(fd, b"." * 4096)
    except BlockingIOError:
        fcntl.fcntl(fd, fcntl.F_SETFL, flags)


def test_stderr_that_nobody_reads():
    """A crawl goes on, and ends when it is told to."""
    out, into = os.pipe()
    fill(into)

    def interrupt(crawl):
        log = crawl.directory / "crawl.log"
        wait_until(lambda: log.exists() and log.stat().st_size > 0, "a page")
        size = log.stat().st_size
        wait_until(lambda: log.stat().st_size > size, "another page, many status lines later")
        crawl.process.send_signal(signal.SIGTERM)
        crawl.process.wait(END_S)

    with Web(*ENDLESS, "--rtt-ms", "200") as web:
        crawl = Crawl(web, merge(RUDE, STORE), during=interrupt, timeout=60, stderr=into)
        assert crawl.code == 11 and crawl.summary["end"] == "signal", crawl.code
    os.close(out)
    os.close(into)


class Endless(Pages):
    """Two more links on each page. `moments` are those of the requests, by the wall clock; answers wait for `may_answer`."""

    def __init__(self):
        super().__init__({"127.0.0.1": {}})
        self.moments, self.waiting, self.answered, self.closed, self.may_answer = [], 0, 0, 0, threading.Event()
        self.may_answer.set()

    def handler(self, address):
        web, base = self, super().handler(address)

        class Handler(base):
            def do_GET(self):
                web.moments.append(time.time())
                number = len(web.moments)
                web.pages[address][self.path] = (200, {"Content-Type": "text/html"}, b"<a href=/%d>1</a><a href=/-%d>2</a>" %
                                                 (number, number))
                web.waiting += not web.may_answer.is_set()
                web.may_answer.wait()
                super().do_GET()
                web.answered += 1

            def handle(self):
                try:
                    super().handle()
                except (BrokenPipeError, ConnectionResetError):
                    pass  # the visit was cut off
                web.closed += 1

        return Handler


LAG_MAX_S = 2
DURABLE = merge(RUDE, {"state": {"lag-max": f"{LAG_MAX_S}s", "commit": "20ms"}, "robots": {"obey": "no"},
                       "net": {"connections": "1"}})


def stall(crawl, path):
    """No commit is made any more."""
    path.touch()
    wait_until(lambda: time.time() > last_commit_s(crawl.directory) + LAG_MAX_S / 10, "a disk that stands still")


def go_on(web, path):
    """With the disk the crawl goes on."""
    count = len(web.moments)
    path.unlink()
    wait_until(lambda: len(web.moments) > count + 20, "more requests")


def test_no_request_without_commits():
    """A disk that takes nothing any more: before state.lag-max has passed there are no more requests."""
    def during(crawl):
        wait_until(lambda: len(web.moments) > 20, "some requests")
        stall(crawl, path)
        committed = last_commit_s(crawl.directory)
        wait_until(lambda: time.time() > committed + LAG_MAX_S, "the end of the time without commits")
        count = len(web.moments)
        assert web.moments[-1] <= committed + LAG_MAX_S, (web.moments[-1], committed)
        wait_until(lambda: time.time() > committed + 2 * LAG_MAX_S, "as much time again")
        assert len(web.moments) == count and last_commit_s(crawl.directory) == committed
        go_on(web, path)
        crawl.process.send_signal(signal.SIGTERM)

    with Endless() as web:
        path = web.directory / "stall"
        crawl = Crawl(web, DURABLE, env=disk(DISK_STALL=path), during=during)
        assert crawl.code == 11, (crawl.code, crawl.stderr)


def test_no_request_after_a_stop_without_commits():
    """The process itself stands still, longer than state.lag-max. An answer has come meanwhile: it is read, and nothing else
    is asked for until there is a commit."""
    def during(crawl):
        wait_until(lambda: len(web.moments) > 20, "some requests")
        web.may_answer.clear()
        wait_until(lambda: web.waiting > 0, "a request that waits for its answer")
        stall(crawl, path)
        crawl.process.send_signal(signal.SIGSTOP)
        committed, count, closed = last_commit_s(crawl.directory), len(web.moments), web.closed
        wait_until(lambda: time.time() > committed + LAG_MAX_S, "the end of the time without commits")
        web.may_answer.set()
        wait_until(lambda: web.answered == count, "the answer")
        crawl.process.send_signal(signal.SIGCONT)
        wait_until(lambda: web.closed > closed, "the end of the visit")
        assert len(web.moments) == count and last_commit_s(crawl.directory) == committed, web.moments[count:]
        go_on(web, path)
        crawl.process.send_signal(signal.SIGTERM)

    with Endless() as web:
        path = web.directory / "stall"
        crawl = Crawl(web, DURABLE, env=disk(DISK_STALL=path), during=during)
        assert crawl.code == 11, (crawl.code, crawl.stderr)


if is_sanitized():
    main([test_stderr_that_nobody_reads])  # a sanitizer wants to be loaded first
else:
    main([test_slow_disk_and_max_time, test_slow_disk_and_signal, test_signals_are_heard_while_the_disk_stands_still,
          test_disk_that_fails, test_no_request_without_commits, test_no_request_after_a_stop_without_commits,
          test_stderr_that_nobody_reads])
