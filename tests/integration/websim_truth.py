#!/usr/bin/env python3
"""The truth is right: a slow, simple crawl that knows nothing of websim's sources reaches the same URLs and
sees the same statuses, sizes and bodies."""
import hashlib
import base64
import os
import re
import sys
import time
import zlib
from html.parser import HTMLParser
from urllib.parse import urldefrag, urljoin, urlsplit

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import websim

WEB = ["--hosts", 12, "--pages", 15, "--rtt-ms", 0, "--think-ms", 0, "--bandwidth", 0, "--crawl-delay-ms", 10,
       "--robots-delay", 0.1, "--robots-error", 0.1, "--robots-moved", 0.2, "--spells", 0.2, "--throttled", 0.2,
       "--redirects", 0.1, "--gone", 0.05, "--meta-nofollow", 0.1, "--nofollow", 0.1, "--base", 0.2,
       "--fault", "nxdomain=0.1,chain=0.05,loop=0.05,badhtml=0.1,badurl=0.1"]
AGENT = "lycosa"
REDIRECTS = 10


class Links(HTMLParser):
    def __init__(self, url):
        super().__init__()
        self.base, self.found, self.nofollow = url, [], False

    def handle_starttag(self, tag, attributes):
        first = {}
        for name, value in attributes:
            first.setdefault(name, value)
        if tag == "base":
            self.base = urljoin(self.base, first["href"])
        elif tag == "meta" and first.get("name") == "robots":
            self.nofollow |= "nofollow" in first["content"]
        elif tag == "a" and first.get("href") and "nofollow" not in (first.get("rel") or ""):
            self.found.append(first["href"])


def normalise(url):
    try:
        parts = urlsplit(urldefrag(url)[0])
        parts.port
    except ValueError:
        return None
    if parts.scheme not in ("http", "https") or not re.fullmatch(r"[a-z0-9.-]+(:\d+)?", parts.netloc.lower()):
        return None
    if not parts.hostname.endswith((".sim", ".example", ".test")):
        return None
    target = (parts.path or "/") + ("?" + parts.query if parts.query else "")
    return f"{parts.scheme}://{parts.netloc.lower()}{target}"


class Client:
    """One kept-alive connection per host."""

    def __init__(self, server):
        self.server, self.sockets = server, {}

    def fetch(self, url):
        name = websim.split(url)[0]
        for _ in range(40):
            try:
                if name not in self.sockets:
                    self.sockets[name] = self.server.connect(name)
                status, fields, body = websim.get(self.sockets[name], url, "Accept-Encoding: gzip\r\n")
            except (EOFError, ConnectionError):
                self.sockets.pop(name).close()
                continue
            if fields.get("connection") == "close":
                self.sockets.pop(name).close()
            if status in (429, 503):
                time.sleep(float(fields["retry-after"]))
                continue
            if fields.get("content-encoding") == "gzip":
                body = zlib.decompress(body, 31)
            return status, fields, body
        sys.exit(f"no answer from {url}")


class Robots:
    def __init__(self, client, origin):
        status, fields, body = client.fetch(origin + "/robots.txt")
        for _ in range(5):
            if status in (301, 302, 303, 307, 308):
                status, fields, body = client.fetch(fields["location"])
        self.rules = []
        if status >= 500:
            self.rules = [(False, "/")]
        elif status == 200:
            self.rules = self.parse(body.decode())

    @staticmethod
    def parse(text):
        groups, names, open_ = {}, [], False
        for line in text.splitlines():
            key, _, value = (part.strip() for part in line.split("#")[0].partition(":"))
            if key.lower() == "user-agent":
                names = names + [value.lower()] if open_ else [value.lower()]
                open_ = True
                for name in names:
                    groups.setdefault(name, [])
            elif key.lower() in ("allow", "disallow"):
                open_ = False
                if value:
                    for name in names:
                        groups[name].append((key.lower() == "allow", value))
        return groups.get(AGENT, groups.get("*", []))

    def allows(self, target):
        best = (0, True)
        for allow, pattern in self.rules:
            expression = re.escape(pattern).replace(r"\*", ".*")
            if expression.endswith(r"\$"):
                expression = expression[:-2] + "$"
            if re.match(expression, target):
                best = max(best, (len(pattern), allow))
        return best[1]


def crawl(server, seeds):
    client, robots, seen = Client(server), {}, set()
    queue, results, dead = [(url, 0) for url in seeds], {}, set()
    while queue:
        url, hops = queue.pop(0)
        if url in seen:
            continue
        seen.add(url)
        name, _, target = websim.split(url)
        origin = url[:len(url) - len(target)]
        if name in dead:
            continue
        try:
            if origin not in robots:
                robots[origin] = Robots(client, origin)
        except OSError:
            dead.add(name)
            continue
        if not robots[origin].allows(target):
            continue
        status, fields, body = client.fetch(url)
        digest = base64.b32encode(hashlib.sha1(body).digest()).decode()
        results[url] = (str(status), str(len(body)), digest)
        if "location" in fields:
            if hops < REDIRECTS:
                queue.insert(0, (normalise(urljoin(url, fields["location"])), hops + 1))
        elif status == 200 and fields["content-type"].startswith("text/html"):
            page = Links(url)
            page.feed(body.decode())
            if not page.nofollow and "nofollow" not in fields.get("x-robots-tag", ""):
                queue += [(link, 0) for link in map(normalise, (join(page.base, href) for href in page.found)) if link]
    return results


def join(base, href):
    if href == "http://":  # no host: an error by the URL standard, the base by RFC 3986
        return ""
    try:
        return urljoin(base, href)
    except ValueError:
        return ""


with websim.Server(*WEB) as server:
    seeds = server.command("seeds", "--count", 1).split()
    seeds_file = os.path.join(os.environ.get("TMPDIR", "/tmp"), f"websim_truth.{os.getpid()}")
    with open(seeds_file, "w") as file:
        file.write("\n".join(["# a comment", *seeds]) + "\n")
    truth = {}
    for line in server.command("truth", "--digest", "sha1", "--max-redirects", REDIRECTS, "--seeds", seeds_file).splitlines():
        url, status, size, digest, note = line.split("\t")
        truth[url] = (status, size, digest)
    os.unlink(seeds_file)
    found = crawl(server, seeds)
    for url in sorted(truth.keys() - found.keys()):
        websim.check(False, f"in the truth, not found by the crawl: {url}")
    for url in sorted(found.keys() - truth.keys()):
        websim.check(False, f"found by the crawl, not in the truth: {url}")
    for url in sorted(truth.keys() & found.keys()):
        websim.check(truth[url] == found[url], f"{url}: truth {truth[url]}, crawl {found[url]}")
    websim.check(len(found) > 120, f"only {len(found)} URLs")
    print(f"{len(found)} URLs")
websim.finish()
