#!/usr/bin/env python3
"""The loops and the machine under them: rings that fail, processors that a crawl may use."""
import ctypes
import errno
import os
import struct
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from simulated import RUDE, Crawl, Pages, main, merge, wait_until  # noqa: E402

IO_URING_ENTER = 426
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
SECCOMP_RET_ERRNO, SECCOMP_RET_ALLOW = 0x00050000, 0x7FFF0000
LOAD, IF_EQUAL, IF_AT_LEAST, RETURN = 0x20, 0x15, 0x35, 0x06
# A connection begins with a chain of this many operations: a ring that can take none of them has a visit open.
CHAIN = 3
STOP_WITHIN_S = 5
PAGE = {"/": (200, {"Content-Type": "text/html"}, b"<p>hello</p>")}


def break_ring():
    """In the child: io_uring_enter fails as soon as a connection is to be made."""
    libc = ctypes.CDLL(None, use_errno=True)
    program = [(LOAD, 0, 0, 0), (IF_EQUAL, 0, 3, IO_URING_ENTER), (LOAD, 0, 0, 16 + 8), (IF_AT_LEAST, 0, 1, CHAIN),
               (RETURN, 0, 0, SECCOMP_RET_ERRNO | errno.EIO), (RETURN, 0, 0, SECCOMP_RET_ALLOW)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *line) for line in program))
    header = ctypes.create_string_buffer(struct.pack("@HP", len(program), ctypes.addressof(code)))
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, header):
        os._exit(77)


def test_a_ring_that_fails_ends_the_crawl():
    """In order and at once, with a line that says so; what there is of the crawl stays."""
    with Pages({"127.0.0.1": PAGE, "127.0.0.2": PAGE}) as web:
        crawl = Crawl(web, merge(RUDE, {"crawl": {"stop-within": f"{STOP_WITHIN_S}s"}}), preexec_fn=break_ring, timeout=30)
        if crawl.code == 77:
            print("no seccomp filters here")
            return
        assert crawl.code == 1, (crawl.code, crawl.stderr)
        assert "lycosa: loop 0: io_uring_enter: Input/output error" in crawl.stderr, crawl.stderr
        assert "cannot write" not in crawl.stderr, crawl.stderr
        assert crawl.summary["end"] == "failed" and (crawl.directory / "seeds.txt").exists(), crawl.summary
        assert crawl.summary["seconds"] < STOP_WITHIN_S, crawl.summary["seconds"]


def allowed(crawl, thread):
    """None if the thread has ended: each sync of the files has one of its own, which does not live long."""
    try:
        status = Path(f"/proc/{crawl.process.pid}/task/{thread}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):  # before it was opened, or before it was read
        return None
    return next(line.split(":")[1].strip() for line in status.splitlines() if line.startswith("Cpus_allowed_list"))


def masks_of_threads(tuning, mask):
    """The processors on which each thread of a crawl may run, the crawl being confined to `mask`."""
    seen = set()

    def look(crawl):
        tasks = Path(f"/proc/{crawl.process.pid}/task")
        wait_until(lambda: web.asked, "the first request")
        seen.update(mask for task in tasks.iterdir() if (mask := allowed(crawl, task.name)))
        crawl.process.terminate()

    # Crawl-delay keeps the crawl from its end until it was looked at.
    robots = {"/robots.txt": (200, {"Content-Type": "text/plain"}, b"User-agent: *\nCrawl-delay: 60\n")}
    with Pages({"127.0.0.1": {**PAGE, **robots}}) as web:
        seeds = web.directory / "two.txt"
        seeds.write_text(web.url("127.0.0.1") + "\n" + web.url("127.0.0.1", "/other") + "\n")
        Crawl(web, tuning, seeds=seeds, during=look, preexec_fn=lambda: os.sched_setaffinity(0, mask))
    return seen


def test_loops_stay_on_the_processors_of_the_process():
    last = max(os.sched_getaffinity(0))
    assert masks_of_threads(RUDE, {last}) == {str(last)}


def test_two_loops_need_two_processors():
    """On one they would take turns, each of them pinned to it."""
    one = {max(os.sched_getaffinity(0))}
    with Pages({"127.0.0.1": PAGE}) as web:
        crawl = Crawl(web, RUDE, "--threads", "2", preexec_fn=lambda: os.sched_setaffinity(0, one))
        assert crawl.code == 2 and web.asked == [], (crawl.code, crawl.stderr)
        assert "2 threads, but this process may run on 1 processor" in crawl.stderr, crawl.stderr
        crawl = Crawl(web, RUDE, "--threads", "1", preexec_fn=lambda: os.sched_setaffinity(0, one))
        assert crawl.code == 0, (crawl.code, crawl.stderr)


def test_pin_no_leaves_loops_where_they_are():
    mask = os.sched_getaffinity(0)
    if len(mask) < 2:
        print("one processor: nothing to tell")
        return
    assert len(masks_of_threads(merge(RUDE, {"crawl": {"pin": "no"}}), mask)) == 1
    assert len(masks_of_threads(RUDE, mask)) == 2, "the loop on one processor, the others on all"


if __name__ == "__main__":
    main([test_a_ring_that_fails_ends_the_crawl, test_two_loops_need_two_processors,
          test_loops_stay_on_the_processors_of_the_process, test_pin_no_leaves_loops_where_they_are])
