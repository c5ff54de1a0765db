#!/usr/bin/env python3
"""Single hosts by the console of a running crawl: which are the largest, what one of them waits for, and orders to hold,
release and drop them. The rest of the crawl stays exact."""
import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import quote

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
sys.path.insert(0, str(Path(__file__).resolve().parent))
from console import AUDIT, POLITE, Running  # noqa: E402
from journal import covered_us  # noqa: E402
from simulated import BUILD, IMPATIENT, RUDE, Crawl, Web, main, merge, outcome_of, wait_until  # noqa: E402

WEB = ["--hosts", "20", "--pages", "14", "--seed", "9", "--rtt-ms", "40", "--crawl-delay-ms", "100"]
TWO_LOOPS = {"crawl": {"threads": "2", "pin": "no"}}
TINY = {"memory": {"frontier": "1MiB", "hosts": "16"}}  # URLs wait on disk, in both ways


class Resumed(Running):
    """The crawl in a directory, again."""

    def __init__(self, last):
        self.directory = last.directory
        (self.directory / "control.json").unlink(missing_ok=True)
        self.process = subprocess.Popen([BUILD / "lycosa", "crawl", "--resume", self.directory], stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)
        wait_until(lambda: self.info() or self.process.poll() is not None, "the console to open")
        assert self.process.poll() is None, self.process.communicate()
        self.token = self.info()["token"]
        self.port = int(self.info()["url"].split(":")[2].split("/")[0])


def host_of(url):
    return "/".join(url.split("/")[:3])


def domain_of(key):
    return ".".join(key.split("/")[2].split(":")[0].split(".")[-2:])


def details(crawl, key):
    status, _, text = crawl.ask("GET", f"/api/v1/host?key={quote(key, safe='')}")
    assert status == 200, (status, text)
    return json.loads(text)


def order(crawl, verb, **target):
    (name, value), = target.items()
    status, _, text = crawl.ask("POST", f"/api/v1/{verb}?{name}={quote(value, safe='')}")
    assert status in (200, 202), (status, text)  # 202: the loops are still at it, or the crawl ends because of it
    return json.loads(text)


def top(crawl, by="queue"):
    status, _, text = crawl.ask("GET", f"/api/v1/hosts?by={by}")
    assert status == 200, text
    return json.loads(text)


def long_queues(crawl):
    """Hosts that have many URLs to go, and answer: others are given patience in place of visits, and have the longest queues."""
    return [row["key"] for row in top(crawl)["hosts"] if row["queued"] > 5 and row["pages"] > 0]


def pause_at_queues(crawl):
    """Pauses the crawl while some host has a long queue: on a quick machine all may have been fetched before the order comes, or by
    the visits that were open then."""
    while True:
        wait_until(lambda: long_queues(crawl), "a queue")
        crawl.ctl("pause")
        wait_until(lambda: crawl.crawl()["requests"] == (time.sleep(1.2), crawl.crawl()["requests"])[1], "the pause")
        keys = long_queues(crawl)
        if keys and details(crawl, keys[0])["state"] in ("resting", "ready"):
            return keys[0]
        crawl.ctl("resume")


def hold_one(crawl, hold):
    """Has hold(KEY) hold a host that has many URLs to go."""
    key = pause_at_queues(crawl)
    hold(key)
    crawl.ctl("resume")
    wait_until(lambda: details(crawl, key)["state"] == "held", "its visit to end", 30)
    return key


def wait_for_others(crawl, key):
    """Until only the held host has URLs. The two counts are of different moments, so they have to be equal for a while: a URL that
    is found after the host was dropped waits for the operator, and the crawl with it."""
    def counts():
        return crawl.crawl()["queued"], sum(details(crawl, key)[name] for name in ("queued", "spilled"))

    def are_done():
        queued, held = before = counts()
        return queued == held and (time.sleep(1.5), counts())[1] == before
    wait_until(are_done, "all others to be done", 200)


def log_of(crawl):
    return [line.split() for line in (crawl.directory / "crawl.log").read_text().splitlines()]


def check_silence(web, keys, since_ns, until_ns):
    """No request came to the hosts in that time, robots.txt included: by the server's own journal."""
    asked = web.requests()
    assert any(since_ns < at < until_ns for at, _ in asked), "others were visited"
    came = [(at, url) for at, url in asked if since_ns < at < until_ns and host_of(url) in keys]
    assert not came, came


