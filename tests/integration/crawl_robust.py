#!/usr/bin/env python3
"""A web in which everything goes wrong somewhere: the crawl ends by itself, calls each fault by its name, and the
healthy part is complete."""
import gzip
import re
import signal
import socket
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import warc  # noqa: E402
from simulated import RUDE, Crawl, Pages, Web, compare, is_sanitized, main, merge, outcome_of, wait_until  # noqa: E402

# What crawl.log and summary.json call a URL with this fault. `done`: the client has a right to its page.
HOST_FAULTS = {
    "refuse": {"connect-refused"}, "silent": {"first-byte-timeout"}, "nxdomain": {"dns-no-name"},
    "servfail": {"dns-server-failed"}, "dnstimeout": {"dns-timeout"}, "expired": {"tls-cert-expired"},
}
PAGE_FAULTS = {
    "resethead": {"head-reset"}, "resetbody": {"body-reset"}, "short": {"body-truncated"}, "long": {"done"},
    "badchunk": {"chunk-bad"}, "endless": {"body-too-long"}, "drip": {"exchange-timeout", "body-timeout"},
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
    "net": {"connect-timeout": "3s", "first-byte-timeout": "2s", "fetch-timeout": "3s", "dns-timeout": "200ms",
            "tls-verify": "yes", "body-bytes": "1MiB", "head-bytes": "64KiB", "decoded-bytes": "8MiB",
            "dns-cache": "2K", "dns-denial": "300ms", "connections": "200"},
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


def outcomes_by_url(crawl):
    """{URL: outcome}; each URL has one line."""
    outcomes = {row[3]: outcome_of(row) for row in crawl.log}
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
                     if warc.is_capture(record))
    assert set(stored) <= set(crawl.fetched) and max(stored.values()) == 1
    return set(stored)


def test_everything_at_once():
    small = is_sanitized()
    size = ["--hosts", "70", "--pages", "8"] if small else ["--hosts", "150", "--pages", "15"]
    with Web(*size, *MOODS, *QUICK, "--https", "0.2", "--fault", EVERYTHING, serve=["--connections", "4096"]) as web:
        # A server that has a thirtieth of a processor leaves a page alone for seconds.
        waits = {"first-byte-timeout": "5s", "fetch-timeout": "8s"}
        tuning = merge(RUDE, IMPATIENT, BUDGETS, {"net": {"tls-ca-file": web.ca, **waits}})
        crawl = Crawl(web, tuning, "--threads", "2", timeout=240)
        assert crawl.code == 0 and crawl.summary["end"] == "complete", (crawl.code, crawl.stderr[-2000:])
        print(f"  {crawl.summary['seconds']} s, {crawl.summary['pages']} pages, "
              f"{crawl.summary['peak_memory_bytes'] >> 20} MiB, {crawl.summary['outcomes']}")
        check_against(crawl, truth_notes(web))
        # A server that does not get to run lets a drip become a silence, but not each of them.
        assert crawl.summary["outcomes"]["exchange-timeout"] > crawl.summary["outcomes"].get("body-timeout", 0)
        assert crawl.summary["seconds"] < 200
        if not small:
            assert crawl.summary["peak_memory_bytes"] < BUDGET_BYTES + REST_BYTES
        stored = check_warcs(crawl)
        cut = [row[3] for row in crawl.log if outcome_of(row) == "body-too-long"]
        assert set(cut) <= stored, "what was cut is stored as far as it came"


def moved(address, path="/robots.txt"):
    return 301, {"Location": f"http://{address}:PORT{path}"}, b""


def page(*paths):
    return 200, {"Content-Type": "text/html"}, "".join(f'<a href="{path}">x</a>' for path in paths).encode()


def test_robots_in_a_circle():
    """Rules that cannot be had because they redirect for ever are no rules (RFC 9309, 2.3.1.2)."""
    one, two, three = "127.0.0.1", "127.0.0.2", "127.0.0.3"
    circle = {one: {"/": page("/a"), "/robots.txt": moved(two), "/a": page()},
              two: {"/": page("/b"), "/robots.txt": moved(one), "/b": page()}}
    own = {three: {"/": page("/c"), "/robots.txt": moved(three, "/other"), "/other": moved(three), "/c": page()}}
    with Pages({**circle, **own}) as web:
        crawl = Crawl(web, merge(RUDE, IMPATIENT), "--threads", "2", timeout=60)
        assert crawl.code == 0 and crawl.summary["end"] == "complete", crawl.stderr
        fetched = {web.url(one), web.url(one, "/a"), web.url(two), web.url(two, "/b"), web.url(three),
                   web.url(three, "/c")}
        assert fetched <= set(crawl.fetched), sorted(crawl.fetched)
        assert set(crawl.fetched) - fetched == {url for url in crawl.fetched if "robots" in url or "other" in url}


