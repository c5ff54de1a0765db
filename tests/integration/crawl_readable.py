#!/usr/bin/env python3
"""What a crawl leaves behind is read by other people's tools and by a reader written from the standard."""
import gzip
import json
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import warc  # noqa: E402
from simulated import BUILD, IMPATIENT, RUDE, Crawl, Pages, Web, compare, main, merge, outcome_of, wait_until  # noqa: E402

WEB = ["--hosts", "20", "--pages", "20", "--rtt-ms", "1", "--think-ms", "0", "--crawl-delay-ms", "20"]


def responses_of(crawl, **how):
    return {record["WARC-Target-URI"]: record for path in crawl.warcs() for record in warc.read(path, **how)
            if warc.is_capture(record)}


def test_every_page_is_in_a_valid_warc():
    tuning = merge(RUDE, IMPATIENT, {"store": {"file-bytes": "300KB"}, "crawl": {"operator": "the tests"}})
    with Web(*WEB) as web:
        crawl = Crawl(web, tuning, "--threads", "2")
        truth = web.truth()
        compare(crawl, truth)
        stored = responses_of(crawl)
        assert len(crawl.warcs()) > 4, "files are rotated"
        noindex = set(truth) - set(stored)
        assert set(stored) <= set(truth) and len(noindex) < len(truth) / 20, sorted(noindex)[:3]
        digests = {row[3]: row[9] for row in crawl.log}
        for url, record in stored.items():
            assert record["WARC-Payload-Digest"] == digests[url], url
        for path in crawl.warcs():
            unpacked = subprocess.run(["gunzip", "-c", path], check=True, capture_output=True).stdout
            with gzip.open(path) as file:
                assert file.read() == unpacked


def test_old_readers_get_the_old_version():
    """libarchive knows WARC up to 1.0, and only headers that do not cross its 64 KiB buffers: a small file."""
    with Web("--hosts", "2", "--pages", "4", "--size", "1024", "--plain") as web:
        crawl = Crawl(web, merge(RUDE, {"store": {"warc-version": "1.0"}}))
        compare(crawl, web.truth())
        assert set(responses_of(crawl)) == set(web.truth())
        for path in crawl.warcs():
            listed = subprocess.run(["bsdtar", "-tf", path], capture_output=True, text=True)
            assert listed.returncode == 0 and len(listed.stdout.splitlines()) >= 3, listed.stderr + listed.stdout


def test_plain_and_other_levels():
    with Web(*WEB[:3], "6", "--plain") as web:
        for store in ({"compress": "none"}, {"level": "6"}, {"compress": "zstd", "level": "3"}, {"block-digest": "no"}):
            crawl = Crawl(web, merge(RUDE, {"store": store}))
            compare(crawl, web.truth())
            assert set(responses_of(crawl, has_block_digest="block-digest" not in store)) == set(web.truth())


def test_zstd_learns_a_dictionary():
    """The first file has none, the others begin with it; warc.read unpacks both with the program zstd."""
    def hurry(crawl):
        """Slow until the dictionary is learned, which a busy machine may take seconds for."""
        wait_until(lambda: len(list((crawl.directory / "warc").glob("*.warc.zst*"))) == 2, "a file with a dictionary")
        crawl.tuning_path.write_text(crawl.tuning_path.read_text().replace("bandwidth = 1MB", "bandwidth = 0"))
        crawl.process.send_signal(signal.SIGHUP)
    with Web("--hosts", "40", "--pages", "30", "--plain") as web:
        tuning = merge(RUDE, {"store": {"compress": "zstd"}, "net": {"bandwidth": "1MB"}})
        crawl = Crawl(web, tuning, "--threads", "1", during=hurry)
        compare(crawl, web.truth())
        assert set(responses_of(crawl)) == set(web.truth())
        has_dictionary = [path.read_bytes().startswith(b"\x5d\x2a\x4d\x18") for path in crawl.warcs()]
        assert has_dictionary == [False, True], has_dictionary
        first, second = (path.stat().st_size / len(warc.read(path)) for path in crawl.warcs())
        assert second < first / 2, (first, second)


