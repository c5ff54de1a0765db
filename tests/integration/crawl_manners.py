#!/usr/bin/env python3
"""Servers with a will of their own: what they say about visits is understood, however they say it."""
import gzip
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from simulated import BUILD, RUDE, Crawl, main, merge  # noqa: E402

DENY = b"User-agent: *\nDisallow: /denied\n"
PAGE = b'<a href="/denied">no</a><a href="/allowed">yes</a>'


class Server(ThreadingHTTPServer):
    """Answers with `answer(path)`: (status, headers, body); notes what it was asked for, and when."""
    daemon_threads = True

    def __init__(self, address, answer):
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                self.server.asked.append((self.path, time.monotonic()))
                status, headers, body = self.server.answer(self.path)
                self.send_response(status)
                for name, value in {"Content-Type": "text/html", **headers}.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        super().__init__((address, 0), Handler)
        self.answer = answer
        self.asked = []
        self.connections = 0
        self.url = f"http://{address}:{self.server_port}"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def process_request(self, request, client_address):
        self.connections += 1
        super().process_request(request, client_address)

    def paths(self):
        return [path for path, _ in self.asked]

    def moments(self, wanted):
        return [moment for path, moment in self.asked if path == wanted]


class Servers:
    """A few servers, each on an address of its own; stands where Crawl expects a web."""
    dns = "127.0.0.1:1"

    def __init__(self, *answers):
        self.answers = answers

    def __enter__(self):
        self.directory = Path(tempfile.mkdtemp(prefix="lycosa-manners-"))
        self.servers = [Server(f"127.0.1.{i + 1}", answer) for i, answer in enumerate(self.answers)]
        return self

    def __exit__(self, *_):
        for server in self.servers:
            server.shutdown()
            server.server_close()
        shutil.rmtree(self.directory)

    def seeds(self, text=None):
        path = self.directory / "seeds.txt"
        path.write_text(text or self.servers[0].url + "/\n")
        return path

    def crawl(self, tuning, *arguments, code=0, **options):
        base = {"scope": {"mode": "hosts"}, "robots": {"retry": "1s"}, "retry": {"wait": "100ms"}}
        crawl = Crawl(self, merge(RUDE, base, tuning), *arguments, timeout=60, **options)
        assert code is None or crawl.code == code, crawl.stderr[-2000:]
        return crawl


def site(robots):
    """A site of two pages below its root; `robots()` answers for /robots.txt."""
    def answer(path):
        return robots() if path == "/robots.txt" else (200, {}, PAGE)
    return answer


def test_robots_in_a_content_coding():
    with Servers(site(lambda: (200, {"Content-Encoding": "gzip"}, gzip.compress(DENY)))) as web:
        web.crawl({})
        assert web.servers[0].paths() == ["/robots.txt", "/", "/allowed"], web.servers[0].paths()


def test_links_of_a_page_that_shrinks_a_lot():
    """A hundred times, and beyond the room that most pages need."""
    page = b"<p>All work and no play.</p>" * 10000 + b'<a href="/last">end</a>'
    pages = {"/": (200, {"Content-Encoding": "gzip"}, gzip.compress(page)), "/last": (200, {}, b"")}
    with Servers(lambda path: pages.get(path, (404, {}, b""))) as web:
        crawl = web.crawl({})
        assert web.servers[0].paths() == ["/robots.txt", "/", "/last"], web.servers[0].paths()
        assert crawl.summary["outcomes"] == {"done": 2}, crawl.summary["outcomes"]


def test_robots_in_a_broken_coding():
    """The rules that can be read count; a file of which nothing can be read has none."""
    for body, asked in ((gzip.compress(DENY)[:-8], ["/robots.txt", "/", "/allowed"]),
                        (b"\x1f\x8b\x08broken", ["/robots.txt", "/", "/denied", "/allowed"])):
        with Servers(site(lambda: (200, {"Content-Encoding": "gzip"}, body))) as web:
            crawl = web.crawl({})
            assert web.servers[0].paths() == asked, web.servers[0].paths()
            assert crawl.code == 0, crawl.stderr


def test_robots_asks_for_patience():
    answers = iter([(503, {"Retry-After": "2"}, b"")])
    with Servers(site(lambda: next(answers, (200, {}, DENY)))) as web:
        web.crawl({"robots": {"retry": "10ms"}})
        first, second = web.servers[0].moments("/robots.txt")
        assert second - first >= 2, second - first


def test_too_many_requests_for_robots():
    """No rules, but a wish: it is heard before the first page."""
    with Servers(site(lambda: (429, {}, b""))) as web:
        web.crawl({"retry": {"wait": "2s"}})
        first, second = (moment for _, moment in web.servers[0].asked[:2])
        assert web.servers[0].paths()[:2] == ["/robots.txt", "/"] and second - first >= 2, second - first


def elsewhere(location):
    return lambda: (301, {"Location": location()}, b"")


def test_robots_elsewhere():
    with Servers(site(elsewhere(lambda: web.servers[1].url + "/rules")), lambda _: (200, {}, DENY)) as web:
        web.crawl({})
        assert web.servers[0].paths() == ["/robots.txt", "/", "/allowed"], web.servers[0].paths()