def test_robots_of_a_host_that_is_gone():
    """A robots.txt that redirects to where nobody is: unreachable, so nothing may be asked."""
    one = "127.0.0.1"
    with Pages({one: {"/": page(), "/robots.txt": (302, {"Location": "http://127.0.0.9:1/robots.txt"}, b"")}}) as web:
        crawl = Crawl(web, merge(RUDE, IMPATIENT), timeout=60)
        assert crawl.code == 5 and crawl.summary["outcomes"] == {"robots-unreachable": 1}, crawl.summary["outcomes"]
        assert set(web.asked) == {(one, "/robots.txt")}, web.asked


def test_nobody_connects_while_rules_are_awaited():
    """The host of the rules does not answer; the other is not knocked at meanwhile."""
    one = "127.0.0.1"
    with socket.create_server(("127.0.0.2", 0)) as silent:
        away = {"Location": f"http://127.0.0.2:{silent.getsockname()[1]}/robots.txt"}
        with Pages({one: {"/": page(), "/robots.txt": (302, away, b"")}}) as web:
            crawl = Crawl(web, merge(RUDE, IMPATIENT, {"net": {"first-byte-timeout": "3s"}}), timeout=60)
            assert crawl.code == 5 and crawl.summary["outcomes"] == {"robots-unreachable": 1}, crawl.summary["outcomes"]
            assert set(web.asked) == {(one, "/robots.txt")}, web.asked
            assert crawl.summary["visits"] <= crawl.summary["requests"], "a visit that asked for nothing"


def test_end_while_names_are_asked():
    """Questions under way when the crawl ends are not failures of their hosts."""
    def interrupt(crawl):
        wait_until((crawl.directory / "summary.json").exists, "the crawl")
        time.sleep(0.3)  # for the questions to be asked; whether they are makes no difference to the result
        crawl.process.send_signal(signal.SIGINT)
    with Web("--hosts", "30", "--pages", "2", "--plain", "--fault", "dnstimeout=1") as web:
        seeds = web.directory / "unknown.txt"
        seeds.write_text("".join(f"http://h{i}.nowhere.test/\n" for i in range(30)))
        crawl = Crawl(web, merge(RUDE, {"net": {"dns-timeout": "60s"}}), "--threads", "2", seeds=seeds,
                      during=interrupt, timeout=60)
        assert crawl.code == 11 and crawl.summary["queued"] == 30 - len(crawl.log), (crawl.code, crawl.summary)
        assert "dns-cancelled" not in crawl.summary["outcomes"]
        assert crawl.summary["seconds"] < 10, crawl.summary["seconds"]


def test_names_without_an_answer_hold_nobody_up():
    """Also where one connection needs few names ahead: those that nobody answers for are not the only ones asked."""
    def interrupt(crawl):
        wait_until(lambda: len(web.asked) == 2, "the page behind the names", 20)
        crawl.process.send_signal(signal.SIGINT)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent, Pages({"127.0.0.1": {"/": page()}}) as web:
        silent.bind(("127.0.0.1", 0))
        web.dns = f"127.0.0.1:{silent.getsockname()[1]}"
        seeds = web.directory / "silent.txt"
        seeds.write_text("".join(f"http://h{i}.silent.test/\n" for i in range(10)) + web.url("127.0.0.1") + "\n")
        tuning = merge(RUDE, {"net": {"dns-timeout": "60s", "connections": "1"}})
        crawl = Crawl(web, tuning, seeds=seeds, during=interrupt, timeout=60)
        assert crawl.code == 11 and crawl.fetched == [web.url("127.0.0.1")], (crawl.code, crawl.fetched)


# What finds no room in memory does not wait on disk.
LOSING = {"state": {"spill": "no"}}


def test_nothing_is_lost_for_want_of_memory():
    """URLs and hosts beyond the budgets wait on disk, and the crawl is exact."""
    budgets = [{"hosts": "16"}] if is_sanitized() else [{"frontier": "1MiB"}, {"hosts": "16"},
                                                        {"frontier": "1MiB", "hosts": "20"}]
    pages = "100" if is_sanitized() else "200"
    for memory in budgets:
        for threads in ("1", "2"):
            with Web("--hosts", "60", "--pages", pages, "--plain", "--size", "500") as web:
                crawl = Crawl(web, merge(RUDE, {"memory": memory}), "--threads", threads, timeout=100)
                compare(crawl, web.truth())
                on_disk = crawl.summary["urls_spilled"] + crawl.summary["urls_stowed"]
                print(f"  {memory}, {threads} loops: {on_disk} of {crawl.summary['urls_in']} on disk")
                assert on_disk > 100 and crawl.summary["links_lost"] == 0, crawl.summary
                assert not (crawl.directory / "scratch").exists()


def test_tiny_budgets():
    """What does not fit is counted under its name, and the crawl ends."""
    for memory, outcome in (({"sieve": "4KiB"}, "sieve-full"), ({"hosts": "16"}, "hosts-full")):
        with Web("--hosts", "60", "--pages", "40", "--plain", "--links", "60") as web:
            crawl = Crawl(web, merge(RUDE, LOSING, {"memory": memory}), "--threads", "2", timeout=60)
            assert crawl.code == 0 and crawl.summary["end"] == "complete", (memory, crawl.stderr)
            print(f"  {memory}: {crawl.summary['outcomes']}")
            assert crawl.summary["outcomes"].get(outcome, 0) == crawl.summary["links_lost"] > 0, memory
            assert set(crawl.fetched) <= set(web.truth()), "what found no room at first may have come again"


