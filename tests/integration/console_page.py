#!/usr/bin/env python3
"""The console's page in Debian's Chromium: it draws, its numbers are the crawl's, its buttons work, names of strangers do
nothing, nothing is sent for from elsewhere, and it fits screens of any width. With SCREENSHOTS=DIR pictures are kept there."""
import json
import os
import sys
import time
from pathlib import Path
from urllib.parse import quote

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from browser import Browser, is_installed  # noqa: E402
from console import POLITE, Running  # noqa: E402
from simulated import Pages, Web, main, merge, wait_until  # noqa: E402

WIDTHS = (360, 800, 1400)
HOSTILE = ["<script>window.harmed = 1</script>", "<img src=x onerror='window.harmed = 1'>", "a\u202egnp.exe", "\"'`&amp;", "x" * 2048,
           "http://evil.example/\u0000\n"]
# Before any script of the page: what the crawl answers gets names that a stranger might have chosen.
HARM = """const honest = window.fetch;
window.fetch = async (path, more) => {
  const reply = await honest(path, more);
  if (!/crawl$|hosts|host\\?|why|openapi/.test(path) || !(reply.headers.get("Content-Type") || "").includes("json")) return reply;
  const answer = await reply.json();
  if (path.endsWith("openapi.json")) for (const name of ["hosts", "host", "why", "seeds", "hold"]) answer.paths["/api/v1/" + name] = {};
  if (path.endsWith("crawl")) {
    for (const name of %(names)s) answer.outcomes[name] = answer.hosts_failing[name] = 7;
    answer.diagnosis = %(names)s.slice(0, 4).join(" "); answer.phase = %(names)s[0];
  }
  if (path.includes("/hosts?")) return new Response(JSON.stringify({by: "queue", hosts: %(names)s.map(host => ({host, value: 3, state: host}))}));
  if (path.includes("/host?") || path.includes("/why?")) return new Response(JSON.stringify({url: %(names)s, nested: {[%(names)s[0]]: %(names)s[1]}}));
  return new Response(JSON.stringify(answer), {status: reply.status});
};"""
BLANK = """return [...document.querySelectorAll('.chart > canvas')].map(canvas => {
  const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data, colours = new Set();
  for (let i = 0; i < pixels.length; i += 4) colours.add(pixels[i] << 16 | pixels[i + 1] << 8 | pixels[i + 2]);
  return colours.size; });"""
NUMBERS = "return Object.fromEntries([...document.querySelectorAll('#numbers div')].map(d => [d.lastChild.textContent, d.firstChild.textContent]))"


def page_of(crawl):
    return crawl.info()["url"]


def ready(browser):
    browser.wait("!!document.querySelector('#numbers b') && document.querySelector('#phase').textContent !== 'connecting'", "the first figures")


def quiet(browser):
    """No complaint since the last call, and no request elsewhere."""
    assert browser.run("return window.violations") == [], browser.run("return window.violations")
    origin = browser.run("return location.origin") + "/"
    asked = browser.requests()
    assert asked and all(url.startswith((origin, "data:")) for url in asked), [url for url in asked if not url.startswith(origin)]
    return browser.errors()


def test_it_draws_what_the_crawl_says():
    with Web("--hosts", "60", "--pages", "200", "--fault", "refuse=0.05") as web, Running(web, merge(POLITE, {"crawl": {"max-pages": "20000"}})) as crawl, Browser() as browser:
        wait_until(lambda: crawl.crawl()["pages"] > 200, "pages")
        browser.open(page_of(crawl))
        ready(browser)
        time.sleep(3)  # some samples by the stream
        colours = browser.run(BLANK)
        assert len(colours) == 7 and min(colours) > 8, colours
        assert browser.run("return samples.length") > 3
        browser.run("document.getElementById('pause').click()")
        browser.wait("document.getElementById('phase').textContent === 'paused'", "the pause")
        assert crawl.crawl()["phase"] == "paused"
        same_as(browser, crawl)
        assert browser.run("return document.getElementById('resume').disabled") is False
        browser.run("document.getElementById('resume').click()")
        browser.wait("document.getElementById('phase').textContent === 'running'", "the resume")
        browser.run("document.getElementById('patch').value = '[net]\\nbandwidth = 123KB'; document.getElementById('apply').click()")
        wait_until(lambda: "bandwidth = 123KB\n" in crawl.ask("GET", "/api/v1/tuning")[2], "the change")
        browser.wait("document.getElementById('answer').textContent.includes('net.bandwidth')", "the answer")
        assert quiet(browser) == []


