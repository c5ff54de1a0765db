#!/usr/bin/env python3
"""What goes wrong around a crawl: one clear line each, the exit code that was promised, nothing half-made left."""
import resource
import shutil
import signal
import subprocess
import sys
import threading
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import warc  # noqa: E402
from listener import Site, read_request  # noqa: E402
from simulated import BUILD, RUDE, Crawl, Web, is_sanitized, main, merge, outcome_of, wait_until  # noqa: E402

SMALL = ["--hosts", "4", "--pages", "6", "--plain"]
ENDLESS = ["--hosts", "4", "--pages", "6", "--plain", "--fault", "calendar=1"]
# A crawler that would wait for hours.
PATIENT = {"net": {"first-byte-timeout": "1h", "fetch-timeout": "1h"}, "crawl": {"stop-within": "1h"}}
AT_ONCE_S = 10  # of a program that was told to end at once, under a sanitizer on a busy machine


def refused(code, *arguments, **options):
    """Runs a crawl that must not begin: its one line on stderr."""
    done = subprocess.run([BUILD / "lycosa", "crawl", *map(str, arguments)], capture_output=True, text=True, timeout=60,
                          **options)
    assert done.returncode == code, (done.returncode, done.stderr)
    lines = done.stderr.splitlines()
    assert len(lines) == 1 and lines[0].startswith("lycosa: ") and not done.stdout, done.stdout + done.stderr
    return lines[0]


def in_directory(test):
    """Hands the test an empty directory, and sees that it is removed."""
    def run():
        directory = Path(tempfile.mkdtemp(prefix="lycosa-errors-"))
        try:
            test(directory)
        finally:
            shutil.rmtree(directory)
    run.__name__ = test.__name__
    return run


def seeds_file(directory, text="http://127.0.0.1:1/\n"):
    path = directory / "seeds.txt"
    path.write_text(text)
    return path


def tuning_file(directory, text):
    path = directory / "tuning.ini"
    path.write_text(text)
    return path


@in_directory
def test_directory_in_use(directory):
    used = directory / "used"
    used.mkdir()
    (used / "letter").write_text("dear")
    assert f"{used}: is not an empty directory" in refused(1, "-o", used, seeds_file(directory))
    assert [path.name for path in used.iterdir()] == ["letter"]


@in_directory
def test_directory_cannot_be_made(directory):
    file = directory / "file"
    file.write_text("")
    assert "file/crawl: Not a directory" in refused(1, "-o", file / "crawl", seeds_file(directory))
    assert "absent/crawl: No such file" in refused(1, "-o", directory / "absent/crawl", seeds_file(directory))
    assert "is not an empty directory" in refused(1, "-o", file, seeds_file(directory))
    assert not (directory / "absent").exists() and file.read_text() == ""
    deep = Path(*["d" * 200] * 5)
    (directory / deep).mkdir(parents=True)
    assert "at most 800 characters" in refused(1, "-o", directory / deep / "crawl", seeds_file(directory))


@in_directory
def test_seeds_are_no_urls(directory):
    out = directory / "crawl"
    for text, line in (("http://a.example/\n\n# note\nhttp://[::1/\n", 4), ("http://\n", 1), ("what is this\n", 1)):
        path = seeds_file(directory, text)
        message = refused(1, "-o", out, path)
        assert f"{path}:{line}: " in message and "is no URL" in message, message
    assert "no seeds" in refused(1, "-o", out, seeds_file(directory, "# nothing\n"))
    assert "neither a file nor a URL" in refused(1, "-o", out, directory / "absent.txt")
    assert "is no URL" in refused(1, "-o", out, "http://exa mple/")
    assert "no seeds" in refused(2, "-o", out)
    assert not out.exists()


