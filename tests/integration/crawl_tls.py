#!/usr/bin/env python3
"""TLS in a crawl: later visits to a host resume the session of earlier ones, the WARC says which protocol was spoken, and
a body that only the end of the connection ends is whole only if the server said goodbye."""
import re
import shutil
import socket
import ssl
import sys
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import warc  # noqa: E402
from listener import Site, load_certificate, read_request  # noqa: E402
from simulated import RUDE, Crawl, main, merge  # noqa: E402

PAGES = 8


class SecureSite(Site):
    """One host, every page on a connection of its own; `resumed` has a truth value per handshake."""
    scheme = "https"

    def __init__(self, version):
        self.resumed = []
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.set_ciphers("DEFAULT:@SECLEVEL=0")
        self.context.minimum_version = self.context.maximum_version = version

    def __enter__(self):
        super().__enter__()
        load_certificate(self.context, self.directory)
        return self

    def serve(self, connection):
        with connection:
            try:
                with self.context.wrap_socket(connection, server_side=True) as secure:
                    self.resumed.append(secure.session_reused)
                    self.answer(secure)
                    secure.unwrap()  # without a goodbye OpenSSL drops the session
            except (OSError, ValueError):
                pass  # the crawler has had enough

    def answer(self, connection):
        if not read_request(connection):
            return
        body = b"".join(b'<a href="/%d">x</a>' % i for i in range(PAGES))
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n"
                           b"Content-Length: %d\r\n\r\n" % len(body) + body)


class LeavingSite(SecureSite):
    """Bodies end with the connection; after that of /cut there is no goodbye."""

    def answer(self, connection):
        path = connection.recv(4096).split(b" ")[1].decode()
        links = {"/": ["/cut", "/whole"], "/cut": ["/after-cut"], "/whole": ["/after-whole"]}.get(path, [])
        body = "".join(f'<a href="{link}">x</a>' for link in links).encode()
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + body)
        if path == "/cut":
            raise OSError("no goodbye")


def responses(crawl):
    return {record["WARC-Target-URI"].split("/", 3)[3]: record for path in crawl.warcs() if ".warc" in path.name
            for record in warc.read(path) if warc.is_capture(record)}


def test_only_a_goodbye_ends_a_body():
    with LeavingSite(ssl.TLSVersion.TLSv1_2) as site:
        crawl = Crawl(site, RUDE, "--threads", "1")
        assert crawl.code == 0, crawl.stderr
        rows = {row[3].split("/", 3)[3]: row for row in crawl.log}
        assert set(rows) == {"", "cut", "whole", "after-cut", "after-whole"}, list(rows)
        cut = {name for name, row in rows.items() if "tls-truncated" in row[11].split(",")}
        marked = {name for name, record in responses(crawl).items() if record["WARC-Truncated"]}
        assert cut == marked == {"cut"}, (cut, marked)
        assert responses(crawl)["cut"]["WARC-Truncated"] == "disconnect"
        assert crawl.summary["truncated"] == 1, crawl.summary["truncated"]


def check_crawl(version, protocol):
    with SecureSite(version) as site:
        crawl = Crawl(site, RUDE, "--threads", "1")
        assert crawl.code == 0 and len(crawl.fetched) == PAGES + 1, crawl.stderr + str(crawl.log)
        # robots.txt and each page come over a connection of their own; all but the first are short.
        assert site.resumed == [False] + [True] * (PAGES + 1), site.resumed
        assert crawl.summary["tls_handshakes"] == PAGES + 2, crawl.summary
        assert crawl.summary["tls_resumed"] == PAGES + 1, crawl.summary
        for path in crawl.warcs():
            for record in warc.read(path) if ".warc" in path.name else []:
                if record["WARC-Type"] in ("request", "response"):
                    protocols = [value for name, value in record.fields if name == "WARC-Protocol"]
                    assert protocols == ["http/1.1", protocol], record.fields
                    assert record["WARC-Cipher-Suite"].startswith("TLS_"), record.fields


def test_sessions_are_resumed():
    check_crawl(ssl.TLSVersion.TLSv1_2, "tls/1.2")


def test_the_protocol_is_that_of_the_connection():
    if not ssl.HAS_TLSv1_1:
        print("no TLS 1.1 in this OpenSSL: nothing to tell apart")
        return
    warnings.simplefilter("ignore", DeprecationWarning)
    check_crawl(ssl.TLSVersion.TLSv1_1, "tls/1.1")


def test_seeds_that_fail_are_told_apart():
    """A server of TLS 1.3 alone, a certificate that nobody vouches for, and a port where nobody listens."""
    with SecureSite(ssl.TLSVersion.TLSv1_3) as new, SecureSite(ssl.TLSVersion.TLSv1_2) as untrusted, socket.socket() as unheard:
        unheard.bind(("127.0.0.1", 0))
        seeds = new.directory / "all.txt"
        seeds.write_text(f"https://127.0.0.1:{new.port}/\nhttps://127.0.0.1:{untrusted.port}/\n"
                         f"http://127.0.0.1:{unheard.getsockname()[1]}/\n")
        tuning = merge(RUDE, {"net": {"tls-verify": "yes"}, "retry": {"host-failures": "2", "wait": "300ms"},
                              "status": {"interval": "100ms"}})
        crawl = Crawl(new, tuning, seeds=seeds)
        why = "1 connect-refused, 1 tls-cert-self-signed, 1 tls-alert-protocol-version"
        assert re.search(rf"failed 0 \(tries [3-6]\)  \|.* 3 hosts fail: {why}", crawl.stderr), crawl.stderr
        assert crawl.code == 5 and f"lycosa: nothing was fetched: 3 hosts fail: {why}" in crawl.stderr, crawl.stderr
        assert crawl.summary["tries_failed"] == {"connect-refused": 2, "tls-cert-self-signed": 2,
                                                 "tls-alert-protocol-version": 2}, crawl.summary
        assert [row[11].split(",")[1:] for row in crawl.log] == [["2t", "host-given-up"]] * 3, crawl.log


if __name__ == "__main__":
    if not shutil.which("openssl"):
        print("skipped: no openssl")
        sys.exit(77)
    main([test_only_a_goodbye_ends_a_body, test_sessions_are_resumed, test_the_protocol_is_that_of_the_connection,
          test_seeds_that_fail_are_told_apart])
