"""A simulated web for whole-crawl tests: starts websim, crawls it with lycosa, compares with the truth."""
import errno
import http.server
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

BUILD = Path(os.environ["BUILD_DIR"])
# No rests at all: for tests of completeness, not of manners.
RUDE = {"politeness": {"host-ratio": "1e9", "address-ratio": "1e9", "burst": "1h", "host-min-idle": "0s",
                       "address-min-idle": "0s", "connections-per-address": "16"}}
# Short waits, so that hosts which ask for patience do not make a test long.
IMPATIENT = {"robots": {"retry": "1s"}, "retry": {"wait": "300ms", "times": "20", "host-failures": "4"},
             "net": {"dns-denial": "300ms"}}
# A start must cost little where hundreds are started: the default sieve is 256 MiB, all of which is cleared at the start.
SMALL = {"memory": {"sieve": "4MiB"}}
BUNDLE = Path("/etc/ssl/certs/ca-certificates.crt")


def merge(*parts):
    merged = {}
    for part in parts:
        for section, keys in part.items():
            merged.setdefault(section, {}).update(keys)
    return merged


def tuning_text(tuning):
    return "".join(f"[{section}]\n" + "".join(f"{key} = {value}\n" for key, value in keys.items())
                   for section, keys in tuning.items())


def one_certificate(directory):
    """A file with one authority instead of the system's hundreds, which take longer to read than a small web to crawl."""
    path, end = directory / "one.pem", "-----END CERTIFICATE-----\n"
    path.write_text(BUNDLE.read_text().split(end)[0] + end)
    return path


def base_tuning(web):
    """What the crawls of all tests have in common. Without robots.txt the WARC files hold what crawl.log lists."""
    return merge(SMALL, {"store": {"robots": "no"}, "scope": {"mode": "any"},
                         "net": {"dns-servers": web.dns, "tls-ca-file": one_certificate(web.directory)}})


class Web:
    """`with Web("--hosts", "10") as web:` serves until the end of the block."""

    def __init__(self, *options, serve=()):
        self.options = list(options)
        self.serve = list(serve)

    def __enter__(self):
        self.directory = Path(tempfile.mkdtemp(prefix="lycosa-web-"))
        self.journal = self.directory / "journal"
        self.ca = self.directory / "ca.pem"
        command = [BUILD / "websim", "serve", *self.options, "--port", "0", "--tls-port", "0", "--dns-port", "0",
                   "--refuse-port", "0",
                   "--no-pin", "--journal", self.journal, "--ca", self.ca, "--until-eof", *self.serve]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        ports = dict(re.findall(r"(https?|dns|refuse) [\d.]+:(\d+)", line))
        assert ports, f"websim did not start: {line!r}"
        self.dns = f"127.0.0.1:{ports['dns']}"
        self.web = [*self.options, "--port", ports["http"]]
        if "https" in ports:
            self.web += ["--tls-port", ports["https"]]
        if "refuse" in ports:
            self.web += ["--refuse-port", ports["refuse"]]
        return self

    def __exit__(self, *_):
        self.stop()
        shutil.rmtree(self.directory)

    def stop(self):
        if self.process.poll() is None:
            self.process.stdin.close()
            self.process.wait(30)

    def run(self, command, *arguments, web=True, check=True):
        done = subprocess.run([BUILD / "websim", command, *arguments, *(self.web if web else [])],
                              capture_output=True, text=True)
        if check and done.returncode != 0:
            raise AssertionError(f"websim {command} failed: {done.stdout[-3000:]}{done.stderr[-2000:]}")
        return done

    def seeds(self, *arguments):
        path = self.directory / "seeds.txt"
        path.write_text(self.run("seeds", *arguments).stdout)
        return path

    def truth(self, *arguments):
        """{URL: (status, size)} of all that a correct crawl fetches."""
        text = self.run("truth", "--seeds", str(self.directory / "seeds.txt"), "--digest", "none", *arguments).stdout
        rows = (line.split("\t") for line in text.splitlines())
        return {row[0]: (int(row[1]), int(row[2])) for row in rows}

    def requests(self):
        """[(when, URL)] of all that was asked for, by time.monotonic_ns(). Ends the serving: only then the journal is whole."""
        self.stop()
        journal = self.journal.read_bytes()
        head = struct.unpack_from("<Q", journal, 16)[0]  # the layout is that of tools/websim/journal.h
        begun = min(at >> 3 for at, *_ in struct.iter_unpack("<QIHHQ", journal[head:]) if at)
        rows = (line.split("\t") for line in self.run("journal", "dump", str(self.journal), web=False).stdout.splitlines())
        return [(begun + round(float(row[0]) * 1e9), row[5]) for row in rows if row[2] == "request"]

    def audit(self, *arguments):
        """Ends the serving, then judges; the output and the number of violations."""
        self.stop()
        done = self.run("audit", str(self.journal), *arguments, web=False, check=False)
        found = re.search(r"^audit: (\d+) violations", done.stdout, re.M)
        assert found, done.stdout + done.stderr
        assert (done.returncode == 0) == (found.group(1) == "0"), done.stdout
        return done.stdout, int(found.group(1))


