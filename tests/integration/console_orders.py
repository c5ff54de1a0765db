#!/usr/bin/env python3
"""Orders that change what is crawled, and questions about it: seeds added late, checkpoints, where a URL is, events from
where a reader left off, the program that is run at the end."""
import http.client
import http.server
import json
import os
import random
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
sys.path.insert(0, str(Path(__file__).resolve().parent))
from console import AUDIT, POLITE, Running  # noqa: E402
from simulated import RUDE, SMALL, Pages, Web, main, merge, wait_until  # noqa: E402

HOSTS = {"scope": {"mode": "hosts"}}
LOOPS = {"crawl": {"threads": str(min(2, os.cpu_count()))}}
ISLANDS = ["--external", "0"]  # hosts lead to few others: without its seed a host is out of scope


def split_seeds(web, first):
    """The truth is that of all seeds; the crawl begins with some."""
    seeds = web.seeds().read_text().split()
    path = web.directory / "first.txt"
    path.write_text("\n".join(seeds[:first]))  # no newline at the end
    return path, seeds[first:]


def add(crawl, text, query=""):
    status, _, reply = crawl.ask("POST", "/api/v1/seeds" + query, body=text)
    return status, json.loads(reply)


def taken(told):
    """Seeds that are crawled. As soon as their hosts are in scope, a page may lead to one before its turn has come."""
    return told["accepted"] + told["known"]


def test_late_seeds():
    """They are crawled as if they had been there from the start; what is no seed is told."""
    with Web("--hosts", "30", "--pages", "20", "--crawl-delay-ms", "150", *ISLANDS) as web:
        first, late = split_seeds(web, 5)
        with Running(web, merge(POLITE, HOSTS, SMALL, LOOPS, {"scope": {"exclude": "/never/"}}), seeds=first) as crawl:
            text = "\n".join(["# a remark", "", *late[:10], "http://no where/", late[0], late[0] + "never/x", "http://8.8.8.8/", "\xff\x01"])
            status, told = add(crawl, text.encode("latin-1"), "?lines=1")
            assert status == 200, told
            assert [taken(told), *(told[key] for key in ("out_of_scope", "bad", "lost"))] == [11, 1, 3, 0] and told["known"], told
            count, accepted = told["accepted"], [late[row["line"] - 3] for row in told["lines"] if row["fate"] == "accepted"]
            assert count == len(accepted) > 0, told
            assert told["rules"] == {"exclude": 1} and told["epoch"] > 0, told
            lines = {row["line"]: row for row in told["lines"]}
            assert sorted(lines) == list(range(3, 18)), sorted(lines)
            assert lines[3]["fate"] in ("accepted", "known") and "http://no where/" in lines[13]["why"], lines
            assert lines[14]["fate"] == "known" and lines[15] == {"line": 15, "fate": "out_of_scope", "rule": "exclude"}, lines
            assert "contact-url" in lines[16]["why"] and lines[17]["fate"] == "bad", lines
            told = json.loads(crawl.ctl("seeds", *late[10:13]))
            count += told["accepted"]
            assert taken(told) == 3, told
            rest = web.directory / "rest.txt"
            rest.write_text("\n".join(late[13:]))
            told = json.loads(crawl.ctl("seeds", rest, "-", input=late[0]))
            count += told["accepted"]
            assert taken(told) == len(late[13:]) + 1, told
            for query, body, code in [("", "", 400), ("", "# only\n\n", 400), ("?what=1", "x", 400), ("", "x" * (1 << 20 | 1), 413)]:
                assert add(crawl, body, query)[0] == code, (query, body[:20])
            assert add(crawl, "\n" * (1 << 20))[0] == 400
            assert add(crawl, (late[0] + "\n") * 40000)[1]["known"] == 40000
            assert crawl.crawl()["seeds"]["added"] == count, (crawl.crawl()["seeds"], count)
            summary = crawl.finish()
            assert summary["end"] == "complete" and crawl.fetched() == sorted(web.truth()), summary["end"]
            sources = {row.split()[3]: row.split()[10] for row in (crawl.directory / "crawl.log").read_text().splitlines()}
            assert all(sources[seed] == seed for seed in accepted), "crawl.log names the seeds"
        text, violations = web.audit(*AUDIT)
        assert violations == 0, text


