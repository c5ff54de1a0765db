#!/usr/bin/env python3
"""lycosa report: its figures tell what crawl.log says, counted again here; pages of all kinds of crawls are well-formed."""
import collections
import difflib
import html.parser
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tests.support.simulated import BUILD, Crawl, Web, outcome_of  # noqa: E402

VOID = {"meta"}
TAGS = VOID | set("path rect circle html head title style body h1 h2 h3 p b i sup code div span figure figcaption details summary table tr th td "
                  "footer svg text".split())


class Checker(html.parser.HTMLParser):
    """Tags that are closed in order, and none that the report does not use."""

    def __init__(self):
        super().__init__()
        self.open = []
        self.figures = 0

    def handle_starttag(self, tag, attributes):
        assert tag in TAGS, f"<{tag}> came from somewhere"
        for name, value in attributes:
            assert not name.startswith("on") and name not in ("src", "href"), (tag, name, value)
        self.figures += tag == "figure"
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        assert tag in TAGS, f"<{tag}/> came from somewhere"

    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, f"</{tag}> at {self.getpos()}"


def run(*arguments, code=0):
    done = subprocess.run([BUILD / "lycosa", "report", *map(str, arguments)], capture_output=True, text=True, timeout=120)
    assert done.returncode == code, (arguments, done.returncode, done.stderr)
    return done


def check_page(path):
    text = path.read_text()
    checker = Checker()
    checker.feed(text)
    checker.close()
    assert not checker.open, checker.open
    assert checker.figures == 22, checker.figures
    assert not re.search(r"url\(|@import|https?://(?!www\.w3\.org/2000/svg|www\.example\.org/)[^<&\s]*[\"')]", text), "loads something"
    assert not re.search(r"[\u202a-\u202e\u2066-\u2069\x00-\x08\x0b-\x1f]", text), "a character without a shape"
    if shutil.which("xmllint"):
        done = subprocess.run(["xmllint", "--html", "--noout", path], capture_output=True, text=True, timeout=60)
        # libxml2 knows the tags of HTML 4 only
        bad = [line for line in done.stderr.splitlines() if "error" in line and not re.search(r"Tag \w+ invalid", line)]
        assert not bad, bad[:3]
    return text


def rows(directory, name):
    lines = (directory / f"{name}.tsv").read_text().splitlines()
    head = lines[0].split("\t")
    return [dict(zip(head, line.split("\t"))) for line in lines[1:]]


def bars(directory, name):
    found = [list(row.values()) for row in rows(directory, name)]
    return {name: int(value) for _, name, value in found}


def check_against_log(log, data):
    """Each total once more, from the log."""
    pages = [row for row in log if int(row[1]) > 0]
    sizes = [int(row[2]) for row in pages]
    extra = [json.loads(row[12]) for row in pages]
    assert float(rows(data, "pages-over-time")[-1]["pages"]) == len(pages)
    codes = {int(row["code"]): int(row["urls"]) for row in rows(data, "responsecode-report")}
    assert codes == collections.Counter(int(row[1]) for row in log), codes
    assert {name.split()[0]: count for name, count in bars(data, "status-codes").items()} == \
        {str(code): count for code, count in codes.items()}
    outcomes = collections.Counter(outcome_of(row) for row in log)
    assert bars(data, "outcomes") == outcomes, (bars(data, "outcomes"), outcomes)
    assert bars(data, "mime-types") == collections.Counter(row[6] for row in pages)
    hosts = collections.Counter("/".join(row[3].split("/")[:3]) for row in pages)
    assert {row["host"]: int(row["pages"]) for row in rows(data, "hosts-report") if int(row["pages"])} == hosts
    assert sum(int(row["bytes"]) for row in rows(data, "hosts-report")) == sum(sizes)
    assert float(rows(data, "host-sizes")[0]["pages"]) == max(hosts.values())
    tops = collections.Counter(row[3].split("/")[2].split(":")[0].rsplit(".", 1)[-1] for row in pages)
    assert bars(data, "top-level-domains") == tops
    seeds = collections.Counter(row[10] for row in log)
    assert {row["seed"]: int(row["urls"]) for row in rows(data, "seeds-report")} == seeds
    tasks = collections.Counter(entry["v"] for entry in extra)
    later = rows(data, "level-1-pages")
    assert sum(int(row["count"]) for row in later) == len(tasks)
    alone = sum(1 for count in tasks.values() if count == 1)
    assert not alone or int(later[0]["count"]) == alone, (later[0], alone)
    by_level = collections.Counter()
    for row in rows(data, "page-size"):
        by_level[row["series"]] += int(row["count"])
    assert by_level == {"level 0": len(tasks), "level 1": len(pages) - len(tasks)}, by_level
    assert sum(int(row["count"]) for row in rows(data, "depth")) == len(log)
    depths = collections.Counter(0 if row[4] == "-" else len(row[4]) for row in log)
    assert {int(float(row["hops_from"])): int(row["count"]) for row in rows(data, "depth") if int(row["count"])} == depths


