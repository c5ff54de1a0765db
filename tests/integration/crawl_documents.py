#!/usr/bin/env python3
"""Pages in all the shapes that servers give them: each links to one page of its own, in a way that browsers (or, of
sitemaps and feeds, their readers) understand. The crawl must find every one of those."""
import gzip
import struct
import sys
import zlib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from simulated import RUDE, Crawl, Pages, main, merge, outcome_of  # noqa: E402

HTML = {"Content-Type": "text/html"}
FILLER = "".join(f"<p>Some text that a page is made of: {zlib.crc32(bytes([number]))}</p>\n" for number in range(100))


class Fields(list):
    """Header fields of which a name may come twice."""

    def items(self):
        return self


def link(name):
    return f"<a href='/found/{name}'>x</a>"


def page(name):
    """Long enough to be worth a coding; the link is in its first half."""
    return f"<!doctype html><title>t</title>{FILLER}{link(name)}{FILLER}{FILLER}".encode()


def coded(coding, name, body):
    return {**HTML, "Content-Encoding": coding}, body


def raw_deflate(data):
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


def codings():
    name = None
    for name in ["UTF-8", "none", "binary", "aws-chunked", "identity,", "Identity, none"]:
        key = "coding-" + "".join(c for c in name if c.isalnum())
        yield key, coded(name, key, page(key))
    for key, coding, pack in [
            ("gzip", "gzip", gzip.compress), ("x-gzip", "X-GZip", gzip.compress), ("zlib", "deflate", zlib.compress),
            ("raw", "deflate", raw_deflate), ("utf8-gzip", "UTF-8, gzip", gzip.compress),
            ("named-twice", "gzip, gzip", gzip.compress), ("twice", "gzip, gzip", lambda d: gzip.compress(gzip.compress(d))),
            ("no-trailer", "gzip", lambda d: gzip.compress(d)[:-8]), ("cut", "gzip", lambda d: gzip.compress(d)[:-40]),
            ("checksum", "gzip", lambda d: gzip.compress(d)[:-8] + struct.pack("<II", 1, len(d))),
            ("garbage", "gzip", lambda d: gzip.compress(d) + b"\0\0garbage"),
            ("members", "gzip", lambda d: gzip.compress(d[:2000]) + gzip.compress(d[2000:])),
            ("cut-zlib", "deflate", lambda d: zlib.compress(d)[:-40]), ("cut-raw", "deflate", lambda d: raw_deflate(d)[:-40]),
            ("plain-gzip", "gzip", bytes), ("plain-br", "br", bytes), ("plain-zstd", "zstd", bytes),
            ("plain-deflate", "deflate", bytes)]:
        yield key, coded(coding, key, pack(page(key)))
    yield "unsaid-gzip", (HTML, gzip.compress(page("unsaid-gzip")))


def encodings():
    def markup(key):
        return f"<html>{link(key)}</html>"
    yield "utf16-bom", (HTML, markup("utf16-bom").encode("utf-16"))
    yield "utf16be-bom", (HTML, b"\xfe\xff" + markup("utf16be-bom").encode("utf-16-be"))
    yield "utf16le", ({"Content-Type": "text/html; charset=utf-16le"}, markup("utf16le").encode("utf-16-le"))
    yield "utf16be", ({"Content-Type": "text/html; charset=UTF-16BE"}, markup("utf16be").encode("utf-16-be"))
    yield "utf16-unsaid", (HTML, markup("utf16-unsaid").encode("utf-16-le"))
    yield "jp", ({"Content-Type": "text/html; charset=iso-2022-jp"}, ("日本" + markup("jp")).encode("iso-2022-jp"))
    yield "utf8-bom", (HTML, markup("utf8-bom").encode("utf-8-sig"))
    yield "caf%E9?caf%E9", (HTML, b"<meta charset=latin1><a href='/found/caf%E9?caf\xe9'>")
    late = "<script>" + "x" * 5000 + "</script><meta charset=windows-1251><a href='/found/late?й'>"
    yield "late?%E9", (HTML, late.encode("windows-1251"))
    yield "xml?%E9", ({"Content-Type": "application/xhtml+xml"}, "<?xml version='1.0' encoding='windows-1251'?><html><a href='/found/xml?й'/>".encode("windows-1251"))


def heads():
    yield "link", ({"Link": "</found/link>; rel=next"}, b"text")
    yield "link-two", (Fields([("Link", "</style>; rel=preconnect"), ("Link", '</found/link-two>; rel="canonical"')]), b"")
    yield "refresh", ({**HTML, "Refresh": "0; url=/found/refresh"}, b"")
    yield "refresh-base", ({**HTML, "Refresh": "0; url=../found/refresh-base"}, b"<base href='/elsewhere/'>")


