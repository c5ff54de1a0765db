#!/usr/bin/env python3
"""What a crawl does that goes on where another process has left it: limits, Retry-After, damage, disks that are full or fail.
That it is exact after any number of kills is crawl_kills.py's."""
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from journal import COMMIT, SESSION, SYNCED, covered_us, frames  # noqa: E402
from lives import END_S, FOLDING, POLITE, Lives, state_of  # noqa: E402
from simulated import BUILD, RUDE, Pages, Web, is_sanitized, main, wait_until  # noqa: E402


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
        scratch = lives.directory / "scratch"
        scratch.joinpath("mark").touch()
        lives.run(code=1)
        assert "another process" in lives.stderr, lives.stderr
        assert {path.name for path in scratch.iterdir()} > {"mark"}, "what waited on disk is gone"
        process.kill()
        process.communicate()
        lives.run()
        lives.check(web.truth())


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
        ago_s = float(re.search(r"^committed: what was done until ([\d.]+) s ago$", told.stdout, re.M).group(1))
        assert 0 <= time.time() - ago_s - covered_us(lives.directory) / 1e6 < 1, (ago_s, told.stdout)
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
    address, count = "127.0.0.1", 1_500_000
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


TESTS = [test_a_retry_after_outlives_the_process, test_state, test_a_limit_counts_all_lives,
         test_a_limit_counts_folded_lives,
         test_after_an_orderly_end, test_one_process_at_a_time, test_a_long_journal_is_told_of, test_damage, test_wrong_use, test_full_disk, test_reserve]
if not is_sanitized():  # a sanitizer wants to be loaded first
    TESTS += [test_after_a_reboot, test_failing_disk, test_dead_disk]
if __name__ == "__main__":
    main(TESTS)
