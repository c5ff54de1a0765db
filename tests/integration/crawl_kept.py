#!/usr/bin/env python3
"""What is fetched, received and kept: what pages need, sitemaps, types that nobody asked for, and robots.txt."""
import gzip
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import warc  # noqa: E402
from simulated import RUDE, Crawl, Pages, main, merge, outcome_of  # noqa: E402

HOST = "127.0.0.1"
RULES = b"User-agent: *\nDisallow: /denied\n"
HUB = b'<a href="/large">x</a><a href="/small">x</a><a href="/doc">x</a><a href="/more">x</a>'
SITE = {HOST: {
    "/robots.txt": (200, {"Content-Type": "text/plain"}, RULES),
    "/": (200, {"Content-Type": "text/html"}, HUB),
    "/large": (200, {"Content-Type": "video/mp4"}, b"x" * 8000000),
    "/small": (200, {"Content-Type": "image/png"}, b"x" * 1000),
    "/doc": (200, {"Content-Type": "application/pdf"}, b"%PDF"),
    "/more": (200, {"Content-Type": "text/html"}, b"more"),
}}


def map_of(path):
    return gzip.compress(f"<urlset><url><loc>{path}</loc></url></urlset>".encode())


def stored(crawl):
    return {record["WARC-Target-URI"].split("/", 3)[3]: record for path in crawl.warcs()
            for record in warc.read(path) if warc.is_capture(record)}


def test_unwanted_types_are_not_received():
    """Pages are, though only documents are stored: they lead there."""
    with Pages(SITE) as web:
        crawl = Crawl(web, merge(RUDE, {"scope": {"mime": "application/pdf"}}), seeds=web.url(HOST))
        assert crawl.code == 0 and len(crawl.log) == 5, crawl.log
        outcomes = {row[3].split("/", 3)[3]: outcome_of(row) for row in crawl.log}
        assert outcomes == {"": "done", "large": "type-unwanted", "small": "type-unwanted", "doc": "done",
                            "more": "done"}, outcomes
        assert list(stored(crawl)) == ["doc"], list(stored(crawl))
        assert crawl.summary["stored"] == 1 and crawl.summary["retries"] == 0, crawl.summary
        assert crawl.summary["bytes_received"] < 4000000, crawl.summary["bytes_received"]
        assert crawl.summary["failed"] == 0, crawl.summary["failed"]


def test_what_may_lead_on_is_received():
    """Whatever is stored: sitemaps by what they are, pages also with a type that says little or says it loudly."""
    loud = {f"/loud{i}": (200, {"Content-Type": kind}, b"<!DOCTYPE html><a href='/found%d'>x</a>" % i)
            for i, kind in enumerate(("TEXT/HTML", "*/*", "unknown/unknown", "html", "Application/XHTML+XML"))}
    hub = "".join(f'<a href="{path}">x</a>' for path in loud).encode()
    site = {"/": (200, {"Content-Type": "text/html"}, hub), **loud,
            "/map.gz": (200, {"Content-Type": "application/gzip"}, map_of("/index/found")),
            "/map": (200, {"Content-Type": "application/octet-stream"}, map_of("/stream/found"))}
    with Pages({HOST: site}) as web:
        site["/robots.txt"] = (200, {}, f"Sitemap: {web.url(HOST)}map.gz\nSitemap: {web.url(HOST)}map\n".encode())
        Crawl(web, merge(RUDE, {"scope": {"mime": "application/pdf"}, "robots": {"sitemaps": "robots"}}), seeds=web.url(HOST))
        asked = {path for _, path in web.asked}
        wanted = {"/index/found", "/stream/found", *(f"/found{i}" for i in range(len(loud)))}
        assert wanted <= asked, wanted - asked


def test_everything_is_received_by_default():
    with Pages(SITE) as web:
        crawl = Crawl(web, RUDE, seeds=web.url(HOST))
        assert set(stored(crawl)) == {"", "large", "small", "doc", "more"}, list(stored(crawl))


def paths(crawl):
    """{last number of the address + path: hops}"""
    return {re.sub(r"http://[\d.]+\.(\d+):\d+", r"\1", row[3]): row[4] for row in crawl.log}