def same_as(browser, crawl):
    """A paused crawl and its page have the same numbers, once the page was renewed."""
    last = None
    while last != (last := crawl.crawl()["requests"]):
        time.sleep(1.2)
    now = crawl.crawl()
    browser.wait(f"document.querySelector('#numbers b').textContent === '{now['pages']:,}'", "the number of pages")
    shown = browser.run(NUMBERS)
    for name, key in (("pages", "pages"), ("URLs found", "urls_in"), ("waiting", "queued"), ("hosts", "hosts"), ("failed", "failed")):
        assert shown[name] == f"{now[key]:,}", (name, shown, now[key])
    outcomes = dict(browser.run("return [...document.querySelectorAll('#outcomes tr')].map(r => [r.firstChild.textContent, r.lastChild.textContent])"))
    assert outcomes == {name: f"{count:,}" for name, count in now["outcomes"].items()}, (outcomes, now["outcomes"])
    for table, has in (("latency", "%"), ("rests", "%"), ("types", "text/html"), ("domains", "test"), ("codes", "200"), ("times", "last synced")):
        assert has in browser.run(f"return document.getElementById('{table}').textContent"), table
    types = browser.run("return [...document.querySelectorAll('#types tr')].map(r => [r.firstChild.textContent, r.lastChild.textContent.split(', ')[0].replaceAll(',', '')])")
    assert {name: int(n) for name, n in types} == {name: n["pages"] for name, n in now["types"].items()}, (types, now["types"])
    assert browser.run("return Object.keys(samples[0]).filter(k => k.startsWith('fetch_p')).length") == 3
    assert browser.run("return left > 0"), "how much time is left"
    assert browser.run("return document.querySelectorAll('#loops tr').length") == now["threads"]
    assert browser.run("return document.querySelectorAll('#budgets tr').length") == len(now["budgets"]) + 1
    assert str(int(now["outlook"]["share"] * 100)) + "% of max-pages" in browser.run("return document.getElementById('outlook').textContent")


def test_it_fits_any_screen():
    kept = os.environ.get("SCREENSHOTS")
    with Web("--hosts", "60", "--pages", "100") as web, Running(web, POLITE) as crawl, Browser() as browser:
        browser.open(page_of(crawl))
        ready(browser)
        backs = set()
        for width in WIDTHS:
            browser.width(width)
            for scheme in ("dark", "light"):
                browser.scheme(scheme)
                browser.wait(f"innerWidth === {width}", "the width")
                wide = browser.run("return [document.documentElement.scrollWidth, ...[...document.querySelectorAll('section')].map(s => s.scrollWidth - s.clientWidth)]")
                assert wide[0] <= width and max(wide[1:]) <= 0, (width, wide)
                backs.add((scheme, browser.run("return getComputedStyle(document.body).backgroundColor")))
                if kept:
                    browser.screenshot(f"{kept}/page-{width}-{scheme}.png")
        assert len(backs) == 2, backs
        browser.run("document.body.tabIndex = -1; document.body.focus()")
        assert browser.run("return [...document.querySelectorAll('button, input, textarea, summary')].every(e => e.tabIndex >= 0)")
        assert browser.run("return [...document.querySelectorAll('.chart > canvas')].every(c => c.getAttribute('aria-label').length > 5)")
        browser.run("for (const d of document.querySelectorAll('details')) d.open = true")
        browser.wait("document.querySelectorAll('#rate details td').length > 3", "the table behind a chart")
        assert quiet(browser) == []


def test_names_of_strangers_do_nothing():
    with Web("--hosts", "5", "--pages", "20") as web, Running(web, merge(POLITE, {"net": {"bandwidth": "20KB"}})) as crawl, Browser() as browser:
        browser.devtools("Page.addScriptToEvaluateOnNewDocument", source=HARM % {"names": json.dumps(HOSTILE)})
        browser.width(360)
        browser.open(page_of(crawl))
        ready(browser)
        browser.wait("document.querySelectorAll('#tops tr').length > 3", "the hosts")
        browser.run("lookUp('http://h/a<b>')")
        browser.wait("document.querySelectorAll('#found tr').length > 3", "what was found")
        text = browser.run("return document.querySelector('main').innerText + document.getElementById('phase').textContent")
        assert "<script>window.harmed" in text and "onerror" in text and "a\\u202egnp.exe" in text and "\u202e" not in text
        assert browser.run("return window.harmed") is None
        assert browser.run("return document.querySelectorAll('main img, main script').length") == 0
        assert browser.run("return document.documentElement.scrollWidth") <= 360
        # It looks for routes that this crawl may not have: the browser tells of a 404 by itself.
        complaints = [line for line in quiet(browser) if "404" not in line]
        assert complaints == [], complaints


