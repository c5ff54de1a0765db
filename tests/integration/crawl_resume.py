#!/usr/bin/env python3
"""A crawl that is killed and resumed, at any instant and any number of times, ends with what it would have fetched in one
life: each page once in the WARC files, a line for each in crawl.log, and no host visited too soon."""
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import warc  # noqa: E402
from journal import COMMIT, SESSION, SYNCED, covered_us, frames  # noqa: E402
from simulated import (BUILD, IMPATIENT, RUDE, Pages, Web, base_tuning, is_sanitized, main, merge, tuning_text,  # noqa: E402
                       wait_until)

LONG = os.environ.get("LYCOSA_LONG") == "ON"
POLITE = {"politeness": {"host-ratio": "1", "address-ratio": "1", "burst": "200ms", "host-min-idle": "50ms",
                         "address-min-idle": "20ms"}}
AUDIT = ["--ratio", "1", "--ip-ratio", "1", "--burst-ms", "200", "--min-idle-ms", "50", "--ip-min-idle-ms", "20"]
END_S = 600  # a host with hundreds of pages and a Crawl-delay takes minutes


class Lives:
    """One crawl in several processes."""

    def __init__(self, web, *tunings):
        self.web = web
        self.directory = web.directory / f"lives-{len(list(web.directory.iterdir()))}"
        self.tuning = web.directory / "lives.ini"
        often = {"state": {"commit": "20ms", "sync": "100ms"}}
        self.tuning.write_text(tuning_text(merge(base_tuning(web), often, IMPATIENT, *tunings)))
        self.seeds = web.seeds()
        self.kills = []  # for each the moment, and that which the last commit covers

    def command(self, *arguments):
        """Begins the crawl, or goes on with it if it has come so far."""
        if all((self.directory / name).exists() for name in ("seeds.txt", "tuning.ini", "state/lock")):
            return [BUILD / "lycosa", "crawl", "--resume", self.directory, *arguments]
        shutil.rmtree(self.directory, ignore_errors=True)
        return [BUILD / "lycosa", "crawl", "-c", self.tuning, "-o", self.directory, *arguments, self.seeds]

    def start(self, *arguments, **process):
        return subprocess.Popen(self.command(*arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                **process)

    def kill_after(self, seconds, *arguments):
        """True if it was killed, False if it had ended by then."""
        process = self.start(*arguments)
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            self.note_kill()
            return True
        _, errors = process.communicate()
        assert process.returncode == 0, (process.returncode, errors)
        return False

    def note_kill(self):
        now_ns = time.monotonic_ns()
        ago_ns = time.time_ns() - covered_us(self.directory) * 1000
        self.kills.append(f"{now_ns}:{max(0, now_ns - ago_ns)}")

    def run(self, *arguments, code=0, **process):
        process = self.start(*arguments, **process)
        try:
            self.stdout, self.stderr = process.communicate(timeout=END_S)
        finally:
            process.kill()
        assert process.returncode == code, (process.returncode, self.stdout, self.stderr)
        return self

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


# With few hosts of many pages, most URLs of each host wait on disk.
LONG_QUEUES = {"frontier": "1MiB"}


def random_wait(rng):
    """From the first milliseconds on, in which the journal is opened or read, to the middle of the crawl."""
    return rng.choice([rng.uniform(0, 0.03), rng.uniform(0, 0.5), rng.uniform(0, 2.5)])


def crawl_with_kills(number, memory, threads, kills):
    rng = random.Random(number)
    size = ["--hosts", str(rng.choice([20, 40, 80])), "--pages", "30"]
    if memory == LONG_QUEUES:
        size = ["--hosts", "6", "--addresses", "6", "--pages", "500", "--rtt-ms", "1", "--think-ms", "0"]
    with Web(*size, "--seed", str(number), "--crawl-delay-ms", "200") as web:
        lives = Lives(web, POLITE, {"memory": memory})
        begun = time.monotonic()
        while len(lives.kills) < kills and lives.kill_after(random_wait(rng), "--threads", str(rng.choice(threads))):
            pass
        lives.run("--threads", str(threads[0]))
        count = lives.check(web.truth())
        told = state_of(lives.directory).stdout
        assert ", 0 waiting" in told and "it is complete" in told, told
        assert all(list(path.parent.glob(path.name.split(".warc")[0] + ".cdxj")) for path in lives.directory.rglob("*.warc.gz"))
        text, violations = web.audit(*AUDIT, *(f"--killed={kill}" for kill in lives.kills))
        print(f"  web {number}, {memory}, {threads} loops: {len(lives.kills)} kills, {count} pages, "
              f"{violations} violations, {time.monotonic() - begun:.1f} s", flush=True)
        assert violations == 0, text
        return len(lives.kills)


FEW_HOSTS = {"hosts": "16"}  # most URLs wait on disk for a host record
KINDS = [{"sieve-kind": kind} for kind in ("signatures", "bloom", "mercator", "offline", "rocksdb")]
SOME_CASES = [({}, (1,)), (FEW_HOSTS, (2,)), ({"sieve-kind": "bloom"}, (2,)), (FEW_HOSTS, (1, 2)),
              ({"sieve-kind": "mercator"}, (1, 2)), ({"sieve-kind": "offline", "hosts": "16"}, (2,)),
              ({"sieve-kind": "rocksdb"}, (2, 1)), ({"sieve": "8KiB"}, (1, 2)),
              (LONG_QUEUES, (1, 2))]
ALL_CASES = [({**kind, **room}, (threads,)) for kind in KINDS for room in ({}, FEW_HOSTS) for threads in (1, 2)]
ALL_CASES += [({"sieve": "8KiB"}, (1, 2)), (LONG_QUEUES, (1, 2))]


def test_kills():
    """120 kills; with --long 1,000: every sieve, with memory for all and with most on disk, with one loop and with two."""
    webs, kills = (2 * len(ALL_CASES), 28) if LONG else (2, 6) if is_sanitized() else (9, 13)
    cases = ALL_CASES if LONG else SOME_CASES
    with ThreadPoolExecutor(4) as pool:  # they rest more than they run
        total = sum(pool.map(lambda number: crawl_with_kills(number, *cases[number % len(cases)], kills), range(webs)))
    print(f"  {total} kills in {webs} crawls")
    assert total > webs * kills // 2 and (total >= 1000 or not LONG), "most crawls ended before they were killed"


class Moments(Pages):
    """A hand-made web that knows when it was asked: `moments` are of the wall clock, and as many as `asked`."""
    moments = ()

    def handler(self, address):
        web, base = self, super().handler(address)

        class Handler(base):
            def do_GET(self):
                web.moments = (*web.moments, time.time())
                super().do_GET()

            def handle(self):
                try:
                    super().handle()
                except ConnectionResetError:
                    pass  # the crawler was killed

        return Handler


def test_a_retry_after_outlives_the_process():
    """Once it is committed, that is: what is heard right before a kill is forgotten, and the audit knows that."""
    patience_s, address = 4, "127.0.0.1"
    busy = {"/": (503, {"Retry-After": str(patience_s)}, b"later"), "/robots.txt": (404, {}, b"none")}
    with Moments({address: busy}) as web:
        lives = Lives(web, POLITE)
        process = lives.start()
        wait_until(lambda: (address, "/") in web.asked, "a request")
        count = len(web.moments)
        heard = web.moments[-1]
        wait_until(lambda: covered_us(lives.directory) / 1e6 > heard + 1, "a commit well after the answer")
        process.kill()
        process.communicate()
        assert len(web.moments) == count, "it was asked again before the kill"
        busy["/"] = (200, {"Content-Type": "text/html"}, b"now")
        lives.run()
        assert lives.check() == 1
        waited = web.moments[count] - heard
        assert waited >= patience_s, waited


FOLDING = {"state": {"fold": "4KiB", "file-bytes": "4KiB", "commit": "10ms", "sync": "20ms"}}


def files_of_journal(lives):
    return sorted(int(path.name[8:]) for path in (lives.directory / "state").glob("journal-*"))


def crawl_with_folds(number, memory, threads, kills):
    """Killed while its journal is folded, which happens all the time."""
    rng = random.Random(1000 + number)
    with Web("--hosts", str(rng.choice([40, 80])), "--pages", "20", "--seed", str(number), "--crawl-delay-ms", "200") as web:
        lives = Lives(web, POLITE, FOLDING, {"memory": memory})
        while len(lives.kills) < kills and lives.kill_after(random_wait(rng), "--threads", str(threads)):
            pass
        lives.run("--threads", str(threads))
        count = lives.check(web.truth())
        text, violations = web.audit(*AUDIT, *(f"--killed={kill}" for kill in lives.kills))
        numbers = files_of_journal(lives)
        told = state_of(lives.directory).stdout
        print(f"  web {number}, {memory}, {threads} loops: {len(lives.kills)} kills, {count} pages, "
              f"journal files {numbers}", flush=True)
        assert violations == 0, text
        assert numbers[0] > 1 and len(numbers) < 20, numbers
        assert " folded, up to epoch " in told and f"pages: {count}," in told and "it is complete" in told, told
        assert f"{len(lives.log())} done, 0 waiting" in told, told
        leftovers = [path.name for path in lives.directory.rglob("fold*")]
        assert not leftovers, leftovers
        return numbers[-1]


def test_folds():
    """Folds are interrupted at any moment, and nobody can tell afterwards."""
    cases = [({}, 1), ({"hosts": "16"}, 2), ({"sieve-kind": "bloom"}, 2), ({"sieve-kind": "mercator"}, 2),
             ({"sieve": "8KiB"}, 1)]
    webs, kills = (15, 20) if LONG else (2, 5) if is_sanitized() else (5, 8)
    with ThreadPoolExecutor(4) as pool:
        files = sum(pool.map(lambda number: crawl_with_folds(number, *cases[number % len(cases)], kills), range(webs)))
    print(f"  {files} files of journals were folded or left")


def test_a_limit_counts_folded_lives():
    """pages-per-host and max-pages hold over folds as well."""
    with Web("--hosts", "30", "--pages", "40", "--rtt-ms", "40") as web:
        lives = Lives(web, RUDE, FOLDING, {"limits": {"pages-per-host": "12"}, "crawl": {"max-pages": "300"}})
        for _ in range(4):
            lives.kill_after(0.4)
        lives.run()
        assert len(lives.fetched()) == lives.check() == 300
        per_host = Counter(url.split("/")[2] for url in lives.fetched())
        assert max(per_host.values()) <= 12, per_host.most_common(3)
        assert " folded, up to epoch " in state_of(lives.directory).stdout, state_of(lives.directory)


def test_a_limit_counts_all_lives():
    """max-pages and pages-per-host hold for the whole crawl."""
    with Web("--hosts", "30", "--pages", "40", "--rtt-ms", "10") as web:
        lives = Lives(web, RUDE, {"limits": {"pages-per-host": "5"}, "crawl": {"max-pages": "90"}})
        for _ in range(6):
            lives.kill_after(0.25)
        lives.run()
        assert len(lives.fetched()) == lives.check() == 90
        per_host = Counter(url.split("/")[2] for url in lives.fetched())
        assert max(per_host.values()) <= 5, per_host.most_common(3)


def test_after_an_orderly_end():
    """A crawl that was stopped goes on; one that is complete is complete at once."""
    with Web("--hosts", "40", "--pages", "40", "--rtt-ms", "5", "--crawl-delay-ms", "50") as web:
        lives = Lives(web, RUDE)
        process = lives.start()
        wait_until(lambda: (lives.directory / "crawl.log").exists() and lives.fetched(), "a page")
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=END_S)
        assert process.returncode == 11
        before = lives.check()
        lives.run()
        count = lives.check(web.truth())
        assert 0 < before < count, (before, count)
        assert "(complete)" in lives.run("--threads", "2").stdout
        assert lives.check(web.truth()) == count
        _, violations = web.audit("--connections-per-address", "16")
        assert violations == 0


