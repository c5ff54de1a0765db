#!/usr/bin/env python3
"""What a crawl leaves behind is read by other people's tools and by a reader written from the standard."""
import json
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import warc  # noqa: E402
from simulated import BUILD, IMPATIENT, RUDE, Crawl, Web, compare, main, merge  # noqa: E402

WEB = ["--hosts", "20", "--pages", "20", "--rtt-ms", "1", "--think-ms", "0", "--crawl-delay-ms", "20"]


def responses_of(crawl):
    return {record["WARC-Target-URI"]: record for path in crawl.warcs() for record in warc.read(path)
            if record["WARC-Type"] == "response"}


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
            subprocess.run(["zcat", path], check=True, stdout=subprocess.DEVNULL)


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
        for store in ({"compress": "none"}, {"level": "6"}):
            crawl = Crawl(web, merge(RUDE, {"store": store}))
            compare(crawl, web.truth())
            assert set(responses_of(crawl)) == set(web.truth())


def test_log_has_heritrix_columns():
    columns = [r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", r"-?\d+", r"\d+|-", r"https?://\S+", r"[-LERMP+0-9]+", r"-",
               r"\S+", r"#\d{3}", r"\d{17}\+\d+|-", r"sha1:[A-Z2-7]{32}|-", r"-", r"[a-z]\S*"]
    with Web(*WEB) as web:
        crawl = Crawl(web, merge(RUDE, IMPATIENT))
        compare(crawl, web.truth())
        for row in crawl.log:
            assert len(row) == len(columns), row
            for field, pattern in zip(row, columns):
                assert re.fullmatch(pattern, field), (field, pattern, row)
        total = sum(crawl.summary["outcomes"].values())
        assert total == len(crawl.log) == crawl.summary["urls_out"]


def test_log_names_what_is_wrong_with_a_certificate():
    with Web("--hosts", "4", "--pages", "5", "--plain", "--https", "1", "--fault", "expired=0.5") as web:
        crawl = Crawl(web, merge(RUDE, {"net": {"tls-ca-file": web.ca, "tls-verify": "no"}}))
        said = {row[11] for row in crawl.log if row[3].startswith("https")}
        assert said == {"done", "done,tls-cert-expired"}, said


def test_why():
    tuning = merge(RUDE, IMPATIENT, {"scope": {"exclude": "/music/"}})
    with Web(*WEB, "--robots-rules", "0.4") as web:
        crawl = Crawl(web, tuning)

        def why(url):
            done = subprocess.run([BUILD / "lycosa", "why", crawl.directory, url], capture_output=True, text=True)
            return done.stdout + done.stderr

        fetched = crawl.fetched[0]
        assert "fetched" in why(fetched) and "200" in why(fetched), why(fetched)
        denied = [row[3] for row in crawl.log if row[11].startswith("robots-denied")]
        assert "robots-denied" in why(denied[0]), why(denied[0])
        assert "exclude" in why(fetched.rstrip("/") + "/music/x"), why(fetched + "music/x")
        assert "not seen" in why(fetched.rstrip("/") + "/never"), why(fetched + "never")


def test_summary_is_json():
    with Web(*WEB[:3], "4", "--plain") as web:
        crawl = Crawl(web, RUDE)
        assert crawl.summary["end"] == "complete" and crawl.summary["pages"] == len(crawl.fetched)
        json.dumps(crawl.summary)


main([test_every_page_is_in_a_valid_warc, test_plain_and_other_levels, test_old_readers_get_the_old_version, test_log_has_heritrix_columns,
      test_log_names_what_is_wrong_with_a_certificate, test_why,
      test_summary_is_json])