def test_crawl(directory):
    with Web("--hosts", "60", "--pages", "30", "--addresses", "20") as web:
        crawl = Crawl(web, {"politeness": {"host-min-idle": "10ms", "address-min-idle": "1ms"}, "crawl": {"threads": "2"},
                            "duplicates": {"kind": "exact"}})
        assert crawl.code == 0, crawl.stderr
        data = directory / "data"
        done = run(crawl.directory, "--data", data)
        assert done.stdout.strip() == str(crawl.directory / "report.html")
        check_page(crawl.directory / "report.html")
        check_against_log(crawl.log, data)
        extra = [json.loads(row[12]) for row in crawl.log]
        # Pages that forbid to follow their links have their number in the log, but are not in `links`.
        links, told = crawl.summary["links"], sum(entry.get("o", 0) for entry in extra)
        assert links <= told <= links + crawl.summary["links_nofollow"], (links, told)
        hosts = collections.defaultdict(set)
        for row, entry in zip(crawl.log, extra):
            if "v" in entry:
                hosts[entry["v"]].add((row[3].split("/")[2], row[7]))
        assert all(len(places) == 1 for places in hosts.values()), "a visit is of one host and one loop"
        assert len(hosts) <= crawl.summary["visits"]
        for figure in data.glob("*.svg"):
            subprocess.run(["xmllint", "--noout", figure], check=True, timeout=60) if shutil.which("xmllint") else None
        output = directory / "two.html"
        run(crawl.directory, "--compare", crawl.directory / "crawl.log", "--output", output, "--task", "host")
        assert "compared with" in check_page(output)


LINES = """\
2026-11-18T00:00:00.500Z   200       1000 http://a.org/ - - text/html #000 20261118000000000+500 sha1:A http://a.org/ - {"v":64,"o":10,"f":3}
2026-11-18T00:00:02.000Z   200       3000 http://a.org/b.html L http://a.org/ text/html #000 20261118000001000+1000 sha1:B http://a.org/ - {"v":64,"o":20,"f":3}
2026-11-18T00:00:03.000Z   301          0 http://b.it/ L http://a.org/ text/html #000 20261118000002990+10 sha1:C http://a.org/ - {"v":128,"f":3}
2026-11-18T00:00:04.500Z -9998          - http://b.it/x LL http://b.it/ - #000 - - http://a.org/ robots-denied,/ {}
"""
GOLDEN = {
    "pages-over-time": "series\tseconds\tpages\nX\t0\t0\nX\t0.5\t1\nX\t1.5\t1\nX\t2.5\t2\nX\t3.5\t3\nX\t4\t3\n",
    "outcomes": "series\toutcome\turls\nX\tdone\t3\nX\trobots-denied\t1\n",
    "status-codes": "series\tcode\turls\nX\t200 OK\t2\nX\t-9998 no response\t1\nX\t301 moved permanently\t1\n",
    "top-level-domains": "series\tdomain\tpages\nX\torg\t2\nX\tit\t1\n",
    "host-sizes": "series\trank\tpages\nX\t1\t2\nX\t2\t1\n",
    "url-weight": "series\tweight_from\tweight_to\tcount\tpercent\nX\t0\t1\t0\t0\nX\t1\t2\t0\t0\nX\t2\t3\t2\t100\n",
    "depth": "series\thops_from\thops_to\tcount\tpercent\nX\t0\t1\t1\t25\nX\t1\t2\t2\t50\nX\t2\t3\t1\t25\n",
    "level-1-pages": "series\tpages_from\tpages_to\tcount\tpercent\nX\t0\t1\t1\t50\nX\t1\t2\t1\t50\n",
}


def test_golden(directory):
    log = directory / "X" / "crawl.log"
    log.parent.mkdir()
    log.write_text(LINES)
    data = directory / "golden"
    run(log.parent, "--data", data)
    for name, text in GOLDEN.items():
        assert (data / f"{name}.tsv").read_text() == text, (name, (data / f"{name}.tsv").read_text())
    assert rows(data, "outlinks")[0]["links_per_page"] == "10"
    # With progress.tsv its counters are drawn, and what needs them
    columns = "running_ms pages bytes_body urls_in urls_out queued limited_work_ms limited_politeness_ms hosts_visiting hosts_ready hosts_resting".split()
    samples = [[1000 * i, 2 * i, 5000 * i, 9 * i, 3 * i, 6 * i, 400 * i, 600 * i, i, 3 * i, 7] for i in range(1, 5)]
    (log.parent / "progress.tsv").write_text("\n".join("\t".join(map(str, row)) for row in [columns, *samples]) + "\n12")
    run(log.parent, "--data", data)
    assert (data / "pages-over-time.tsv").read_text() == "series\tseconds\tpages\nX\t0\t0\n" + "".join(
        f"X\t{i}\t{2 * i}\n" for i in range(1, 5))
    assert [row["percent"] for row in rows(data, "limits")] == ["40"] * 3 + ["60"] * 3
    page = check_page(log.parent / "report.html")
    assert "Most of the time it was <i>politeness</i>: 60%" in page
    assert "25% of the hosts that their rests allowed to visit were visited" in page
    compare_golden(data, "alone")
    other = directory / "Y"
    other.mkdir()
    (other / "crawl.log").write_text(LINES.replace("2026-11-18T00", "2026-11-19T05").replace("20261118000", "20261119050"))
    (other / "progress.tsv").write_text("\n".join("\t".join(map(str, row)) for row in [columns, *[[*row[:6], 100, 900 * row[0], *row[8:]] for row in samples]]) + "\n")
    run(log.parent, "--compare", other, "--data", directory / "both", "--output", directory / "both.html")
    check_page(directory / "both.html")
    compare_golden(directory / "both", "compared")