def test_log_has_heritrix_columns():
    columns = [r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", r"-?\d+", r"\d+|-", r"https?://\S+", r"-|(\d+\+)?[LERMP]+",
               r"-|https?://\S+", r"\S+", r"#\d{3}", r"\d{17}\+\d+|-", r"sha1:[A-Z2-7]{32}|-", r"https?://\S+",
               r"-|[a-z0-9]\S*", r"\{\S*\}"]
    with Web(*WEB) as web:
        crawl = Crawl(web, merge(RUDE, IMPATIENT))
        compare(crawl, web.truth())
        for row in crawl.log:
            assert len(row) == len(columns), row
            for field, pattern in zip(row, columns):
                assert re.fullmatch(pattern, field), (field, pattern, row)
            extra = json.loads(row[12])
            assert set(extra) <= {"v", "o", "f"} and all(isinstance(value, int) for value in extra.values()), row
            assert int(row[1]) <= 0 or {"v", "f"} <= set(extra), row
        ways = {row[3]: row[4] for row in crawl.log}
        sources = {row[3]: row[10] for row in crawl.log}
        for _, _, _, url, way, via, *_ in crawl.log:
            assert (way == "-") == (via == "-"), (url, way, via)
            assert sources[url] == (url if way == "-" else sources[via]), (url, via, sources[url])
            assert "+" in way or via == "-" or ways[via].strip("-") == way[:-1], (url, way, via, ways[via])
        total = sum(crawl.summary["outcomes"].values())
        assert total == len(crawl.log) == crawl.summary["urls_out"]


def test_log_of_robots_files():
    """They are prerequisites of the first URL that needs them, also where they redirect to another host."""
    page = {"/": (200, {"Content-Type": "text/html"}, b"here")}
    rules = (200, {"Content-Type": "text/plain"}, b"User-agent: *\nAllow: /\nSitemap: /map\n")
    site = {"127.0.2.1": {**page, "/robots.txt": rules, "/map": (200, {"Content-Type": "text/plain"}, b"/named\n")},
            "127.0.2.2": {**page, "/robots.txt": (302, {"Location": "http://127.0.2.1:PORT/theirs"}, b"")}}
    site["127.0.2.1"]["/theirs"] = rules
    with Pages(site) as web:
        first, second = web.url("127.0.2.1"), web.url("127.0.2.2")
        tuning = merge(RUDE, {"log": {"robots": "yes"}, "store": {"robots": "yes"}, "robots": {"sitemaps": "robots"}})
        crawl = Crawl(web, tuning)
        lines = {row[3]: (int(row[1]), row[4], row[5], row[10]) for row in crawl.log}
        assert lines[first + "robots.txt"] == (200, "P", first, first), lines
        assert lines[second + "robots.txt"] == (302, "P", second, second), lines
        assert lines[first + "theirs"] == (200, "PR", second + "robots.txt", second), lines
        assert lines[second + "map"] == (404, "M", second + "robots.txt", second), lines
        assert lines[first + "named"] == (404, "MM", first + "map", first), lines
        assert sorted(lines) == sorted(responses_of(crawl)), lines
        quiet = Crawl(web, merge(tuning, {"log": {"robots": "no", "source": "no"}}))
        assert not [row for row in quiet.log if "P" in row[4] or row[10] != "-"], quiet.log


def test_log_of_a_host_that_is_given_up():
    with Pages({"127.0.0.1": {}}) as web, socket.socket() as unheard:
        unheard.bind(("127.0.0.1", 0))
        dead = f"http://127.0.0.1:{unheard.getsockname()[1]}/"
        crawl = Crawl(web, merge(RUDE, {"retry": {"wait": "10ms", "host-failures": "3"}}), seeds=dead)
        assert [row[11] for row in crawl.log] == ["connect-refused,3t,host-given-up"], crawl.log


def test_log_names_what_is_wrong_with_a_certificate():
    with Web("--hosts", "4", "--pages", "5", "--plain", "--https", "1", "--fault", "expired=0.5") as web:
        crawl = Crawl(web, merge(RUDE, {"net": {"tls-ca-file": web.ca, "tls-verify": "no"}}))
        said = {row[11] for row in crawl.log if row[3].startswith("https")}
        assert {words.split(",")[0] for words in said} == {"-", "tls-cert-expired"}, said


