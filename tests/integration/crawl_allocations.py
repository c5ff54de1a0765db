#!/usr/bin/env python3
"""Memory that cannot be had: each allocation of a small crawl fails in turn. Whatever fails, nothing crashes or hangs,
and a crawl that could not begin or go on says why in one line."""
import gzip
import os
import resource
import subprocess
import sys
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from simulated import BUILD, BUNDLE, RUDE, Pages, is_sanitized, main, merge, one_certificate, tuning_text  # noqa: E402

HTML = {"Content-Type": "text/html"}
ROBOTS = b"User-agent: *\nDisallow: /no\nSitemap: /map.gz\n"
SITE = {"/robots.txt": (200, {"Content-Type": "text/plain"}, ROBOTS),
        "/map.gz": (200, {"Content-Type": "application/gzip"}, gzip.compress(b"http://localhost:80/\n" * 9)),
        "/": (200, HTML, b'<a href="/next"><a href="/no"><a href="http://127.0.0.2:PORT/">'),
        "/next": (200, {**HTML, "Content-Encoding": "gzip"}, gzip.compress(b'<p>packed <a href="/last">' * 50)),
        "/last": (200, {"Content-Type": "text/html; charset=utf-16le"}, '<a href="/wide">'.encode("utf-16le")),
        "/wide": (200, {**HTML, "Content-Encoding": "deflate"}, zlib.compress(b"<p>end"))}
TINY = merge(RUDE, {"memory": {"sieve": "64KiB", "frontier": "1MiB", "hosts": "64", "pages": "8MiB"},
                    "net": {"connections": "4", "body-bytes": "64KiB", "dns-cache": "64"},
                    "store": {"buffer": "1MiB"}, "retry": {"times": "1", "wait": "10ms", "host-failures": "2"},
                    "scope": {"mode": "any", "exclude": "/never$", "surts": "http://(test,"}, "robots": {"retry": "10ms"}, "crawl": {"stop-within": "1s"}})


def prepare(web):
    """The system's certificates would be most of all allocations."""
    path = web.directory / "tiny.ini"
    path.write_text(tuning_text(merge(TINY, {"net": {"tls-ca-file": one_certificate(web.directory)}})))
    return path


def crawl(web, tuning, name, **settings):
    """The exit code and what was said."""
    env = {**os.environ, "LD_PRELOAD": str(BUILD / "preload_memory.so"), **settings}
    out = web.directory / name
    done = subprocess.run([BUILD / "lycosa", "crawl", "-c", tuning, "-o", out, "--max-time", "10",
                           f"http://localhost:{web.port}/"], capture_output=True, text=True, timeout=60, env=env)
    subprocess.run(["rm", "-rf", out], check=True)
    return done


def judge(number, done):
    """What is wrong with this end; None: nothing."""
    said = [line for line in done.stderr.splitlines() if line.startswith("lycosa: ")]
    if done.returncode not in (0, 1, 3, 4, 5):
        return f"allocation {number}: exit {done.returncode}: {done.stderr[-300:]}"
    if done.returncode not in (0, 5) and not said:
        return f"allocation {number}: exit {done.returncode} without a word"
    return None


def each_in_turn(setting):
    with Pages({"127.0.0.1": SITE}) as web:
        tuning, count_file = prepare(web), web.directory / "count"
        done = crawl(web, tuning, "whole", MEMORY_COUNT_FILE=str(count_file))
        assert done.returncode == 0, done.stderr
        count = int(count_file.read_text())
        with ThreadPoolExecutor(4) as pool:
            ends = list(pool.map(lambda n: (n, crawl(web, tuning, f"crawl-{n}", **{setting: str(n)})), range(1, count + 1)))
        wrong = [text for text in (judge(*end) for end in ends) if text]
        codes = sorted({end.returncode for _, end in ends})
        print(f"  {count} allocations, exit codes {codes}")
        assert not wrong, f"{len(wrong)} ends are wrong:\n" + "\n".join(wrong)


def test_each_allocation_fails_in_turn():
    each_in_turn("MEMORY_FAILS_AT")


def test_no_allocation_succeeds_any_more():
    each_in_turn("MEMORY_FAILS_FROM")


def test_less_memory_than_the_tuning_file_wants():
    """A buffer beyond the limit of the process is refused with the name of its key."""
    def less():
        resource.setrlimit(resource.RLIMIT_AS, (1000000 * 1024, 1000000 * 1024))
    with Pages({"127.0.0.1": SITE}) as web:
        for section, key, value in (("store", "buffer", "8GiB"), ("memory", "frontier", "8GiB"),
                                    ("memory", "sieve", "8GiB"), ("memory", "hosts", "100000000")):
            path = web.directory / "large.ini"
            path.write_text(tuning_text(merge(TINY, {section: {key: value}})))
            done = subprocess.run([BUILD / "lycosa", "crawl", "-c", path, "-o", web.directory / "crawl",
                                   web.url("127.0.0.1")], capture_output=True, text=True, timeout=60, preexec_fn=less)
            assert done.returncode == 1 and len(done.stderr.splitlines()) == 1, (key, done.returncode, done.stderr)
            assert f"{section}.{key}" in done.stderr, (key, done.stderr)
            assert not (web.directory / "crawl").exists()


if is_sanitized() or not BUNDLE.exists():
    sys.exit(77)  # a sanitizer has an allocator of its own
main([test_each_allocation_fails_in_turn, test_no_allocation_succeeds_any_more,
      test_less_memory_than_the_tuning_file_wants])
