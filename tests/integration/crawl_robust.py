#!/usr/bin/env python3
"""A web in which everything goes wrong somewhere: the crawl ends by itself, calls each fault by its name, and the
healthy part is complete."""
import re
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import warc  # noqa: E402
from simulated import BUILD, RUDE, Crawl, Web, main, merge  # noqa: E402

# What crawl.log and summary.json call a URL with this fault. `done`: the client has a right to its page.
HOST_FAULTS = {
    "refuse": {"connect-refused"}, "silent": {"first-byte-timeout"}, "nxdomain": {"dns-no-name"},
    "servfail": {"dns-server-failed"}, "dnstimeout": {"dns-timeout"}, "expired": {"tls-cert-expired"},
}
PAGE_FAULTS = {
    "resethead": {"head-reset"}, "resetbody": {"body-reset"}, "short": {"body-truncated"}, "long": {"done"},
    "badchunk": {"chunk-bad"}, "endless": {"body-too-long"}, "drip": {"exchange-timeout"},
    "bomb": {"decode-too-long"}, "bighead": {"head-too-long"}, "loop": {"done"},
    "chain": {"done"}, "badhtml": {"done"}, "badurl": {"done"},
}
FAULTS = {**HOST_FAULTS, **PAGE_FAULTS, "calendar": {"done"}}
EVERYTHING = ",".join(f"{fault}=0.05" for fault in FAULTS)
# Months from the hundredth on are out of scope: that is how a crawl gets out of a calendar.
ENDLESS = re.compile(r"/calendar/month-\d{3,}")
REDIRECTS = 10
IMPATIENT = {
    "robots": {"retry": "200ms"},
    "retry": {"wait": "100ms", "times": "1", "host-failures": "3"},
    "net": {"connect-timeout": "3s", "first-byte-timeout": "1s", "fetch-timeout": "1500ms", "dns-timeout": "200ms",
            "tls-verify": "yes", "body-bytes": "1MiB", "head-bytes": "64KiB", "decoded-bytes": "8MiB",
            "dns-cache": "2K", "connections": "200"},
    "scope": {"exclude": ENDLESS.pattern, "path-repeats": "100"},
    "limits": {"redirects": str(REDIRECTS)},
}
BUDGETS = {"memory": {"sieve": "1MiB", "frontier": "8MiB", "hosts": "2K", "pages": "48MiB"},
           "store": {"buffer": "8MiB"}}
BUDGET_BYTES = (1 + 8 + 48 + 8) << 20
# Beyond the budgets: 200 connections with TLS (24 KiB each), two loops with 8 MiB of log and 12 MiB of the store's
# scratch at most, 2,000 hosts with their robots.txt, and the program with its tables.
REST_BYTES = 64 << 20
MOODS = ["--throttled", "0", "--spells", "0", "--connection-limit", "0"]
QUICK = ["--rtt-ms", "1", "--think-ms", "0", "--size", "4000", "--size-max", "200000", "--crawl-delay-ms", "20",
         "--bandwidth", "0", "--drip-ms", "50"]


def is_sanitized():
    program = (BUILD / "lycosa").read_bytes()
    return b"__asan_init" in program or b"__tsan_init" in program


def outcomes_by_url(crawl):
    """{URL: outcome}; each URL has one line."""
    outcomes = {row[3]: row[11].split(",")[0] for row in crawl.log}
    assert len(outcomes) == len(crawl.log), "a URL has two verdicts"
    return outcomes


def truth_notes(web):
    """{URL: (status, note)} of all that is linked, and not only what can be fetched."""
    text = web.run("truth", "--seeds", str(web.directory / "seeds.txt"), "--digest", "none", "--all", "--max-depth",
                   "300", "--max-redirects", str(REDIRECTS)).stdout
    rows = (line.split("\t") for line in text.splitlines())
    return {row[0]: (int(row[1]), row[4]) for row in rows if not ENDLESS.search(row[0])}


def check_against(crawl, truth):
    outcomes = outcomes_by_url(crawl)
    wrong = Counter()
    example = {}
    for url, (status, note) in truth.items():
        expected = FAULTS.get(note, {"done"} if status else {"robots-denied", "robots-unreachable"})
        if "/hop/" in url:  # the end of a chain that is too long
            expected = expected | {"redirects-too-many"}
        if outcomes.get(url, "missing") not in expected:
            kind = (note, outcomes.get(url, "missing"))
            wrong[kind] += 1
            example[kind] = url
    assert not wrong, "\n".join(f"{count} x {kind}: {example[kind]}" for kind, count in wrong.items())
    extra = sorted(set(outcomes) - set(truth))
    assert not extra, f"{len(extra)} URLs too many, first {extra[:3]}"
    counted = Counter(outcomes.values())
    assert counted == crawl.summary["outcomes"], (counted, crawl.summary["outcomes"])
    seen = Counter(note for _, note in truth.values())
    absent = [fault for fault in FAULTS if fault != "calendar" and not seen[fault]]
    assert not absent, f"this web has none of {absent}"
    assert any("/calendar/" in url for url in truth), "this web has no calendar"


def check_warcs(crawl):
    assert not list(crawl.directory.rglob("*.open"))
    stored = Counter(record["WARC-Target-URI"] for path in crawl.warcs() for record in warc.read(path)
                     if record["WARC-Type"] == "response")
    assert set(stored) <= set(crawl.fetched) and max(stored.values()) == 1
    return set(stored)


def test_everything_at_once():
    small = is_sanitized()
    size = ["--hosts", "70", "--pages", "8"] if small else ["--hosts", "150", "--pages", "15"]
    with Web(*size, *MOODS, *QUICK, "--https", "0.2", "--fault", EVERYTHING, serve=["--connections", "4096"]) as web:
        tuning = merge(RUDE, IMPATIENT, BUDGETS, {"net": {"tls-ca-file": web.ca}})
        crawl = Crawl(web, tuning, "--threads", "2", timeout=120)
        assert crawl.code == 0 and crawl.summary["end"] == "complete", (crawl.code, crawl.stderr[-2000:])
        print(f"  {crawl.summary['seconds']} s, {crawl.summary['pages']} pages, "
              f"{crawl.summary['peak_memory_bytes'] >> 20} MiB, {crawl.summary['outcomes']}")
        check_against(crawl, truth_notes(web))
        assert crawl.summary["seconds"] < 60
        if not small:
            assert crawl.summary["peak_memory_bytes"] < BUDGET_BYTES + REST_BYTES
        stored = check_warcs(crawl)
        cut = [row[3] for row in crawl.log if row[11].startswith("body-too-long")]
        assert set(cut) <= stored, "what was cut is stored as far as it came"


main([test_everything_at_once])