def test_one_process_at_a_time():
    with Web("--hosts", "20", "--pages", "20", "--rtt-ms", "50") as web:
        lives = Lives(web, RUDE)
        process = lives.start()
        wait_until(lambda: (lives.directory / "crawl.log").exists() and lives.fetched(), "a page")
        lives.run(code=1)
        assert "another process" in lives.stderr, lives.stderr
        process.kill()
        process.communicate()
        lives.run()
        lives.check(web.truth())


def state_of(directory, **process):
    return subprocess.run([BUILD / "lycosa", "state", directory], capture_output=True, text=True, **process)


def test_state():
    """What a directory holds is told while the crawl runs, when it was killed, and at its end."""
    with Web("--hosts", "20", "--pages", "30", "--rtt-ms", "20") as web:
        lives = Lives(web, RUDE)
        process = lives.start()
        wait_until(lambda: (lives.directory / "crawl.log").exists() and lives.fetched(), "a page")
        assert "a process crawls in it" in state_of(lives.directory).stdout
        process.kill()
        process.communicate()
        told = state_of(lives.directory)
        assert told.returncode == 0 and "can be resumed: yes, from its last commit" in told.stdout, told
        waiting = int(re.search(r"(\d+) waiting", told.stdout).group(1))
        lives.run()
        told = state_of(lives.directory).stdout
        done = int(re.search(r"(\d+) done, 0 waiting", told).group(1))
        assert waiting > 0 and done == len(lives.log()) and f"pages: {lives.check(web.truth())}," in told, told
        assert "it is complete" in told, told
        told = state_of(web.directory)
        assert told.returncode == 1 and "no crawl" in told.stderr, told


