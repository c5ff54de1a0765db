#!/usr/bin/env python3
"""Any orders in any sequence: in the end every URL was fetched once, and politely."""
import json
import os
import random
import sys
from collections import Counter
from pathlib import Path
from urllib.parse import quote

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
sys.path.insert(0, str(Path(__file__).resolve().parent))
from console import AUDIT, POLITE, Running  # noqa: E402
from console_hosts import domain_of, top  # noqa: E402
from console_orders import split_seeds  # noqa: E402
from simulated import IMPATIENT, SMALL, Web, main, merge, tuning_text, wait_until  # noqa: E402

COUNT = 1000 if os.environ.get("LYCOSA_LONG") == "ON" else 100
# None of them makes the crawl less polite than the audit demands.
LIVE = {"net.bandwidth": ["10MB", "300KB", "0"], "crawl.max-time": ["1h", "2h"], "crawl.max-pages": ["0", "1M"],
        "status.interval": ["1s", "200ms"], "politeness.host-min-idle": ["50ms", "80ms"], "politeness.burst": ["200ms", "100ms"],
        "retry.wait": ["300ms", "200ms"]}
BAD = ["[net]\nbandwidth = much", "[nett]\n", "bandwidth = 1", "[net]\nbandwidth = 1\nbandwidth = 2", "\xff"]
FIXED = "[store]\nkind = none\n[crawl]\nthreads = 9\n"


class Operator:
    """Gives orders that mean no harm, and knows which answers there may be."""

    def __init__(self, crawl, rng, late):
        self.crawl, self.rng, self.late = crawl, rng, late
        self.path = crawl.process.args[crawl.process.args.index("-c") + 1]
        self.answers = Counter()

    def ask(self, method, what, allowed, body=None):
        status, _, text = self.crawl.ask(method, "/api/v1/" + what, body=body)
        assert status in allowed, (status, method, what, text)
        self.answers[f"{what.split('?')[0]} {status}"] += 1
        return text

    def some_keys(self):
        keys = self.rng.sample(sorted(LIVE), self.rng.randrange(1, len(LIVE)))
        return {key: self.rng.choice(LIVE[key]) for key in keys}

    def pause(self):
        self.ask("POST", "pause", (200, 409))

    def resume(self):
        self.ask("POST", "resume", (200, 409))

    def reload(self):
        sections = [{key.split(".")[0]: {key.split(".")[1]: value}} for key, value in self.some_keys().items()]
        text = tuning_text(merge(BASE, *sections)) if self.rng.random() < 0.9 else "[nonsense]\n"
        new = self.path.with_suffix(".new")
        new.write_text(CONTROL + text)
        new.rename(self.path)
        self.ask("POST", "reload", (202,))

    def tune(self):
        if self.rng.random() < 0.2:
            self.ask("PATCH", "tuning", (400, 503), self.rng.choice(BAD))
            return
        keys = self.some_keys()
        fixed = self.rng.random() < 0.2
        body = "".join(f"[{key.split('.')[0]}]\n{key.split('.')[1]} = {value}\n" for key, value in keys.items())
        text = self.ask("PATCH", "tuning", (200, 503), body + FIXED * fixed)
        told = json.loads(text)
        assert "error" in told or set(told) == set(keys) | ({"store.kind", "crawl.threads"} if fixed else set()), (told, keys)

    def steer(self, verb):
        hosts = [row["key"] for row in top(self.crawl)["hosts"] if domain_of(row["key"]) != domain_of(self.late[-1])]
        if not hosts or self.rng.random() < 0.1:
            self.ask("POST", f"{verb}?host=https://nowhere.example", (404,))
        elif self.rng.random() < 0.3:
            self.ask("POST", f"{verb}?domain={domain_of(self.rng.choice(hosts))}", (200, 202, 404))
        else:
            self.ask("POST", f"{verb}?host={quote(self.rng.choice(hosts), safe='')}", (200, 202, 404))

    def hold(self):
        self.steer("hold")

    def release(self):
        self.steer("release")

    def seeds(self):
        self.ask("POST", "seeds", (200, 503), "\n".join(self.rng.sample(self.late, 3)))

    def checkpoint(self):
        self.ask("POST", "checkpoint", (200, 202))

    def finish(self):
        """Undoes all that would keep the crawl from its end."""
        for key in top(self.crawl)["held"]["hosts"]:
            self.ask("POST", f"release?host={quote(key, safe='')}", (200, 202))
        for name in top(self.crawl)["held"]["domains"]:
            self.ask("POST", f"release?domain={name}", (200, 202))
        self.ask("PATCH", "tuning", (200,), "[net]\nbandwidth = 0\n")
        self.ask("POST", "resume", (200, 409))


BASE = merge(IMPATIENT, POLITE, SMALL, {"crawl": {"threads": "2", "pin": "no"}})
CONTROL = "# the file of the crawl, changed while it runs\n"


def test_random_orders():
    rng = random.Random(1)
    with Web("--hosts", "30", "--pages", "20", "--seed", "6", "--rtt-ms", "20", "--crawl-delay-ms", "200") as web:
        first, late = split_seeds(web, 5)
        with Running(web, BASE, seeds=first) as crawl:
            operator = Operator(crawl, rng, late)
            # A domain that is held, and has something to do: the crawl cannot end before the last order.
            operator.ask("POST", f"hold?domain={domain_of(late[-1])}", (200, 202))
            operator.ask("POST", "seeds", (200,), late[-1])
            verbs = [operator.pause, operator.resume, operator.resume, operator.reload, operator.tune, operator.tune, operator.hold,
                     operator.release, operator.seeds, operator.checkpoint]
            for _ in range(COUNT):
                rng.choice(verbs)()
            wait_until(lambda: operator.ask("POST", "seeds", (200, 503), "\n".join(late)).startswith('{"accepted"'), "all seeds")
            operator.finish()
            assert crawl.finish()["end"] == "complete"
            assert crawl.fetched() == sorted(web.truth())
            orders = (crawl.directory / "events.log").read_text().splitlines()
            assert len(orders) == sum(operator.answers.values()), (len(orders), operator.answers)
            assert "\ttoken\tPOST /api/v1/resume\t" in orders[-1], orders[-1]
        text, violations = web.audit(*AUDIT)
        assert violations == 0, text
        print("    ", dict(sorted(operator.answers.items())))


if __name__ == "__main__":
    main([test_random_orders])
