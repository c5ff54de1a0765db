#!/usr/bin/env python3
"""The console of a running crawl: what it tells agrees with the crawl, orders do what they say, strangers are refused, and
bad clients do not hold up the crawl."""
import http.client
import json
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from simulated import BUILD, IMPATIENT, RUDE, Web, main, merge, tuning_text, wait_until  # noqa: E402

POLITE = {"politeness": {"host-ratio": "1", "address-ratio": "1", "burst": "200ms", "host-min-idle": "50ms",
                         "address-min-idle": "20ms"}}
AUDIT = ["--ratio", "1", "--ip-ratio", "1", "--burst-ms", "200", "--min-idle-ms", "50", "--ip-min-idle-ms", "20"]
STOP_WITHIN_S = 1
skipped = []  # what cannot be tested here, and why
ORDER_TYPE = "text/plain;charset=utf-8"


class Running:
    """A crawl with a dashboard."""

    def __init__(self, web, tuning, *arguments, seeds=None, resumes=None, env=None):
        self.directory = resumes or web.directory / f"running-{random.randrange(1 << 30)}"
        path = web.directory / "running.ini"
        path.write_text(tuning_text(merge({"scope": {"mode": "any"}, "net": {"dns-servers": web.dns},
                                           "control": {"listen": "127.0.0.1:0"}}, IMPATIENT, tuning)))
        what = ["--resume", resumes] if resumes else ["-o", self.directory, seeds or web.seeds()]
        (self.directory / "control.json").unlink(missing_ok=True)  # of a process that was killed
        self.process = subprocess.Popen([BUILD / "lycosa", "crawl", "-c", path, *arguments, *what],
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)
        wait_until(lambda: (self.directory / "control.json").exists() and self.info() or self.process.poll() is not None, "the console to open")
        info = self.info()
        self.token = info["token"]
        self.port = int(info["url"].split(":")[2].split("/")[0])

    def info(self):
        try:
            return json.loads((self.directory / "control.json").read_text())
        except (FileNotFoundError, ValueError):
            return None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()

    def ask(self, method, path, headers=None, body=None, token=True):
        """By TCP, as a browser does: status, headers, text."""
        client = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        fields = {"Authorization": f"Bearer {self.token}"} if token else {}
        if method != "GET":
            fields["Content-Type"] = ORDER_TYPE
        fields.update(headers or {})
        client.request(method, path, body, {k: v for k, v in fields.items() if v is not None})
        reply = client.getresponse()
        text = reply.read().decode()
        client.close()
        return reply.status, dict(reply.headers), text

    def crawl(self):
        status, _, text = self.ask("GET", "/api/v1/crawl")
        assert status == 200, text
        return json.loads(text)

    def ctl(self, *arguments, code=0, **process):
        done = subprocess.run([BUILD / "lycosa", "ctl", self.directory, *arguments], capture_output=True, text=True,
                              timeout=60, **process)
        assert done.returncode == code, (arguments, done)
        return done.stdout + done.stderr

    def finish(self):
        out, errors = self.process.communicate(timeout=300)
        assert self.process.returncode == 0, (self.process.returncode, out, errors)
        return json.loads((self.directory / "summary.json").read_text())

    def fetched(self):
        rows = [line.split() for line in (self.directory / "crawl.log").read_text().splitlines()]
        return sorted(row[3] for row in rows if int(row[1]) > 0)


