#!/usr/bin/env python3
"""WARC files as the tuning file wants them: their names, their age, and what is in them of pages that have not changed."""
import re
import socket
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import warc  # noqa: E402
from simulated import BUILD, RUDE, Crawl, Pages, main, merge, wait_until  # noqa: E402

HOST = "127.0.0.1"
HTML = {"Content-Type": "text/html"}


def captures(crawl):
    return [record for path in crawl.warcs() for record in warc.read(path) if warc.is_capture(record)]


def check(crawl):
    done = subprocess.run([BUILD / "lycosa", "archive", "check", crawl.directory], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_files_are_closed_by_age():
    """The second page is due in an hour: nothing is stored meanwhile, and the file is closed all the same, with its index."""
    site = {HOST: {"/": (200, HTML, b"<a href=/next>x</a>"), "/next": (200, HTML, b"next")}}
    patient = {"robots": {"obey": "no"}, "politeness": {"burst": "1ms", "host-min-idle": "1h", "address-min-idle": "1h"}}

    def wait_for_a_file(crawl):
        folder = crawl.directory / "warc"
        wait_until(lambda: list(folder.glob("*.warc.gz")) and list(folder.glob("*.cdxj")), "a closed file with its index")
        assert not list(folder.glob("*.open")), "no other file is begun"
        crawl.process.terminate()

    with Pages(site) as web:
        crawl = Crawl(web, merge(patient, {"store": {"file-age": "1s"}}), during=wait_for_a_file)
        assert len(captures(crawl)) == 1 and crawl.summary["pages"] == 1, crawl.summary
        check(crawl)


def test_pages_after_a_file_that_was_old():
    """Each rest is longer than a file lives, so each page has a file of its own; none is empty."""
    site = {HOST: {"/": (200, HTML, b"<a href=/a>x</a><a href=/b>x</a>"), "/a": (200, HTML, b"a"), "/b": (200, HTML, b"b")}}
    with Pages(site) as web:
        crawl = Crawl(web, {"robots": {"obey": "no"}, "store": {"file-age": "100ms"},
                            "politeness": {"mode": "delay", "delay": "500ms", "address-delay": "500ms"}})
        assert crawl.code == 0 and len(crawl.warcs()) == 3, crawl.warcs()
        assert [len(list(filter(warc.is_capture, warc.read(path)))) for path in crawl.warcs()] == [1, 1, 1]
        assert len(list((crawl.directory / "warc").glob("*.cdxj"))) == 3
        check(crawl)


def test_names_follow_the_template():
    site = {HOST: {"/": (200, HTML, b"x")}, "127.0.0.2": {"/": (200, HTML, b"y")}}
    with Pages(site) as web:
        crawl = Crawl(web, merge(RUDE, {"store": {"prefix": "our", "name": "{prefix}_{host}.{pid}.{loop}-{serial}-{time}"}}),
                      "--threads", "2")
        pattern = rf"our_{re.escape(socket.gethostname()[:40])}\.{crawl.process.pid}\.0[01]-00000-20\d{{15}}\.warc\.gz"
        assert crawl.warcs() and all(re.fullmatch(pattern, path.name) for path in crawl.warcs()), crawl.warcs()
        assert len(captures(crawl)) == 2  # warcinfo names the file: warc.read compares
        bad = Crawl(web, {"store": {"name": "{prefix}-{serial}"}})
        assert bad.code == 4 and "lacks {time}" in bad.stderr, (bad.code, bad.stderr)


def test_a_304_is_a_revisit():
    """Its head is stored, without a digest; the index tells of it, and `archive get` that there is no body."""
    site = {HOST: {"/": (200, HTML, b"<a href=/same>x</a>"), "/same": (304, {"ETag": '"7"'}, b"")}}
    for compress in ("gzip", "zstd", "none"):
        with Pages(site) as web:
            crawl = Crawl(web, merge(RUDE, {"store": {"compress": compress}}))
            same = {record["WARC-Target-URI"]: record for record in captures(crawl)}[web.url(HOST, "/same")]
            assert same["WARC-Type"] == "revisit" and same["WARC-Profile"].endswith("/revisit/server-not-modified"), same.fields
            assert same.block.startswith(b"HTTP/1.1 304 ") and b'ETag: "7"' in same.block
            assert not same["WARC-Refers-To-Target-URI"] and not same["WARC-Payload-Digest"]
            assert crawl.summary["stored"] == 2 and crawl.summary["duplicates"] == 0, crawl.summary
            lines = [line for path in (crawl.directory / "warc").glob("*.cdxj") for line in path.read_text().splitlines()]
            assert any("/same" in line and "warc/revisit" in line for line in lines), lines
            check(crawl)


main([test_files_are_closed_by_age, test_pages_after_a_file_that_was_old, test_names_follow_the_template, test_a_304_is_a_revisit])
