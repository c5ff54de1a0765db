#!/usr/bin/env python3
"""Plants bugs in what tests/model runs, one at a time, and shows which test caught each.

Three kinds: LF_BUG in the sources (a logical error); relaxed, which takes the memory order from one ordered atomic
operation; split, which makes a load and a store of one read-modify-write. The last two are applied to every atomic
operation that the tests meet. Fails if one is not caught. Arguments choose bugs by a part of their names."""
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
BUILD = Path(os.environ.get("BUILD_DIR", ROOT / "build/release"))
NOT_STRUCTURES = {"toys", "history"}
SECONDS_MAX = 300

# Orders whose loss no test can see, and why.
UNSEEN = {
    "relaxed@list_fence_insert@load(&fence->next, acquire)":
        "only a flag is taken off the link; nothing is reached through it",
    "relaxed@queue_mpsc_detach@load(&queue->stub.next, acquire)":
        "the exchange of tail that follows acquires the same and more",
    "split@add_bloom@add(&sieve->bloom_count, relaxed)":
        "a count that is a little too low lets the filter take a few URLs more",
}


def run(program, **environment):
    done = subprocess.run([BUILD / f"model_{program}"], env={**os.environ, **environment}, cwd=ROOT,
                          capture_output=True, text=True, timeout=SECONDS_MAX)
    return done.stdout


def sites(programs):
    """(function, operation) of each atomic in the sources -> the file, and the programs that meet it."""
    found = {}
    for program in programs:
        for line in run(program, MODEL_SITES="1").split("\n"):
            match = re.match(r"site (\w+) (?:\S*/)?(?:lockfree|engine/\w+)/(\w+)\.[ch]:\d+: (.*)", line)
            if match:
                function, stem, text = match.groups()
                found.setdefault((function, text), (stem, []))[1].append(program)
    return found


def planted_by_order(programs):
    for (function, text), (stem, met_by) in sites(programs).items():
        first = sorted(set(met_by), key=lambda program: (program != stem, program))
        if not text.endswith("relaxed)"):
            yield f"relaxed@{function}@{text}", stem, first
        if not text.startswith(("load(", "store(")):
            yield f"split@{function}@{text}", stem, first


def planted_by_name(programs):
    paths = (path for room in ("lockfree", "engine", "tests/model") for path in (ROOT / room).rglob("*.[ch]"))
    for path in sorted(paths):
        for name in re.findall(r"LF_BUG\((\w+),", path.read_text()):
            owners = [program for program in programs if name.startswith(program + "_")]
            if owners:
                owner = max(owners, key=len)
                yield name, owner, [owner]


def attempt(bug):
    name, structure, programs = bug
    for program in programs:
        match = re.search(r"caught by (\w+) in (\S+) after (\d+) schedules", run(program, MODEL_PLANTED=name))
        if match:
            return name, structure, match.groups()
    return name, structure, None


def print_summary(counts):
    ways = sorted({way for count in counts.values() for way in count})
    print(f"\n{'structure':12}" + "".join(f"{way:>10}" for way in ["planted", *ways]))
    for structure, count in sorted(counts.items()):
        print(f"{structure:12}{sum(count.values()):10}" + "".join(f"{count.get(way, ''):>10}" for way in ways))
    total = sum(sum(count.values()) for count in counts.values())
    caught = total - sum(count.get("nothing", 0) for count in counts.values())
    print(f"{total} planted, {caught} caught")


def main():
    programs = sorted({path.stem for path in (ROOT / "tests/model").glob("*.c")} - NOT_STRUCTURES)
    bugs = list(planted_by_name(programs)) + list(planted_by_order(programs))
    bugs = [bug for bug in bugs if not sys.argv[1:] or any(part in bug[0] for part in sys.argv[1:])]
    failed, counts = [], {}
    print(f"{'planted bug':76} {'caught by':9} {'in':26} schedules")
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for name, structure, how in pool.map(attempt, bugs):
            shown = how or ("nothing", UNSEEN.get(name, ""), "")
            print(f"{name:76} {shown[0]:9} {shown[1]:26} {shown[2]}", flush=True)
            count = counts.setdefault(structure, {})
            count[shown[0]] = count.get(shown[0], 0) + 1
            if (how is None) != (name in UNSEEN):
                failed.append(name)
    print_summary(counts)
    for name in failed:
        print(f"{name} " + ("is listed as unseen, but was caught" if name in UNSEEN else "was not caught"))
    return 1 if failed or not bugs else 0


sys.exit(main())
