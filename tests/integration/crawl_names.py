#!/usr/bin/env python3
"""Names in a whole crawl: silent ones, wrong ones, several addresses, and name servers that go away."""
import sys
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from nameserver import A, AAAA, NXDOMAIN, TRUNCATED, NameServer  # noqa: E402
from simulated import RUDE, Crawl, Pages, main, merge, wait_until  # noqa: E402

PAGE = (200, {"Content-Type": "text/html"}, b"<p>hello</p>")
TUNING = merge(RUDE, {"net": {"dns-timeout": "200ms", "dns-denial": "500ms"}, "retry": {"wait": "100ms"},
                      "status": {"interval": "200ms"}})


def local(name, kind):
    return ["127.0.0.1"] if kind == A else []


def crawl_names(web, names, rule, tuning=None, **options):
    """Crawls the front pages of the names, which `rule` leads to the web's addresses."""
    seeds = web.directory / "names.txt"
    seeds.write_text("".join(f"http://{name}:{web.port}/\n" for name in names))
    with NameServer(rule) as server:
        web.dns = server.at
        crawl = Crawl(web, merge(TUNING, tuning or {}), seeds=seeds, **options)
        return crawl, list(server.asked)


def hosts_of(crawl):
    return sorted(url.split("/")[2].split(":")[0] for url in crawl.fetched)


def test_every_address_of_a_name_is_tried():
    rules = {"first": ["127.0.0.9", "127.0.0.8", "127.0.0.1"], "last": ["127.0.0.1", "127.0.0.9"],
             "none": ["127.0.0.9", "127.0.0.8"]}
    with Pages({"127.0.0.1": {"/": PAGE}}) as web:
        crawl, _ = crawl_names(web, [name + ".test" for name in rules],
                               lambda name, kind: rules.get(name.split(".")[0], []) if kind == A else [],
                               {"retry": {"host-failures": "2"}})
        assert hosts_of(crawl) == ["first.test", "last.test"], crawl.fetched
        assert crawl.summary["outcomes"] == {"done": 2, "connect-refused": 1}, crawl.summary["outcomes"]


def test_either_family_will_do():
    """Nothing listens at ::1, and nothing at the IPv4 address of the other."""
    with Pages({"127.0.0.1": {"/": PAGE}}) as web:
        crawl, _ = crawl_names(web, ["both.test", "six.test"], lambda name, kind: (
            ["::1"] if kind == AAAA else ["127.0.0.1"] if name == "both.test" else []), {"retry": {"host-failures": "1"}})
        assert hosts_of(crawl) == ["both.test"], crawl.fetched


def test_silent_names_hold_nobody_up():
    """Hundreds of names of one domain that nobody answers for: the good host does not wait for them."""
    seen = {}

    def rule(name, kind):
        return None if name.endswith("tar.test") else local(name, kind)

    def watch(crawl):
        wait_until(lambda: ("127.0.0.1", "/") in web.asked, "the visit of the good host")
        seen["asked"] = len(set(name for name in server_asked() if name.endswith("tar.test")))
        crawl.process.terminate()

    with Pages({"127.0.0.1": {"/": PAGE}}) as web:
        names = [f"h{i}.tar.test" for i in range(900)] + ["good.test"]
        seeds = web.directory / "names.txt"
        seeds.write_text("".join(f"http://{name}:{web.port}/\n" for name in names))
        with NameServer(rule) as server:
            def server_asked():
                return list(server.asked)
            web.dns = server.at
            Crawl(web, merge(TUNING, {"net": {"dns-timeout": "5s"}}), seeds=seeds, during=watch)
    assert seen["asked"] < 450, f"{seen['asked']} dead names were asked for before the good one was visited"


def test_one_denial_is_not_the_end():
    """The first answers deny the name; it is asked for again when they no longer hold."""
    asked = []

    def rule(name, kind):
        asked.append(kind)
        return NXDOMAIN if asked.count(kind) == 1 else local(name, kind)

    with Pages({"127.0.0.1": {"/": PAGE}}) as web:
        crawl, _ = crawl_names(web, ["flaky.test"], rule)
        assert hosts_of(crawl) == ["flaky.test"], crawl.summary["outcomes"]


def test_a_name_that_does_not_exist_is_asked_for_twice():
    with Pages({"127.0.0.1": {"/": PAGE}}) as web:
        crawl, asked = crawl_names(web, ["absent.test", "good.test"],
                                   lambda name, kind: NXDOMAIN if name == "absent.test" else local(name, kind),
                                   {"net": {"ipv6": "no"}})
        assert asked.count("absent.test") == 2, asked
        assert crawl.summary["outcomes"] == {"done": 1, "dns-no-name": 1}, crawl.summary["outcomes"]


def test_a_refused_tcp_connection_harms_no_other_name():
    with Pages({"127.0.0.1": {"/": PAGE}}) as web:
        good = [f"h{i}.test" for i in range(60)]
        crawl, _ = crawl_names(web, [*[f"big{i}.test" for i in range(5)], *good],
                               lambda name, kind: TRUNCATED if name.startswith("big") else local(name, kind))
        assert hosts_of(crawl) == sorted(good), crawl.summary["outcomes"]


def test_an_outage_loses_nothing():
    """No server answers for longer than all tries of a name would take: the crawl waits and says so."""
    is_out = threading.Event()

    def rule(name, kind):
        return None if is_out.is_set() else local(name, kind)

    def watch(crawl):
        for line in crawl.process.stderr:
            if "no name server has answered for" in line and "answered for 0 s" not in line:
                break
        is_out.clear()

    is_out.set()
    with Pages({"127.0.0.1": {"/": PAGE}}) as web:
        names = [f"h{i}.test" for i in range(30)]
        crawl, _ = crawl_names(web, names, rule, {"retry": {"times": "0"}}, during=watch)
        assert hosts_of(crawl) == sorted(names), crawl.summary["outcomes"]
        assert crawl.summary["outcomes"] == {"done": 30} and crawl.summary["names_outages"] == 1, crawl.summary


if __name__ == "__main__":
    main([test_every_address_of_a_name_is_tried, test_either_family_will_do, test_silent_names_hold_nobody_up,
          test_one_denial_is_not_the_end, test_a_name_that_does_not_exist_is_asked_for_twice,
          test_a_refused_tcp_connection_harms_no_other_name, test_an_outage_loses_nothing])
