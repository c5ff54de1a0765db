#!/usr/bin/env python3
"""What a crawl tells its operator: seeds that fail, seeds that may not be visited, what it waits for, what it lost."""
import fcntl
import json
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from simulated import BUILD, RUDE, Crawl, Pages, is_sanitized, main, merge, tuning_text, wait_until  # noqa: E402

QUICK = merge(RUDE, {"status": {"interval": "100ms"}, "retry": {"wait": "100ms", "host-failures": "2"}})
CONTACT = {"crawl": {"contact-url": "https://example.org/bot"}}
PAGE = {"/": (200, {"Content-Type": "text/html"}, b"<p>here")}


class Names:
    """A name server that gives every name one address."""

    def __init__(self, address):
        self.address = socket.inet_aton(address)

    def __enter__(self):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.server = f"127.0.0.1:{self.socket.getsockname()[1]}"
        threading.Thread(target=self.serve, daemon=True).start()
        return self

    def serve(self):
        while True:
            try:
                message, peer = self.socket.recvfrom(4096)
            except OSError:
                return
            question_end = message.index(b"\0", 12) + 5
            is_a = message[question_end - 4:question_end - 2] == b"\0\1"
            answer = b"\xc0\x0c" + struct.pack(">HHIH", 1, 1, 60, 4) + self.address if is_a else b""
            head = message[:2] + b"\x81\x80" + struct.pack(">HHHH", 1, 1 if is_a else 0, 0, 0)
            self.socket.sendto(head + message[12:question_end] + answer, peer)

    def __exit__(self, *_):
        self.socket.close()


def closed_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def seeds_of(web, *urls):
    path = web.directory / "these.txt"
    path.write_text("".join(url + "\n" for url in urls))
    return path


def notes(crawl):
    return [line for line in crawl.stderr.splitlines() if line.startswith("lycosa: ")]


def test_a_dead_seed_is_seen_at_once():
    """Long before it is given up, the status tells that it fails, why, and when it is tried again."""
    with Pages({"127.0.0.1": PAGE}) as web:
        dead = f"127.0.0.1:{closed_port()}"
        patient = merge(QUICK, {"retry": {"wait": "300s", "host-failures": "10"}})
        crawl = Crawl(web, patient, "--max-time", "2", seeds=seeds_of(web, f"http://{dead}/", web.url("127.0.0.1")))
        assert re.search(r"failed 0 \(tries 1\)  .*\| 1 host fails: 1 connect-refused", crawl.stderr), crawl.stderr
        waits = re.findall(r"waiting for 1 host: (\S+), retry in (\d+) s \(connect-refused\)", crawl.stderr)
        assert waits and waits[0][0] == dead and 200 < int(waits[0][1]) <= 300, crawl.stderr
        assert crawl.code == 0 and len(crawl.fetched) == 1


def test_all_seeds_fail():
    with Pages({"127.0.0.1": PAGE}) as web:
        dead = seeds_of(web, f"http://127.0.0.1:{closed_port()}/")
        crawl = Crawl(web, QUICK, seeds=dead)
        assert crawl.code == 5 and crawl.summary["end"] == "nothing", (crawl.code, crawl.summary["end"])
        assert notes(crawl) == ["lycosa: nothing was fetched: 1 host fails: 1 connect-refused"], notes(crawl)
        assert "(nothing)" in crawl.stdout
        # Also when time was up before it was given up.
        crawl = Crawl(web, merge(QUICK, {"retry": {"wait": "300s"}}), "--max-time", "5", seeds=dead)
        assert crawl.code == 5 and "nothing was fetched: 1 host fails" in crawl.stderr, (crawl.code, crawl.stderr)


def test_no_seed_in_scope():
    with Pages({"127.0.0.1": PAGE}) as web:
        crawl = Crawl(web, merge(QUICK, {"scope": {"exclude": "127"}}))
        assert crawl.code == 5, crawl.code
        assert "no seed is in the scope (1 by exclude)" in notes(crawl)[0], notes(crawl)
        assert "1 of the seeds out of scope" in crawl.stdout, crawl.stdout
        assert web.asked == []


