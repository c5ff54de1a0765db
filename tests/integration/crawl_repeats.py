#!/usr/bin/env python3
"""Pages that repeat others: stored once, named in crawl.log, their links followed or not; and the index beside each WARC."""
import os
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import warc  # noqa: E402
from simulated import BUILD, RUDE, Crawl, Pages, Web, compare, main, merge  # noqa: E402

LONG = os.environ.get("LYCOSA_LONG") == "ON"
WEB = ["--hosts", "30", "--pages", "40", "--plain", "--duplicates", "0.1", "--near-duplicates", "0.1"]


def contents_of(web):
    """{URL: (content, is near)} of all HTML pages."""
    text = web.run("truth", "--seeds", str(web.directory / "seeds.txt"), "--digest", "none", "--contents").stdout
    rows = (line.split("\t") for line in text.splitlines())
    return {row[0]: (row[5].split()[0], row[5].endswith("near")) for row in rows if row[5] != "-" and row[1] == "200"}


def noted(crawl, word):
    """{URL: the rest of its annotation}"""
    return {row[3]: note[len(word):] for row in crawl.log for note in row[11].split(",") if note.startswith(word)}


def records_of(crawl):
    return [record for path in crawl.warcs() for record in warc.read(path)]


def kinds_of(records):
    return {record["WARC-Target-URI"]: record["WARC-Type"] for record in records if warc.is_capture(record)}


def test_copies_become_revisits():
    with Web(*WEB) as web:
        for threads in ("1", "2"):
            crawl = Crawl(web, RUDE, "--threads", threads)
            compare(crawl, web.truth())
            records = records_of(crawl)
            warc.first_copies(records)
            kinds, copies = kinds_of(records), noted(crawl, "duplicate:")
            assert set(kinds) == set(web.truth())
            assert {url for url, kind in kinds.items() if kind == "revisit"} == set(copies), "the log tells the same"
            assert len(copies) == crawl.summary["duplicates"] > 30 and crawl.summary["near_duplicates"] == 0
            # With one loop each body but the short ones is stored once.
            bodies = [record["WARC-Payload-Digest"] for record in records
                      if record["WARC-Type"] == "response" and len(record.payload()) >= 512]
            assert threads == "2" or len(bodies) == len(set(bodies))
            said = subprocess.run([BUILD / "lycosa", "why", crawl.directory, sorted(copies)[0]], capture_output=True,
                                  text=True, check=True).stdout
            first = next(record["WARC-Refers-To-Target-URI"] for record in records
                         if record["WARC-Target-URI"] == sorted(copies)[0] and record["WARC-Type"] == "revisit")
            assert "duplicate:" in said and f"its body is that of {first}\n" in said, said


def test_what_the_keys_say():
    with Web(*WEB) as web:
        full = Crawl(web, merge(RUDE, {"duplicates": {"store": "full"}}))
        assert set(kinds_of(records_of(full)).values()) == {"response"}
        off = Crawl(web, merge(RUDE, {"duplicates": {"kind": "off"}}))
        assert set(kinds_of(records_of(off)).values()) == {"response"} and off.summary["duplicates"] == 0
        skip = Crawl(web, merge(RUDE, {"duplicates": {"store": "skip"}}))
        compare(skip, web.truth())
        kinds = kinds_of(records_of(skip))
        assert set(kinds.values()) == {"response"}
        assert set(web.truth()) - set(kinds) == set(noted(skip, "duplicate:")) and skip.summary["duplicates"] > 30


def test_links_of_copies_are_skipped():
    """Each copy of the page lies in a folder of its own, and links to the next folder: without end."""
    page = b"<a href='deeper/'>on</a>" + b"x" * 1000
    html = {"Content-Type": "text/html"}
    routes = {"/" + "deeper/" * depth: (200, html, page) for depth in range(9)}
    with Pages({"127.0.0.1": routes}) as web:
        for store in ("warc", "none"):
            tuning = {"store": {"kind": store}, "scope": {"path-repeats": "100"}}
            all_of_them = Crawl(web, merge(RUDE, tuning))
            assert all_of_them.summary["pages"] == 10, all_of_them.summary  # the last one is a 404
            few = Crawl(web, merge(RUDE, tuning, {"duplicates": {"links": "skip"}}))
            assert few.summary["pages"] == 2 and few.summary["duplicates"] == 1, few.summary