def test_what_a_page_needs_is_fetched_wherever_it_is():
    """Depth counts links alone; what is in scope only as part of a page leads nowhere but to its own parts."""
    far, farther = "127.0.2.2", "127.0.2.3"
    with Pages({HOST: {}, far: {}, farther: {}}) as web:
        html, there, beyond = {"Content-Type": "text/html"}, web.url(far)[:-1], web.url(farther)[:-1]
        start = f"<img src={there}/pic><iframe src={there}/frame></iframe><a href={there}/off>x</a><a href=/moved>x</a>"
        web.pages[HOST].update({"/": (200, html, start.encode()), "/moved": (302, {"Location": "/deep"}, b""),
                                "/deep": (200, html, b"<img src=/pic><a href=/deeper>x</a>"), "/deeper": (200, html, b"")})
        web.pages[far].update({"/pic": (301, {"Location": beyond + "/pic"}, b""), "/off": (200, html, b""),
                               "/frame": (200, html, f"<img src={beyond}/part><a href=/out>x</a>".encode())})
        tuning = merge(RUDE, {"scope": {"mode": "hosts", "depth": "1", "embeds": "anywhere"}})
        crawl = Crawl(web, tuning, seeds=web.url(HOST))
        assert paths(crawl) == {"1/": "-", "2/pic": "E", "3/pic": "ER", "2/frame": "E", "3/part": "EE", "1/moved": "L",
                                "1/deep": "LR", "1/pic": "LRE"}, paths(crawl)
        crawl = Crawl(web, merge(tuning, {"scope": {"embed-hops": "1"}}), seeds=web.url(HOST))
        assert {path for path in paths(crawl) if path[0] == "3"} == set(), paths(crawl)
        crawl = Crawl(web, merge(tuning, {"scope": {"embeds": "yes"}}), seeds=web.url(HOST))
        assert paths(crawl) == {"1/": "-", "1/moved": "L", "1/deep": "LR", "1/pic": "LRE"}, paths(crawl)


def test_sitemaps_are_taken_from_where_the_key_says():
    html, text = {"Content-Type": "text/html"}, {"Content-Type": "text/plain"}
    site = {"/": (200, html, b"x"), "/sitemap.xml": (200, text, b"/guessed\n"), "/guessed": (200, html, b"<a href=/more>"),
            "/more": (200, html, b"<a href=/deep>"), "/map": (200, text, b"/named\n"), "/named": (200, html, b"")}
    named = {**site, "/robots.txt": (200, text, b"Sitemap: /map\n")}
    empty = {**site, "/robots.txt": (200, text, b"User-agent: *\nAllow: /\n")}
    guessed = {"1/": "-", "1/sitemap.xml": "M", "1/guessed": "MM", "1/more": "MML"}
    for pages, key, expected in [(site, "no", {"1/": "-"}), (site, "robots", {"1/": "-"}), (site, "guess", guessed),
                                 (empty, "guess", guessed), (named, "no", {"1/": "-"}),
                                 (named, "robots", {"1/": "-", "1/map": "M", "1/named": "MM"}),
                                 (named, "guess", {"1/": "-", "1/map": "M", "1/named": "MM"})]:
        with Pages({HOST: pages}) as web:
            crawl = Crawl(web, merge(RUDE, {"robots": {"sitemaps": key}, "scope": {"depth": "1"}}), seeds=web.url(HOST))
            assert paths(crawl) == expected, (key, paths(crawl))


def test_robots_is_stored():
    with Pages(SITE) as web:
        crawl = Crawl(web, merge(RUDE, {"store": {"robots": "yes"}}), seeds=web.url(HOST))
        record = stored(crawl)["robots.txt"]
        assert RULES in record.block, record.block
        assert crawl.summary["stored"] == 5 and len(crawl.log) == 5, crawl.summary["stored"]


main([test_unwanted_types_are_not_received, test_what_may_lead_on_is_received, test_everything_is_received_by_default,
      test_robots_is_stored, test_what_a_page_needs_is_fetched_wherever_it_is, test_sitemaps_are_taken_from_where_the_key_says])
