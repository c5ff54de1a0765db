#!/usr/bin/env python3
"""Pages as lines of JSON (store.kind = jsonl) and as files (directory): each page once, also if the crawl is killed."""
import base64
import gzip
import hashlib
import json
import re
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from simulated import (BUILD, IMPATIENT, RUDE, Crawl, Pages, Web, base_tuning, compare, main, merge, tuning_text,  # noqa: E402
                       wait_until)

# Answers of name servers are WARC records: there must be none among lines.
JSONL = merge(RUDE, {"store": {"kind": "jsonl", "dns": "yes"}})
HTML = {"Content-Type": "text/html; charset=utf-8"}


def digest_of(body):
    return "sha1:" + base64.b32encode(hashlib.sha1(body).digest()).decode()


def unpacked(path):
    """A whole file of lines, by the programs that users have."""
    if path.suffix == ".zst":
        return subprocess.run(["zstd", "-dcq", path], check=True, stdout=subprocess.PIPE).stdout
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()


def lines_of(directory):
    """Every line of every file: each must be an object, and end with a newline."""
    texts = [unpacked(path).decode("utf-8") for path in sorted((directory / "pages").iterdir())]
    assert all(text.endswith("\n") for text in texts), "the last line is cut"
    return [json.loads(line) for text in texts for line in text[:-1].split("\n")]


def pages_of(crawl):
    """{URL: object} of all lines; ends the test if a URL is there twice."""
    lines = lines_of(crawl.directory)
    pages = {page["url"]: page for page in lines}
    assert len(pages) == len(lines), "a URL is there twice"
    return pages


def truth_with_digests(web):
    """{URL: (status, size, digest)}, by the server's own account."""
    text = web.run("truth", "--seeds", str(web.directory / "seeds.txt"), "--digest", "sha1").stdout
    rows = (line.split("\t") for line in text.splitlines())
    return {row[0]: (int(row[1]), int(row[2]), "sha1:" + row[3]) for row in rows}


def test_every_page_is_a_line():
    for threads in ("1", "2"):
        with Web("--hosts", "20", "--pages", "20", "--plain") as web:
            crawl = Crawl(web, JSONL, "--threads", threads)
            truth = truth_with_digests(web)
            compare(crawl, {url: row[:2] for url, row in truth.items()})
            pages = pages_of(crawl)
            assert {url: (page["status"], page["bytes"], page["digest"]) for url, page in pages.items()} == truth
            for page in pages.values():
                assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", page["date"]), page["date"]
            html = [page for page in pages.values() if page["type"] == "text/html" and page["status"] == 200]
            assert html and all(page["title"] and page["text"] for page in html)
            assert not [page for page in html if re.search(r"<(p|a|div|html)\b", page["text"])], "markup is left"
            assert not (crawl.directory / "warc").exists()


def test_lines_have_the_words_of_their_pages():
    site = {"/": (200, HTML, "<title>Caf\u00e9 &amp; Bar</title><h1>One</h1><script>no</script><p>two <b>three</b>"
                             "<a href=/latin>x</a><a href=/plain>y</a><a href=/png>z</a>".encode()),
            "/latin": (200, {"Content-Type": "text/html; charset=iso-8859-1"}, b"<title>\xfc</title>caf\xe9 \"q\" \\"),
            "/plain": (200, {"Content-Type": "text/plain"}, b" as it\r\n is "),
            "/png": (200, {"Content-Type": "image/png"}, b"\x89PNG\r\n\x1a\n" + bytes(range(256)))}
    with Pages({"127.0.2.1": site}) as web:
        pages = pages_of(Crawl(web, JSONL))
        found = {path: pages[web.url("127.0.2.1", path)] for path in site}
        assert (found["/"]["title"], found["/"]["text"]) == ("Caf\u00e9 & Bar", "One\ntwo threexyz"), found["/"]
        assert (found["/latin"]["title"], found["/latin"]["text"]) == ("\u00fc", "caf\u00e9 \"q\" \\"), found["/latin"]
        assert found["/plain"]["text"] == " as it\r\n is " and "title" not in found["/plain"], found["/plain"]
        assert not {"title", "text"} & set(found["/png"]) and found["/png"]["type"] == "image/png", found["/png"]
        for path, (_, _, body) in site.items():
            assert (found[path]["digest"], found[path]["bytes"]) == (digest_of(body), len(body)), path


