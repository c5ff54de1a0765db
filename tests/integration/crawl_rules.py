#!/usr/bin/env python3
"""robots.txt that redirects to other hosts, that is large, and that must not take what belongs to all."""
import gzip
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from simulated import RUDE, Crawl, Pages, is_sanitized, main, merge, outcome_of  # noqa: E402

SMALL = {"memory": {"sieve": "1MiB", "frontier": "8MiB", "hosts": "2K", "pages": "32MiB", "robots": "4MiB"},
         "store": {"kind": "none"}}
PLAIN = {"Content-Type": "text/plain"}


def page(*paths):
    return 200, {"Content-Type": "text/html"}, "".join(f'<a href="{path}">x</a>' for path in paths).encode()


def test_an_errand_does_not_wait_behind_the_queue():
    """The robots.txt of one is at two, which has many URLs waiting, and asks for patience between them."""
    one, two, count = "127.0.0.1", "127.0.0.2", 60
    many = {f"/{i}": page() for i in range(count)}
    with Pages({one: {"/": page(), "/robots.txt": (301, {"Location": f"http://{two}:PORT/rules"}, b"")},
                two: {"/": page(*many), "/rules": (200, PLAIN, b""), "/robots.txt": (200, PLAIN, b""), **many}}) as web:
        web.pages[two]["/5"] = page(web.url(one))
        seeds = web.directory / "two.txt"
        seeds.write_text(web.url(two) + "\n")
        tuning = {"politeness": {"mode": "delay", "delay": "20ms", "address-delay": "1ms"}}
        crawl = Crawl(web, merge(tuning, SMALL), seeds=seeds, timeout=60)
        assert crawl.code == 0 and crawl.summary["outcomes"] == {"done": count + 2}, crawl.summary["outcomes"]
        order = [asked for asked in web.asked if asked in ((one, "/"), (one, "/robots.txt")) or asked[0] == two]
        between = order.index((one, "/")) - order.index((one, "/robots.txt"))
        assert between <= 6, f"{between} requests until the rules were there"


def test_robots_that_moved_on_its_own_host():
    one = "127.0.0.1"
    rules = b"User-agent: *\nDisallow: /denied\n"
    with Pages({one: {"/": page("/denied", "/allowed"), "/robots.txt": (302, {"Location": "/a"}, b""),
                      "/a": (301, {"Location": "/b"}, b""), "/b": (200, PLAIN, rules), "/allowed": page()}}) as web:
        crawl = Crawl(web, merge(RUDE, SMALL), timeout=60)
        assert crawl.code == 0 and crawl.summary["outcomes"] == {"done": 2, "robots-denied": 1}, crawl.summary
        assert [path for _, path in web.asked] == ["/robots.txt", "/a", "/b", "/", "/allowed"], web.asked


def test_errands_are_not_counted_as_urls():
    """Neither one that succeeds nor one that nobody answers: what failed is the URL that waited for it."""
    one, two, three = "127.0.0.1", "127.0.0.2", "127.0.0.3"
    with Pages({one: {"/": page(), "/robots.txt": (301, {"Location": f"http://{two}:PORT/rules"}, b"")},
                two: {"/rules": (302, {"Location": "/moved"}, b""), "/moved": (200, PLAIN, b"")},
                three: {"/": page(), "/robots.txt": (301, {"Location": "http://127.0.0.4:PORT/rules"}, b"")}}) as web:
        def crawl(*addresses):
            seeds = web.directory / "these.txt"
            seeds.write_text("".join(web.url(address) + "\n" for address in addresses))
            tuning = {"status": {"interval": "100ms"}, "robots": {"retry": "100ms"}, "retry": {"wait": "50ms", "host-failures": "2"}}
            return Crawl(web, merge(RUDE, SMALL, tuning), seeds=seeds, timeout=60)

        good, bad = crawl(one), crawl(one, three)
        assert good.summary["outcomes"] == {"done": 1} and good.summary["failed"] == 0, good.summary
        assert good.stderr.rstrip().endswith("failed 0"), good.stderr
        assert bad.summary["outcomes"] == {"done": 1, "robots-unreachable": 1} and bad.summary["failed"] == 1, bad.summary
        assert len(bad.log) == 2, bad.log