def test_frontier_full_of_urls():
    long = page(*[f"/{i:0250}" for i in range(6000)])
    with Pages({"127.0.0.1": {"/": long}}) as web:
        crawl = Crawl(web, merge(RUDE, LOSING, {"memory": {"frontier": "1MiB"}}), "--max-pages", "20", timeout=60)
        lost = crawl.summary["outcomes"]["frontier-full"]
        assert crawl.code == 0 and lost == crawl.summary["links_lost"] == 6001 - crawl.summary["urls_in"], lost
        assert crawl.summary["frontier_bytes"] <= 1 << 20


def test_frontier_bytes_are_those_of_urls_that_wait():
    long = page(*[f"/{i:0250}" for i in range(100)])
    with Pages({"127.0.0.1": {"/": long}}) as web:
        crawl = Crawl(web, RUDE, "--max-pages", "90", timeout=60)
        waiting, size = crawl.summary["urls_in"] - crawl.summary["urls_out"], crawl.summary["frontier_bytes"]
        assert waiting == 11 and 250 * waiting <= size <= 400 * waiting, (waiting, size)


def test_no_memory_for_pages():
    """Pages wait for one another; only what fits no loop's half of the budget is left out."""
    hosts = "15" if is_sanitized() else "40"
    with Web("--hosts", hosts, "--pages", "10", "--plain", "--size", "100000", "--size-max", "900000") as web:
        tuning = merge(RUDE, {"retry": {"times": "0"}, "memory": {"pages": "1MiB"}})
        crawl = Crawl(web, tuning, "--threads", "2", timeout=60)
        print(f"  {crawl.summary['outcomes']} {crawl.summary['seconds']} s")
        assert crawl.code == 0 and crawl.summary["end"] == "complete", crawl.stderr
        assert set(crawl.summary["outcomes"]) <= {"done", "no-memory"}, crawl.summary["outcomes"]
        sizes = {url: size for url, (_, size) in web.truth("--digest", "xxh3").items()}
        left_out = [url for url, outcome in outcomes_by_url(crawl).items() if outcome == "no-memory"]
        assert all(sizes[url] > 400000 for url in left_out), [sizes[url] for url in left_out]


def test_decoding_leaves_memory_for_pages():
    """What a page was decoded to takes so much that no other page would fit beside it: it does not stay."""
    body = gzip.compress(b"<p>All work and no play.</p>" * 20000 + b'<a href="/next">')
    site = {"/": (200, {"Content-Encoding": "gzip", "Content-Type": "text/html"}, body), "/next": page()}
    with Pages({"127.0.0.1": site}) as web:
        # One page at a time, so that the second needs a visit of its own.
        tuning = merge(RUDE, {"politeness": {"burst": "0s"}, "memory": {"pages": "1100KiB"}})
        crawl = Crawl(web, tuning, timeout=60)
        assert crawl.code == 0 and crawl.summary["end"] == "complete", crawl.stderr
        assert crawl.summary["outcomes"] == {"done": 2}, crawl.summary["outcomes"]


def test_store_that_cannot_keep_up():
    """A buffer of four blocks, two of which have to be free before a page is begun: pages wait for the disk."""
    hosts = "15" if is_sanitized() else "60"
    with Web("--hosts", hosts, "--pages", "20", "--plain", "--size", "40000", "--size-max", "60000",
             serve=["--connections", "4096"]) as web:
        store = {"store": {"buffer": "1MiB", "file-bytes": "4MB", "compress": "none"}, "net": {"body-bytes": "64KiB"}}
        crawl = Crawl(web, merge(RUDE, store), "--threads", "2", timeout=60)
        print(f"  {crawl.summary['outcomes']} {crawl.summary['seconds']} s {crawl.summary['stalls']} stalls")
        assert crawl.code == 0 and crawl.summary["end"] == "complete", crawl.stderr
        assert check_warcs(crawl) == set(crawl.fetched) == set(web.truth())
        # An end while pages wait: they are stored all the same.
        crawl = Crawl(web, merge(RUDE, store), "--threads", "2", "--max-pages", "100", timeout=60)
        assert crawl.code == 0 and crawl.summary["end"] == "pages", crawl.stderr
        assert check_warcs(crawl) == set(crawl.fetched) and len(crawl.fetched) == 100


main([test_everything_at_once, test_robots_in_a_circle, test_robots_of_a_host_that_is_gone,
      test_nobody_connects_while_rules_are_awaited, test_end_while_names_are_asked,
      test_names_without_an_answer_hold_nobody_up, test_nothing_is_lost_for_want_of_memory, test_tiny_budgets,
      test_frontier_full_of_urls, test_frontier_bytes_are_those_of_urls_that_wait,
      test_no_memory_for_pages, test_decoding_leaves_memory_for_pages, test_store_that_cannot_keep_up])