def test_pause_and_resume():
    """No request comes while it is paused, and the resumed crawl is exact and polite."""
    with Web("--hosts", "40", "--pages", "30", "--seed", "5", "--crawl-delay-ms", "200") as web:
        with Running(web, merge(POLITE, {"crawl": {"max-time": "10m", "stop-within": f"{STOP_WITHIN_S}s"}})) as crawl:
            wait_until(lambda: crawl.crawl()["pages"] > 100, "pages")
            assert json.loads(crawl.ctl("pause"))["phase"] == "paused"
            paused = time.monotonic_ns()
            assert "paused already" in crawl.ctl("pause", code=1)
            wait_until(lambda: crawl.ask("GET", "/readyz")[0] == 503, "the pause")
            assert crawl.ask("GET", "/healthz")[0] == 200
            last = None
            while last != (last := crawl.crawl()["requests"]):  # what was in flight has ended
                time.sleep(1.2)
            ran = crawl.crawl()["running_seconds"]
            time.sleep(3)
            now = crawl.crawl()
            assert now["requests"] == last, (now["requests"], last)
            assert now["phase"] == "paused" and now["diagnosis"].startswith("paused"), now["diagnosis"]
            assert now["running_seconds"] - ran < 1, "the clock of a paused crawl stands still"
            resumed = time.monotonic_ns()
            assert json.loads(crawl.ctl("resume"))["phase"] == "running"
            assert "not paused" in crawl.ctl("resume", code=1)
            summary = crawl.finish()
            assert summary["end"] == "complete", summary["end"]
            assert summary["running_seconds"] < summary["seconds"] - 3, summary
            assert summary["fetch_us"]["max"] < 600e6 and summary["first_byte_us"]["max"] < 600e6, summary["fetch_us"]
            assert crawl.fetched() == sorted(web.truth())
        late = [(at - paused, url) for at, url in web.requests() if paused + STOP_WITHIN_S * 1e9 < at < resumed]
        assert resumed - paused > (STOP_WITHIN_S + 2) * 1e9 and not late, late
        text, violations = web.audit(*AUDIT)
        assert violations == 0, text


def check_rate(crawl, rate):
    """From the third second after an order on, by the crawl's own account: no more than the cap, and not much less."""
    begun_ms = time.time() * 1000

    def seen():
        samples = json.loads(crawl.ask("GET", "/api/v1/samples")[2])["samples"]
        return [row for row in zip(samples["wall_ms"], samples["bytes_received"]) if row[0] > begun_ms + 3000]
    wait_until(lambda: len(seen()) > 5, "samples")
    rows = seen()
    measured = (rows[-1][1] - rows[0][1]) / (rows[-1][0] - rows[0][0]) * 1000
    print(f"     {measured:.0f} bytes/s with a cap of {rate:.0f}")
    assert 0.3 * rate <= measured <= 1.1 * rate, (measured, rate)  # the machine may be too busy for all of it


def test_tuning():
    """A live key takes effect, a fixed one is named as fixed, a wrong one with the nearest."""
    with Web("--hosts", "20", "--pages", "400", "--plain") as web:
        with Running(web, merge(RUDE, {"net": {"bandwidth": "100KB"}})) as crawl:
            answer = json.loads(crawl.ctl("set", "net.bandwidth=2MB", "crawl.threads=7"))
            assert answer == {"net.bandwidth": "set", "crawl.threads": "fixed"}, answer
            wait_until(lambda: "bandwidth = 2MB\n" in crawl.ctl("tuning"), "the key to be set")
            assert "threads = 1\n" in crawl.ctl("tuning")
            check_rate(crawl, 2e6)
            crawl.ctl("set", "net.bandwidth=500KB")
            check_rate(crawl, 5e5)
            assert json.loads(crawl.ctl("set", "net.bandwidth=500KB")) == {"net.bandwidth": "unchanged"}
            assert "nearest is bandwidth" in crawl.ctl("set", "net.bandwith=1MB", code=1)
            assert "SECTION.KEY=VALUE" in crawl.ctl("set", "bandwidth", code=2)
            assert json.loads(crawl.ctl("set", input="[net]\nbandwidth = 0\n")) == {"net.bandwidth": "set"}
            assert crawl.ctl("stop").strip() == '{"phase": "stopping"}'
            crawl.process.communicate(timeout=60)
            assert crawl.process.returncode == 11, crawl.process.returncode
        assert not (crawl.directory / "control.sock").exists() and not (crawl.directory / "control.json").exists()
        assert "no crawl runs there" in crawl.ctl("status", code=1)


