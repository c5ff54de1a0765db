#!/usr/bin/env python3
"""Clients that mean harm or are slow, and disks that hang: the crawl does not notice, and the console answers everybody else."""
import json
import os
import random
import socket
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
sys.path.insert(0, str(Path(__file__).resolve().parent))
from console import AUDIT, POLITE, Running  # noqa: E402
from console_orders import Stream  # noqa: E402
from simulated import BUILD, RUDE, Web, is_sanitized, main, merge, wait_until  # noqa: E402

CONNECTIONS = 10000


def test_bad_clients():
    """Garbage, connections that say nothing, streams that nobody reads: the crawl does not notice, the door stays open."""
    rng = random.Random(2)
    with Web("--hosts", "30", "--pages", "30", "--crawl-delay-ms", "200") as web:
        with Running(web, merge(POLITE, {"net": {"bandwidth": "100KB"}})) as crawl:  # so that it outlasts them
            silent = [socket.create_connection(("127.0.0.1", crawl.port)) for _ in range(20)]
            streams = []
            for _ in range(20):
                stream = socket.create_connection(("127.0.0.1", crawl.port))
                stream.sendall(f"GET /api/v1/events HTTP/1.1\r\nHost: localhost:{crawl.port}\r\n"
                               f"Authorization: Bearer {crawl.token}\r\n\r\n".encode())
                streams.append(stream)
            codes = sorted(stream.recv(12) for stream in streams)
            assert codes.count(b"HTTP/1.1 200") == 16 and codes.count(b"HTTP/1.1 503") == 4, codes
            for _ in range(1000):
                with socket.create_connection(("127.0.0.1", crawl.port)) as client:
                    try:
                        client.sendall(rng.randbytes(rng.randrange(200)) + b"\r\n\r\n")
                    except OSError:
                        pass
            for stream in streams + silent:
                stream.close()
            wait_until(lambda: "alive" in crawl.ctl("health"), "an answer")
            crawl.ctl("set", "net.bandwidth=0")
            assert crawl.finish()["end"] == "complete"
            assert crawl.fetched() == sorted(web.truth())
        text, violations = web.audit(*AUDIT)
        assert violations == 0, text


def test_slow_clients():
    """Those who take for ever to ask do not keep others out: 64 of them take all places, and lose them."""
    with Web("--hosts", "5", "--pages", "5") as web:
        with Running(web, merge(RUDE, {"net": {"bandwidth": "1KB"}})) as crawl:
            slow = [socket.create_connection(("127.0.0.1", crawl.port)) for _ in range(64)]
            is_over = threading.Event()

            def drip():
                while not is_over.wait(1):
                    for client in slow:
                        try:
                            client.sendall(b"G")
                        except OSError:
                            pass
            feeder = threading.Thread(target=drip)
            feeder.start()
            try:
                wait_until(lambda: answers(crawl), "a place for somebody else", 90)
            finally:
                is_over.set()
                feeder.join()
                for client in slow:
                    client.close()


def answers(crawl):
    try:
        return crawl.ask("GET", "/healthz")[0] == 200
    except OSError:
        return False


def quickly(crawl, path, codes):
    """An answer, and no waiting for it. The machine may be busy; but who waits for the disk or a loop waits two seconds at least."""
    begun = time.monotonic()
    status, _, text = crawl.ask("GET", path)
    took = time.monotonic() - begun
    assert status in codes and took < 1.5, (path, status, took, text[:200])
    return text


def test_a_disk_that_hangs():
    """No write to crawl.log or events.log comes back. All that needs no disk is answered at once, and nothing is lost."""
    with Web("--hosts", "30", "--pages", "20", "--crawl-delay-ms", "200") as web:
        stuck = web.directory / "stuck"
        disk = {**os.environ, "LD_PRELOAD": str(BUILD / "preload_disk.so"), "DISK_WAITS_FOR": str(stuck)}
        with Running(web, POLITE, env=disk) as crawl:
            wait_until(lambda: crawl.crawl()["pages"] > 20, "pages")
            stuck.touch()
            log = crawl.directory / "crawl.log"
            wait_until(lambda: log.stat().st_size == (time.sleep(2), log.stat().st_size)[1], "the disk to hang")
            with Stream(crawl) as stream:
                ids = [int(stream.until("sample")[1])]
                for order, codes in [("pause", (200,)), ("resume", (200,)), ("hold?domain=example.org", (503,)), ("checkpoint", (202,))]:
                    asker = threading.Thread(target=lambda: answers.append((order, codes, crawl.ask("POST", f"/api/v1/{order}")[0])))
                    answers = []
                    asker.start()
                    while asker.is_alive():
                        quickly(crawl, "/healthz", (200, 503))
                        quickly(crawl, "/metrics", (200,))
                        assert json.loads(quickly(crawl, "/api/v1/crawl", (200,)))["disk"]["free"] > 0
                        quickly(crawl, "/api/v1/hosts", (200,))
                    asker.join()
                    assert answers and answers[0][2] in codes, answers
                ids += [int(stream.until("sample")[1]) for _ in range(2)]
                assert ids[1] < ids[2] <= ids[1] + 2, ids
            stuck.unlink()
            assert crawl.finish()["end"] == "complete"
            assert crawl.fetched() == sorted(web.truth())
            events = [line.split("\t")[2:] for line in (crawl.directory / "events.log").read_text().splitlines()]
            assert [what for what, _ in events] == ["POST /api/v1/pause", "POST /api/v1/resume", "POST /api/v1/hold?domain=example%2Eorg",
                                                    "POST /api/v1/checkpoint"], events