def test_contact_url_is_asked_for():
    """A public address is refused before anything is made; a name when it turns out to have one."""
    out = Path(tempfile.gettempdir()) / "lycosa-told-none"
    done = subprocess.run([BUILD / "lycosa", "crawl", "-o", out, "http://127.0.0.1:8080/", "http://192.0.2.1/"],
                          capture_output=True, text=True)
    assert done.returncode == 4 and len(done.stderr.splitlines()) == 1, (done.returncode, done.stderr)
    assert "contact-url = https://" in done.stderr and "192.0.2.1" in done.stderr and not out.exists()
    with Pages({"127.0.0.1": PAGE}) as web, Names("192.0.2.1") as names:
        web.dns = names.server
        crawl = Crawl(web, QUICK, seeds=seeds_of(web, "http://www.example.org/", "http://www.example.com/"))
        assert crawl.code == 5 and crawl.summary["outcomes"] == {"address-forbidden": 2}, crawl.summary["outcomes"]
        assert crawl.summary["requests"] == 0
        assert len(notes(crawl)) == 1 and "contact-url = https://" in notes(crawl)[0], notes(crawl)


def test_private_addresses_are_asked_for():
    with Pages({"127.0.0.1": PAGE}) as web, Names("10.1.2.3") as names:
        web.dns = names.server
        for seed in (web.url("127.0.0.1"), "http://localhost:8080/", "http://[::1]:8080/", "http://10.0.0.1/"):
            crawl = Crawl(web, merge(QUICK, CONTACT), seeds=seeds_of(web, seed))
            assert crawl.code == 4 and "private-addresses = yes" in notes(crawl)[0], (seed, crawl.code, crawl.stderr)
            assert not crawl.directory.exists()
        crawl = Crawl(web, merge(QUICK, CONTACT), seeds=seeds_of(web, "http://www.example.org/"))
        assert crawl.code == 5 and "private-addresses = yes" in notes(crawl)[0], (crawl.code, crawl.stderr)
        assert web.asked == []


def test_losses_are_loud():
    many = b"".join(b'<a href="/%d">' % number for number in range(4000))
    full = {"memory": {"sieve": "4KiB"}, "state": {"spill": "no"}}
    with Pages({"127.0.0.1": {"/": (200, {"Content-Type": "text/html"}, many)}}) as web:
        crawl = Crawl(web, merge(QUICK, full), "--max-pages", "5")
        lost = crawl.summary["outcomes"]["sieve-full"]
        assert f"{lost} URLs lost: raise memory.sieve" in crawl.stdout, crawl.stdout
        assert f"{lost} URLs lost: raise memory.sieve" in crawl.stderr, crawl.stderr
        crawl = Crawl(web, merge(QUICK, full))
        seen = {row[3] for row in crawl.log if int(row[1]) > 0}
        url = next(url for number in range(4000) if (url := web.url("127.0.0.1", f"/{number}")) not in seen)
        why = subprocess.run([BUILD / "lycosa", "why", crawl.directory, url], capture_output=True, text=True).stdout
        assert "found no room" in why and "not seen" not in why, why
        crawl = Crawl(web, merge(QUICK, {"limits": {"links-per-page": "100"}}), "--max-pages", "5")
        assert "3900 links lost: raise limits.links-per-page" in crawl.stdout, crawl.stdout
        assert "3900 links lost: raise limits.links-per-page" in crawl.stderr, crawl.stderr


def test_expressions_that_take_too_long():
    """A URL of them is left out; an expression that only needs much memory decides."""
    deep = "/" + "/".join("abcdefghijklmnopqr")
    long = "/" + "a" * 1800
    links = "".join(f'<a href="{path}">' for path in [deep, f"{long}/private", "/public"]).encode()
    scope = {"scope": {"exclude": "/(?:[^/]|%2f)*/private\nexclude = (.*/)*calendar/.*"}}
    with Pages({"127.0.0.1": {"/": (200, {"Content-Type": "text/html"}, links), "/public": PAGE["/"]}}) as web:
        crawl = Crawl(web, merge(QUICK, scope))
        assert crawl.summary["links_undecided"] == 1 and crawl.summary["scope"] == {"exclude": 2}, crawl.summary
        assert crawl.summary["outcomes"] == {"done": 2}, crawl.summary["outcomes"]
        told = "1 links left out because expressions took too long: see scope.exclude and scope.include"
        assert told in crawl.stdout and told in crawl.stderr, (crawl.stdout, crawl.stderr)
        why = subprocess.run([BUILD / "lycosa", "why", crawl.directory, web.url("127.0.0.1", deep)],
                             capture_output=True, text=True).stdout
        assert "rule 'exclude': (.*/)*calendar/.*, which takes too long" in why, why


