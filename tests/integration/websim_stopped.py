#!/usr/bin/env python3
"""A server that is stopped again and again, as by a machine that swaps, still judges rightly: the delays are its own.
The same goes for a client that breaks a rule by little while the server does not look."""
import random
import re
import signal
import sys
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from simulated import Crawl, Web, main  # noqa: E402

POLITE = {"politeness": {"host-ratio": "0.5", "address-ratio": "1", "burst": "200ms", "host-min-idle": "60ms",
                         "address-min-idle": "20ms"}}
RULES = ["--ratio", "0.5", "--ip-ratio", "1", "--burst-ms", "200", "--min-idle-ms", "60", "--ip-min-idle-ms", "20"]
SEED = random.randrange(1 << 32)
WEB = ["--pages", "200", "--https", "0.2"]


class Stopper:
    """Stops a process for 50 to 500 ms, lets it run for 10 to 200, and so on until the end of the block."""

    def __init__(self, process):
        self.process, self.stops, self.ended = process, 0, threading.Event()
        self.thread = threading.Thread(target=self.run)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()
        self.process.send_signal(signal.SIGCONT)

    def run(self):
        chance = random.Random(SEED)
        while not self.ended.wait(chance.uniform(0.01, 0.2)):
            self.process.send_signal(signal.SIGSTOP)
            self.stops += 1
            self.ended.wait(chance.uniform(0.05, 0.5))
            self.process.send_signal(signal.SIGCONT)


def stopped_crawl(tuning, hosts):
    with Web("--hosts", hosts, "--addresses", hosts, *WEB) as web:
        with Stopper(web.process) as stopper:
            crawl = Crawl(web, {**tuning, "net": {"dns-servers": web.dns, "tls-ca-file": str(web.ca)}}, "--max-time", "5")
        assert crawl.code == 0, crawl.stderr[-2000:]
        assert stopper.stops > 4, stopper.stops
        text, violations = web.audit(*RULES)
        return text, violations


def test_polite_crawl_of_a_stopped_server():
    text, violations = stopped_crawl(POLITE, "60")
    assert violations == 0, f"seed {SEED}: {text}"
    assert int(re.search(r"audit: (\d+) requests", text).group(1)) > 50, text


def test_rude_crawl_of_a_stopped_server():
    """Rests of a tenth; few hosts, so that each is visited often."""
    rude = {"politeness": {**POLITE["politeness"], "host-ratio": "5", "address-ratio": "5", "host-min-idle": "20ms"}}
    text, violations = stopped_crawl(rude, "6")
    assert violations > 0, text
    assert "rest of a host after a visit, by the ratio" in text, text


main([value for name, value in list(globals().items()) if name.startswith("test_")])