@in_directory
def test_bad_tuning(directory):
    out, seeds = directory / "crawl", seeds_file(directory)
    for text, line, words in (("[net]\nconections = 5\n", 2, "connections"), ("[nett]\n", 1, "nett"),
                              ("[net]\nfetch-timeout = 5 parsecs\n", 2, "fetch-timeout"),
                              ("\n[crawl]\nthreads = 0\n", 3, "threads"), ("threads = 1\n", 1, "section")):
        path = tuning_file(directory, text)
        message = refused(4, "-c", path, "-o", out, seeds)
        assert f"{path}:{line}: " in message and words in message, message
    assert "absent.ini: No such file" in refused(4, "-c", directory / "absent.ini", "-o", out, seeds)
    for text, words in (("[crawl]\nagent-name = a/b\n", "agent-name"), ("[crawl]\ncontact-url = me\n", "contact-url"),
                        ("[scope]\nexclude = (\n", "exclude"), ("[scope]\ncanonical = x\n", "canonical"),
                        ("[net]\ndns-servers = nobody\n", "dns-servers"),
                        ("[net]\ntls-ca-file = /absent\n", "/absent")):
        assert words in refused(4, "-c", tuning_file(directory, text), "-o", out, seeds), text
    assert not out.exists()


@in_directory
def test_wrong_usage(directory):
    out, seeds = directory / "crawl", seeds_file(directory)
    for arguments in (["--max-pages", "0"], ["--max-pages", "x"], ["--max-time", "-1"], ["--threads", "65"],
                      ["--threads", "64"]):
        refused(2, *arguments, "-o", out, seeds)
    done = subprocess.run([BUILD / "lycosa", "crawl", "--fast", seeds], capture_output=True, text=True)
    assert done.returncode == 2 and "--fast" in done.stderr and "usage:" in done.stderr, done.stderr
    assert not out.exists()


@in_directory
def test_memory_that_cannot_be_had(directory):
    """A budget beyond the machine is refused before anything is made."""
    path = tuning_file(directory, "[memory]\nsieve = 8TB\nfrontier = 1MiB\nhosts = 16\n")
    limit = 1 << 40

    def less():
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

    if is_sanitized():
        return  # the sanitizers' own address space is larger than any limit
    assert "memory.sieve" in refused(1, "-c", path, "-o", directory / "crawl", seeds_file(directory), preexec_fn=less)
    assert not (directory / "crawl").exists()


def test_max_pages_is_exact():
    for web_options in (ENDLESS, [*SMALL[:2], "--pages", "40", "--plain", "--fault", "resetbody=0.3,short=0.3"]):
        with Web(*web_options) as web:
            for pages in (1, 7, 50):
                crawl = Crawl(web, merge(RUDE, {"retry": {"times": "1", "wait": "10ms"}}), "--max-pages", str(pages),
                              "--threads", "2")
                assert crawl.code == 0 and crawl.summary["end"] == "pages", (crawl.summary["end"], crawl.stderr)
                assert crawl.summary["pages"] == len(crawl.fetched) == pages, crawl.summary["pages"]
                check_warcs(crawl)


def test_max_pages_does_not_knock():
    """While the last pages are under way, no visit begins that could ask for nothing."""
    with Web("--hosts", "8", "--pages", "6", "--plain", "--rtt-ms", "200") as web:
        crawl = Crawl(web, RUDE, "--max-pages", "2", "--threads", "2")
        assert crawl.summary["pages"] == 2
        assert crawl.summary["visits"] <= 8, crawl.summary["visits"]


def test_max_time():
    with Web(*ENDLESS) as web:
        crawl = Crawl(web, RUDE, "--max-time", "1", "--threads", "2")
        assert crawl.code == 0 and crawl.summary["end"] == "time"
        assert 1 <= crawl.summary["seconds"] < AT_ONCE_S, crawl.summary["seconds"]
        check_warcs(crawl)


def check_warcs(crawl):
    """Every file is closed and valid, and holds what the log says was fetched."""
    assert not [path for path in crawl.directory.rglob("*.open")], "a file was left open"
    stored = [record["WARC-Target-URI"] for path in crawl.warcs() for record in warc.read(path)
              if warc.is_capture(record)]
    assert sorted(stored) == sorted(crawl.fetched), (len(stored), len(crawl.fetched))


