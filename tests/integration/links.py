#!/usr/bin/env python3
"""lycosa links as a person uses it: on pages, style sheets, feeds and sitemaps, in several encodings."""
import gzip, json, os, subprocess, tempfile

LYCOSA = os.path.join(os.environ["BUILD_DIR"], "lycosa")
BASE = ["--base", "https://h.example/a/b"]


def run(arguments, document, code=0):
    done = subprocess.run([LYCOSA, "links", *arguments], input=document, capture_output=True)
    assert done.returncode == code, (arguments, done.returncode, done.stderr)
    return done.stdout.decode().splitlines(), done.stderr.decode()


def check(actual, expected):
    assert actual == expected, f"got {actual!r}, expected {expected!r}"


def links(document, *options):
    return run([*BASE, *options, "-"], document)[0]


def pages():
    check(links(b"<a href=c>t</a><img src=/d><a href='mailto:x'>"), ["anchor\thttps://h.example/a/c", "image\thttps://h.example/d"])
    check(links(b"<a href=c><base href=//o.example/p/><form action=f>"), ["anchor\thttps://o.example/p/c"])
    check(links(b"<!doctype html><form action=f>", "--forms"), ["form\thttps://h.example/a/f"])
    check(links(b"<html><noscript><a href=c></noscript>", "--noscript"), ["anchor\thttps://h.example/a/c"])
    check(links(b"<html><style>x{y:url(z)}</style>", "--css"), ["css\thttps://h.example/a/z"])
    rows = [json.loads(line) for line in links(b"<a rel='nofollow ugc' href=c>x \"y\"</a><a href='tel:1'>", "--json")]
    check(rows[0], {"kind": "anchor", "url": "https://h.example/a/c", "nofollow": True, "ugc": True, "text": 'x "y"'})
    check(rows[1]["error"], "not http or https")


def other_documents():
    check(links(b"@import 'c';", "--content-type", "text/css"), ["style\thttps://h.example/a/c"])
    check(links(b"<?xml version='1.0'?><rss><item><link>http://i/</link></item></rss>"), ["entry\thttp://i/"])
    check(links(b"<?xml version='1.0'?><urlset><url><loc>http://i/</loc></url></urlset>"), ["entry\thttp://i/"])
    check(links(b"<sitemapindex><sitemap><loc>http://i/s</loc></sitemap></sitemapindex>"), ["sitemap\thttp://i/s"])
    check(links(b"http://i/1\nhttp://i/2"), ["entry\thttp://i/1", "entry\thttp://i/2"])
    check(links(gzip.compress(b"<urlset><url><loc>http://i/</loc></url></urlset>")), ["entry\thttp://i/"])
    check(links(b'{"items":[{"url":"http://i/"}]}', "--content-type", "application/feed+json"), ["entry\thttp://i/"])
    check(links(b"<feed xml:base='http://i/d/'><entry xml:base='e/'><link href='f'/></entry><link href='g'/></feed>"),
          ["entry\thttp://i/d/e/f", "entry\thttp://i/d/g"])


def heads():
    head = ["--link", "<c>; rel=next", "--link", "<d>; rel=canonical", "--refresh", "5;url=e"]
    check(links(b"<html><base href='//o.example/'><a href=f>", *head),
          ["related\thttps://h.example/a/c", "canonical\thttps://h.example/a/d", "refresh\thttps://h.example/a/e",
           "anchor\thttps://o.example/f"])


def encodings():
    page = "<html><a href='/é?é'>".encode
    expected = "anchor\thttps://h.example/%C3%A9?"
    check(links(page("utf-8")), [expected + "%C3%A9"])
    check(links(page("latin-1")), [expected + "%E9"])
    check(links(page("utf-16")), [expected + "%C3%A9"])
    check(links(page("mac-roman"), "--content-type", "text/html; charset=macintosh"), [expected + "%8E"])


def wrong_use():
    assert "usage" in run(["-"], b"", 2)[1]
    assert "usage" in run([*BASE], b"", 2)[1]
    assert "usage" in run([*BASE, "--nonsense", "-"], b"", 2)[1]
    assert "--base x" in run(["--base", "x", "-"], b"", 2)[1]
    with tempfile.TemporaryDirectory() as folder:
        assert "No such file" in run([*BASE, os.path.join(folder, "absent")], b"", 1)[1]
        path = os.path.join(folder, "page")
        open(path, "wb").write(b"<a href=c>")
        check(run([*BASE, path], b"")[0], ["anchor\thttps://h.example/a/c"])
    with open("/dev/full", "wb") as full:
        done = subprocess.run([LYCOSA, "links", *BASE, "-"], input=b"<a href=c>", stdout=full, stderr=subprocess.PIPE)
        check(done.returncode, 1)
    check(links(b""), [])


pages()
other_documents()
heads()
encodings()
wrong_use()
