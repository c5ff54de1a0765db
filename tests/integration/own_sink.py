#!/usr/bin/env python3
"""The example of engine/crawl/README.md: a program of its own runs a crawl and gets every page, decoded."""
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from simulated import BUILD, RUDE, Web, main, merge, tuning_text  # noqa: E402


def test_every_page_reaches_the_sink():
    with Web("--hosts", "5", "--pages", "8", "--plain") as web:
        path, out = web.directory / "tuning.ini", web.directory / "crawl"
        path.write_text(tuning_text(merge(RUDE, {"scope": {"mode": "any"},
                                                 "net": {"dns-servers": web.dns}})))
        done = subprocess.run([BUILD / "own_sink", path, out, web.seeds()], capture_output=True, text=True, timeout=120)
        assert done.returncode == 0 and done.stderr == "complete\n", (done.returncode, done.stderr)
        pages = {url: (int(status), int(size)) for status, size, url in map(str.split, done.stdout.splitlines())}
        truth = web.truth("--digest", "xxh3")
        assert pages == truth, (len(pages), len(truth))
        assert not (out / "warc").exists() and len((out / "crawl.log").read_text().splitlines()) == len(pages)


main([test_every_page_reaches_the_sink])