def test_files_are_compressed_and_rotated():
    for compress, ending in (("gzip", ".jsonl.gz"), ("zstd", ".jsonl.zst"), ("none", ".jsonl")):
        with Web("--hosts", "20", "--pages", "20", "--plain") as web:
            crawl = Crawl(web, merge(JSONL, {"store": {"compress": compress, "file-bytes": "65536", "prefix": "t"}}))
            files = sorted((crawl.directory / "pages").iterdir())
            assert len(files) > 1 and all(re.fullmatch(r"t-\d{17}-\d{5}-\d\d" + ending.replace(".", r"\."), path.name)
                                          for path in files), files
            assert set(pages_of(crawl)) == set(web.truth())
            assert crawl.summary["stored"] == len(web.truth())


def test_what_is_not_wanted_is_no_line():
    """robots.txt, noindex, types that were not asked for; a coding is undone, and copies are lines of their own."""
    packed = gzip.compress(b"<title>Packed</title><p>inside")
    copy = b"<title>Copy</title>" + b"the same words again. " * 200
    site = {"/": (200, HTML, "".join(f"<a href={path}>x</a>" for path in
                                     ("/no", "/gz", "/css", "/a", "/b", "/none")).encode()),
            "/robots.txt": (200, {"Content-Type": "text/plain"}, b"User-agent: *\nDisallow: /x"),
            "/no": (200, {**HTML, "X-Robots-Tag": "noindex"}, b"hidden"),
            "/gz": (200, {**HTML, "Content-Encoding": "gzip"}, packed),
            "/css": (200, {"Content-Type": "text/css"}, b"p { }"),
            "/a": (200, HTML, copy), "/b": (200, HTML, copy)}
    wanted = {"/": 200, "/gz": 200, "/a": 200, "/b": 200}
    for store, count in (("revisit", 4), ("full", 4), ("skip", 3)):
        with Pages({"127.0.2.1": site}) as web:
            tuning = merge(JSONL, {"store": {"robots": "yes"}, "scope": {"mime": "text/html"},
                                   "duplicates": {"store": store}})
            crawl = Crawl(web, tuning)
            found = {path: pages_of(crawl).get(web.url("127.0.2.1", path)) for path in wanted}
            assert len(pages_of(crawl)) == count == crawl.summary["stored"], (store, pages_of(crawl))
            assert sum(page is not None for page in found.values()) == count, (store, found)
            assert (found["/gz"]["title"], found["/gz"]["text"]) == ("Packed", "inside"), found["/gz"]
            assert (found["/gz"]["bytes"], found["/gz"]["digest"]) == (len(packed), digest_of(packed)), found["/gz"]


def test_long_pages_are_cut_and_say_so():
    words = b"word " * 400000  # 2 MB
    site = {"/": (200, HTML, b"<a href=/long>x</a><a href=/gz>y</a><a href=/page>z</a><a href=/png>z</a>"),
            "/long": (200, {"Content-Type": "text/plain"}, words),
            "/gz": (200, {"Content-Type": "text/plain", "Content-Encoding": "gzip"}, gzip.compress(words)),
            "/page": (200, HTML, b"<title>Last</title>" + b"<i></i>" * 100000 + b"end"),
            "/png": (200, {"Content-Type": "image/png"}, b"\x89PNG\r\n\x1a\n" + words)}
    with Pages({"127.0.2.1": site}) as web:
        pages = pages_of(Crawl(web, JSONL))
        found = {path: pages[web.url("127.0.2.1", path)] for path in site}
        for path in ("/long", "/gz"):
            assert found[path]["text_cut"] is True and words.startswith(found[path]["text"].encode()), path
            assert len(found[path]["text"]) == 1 << 19, path
        assert (found["/page"]["text"], found["/page"]["title"]) == ("end", "Last") and "text_cut" not in found["/page"]
        assert "text" not in found["/png"] and "text_cut" not in found["/png"], found["/png"]
        assert all(found[path]["digest"] == digest_of(site[path][2]) for path in site)


DIRECTORY = merge(RUDE, {"store": {"kind": "directory", "dns": "yes", "metadata": "yes"}})


