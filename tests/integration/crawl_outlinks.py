#!/usr/bin/env python3
"""store.metadata: each page has a metadata record that lists its links as `lycosa links` does, revisits and long pages too."""
import gzip
import subprocess
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import warc  # noqa: E402
from simulated import BUILD, RUDE, Crawl, Pages, Web, compare, main, merge  # noqa: E402

METADATA = merge(RUDE, {"store": {"metadata": "yes"}})
HTML = {"Content-Type": "text/html; charset=utf-8"}


def records_of(crawl):
    return [record for path in crawl.warcs() for record in warc.read(path)]


def links_of(url, content_type, body):
    """What `lycosa links` prints, with neither kinds nor fragments."""
    printed = subprocess.run([BUILD / "lycosa", "links", "--base", url, "--content-type", content_type, "-"],
                             input=body, stdout=subprocess.PIPE, check=True).stdout.decode()
    return Counter(line.split("\t")[1].split("#")[0] for line in printed.splitlines())


def outlinks_of(fields):
    return Counter(field[1].split(" ")[0] for field in fields if field[0] == "outlink")


def head_of(record):
    head = record.block.split(b"\r\n\r\n")[0].decode().split("\r\n")
    return int(head[0].split()[1]), {name.lower(): value for name, value in (line.split(": ", 1) for line in head[1:])}


def check_page(record, body, fields, log):
    """The links are those of the body; the rest is what crawl.log says."""
    url = record["WARC-Target-URI"]
    status, head = head_of(record)
    hops, via = log[url]
    if status // 100 == 3:
        assert [field[1].split(" ")[1:] for field in fields if field[0] == "outlink"] == [["R", "Location:"]], fields
    elif status == 200:
        if head.get("content-encoding") == "gzip":
            body = gzip.decompress(body)
        assert outlinks_of(fields) == links_of(url, head.get("content-type", ""), body), url
    else:
        assert not outlinks_of(fields), fields
    told = {field[0]: field[-1] for field in fields if field[0] != "outlink"}
    assert told.pop("fetchTimeMs").isdigit(), told
    assert told == ({"seed:": "seed:"} if hops == "-" else {"via": via, "hopsFromSeed": hops}), (told, hops, via)


def test_each_page_lists_its_links():
    for keys, arguments in (({"compress": "gzip"}, ()), ({"compress": "zstd"}, ("--threads", "2")),
                            ({"compress": "none", "warc-version": "1.0"}, ())):
        with Web("--hosts", "12", "--pages", "15", "--plain", "--duplicates", "0.2") as web:
            crawl = Crawl(web, merge(METADATA, {"store": keys}), *arguments)
            compare(crawl, web.truth())
            records = records_of(crawl)
            bodies, metadata = warc.first_copies(records), warc.metadata(records)
            log = {row[3]: (row[4], row[5]) for row in crawl.log}
            captures = [record for record in records if warc.is_capture(record)]
            assert set(metadata) == {record["WARC-Target-URI"] for record in captures} == set(web.truth())
            assert {record["WARC-Type"] for record in captures} == {"response", "revisit"}
            for record in captures:
                at = ("WARC-Target-URI", "WARC-Date") if record["WARC-Type"] == "response" else \
                    ("WARC-Refers-To-Target-URI", "WARC-Refers-To-Date")
                check_page(record, bodies[record[at[0]], record[at[1]]], metadata[record["WARC-Target-URI"]], log)
            assert sum(sum(outlinks_of(fields).values()) for fields in metadata.values()) > 300
            said = subprocess.run([BUILD / "lycosa", "archive", "check", crawl.directory], capture_output=True, text=True)
            assert said.returncode == 0, said.stderr
            indexed = sum(len(path.read_text().splitlines()) for path in (crawl.directory / "warc").glob("*.cdxj"))
            assert indexed == len(captures), "metadata records are not in the index"


def test_none_without_the_key():
    with Web("--hosts", "3", "--pages", "5", "--plain") as web:
        assert not warc.metadata(records_of(Crawl(web, RUDE)))


def test_every_kind_has_its_letter_and_place():
    site = {"/": (200, {**HTML, "Link": "</next>; rel=next"},
                  b"<base href=/d/><a href=a#x>1</a><img src=i.png><script src=s.js></script><iframe src=f></iframe>"
                  b"<link rel=stylesheet href=c.css><a href=mailto:a@b.it>2</a><a href=http://elsewhere.test/ rel=nofollow>3</a>"),
            "/no": (200, {**HTML, "X-Robots-Tag": "nofollow"}, b"<a href=/never>x</a>")}
    with Pages({"127.0.2.1": site}) as web:
        crawl = Crawl(web, merge(METADATA, {"scope": {"mode": "hosts"}}), web.url("127.0.2.1", "/no"))
        metadata = warc.metadata(records_of(crawl))
        found = {field[1].replace(web.url("127.0.2.1", ""), "") for field in metadata[web.url("127.0.2.1", "/")]
                 if field[0] == "outlink"}
        assert found == {"/next L Link:", "/d/a L a/@href", "/d/i.png E img/@src", "/d/s.js E script/@src",
                         "/d/f L iframe/@src", "/d/c.css E link/@href", "http://elsewhere.test/ L a/@href"}, found
        assert [field for field in metadata[web.url("127.0.2.1", "/no")] if field[0] == "outlink"] == \
            [("outlink", web.url("127.0.2.1", "/never") + " L a/@href")], "listed, though not followed"


def test_long_pages_and_long_lists():
    """A page that is stored in steps for its body, one for its links, and one with more links than a record takes."""
    names = {"/body": (2000, b"<!-- " + b"word " * 200000 + b" -->"), "/links": (5000, b""), "/more": (5900, b"")}
    site = {"/": (200, HTML, b"".join(b"<a href=%s>x</a>" % path.encode() for path in names))}
    for path, (count, more) in names.items():
        name = b"%05d" if path != "/more" else b"%05d" + b"x" * 60
        site[path] = (200, HTML, more + b"".join(b"<a href=/n/" + name % i + b">" for i in range(count)))
    with Pages({"127.0.2.1": site}) as web:
        for level in ("1", "6"):
            crawl = Crawl(web, merge(METADATA, {"store": {"level": level}, "scope": {"depth": "1"}}))
            assert crawl.code == 0, crawl.stderr
            metadata = warc.metadata(records_of(crawl))
            for path, (count, _) in names.items():
                fields = metadata[web.url("127.0.2.1", path)]
                left_out = sum(int(field[1]) for field in fields if field[0] == "outlinksLeftOut")
                listed = sum(outlinks_of(fields).values())
                assert listed + left_out == count, (path, listed, left_out)
                assert (left_out > 0) == (level == "6" or path == "/more"), (level, path, left_out)


main([test_each_page_lists_its_links, test_none_without_the_key, test_every_kind_has_its_letter_and_place,
      test_long_pages_and_long_lists])