def test_strangers_are_refused():
    with Web("--hosts", "5", "--pages", "5") as web:
        with Running(web, merge(RUDE, {"net": {"bandwidth": "1KB"}})) as crawl:
            own = f"127.0.0.1:{crawl.port}"
            for status, method, path, headers, token in [
                    (200, "GET", "/", {}, False), (200, "GET", "/healthz", {}, False), (200, "GET", "/metrics", {}, False),
                    (401, "GET", "/api/v1/crawl", {}, False), (200, "GET", "/api/v1/crawl", {}, True),
                    (401, "GET", "/api/v1/crawl", {"Authorization": "Bearer x"}, False),
                    (403, "GET", "/", {"Host": "evil.example"}, True), (403, "GET", "/", {"Host": f"evil.example:{crawl.port}"}, True),
                    (200, "GET", "/", {"Host": f"localhost:{crawl.port}"}, True),
                    (403, "GET", "/metrics", {"Origin": "http://evil.example"}, True),
                    (200, "GET", "/metrics", {"Origin": f"http://{own}"}, True),
                    (403, "POST", "/api/v1/pause", {"Sec-Fetch-Site": "cross-site"}, True),
                    (401, "POST", "/api/v1/pause", {}, False), (415, "POST", "/api/v1/pause", {"Content-Type": "text/plain"}, True),
                    (415, "POST", "/api/v1/stop", {"Content-Type": None}, True), (405, "GET", "/api/v1/pause", {}, True),
                    (405, "DELETE", "/", {}, True), (404, "GET", "/api/v1/nothing", {}, True), (404, "GET", "/../etc/passwd", {}, True),
                    (400, "GET", "/api/v1/samples?stop=1", {}, True), (400, "GET", "/api/v1/samples?step=7", {}, True),
                    (400, "GET", "/api/v1/samples?step=-1", {}, True), (200, "GET", "/api/v1/samples?step=10&after=0", {}, True)]:
                got, fields, text = crawl.ask(method, path, headers, token=token)
                assert got == status, (got, status, method, path, headers, text[:200])
                assert not [name for name in fields if name.lower().startswith("access-control")], fields
                assert fields["X-Content-Type-Options"] == "nosniff" and "default-src 'none'" in fields["Content-Security-Policy"]
                assert status == 200 or "error" in json.loads(text), text
            assert crawl.crawl()["phase"] == "running"
            for path in ("/x%0A2026-01-01T00:00:00Z%09token%09POST%20/api/v1/stop%09200%0A", "/api/v1/stop"):
                assert crawl.ask("POST", path, {"Host": "evil.example"}, token=False)[0] == 403
            log = crawl.directory / "events.log"
            assert not log.exists() or not log.read_text(), "those who may give no orders write no lines"
            assert crawl.ask("PATCH", "/api/v1/tuning", body="x" * (1 << 20 | 1))[0] == 413
            assert (crawl.directory / "control.sock").stat().st_mode & 0o777 == 0o600
            assert (crawl.directory / "control.json").stat().st_mode & 0o777 == 0o600


def test_listen_is_checked():
    with Web("--hosts", "2", "--pages", "2") as web, socket.create_server(("127.0.0.1", 0)) as taken:
        for listen, words in [("0.0.0.0:0", "control.token-file"), ("nowhere", "ADDRESS:PORT"), ("127.0.0.1:99999", "ADDRESS:PORT"),
                              (f"127.0.0.1:{taken.getsockname()[1]}", "in use")]:
            path = web.directory / "bad.ini"
            path.write_text(f"[control]\nlisten = {listen}\n")
            done = subprocess.run([BUILD / "lycosa", "crawl", "-c", path, "-o", web.directory / "bad", web.seeds()],
                                  capture_output=True, text=True, timeout=60)
            assert done.returncode == 4 and words in done.stderr, done
            assert not (web.directory / "bad").exists()


def series(text):
    return {line.rsplit(" ", 1)[0]: float(line.rsplit(" ", 1)[1]) for line in text.splitlines() if line and line[0] != "#"}