def files_of(directory):
    """{URL: (status, type, bytes)} by files.tsv. Every line must be true, and name all files there are."""
    lines = [line.split("\t") for line in (directory / "files.tsv").read_text().splitlines()]
    found = {}
    for url, status, kind, date, digest, size, path in lines:
        body = (directory / path).read_bytes()
        assert (digest, int(size)) == (digest_of(body), len(body)), (url, path)
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", date), date
        found[url] = (int(status), kind, body)
    assert len(found) == len(lines), "a URL is listed twice"
    there = sorted(str(path.relative_to(directory)) for path in (directory / "files").rglob("*") if path.is_file())
    assert there == sorted(line[6] for line in lines), "what is there, and what is listed"
    assert not list((directory / "incoming").iterdir()) and not (directory / "files.mark").exists()
    return found


def check_files(directory, web):
    """The files are what the server says that it serves, and what crawl.log says."""
    truth = truth_with_digests(web)
    found = {url: (status, len(body), digest_of(body)) for url, (status, _, body) in files_of(directory).items()}
    assert found == truth, (len(found), len(truth))
    logged = [line.split()[3] for line in (directory / "crawl.log").read_text().splitlines() if int(line.split()[1]) > 0]
    assert sorted(logged) == sorted(found), "crawl.log and the files differ"


def test_every_page_is_a_file():
    for threads, hosts in (("1", "20"), ("2", "100")):
        with Web("--hosts", hosts, "--pages", "15", "--plain") as web:
            crawl = Crawl(web, DIRECTORY, "--threads", threads)
            compare(crawl, web.truth())
            check_files(crawl.directory, web)
            assert crawl.summary["stored"] == len(web.truth()) and not (crawl.directory / "warc").exists()


def test_names_that_are_odd_or_collide():
    paths = ["/a", "/a/", "/a.page", "/a/b.html", "/a?x=1", "/a?x=2", "/d//a", "/%2e%2e%2fetc", "/..a/.b", "/A",
             "/caf%C3%A9", "/" + "n" * 300, "/" + "n" * 299 + "m", "/.part", "/@", "/~u/,;=+"]
    site = {path: (200, {"Content-Type": "text/plain"}, path.encode() * 2) for path in paths}
    site["/"] = (200, HTML, "".join(f'<a href="{path}">x</a>' for path in paths).encode())
    with Pages({"127.0.2.1": site}) as web:
        host = web.url("127.0.2.1", "")
        crawl = Crawl(web, DIRECTORY)
        assert crawl.code == 0, crawl.stderr
        found = files_of(crawl.directory)
        for path in paths:
            assert found[host + path] == (200, "text/plain", path.encode() * 2), (path, found.get(host + path))


def test_bodies_are_as_a_browser_saves_them():
    """Codings are undone, archives are left alone; what is in another coding than its head says is kept as it came."""
    plain = b"<title>Packed</title>" + b"inside " * 1000
    packed = gzip.compress(plain)
    copy = b"the same words again. " * 200
    kinds = {"/gz": ({**HTML, "Content-Encoding": "gzip"}, packed, plain),
             "/wrong": ({**HTML, "Content-Encoding": "br"}, b"no brotli " * 9, b"no brotli " * 9),
             "/x.gz": ({"Content-Type": "application/gzip"}, packed, packed),
             "/a": (HTML, copy, copy), "/b": (HTML, copy, copy), "/empty": (HTML, b"", b""),
             "/long": ({"Content-Type": "text/plain"}, b"word " * 400000, b"word " * 400000)}
    site = {path: (200, head, body) for path, (head, body, _) in kinds.items()}
    site["/"] = (200, HTML, "".join(f"<a href={path}>x</a>" for path in kinds).encode())
    site["/robots.txt"] = (200, {"Content-Type": "text/plain"}, b"User-agent: *\nDisallow: /x-")
    with Pages({"127.0.2.1": site}) as web:
        crawl = Crawl(web, merge(DIRECTORY, {"store": {"robots": "yes"}}))
        found = files_of(crawl.directory)
        assert set(found) == {web.url("127.0.2.1", path) for path in site if path != "/robots.txt"}, set(found)
        for path, (_, _, body) in kinds.items():
            assert found[web.url("127.0.2.1", path)][2] == body, path