def test_patience_ends():
    """A host that asks for an hour does not hold up the end by an hour: its URL stays in the directory."""
    busy = {"/": (503, {"Retry-After": "3600"}, b"busy")}
    with Pages({"127.0.0.1": PAGE, "127.0.0.2": busy}) as web:
        crawl = Crawl(web, merge(QUICK, {"crawl": {"max-idle": "2s"}}))
        assert crawl.code == 0 and crawl.summary["end"] == "idle" and crawl.summary["queued"] == 1, crawl.summary
        assert "waiting for 1 host" in crawl.stderr and "(idle)" in crawl.stdout, (crawl.stdout, crawl.stderr)


def test_reload_is_answered():
    def change(crawl):
        log = crawl.directory / "summary.json"
        wait_until(log.exists, "the crawl")
        crawl.process.send_signal(signal.SIGHUP)
        seen = crawl.process.stderr.readline()
        while "lycosa: " not in seen:
            seen = crawl.process.stderr.readline()
        told.append(seen)
        crawl.process.send_signal(signal.SIGINT)

    told = []
    with Pages({"127.0.0.1": PAGE}) as web:
        dead = seeds_of(web, f"http://127.0.0.1:{closed_port()}/")
        crawl = Crawl(web, merge(QUICK, {"retry": {"wait": "300s"}}), seeds=dead, during=change)
        assert crawl.code == 11 and told[0].startswith("lycosa: tuning reloaded from "), (crawl.code, told)


def resident_kib(process):
    return int(re.search(r"VmRSS:\s*(\d+)", Path(f"/proc/{process.pid}/status").read_text()).group(1))


def test_reloads_give_their_memory_back():
    """A snapshot of the tuning has 36 KiB; the loops leave each for the next. On a busy machine they begin late, and touch
    their memory then: some megabytes."""
    def reload_often(crawl):
        wait_until((crawl.directory / "summary.json").exists, "the crawl")
        for round in range(400):
            crawl.process.send_signal(signal.SIGHUP)
            while "tuning reloaded" not in crawl.process.stderr.readline():
                pass
            if round in (99, 399):
                sizes.append(resident_kib(crawl.process))
        crawl.process.send_signal(signal.SIGINT)

    sizes = []
    with Pages({"127.0.0.1": PAGE}) as web:
        dead = seeds_of(web, f"http://127.0.0.1:{closed_port()}/")
        crawl = Crawl(web, merge(QUICK, {"retry": {"wait": "300s"}}), "--threads", "2", seeds=dead, during=reload_often)
        print(f"  {sizes} KiB")
        assert crawl.code == 11 and (is_sanitized() or sizes[1] - sizes[0] < 300 * 36 // 2), sizes


def test_units_on_the_command_line():
    with Pages({"127.0.0.1": PAGE}) as web:
        for arguments in (["--max-time", "10m"], ["--max-time", "90"], ["--max-pages", "10k", "--max-time", "500ms"]):
            crawl = Crawl(web, QUICK, *arguments)
            assert crawl.code == 0 and len(crawl.fetched) == 1, (arguments, crawl.stderr)
        dead = seeds_of(web, f"http://127.0.0.1:{closed_port()}/")
        crawl = Crawl(web, merge(QUICK, {"retry": {"wait": "300s"}}), "--max-time", "300ms", seeds=dead)
        assert crawl.summary["end"] == "time" and crawl.summary["seconds"] < 20, crawl.summary
    for arguments in (["--max-time", "5parsecs"], ["--max-time", "-1"], ["--max-pages", "0"], ["--max-pages", "3s"]):
        done = subprocess.run([BUILD / "lycosa", "crawl", *arguments, "http://127.0.0.1:1/"], capture_output=True)
        assert done.returncode == 2, arguments
    done = subprocess.run([BUILD / "lycosa", "crawl", "--help"], capture_output=True, text=True)
    assert done.returncode == 0 and "--max-time" in done.stdout and not done.stderr


def test_seeds_on_standard_input():
    with Pages({"127.0.0.1": PAGE}) as web:
        out, into = os.pipe()
        os.write(into, web.url("127.0.0.1").encode())
        os.close(into)
        crawl = Crawl(web, QUICK, seeds="-", stdin=out)
        os.close(out)
        assert crawl.code == 0 and crawl.fetched == [web.url("127.0.0.1")], crawl.stderr
        assert (crawl.directory / "seeds.txt").read_text().strip() == web.url("127.0.0.1")


def test_progress_while_seeds_are_read():
    """A million seeds, and a stop in the middle of them: the directory is not there or that of a finished crawl."""
    with Pages({"127.0.0.1": PAGE}) as web:
        many = web.directory / "many.txt"
        many.write_text("".join(f"http://127.0.0.1:{web.port}/{number}\n" for number in range(1000000)))

        def interrupt(crawl):
            lines.append(crawl.process.stderr.readline())
            crawl.process.send_signal(signal.SIGINT)

        lines = []
        tuning = merge(QUICK, {"status": {"interval": "100ms"}, "memory": {"frontier": "256MiB"}})
        crawl = Crawl(web, tuning, seeds=many, during=interrupt, timeout=60)
        assert re.match(r"(reading|queueing) seeds: \d+ so far", lines[0]), lines
        assert crawl.code == 11, (crawl.code, crawl.stderr)
        assert not crawl.directory.exists() or crawl.summary["end"] == "signal"


def on_terminal(web, tuning, *arguments, rows=24, columns=40):
    """Starts a crawl that has a terminal of its own: the process and the master's side."""
    master, slave = os.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    path, out = web.directory / "tuning.ini", web.directory / "crawl"
    path.write_text(tuning_text(merge({"scope": {"mode": "any"}, "net": {"dns-servers": web.dns}}, tuning)))
    # The tests themselves may have been started by nohup.
    process = subprocess.Popen([BUILD / "lycosa", "crawl", "-c", path, "-o", out, *arguments], stdin=slave, stdout=slave,
                               stderr=slave, start_new_session=True,
                               preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL))
    os.close(slave)
    return process, master, out