def test_robots_elsewhere_asks_for_a_delay():
    rules = b"User-agent: *\nCrawl-delay: 3\n"
    with Servers(site(elsewhere(lambda: web.servers[1].url + "/rules")), lambda _: (200, {}, rules)) as web:
        web.crawl({})
        moments = [moment for _, moment in web.servers[0].asked]
        gaps = [later - earlier for earlier, later in zip(moments, moments[1:])]
        assert len(gaps) == 3 and min(gaps) >= 3, gaps


def test_robots_elsewhere_names_sitemaps():
    def rules(path):
        text = DENY + f"Sitemap: {web.servers[0].url}/map.xml\n".encode()
        return (200, {}, text) if path == "/rules" else (404, {}, b"")
    with Servers(site(elsewhere(lambda: web.servers[1].url + "/rules")), rules) as web:
        web.crawl({"robots": {"sitemaps": "yes"}})
        assert "/map.xml" in web.servers[0].paths(), web.servers[0].paths()


def test_robots_elsewhere_without_room():
    """Where there is no room to follow the redirect, the rules are unknown, and not "everything is allowed"."""
    others = [f"http://127.0.2.{i}:2/" for i in range(1, 20)]
    with Servers(site(elsewhere(lambda: web.servers[1].url + "/rules")), lambda _: (200, {}, DENY)) as web:
        seeds = web.seeds("\n".join([web.servers[0].url + "/", *others]))
        crawl = web.crawl({"robots": {"retry": "10ms"}, "retry": {"host-failures": "2", "wait": "10ms"},
                           "memory": {"hosts": "16"}, "state": {"spill": "no"}}, seeds=seeds, code=None)
        assert crawl.summary["outcomes"]["hosts-full"] >= 4, "this test needs a full table of hosts"
        # Dead hosts may leave it in time for the rules to be fetched after all: then they are obeyed.
        followed = [path for path in web.servers[0].paths() if path != "/robots.txt"]
        assert followed in ([], ["/", "/allowed"]) and crawl.code == (0 if followed else 5), (followed, crawl.code)


def test_robots_elsewhere_unreachable():
    """robots.retry holds for a robots.txt that redirects to where nobody is, too."""
    with Servers(site(elsewhere(lambda: "http://127.0.2.1:1/rules"))) as web:
        tuning = {"robots": {"retry": "3s"}, "retry": {"host-failures": "2", "wait": "10ms", "times": "0"},
                  "scope": {"allow-ports": "1"}}
        crawl = web.crawl(tuning, code=5)
        moments = web.servers[0].moments("/robots.txt")
        assert len(moments) == 2 and moments[1] - moments[0] >= 3, moments
        assert crawl.summary["outcomes"] == {"robots-unreachable": 1}


def test_nobody_connects_for_nothing():
    links = "".join(f'<a href="/{i}">' for i in range(2000)).encode()
    with Servers(lambda _: (200, {}, links)) as web:
        crawl = web.crawl({"limits": {"pages-per-host": "2"}, "robots": {"obey": "no"}})
        assert crawl.summary["outcomes"] == {"done": 2, "host-limit": 1999}, crawl.summary["outcomes"]
        assert web.servers[0].connections == 1, web.servers[0].connections


def test_userinfo_is_never_part_of_a_host():
    def answer(path):
        return 200, {}, f'<a href="http://me:secret@{web.servers[0].url[7:]}/me">'.encode()
    with Servers(answer) as web:
        web.crawl({"scope": {"canonical": "none"}, "robots": {"obey": "no"}})
        assert web.servers[0].paths() == ["/", "/me"], web.servers[0].paths()


def test_why_writes_urls_as_the_crawl_did():
    with Servers(lambda _: (200, {}, b'<a href="/UPPER">')) as web:
        crawl = web.crawl({"scope": {"canonical": "case"}, "robots": {"obey": "no"}})
        assert web.servers[0].paths() == ["/", "/upper"], web.servers[0].paths()
        done = subprocess.run([BUILD / "lycosa", "why", crawl.directory, web.servers[0].url + "/Upper"],
                              capture_output=True, text=True)
        assert done.stdout.startswith("fetched"), done.stdout + done.stderr


def test_seeds_are_kept_apart():
    with Servers(lambda _: (200, {}, b"")) as web:
        more = web.directory / "more.txt"
        more.write_text(web.servers[0].url + "/more")  # without the end of its line
        crawl = web.crawl({"robots": {"obey": "no"}}, more)
        kept = (crawl.directory / "seeds.txt").read_text().split()
        assert sorted(kept) == [web.servers[0].url + "/", web.servers[0].url + "/more"], kept


def test_reload_keeps_the_command_line():
    def answer(path):
        time.sleep(0.05)
        return 200, {}, f'<a href="/{len(web.servers[0].asked)}">'.encode()

    def reload(crawl):
        while len(web.servers[0].asked) < 3:
            time.sleep(0.01)
        crawl.process.send_signal(signal.SIGHUP)
    with Servers(answer) as web:
        crawl = web.crawl({"robots": {"obey": "no"}}, "--max-pages", "20", "--threads", "2", during=reload)
        assert crawl.summary["end"] == "pages" and crawl.summary["pages"] == 20, crawl.summary["pages"]
        assert "cannot change" not in crawl.stderr, crawl.stderr


main([value for name, value in list(globals().items()) if name.startswith("test_")])
