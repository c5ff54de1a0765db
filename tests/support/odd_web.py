"""Servers with one odd habit each, all on one port of loopback addresses of their own.

A case is a name and the raw bytes of its answers: {path: answer}. An answer is bytes (the connection stays open), an
End (the bytes, then the end of the connection), a Slow (pieces that come one by one), or a function of the server's
origin that returns one of these. Every case has a link to /found/NAME, or says which path it wants to be asked for."""
import asyncio
import shutil
import ssl
import subprocess
import tempfile
import threading
from dataclasses import dataclass, field
from pathlib import Path

KEYS = {"rsa": ["rsa:2048"], "ec": ["ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]}


@dataclass
class End:
    """Bytes, then the end of the connection; without the TLS goodbye if it is not `orderly`."""
    data: bytes
    orderly: bool = True


@dataclass
class Slow:
    """Pieces with a pause after each."""
    pieces: list
    pause_s: float = 0.005
    closes: bool = False


@dataclass
class Case:
    name: str
    pages: dict = field(default_factory=dict)
    wanted: list = field(default_factory=list)  # paths that must be asked for
    unwanted: list = field(default_factory=list)  # paths that must not
    tls: str = ""  # kind of the key: "rsa" or "ec"
    start: str = "/"


def reply(body=b"", *fields, line="HTTP/1.1 200 OK", kind="text/html", length=True):
    """An answer as it should be, with these fields beside."""
    lines = [line, *([f"Content-Type: {kind}"] if kind is not None else []), *fields]
    lines += [f"Content-Length: {len(body)}"] if length else []
    return b"".join(part if isinstance(part, bytes) else part.encode("latin-1")
                    for row in lines for part in (row, b"\r\n")) + b"\r\n" + body


def html(link, head="", before="", after=""):
    """A small page with one link."""
    return (f"<!DOCTYPE html><html><head><title>A page</title>{head}</head><body>{before}"
            f'<p>Go <a href="{link}">on</a>.</p>{after}</body></html>').encode()


class OddWeb:
    """`with OddWeb(cases) as web:` serves until the end of the block. `asked` has (name of the case, path)."""
    dns = "127.0.0.1:1"  # names are not used

    def __init__(self, cases):
        self.cases = {f"127.1.{1 + i // 250}.{1 + i % 250}": case for i, case in enumerate(cases)}
        self.asked = []

    def __enter__(self):
        self.directory = Path(tempfile.mkdtemp(prefix="lycosa-odd-"))
        self.loop = asyncio.new_event_loop()
        started = threading.Event()
        self.thread = threading.Thread(target=self.run, args=(started,))
        self.thread.start()
        started.wait()
        return self

    def __exit__(self, *_):
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        shutil.rmtree(self.directory)

    def run(self, started):
        asyncio.set_event_loop(self.loop)
        self.loop.set_exception_handler(lambda *_: None)  # connections that a client has left
        self.loop.run_until_complete(self.listen())
        started.set()
        self.loop.run_forever()
        for task in asyncio.all_tasks(self.loop):
            task.cancel()
        self.loop.run_until_complete(asyncio.sleep(0))
        self.loop.close()

    async def listen(self):
        self.port = 0
        for address, case in self.cases.items():
            server = await asyncio.start_server(self.serve, address, self.port, ssl=self.context(case.tls) if case.tls else None)
            self.port = server.sockets[0].getsockname()[1]

    def context(self, kind):
        """TLS 1.2 with a certificate that nobody knows."""
        key, certificate = self.directory / f"{kind}.key", self.directory / f"{kind}.pem"
        if not certificate.exists():
            subprocess.run(["openssl", "req", "-x509", "-nodes", "-newkey", *KEYS[kind], "-keyout", key, "-out", certificate,
                            "-subj", "/CN=odd", "-days", "30"], check=True, capture_output=True)
        made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        made.maximum_version = ssl.TLSVersion.TLSv1_2
        made.load_cert_chain(certificate, key)
        return made

    def origin(self, address):
        return f"http{'s' if self.cases[address].tls else ''}://{address}:{self.port}"

    def seeds(self):
        path = self.directory / "seeds.txt"
        path.write_text("".join(self.origin(address) + case.start + "\n" for address, case in self.cases.items()))
        return path

    async def serve(self, reader, writer):
        address = writer.get_extra_info("sockname")[0]
        case = self.cases[address]
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                path = head.split(b" ")[1].decode("latin-1")
                self.asked.append((case.name, path))
                answer = case.pages.get(path, MISSING if path == "/robots.txt" else FOUND)
                if callable(answer):
                    answer = answer(self.origin(address))
                if await send(writer, answer):
                    break
        except (asyncio.IncompleteReadError, ConnectionError, ssl.SSLError):
            pass
        finally:
            writer.close()

    def lost(self):
        """{name: what went wrong} of the cases that were not crawled as they want."""
        asked = set(self.asked)
        wrong = {}
        for case in self.cases.values():
            missing = [path for path in case.wanted if (case.name, path) not in asked]
            surplus = [path for path in case.unwanted if (case.name, path) in asked]
            if missing or surplus:
                wrong[case.name] = " ".join([f"not asked for {path}" for path in missing] +
                                            [f"asked for {path}" for path in surplus])
        return wrong


MISSING = reply(b"none", line="HTTP/1.1 404 Not Found", kind="text/plain")
FOUND = reply(b"here", kind="text/plain")


async def send(writer, answer):
    """True if the connection is at its end."""
    if isinstance(answer, Slow):
        for piece in answer.pieces:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(answer.pause_s)
        return answer.closes
    writer.write(answer.data if isinstance(answer, End) else answer)
    await writer.drain()
    if isinstance(answer, End) and not answer.orderly:
        writer.transport.abort()
    return isinstance(answer, End)
