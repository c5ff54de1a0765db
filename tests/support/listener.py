"""Servers whose every byte is the test's matter: a thread for each connection, and nothing of HTTP."""
import shutil
import socket
import subprocess
import tempfile
import threading
from pathlib import Path


class Listener:
    """Calls serve(connection) for each connection to a port of its own."""

    def __init__(self, serve):
        self.serve = serve
        self.socket = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def close(self):
        self.socket.close()


class Site:
    """One host, as Crawl expects a web; subclasses have serve(connection)."""
    scheme = "http"
    dns = "127.0.0.1:1"  # names are not used

    def __enter__(self):
        self.directory = Path(tempfile.mkdtemp(prefix="lycosa-site-"))
        self.listener = Listener(self.serve)
        self.port = self.listener.port
        return self

    def __exit__(self, *_):
        self.listener.close()
        shutil.rmtree(self.directory)

    def seeds(self):
        path = self.directory / "seeds.txt"
        path.write_text(f"{self.scheme}://127.0.0.1:{self.port}/\n")
        return path


def read_request(connection):
    """The head of a request, or None at the end of the stream."""
    data = b""
    while b"\r\n\r\n" not in data:
        piece = connection.recv(4096)
        if not piece:
            return None
        data += piece
    return data


def load_certificate(context, folder):
    """Makes a certificate of localhost in `folder` and has the context use it."""
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "key.pem", "-out",
                    "cert.pem", "-days", "2", "-subj", "/CN=localhost"], cwd=folder, check=True, capture_output=True)
    context.load_cert_chain(Path(folder, "cert.pem"), Path(folder, "key.pem"))
