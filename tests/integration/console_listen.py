#!/usr/bin/env python3
"""A console that listens where others could reach it: with a token of the operator's own, names, and open metrics. It runs in a
network of its own, which has nothing but a loopback device."""
import ctypes
import fcntl
import http.client
import os
import socket
import struct
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
sys.path.insert(0, str(Path(__file__).resolve().parent))
from console import Running  # noqa: E402
from simulated import RUDE, Web, main, merge  # noqa: E402

CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000
SIOCSIFFLAGS, IFF_UP = 0x8914, 1
TOKEN = "an-operators-own-token-of-40-characters!"


def enter_network():
    """A network that leads nowhere. False: it cannot be had here."""
    unshare, uid, gid = ctypes.CDLL(None, use_errno=True).unshare, os.getuid(), os.getgid()
    if unshare(CLONE_NEWNET) != 0:
        if unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0:
            return False
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{uid} {uid} 1")
        Path("/proc/self/gid_map").write_text(f"{gid} {gid} 1")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", IFF_UP))
    return True


def ask(address, port, path, host=None, token=None):
    client = http.client.HTTPConnection(address, port, timeout=20)
    fields = {"Host": host} if host else {}
    if token:
        fields["Authorization"] = f"Bearer {token}"
    client.request("GET", path, headers=fields)
    status = client.getresponse().status
    client.close()
    return status


def open_console(web, **control):
    file = web.directory / "token"
    file.write_text(TOKEN + "\n")
    return Running(web, merge(RUDE, {"net": {"bandwidth": "1KB"}, "control": {"token-file": str(file), **control}}))


def test_all_addresses():
    with Web("--hosts", "5", "--pages", "5") as web:
        with open_console(web, listen="0.0.0.0:0", metrics="open", names="crawler.example.org, other.example:81") as crawl:
            port = crawl.port
            assert crawl.info()["url"] == f"http://crawler.example.org:{port}/#{TOKEN}" and crawl.info()["token"] == TOKEN, crawl.info()
            for address in ("127.0.0.1", "127.0.0.5", "127.9.9.9"):
                assert ask(address, port, "/") == 200, address
                assert ask(address, port, "/metrics") == 200, "metrics are open"
                assert ask(address, port, "/api/v1/crawl") == 401
                assert ask(address, port, "/api/v1/crawl", token=TOKEN) == 200
                assert ask(address, port, "/api/v1/crawl", token=TOKEN[:-1] + "?") == 401
                for host, status in [(f"crawler.example.org:{port}", 200), (f"localhost:{port}", 200), ("other.example:81", 200),
                                     (f"other.example:{port}", 403), ("crawler.example.org", 403), (f"0.0.0.0:{port}", 403),
                                     (f"127.0.0.6:{port}", 403), (f"evil.example:{port}", 403)]:
                    assert ask(address, port, "/", host=host, token=TOKEN) == status, (address, host)
            crawl.ctl("stop")
            crawl.process.communicate(timeout=60)


def test_metrics_are_guarded():
    with Web("--hosts", "5", "--pages", "5") as web:
        with open_console(web, listen="0.0.0.0:0") as crawl:
            assert crawl.info()["url"] == f"http://localhost:{crawl.port}/#{TOKEN}", crawl.info()
            assert ask("127.0.0.1", crawl.port, "/metrics") == 401
            assert ask("127.0.0.1", crawl.port, "/metrics", token=TOKEN) == 200
            assert ask("127.0.0.1", crawl.port, "/healthz") == 200


if __name__ == "__main__":
    if not enter_network():
        print("skipped: no network of its own (unshare)")
        sys.exit(77)
    main([test_all_addresses, test_metrics_are_guarded])