def has_pages(crawl):
    return lambda: (crawl.directory / "crawl.log").exists() and (crawl.directory / "crawl.log").stat().st_size > 0


def test_signal_ends_in_order():
    for number in (signal.SIGINT, signal.SIGTERM):
        def interrupt(crawl):
            wait_until(has_pages(crawl), "a page")
            crawl.process.send_signal(number)
        with Web(*ENDLESS) as web:
            crawl = Crawl(web, RUDE, "--threads", "2", during=interrupt)
            assert crawl.code == 11 and crawl.summary["end"] == "signal", (crawl.code, crawl.stderr)
            assert crawl.summary["queued"] > 0 and "stopped" not in crawl.summary["outcomes"]
            check_warcs(crawl)


class Silent(Site):
    """Gives its root page, and takes the request for the next one without a word."""

    def __init__(self):
        self.is_waited_for = threading.Event()

    def serve(self, connection):
        with connection:
            while request := read_request(connection):
                path = request.split(b" ")[1]
                if path == b"/silent":
                    self.is_waited_for.set()
                    connection.recv(1)
                    return
                status, body = (b"200 OK", b'<a href="/silent">') if path == b"/" else (b"404 Not Found", b"")
                connection.sendall(b"HTTP/1.1 %s\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%s" %
                                   (status, len(body), body))


def test_second_signal_at_once():
    begun = []

    def interrupt(crawl):
        wait_until(web.is_waited_for.is_set, "a request that is not answered")
        crawl.process.send_signal(signal.SIGTERM)
        try:
            crawl.process.wait(2)
            raise AssertionError("the first signal did not wait for what was in flight")
        except subprocess.TimeoutExpired:
            pass
        begun.append(time.monotonic())
        crawl.process.send_signal(signal.SIGTERM)

    with Silent() as web:
        crawl = Crawl(web, merge(RUDE, PATIENT), "--threads", "2", during=interrupt)
        assert time.monotonic() - begun[0] < AT_ONCE_S, "at once"
        assert crawl.code == 11 and crawl.summary["end"] == "signal"
        check_warcs(crawl)


def test_stop_is_bounded():
    """What is in flight gets no longer than stop-within."""
    def interrupt(crawl):
        wait_until(web.is_waited_for.is_set, "a request that is not answered")
        crawl.process.send_signal(signal.SIGINT)
    with Silent() as web:
        crawl = Crawl(web, merge(RUDE, PATIENT, {"crawl": {"stop-within": "500ms"}}), during=interrupt)
        assert crawl.code == 11 and crawl.summary["seconds"] < AT_ONCE_S, crawl.summary["seconds"]


def test_signal_before_the_first_turn():
    """However early it comes, the directory is either not there or that of a finished crawl."""
    with Web(*ENDLESS) as web:
        def interrupt(crawl):
            wait_until(crawl.directory.exists, "the directory")
            crawl.process.send_signal(signal.SIGINT)
        crawl = Crawl(web, RUDE, during=interrupt)
        assert crawl.code == 11 and crawl.summary["end"] == "signal", (crawl.code, crawl.stderr)
        check_warcs(crawl)


def test_reload():
    tuning = merge(RUDE, {"crawl": {"max-pages": "0"}, "status": {"interval": "100ms"}})

    def change(crawl):
        wait_until(has_pages(crawl), "a page")
        text = crawl.tuning_path.read_text()
        crawl.tuning_path.write_text(text.replace("max-pages = 0", "max-pages = 5\nthreads = 2"))
        crawl.process.send_signal(signal.SIGHUP)

    with Web(*ENDLESS) as web:
        crawl = Crawl(web, tuning, during=change)
        assert crawl.code == 0 and crawl.summary["end"] == "pages", "the live key was taken over"
        said = [line for line in crawl.stderr.splitlines() if line.startswith("lycosa: ")]
        assert len(said) == 1 and "threads" in said[0], said