def journal(lives):
    return lives.directory / "state" / "journal-000001"


def test_a_long_journal_is_told_of():
    """Whoever resumes a long crawl sees how far the reading of its journal is."""
    address, count = "127.0.0.1", 600_000
    with Pages({address: {"/0": (200, {}, b"page")}}) as web:
        lives = Lives(web, RUDE, {"status": {"interval": "100ms"}, "crawl": {"max-pages": "1"}})
        lives.seeds.write_text("".join(web.url(address, f"/{number}\n") for number in range(count)))
        lives.run()
        assert "reading the journal" not in lives.stderr, lives.stderr
        lives.run("--max-pages", "1")
        told = [int(number) for number in re.findall(r"reading the journal: (\d+) records so far", lives.stderr)]
        assert told and told == sorted(told) and 0 < told[-1] <= 2 * (count + 100), (told, lives.stderr)


def test_damage():
    """A journal that ends in the middle of a frame is normal; damage before its end is refused, with the place."""
    with Web("--hosts", "20", "--pages", "40", "--rtt-ms", "20") as web:
        lives = Lives(web, RUDE)
        process = lives.start()
        wait_until(lambda: (lives.directory / "crawl.log").exists() and len(lives.fetched()) > 100, "pages")
        process.kill()
        process.communicate()
        whole = journal(lives).read_bytes()
        saved = web.directory / "saved"
        shutil.copytree(lives.directory, saved, ignore=shutil.ignore_patterns("control.sock"))
        damaged = bytearray(whole)
        damaged[len(whole) // 2] ^= 1
        journal(lives).write_bytes(damaged)
        lives.run(code=1)
        assert "journal-000001" in lives.stderr and "at byte" in lives.stderr, lives.stderr
        assert (lives.directory / "crawl.log").read_bytes() == (saved / "crawl.log").read_bytes(), "it was changed"
        journal(lives).write_bytes(whole + whole[:20])
        lives.run()
        lives.check(web.truth())
        # Without a store that is as long as the journal says, there is nothing to go on with.
        shutil.rmtree(lives.directory)
        shutil.copytree(saved, lives.directory)
        (lives.directory / "crawl.log").write_bytes(b"")
        lives.run(code=1)
        assert "crawl.log" in lives.stderr and "shorter" in lives.stderr, lives.stderr


def test_wrong_use():
    with Web("--hosts", "5", "--pages", "5") as web:
        lives = Lives(web, RUDE)
        lives.run()
        other = web.directory / "other.ini"
        other.write_text(lives.tuning.read_text().replace("[scope]\n", "[scope]\ncanonical = none\n"))
        lives.run("-c", other, code=1)
        assert "scope.canonical" in lives.stderr, lives.stderr
        other.write_text(lives.tuning.read_text().replace("[state]\n", "[state]\njournal = no\n"))
        lives.run("-c", other, code=1)
        assert "state.journal" in lives.stderr, lives.stderr
        other.write_text(lives.tuning.read_text().replace("[memory]\n", "[memory]\nsieve-kind = bloom\n"))
        lives.run("-c", other, code=1)
        assert "memory.sieve-kind" in lives.stderr, lives.stderr
        done = subprocess.run([BUILD / "lycosa", "crawl", "--resume", web.directory / "nowhere"], capture_output=True,
                              text=True)
        assert done.returncode != 0 and "nowhere" in done.stderr, done.stderr
        done = subprocess.run([BUILD / "lycosa", "crawl", "--resume", lives.directory, "http://127.0.0.1/"],
                              capture_output=True, text=True)
        assert done.returncode == 2, done.stderr


def test_full_disk():
    """The directory can be resumed at once, as soon as there is room."""
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (1_500_000, resource.RLIM_INFINITY))

    with Web("--hosts", "20", "--pages", "60", "--plain", "--size", "8000", "--rtt-ms", "10") as web:
        lives = Lives(web, RUDE, {"store": {"compress": "none"}, "net": {"bandwidth": "4MB"}})
        lives.run(code=3, preexec_fn=limit)
        before = lives.check()
        lives.run()
        count = lives.check(web.truth())
        print(f"  {before} of {count} pages before the disk was full")
        assert 0 < before < count