def test_seeds_at_the_end():
    """Seeds that come when the crawl is complete are refused, or crawled to the last page."""
    rng, fates = random.Random(3), {"refused": 0, "crawled": 0}
    with Web("--hosts", "2", "--pages", "4", *ISLANDS) as web:
        first, late = split_seeds(web, 1)
        truth, lasts = sorted(web.truth()), 0.3
        part = [url for url in truth if not url.startswith(late[0])]
        for attempt in range(40 if os.environ.get("LYCOSA_LONG") == "ON" else 14):
            with Running(web, merge(RUDE, HOSTS, SMALL), seeds=first) as crawl:
                begun = time.monotonic()
                if attempt:
                    time.sleep(rng.uniform(0, 1.2 * lasts))
                    try:
                        status, told = add(crawl, late[0])
                        assert status in (200, 409, 503), told
                    except (OSError, http.client.HTTPException):
                        status = 409  # the console is gone
                else:
                    status = 409
                summary = crawl.finish()
                lasts = lasts if attempt else time.monotonic() - begun
                assert summary["end"] == "complete", summary["end"]
                assert crawl.fetched() == (truth if status == 200 else part), (attempt, status, crawl.fetched())
                fates["crawled" if status == 200 else "refused"] += 1
    print("    ", fates)


def test_kill_after_accepted():
    """What was answered as accepted survives kill -9, with its place in the scope."""
    with Web("--hosts", "16", "--pages", "12", "--crawl-delay-ms", "100", *ISLANDS) as web:
        first, late = split_seeds(web, 4)
        tuning = merge(POLITE, HOSTS, SMALL)
        with Running(web, tuning, seeds=first) as crawl:
            for part in (late[:6], late[6:]):
                assert taken(add(crawl, "\n".join(part))[1]) == len(part)
            crawl.process.kill()
            crawl.process.wait()
        with open(crawl.directory / "seeds-added.txt", "a") as torn:
            torn.write("http://127.0.0.1:1/to")  # a write that was cut off
        with Running(web, tuning, resumes=crawl.directory) as again:
            assert add(again, late[0])[1]["known"] == 1
            assert again.finish()["end"] == "complete"
            assert again.fetched() == sorted(web.truth())
        text, violations = web.audit(*AUDIT, "--kills", "1")
        assert violations == 0, text


def test_seeds_for_the_next_process():
    """A crawl that stops takes no more seeds; those that it had taken are there when it is resumed."""
    with Web("--hosts", "8", "--pages", "6", "--rtt-ms", "100", *ISLANDS) as web:
        first, late = split_seeds(web, 1)
        tuning = merge(POLITE, HOSTS, SMALL)
        with Running(web, tuning, seeds=first) as crawl:
            crawl.ctl("pause")
            assert taken(add(crawl, "\n".join(late))[1]) == len(late)
            crawl.ctl("stop")
            try:
                status, told = add(crawl, late[0])
                assert status in (200, 409), told  # it may not have heard of the stop yet
            except (OSError, http.client.HTTPException):
                pass
            crawl.process.communicate(timeout=60)
            assert crawl.process.returncode == 11
        with Running(web, tuning, resumes=crawl.directory) as again:
            assert again.finish()["end"] == "complete"
            assert again.fetched() == sorted(web.truth())


def test_checkpoint():
    """Commits come every minute only: what was done before a checkpoint is not fetched again after kill -9, the rest is."""
    page = lambda *links: (200, {"Content-Type": "text/html"}, "".join(f'<a href="{link}">x</a>' for link in links).encode())
    pages = {"/": page("/0"), **{f"/{i}": page(f"/{i + 1}" if i < 11 else "/") for i in range(12)}}
    slow = merge(RUDE, {"politeness": {"burst": "1ms", "host-min-idle": "250ms"},
                        "state": {"commit": "60s", "sync": "60s", "lag-max": "1h"}})
    with Pages({"127.0.0.1": pages}) as web:
        with Running(web, merge(SMALL, slow)) as crawl:
            wait_until(lambda: len(web.asked) > 4, "pages")
            crawl.ctl("pause")
            wait_until(lambda: crawl.crawl()["phase"] == "paused" and crawl.crawl()["urls_in"] == crawl.crawl()["pages"] + 1, "the pause")
            told = json.loads(crawl.ctl("checkpoint"))
            assert told["synced"] and told["epoch"] > 0 and told["seconds"] < 30, told
            assert crawl.crawl()["checkpoint"]["state"] == "done" and crawl.crawl()["epoch"]["synced"] >= told["epoch"]
            before = list(web.asked)
            crawl.ctl("resume")
            wait_until(lambda: len(web.asked) > len(before) + 2, "more pages")
            crawl.process.kill()
            crawl.process.wait()
        after = list(web.asked)
        with Running(web, merge(SMALL, slow), resumes=crawl.directory) as again:
            assert again.finish()["end"] == "complete"
            assert again.fetched() == sorted(web.url("127.0.0.1", path) for path in pages), again.fetched()
        asked = [path for _, path in web.asked[len(after):] if path != "/robots.txt"]
        old = {path for _, path in before if path != "/robots.txt"}
        assert not old & set(asked), (old, asked)
        assert {path for _, path in after if path != "/robots.txt"} - old <= set(asked), "the test saw nothing that was not committed"
        with Running(web, merge(SMALL, slow, {"state": {"journal": "no"}})) as crawl:
            assert "state.journal" in crawl.ctl("checkpoint", code=1)
            crawl.ctl("stop")
            crawl.process.communicate(timeout=60)


