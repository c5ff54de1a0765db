#!/usr/bin/env python3
"""More hosts than there is room for: one site cannot take the room of all, and idle hosts make room for others."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from simulated import RUDE, Crawl, Pages, main, merge  # noqa: E402

HTML = {"Content-Type": "text/html"}


def page(links):
    return 200, HTML, "".join(f'<a href="{link}">x</a>' for link in links).encode()


def test_a_chain_of_hosts_passes_through_a_small_table():
    """Each of 120 hosts is known by a link of the one before, and the table has room for few. With two loops a record is
    free only after both have had a turn, of which one may be asleep."""
    addresses = [f"127.0.1.{number}" for number in range(1, 121)]
    for threads, hosts in ("1", 16), ("2", 64):
        with Pages({address: {} for address in addresses}) as web:
            for address, following in zip(addresses, addresses[1:] + addresses[-1:]):
                web.pages[address]["/"] = page([web.url(following)])
            seeds = web.directory / "seeds.txt"
            seeds.write_text(web.url(addresses[0]) + "\n")
            crawl = Crawl(web, merge(RUDE, {"memory": {"hosts": str(hosts)}}), "--threads", threads, seeds=seeds)
            assert crawl.code == 0, crawl.stderr
            assert sorted(crawl.fetched) == sorted(web.url(address) for address in addresses), crawl.stdout
            assert crawl.summary["hosts"] <= hosts, crawl.summary["hosts"]
            assert crawl.summary["links_lost"] == 0, crawl.summary["links_lost"]


def test_one_site_cannot_fill_the_table():
    """One page links to 3,000 ports of its host. Another host is found later, and there is room for it."""
    evil, good, friend = "127.0.2.1", "127.0.2.2", "127.0.2.3"
    with Pages({evil: {}, good: {}, friend: {}}) as web:
        web.pages[evil]["/"] = page([f"http://{evil}:{port}/" for port in range(20000, 23000)] + [web.url(evil, "/2")])
        web.pages[evil]["/2"] = page([web.url(good)])
        web.pages[good]["/"] = page([web.url(friend)])
        web.pages[friend]["/"] = page([])
        seeds = web.directory / "seeds.txt"
        seeds.write_text(web.url(evil) + "\n")
        tuning = merge(RUDE, {"memory": {"hosts": "100"}, "limits": {"hosts-per-domain": "50"},
                              "retry": {"wait": "10ms", "times": "2", "host-failures": "3"}})
        crawl = Crawl(web, tuning, seeds=seeds)
        assert crawl.code == 0, crawl.stderr
        wanted = {web.url(evil), web.url(evil, "/2"), web.url(good), web.url(friend)}
        assert set(crawl.fetched) == wanted, crawl.fetched
        assert crawl.summary["outcomes"]["domain-full"] == 3000 - 49, crawl.summary["outcomes"]
        assert "raise limits.hosts-per-domain" in crawl.stdout, crawl.stdout


def test_a_sitemap_gives_as_much_as_the_tuning_file_says():
    """Links per page do not hold for it, a bound of its own does."""
    site = "127.0.3.1"
    with Pages({site: {}}) as web:
        urls = "".join(f"<url><loc>{web.url(site, f'/{i}')}</loc></url>" for i in range(300))
        web.pages[site]["/robots.txt"] = (200, {"Content-Type": "text/plain"}, f"Sitemap: {web.url(site, '/s')}".encode())
        web.pages[site]["/s"] = (200, {"Content-Type": "text/xml"}, f"<urlset>{urls}</urlset>".encode())
        tuning = merge(RUDE, {"robots": {"sitemaps": "robots"}, "limits": {"links-per-page": "10", "links-per-sitemap": "100"}})
        crawl = Crawl(web, tuning)
        assert crawl.summary["urls_in"] == 102, crawl.summary["urls_in"]  # with the seed and the sitemap
        assert crawl.summary["links_lost"] == 200, crawl.summary["links_lost"]


main([test_a_chain_of_hosts_passes_through_a_small_table, test_one_site_cannot_fill_the_table,
      test_a_sitemap_gives_as_much_as_the_tuning_file_says])