def markup():
    for key, text in {
            "noscript": "<noscript>{}</noscript>", "noscript-head": "<head><noscript>{}</noscript></head>",
            "comment": "<!-- > -->{}", "open-comment": "<!--> {}", "area": "<map><area href='/found/area'></map>",
            "srcdoc": "<iframe srcdoc=\"<p>&lt;b><a href='/found/srcdoc'>x</a>\"></iframe>",
            "iframe": "<iframe src='/found/iframe'></iframe>", "frame": "<frameset><frame src=/found/frame></frameset>",
            "svg": "<svg><a xlink:href='/found/svg'>x</a></svg>", "svg-href": "<svg><a href='/found/svg-href'/></svg>",
            "math": "<math><mtext>{}</mtext></math>", "base-late": "<a href='base-late'>x</a><base href='/found/'>",
            "meta": "<meta http-equiv=REFRESH content='0;URL=/found/meta'>", "unquoted": "<a href=/found/unquoted>",
            "entity": "<a href='&#x2f;found&sol;entity'>", "newline": "<a href='\n /fo\nund/newline '>",
            "table": "<table><a href='/found/table'>x</table>", "textarea": "<textarea></textarea >{}",
            "cut-tag": "{}<a href='/found/", "upper": "<A HREF='/found/upper'>", "backslash": "<a href='\\found\\backslash'>",
            "canonical": "<link rel=canonical href=/found/canonical>", "object": "<object><a href=/found/object></object>",
            "template": "<template><a href=/no></template>{}", "doctype": "<!DOCTYPE a [<!x>]>{}"}.items():
        yield key, (HTML, text.replace("{}", link(key)).encode())
    yield "xhtml", ({"Content-Type": "application/xhtml+xml"}, f"<html><script src='x'/><title/>{link('xhtml')}".encode())
    yield "untyped", ({}, b"<html>" + link("untyped").encode())
    yield "octets", ({"Content-Type": "application/octet-stream"}, b"<!doctype html>" + link("octets").encode())


def urlset(*names):
    return ("<?xml version='1.0'?><urlset>" + "".join(f"<url><loc>/found/{name}</loc></url>" for name in names) + "</urlset>").encode()


def sitemaps():
    """Asked for as sitemaps, because robots.txt names them."""
    yield "map-text", ({"Content-Type": "text/plain"}, b"/found/map-text")
    yield "map-cr", ({"Content-Type": "text/plain"}, b"/x\r/found/map-cr\r")
    yield "map-bom", ({"Content-Type": "text/plain"}, b"\xef\xbb\xbf/found/map-bom")
    yield "map-text-html", (HTML, b"/found/map-text-html\n")
    yield "map-xml-text", ({"Content-Type": "text/plain"}, urlset("map-xml-text"))
    yield "map-xml-html", (HTML, urlset("map-xml-html"))
    yield "map-untyped", ({}, urlset("map-untyped"))
    yield "map-utf16", ({"Content-Type": "text/xml"}, urlset("map-utf16").decode().encode("utf-16"))
    for index, kind in enumerate(["application/gzip", "application/x-gzip", "text/xml", "text/plain", "application/octet-stream"]):
        yield f"map-gzip-{index}", ({"Content-Type": kind}, gzip.compress(urlset(f"map-gzip-{index}")))
    yield "map-gzip-gzip", ({"Content-Type": "text/xml", "Content-Encoding": "gzip"},
                            gzip.compress(gzip.compress(urlset("map-gzip-gzip"))))
    yield "map-text-gzip", ({"Content-Type": "text/plain"}, gzip.compress(b"/found/map-text-gzip"))
    yield "map-cut-gzip", ({"Content-Type": "application/gzip"}, gzip.compress(urlset("map-cut-gzip", *range(200)))[:-20])
    yield "map-hreflang", ({"Content-Type": "text/xml"}, b"<urlset><url><loc>/x</loc><xhtml:link rel='alternate' href='/found/map-hreflang'/></url></urlset>")


def feeds():
    yield "rss", ({"Content-Type": "application/rss+xml"}, b"<rss><item><link>/found/rss</link></item></rss>")
    yield "rss-text", ({"Content-Type": "text/plain"}, b"<rss><item><link>/found/rss-text</link></item></rss>")
    yield "atom", ({"Content-Type": "text/html"}, b"<feed xml:base='/found/'><entry><link href='atom'/></entry></feed>")
    yield "atom-base", ({"Content-Type": "application/atom+xml"},
                        b"<feed xml:base='/no/'><entry xml:base='/found/'><link href='atom-base'/></entry></feed>")
    yield "json", ({"Content-Type": "application/feed+json"}, b'{"items":[{"url":"\\/found\\/json"}]}')
    yield "%D0%B9", ({"Content-Type": "text/xml"}, "<?xml version='1.0' encoding='koi8-r'?><rss><link>/found/й</link></rss>".encode("koi8-r"))