def test_why():
    tuning = merge(RUDE, IMPATIENT, {"scope": {"exclude": "/music/"}})
    with Web(*WEB, "--robots-rules", "0.4") as web:
        crawl = Crawl(web, tuning)

        def why(url):
            done = subprocess.run([BUILD / "lycosa", "why", crawl.directory, url], capture_output=True, text=True)
            return done.stdout + done.stderr

        fetched = crawl.fetched[0]
        assert "fetched" in why(fetched) and "200" in why(fetched), why(fetched)
        denied = [row[3] for row in crawl.log if outcome_of(row) == "robots-denied"]
        assert "robots-denied" in why(denied[0]), why(denied[0])
        assert "exclude" in why(fetched.rstrip("/") + "/music/x"), why(fetched + "music/x")
        assert "not seen" in why(fetched.rstrip("/") + "/never"), why(fetched + "never")


def test_why_of_embeds_redirects_and_what_was_left_out():
    hub = b"<img src=/pic><a href=/moved></a><a href=/one rel=nofollow></a><img src=http://127.0.2.9:PORT/far>"
    with Pages({"127.0.2.1": {"/moved": (302, {"Location": "/target"}, b""),
                              "/target": (200, {"Content-Type": "text/html"}, b"<a href=/deep>")}, "127.0.2.9": {}}) as web:
        web.pages["127.0.2.1"]["/"] = (200, {"Content-Type": "text/html"}, hub.replace(b"PORT", b"%d" % web.port))

        def why(crawl, address, path):
            return subprocess.run([BUILD / "lycosa", "why", crawl.directory, web.url(address, path)], capture_output=True,
                                  text=True).stdout

        shallow = merge(RUDE, {"scope": {"mode": "hosts", "depth": "1"}})
        crawl = Crawl(web, shallow, seeds=web.url("127.0.2.1"))
        assert f"hops LR, found on {web.url('127.0.2.1', '/moved')}" in why(crawl, "127.0.2.1", "/target")
        left_out = why(crawl, "127.0.2.1", "/deep")
        assert left_out.startswith("not seen: ") and "2 embedded (scope.embeds), 1 too deep (scope.depth)" in left_out, left_out
        assert "1 nofollow (robots.nofollow)" in why(crawl, "127.0.2.1", "/one")
        assert why(crawl, "127.0.2.9", "/far") == "out of scope by rule 'hops-off'\n", why(crawl, "127.0.2.9", "/far")
        crawl = Crawl(web, merge(shallow, {"scope": {"embeds": "anywhere"}}), seeds=web.url("127.0.2.1"))
        assert "hops E, found on " in why(crawl, "127.0.2.9", "/far"), why(crawl, "127.0.2.9", "/far")
        assert "may embed it (scope.embeds)" in why(crawl, "127.0.2.9", "/other"), why(crawl, "127.0.2.9", "/other")


def test_why_of_a_seed_that_fails():
    with Pages({"127.0.0.1": {}}) as web, socket.socket() as unheard:
        unheard.bind(("127.0.0.1", 0))
        dead = f"http://127.0.0.1:{unheard.getsockname()[1]}/"
        crawl = Crawl(web, RUDE, "--max-time", "3s", seeds=dead)
        told = subprocess.run([BUILD / "lycosa", "why", crawl.directory, dead], capture_output=True, text=True).stdout
        assert 'it waits for its turn (hosts that fail and are tried again: "connect-refused": 1)' in told, told


def test_why_of_what_waits():
    with Web(*WEB) as web:
        crawl = Crawl(web, RUDE, "--max-pages", "3")
        done = {row[3] for row in crawl.log}
        waiting = next(url for url in web.seeds().read_text().split() if url not in done)

        def why(url):
            return subprocess.run([BUILD / "lycosa", "why", crawl.directory, url], capture_output=True, text=True).stdout

        assert why(waiting).startswith("not finished: a seed"), why(waiting)
        assert "URLs wait" in why(waiting + "some/page"), why(waiting + "some/page")


def test_summary_is_json():
    with Web(*WEB[:3], "4", "--plain") as web:
        crawl = Crawl(web, RUDE)
        assert crawl.summary["end"] == "complete" and crawl.summary["pages"] == len(crawl.fetched)
        json.dumps(crawl.summary)


main([test_every_page_is_in_a_valid_warc, test_plain_and_other_levels, test_zstd_learns_a_dictionary, test_old_readers_get_the_old_version, test_log_has_heritrix_columns, test_log_of_robots_files, test_log_of_a_host_that_is_given_up,
      test_log_names_what_is_wrong_with_a_certificate, test_why, test_why_of_embeds_redirects_and_what_was_left_out,
      test_why_of_a_seed_that_fails, test_why_of_what_waits,
      test_summary_is_json])
