#!/usr/bin/env python3
"""40,000 connections at the same time on two threads, each used twice; and a million hosts in no more memory than a
thousand."""
import os
import resource
import socket
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import websim
from websim import check

CLIENTS, EACH = 4, 10000
SKIPPED = 77
if resource.getrlimit(resource.RLIMIT_NOFILE)[1] < 20000:
    print("a limit of 20,000 open files is needed")
    sys.exit(SKIPPED)
resource.setrlimit(resource.RLIMIT_NOFILE, (20000, 20000))


def hosts_of(server, count):
    """(address, name) of as many hosts."""
    found = []
    for line in websim.run("zone", *server.web).splitlines():
        words = line.split()
        if words[0].startswith("h") and words[2] == "A":
            found.append((words[3], words[0].rstrip(".")))
    return found[:count]


def ask(sock, name):
    """A request and its whole answer."""
    sock.sendall(f"GET / HTTP/1.1\r\nHost: {name}\r\n\r\n".encode())
    data = sock.recv(65536)
    while b"\r\n\r\n" not in data:
        data += sock.recv(65536)
    head, _, body = data.partition(b"\r\n\r\n")
    length = int(head.split(b"Content-Length: ")[1].split(b"\r\n")[0])
    while len(body) < length:
        body += sock.recv(65536)
    return head.startswith(b"HTTP/1.1 200 ")


def client(server, hosts, ready, go):
    """Opens its connections, uses each; when all clients are there, uses each again."""
    socks = []
    for i in range(EACH):
        address, name = hosts[i % len(hosts)]
        sock = socket.create_connection((address, server.port), 60)
        socks.append((sock, name))
        if not ask(sock, name):
            os._exit(1)
    os.write(ready, b"x")
    os.read(go, 1)
    os._exit(0 if all(ask(sock, name) for sock, name in socks) else 1)


def resident_bytes(server):
    with open(f"/proc/{server.process.pid}/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmRSS"))


# The kernel bounds a ring's table by the limit of open files: both tables are filled to the last slot.
with websim.Server("--plain", "--hosts", 2000, "--addresses", 200, "--pages", 1, "--size", 256, "--links", 1, "--no-dns",
                   "--threads", 2, "--connections", 20000) as server:
    hosts = hosts_of(server, 2000)
    ready_read, ready_write = os.pipe()
    go_read, go_write = os.pipe()
    children = []
    for _ in range(CLIENTS):
        child = os.fork()
        if child == 0:
            client(server, hosts, ready_write, go_read)
        children.append(child)
    os.close(ready_write)
    waiting = CLIENTS
    while waiting:
        arrived = len(os.read(ready_read, CLIENTS))
        if arrived == 0:
            sys.exit("a client has died")
        waiting -= arrived
    memory = resident_bytes(server)
    os.write(go_write, b"x" * CLIENTS)
    for child in children:
        check(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0, "a client was not answered")
    totals = server.stop()
    check(totals["at-once"] == CLIENTS * EACH, f"{totals['at-once']} connections at once")
    check(totals["answered"] == 2 * CLIENTS * EACH, f"{totals['answered']} answers")
    print(f"{totals['at-once']} connections, {memory >> 20} MiB resident")

used = []
for hosts in (1000, 1000000):
    with websim.Server("--plain", "--hosts", hosts) as server:
        name = websim.split(server.command("seeds", "--count", 1).split()[0])[0]
        with server.connect(name) as sock:
            websim.get(sock, f"http://{name}:{server.port}/")
        used.append(resident_bytes(server))
check(used[1] < used[0] + (4 << 20), f"{used[0]} bytes for a thousand hosts, {used[1]} for a million")
check(used[1] < 200 << 20, f"{used[1]} bytes for a million hosts")
websim.finish()
