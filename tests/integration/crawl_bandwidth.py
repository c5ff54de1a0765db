#!/usr/bin/env python3
"""net.bandwidth: the rate holds over all loops, and visits stay whole."""
import contextlib
import json
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from simulated import RUDE, Crawl, Pages, main, merge  # noqa: E402

HTML = {"Content-Type": "text/html"}
STORE_NONE = {"store": {"kind": "none"}, "robots": {"obey": "no"}, "status": {"interval": "200ms"}}


def site(pages, size):
    """A page that links to all others, each of `size` bytes."""
    hub = "".join(f'<a href="/{i}">x</a>' for i in range(pages)).encode()
    return {"/": (200, HTML, hub), **{f"/{i}": (200, HTML, b"x" * size) for i in range(pages)}}


def check_rate(crawl, rate):
    """What was received, by the crawl's own account: no more than the cap, and not much less."""
    measured = crawl.summary["bytes_received"] / crawl.summary["seconds"]
    assert measured <= 1.05 * rate, f"{measured:.0f} bytes/s with a cap of {rate}"
    # The machine may be busy; half would be what one of two loops lets through.
    assert measured >= 0.6 * rate, f"{measured:.0f} bytes/s of a cap of {rate}"


def watch(crawl):
    """Notes what had been received when, as the crawl's summary tells it."""
    crawl.seen = {}
    while crawl.process.poll() is None:
        with contextlib.suppress(OSError, ValueError):
            summary = json.loads((crawl.directory / "summary.json").read_text())
            crawl.seen[summary["seconds"]] = summary["bytes_received"]
        time.sleep(0.02)


def check_windows(crawl, rate):
    """Any ten seconds: no more than the cap and what had been saved up."""
    seen = sorted(crawl.seen.items())
    windows = [(later - sooner, after - before) for sooner, before in seen for later, after in seen if later - sooner >= 10]
    assert windows, seen
    most = max(received / seconds for seconds, received in windows)
    print(f"  {len(windows)} windows of ten seconds and more, at most {most:.0f} bytes/s")
    assert most <= 1.05 * rate, f"{most:.0f} bytes/s with a cap of {rate}"


def test_one_host_over_one_connection():
    with Pages({"127.0.0.1": site(75, 40000)}) as web:
        crawl = Crawl(web, merge(RUDE, STORE_NONE, {"net": {"bandwidth": "500KB"}}))
        assert crawl.summary["pages"] == 76, crawl.summary["pages"]
        assert crawl.summary["visits"] <= 3, crawl.summary["visits"]
        check_rate(crawl, 500000)


def test_many_hosts_over_two_loops():
    with Pages({f"127.0.3.{i}": site(40, 8000) for i in range(1, 11)}) as web:
        crawl = Crawl(web, merge(RUDE, STORE_NONE, {"net": {"bandwidth": "600KB"}}), "--threads", "2")
        assert crawl.summary["pages"] == 410, crawl.summary["pages"]
        check_rate(crawl, 600000)


def test_long_bodies_come_at_the_rate():
    """A body is more than the line carries in ten seconds: time-outs do not count what the cap takes."""
    with Pages({f"127.0.3.{i}": site(1, 3000000) for i in range(1, 3)}) as web:
        impatient = {"net": {"bandwidth": "500KB", "fetch-timeout": "3s", "first-byte-timeout": "2s", "min-rate": "100KB"}}
        crawl = Crawl(web, merge(RUDE, STORE_NONE, impatient), "--threads", "2", during=watch)
        assert crawl.summary["pages"] == 4 and crawl.summary["truncated"] == 0, crawl.summary
        assert crawl.summary["visits"] == 2, crawl.summary["visits"]
        check_rate(crawl, 500000)
        check_windows(crawl, 500000)


main([test_one_host_over_one_connection, test_many_hosts_over_two_loops, test_long_bodies_come_at_the_rate])