class Held:
    """A site whose /slow is answered only when it is let go."""

    def __enter__(self):
        self.go = threading.Event()
        self.asked = threading.Event()
        held = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                if self.path == "/slow":
                    held.asked.set()
                    held.go.wait(60)
                body = {"/": b'<a href="/slow">x</a><a href="/next">y</a>'}.get(self.path, b"" if self.path == "/robots.txt" else b"z")
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

            def handle(self):
                try:
                    super().handle()
                except ConnectionError:
                    pass  # the crawler has closed it

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.root = f"http://127.0.0.1:{self.server.server_address[1]}"
        return self

    def __exit__(self, *_):
        self.go.set()
        self.server.shutdown()
        self.server.server_close()


def test_why():
    with Web("--hosts", "1", "--pages", "1") as web, Held() as site:
        seed = web.directory / "held.txt"
        seed.write_text(site.root + "/\n")
        tuning = merge(RUDE, HOSTS, SMALL, LOOPS, {"scope": {"exclude": "/never/"}, "net": {"first-byte-timeout": "60s"}})
        with Running(web, tuning, seeds=seed) as crawl:
            def ask(url):
                return json.loads(crawl.ctl("why", url))
            site.asked.wait(60)
            told = ask(site.root + "/slow#part")
            assert told == {"url": site.root + "/slow", "state": "in flight"}, told
            told = ask(site.root + "/next")
            assert told["state"] == "waiting" and told["host"]["state"] == "visited" and told["host"]["queued"] == 2, told
            assert told["host"]["place"] == 1 and told["host"]["why"] == "it is being visited", told
            told = ask(site.root + "/")
            assert told["state"] == "done" and told["log"].split()[1:4] == ["200", "42", site.root + "/"], told
            told = ask(site.root + "/other?a=1&b=%20+2")
            assert told["state"] == "unknown" and told["in_scope"] and told["url"].endswith("/other?a=1&b=%20+2"), told
            told = ask(site.root + "/never/x")
            assert (told["state"], told["in_scope"], told["rule"], told["item"]) == ("unknown", False, "exclude", "/never/"), told
            assert ask("http://elsewhere.example/")["rule"] == "hops-off"
            for bad in ("nonsense", "", "ftp://x/"):
                assert "no URL" in crawl.ctl("why", bad, code=1)
            assert crawl.ask("GET", "/api/v1/why")[0] == 400
            codes = []  # one at a time, and nobody waits for ever
            askers = [threading.Thread(target=lambda: codes.append(crawl.ask("GET", f"/api/v1/why?url={site.root}/next")[0])) for _ in range(8)]
            for asker in askers:
                asker.start()
            for asker in askers:
                asker.join()
            assert set(codes) <= {200, 503} and 200 in codes, codes
            assert crawl.crawl()["phase"] == "running"
            site.go.set()
            assert crawl.finish()["end"] == "complete"


class Stream:
    """Events, as a browser reads them."""

    def __init__(self, crawl, last=None):
        self.client = http.client.HTTPConnection("127.0.0.1", crawl.port, timeout=30)
        fields = {"Authorization": f"Bearer {crawl.token}"}
        if last is not None:
            fields["Last-Event-ID"] = str(last)
        self.client.request("GET", "/api/v1/events", headers=fields)
        self.reply = self.client.getresponse()
        assert self.reply.status == 200, self.reply.status

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.client.close()

    def next(self):
        """(event, id, data); a comment is (None, None, None)."""
        fields = {}
        while (line := self.reply.readline()) != b"\n":
            assert line, "the stream has ended"
            name, _, value = line.decode().rstrip("\n").partition(": ")
            fields[name] = value
        return fields.get("event"), fields.get("id"), json.loads(fields["data"]) if "data" in fields else None

    def until(self, event):
        while (found := self.next())[0] != event:
            pass
        return found


