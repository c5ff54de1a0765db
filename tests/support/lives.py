"""One crawl in several processes: killed, resumed, and judged in the end by what it has stored."""
import json
import re
import shutil
import subprocess
import time
from collections import Counter

import warc
from journal import covered_us, last_commit_s
from simulated import BUILD, IMPATIENT, base_tuning, merge, tuning_text

POLITE = {"politeness": {"host-ratio": "1", "address-ratio": "1", "burst": "200ms", "host-min-idle": "50ms",
                         "address-min-idle": "20ms"}}
AUDIT = ["--ratio", "1", "--ip-ratio", "1", "--burst-ms", "200", "--min-idle-ms", "50", "--ip-min-idle-ms", "20"]
# A journal that is folded all the time.
FOLDING = {"state": {"fold": "4KiB", "file-bytes": "4KiB", "commit": "10ms", "sync": "20ms"}}
END_S = 600  # a host with hundreds of pages and a Crawl-delay takes minutes


def state_of(directory, **process):
    return subprocess.run([BUILD / "lycosa", "state", directory], capture_output=True, text=True, **process)


def done_in(directory):
    """URLs that are done by the last commit."""
    found = re.search(r"(\d+) done", state_of(directory).stdout)
    return int(found.group(1)) if found else 0


class Lives:
    """One crawl in several processes."""

    def __init__(self, web, *tunings, seeds=(), name=None):
        self.web = web
        self.directory = web.directory / (name or f"lives-{len(list(web.directory.iterdir()))}")
        self.tuning = web.directory / "lives.ini"
        often = {"state": {"commit": "20ms", "sync": "100ms"}}
        self.tuning.write_text(tuning_text(merge(base_tuning(web), often, IMPATIENT, *tunings)))
        self.seeds = web.seeds(*seeds)
        self.kills = []  # for each the moment, and that which the last commit covers
        self.kills_in_resume = 0  # of these, while the journal was read, before the process had committed anything
        self.waited, self.waited_on_disk = 0, 0  # URLs, summed over all lives: those that are done are counted in one

    def can_resume(self):
        return all((self.directory / name).exists() for name in ("seeds.txt", "tuning.ini", "state/lock"))

    def command(self, *arguments):
        """Begins the crawl, or goes on with it if it has come so far."""
        if self.can_resume():
            return [BUILD / "lycosa", "crawl", "--resume", self.directory, *arguments]
        shutil.rmtree(self.directory, ignore_errors=True)
        return [BUILD / "lycosa", "crawl", "-c", self.tuning, "-o", self.directory, *arguments, self.seeds]

    def start(self, *arguments, **process):
        return subprocess.Popen(self.command(*arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                **process)

    def kill_after(self, seconds, *arguments):
        """True if it was killed, False if it had ended by then."""
        committed_s = last_commit_s(self.directory)
        process = self.start(*arguments)
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            self.note_kill()
            self.kills_in_resume += 0 < committed_s == last_commit_s(self.directory)
            return True
        _, errors = process.communicate()
        assert process.returncode == 0, (process.returncode, errors)
        return False

    def note_kill(self):
        now_ns = time.monotonic_ns()
        ago_ns = time.time_ns() - covered_us(self.directory) * 1000
        self.kills.append(f"{now_ns}:{max(0, now_ns - ago_ns)}")

    def note_spilled(self, begun_s, done):
        """After a life, if it was long enough for URLs to find their place: of those that waited in it, how many did so on disk.
        The queue for the sieve on disk is one way to get there. Of the other two only the more common one counts, because a
        URL may have gone both."""
        path = self.directory / "summary.json"
        told = self.summary() if path.exists() and path.stat().st_mtime >= begun_s else {"seconds": 0}
        if told["seconds"] < 0.5 or told["requests"] == 0:
            return
        self.waited += told["urls_in"] - told["urls_known"] - done
        self.waited_on_disk += told["asked"] + max(told["urls_spilled"], told["urls_stowed"])

    def run(self, *arguments, code=0, **process):
        process = self.start(*arguments, **process)
        try:
            self.stdout, self.stderr = process.communicate(timeout=END_S)
        finally:
            process.kill()
        assert process.returncode == code, (process.returncode, self.stdout, self.stderr)
        return self

    def remove(self):
        shutil.rmtree(self.directory)

    def summary(self):
        return json.loads((self.directory / "summary.json").read_text())

    def log(self):
        return [line.split() for line in (self.directory / "crawl.log").read_text().splitlines()]

    def fetched(self):
        return [row[3] for row in self.log() if int(row[1]) > 0]

    def stored(self):
        """Every record is read and its digests are checked: a member that is cut off fails here, and a revisit of what a kill
        has taken away. An index tells of all that is in its file, and of nothing else."""
        found = []
        for path in sorted((self.directory / "warc").glob("*.warc*")):
            found.append(warc.read(path))
            index = path.parent / (path.name.split(".warc")[0] + ".cdxj")
            if index.exists():
                told = [json.loads(line.split(" ", 2)[2])["url"] for line in index.read_text().splitlines()]
                assert sorted(told) == sorted(record["WARC-Target-URI"] for record in found[-1] if warc.is_capture(record))
        records = sum(found, [])
        warc.first_copies(records)
        return [record["WARC-Target-URI"] for record in records if warc.is_capture(record)]

    def check(self, truth=None):
        """Log and store hold the same, each once; and just what there is to be had."""
        fetched, stored = self.fetched(), self.stored()
        assert not list(self.directory.rglob("*.open")), "a file was left open"
        twice = [url for url, count in Counter(stored).items() if count > 1]
        assert not twice, f"{len(twice)} stored twice, first {twice[:3]}"
        assert sorted(fetched) == sorted(stored), "crawl.log and the WARC files differ"
        if truth is not None:
            missing, extra = sorted(set(truth) - set(stored)), sorted(set(stored) - set(truth))
            assert not missing, f"{len(missing)} of {len(truth)} missing, first {missing[:3]}"
            assert not extra, f"{len(extra)} too many, first {extra[:3]}"
        summary = self.summary()
        assert summary["stored"] == len(stored), summary
        if summary["end"] not in ("disk-full", "failed"):  # then pages were fetched that could not be kept
            assert summary["pages"] == len(fetched), summary
        return len(stored)
