#!/usr/bin/env python3
"""Somebody sets the clock while a crawl runs: the dates in its log and in its WARC files follow, its times do not."""
import os
import sys
from datetime import datetime, timezone
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import warc  # noqa: E402
from simulated import BUILD, RUDE, Crawl, Pages, is_sanitized, main, merge  # noqa: E402

HOST, HOUR = "127.0.0.1", 3600
SLACK_S = 600  # for a busy machine; a sixth of the step


class Stepping(dict):
    """Pages of a host: the clock is set when /step is asked for."""

    def get(self, path, otherwise=None):
        if path == "/step":
            self.file.touch()
        return super().get(path, otherwise)


def page(*links):
    return 200, {"Content-Type": "text/html"}, "".join(f'<a href="{link}">x</a>' for link in links).encode()


def hours_ahead(date):
    """Of the clock that this test goes by."""
    seconds = (datetime.fromisoformat(date.replace("Z", "+00:00")) - datetime.now(timezone.utc)).total_seconds()
    hours = round(seconds / HOUR)
    assert abs(seconds - hours * HOUR) < SLACK_S, date
    return hours


def check_step(step_s):
    site = Stepping({"/": page("/step"), "/step": page("/after"), "/after": page()})
    with Pages({HOST: site}) as web:
        site.file = web.directory / "stepped"
        env = {**os.environ, "LD_PRELOAD": str(BUILD / "preload_clock.so"), "CLOCK_STEP_S": str(step_s),
               "CLOCK_STEP_FILE": str(site.file)}
        crawl = Crawl(web, merge(RUDE, {"crawl": {"threads": "1"}}), env=env)
        assert crawl.code == 0 and len(crawl.fetched) == 3, crawl.stderr
        rows = {row[3].split("/", 3)[3]: row for row in crawl.log}
        dates = {record["WARC-Target-URI"].split("/", 3)[3]: record["WARC-Date"] for path in crawl.warcs()
                 for record in warc.read(path) if warc.is_capture(record)}
        hours = step_s // HOUR
        assert hours_ahead(rows[""][0]) == 0 and hours_ahead(dates[""]) == 0, (rows[""], dates[""])
        assert hours_ahead(rows["after"][0]) == hours and hours_ahead(dates["after"]) == hours, (rows["after"], dates["after"])
        took_ms = [int(row[8].split("+")[1]) for row in crawl.log]
        assert max(took_ms) < SLACK_S * 1000, took_ms
        assert crawl.summary["seconds"] < SLACK_S, crawl.summary["seconds"]


def test_a_clock_that_is_put_forward():
    check_step(2 * HOUR)


def test_a_clock_that_is_put_back():
    check_step(-2 * HOUR)


if is_sanitized():
    print("skipped: a sanitizer's library has to be loaded first")
    sys.exit(77)
main([test_a_clock_that_is_put_forward, test_a_clock_that_is_put_back])