def test_events():
    """A reader that comes back gets what it has missed; phases and notes are told."""
    with Web("--hosts", "5", "--pages", "40") as web:
        with Running(web, merge(RUDE, SMALL, {"net": {"bandwidth": "2KB"}})) as crawl:
            with Stream(crawl) as stream:
                assert stream.next() == ("phase", None, {"phase": "running"})
                ids = [int(stream.until("sample")[1]) for _ in range(2)]
                assert ids[1] == ids[0] + 1, ids
                crawl.ctl("pause")
                assert stream.until("phase")[2] == {"phase": "paused"}
                crawl.ctl("resume")
                assert stream.until("phase")[2] == {"phase": "running"}
                crawl.ctl("reload")
                assert "tuning reloaded" in stream.until("note")[2]["note"]
                if os.environ.get("LYCOSA_LONG") == "ON":
                    stream.until(None)
            time.sleep(3)
            newest = len(json.loads(crawl.ask("GET", "/api/v1/samples")[2])["samples"]["pages"])
            with Stream(crawl, ids[1]) as stream:
                numbers = [int(stream.until("sample")[1]) for _ in range(newest - ids[1] + 2)]
                assert numbers == list(range(ids[1] + 1, newest + 3)), (ids, numbers, newest)
            with Stream(crawl, 0) as stream:
                assert int(stream.until("sample")[1]) == 1
            for bad in ("x", "-1", "1x"):
                assert crawl.ask("GET", "/api/v1/events", {"Last-Event-ID": bad})[0] == 400
            with Stream(crawl) as stream:
                crawl.ctl("stop")
                assert stream.until("phase")[2] == {"phase": "running"}
                assert stream.until("phase")[2]["phase"] in ("stopping", "ending")
            crawl.process.communicate(timeout=60)


def test_history_survives():
    """The charts of a resumed crawl show what was before, and the time in which nothing ran as such."""
    with Web("--hosts", "4", "--pages", "10", "--rtt-ms", "50") as web:
        with Running(web, merge(RUDE, SMALL, {"net": {"bandwidth": "2KB"}})) as crawl:
            wait_until(lambda: crawl.crawl()["pages"] > 0, "a page")
            crawl.ctl("stop")
            crawl.process.communicate(timeout=60)
        path = crawl.directory / "progress.tsv"
        header, *lines = path.read_text().splitlines()
        last = dict(zip(header.split("\t"), map(int, lines[-1].split("\t"))))
        hours = []
        for ago in range(7200, 3599, -10):  # from two hours ago to one, a request each ten seconds
            row = {**last, "wall_ms": last["wall_ms"] - ago * 1000, "requests": (7200 - ago) // 10}
            hours.append("\t".join(str(row[name]) for name in header.split("\t")))
        path.write_text("\n".join([header, *hours, ""]))
        with Running(web, merge(RUDE, SMALL), resumes=crawl.directory) as again:
            told = json.loads(again.ask("GET", "/api/v1/samples?step=60")[2])
            (first, end), = told["gaps"]
            assert (told["first"], first) == (1, 62) and 119 <= end <= 122, told["gaps"]
            assert told["samples"]["requests"][:61] == [6 * i for i in range(61)], told["samples"]["requests"]
            assert set(told["samples"]["requests"][61:end]) == {360}
            walls = told["samples"]["wall_ms"]
            assert all(b - a == 60000 for a, b in zip(walls[:end], walls[1:end])), walls
            assert json.loads(again.ask("GET", "/api/v1/samples?step=1")[2])["gaps"] == []
            assert again.finish()["end"] == "complete"


def test_on_end():
    """Its arguments are the directory and the reason, whatever they look like; what it does is no matter of the crawl."""
    with Web("--hosts", "2", "--pages", "2") as web:
        script = web.directory / "at-end"
        script.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" "$LYCOSA_DIRECTORY" "$LYCOSA_END" > {web.directory}/told\nexit 7\n')
        script.chmod(0o755)
        with Running(web, merge(RUDE, SMALL, {"control": {"on-end": f"{script} one  two", "listen": "127.0.0.1:0"}})) as crawl:
            out, errors = crawl.process.communicate(timeout=120)
            assert crawl.process.returncode == 0 and "ended with 7" in errors, (out, errors)
            told = (web.directory / "told").read_text().splitlines()
            assert told == ["one", "two", str(crawl.directory), "complete", str(crawl.directory), "complete"], told
        with Running(web, merge(RUDE, SMALL, {"control": {"on-end": "/nowhere/$(touch x)", "listen": "127.0.0.1:0"}})) as crawl:
            out, errors = crawl.process.communicate(timeout=120)
            assert crawl.process.returncode == 0 and "on-end: /nowhere/$(touch: No such file" in errors, (out, errors)


if __name__ == "__main__":
    main([test_late_seeds, test_seeds_at_the_end, test_kill_after_accepted, test_seeds_for_the_next_process, test_checkpoint,
          test_why, test_events, test_history_survives, test_on_end])