def test_near_duplicates():
    """Precision and recall against what websim knows."""
    with Web(*WEB) as web:
        crawl = Crawl(web, merge(RUDE, {"duplicates": {"kind": "near"}}))
        contents = contents_of(web)
        compare(crawl, web.truth())
        near, copies = noted(crawl, "near-duplicate:"), noted(crawl, "duplicate:")
        order = [row[3] for row in crawl.log if row[3] in contents]
        seen, expected = set(), set()
        for url in order:
            content = contents[url][0]
            if content in seen and url not in copies:
                expected.add(url)
            seen.add(content)
        found = set(near) & set(contents)
        recall, precision = len(found & expected) / len(expected), len(found & expected) / len(found)
        print(f"  {len(contents)} pages, {len(expected)} near-duplicates: recall {recall:.3f}, precision {precision:.3f}")
        assert recall > 0.8 and precision > 0.9, (sorted(expected - found)[:3], sorted(found - expected)[:3])
        assert crawl.summary["near_duplicates"] == len(near)
        assert all(0 <= int(note.split(":")[0]) <= 3 for note in near.values())
        # They are stored all the same, unless the tuning file says otherwise.
        assert set(near) <= set(kinds_of(records_of(crawl)))
        skip = Crawl(web, merge(RUDE, {"duplicates": {"kind": "near", "store": "skip"}}))
        compare(skip, web.truth())
        stored = kinds_of(records_of(skip))
        assert not set(noted(skip, "near-duplicate:")) & set(stored) and len(stored) < len(web.truth())


def words(first, count=400):
    """A text of which two differ little if `first` does."""
    return (first + " " + " ".join(f"word{chr(97 + i % 26)}{chr(97 + i // 26)}" for i in range(count))).encode()


def test_links_of_near_duplicates_are_skipped():
    """Each page says another number of the day, and links to the next folder: without end."""
    html = {"Content-Type": "text/html"}
    days = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "march", "april"]
    routes = {"/" + "deeper/" * i: (200, html, b"<a href='deeper/'>on</a>" + words(day)) for i, day in enumerate(days)}
    with Pages({"127.0.0.1": routes}) as web:
        tuning = merge(RUDE, {"duplicates": {"kind": "near"}, "scope": {"path-repeats": "100"}})
        all_of_them = Crawl(web, tuning)
        assert all_of_them.summary["pages"] == 10 and all_of_them.summary["near_duplicates"] == 8, all_of_them.summary
        few = Crawl(web, merge(tuning, {"duplicates": {"links": "skip"}}))
        assert few.summary["pages"] == 2 and few.summary["near_duplicates"] == 1, few.summary
        first, second = sorted(few.fetched)
        said = subprocess.run([BUILD / "lycosa", "why", few.directory, second], capture_output=True, text=True, check=True).stdout
        assert f"its text is nearly that of {first}: 0 of 64 bits differ" in said, said


def test_the_distance_counts():
    """By `lycosa fingerprint` the texts are so far apart; each distance finds those within it, and no others."""
    html = {"Content-Type": "text/html"}
    texts = [words("", 380)] + [words(" ".join(f"other{chr(97 + i)}{chr(97 + j)}" for j in range(4 * i)), 380) for i in range(1, 7)]
    routes = {f"/{i}": (200, html, text) for i, text in enumerate(texts)}
    routes["/"] = (200, html, b"".join(b"<a href=/%d></a>" % i for i in range(len(texts))))
    with Pages({"127.0.0.1": routes}) as web:
        files = []
        for i, text in enumerate(texts):
            files.append(web.directory / f"{i}.html")
            files[-1].write_bytes(text)
        said = subprocess.run([BUILD / "lycosa", "fingerprint", *files], capture_output=True, text=True, check=True).stdout
        hashes = {int(name): int(value, 16) for value, name in re.findall(r"^([0-9a-f]{16})\b.*?(\d)\.html", said, re.M)}
        assert len(hashes) == len(texts), said
        for distance in (0, 2, 7):
            crawl = Crawl(web, merge(RUDE, {"duplicates": {"kind": "near", "distance": str(distance)},
                                            "net": {"connections": "1"}}))
            near, held, expected = noted(crawl, "near-duplicate:"), [], {}
            for row in crawl.log:
                number = row[3].rsplit("/", 1)[1]
                if not number:
                    continue
                nearest = min(((hashes[int(number)] ^ other).bit_count() for other in held), default=64)
                if nearest <= distance:
                    expected[row[3]] = nearest
                else:
                    held.append(hashes[int(number)])
            assert {url: int(note.split(":")[0]) for url, note in near.items()} == expected, (distance, near, expected)
            print(f"  distance {distance}: {sorted(expected.values())} of {len(texts)}")