def test_pages_of_strangers_do_nothing():
    """The same for real: what a server puts into links, paths and Content-Type comes through the crawl to the page."""
    bad = "<script>window.harmed=1</script>"
    paths = {"/" + bad: bad, "/a\u202egnp.exe": "a\xe2\x80\xaegnp/exe", "/" + "x" * 1900: "x/" + "x" * 2048, "/?q=<img src=x onerror=window.harmed=1>": "text/\"'`&amp;"}
    links = [*paths, *(f"/plain/{i}" for i in range(40))]
    start = "".join(f"<p><a href='{link}'>{bad}</a>" for link in links if "'" not in link).encode()
    host = {quote(path, safe="/?=%"): (200, {"Content-Type": kind}, b"text") for path, kind in paths.items()}
    host |= {"/": (200, {"Content-Type": "text/html; charset=utf-8"}, start), "/robots.txt": (200, {}, b"User-agent: *\nCrawl-delay: 1\n")}
    with Pages({"127.0.1.1": host}) as web, Running(web, POLITE) as crawl, Browser() as browser:
        browser.width(360)
        browser.open(page_of(crawl))
        ready(browser)
        wait_until(lambda: len({path for _, path in web.asked} & host.keys()) == len(host), "the bad pages")
        browser.wait("[...document.querySelectorAll('#types tr')].some(r => r.firstChild.textContent === 'other' && r.lastChild.textContent.startsWith('4,'))", "types that are none")
        browser.run(f"lookUp('{web.url('127.0.1.1')[:-1]}')")
        browser.wait("document.getElementById('found').textContent.includes('/plain/')", "the queue of the host")
        for path in paths:
            browser.run("lookUp(arguments[0])", web.url("127.0.1.1", path))
            browser.wait(f"document.getElementById('found').textContent.includes({json.dumps(quote(path, safe='/?=')[:40])})", "what became of " + path[:40])
        text = browser.run("return document.querySelector('main').innerText")
        assert "\u202e" not in text and browser.run("return window.harmed") is None
        assert browser.run("return document.querySelectorAll('main img, main script').length") == 0
        assert browser.run("return document.documentElement.scrollWidth") <= 360
        assert quiet(browser) == []


def test_without_a_token_it_says_so():
    with Web("--hosts", "5", "--pages", "20") as web, Running(web, merge(POLITE, {"net": {"bandwidth": "20KB"}})) as crawl, Browser() as browser:
        browser.open(page_of(crawl).split("#")[0])
        browser.wait("document.getElementById('sentence').textContent.includes('needs the token')", "the sentence")
        browser.open("about:blank")
        browser.open(page_of(crawl))
        ready(browser)
        crawl.process.kill()
        browser.wait("document.body.className === 'stale' && /no (news|answer)/.test(document.getElementById('phase').textContent)", "that the crawl is gone")


def press(browser, selector):
    browser.wait(f"(b => b && !b.disabled && b.offsetParent)(document.querySelector('{selector}'))", selector)
    browser.run(f"document.querySelector('{selector}').click()")


def test_its_buttons_steer_the_crawl():
    """Hold, release and drop a host, add a seed: as an operator would, and the crawl does it."""
    with Web("--hosts", "8", "--pages", "60") as web, Running(web, merge(POLITE, {"net": {"bandwidth": "20KB"}})) as crawl, Browser() as browser:
        def held():
            return json.loads(crawl.ask("GET", "/api/v1/hosts?by=queue")[2])["held"]["hosts"]

        wait_until(lambda: crawl.crawl()["queued"] > 20, "a queue")
        browser.open(page_of(crawl))
        ready(browser)
        browser.wait("/^[123] holds? [0-9.]+% of the queue$/.test(document.getElementById('most').textContent)", "whose the queue is")
        press(browser, "#tops button")
        key = browser.run("return document.getElementById('name').value")
        press(browser, "[data-order=hold]")
        wait_until(lambda: held() == [key], "the hold")
        browser.wait("document.getElementById('said').textContent.includes('done')", "the answer")
        press(browser, "[data-order=release]")
        wait_until(lambda: held() == [], "the release")
        browser.run("window.confirm = text => { window.asked = text; return false; }")
        press(browser, "[data-order=drop]")
        assert key in browser.run("return window.asked"), "it asks before it drops"
        assert "dropped-by-operator" not in crawl.crawl()["outcomes"], "and takes no for an answer"
        browser.run("window.confirm = () => true")
        press(browser, "[data-order=drop]")
        wait_until(lambda: crawl.crawl()["outcomes"].get("dropped-by-operator", 0) > 0, "the drop")
        seed = key + "/a/page/that/nobody/links/to"
        browser.run(f"document.getElementById('seeds').value = '{seed}\\nno URL\\n'")
        press(browser, "#add")
        browser.wait("document.getElementById('added').textContent.includes('\"accepted\": 1')", "the answer")
        assert browser.run("return document.getElementById('seeds').value") == "" and crawl.crawl()["seeds"]["added"] == 1
        press(browser, "#checkpoint")
        browser.wait("document.getElementById('added').textContent.includes('epoch')", "the checkpoint")
        browser.run("document.getElementById('name').value = 'nonsense'")
        press(browser, "#asked")
        browser.wait("document.getElementById('said').textContent.length > 10", "what is wrong with it")
        assert [line for line in quiet(browser) if "404" not in line and "400" not in line] == []


if __name__ == "__main__":
    if not is_installed():
        print("skipped: no chromium and chromium-driver (tools/setup --all)")
        sys.exit(77)
    main([test_it_draws_what_the_crawl_says, test_it_fits_any_screen, test_names_of_strangers_do_nothing, test_pages_of_strangers_do_nothing,
          test_without_a_token_it_says_so,
          test_its_buttons_steer_the_crawl])