GARBAGE = ["", "1", "-1", "x", "%00", "%ff%fe", "http://", "a" * 3000, "18446744073709551616", "%0d%0aX:%20y", "<script>", "../../etc/passwd"]


def test_every_route_is_as_described():
    """Each route with each of its parameters, with garbage in them, and as those ask who may not: no status that is not in
    openapi.json, and never a request that is half understood."""
    rng = random.Random(4)
    with Web("--hosts", "5", "--pages", "5") as web:
        with Running(web, merge(RUDE, {"net": {"bandwidth": "1KB"}})) as crawl:
            paths = json.loads(crawl.ask("GET", "/api/v1/openapi.json")[2])["paths"]
            assert len(paths) > 20, paths
            routes = [(path, method.upper(), told) for path, methods in paths.items() for method, told in methods.items()
                      if path not in ("/api/v1/events", "/api/v1/stop")]
            for path, method, told in routes:
                codes = {int(code) for code in told["responses"]}
                names = [parameter["name"] for parameter in told["parameters"]]

                def check(query="", allowed=codes, **how):
                    status, _, text = crawl.ask(method, path + query, **how)
                    assert status in allowed, (status, method, path, query[:80], text[:200])
                    return status
                check(f"?nonsense=1{''.join('&' + name + '=1' for name in names)}", {400})
                check("", codes, body=rng.randbytes(500) if "requestBody" in told else None)
                needed = [parameter["name"] for parameter in told["parameters"] if parameter["required"]]
                assert not needed or check() == 400
                for name in names:
                    for value in GARBAGE:
                        check(f"?{name}={value}")
                        check(f"?{name}={value}&{rng.choice(names)}={rng.choice(GARBAGE)}")
                check(f"?{'a' * 17000}", {414})
                check("", {403}, headers={"Host": "evil.example"})
                if told["security"] and {} not in told["security"]:
                    check("", {401}, token=False)
                if method != "GET":
                    check("", {415}, headers={"Content-Type": "text/plain"})
            assert crawl.crawl()["phase"] in ("running", "paused")


def test_ten_thousand_connections():
    """One after the other and many at a time, half of them without a word: the crawl goes on, and so does the console."""
    with Web("--hosts", "20", "--pages", "20", "--crawl-delay-ms", "200") as web:
        with Running(web, merge(POLITE, {"net": {"bandwidth": "50KB"}})) as crawl:
            begun, answered = time.monotonic(), 0
            for number in range(CONNECTIONS // 50):
                clients = [socket.create_connection(("127.0.0.1", crawl.port)) for _ in range(50)]
                for client in clients[::2]:
                    try:
                        client.sendall(b"GET /healthz HTTP/1.0\r\nHost: localhost:%d\r\n\r\n" % crawl.port)
                        answered += client.recv(12) == b"HTTP/1.1 200"
                    except OSError:
                        pass  # there were too many at the moment
                for client in clients:
                    client.close()
            print(f"     {CONNECTIONS} connections in {time.monotonic() - begun:.1f} s, {answered} answers")
            assert answered > CONNECTIONS // 10, answered
            wait_until(lambda: "alive" in crawl.ctl("health"), "an answer")
            crawl.ctl("set", "net.bandwidth=0")
            assert crawl.finish()["end"] == "complete"
            assert crawl.fetched() == sorted(web.truth())
        text, violations = web.audit(*AUDIT)
        assert violations == 0, text


if __name__ == "__main__":
    tests = [test_bad_clients, test_slow_clients, test_every_route_is_as_described, test_ten_thousand_connections]
    main(tests if is_sanitized() else [*tests, test_a_disk_that_hangs])  # a sanitizer wants to be loaded first