def test_metrics():
    """Clean by promtool, bounded, and what Prometheus scrapes is what the crawl has counted."""
    with Web("--hosts", "20", "--pages", "20") as web:
        with Running(web, merge(POLITE, {"net": {"bandwidth": "300KB"}})) as crawl:
            wait_until(lambda: crawl.crawl()["pages"] > 5, "pages")
            crawl.ctl("pause")
            time.sleep(2.5)
            text = crawl.ctl("metrics")
            found = series(text)
            assert found["lycosa_pages_total"] == crawl.crawl()["pages"]
            assert found['lycosa_phase{phase="paused"}'] == 1
            assert found["lycosa_fetch_duration_seconds_count"] == found['lycosa_fetch_duration_seconds_bucket{le="+Inf"}'] > 0
            assert len(found) <= 600, len(found)
            agree(found, crawl.crawl())
            if not shutil.which("promtool") or not shutil.which("prometheus"):
                skipped.append("promtool and the scrape: no prometheus (tools/setup --all)")
                return
            checked = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True)
            assert checked.returncode == 0 and not checked.stdout + checked.stderr, checked
            scrape(crawl, found)


def agree(found, now):
    """Metrics of the paused crawl, and what it says otherwise."""
    def total(name):
        return sum(value for series, value in found.items() if series.split("{")[0] == name)

    assert total("lycosa_responses_total") == now["pages"] and found['lycosa_responses_total{code="200"}'] > 0
    assert sum(n for n in now["codes"].values()) == sum(n["pages"] for n in now["types"].values()) == sum(n["pages"] for n in now["domains"].values()) == now["pages"]
    assert now["types"]["text/html"]["bytes"] > 1000 and now["written"]["store"] > 0 and now["synced_ago_seconds"] >= 0
    assert found["lycosa_rest_duration_seconds_count"] > 0 and found["lycosa_rest_duration_seconds_sum"] > 0
    assert found['lycosa_dns_lookups_total{result="found"}'] == found["lycosa_dns_duration_seconds_count"] > 0
    assert found['lycosa_links_total{fate="new"}'] == now["urls_in"]
    assert total("lycosa_lost_races_total") == now["lost_races"]
    assert found['lycosa_written_bytes_total{file="store"}'] > 0 and found['lycosa_written_bytes_total{file="log"}'] > 0
    assert abs(found["lycosa_checkpoint_timestamp_seconds"] - time.time()) < 60
    used, limit = ({s.split('"')[1]: v for s, v in found.items() if s.startswith(f"lycosa_memory_{kind}_bytes")} for kind in ("used", "limit"))
    assert used.keys() == limit.keys() and len(used) == 6 and all(used[name] <= limit[name] > 0 for name in used), (used, limit)


def scrape(crawl, found):
    with tempfile.TemporaryDirectory() as folder:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        config = Path(folder) / "prometheus.yml"
        config.write_text("global: {scrape_interval: 1s}\nscrape_configs:\n- job_name: lycosa\n  static_configs:\n"
                          f"  - targets: ['127.0.0.1:{crawl.port}']\n")
        server = subprocess.Popen(["prometheus", f"--config.file={config}", f"--storage.tsdb.path={folder}/data",
                                   f"--web.listen-address=127.0.0.1:{port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

        def ask(query):
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v1/query?query={query}", timeout=10) as reply:
                    result = json.load(reply)["data"]["result"]
                    return float(result[0]["value"][1]) if result else None
            except OSError:
                return None
        try:
            wait_until(lambda: ask("up") == 1, "a scrape")
            wait_until(lambda: ask("lycosa_pages_total") == found["lycosa_pages_total"], "the counter")
        finally:
            server.kill()
            server.wait()


if __name__ == "__main__":
    main([test_pause_and_resume, test_tuning, test_strangers_are_refused, test_listen_is_checked,
          test_metrics])
    if skipped:
        print("skipped " + "; ".join(skipped))
        sys.exit(77)
