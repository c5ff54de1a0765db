#!/usr/bin/env python3
"""A web of odd servers: one habit each, all of which browsers put up with. A crawl must find the link of every one."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from odd_web import OddWeb  # noqa: E402
import odd_content  # noqa: E402
import odd_http  # noqa: E402
import odd_robots  # noqa: E402
from simulated import RUDE, Crawl, main, merge  # noqa: E402

TUNING = merge(RUDE, {"scope": {"mode": "hosts", "embeds": "yes"}, "robots": {"sitemaps": "robots", "retry": "100ms"},
                      "retry": {"wait": "50ms", "times": "1", "host-failures": "2"},
                      "net": {"first-byte-timeout": "20s", "fetch-timeout": "40s"}})


def test_every_odd_server_gives_its_links():
    cases = odd_http.CASES + odd_content.CASES + odd_robots.CASES
    assert len({case.name for case in cases}) == len(cases) >= 150, "a case is missing, or has the name of another"
    with OddWeb(cases) as web:
        crawl = Crawl(web, TUNING, timeout=120)
        assert crawl.code == 0, crawl.stderr[-2000:]
        lost = web.lost()
        # Where the end of a page was not seen, what came gives its links, too, but only after a time-out.
        late = [row[3] for row in crawl.log if "timeout" in row[11]]
    print(f"{len(cases)} odd servers, {len(lost)} not crawled as they should be")
    assert not lost, "\n".join(["", *(f"{name}: {what}" for name, what in lost.items())])
    assert not late, f"nothing but a time-out ended {late}"


main([test_every_odd_server_gives_its_links])
