#!/usr/bin/env python3
"""One call for a file goes wrong, whichever it is: the crawl ends as it should, and a resume completes it exactly.

The crawl is small and goes all ways to the disk: one page of five hosts has thousands of links, which robots.txt forbids, so
they cost no request. They wait in a queue for the sieve on disk, then in that of their host, and the journal is folded.
With LYCOSA_LONG=ON every call of it has its turn, else a spread of a hundred or so."""
import os
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from lives import FOLDING, Lives  # noqa: E402
from simulated import BUILD, RUDE, Pages, is_sanitized, main  # noqa: E402

LONG = os.environ.get("LYCOSA_LONG") == "ON"
HOSTS = [f"127.0.0.{i}" for i in range(1, 6)]
PAGES_PER_HOST = 5
ON_DISK = {"memory": {"sieve-kind": "mercator", "sieve": "8KiB", "frontier": "1MiB"},
           "limits": {"links-per-page": "40000"}, "state": {"fold": "64KiB", "file-bytes": "64KiB"}}
# Of these the crawl needs none: a file that others have a use for, space that is taken ahead, a fold that is made later, and
# what is thrown away at the next start.
NEEDLESS = ("/control", "/summary.json", "/state/fold", ".cdxj")
WRITES = ("write", "pwrite", "pwritev2", "fdatasync", "fsync")


def page(links):
    return 200, {"Content-Type": "text/html"}, "".join(f'<a href="{link}">x</a>' for link in links).encode()


class Forbidding(Pages):
    """A web with so many links that may not be followed, each of so many letters. It bears crawlers that go away."""

    def __init__(self, links, letters):
        self.forbidden = links
        site = {"/robots.txt": (200, {"Content-Type": "text/plain"}, b"User-agent: *\nDisallow: /no/\n"),
                "/": page(f"/{i}" for i in range(1, PAGES_PER_HOST)),
                **{f"/{i}": page(["/"]) for i in range(1, PAGES_PER_HOST)}}
        many = page(f"/no/{i:0{letters}}" for i in range(links))
        super().__init__({host: {**site, "/1": many} if host == HOSTS[0] else site for host in HOSTS})

    def handler(self, address):
        class Handler(super().handler(address)):
            def handle(self):
                try:
                    super().handle()
                except (ConnectionResetError, BrokenPipeError):
                    pass

        return Handler

    def truth(self):
        return [self.url(host, path) for host in HOSTS for path in ("/", *(f"/{i}" for i in range(1, PAGES_PER_HOST)))]


class Fault:
    """The call number `at` of those that can fail in this way, of files below a place in the crawl's directory; of the first
    process, or of one that resumes."""

    def __init__(self, kind, at, below="", is_resume=False):
        self.kind, self.at, self.below, self.is_resume = kind, at, below, is_resume

    def __str__(self):
        return f"{self.kind} of call {self.at} below {self.below or '/'}{' of a resume' if self.is_resume else ''}"

    def environment(self, directory, told):
        return {**os.environ, "LD_PRELOAD": str(BUILD / "preload_fault.so"), "FAULT_AT": str(self.at), "FAULT_TOLD": str(told),
                "FAULT_KIND": self.kind, "FAULT_BELOW": f"{directory}{self.below}"}

    def endings(self, call, path):
        """The exit codes that are right if this call has failed."""
        if call is None or self.kind in ("EINTR", "SHORT"):
            return {0}
        if call == "fallocate" or any(word in path for word in NEEDLESS):
            return {0, 1}
        if self.kind == "ENOSPC":
            return {3}
        return {1} if call in WRITES or (call == "pread" and path.startswith("/scratch")) else {0, 1}


def read_told(path, directory):
    """The call that went wrong, its path, and for each kind how many could have."""
    words = [line.split(" ") for line in path.read_text().splitlines()]
    counts = {row[1]: int(row[2]) for row in words if row[0] == "count"}
    hits = [(row[0], row[1].removeprefix(str(directory))) for row in words if row[0] != "count"]
    assert len(hits) <= 1 and len(counts) == 4, words
    return (*(hits[0] if hits else (None, "")), counts)