def test_rules_of_many_hosts_stay_within_their_memory():
    """A few bytes of gzip become a megabyte of rules for each host; all are obeyed, and fetched again if need be."""
    def robots(number):
        lines = b"".join(b"Disallow: /%d/" % (1000 + i) + b"\xe9" * 1900 + b"\n" for i in range(200))
        return gzip.compress(b"User-agent: *\nDisallow: /denied%d\n" % number + lines, 9)

    def site(number):
        return {"/": page(f"/denied{number}", "/allowed"), "/allowed": page(),
                "/robots.txt": (200, {**PLAIN, "Content-Encoding": "gzip"}, robots(number))}

    def peak(count):
        with Pages({f"127.0.0.{i}": site(i) for i in range(1, count + 1)}) as web:
            crawl = Crawl(web, merge(RUDE, SMALL), timeout=60)
            assert crawl.code == 0, crawl.stderr
            assert crawl.summary["outcomes"] == {"done": 2 * count, "robots-denied": count}, crawl.summary["outcomes"]
            assert not [path for _, path in web.asked if "denied" in path]
            return crawl.summary["peak_memory_bytes"]

    few, many = peak(2), peak(40)
    print(f"  2 hosts {few >> 20} MiB, 40 hosts {many >> 20} MiB")
    if not is_sanitized():
        assert many - few < 16 << 20, "rules are in no budget"


def costly_rules():
    """Rules that take a millisecond for each URL, and the beginning of such a URL."""
    words = ("".join("ab"[i >> k & 1] for k in range(17)) for i in range(16000))
    rules = "User-agent: *\nDisallow: /d\n" + "".join(f"Disallow: /*{word}c\n" for word in words)
    return rules.encode(), "/d" + "abbaab" * 300 + "acbcca"


def test_denied_urls_do_not_wait_for_the_rest_of_a_visit():
    """The loop stops after a few URLs, and goes on before a rest would be over."""
    rules, long = costly_rules()
    with Pages({"127.0.0.1": {"/": page(*[f"{long}{i}" for i in range(200)]),
                              "/robots.txt": (200, PLAIN, rules)}}) as web:
        crawl = Crawl(web, merge(RUDE, {"politeness": {"host-min-idle": "1s"}}), timeout=120)
        assert crawl.summary["outcomes"] == {"done": 1, "robots-denied": 200}, crawl.summary["outcomes"]
        assert crawl.summary["seconds"] < 20, crawl.summary["seconds"]


def test_denied_urls_do_not_hold_up_other_hosts():
    """The loop stops after a few URLs, and visits other hosts. crawl.log has the order of what it did."""
    one, others, count, steps = "127.0.0.1", [f"127.0.0.{i}" for i in range(2, 6)], 400, 60
    rules, long = costly_rules()
    chain = {"/": page("/1"), **{f"/{i}": page(f"/{i + 1}") for i in range(1, steps)}, f"/{steps}": page()}
    with Pages({one: {"/": page(*[f"{long}{i}" for i in range(count)]), "/robots.txt": (200, PLAIN, rules)},
                **dict.fromkeys(others, chain)}) as web:
        seeds = web.directory / "two.txt"
        seeds.write_text("".join(web.url(host) + "\n" for host in [one, *others]))
        crawl = Crawl(web, RUDE, seeds=seeds, timeout=120)
        assert crawl.summary["outcomes"] == {"done": 1 + len(others) * (steps + 1), "robots-denied": count}, crawl.summary["outcomes"]
        order = "".join("d" if outcome_of(row) == "robots-denied" else "." for row in crawl.log)
        runs = [len(run) for run in order[:order.rindex(".")].split(".") if run]
        assert sum(runs) > count // 4, "the other hosts were done too early to tell"
        assert max(runs) < count // 2, f"{max(runs)} URLs at once"


def test_a_robots_txt_that_is_cut_is_obeyed_as_far_as_it_came():
    one = "127.0.0.1"
    rules = b"User-agent: *\nDisallow: /denied\n"
    cut = gzip.compress(rules + b"# the end" * 100)[:-4]
    with Pages({one: {"/": page("/denied", "/allowed"), "/allowed": page(),
                      "/robots.txt": (200, {**PLAIN, "Content-Encoding": "gzip"}, cut)}}) as web:
        crawl = Crawl(web, merge(RUDE, SMALL), timeout=60)
        assert crawl.code == 0 and crawl.summary["outcomes"] == {"done": 2, "robots-denied": 1}, crawl.summary


main([value for name, value in list(globals().items()) if name.startswith("test_")])