def compare_golden(data, name):
    """All figures at once: what they were when somebody looked at each of them. GOLDEN=write renews the file."""
    path = Path(__file__).parent / f"report_golden_{name}.txt"
    figures = "".join(f"== {tsv.stem}\n{tsv.read_text()}" for tsv in sorted(data.glob("*.tsv")) if not tsv.stem.endswith("-report"))
    if os.environ.get("GOLDEN") == "write":
        path.write_text(figures)
    wanted = path.read_text()
    assert figures.count("== ") == 22, "a figure is missing"
    assert figures == wanted, "\n".join(difflib.unified_diff(wanted.splitlines(), figures.splitlines(), "golden", "now", lineterm=""))


HERITRIX = """\
2012-03-01T10:00:00.100Z     1         56 dns:example.org P http://example.org/ text/dns #049 20120301100000000+90 sha1:AAAA - content-size:56
2012-03-01T10:00:01.100Z   200        300 http://example.org/robots.txt P http://example.org/ text/plain #049 20120301100001000+90 sha1:BBBB - -
2012-03-01T10:00:02.100Z   200       5000 http://example.org/ - - text/html #049 20120301100002000+95 sha1:CCCC - 3t {"warcFilename":"x.warc.gz"}
2012-03-01T10:00:04.100Z   404        500 http://example.org/a LL http://example.org/ text/html #050 20120301100004000+80 sha1:DDDD - -
2012-03-01T10:00:05.100Z    -2          - http://gone.example.net/ L http://example.org/ unknown #051 - - - le:IOException@HTTP
"""


def test_heritrix(directory):
    log = directory / "heritrix.log"
    log.write_text(HERITRIX)
    output, data = directory / "heritrix.html", directory / "heritrix"
    run(log, "--output", output, "--data", data)
    text = check_page(output)
    assert "2 lines of robots.txt and of names are left out" in text
    assert "the log does not tell visits" in text and "no line of crawl.log tells how many links" in text
    assert bars(data, "outcomes") == {"done": 2, "connection failed (-2)": 1}
    assert float(rows(data, "pages-over-time")[-1]["pages"]) == 2
    assert not (data / "outlinks.tsv").exists() and not (data / "limits.tsv").exists()


def test_odd_crawls(directory):
    hostile = '<script>alert(1)</script>"\u202e\x1b'
    logs = {
        "empty": "",
        "one": LINES.split("\n", 1)[0] + "\n",
        "failed": LINES.splitlines()[-1] + "\n",
        "running": LINES + "2026-11-18T00:00:05.500Z   200    ",
        "hostile": LINES.replace("text/html", hostile).replace("a.org", hostile),
    }
    for name, text in logs.items():
        crawl = directory / name
        crawl.mkdir()
        (crawl / "crawl.log").write_text(text)
        if name == "running":
            (crawl / "summary.json").write_text('{\n  "software": "x",\n  "end": "running",\n  "queued": 5\n}\n')
        run(crawl, "--data", crawl / "data")
        page = check_page(crawl / "report.html")
        assert ("it was running" in page) == (name == "running")
        assert ("No URL is in its log" in page) == (name == "empty")
        assert name != "hostile" or "&lt;script&gt;" in page and "\\u202E\\u001B" in page
    named = directory / hostile.replace("/", "").replace("\x1b", "")
    named.mkdir()
    (named / "crawl.log").write_text(LINES)
    run(named)
    check_page(named / "report.html")
    started = directory / "started"
    started.mkdir()
    (started / "tuning.ini").write_text("")
    run(started)


def test_usage(directory):
    for wrong in ([], ["a", "b"], ["--task", "page", directory], ["--what", directory]):
        assert "report" in run(*wrong, code=2).stderr
    assert "none" in run(directory / "none", code=1).stderr
    nothing = directory / "nothing"
    nothing.mkdir()
    assert "No such file" in run(nothing, code=1).stderr
    (nothing / "crawl.log").write_text("hello\nworld\n")
    assert "not one line" in run(nothing, code=1).stderr
    (nothing / "crawl.log").write_text(LINES)
    assert "/dev/full" in run(nothing, "--output", "/dev/full", code=3).stderr
    assert run(nothing, "--output", "-").stdout.endswith("</html>\n")
    assert "--compare" in run("--help").stdout


with tempfile.TemporaryDirectory() as name:
    for test in (test_golden, test_heritrix, test_odd_crawls, test_usage, test_crawl):
        test(Path(name))
