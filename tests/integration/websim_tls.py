#!/usr/bin/env python3
"""https hosts: certificates, versions of the protocol, and everything else as over http."""
import os
import socket
import ssl
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import websim
from websim import check, get

with tempfile.TemporaryDirectory() as directory:
    ca = os.path.join(directory, "ca.pem")
    with websim.Server("--plain", "--hosts", 40, "--pages", 20, "--https", 0.5, "--chunked", 0.5, "--gzip", 0.5, "--size",
                       "40K", "--think-ms", 2, "--ca", ca) as server:
        truth = [line.split("\t") for line in server.command("truth").splitlines()]
        secure = [(url, int(size)) for url, status, size, *_ in truth if url.startswith("https") and status == "200"]
        plain = [url for url, *_ in truth if url.startswith("http:")]
        check(len(secure) > 100 and len(plain) > 100, "both schemes")
        for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
            context = ssl.create_default_context(cafile=ca)
            context.minimum_version = context.maximum_version = version
            name = websim.split(secure[0][0])[0]
            urls = [(url, size) for url, size in secure if f"//{name}:" in url]
            with context.wrap_socket(server.connect(name, port=server.ports["https"]), server_hostname=name) as sock:
                for url, size in urls:
                    status, _, body = get(sock, url)
                    check(status == 200 and len(body) == size, f"{url}: {status}, {len(body)} of {size} bytes")
                check(len(urls) > 5, f"{len(urls)} pages")
        other = websim.split(plain[0])[0]
        for wanted, why in ((other, "hostname"), ("nobody.sim", "unknown")):
            try:
                with context.wrap_socket(server.connect(other, port=server.ports["https"]), server_hostname=wanted) as sock:
                    status = get(sock, f"https://{wanted}:{server.ports['https']}/")[0]
                    check(status == 421, f"{why}: {status}")
            except (ssl.SSLError, ConnectionError):
                check(why == "unknown", f"{why}: no handshake")
        with server.connect(name, port=server.ports["https"]) as sock:
            sock.sendall(b"GET / HTTP/1.1\r\n\r\n")
            check(not sock.recv(4096).startswith(b"HTTP"), "speaks without TLS")
        with server.connect(name) as sock:
            check(get(sock, f"http://{name}:{server.port}/")[0] == 421, "an https host answers http")
        with open(ca) as file:
            check("PRIVATE" not in file.read(), "the key of the authority is in the file")
websim.finish()
