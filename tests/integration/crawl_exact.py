#!/usr/bin/env python3
"""A crawl fetches exactly what the simulated web says is to be fetched, each URL once, politely."""
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from simulated import IMPATIENT, RUDE, Crawl, Web, compare, is_sanitized, main, merge  # noqa: E402

# Server and crawler share two cores here: either may be kept waiting for a time slice of the other. 2 ms, the
# audit's default, is kept where each has a core of its own (bench_crawl --politeness).
TOLERANCE = ["--tolerance-us", "20000"]
LONG = os.environ.get("LYCOSA_LONG") == "ON"


def test_exact_for_many_webs():
    """Ten webs, personalities on, one and two loops in turn."""
    for seed in range(1, 11):
        large = LONG and seed == 1
        size = ["--hosts", "2000", "--pages", "110"] if large else ["--hosts", "60", "--pages", "12"]
        quick = ["--rtt-ms", "1", "--think-ms", "0", "--crawl-delay-ms", "50"]
        with Web("--seed", str(seed), *size, *quick) as web:
            crawl = Crawl(web, merge(RUDE, IMPATIENT), "--threads", str(1 + seed % 2), timeout=900)
            truth = web.truth()
            compare(crawl, truth)
            print(f"  web {seed}: {len(truth)} URLs, {crawl.summary['seconds']} s")


def test_bloom_sieve():
    with Web("--hosts", "40", "--pages", "20", "--plain") as web:
        crawl = Crawl(web, merge(RUDE, {"memory": {"sieve-kind": "bloom", "sieve": "4MiB"}}), "--threads", "2")
        compare(crawl, web.truth())
        assert crawl.summary["sieve"]["false_positive_rate"] < 1e-6, crawl.summary["sieve"]


def test_sieves_on_disk():
    """Each URL once, whatever sieve asks the disk; and from signatures that go over to the disk when they are full."""
    for kind, memory in (("mercator", "4MiB"), ("offline", "4MiB"), ("rocksdb", "4MiB"), ("signatures", "16KiB")):
        for threads in ("1", "2"):
            with Web("--hosts", "80", "--pages", "40", "--plain", "--size", "500") as web:
                tuning = merge(RUDE, {"memory": {"sieve-kind": kind, "sieve": memory, "sieve-runs": "3"}})
                crawl = Crawl(web, tuning, "--threads", threads)
                if "has no RocksDB" in crawl.stderr:
                    print(f"skipped {kind}: this build has none")
                    continue
                truth = web.truth()
                compare(crawl, truth)
                assert crawl.summary["sieve"]["kind"] == kind, crawl.summary["sieve"]
                assert crawl.summary["urls_in"] > len(truth), "the disk was not asked about a known URL"
                assert not (crawl.directory / "scratch").exists(), "scratch files were left"
                print(f"  {kind}, {threads} loops: {len(truth)} URLs, {crawl.summary['urls_known']} asked about twice, "
                      f"{crawl.summary['seconds']} s")


def test_exact_with_nearly_all_on_disk():
    """Each host has more URLs than its share of the memory: they wait in a queue of its own on disk."""
    pages = "1000" if is_sanitized() else "2000"
    for threads in ("1", "2"):
        with Web("--hosts", "6", "--pages", pages, "--plain", "--size", "500") as web:
            crawl = Crawl(web, merge(RUDE, {"memory": {"frontier": "1MiB"}}), "--threads", threads, timeout=300)
            compare(crawl, web.truth())
            stowed, urls = crawl.summary["urls_stowed"], crawl.summary["urls_in"]
            print(f"  {threads} loops: {stowed} of {urls} on disk")
            assert stowed > urls // 2 and crawl.summary["links_lost"] == 0, crawl.summary
            assert not (crawl.directory / "scratch").exists()


def test_polite_by_ratio():
    tuning = merge(IMPATIENT, {"politeness": {"host-ratio": "0.5", "address-ratio": "1", "burst": "200ms",
                                              "host-min-idle": "50ms", "address-min-idle": "5ms"}})
    with Web("--hosts", "40", "--pages", "8", "--addresses", "8", "--crawl-delay-ms", "200") as web:
        crawl = Crawl(web, tuning, "--threads", "2")
        compare(crawl, web.truth())
        text, violations = web.audit("--ratio", "0.5", "--ip-ratio", "1", "--burst-ms", "200", "--min-idle-ms", "50",
                                     "--ip-min-idle-ms", "5", *TOLERANCE)
        assert violations == 0, text


def test_polite_by_delay():
    tuning = merge(IMPATIENT, {"politeness": {"mode": "delay", "delay": "40ms", "address-delay": "2ms"}})
    with Web("--hosts", "40", "--pages", "8", "--addresses", "5", "--crawl-delay-ms", "200",
             "--robots-moved", "0.2") as web:
        crawl = Crawl(web, tuning, "--threads", "2")
        compare(crawl, web.truth())
        text, violations = web.audit("--delay-ms", "40", "--ip-min-idle-ms", "2", *TOLERANCE)
        assert violations == 0, text


main([test_exact_for_many_webs, test_bloom_sieve, test_sieves_on_disk, test_exact_with_nearly_all_on_disk,
      test_polite_by_ratio, test_polite_by_delay])
