#!/usr/bin/env python3
"""A crawl that a service manager has started tells it what it does; and it begins or goes on by one command."""
import os
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from simulated import BUILD, RUDE, Crawl, Web, main, merge, tuning_text, wait_until  # noqa: E402

WATCHDOG_US = 400000


class Manager:
    """The end of the socket that systemd has."""

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="lycosa-notify-")
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
        self.socket.bind(self.folder.name + "/notify")
        self.environment = {**os.environ, "NOTIFY_SOCKET": self.folder.name + "/notify", "WATCHDOG_USEC": str(WATCHDOG_US)}
        self.said = []
        return self

    def __exit__(self, *_):
        self.socket.close()
        self.folder.cleanup()

    def hear(self):
        while True:
            try:
                self.said.append(self.socket.recv(4096).decode())
            except BlockingIOError:
                return self.said

    def heard(self, text, times=1):
        return sum(line.startswith(text) for line in self.hear()) >= times


def test_what_a_crawl_tells():
    with Web("--hosts", "40") as web, Manager() as manager:
        def during(crawl):
            wait_until(lambda: manager.heard("WATCHDOG=1", 3), "three signs of life")
            wait_until(lambda: manager.heard("STATUS="), "the status")
            assert not manager.heard("STOPPING"), manager.said
            crawl.process.send_signal(signal.SIGTERM)

        tuning = {"status": {"interval": "500ms"}, "politeness": {"host-min-idle": "2s"}}
        crawl = Crawl(web, tuning, during=during, env=manager.environment)
        assert crawl.code == 11, crawl.stderr
        said = [line for line in manager.hear() if not line.startswith("EXTEND_TIMEOUT_USEC=")]
        assert said[0] == "READY=1" and said.count("READY=1") == 1, said
        assert said.count("STOPPING=1") == 1 and "WATCHDOG=1" not in said[said.index("STOPPING=1"):], said
        assert manager.heard("EXTEND_TIMEOUT_USEC="), manager.said
        status = next(line for line in said if line.startswith("STATUS="))
        assert "pages " in status and "\n" not in status, status


def test_a_crawl_without_a_manager_is_silent():
    with Web("--hosts", "2", "--pages", "5") as web, Manager() as manager:
        assert Crawl(web, RUDE).code == 0 and not manager.hear()


def run(directory, tuning, *seeds, more=()):
    return subprocess.run([BUILD / "lycosa", "crawl", "--continue", directory, "-c", tuning, *more, *seeds],
                          capture_output=True, text=True, timeout=240)


def test_begin_and_go_on_by_one_command():
    with Web("--hosts", "5", "--pages", "40") as web:
        directory, tuning, seeds = web.directory / "crawl", web.directory / "tuning.ini", web.seeds()
        tuning.write_text(tuning_text(merge(RUDE, {"scope": {"mode": "any"}, "net": {"dns-servers": web.dns}})))
        directory.mkdir()  # as a service manager makes it
        done = run(directory, tuning, seeds, more=["--max-pages", "20"])
        assert done.returncode == 0 and "(pages)" in done.stdout, done
        done = run(directory, tuning, seeds)
        assert done.returncode == 0 and "(complete)" in done.stdout, done
        urls = [line.split()[3] for line in (directory / "crawl.log").read_text().splitlines() if int(line.split()[1]) > 0]
        assert sorted(urls) == sorted(web.truth()), len(urls)  # each once, over both lives
        asked = web.journal.stat().st_size
        assert run(directory, tuning, seeds).returncode == 0, "a complete crawl has nothing left to do"
        assert web.journal.stat().st_size <= asked + 4096
        # Killed before the seeds were copied: those of the command line serve.
        (directory / "half").mkdir()
        (directory / "half" / "state").mkdir()
        done = run(directory / "half", tuning, seeds)
        assert done.returncode == 0 and "(complete)" in done.stdout, done
        # Not a crawl, and not empty.
        (directory / "other").mkdir()
        (directory / "other" / "letter").write_text("dear")
        done = run(directory / "other", tuning, seeds)
        assert done.returncode == 1 and "not an empty directory" in done.stderr, done
        assert run(directory, tuning, "--resume", str(directory)).returncode == 2


main([test_what_a_crawl_tells, test_a_crawl_without_a_manager_is_silent, test_begin_and_go_on_by_one_command])