def make_web():
    pages, found = {}, set()
    plain = [*codings(), *encodings(), *heads(), *markup(), *feeds()]
    maps = list(sitemaps())
    for number, (key, (headers, body)) in enumerate(plain + maps):
        pages[f"/page/{number}"] = (200, headers, body)
        found.add(f"/found/{key}")
    start, end = len(plain), len(plain) + len(maps)
    names = [f"/page/{number}" for number in range(start, end)]
    pages["/moved-map"] = (301, {"Location": "/moved-to"}, b"")
    pages["/moved-to"] = (200, {"Content-Type": "text/plain"}, b"/found/map-moved")
    pages["/index.gz"] = (200, {"Content-Type": "application/gzip"},
                          gzip.compress(b"<sitemapindex><sitemap><loc>/child.gz</loc></sitemap></sitemapindex>"))
    pages["/child.gz"] = (200, {"Content-Type": "application/gzip"}, gzip.compress(b"/found/map-child"))
    pages["/latin"] = (302, {"Location": "/found/redirect-\xe9"}, b"")
    found |= {"/found/map-moved", "/found/map-child", "/found/redirect-%E9"}
    pages["/"] = (200, HTML, "".join(f"<a href='/page/{number}'>" for number in range(start)).encode() + b"<a href='/latin'>")
    for path in found:
        pages[path] = (200, HTML, b"here")
    return pages, found, [*names, "/moved-map", "/index.gz"]


def every_page_gives_its_link():
    pages, found, maps = make_web()
    with Pages({"127.0.0.1": pages}) as web:
        robots = "".join(f"Sitemap: {web.url('127.0.0.1', path)}\n" for path in maps)
        pages["/robots.txt"] = (200, {"Content-Type": "text/plain"}, robots.encode())
        crawl = Crawl(web, merge(RUDE, {"crawl": {"threads": "1"}, "robots": {"sitemaps": "yes"}}))
        asked = {path for _, path in web.asked}
        missing = sorted(found - asked)
        assert not missing, f"{len(missing)} of {len(found)} links were not found: {missing}"
        assert crawl.code == 0, crawl.stderr
        outcomes = {row[3].split("/", 3)[3]: outcome_of(row) for row in crawl.log}
        numbers = {key: f"page/{number}" for number, (key, _) in enumerate(codings())}
        assert outcomes[numbers["cut"]] == "decode-cut" and outcomes[numbers["gzip"]] == "done", outcomes


def noscript_is_a_key():
    page = b"<html><a href='/always'>x</a><noscript><a href='/without-scripts'>x</a></noscript>"
    for word, wanted in ("yes", {"/", "/always", "/without-scripts"}), ("no", {"/", "/always"}):
        with Pages({"127.0.0.1": {"/": (200, HTML, page)}}) as web:
            Crawl(web, merge(RUDE, {"scope": {"noscript": word}, "robots": {"obey": "no"}}))
            assert {path for _, path in web.asked} == wanted, (word, web.asked)


def a_long_page_fits_a_small_budget():
    """2.5 MB of gzip that become 12 MB, with 32 MiB for all pages: the links at its end count, and a robots.txt that
    was packed is read while the page is."""
    words = "".join(f"<p>{zlib.crc32(str(number).encode()):08x}{zlib.adler32(str(number).encode()):08x} and more text</p>\n" for number in range(300000))
    body = gzip.compress(("<!doctype html>" + words + link("end")).encode(), 1)
    assert 2 << 20 < len(body) < 8 << 20, len(body)
    rules = gzip.compress(b"User-agent: *\nDisallow: /private\n")
    site = {"/": (200, {**HTML, "Content-Encoding": "gzip"}, body), "/found/end": (200, HTML, b"x"),
            "/robots.txt": (200, {"Content-Encoding": "gzip"}, rules)}
    with Pages({"127.0.0.1": site, "127.0.0.2": site}) as web:
        crawl = Crawl(web, merge(RUDE, {"crawl": {"threads": "1"}, "memory": {"pages": "32MiB"}}))
        found = {address for address, path in web.asked if path == "/found/end"}
        assert found == {"127.0.0.1", "127.0.0.2"}, (found, crawl.log_lines())
        assert {outcome_of(row) for row in crawl.log} == {"done"}, crawl.log_lines()


def damaged_rules_count():
    """A robots.txt whose coding is wrong says what it can; it forbids nothing else, and the host is not given up."""
    rules = b"User-agent: *\nDisallow: /private\n" + b"# padding\n" * 50
    files = {"127.0.0.2": ("UTF-8", rules), "127.0.0.3": ("gzip", rules), "127.0.0.4": ("gzip", gzip.compress(rules)[:-6]),
             "127.0.0.5": ("none", rules), "127.0.0.6": ("gzip, gzip", gzip.compress(rules))}
    site = {"/": (200, HTML, b"<a href=/public><a href=/private>"), "/public": (200, HTML, b"x"), "/private": (200, HTML, b"x")}
    web = {address: {**site, "/robots.txt": (200, {"Content-Encoding": coding}, body)}
           for address, (coding, body) in files.items()}
    web["127.0.0.7"] = {**site, "/robots.txt": (200, {"Content-Encoding": "gzip"}, b"\1\2\3\4" * 10)}
    with Pages(web) as pages:
        Crawl(pages, merge(RUDE, {"crawl": {"threads": "1"}, "robots": {"sitemaps": "yes"}}))
        for address in web:
            asked = {path for to, path in pages.asked if to == address}
            assert "/public" in asked, f"{address} was forbidden: {asked}"
            assert ("/private" in asked) == (address == "127.0.0.7"), f"{address}: {asked}"


main([every_page_gives_its_link, noscript_is_a_key, a_long_page_fits_a_small_budget, damaged_rules_count])