def test_looking():
    """What the console tells of hosts, and how it refuses what is none."""
    with Web(*WEB) as web, Running(web, merge(POLITE, TWO_LOOPS)) as crawl:
        for by, field in ("queue", "queued"), ("bytes", "bytes"), ("time", "spent_ms"):
            wait_until(lambda: len(top(crawl, by)["hosts"]) > 3, by)
            rows = top(crawl, by)["hosts"]
            values = [row[field] + (row["spilled"] if by == "queue" else 0) for row in rows]
            assert len(rows) <= 64 and len({row["key"] for row in rows}) == len(rows), rows
            if by != "queue":  # counters only grow while the list is made
                assert all(a * 1.2 + 1e6 >= b for a, b in zip(values, values[1:])), values
        assert all(row["failures"] > 0 for row in top(crawl, "failures")["hosts"])
        key = pause_at_queues(crawl)
        host = details(crawl, key)
        assert host["key"] == key and host["why"], host
        assert host["address"].startswith("127.") and host["robots_age_ms"] >= 0 and host["visits"] > 0, host
        assert host["pages"] > 0 and host["bytes"] > 0 and host["in_memory"] == host["queued"], host
        assert len(host["queue"]) == min(100, host["queued"]) and all(host_of(url) == key for url in host["queue"]), host
        lines = crawl.ctl("queue", key).splitlines()
        assert sorted(lines)[:len(lines)] == sorted(set(lines)) and set(host["queue"]) <= set(lines), lines
        assert len(lines) == host["queued"], (len(lines), host)
        assert json.loads(crawl.ctl("host", key))["queue"] == host["queue"], "the queue is as before"
        assert json.loads(crawl.ctl("hosts", "--by", "bytes"))["by"] == "bytes"
        other = ("http" if key.startswith("https") else "https") + key[key.index(":"):]
        for status, method, path in [
                (404, "GET", f"host?key={other}"), (404, "GET", "host?key=https://nowhere.example"),
                (404, "GET", "host?key=https://nowhere.example&format=text"), (404, "POST", f"hold?host={other}"),
                (404, "POST", "drop?host=https://nowhere.example"), (404, "POST", f"release?host={key}"),
                (400, "GET", "host"), (400, "GET", "host?key="), (400, "GET", "host?key=nonsense"),
                (400, "GET", "host?key=ftp://example.org"), (400, "GET", f"host?key={key}/a"), (400, "GET", "host?key=http://a@b"),
                (400, "GET", f"host?key={key}&format=xml"), (400, "GET", "hosts?by=weight"), (400, "GET", "hosts?by=%00"),
                (400, "GET", "host?key=https://" + "a" * 2000), (400, "POST", "hold"), (400, "POST", "hold?domain="),
                (400, "POST", "hold?domain=www.example.org"), (400, "POST", f"hold?host={key}&domain=example.org"),
                (400, "POST", "drop?domain=%0A%ff"), (400, "POST", "hold?key=x"), (405, "GET", "hold")]:
            got, _, text = crawl.ask(method, f"/api/v1/{path}")
            assert got == status and "error" in json.loads(text), (got, status, method, path, text)
        assert top(crawl)["held"] == {"hosts": [], "domains": []}
        crawl.ctl("resume")
        assert crawl.finish()["end"] == "complete"
        assert crawl.fetched() == sorted(web.truth())


def hold_twice(crawl, key):
    answer = json.loads(crawl.ctl("hold", key))
    assert answer == {"order": "done", "held": {"hosts": [key], "domains": []}}, answer
    assert json.loads(crawl.ctl("hold", key)) == answer, "once more does no harm"


def test_hold_and_release():
    """No request comes to a host that is held, not even for robots.txt; the crawl waits for it, and says so."""
    for tuning in {}, TWO_LOOPS:
        with Web(*WEB) as web:
            with Running(web, merge(POLITE, tuning, {"crawl": {**tuning.get("crawl", {}), "max-idle": "5s"}})) as crawl:
                key = hold_one(crawl, lambda key: hold_twice(crawl, key))
                since = time.monotonic_ns()
                wait_for_others(crawl, key)
                time.sleep(7)  # longer than crawl.max-idle: the crawl waits for its operator
                now = crawl.crawl()
                assert now["phase"] == "running" and now["hosts_held"] == 1, now
                assert "1 host is held by the operator" in now["diagnosis"], now["diagnosis"]
                host = details(crawl, key)
                assert host["why"] == "the operator holds it" and host["next_visit_ms"] is None and host["held"], host
                assert (crawl.directory / "state" / "held").read_text() == f"host {key}\n"
                until = time.monotonic_ns()
                assert json.loads(crawl.ctl("release", key))["held"] == {"hosts": [], "domains": []}
                assert (crawl.directory / "state" / "held").read_text() == ""
                assert crawl.finish()["end"] == "complete"
                assert crawl.fetched() == sorted(web.truth())
            check_silence(web, [key], since, until)
            text, violations = web.audit(*AUDIT)
            assert violations == 0, text