def test_a_disk_error_ends_the_crawl_and_it_can_be_resumed():
    """A file stands where the folder of a host should be. Once it is gone, all pages are there."""
    with Web("--hosts", "5", "--pages", "10", "--plain") as web:
        directory, _ = web.directory / "crawl", web.seeds()
        first = sorted(truth_with_digests(web))[0].split("/")[2].replace(":", "_") + "_http"

        def obstruct(crawl):
            wait_until((directory / "files").exists, "the folder")
            (directory / "files" / first).write_text("in the way")
        crawl = Crawl(web, DIRECTORY, directory=directory, during=obstruct)
        assert crawl.code == 1 and "cannot write" in crawl.stderr, (crawl.code, crawl.stderr)
        (directory / "files" / first).unlink()
        process = start("--resume", directory)
        _, errors = process.communicate(timeout=240)
        assert process.returncode == 0, errors
        check_files(directory, web)


def start(*arguments):
    return subprocess.Popen([BUILD / "lycosa", "crawl", *arguments], stdout=subprocess.DEVNULL,
                            stderr=subprocess.PIPE, text=True)


def test_a_killed_crawl_has_each_file_once():
    """Killed at its beginning, in the middle and while it unpacks, with and without syncs."""
    for sync in ("30ms", "0s"):
        with Web("--hosts", "40", "--pages", "60", "--plain") as web:
            directory, tuning, kills = web.directory / "crawl", web.directory / "killed.ini", 0
            tuning.write_text(tuning_text(merge(
                {"scope": {"mode": "any"}, "net": {"dns-servers": web.dns},
                 "state": {"commit": "20ms", "sync": sync}}, IMPATIENT, DIRECTORY)))
            process = start("-c", tuning, "-o", directory, web.seeds())
            listed = directory / "files.tsv"
            for part in (1, 40, 80, 120, 160):
                wait_until(lambda: process.poll() is not None or
                           listed.exists() and listed.stat().st_size > part * 1000 or
                           (directory / "files.mark").exists() and part > 1, f"{part} kB of files.tsv")
                kills += process.poll() is None
                process.kill()
                process.communicate()
                process = start("--resume", directory)
            _, errors = process.communicate(timeout=240)
            assert process.returncode == 0 and kills >= 2, (process.returncode, kills, errors)
            check_files(directory, web)


def test_a_killed_crawl_has_each_page_once():
    """Killed in the middle, three times; what is not in a commit is cut off and fetched again."""
    for compress in ("gzip", "none"):
        with Web("--hosts", "40", "--pages", "60", "--plain") as web:
            directory, tuning, kills = web.directory / "crawl", web.directory / "killed.ini", 0
            tuning.write_text(tuning_text(merge(
                base_tuning(web),
                {"state": {"commit": "20ms", "sync": "100ms"}}, IMPATIENT, JSONL,
                {"store": {"compress": compress, "file-bytes": "65536"}})))
            process = start("-c", tuning, "-o", directory, web.seeds())
            for part in (20, 60, 100):
                log = directory / "crawl.log"
                wait_until(lambda: process.poll() is not None or log.exists() and log.stat().st_size > part * 1000,
                           f"{part} kB of crawl.log")
                time.sleep(0.005)
                kills += process.poll() is None
                process.kill()
                process.communicate()
                process = start("--resume", directory)
            _, errors = process.communicate(timeout=240)
            assert process.returncode == 0 and kills, (process.returncode, kills, errors)
            lines, truth = lines_of(directory), truth_with_digests(web)
            found = {page["url"]: (page["status"], page["bytes"], page["digest"]) for page in lines}
            assert len(found) == len(lines), "a URL is there twice"
            assert found == truth, (len(found), len(truth))
            assert not list(directory.rglob("*.open")), "a file was left open"
            logged = [line.split()[3] for line in (directory / "crawl.log").read_text().splitlines()
                      if int(line.split()[1]) > 0]
            assert sorted(logged) == sorted(found), "crawl.log and the lines differ"


main([test_every_page_is_a_line, test_lines_have_the_words_of_their_pages, test_files_are_compressed_and_rotated,
      test_what_is_not_wanted_is_no_line, test_long_pages_are_cut_and_say_so, test_a_killed_crawl_has_each_page_once,
      test_every_page_is_a_file, test_names_that_are_odd_or_collide, test_bodies_are_as_a_browser_saves_them,
      test_a_disk_error_ends_the_crawl_and_it_can_be_resumed, test_a_killed_crawl_has_each_file_once])