def test_reserve():
    """A disk that is nearly full ends the crawl in order, and the key is named."""
    with Web("--hosts", "20", "--pages", "30", "--rtt-ms", "20") as web:
        lives = Lives(web, RUDE, {"state": {"reserve": "9TB"}})
        lives.run(code=3)
        assert "state.reserve" in lives.stderr and lives.summary()["end"] == "disk-full", lives.stderr
        other = web.directory / "other.ini"
        other.write_text(lives.tuning.read_text().replace("reserve = 9TB", "reserve = 0"))
        lives.run("-c", other)
        lives.check(web.truth())


def resumed_from(directory):
    """The epoch of the commit that the last process went back to: what came after it was cut off."""
    epoch, found = 0, None
    for kind, number, _ in frames(directory):
        epoch = number if kind == COMMIT else epoch
        found = epoch if kind == SESSION else found
    return found


def test_after_a_reboot():
    """What was written and not synced may be gone with the machine: only a process that died alone goes on from its last
    commit, and only if it is not told that the directory was copied while the machine ran."""
    with Web("--hosts", "20", "--pages", "30", "--rtt-ms", "10") as web:
        boot = web.directory / "boot"
        boot.write_text("another boot")
        rebooted = {**os.environ, "LD_PRELOAD": str(BUILD / "preload_boot.so"), "BOOT_ID_FILE": str(boot)}
        lives = Lives(web, RUDE, {"state": {"sync": "1h"}})  # one at the beginning, and then none
        process = lives.start()
        wait_until(lambda: (lives.directory / "crawl.log").exists() and len(lives.fetched()) > 100, "pages")
        process.kill()
        process.communicate()
        epochs = {kind: max(number for found, number, _ in frames(lives.directory) if found == kind) for kind in (COMMIT, SYNCED)}
        assert epochs[COMMIT] > epochs[SYNCED] > 0, epochs
        killed = lives.directory
        for name, arguments, env, kind in (("same", (), None, COMMIT), ("told", ("--trust-synced",), None, SYNCED),
                                           ("rebooted", (), rebooted, SYNCED)):
            lives.directory = web.directory / name
            shutil.copytree(killed, lives.directory, ignore=shutil.ignore_patterns("control.sock"))
            told = state_of(lives.directory, env=env).stdout
            assert f"yes, from its last {'sync' if env else 'commit'}" in told, told
            lives.run(*arguments, env=env)
            assert resumed_from(lives.directory) == epochs[kind], (name, resumed_from(lives.directory), epochs)
            lives.check(web.truth())