def test_reload_of_a_bad_file():
    def change(crawl):
        wait_until(has_pages(crawl), "a page")
        crawl.tuning_path.write_text("[net]\nnonsense = 1\n")
        crawl.process.send_signal(signal.SIGHUP)
        time.sleep(0.1)  # two signals of one kind that come together are one
        crawl.process.send_signal(signal.SIGINT)

    with Web(*ENDLESS) as web:
        crawl = Crawl(web, RUDE, during=change)
        assert crawl.code == 11, crawl.stderr
        assert "not reloaded" in crawl.stderr and "tuning.ini:2" in crawl.stderr, crawl.stderr


# Some pages are committed before the disk is full.
SLOW = {"net": {"bandwidth": "500KB"}, "state": {"commit": "20ms"}}


def check_full(crawl):
    assert crawl.code == 3 and "the disk is full" in crawl.stderr, (crawl.code, crawl.stderr)
    assert crawl.summary["end"] == "disk-full", crawl.summary.get("end")
    assert not [path for path in crawl.directory.rglob("*.open")], "a file was left open"
    stored = [record["WARC-Target-URI"] for path in crawl.warcs() for record in warc.read(path)
              if warc.is_capture(record)]
    assert len(set(stored)) == len(stored) > 0
    assert sorted(stored) == sorted(crawl.fetched), "what is logged is stored, and what is stored is logged"
    assert crawl.summary["stored"] == len(stored), (crawl.summary["stored"], len(stored))


def test_file_size_limit():
    """The kernel refuses to let a file grow: the same end as that of a full disk."""
    def less():
        resource.setrlimit(resource.RLIMIT_FSIZE, (300000, 300000))
    for threads in ("1", "2"):
        with Web(*ENDLESS) as web:
            check_full(Crawl(web, merge(RUDE, SLOW), "--threads", threads, preexec_fn=less))


def test_full_disk():
    with Web(*ENDLESS) as web:
        place = web.directory / "crawl-2"  # where Crawl puts the next one
        place.mkdir()
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1500k", "none", place],
                          capture_output=True).returncode != 0:
            print("  skipped: no file system can be mounted here")
            return
        try:
            crawl = Crawl(web, merge(RUDE, SLOW, {"state": {"reserve": "0"}}), "--threads", "2", directory=place)
            check_full(crawl)
        finally:
            subprocess.run(["umount", place], check=True)


def test_store_none():
    with Web(*SMALL) as web:
        crawl = Crawl(web, merge(RUDE, {"store": {"kind": "none"}}))
        assert crawl.code == 0 and set(crawl.fetched) == set(web.truth())
        assert crawl.summary["stored"] == 0 and not (crawl.directory / "warc").exists()
        assert sorted(path.name for path in crawl.directory.iterdir()) == [
            "crawl.log", "progress.tsv", "seeds.txt", "state", "summary.json", "tuning.ini"]


def test_inputs_are_kept():
    with Web(*SMALL) as web:
        crawl = Crawl(web, RUDE)
        assert (crawl.directory / "tuning.ini").read_text() == crawl.tuning_path.read_text()
        assert (crawl.directory / "seeds.txt").read_text() == (web.directory / "seeds.txt").read_text()


main([test_directory_in_use, test_directory_cannot_be_made, test_seeds_are_no_urls, test_bad_tuning, test_wrong_usage,
      test_memory_that_cannot_be_had, test_max_pages_is_exact,
      test_max_pages_does_not_knock, test_max_time, test_signal_ends_in_order, test_second_signal_at_once,
      test_stop_is_bounded, test_signal_before_the_first_turn, test_reload, test_reload_of_a_bad_file,
      test_file_size_limit, test_full_disk, test_store_none, test_inputs_are_kept])