def test_a_narrow_terminal():
    """The block is drawn over itself: no line is longer than the terminal is wide."""
    with Pages({"127.0.0.1": PAGE}) as web:
        dead = seeds_of(web, f"http://127.0.0.1:{closed_port()}/")
        process, master, _ = on_terminal(web, merge(QUICK, {"retry": {"wait": "300s"}}), "--max-time", "2", dead)
        shown = b""
        while True:
            try:
                shown += os.read(master, 65536)
            except OSError:
                break
        process.wait(30)
        os.close(master)
        block = [re.sub(rb"\033\[\d*[A-Z]|\r", b"", line) for line in shown.split(b"\n")]
        shown_block = [line for line in block if line.startswith(b"  ")]
        assert len(shown_block) > 10 and max(map(len, shown_block)) < 40, block
        assert len(re.findall(rb"\033\[\d+A", shown)) >= 2, shown


def test_a_closed_terminal_ends_the_crawl():
    """SIGHUP reloads; but when it comes because the terminal is gone, nobody is left who would end the crawl."""
    with Pages({"127.0.0.1": PAGE}) as web:
        dead = seeds_of(web, f"http://127.0.0.1:{closed_port()}/")
        process, master, out = on_terminal(web, merge(QUICK, {"retry": {"wait": "300s"}}), dead)
        wait_until((out / "summary.json").exists, "the crawl")
        process.send_signal(signal.SIGHUP)
        shown = b""
        while b"tuning reloaded" not in shown:
            shown += os.read(master, 65536)
        os.close(master)
        process.send_signal(signal.SIGHUP)  # the kernel sends it to the leader of a session, a shell to its jobs
        assert process.wait(30) == 11
        assert json.loads((out / "summary.json").read_text())["end"] == "signal"


main([test_reloads_give_their_memory_back, test_units_on_the_command_line, test_seeds_on_standard_input, test_progress_while_seeds_are_read,
      test_a_narrow_terminal, test_a_closed_terminal_ends_the_crawl,
      test_a_dead_seed_is_seen_at_once, test_all_seeds_fail, test_no_seed_in_scope, test_contact_url_is_asked_for,
      test_private_addresses_are_asked_for, test_losses_are_loud, test_expressions_that_take_too_long,
      test_patience_ends, test_reload_is_answered])
