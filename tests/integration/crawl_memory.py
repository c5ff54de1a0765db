#!/usr/bin/env python3
"""What a crawl takes of the machine's memory is what its tuning file allows it, and a constant."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from simulated import RUDE, Crawl, Pages, is_sanitized, main, merge  # noqa: E402

MIB = 1 << 20
# As engine/tuning/README.md states it.
HOST_BYTES, NAME_BYTES, LOOP_BYTES, CONSTANT_BYTES = 970, 420, 20 * MIB, 8 * MIB
HTML = {"Content-Type": "text/html"}


def links(page):
    """5,000 links that are nowhere else, 100 bytes each."""
    return "".join(f'<a href="/{page}/{number:0>90}">x</a>' for number in range(5000)).encode()


def test_memory_is_within_the_budgets():
    """The frontier is filled to the last byte; a part of what waits is fetched, and its memory used again."""
    budgets = {"sieve": 16, "frontier": 8, "pages": 16, "robots": 4}
    hosts, names, threads, buffer = 1000, 1000, 2, 4
    with Pages({"127.0.0.1": {}, "127.0.0.2": {}}) as web:
        for address, pages in web.pages.items():
            pages["/"] = 200, HTML, "".join(f'<a href="/{page}">x</a>' for page in range(20)).encode()
            pages.update((f"/{page}", (200, HTML, links(page))) for page in range(20))
        memory = {key: f"{value}MiB" for key, value in budgets.items()} | {"hosts": str(hosts)}
        tuning = merge(RUDE, {"memory": memory, "net": {"dns-cache": str(names)}, "store": {"buffer": f"{buffer}MiB"}})
        crawl = Crawl(web, tuning, "--threads", str(threads), "--max-pages", "2000")
        assert crawl.code == 0, crawl.stderr
        assert crawl.summary["urls_stowed"] > 1000, crawl.summary
        allowed = ((sum(budgets.values()) + buffer) * MIB + hosts * HOST_BYTES + CONSTANT_BYTES
                   + threads * (LOOP_BYTES + names * NAME_BYTES))
        peak = crawl.summary["peak_memory_bytes"]
        print(f"  peak {peak / MIB:.1f} MiB of {allowed / MIB:.1f}")
        assert is_sanitized() or peak <= allowed, (peak, allowed)


main([test_memory_is_within_the_budgets])
