#!/usr/bin/env python3
"""A crawl that is killed and resumed, at any instant and any number of times, ends with what it would have fetched in one
life: each page once in the WARC files, a line for each in crawl.log, and no host visited too soon.

With LYCOSA_LONG=ON it is the whole matrix of sieves, rooms and loops: more than 1,000 kills in 32 webs. It can be split:
LYCOSA_WEBS=0-7 takes the first eight of them. TMPDIR=/dev/shm spares the disk."""
import os
import random
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from lives import AUDIT, FOLDING, POLITE, Lives, done_in, state_of  # noqa: E402
from simulated import Web, is_sanitized, main  # noqa: E402

LONG = os.environ.get("LYCOSA_LONG") == "ON"

# Where URLs wait: memory for all of them; most of them on disk because their hosts find no record in memory; most of them
# on disk because their hosts have more than their share. The last two make webs of their own.
AMPLE, MANY_HOSTS, LONG_QUEUES = {}, {"hosts": "64" if LONG else "16"}, {"frontier": "1MiB"}
SPILLED_MIN = 0.9 if LONG else 0.8  # of the URLs that wait, summed over the lives that were killed; small webs have fewer
KINDS = [{"sieve-kind": kind} for kind in ("signatures", "bloom", "mercator", "offline", "rocksdb")]
FULL_SIEVE = {"sieve": "8KiB"}  # it goes on on disk
SOME_CASES = [({}, (1,)), ({**MANY_HOSTS}, (2,)), ({"sieve-kind": "bloom"}, (2,)), (FULL_SIEVE, (1, 2)),
              ({"sieve-kind": "mercator"}, (1, 2)), ({"sieve-kind": "offline", **MANY_HOSTS}, (2,)),
              ({"sieve-kind": "rocksdb"}, (2, 1)), ({"sieve-kind": "mercator", **LONG_QUEUES}, (1, 2)),
              (LONG_QUEUES, (2,))]
ALL_CASES = [({**kind, **room}, (threads,)) for kind in KINDS for room in (AMPLE, MANY_HOSTS, LONG_QUEUES)
             for threads in (1, 2)]
ALL_CASES += [(FULL_SIEVE, (1, 2)), ({**FULL_SIEVE, **LONG_QUEUES}, (1, 2))]
CASES = ALL_CASES if LONG else SOME_CASES


# Hosts with thousands of URLs: none that is slow, or wants a rest after every few of them.
QUICK = ["--rtt-ms", "1", "--think-ms", "0", "--bandwidth", "0"]
QUICK += [word for kind in ("robots-rules", "robots-agent", "robots-delay", "robots-error", "robots-closed", "close-after",
                            "connection-limit", "throttled", "spells") for word in (f"--{kind}", "0")]


def web_for(memory, number, rng):
    """A web in which most URLs wait where they should, and the options for its seeds."""
    same = ["--seed", str(number), "--crawl-delay-ms", "200"]
    if "hosts" in memory:
        hosts = "8000" if LONG else "1500"
        return Web("--hosts", hosts, "--pages", "1", *same), ["--count", hosts]
    if "frontier" in memory:
        pages = "7000" if LONG else "4000"
        return Web("--hosts", "2", "--addresses", "2", "--pages", pages, "--links", "80", "--size", "600", *QUICK, *same), []
    return Web("--hosts", str(rng.choice([60, 90, 120] if LONG else [20, 40, 80])), "--pages", "30", *same), []


def random_wait(rng):
    """From the first milliseconds on, in which the journal is opened or read, to the middle of the crawl."""
    return rng.choice([rng.uniform(0, 0.03), rng.uniform(0, 0.5), rng.uniform(0, 2.5)])


def live_and_die(lives, rng, threads, kills):
    """Lives that are long enough tell how many of their URLs waited on disk; in the last one, they find room in the end."""
    goes_on = True
    while goes_on and len(lives.kills) < kills:
        begun_s, done = time.time(), done_in(lives.directory) if lives.can_resume() else 0
        goes_on = lives.kill_after(random_wait(rng), "--threads", str(rng.choice(threads)))
        lives.note_spilled(begun_s, done)
    lives.run("--threads", str(threads[0]))


def check_complete(lives):
    """What is stored is what there is, and whoever asks is told so."""
    count = lives.check(lives.web.truth())
    told = state_of(lives.directory).stdout
    assert ", 0 waiting" in told and "it is complete" in told, told
    assert all(list(path.parent.glob(path.name.split(".warc")[0] + ".cdxj")) for path in lives.directory.rglob("*.warc.gz"))
    return count


def crawl_with_kills(number, memory, threads, kills):
    """Every second web has its scratch files elsewhere."""
    rng = random.Random(number)
    web, seeds = web_for(memory, number, rng)
    with web:
        elsewhere = web.directory / "elsewhere"
        elsewhere.mkdir()
        place = {"state": {"scratch": elsewhere}} if number % 2 else {}
        lives = Lives(web, POLITE, {"memory": memory, "status": {"interval": "100ms"}}, place, seeds=seeds)
        begun = time.monotonic()
        live_and_die(lives, rng, threads, kills)
        count = check_complete(lives)
        assert not list(elsewhere.iterdir()), "scratch files are left"
        text, violations = web.audit(*AUDIT, *(f"--killed={kill}" for kill in lives.kills))
        spilled = lives.waited_on_disk / lives.waited if lives.waited else 1  # no life was long enough to tell
        print(f"  web {number}, {memory}, {threads} loops: {len(lives.kills)} kills, {lives.kills_in_resume} of them in a "
              f"resume, {count} pages, {100 * spilled:.1f}% spilled, {violations} violations, "
              f"{time.monotonic() - begun:.1f} s", flush=True)
        assert violations == 0, text
        assert spilled >= SPILLED_MIN or not {"hosts", "frontier"} & set(memory), (memory, spilled)
        return Counter(webs=1, kills=len(lives.kills), in_resume=lives.kills_in_resume, pages=count)


def chosen_webs(count):
    """The numbers of those that LYCOSA_WEBS=FIRST-LAST selects; without it all."""
    first, _, last = os.environ.get("LYCOSA_WEBS", f"0-{count - 1}").partition("-")
    return range(int(first), int(last) + 1)


def test_kills():
    """120 kills; with LYCOSA_LONG more than 1,000: every sieve, with memory for all and with most on disk, with one loop
    and with two."""
    count, kills = (len(CASES), 40) if LONG else (2, 6) if is_sanitized() else (len(CASES), 13)
    webs = chosen_webs(count)
    with ThreadPoolExecutor(4) as pool:  # they rest more than they run; one that fails leaves the others alone
        crawls = [pool.submit(crawl_with_kills, number, *CASES[number % len(CASES)], kills) for number in webs]
    total = sum((crawl.result() for crawl in crawls), Counter())
    print(f"  {total['kills']} kills in {total['webs']} crawls of {total['pages']} pages, {total['in_resume']} in a resume")
    assert total["kills"] > len(webs) * kills * (0.8 if LONG else 0.5), "most crawls ended before they were killed"
    assert total["kills"] >= 1000 or not LONG or len(webs) < count


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


if __name__ == "__main__":
    main([test_kills, test_folds])