def test_drop():
    """Exactly the URLs of that host are logged as dropped; the others are fetched, and the crawl ends."""
    for tuning in {}, merge(TINY, TWO_LOOPS):
        with Web(*WEB) as web, Running(web, merge(POLITE, tuning)) as crawl:
            key = hold_one(crawl, lambda key: order(crawl, "hold", host=key))
            since = time.monotonic_ns()
            wait_for_others(crawl, key)
            waiting = details(crawl, key)
            order(crawl, "drop", host=key)
            summary = crawl.finish()
            until = time.monotonic_ns()
            assert summary["end"] == "complete", summary["end"]
            dropped = [row[3] for row in log_of(crawl) if outcome_of(row) == "dropped-by-operator"]
            assert len(set(dropped)) == len(dropped) == summary["outcomes"]["dropped-by-operator"] > 0, summary["outcomes"]
            assert {host_of(url) for url in dropped} == {key} and set(waiting["queue"]) <= set(dropped)
            assert all(row[1] == "-6000" for row in log_of(crawl) if row[3] in dropped)
            fetched = crawl.fetched()
            assert not set(dropped) & set(fetched), "none is both"
            pattern = "|".join(re.escape(url) for url in dropped)
            other = Crawl(web, merge(RUDE, IMPATIENT, {"scope": {"exclude": f"^(?:{pattern})$"}}))
            assert sorted(other.fetched) == fetched, "as if those URLs were not of the crawl"
            check_silence(web, [key], since, until)


def test_hold_survives_a_kill():
    """A hold is in DIR/state/held before it is confirmed: it holds after kill -9 and --resume."""
    with Web(*WEB) as web:
        with Running(web, POLITE) as crawl:
            key = hold_one(crawl, lambda key: order(crawl, "hold", host=key))
            since = time.monotonic_ns()
            crawl.process.send_signal(signal.SIGKILL)
            crawl.process.communicate()
            now_ns = time.monotonic_ns()
            killed = f"{now_ns}:{now_ns - time.time_ns() + covered_us(crawl.directory) * 1000}"
        with Resumed(crawl) as again:
            wait_until(lambda: again.crawl()["hosts_held"] == 1, "the host to be held again")
            wait_for_others(again, key)
            assert again.ctl("stop").strip() == '{"phase": "stopping"}'
            again.process.communicate(timeout=60)
            assert again.process.returncode == 11, "stopped, and not complete"
        with Resumed(again) as third:
            assert top(third)["held"]["hosts"] == [key]
            until = time.monotonic_ns()
            third.ctl("release", key)
            assert third.finish()["end"] == "complete"
            assert third.fetched() == sorted(web.truth())
        check_silence(web, [key], since, until)
        text, violations = web.audit(*AUDIT, f"--killed={killed}")
        assert violations == 0, text


def test_domain():
    """All hosts of a domain, those found later, too."""
    with Web(*WEB) as web, Running(web, merge(POLITE, TWO_LOOPS)) as crawl:
        key = hold_one(crawl, lambda key: order(crawl, "hold", domain=domain_of(key)))
        domain, since = domain_of(key), time.monotonic_ns()
        assert crawl.ask("POST", f"/api/v1/release?host={quote(key, safe='')}")[0] == 404, "the domain holds it"
        of_domain = [row["key"] for row in top(crawl)["hosts"]
                     if row["key"].split("/")[2].split(":")[0].endswith(domain)]
        assert key in of_domain, (domain, of_domain)
        wait_until(lambda: crawl.crawl()["diagnosis"].startswith("empty") and "held" in crawl.crawl()["diagnosis"], "the rest", 200)
        until = time.monotonic_ns()
        crawl.ctl("release", domain)
        assert crawl.finish()["end"] == "complete"
        assert crawl.fetched() == sorted(web.truth())
        events = (crawl.directory / "events.log").read_text()
        assert "hold?domain=" + domain.replace(".", "%2E") + "\t200" in events, events
        check_silence(web, of_domain, since, until)


def test_bad_file():
    """A file that cannot be read is no reason to visit hosts that may be held."""
    with Web(*WEB) as web:
        with Running(web, POLITE) as crawl:
            wait_until(lambda: long_queues(crawl), "a queue")
            crawl.ctl("stop")
            crawl.process.communicate(timeout=60)
        (crawl.directory / "state" / "held").write_text("# by hand\n\nhost nonsense\n")
        done = subprocess.run([BUILD / "lycosa", "crawl", "--resume", crawl.directory], capture_output=True, text=True, timeout=60)
        assert done.returncode != 0 and "state/held, line 3" in done.stderr, done


if __name__ == "__main__":
    main([test_looking, test_hold_and_release, test_drop, test_hold_survives_a_kill, test_domain, test_bad_file])