def crawl_with_fault(lives, fault):
    """What has failed, and how many calls there were."""
    web, told = lives.web, lives.directory.with_suffix(".told")
    if fault.is_resume:
        lives.run("--max-pages", "12")
    process = lives.start(env=fault.environment(lives.directory, told))
    _, errors = process.communicate(timeout=300)
    call, path, counts = read_told(told, lives.directory)
    code = process.returncode
    assert code in fault.endings(call, path), (str(fault), call, path, code, errors)
    if code:
        assert {"EIO": "Input/output", "ENOSPC": "No space"}[fault.kind] in errors, (str(fault), call, path, errors)
        lives.run()
    assert lives.check(web.truth()) == len(HOSTS) * PAGES_PER_HOST, str(fault)
    assert len(lives.log()) == len(HOSTS) * PAGES_PER_HOST + web.forbidden, (str(fault), call, path)
    lives.remove()
    told.unlink()
    return call, path, counts


def kind_of(path):
    """/warc/lycosa-....warc.gz.open is like any other."""
    return "/".join(path.split("/")[:3]).rstrip("0123456789-") if "lycosa-" not in path else "/warc/*"


def inject(web, faults):
    all_lives = [Lives(web, RUDE, FOLDING, ON_DISK, name=f"faulty-{number}") for number in range(len(faults))]
    with ThreadPoolExecutor(8) as pool:  # they wait for the disk and for one another more than they run
        crawls = [pool.submit(crawl_with_fault, lives, fault) for lives, fault in zip(all_lives, faults)]
    return [crawl.result() for crawl in crawls]


def spread(web, below, is_resume=False, **most):
    """For each kind of fault so many of the calls, from the first to the last; with LYCOSA_LONG all of them."""
    counts = inject(web, [Fault("NONE", 0, below, is_resume)])[0][2]
    steps = {kind: 1 if LONG else max(1, counts[kind] // most[kind]) for kind in most}
    faults = [Fault(kind, at, below, is_resume) for kind in most for at in range(1, counts[kind] + 1, steps[kind])]
    found = list(zip(faults, inject(web, faults)))
    for kind in most:
        hits = Counter(f"{call} {kind_of(path)}" for fault, (call, path, _) in found if call and fault.kind == kind)
        print(f"  {kind} {below}{' of a resume' if is_resume else ''}: {sum(hits.values())} of {counts[kind]} calls, "
              f"{', '.join(f'{word} {times}' for word, times in sorted(hits.items()))}", flush=True)
        assert 3 * steps[kind] * sum(hits.values()) >= counts[kind] > 0, "most calls went well"  # crawls differ


def test_any_call_fails():
    with Forbidding(3500, 250) as web:
        spread(web, "", EIO=16, ENOSPC=10, EINTR=6, SHORT=6)
        if not LONG:
            spread(web, "/state", EIO=10)
            spread(web, "/warc", EIO=6)


def test_any_call_of_a_resume_fails():
    with Forbidding(3500, 250) as web:
        spread(web, "", is_resume=True, EIO=8, ENOSPC=6)
        if not LONG:
            spread(web, "/state", is_resume=True, EIO=8)


def test_the_sieve_on_disk_fails():
    """It writes its first file when it has 16,000 signatures. A resume has so many URLs for it that they do not find room
    before the loops run."""
    with Forbidding(22000, 200) as web:
        spread(web, "/scratch/sieve", EIO=6, ENOSPC=1, SHORT=2)
        found = inject(web, [Fault(kind, at, "/scratch/asked", is_resume=True) for kind, at in (("EIO", 2), ("ENOSPC", 1))])
        assert [call for call, _, _ in found] == ["write", "write"], found


if is_sanitized():
    print("a sanitizer wants to be loaded first")
    sys.exit(77)
main([test_any_call_fails, test_any_call_of_a_resume_fails, test_the_sieve_on_disk_fails])
