"""A name server on a loopback port for whole-crawl tests: answers are what a function of the test says."""
import socket
import struct
import threading

A, AAAA = 1, 28
NXDOMAIN, TRUNCATED = object(), object()


def read_question(query):
    """The name, its type, and where the question ends."""
    labels, at = [], 12
    while query[at]:
        labels.append(query[at + 1:at + 1 + query[at]].decode("latin1").lower())
        at += 1 + query[at]
    return ".".join(labels), struct.unpack(">H", query[at + 1:at + 3])[0], at + 5


def record(kind, address, ttl):
    data = socket.inet_pton(socket.AF_INET6 if kind == AAAA else socket.AF_INET, address)
    return b"\xc0\x0c" + struct.pack(">HHIH", kind, 1, ttl, len(data)) + data


def denial(ttl):
    """The SOA record that says how long a name's absence holds."""
    data = b"\x02ns\x00\x04root\x00" + struct.pack(">IIIII", 1, 3600, 600, 86400, ttl)
    return b"\xc0\x0c" + struct.pack(">HHIH", 6, 1, ttl, len(data)) + data


class NameServer:
    """`rule(name, kind)` gives the addresses of that kind, NXDOMAIN, TRUNCATED, or None for silence. Nobody listens for
    TCP on its port. `asked` lists the names, the probe for the root as ""."""

    def __init__(self, rule, ttl=300):
        self.rule, self.ttl, self.asked = rule, ttl, []

    def __enter__(self):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.at = "127.0.0.1:%d" % self.socket.getsockname()[1]
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            sender.sendto(b"", self.socket.getsockname())  # an empty datagram ends the thread
        self.thread.join()
        self.socket.close()

    def serve(self):
        while True:
            query, peer = self.socket.recvfrom(4096)
            if not query:
                return
            name, kind, end = read_question(query)
            self.asked.append(name)
            found = self.rule(name, kind)
            if found is not None:
                self.socket.sendto(self.answer(query, end, kind, found), peer)

    def answer(self, query, end, kind, found):
        flags = 0x8183 if found is NXDOMAIN else 0x8380 if found is TRUNCATED else 0x8180
        records = [] if found is NXDOMAIN or found is TRUNCATED else [record(kind, one, self.ttl) for one in found]
        authority = [denial(self.ttl)] if found is NXDOMAIN else []
        return (query[:2] + struct.pack(">HHHHH", flags, 1, len(records), len(authority), 0) + query[12:end] +
                b"".join(records + authority))