def crawl_with_failing_disk(told_of_last, **times):
    """After a write that failed nothing is trusted but what was synced; the crawl is whole in the end."""
    env = {**os.environ, "LD_PRELOAD": str(BUILD / "preload_disk.so"), "DISK_FAILS_AFTER": "6000000", **times}
    with Web("--hosts", "20", "--pages", "60", "--plain", "--size", "8000", "--rtt-ms", "10") as web:
        lives = Lives(web, RUDE, {"store": {"compress": "none"}, "net": {"bandwidth": "20MB"}})
        lives.run(code=1, env=env)
        assert "Input/output error" in lives.stderr, lives.stderr
        told = state_of(lives.directory).stdout
        assert f"can be resumed: yes, from its last {told_of_last}" in told, told
        before = lives.check()
        lives.run()
        count = lives.check(web.truth())
        print(f"  {before} of {count} pages before the disk failed")
        assert 0 < before < count


def test_failing_disk():
    """One write fails, and the journal says so."""
    crawl_with_failing_disk("sync", DISK_FAILS_TIMES="1")


def test_dead_disk():
    """All that follow fail, too: the journal cannot say so. What was written until then is still there."""
    crawl_with_failing_disk("commit")


TESTS = [test_kills, test_folds, test_a_retry_after_outlives_the_process, test_state, test_a_limit_counts_all_lives,
         test_a_limit_counts_folded_lives,
         test_after_an_orderly_end, test_one_process_at_a_time, test_a_long_journal_is_told_of, test_damage, test_wrong_use, test_full_disk, test_reserve]
if not is_sanitized():  # a sanitizer wants to be loaded first
    TESTS += [test_after_a_reboot, test_failing_disk, test_dead_disk]
if __name__ == "__main__":
    main(TESTS)