def test_answers_of_name_servers():
    with Web(*WEB) as web:
        crawl = Crawl(web, merge(RUDE, {"store": {"dns": "yes"}}), "--threads", "2")
        records = records_of(crawl)
        told = [record["WARC-Target-URI"][4:] for record in records[1:] if record["WARC-Type"] == "response"
                and record["WARC-Target-URI"].startswith("dns:")]
        hosts = {url.split("/")[2].split(":")[0] for url in web.truth()}
        assert set(told) == hosts and len(told) < 3 * len(hosts), (len(told), len(hosts))
        assert set(kinds_of(records)) == set(web.truth())
        checked = subprocess.run([BUILD / "lycosa", "archive", "check", crawl.directory], capture_output=True, text=True)
        assert checked.returncode == 0, checked.stdout + checked.stderr


def check_indexes_again(crawl):
    """The crawl made them while it wrote the files; one that is made by reading the file is the same."""
    for path in crawl.warcs():
        again = crawl.directory / "again.cdxj"
        subprocess.run([BUILD / "lycosa", "index", "-o", again, path], capture_output=True, check=True)
        assert again.read_bytes() == (path.parent / (path.name.split(".warc")[0] + ".cdxj")).read_bytes(), path
        again.unlink()


def test_each_warc_has_its_index():
    with Web(*WEB) as web:
        for compress in ("none", "zstd", "gzip"):
            crawl = Crawl(web, merge(RUDE, {"store": {"file-bytes": "200KB", "compress": compress}}), "--threads", "2")
            check_indexes_again(crawl)
        names = {path.name.split(".warc")[0] for path in crawl.warcs()}
        indexes = list((crawl.directory / "warc").glob("*.cdxj"))
        assert {path.stem for path in indexes} == names and len(names) > 4
        lines = [line for path in indexes for line in path.read_text().splitlines()]
        assert len(lines) == len([record for record in records_of(crawl) if warc.is_capture(record)])
        url = sorted(noted(crawl, "duplicate:"))[0]
        got = subprocess.run([BUILD / "lycosa", "archive", "get", crawl.directory, url], capture_output=True, check=True)
        digest = next(row[9] for row in crawl.log if row[3] == url)
        assert warc.sha1(got.stdout) == digest, "a revisit leads to its body"
        checked = subprocess.run([BUILD / "lycosa", "archive", "check", crawl.directory], capture_output=True, text=True)
        assert checked.returncode == 0, checked.stdout + checked.stderr
        none = Crawl(web, merge(RUDE, {"store": {"index": "no"}}))
        assert not list((none.directory / "warc").glob("*.cdxj"))


def test_the_archive_holds_the_truth():
    """Byte by byte, each URL once, by a reader of our own and by one that is not."""
    for seed in range(10 if LONG else 3):
        with Web(*WEB, "--seed", str(seed)) as web:
            store = {"compress": ("gzip", "zstd", "none")[seed % 3], "file-bytes": "500KB"}
            crawl = Crawl(web, merge(RUDE, {"store": store}), "--threads", str(1 + seed % 2))
            text = web.run("truth", "--seeds", str(web.directory / "seeds.txt"), "--digest", "sha1").stdout
            truth = {row[0]: row[3] for row in (line.split("\t") for line in text.splitlines())}
            records = records_of(crawl)
            payloads, found = warc.first_copies(records), []
            for record in records:
                if warc.is_capture(record):
                    first = record["WARC-Refers-To-Target-URI"], record["WARC-Refers-To-Date"]
                    body = payloads[first] if record["WARC-Type"] == "revisit" else record.payload()
                    found.append((record["WARC-Target-URI"], warc.sha1(body)[5:]))
            assert len(found) == len(truth) and dict(found) == truth, (seed, len(found), len(truth))
            checked = subprocess.run([BUILD / "lycosa", "archive", "check", crawl.directory], capture_output=True, text=True)
            assert checked.returncode == 0, checked.stdout + checked.stderr
            print(f"  web {seed}, {store['compress']}: {len(found)} pages, {crawl.summary['duplicates']} of them revisits")


main([test_the_archive_holds_the_truth, test_copies_become_revisits, test_what_the_keys_say, test_links_of_copies_are_skipped, test_near_duplicates,
      test_links_of_near_duplicates_are_skipped, test_the_distance_counts,
      test_answers_of_name_servers, test_each_warc_has_its_index])
