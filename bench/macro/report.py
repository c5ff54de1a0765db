#!/usr/bin/env python3
"""How fast `lycosa report` reads a crawl.log, and in how much memory, beside `wc -l` on the same file.
BUILD_DIR=build/release bench/macro/report.py [LINES [REPEATS]]: 10 million lines, 3 repeats. The file is below TMPDIR, 200 bytes a line.

The lines are those of a real crawl of websim with log.extra = yes, over and over: each time on other hosts, of other visits, and later."""
import datetime
import multiprocessing
import os
import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "support"))
from simulated import BUILD, RUDE, Crawl, Web, merge  # noqa: E402

SECOND = "%Y-%m-%dT%H:%M:%S"
VISIT = '{"v":'
CRAWLED_LINES = 100000  # no more than these are made by a crawl


class Copies:
    """The lines of a crawl, which can be written as those of a later one."""

    def __init__(self, lines):
        self.lines = lines
        times = sorted({line[:19] for line in lines})
        self.times = {text: datetime.datetime.strptime(text, SECOND) for text in times}
        self.length = self.times[times[-1]] - self.times[times[0]] + datetime.timedelta(seconds=1)
        self.visits = 1 + max(self.visit_of(line) for line in lines)

    @staticmethod
    def visit_of(line):
        number = line.rpartition(VISIT)[2]
        return int(number[:number.find(",")]) if "," in number else 0

    def write(self, copy, count, out):
        """The first `count` lines, or all if there are fewer; how many."""
        later = {text: (time + copy * self.length).strftime(SECOND) for text, time in self.times.items()}
        host = f"://c{copy}-h"
        for line in self.lines[:count]:
            text = later[line[:19]] + line[19:].replace("://h", host)
            begin, mark, _ = text.rpartition(VISIT)
            number = self.visit_of(line)
            if mark:
                text = begin + mark + str(number + copy * self.visits) + text[len(begin) + len(mark) + len(str(number)):]
            out.write(text + "\n")
        return min(count, len(self.lines))


def write_log(path, lines):
    wanted = min(lines, CRAWLED_LINES)
    with Web("--plain", "--hosts", str(max(10, wanted // 60)), "--pages", "60", "--seed", "3") as web:
        web.seeds("--count", "1000000")
        crawl = Crawl(web, merge(RUDE, {"log": {"extra": "yes"}, "store": {"kind": "none"}}))
        copies = Copies(crawl.log_lines())
    with open(path, "w", encoding="utf-8") as out:
        written = 0
        for copy in range(lines):
            if written == lines:
                break
            written += copies.write(copy, lines - written, out)


def measure(command):
    """(seconds, processor time, peak of memory in MB) of a program."""
    begun = time.monotonic()
    with open(os.devnull, "w", encoding="utf-8") as nothing:
        pid = os.posix_spawnp(command[0], command, os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, nothing.fileno(), 1)])
    _, status, usage = os.wait4(pid, 0)
    assert status == 0, (command, status)
    return time.monotonic() - begun, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024 / 1e6


def main():
    lines, repeats = (int(sys.argv[place]) if len(sys.argv) > place else usual for place, usual in ((1, 10000000), (2, 3)))
    directory = Path(os.environ.get("TMPDIR", "/tmp")) / f"bench_report.{os.getpid()}"
    directory.mkdir()
    log = directory / "crawl.log"
    try:
        writer = multiprocessing.Process(target=write_log, args=(log, lines))  # its memory would count as that of the rows
        writer.start()
        writer.join()
        assert writer.exitcode == 0, "no log"
        rows = {"lycosa report": [str(BUILD / "lycosa"), "report", "--output", str(directory / "report.html"), str(log)],
                "wc -l": ["wc", "-l", str(log)]}
        for command in rows.values():
            measure(command)  # the file gets into the page cache
        figures = {name: [] for name in rows}
        for _ in range(repeats):
            for name, command in rows.items():
                figures[name].append(measure(command))
        page = (directory / "report.html").stat().st_size
    finally:
        for file in directory.iterdir():
            file.unlink()
        directory.rmdir()
    print(f"{lines} lines, {repeats} repeats in turns, medians [least most]; the page has {page} bytes")
    print(f"{'':<16}{'million lines/s':>17}{'[least most]':>17}{'cpu ns/line':>13}{'peak MB':>10}")
    for name, measured in figures.items():
        rates = sorted(lines / seconds / 1e6 for seconds, _, _ in measured)
        cpu_s, peak = (statistics.median(figure[place] for figure in measured) for place in (1, 2))
        print(f"{name:<16}{statistics.median(rates):>17.2f}{f'[{rates[0]:.2f} {rates[-1]:.2f}]':>17}{cpu_s / lines * 1e9:>13.0f}{peak:>10.1f}")


main()