class Pages:
    """A hand-made web: {address: {path: (status, headers, body)}}, all on one port of loopback addresses. What is not
    there is a 404. `asked` lists what was asked for: (address, path)."""

    def __init__(self, pages):
        self.pages, self.asked, self.servers = pages, [], []

    def __enter__(self):
        self.directory = Path(tempfile.mkdtemp(prefix="lycosa-pages-"))
        self.dns = "127.0.0.1:1"  # names are not used
        while not self.bind():
            pass
        for server in self.servers:
            server.daemon_threads = True
            threading.Thread(target=server.serve_forever, daemon=True).start()
        return self

    def bind(self):
        """A port that is free on all addresses: another test may have it on one of them."""
        self.port = 0
        try:
            for address in self.pages:
                self.servers.append(http.server.ThreadingHTTPServer((address, self.port), self.handler(address)))
                self.port = self.servers[0].server_address[1]
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
            while self.servers:
                self.servers.pop().server_close()
            return False
        return True

    def __exit__(self, *_):
        for server in self.servers:
            server.shutdown()
            server.server_close()
        shutil.rmtree(self.directory)

    def url(self, address, path="/"):
        return f"http://{address}:{self.port}{path}"

    def seeds(self):
        path = self.directory / "seeds.txt"
        path.write_text("".join(self.url(address) + "\n" for address in self.pages))
        return path

    def handler(self, address):
        web = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                web.asked.append((address, self.path))
                status, headers, body = web.pages[address].get(self.path, (404, {}, b"none"))
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value.replace("PORT", str(web.port)))
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        return Handler


class Crawl:
    """A finished crawl: exit code, summary, fetched URLs by crawl.log. `during(crawl)` is called while it runs."""

    def __init__(self, web, tuning, *arguments, seeds=None, timeout=240, during=None, directory=None,
                 **process):
        self.directory = directory or web.directory / f"crawl-{len(list(web.directory.iterdir()))}"
        self.tuning_path = path = web.directory / "tuning.ini"
        path.write_text(tuning_text(merge(base_tuning(web), tuning)))
        command = [BUILD / "lycosa", "crawl", "-c", path, "-o", self.directory, *arguments, seeds or web.seeds()]
        process = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **process}
        self.process = subprocess.Popen(command, text=True, **process)
        try:
            if during:
                during(self)
            self.stdout, self.stderr = self.process.communicate(timeout=timeout)
        finally:
            self.process.kill()
        self.code = self.process.returncode
        summary = self.directory / "summary.json"
        self.summary = json.loads(summary.read_text()) if summary.exists() else {}
        self.log = [line.split(" ") for line in self.log_lines()]
        self.log = [[field for field in row if field] for row in self.log]
        self.fetched = [row[3] for row in self.log if int(row[1]) > 0]

    def log_lines(self):
        path = self.directory / "crawl.log"
        return path.read_text().splitlines() if path.exists() else []

    def warcs(self):
        return sorted(path for path in (self.directory / "warc").glob("*") if path.suffix != ".cdxj")


def outcome_of(row):
    """The outcome in a row of crawl.log: the first annotation that is no count of tries and no repeat; none means done."""
    said = [word for word in row[11].split(",") if not re.fullmatch(r"-|\d+t|(near-)?duplicate:.*", word)]
    return said[0] if said else "done"


def compare(crawl, truth):
    """Ends the test with a readable difference unless the crawl fetched the truth, each URL once."""
    assert crawl.code == 0, f"exit code {crawl.code}: {crawl.stderr[-2000:]}"
    fetched = set(crawl.fetched)
    missing, extra = sorted(set(truth) - fetched), sorted(fetched - set(truth))
    assert not missing, f"{len(missing)} of {len(truth)} URLs missing, first {missing[:3]}"
    assert not extra, f"{len(extra)} URLs too many, first {extra[:3]}"
    assert len(crawl.fetched) == len(fetched), "a URL was fetched twice"
    wrong = [row for row in crawl.log if int(row[1]) > 0 and int(row[1]) != truth[row[3]][0]]
    assert not wrong, f"{len(wrong)} URLs with another status, first {wrong[:2]}"


def is_sanitized():
    """Whether the programs are those of a sanitizer, which takes memory and time of its own."""
    program = (BUILD / "lycosa").read_bytes()
    return b"__asan_init" in program or b"__tsan_init" in program


def wait_until(condition, what, seconds=60):
    """Until the condition holds: what is waited for is another process."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"{what} did not come about"
        time.sleep(0.01)


def main(tests):
    """Runs the functions named as arguments, or all. One that these programs do not allow is skipped."""
    names = sys.argv[1:]
    unknown = [name for name in names if not hasattr(sys.modules["__main__"], name)]
    assert not unknown, f"no function is called {unknown[0]}"
    chosen = [test for test in tests if not names or test.__name__ in names]
    if not chosen:
        print(f"skipped {names[0]}: it is not for these programs")
        sys.exit(77)
    for test in chosen:
        print(f"{test.__name__} ...", flush=True)
        test()
    print(f"{len(chosen)} ran")
