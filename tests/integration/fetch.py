#!/usr/bin/env python3
"""lycosa fetch against nginx: plain and TLS, both address families, whole files, chunked bodies, kept-alive
connections, names through a real DNS server; then its options and exit codes."""
import hashlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

BUILD = os.environ["BUILD_DIR"]
LYCOSA = os.path.join(BUILD, "lycosa")
SIZES = [0, 1, 2, 1000, 16383, 16384, 16385, 65536, 1000003, 50 << 20]


def need(*programs):
    path = os.environ["PATH"] + ":/usr/sbin:/sbin"
    for program in programs:
        if not shutil.which(program, path=path):
            print("skipped: no", program)
            sys.exit(77)
    os.environ["PATH"] = path


def free_port(kind=socket.SOCK_STREAM):
    with socket.socket(socket.AF_INET, kind) as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def has_ipv6():
    try:
        with socket.socket(socket.AF_INET6) as s:
            s.bind(("::1", 0))
        return True
    except OSError:
        return False


def fetch(*arguments, code=0, timeout=120):
    run = subprocess.run([LYCOSA, "fetch", *arguments], capture_output=True, timeout=timeout)
    assert run.returncode == code, (arguments, run.returncode, run.stdout[:2000], run.stderr[-4000:])
    return run


def fetch_json(*arguments, code=0):
    return [json.loads(line) for line in fetch("--json", *arguments, code=code).stdout.splitlines()]


def wait_for(port, process):
    """True once somebody listens; False if the process that should has ended."""
    while process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return True
        except OSError:
            time.sleep(0.02)
    return False


class Certificates:
    """A CA made on the spot, and server certificates of several kinds."""

    def __init__(self, folder):
        self.folder = folder
        self.run("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "ca.key", "-out", "ca.pem", "-days", "2",
                 "-subj", "/CN=test CA")
        self.make("good", "DNS:localhost,IP:127.0.0.1,IP:::1,DNS:www.lycosa.test", 2)
        self.make("other", "DNS:elsewhere.test", 2)
        self.make("expired", "DNS:localhost,IP:127.0.0.1", -1)
        self.run("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "self.key", "-out", "self.pem", "-days",
                 "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1")

    def run(self, *arguments):
        subprocess.run(["openssl", *arguments], cwd=self.folder, check=True, capture_output=True)

    def make(self, name, names, days):
        self.run("req", "-newkey", "rsa:2048", "-nodes", "-keyout", name + ".key", "-out", name + ".csr", "-subj",
                 "/CN=" + name)
        with open(os.path.join(self.folder, name + ".ext"), "w") as f:
            f.write("subjectAltName=%s\n" % names)
        self.run("x509", "-req", "-in", name + ".csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial",
                 "-extfile", name + ".ext", "-out", name + ".pem", "-days", str(days))

    def path(self, name):
        return os.path.join(self.folder, name)


class Nginx:
    def __init__(self, folder, certificates):
        self.folder = folder
        self.root = os.path.join(folder, "root")
        os.mkdir(self.root)
        self.digests = {}
        for size in SIZES:
            self.write("%d" % size, os.urandom(1 << 16) * (size >> 16) + os.urandom(size & 0xffff))
        self.write("page.shtml", b"before <!--#echo var=\"REQUEST_METHOD\" --> after\n" * 1000)
        os.chmod(folder, 0o755)
        # A port that was free may be somebody's connection by the time nginx asks for it.
        for _ in range(10):
            self.ports = {name: free_port() for name in ("plain", "good", "other", "expired", "self", "new")}
            self.start(certificates)
            if all(wait_for(port, self.process) for port in self.ports.values()):
                return
        raise SystemExit("nginx did not start: " + open(os.path.join(folder, "error.log")).read())

    def start(self, certificates):
        folder = self.folder
        listens = "listen 127.0.0.1:%d;" % self.ports["plain"]
        if has_ipv6():
            listens += "listen [::1]:%d;" % self.ports["plain"]
        servers = "server { %s root %s; location ~ shtml { ssi on; } }\n" % (listens, self.root)
        for name in ("good", "other", "expired", "self"):
            servers += self.tls_server(name, certificates, name, "TLSv1.2")
        servers += self.tls_server("new", certificates, "good", "TLSv1.3")
        temp = "".join(kind + "_temp_path %s/t;" % folder for kind in
                       ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        with open(os.path.join(folder, "nginx.conf"), "w") as f:
            f.write("daemon off; pid %s/pid; worker_processes 1; events { worker_connections 1024; }\n"
                    "http { access_log %s/access.log; keepalive_requests 1000000; types { text/html shtml; }\n"
                    "ssl_session_cache shared:s:1m; %s\n%s }\n" % (folder, folder, temp, servers))
        self.process = subprocess.Popen(["nginx", "-p", folder, "-c", os.path.join(folder, "nginx.conf"), "-e",
                                         os.path.join(folder, "error.log")])

    def tls_server(self, name, certificates, certificate, version):
        return ("server { listen 127.0.0.1:%d ssl; root %s; ssl_certificate %s; ssl_certificate_key %s; "
                "ssl_protocols %s; }\n" % (self.ports[name], self.root, certificates.path(certificate + ".pem"),
                                           certificates.path(certificate + ".key"), version))

    def write(self, name, data):
        with open(os.path.join(self.root, name), "wb") as f:
            f.write(data)
        self.digests[name] = hashlib.sha256(data).hexdigest()

    def url(self, path, port="plain", host="127.0.0.1"):
        scheme = "http" if port == "plain" else "https"
        return "%s://%s:%d/%s" % (scheme, host, self.ports[port], path)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()


def digest_of(path):
    with open(path, "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()


def check_files(server, ca, folder):
    """Files of every size, byte for byte, over plain HTTP and TLS, one connection and several."""
    names = [str(size) for size in SIZES]
    for port in ("plain", "good"):
        for connections in ("1", "3"):
            out = os.path.join(folder, "%s%s" % (port, connections))
            lines = fetch_json("--cacert", ca, "-o", out, "--connections", connections,
                               *[server.url(name, port) for name in names])
            assert len(lines) == len(names)
            for line in lines:
                name = line["url"].rsplit("/", 1)[1]
                assert line["outcome"] == "done" and line["status"] == 200, line
                assert line["bytes"] == int(name) and line["address"] == "127.0.0.1", line
                assert digest_of(os.path.join(out, line["file"])) == server.digests[name], line
            shutil.rmtree(out)


def check_stdout(server):
    body = fetch(server.url("16385")).stdout
    assert hashlib.sha256(body).hexdigest() == server.digests["16385"]
    body = fetch("--connections", "4", "--repeat", "4", server.url("65536")).stdout
    with open(os.path.join(server.root, "65536"), "rb") as f:
        assert body == f.read() * 4


def check_chunked(server):
    body = fetch(server.url("page.shtml")).stdout
    assert body == b"before GET after\n" * 1000, body[:100]


def check_keep_alive(server, ca):
    """Thousands of requests over few connections; TLS sessions are resumed."""
    lines = fetch_json("--repeat", "5000", "--connections", "4", server.url("1000"))
    assert len(lines) == 5000 and all(l["outcome"] == "done" and l["bytes"] == 1000 for l in lines)
    assert sum(not l["reused"] for l in lines) == 4
    lines = fetch_json("--cacert", ca, "--repeat", "300", "--connections", "3", server.url("1000", "good"))
    assert sum(not l["reused"] for l in lines) == 3 and all(l["outcome"] == "done" for l in lines)
    # To another host and back: new connections, resumed sessions.
    urls = [server.url("1", "good"), server.url("1")] * 20
    lines = fetch_json("--cacert", ca, *urls)
    assert not any(l["reused"] for l in lines) and all(l["outcome"] == "done" for l in lines), lines
    assert [l["resumed"] for l in lines[0::2]] == [False] + [True] * 19, lines


def check_times(server, ca):
    line, = fetch_json("--cacert", ca, server.url("1000", "good"))
    assert line["tls"] == "TLSv1.2" and line["suite"] and not line["resumed"], line
    for key in ("connect_ms", "tls_ms", "first_byte_ms"):
        assert 0 < line[key] < line["total_ms"], (key, line)


def check_ipv6(server):
    if not has_ipv6():
        print("no IPv6 here")
        return
    line, = fetch_json(server.url("16384", host="[::1]"))
    assert line["address"] == "::1" and line["bytes"] == 16384, line


def check_certificates(server, ca):
    expected = {"other": "tls-cert-name", "expired": "tls-cert-expired", "self": "tls-cert-self-signed",
                "new": "tls-alert-protocol-version"}
    for port, outcome in expected.items():
        line, = fetch_json("--cacert", ca, server.url("1", port), code=1)
        assert line["outcome"] == outcome, (port, line)
    for port in ("other", "expired", "self"):
        line, = fetch_json("--insecure", "--cacert", ca, server.url("1", port))
        assert line["outcome"] == "done" and line["certificate"] == expected[port][4:], line
    line, = fetch_json(server.url("1", "good"), code=1)
    assert line["outcome"] == "tls-cert-untrusted", line
    run = fetch("--cacert", "/nowhere/ca.pem", server.url("1", "good"), code=1)
    assert b"/nowhere/ca.pem" in run.stderr and run.stderr.count(b"\n") == 1, run.stderr


def start_nsd(folder):
    """nsd and its port, which has to be free for UDP and TCP."""
    for _ in range(10):
        port = free_port()
        with open(os.path.join(folder, "nsd.conf"), "w") as f:
            f.write("server:\n ip-address: 127.0.0.1\n port: %d\n username: \"\"\n chroot: \"\"\n pidfile: \"%s/nsd.pid\"\n"
                    " zonesdir: \"%s\"\n database: \"\"\n logfile: \"%s/nsd.log\"\n xfrdfile: \"%s/xfrd\"\n"
                    " zonelistfile: \"%s/zones\"\n server-count: 1\nremote-control:\n control-enable: no\n"
                    "zone:\n name: lycosa.test\n zonefile: zone\n" % ((port,) + (folder,) * 5))
        process = subprocess.Popen(["nsd", "-d", "-c", os.path.join(folder, "nsd.conf")], stderr=subprocess.DEVNULL)
        if wait_for(port, process):
            return process, port
    raise SystemExit("nsd did not start: " + open(os.path.join(folder, "nsd.log")).read())


def check_names(server, ca, folder):
    """A real name server: an address, an alias, a name that is not there, a server that is not there."""
    if not shutil.which("nsd"):
        print("no nsd here")
        return
    with open(os.path.join(folder, "zone"), "w") as f:
        f.write("$ORIGIN lycosa.test.\n$TTL 60\n@ SOA ns root 1 60 60 60 60\n@ NS ns\nns A 127.0.0.1\n"
                "www A 127.0.0.1\nalias CNAME www\nempty TXT nothing\ntwo A 127.0.0.9\ntwo A 127.0.0.1\n")
    process, port = start_nsd(folder)
    try:
        dns = ["--dns", "127.0.0.1:%d" % port]
        for host in ("www", "alias"):
            line, = fetch_json(*dns, server.url("1000", host=host + ".lycosa.test"))
            assert line["outcome"] == "done" and line["dns_ms"] > 0, line
        line, = fetch_json(*dns, "--cacert", ca, server.url("1000", "good", host="www.lycosa.test"))
        assert line["outcome"] == "done", line
        # nginx does not listen on the first of the two addresses, whichever comes first: the other is tried.
        line, = fetch_json(*dns, server.url("1000", host="two.lycosa.test"))
        assert line["outcome"] == "done" and line["address"] == "127.0.0.1", line
        line, = fetch_json(*dns, server.url("1000", host="nobody.lycosa.test"), code=1)
        assert line["outcome"] == "dns-no-name", line
        line, = fetch_json(*dns, server.url("1000", host="empty.lycosa.test"), code=1)
        assert line["outcome"] == "dns-no-data", line
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()
    line, = fetch_json(*dns, server.url("1", host="www.lycosa.test"), code=1)
    assert line["outcome"] in ("dns-unreachable", "dns-timeout", "dns-refused"), line
    line, = fetch_json(*dns, "--max-time", "0.1", server.url("1", host="www.lycosa.test"), code=1)
    assert line["outcome"] == "exchange-timeout" and 100 <= line["total_ms"] < 5000, line


def check_options(server, folder):
    assert b"usage" in fetch(code=2).stderr
    assert b"usage" in fetch("--no-such-option", server.url("1"), code=2).stderr
    for bad in (["--connections", "0"], ["--repeat", "x"], ["--max-time", "-1"]):
        run = fetch(*bad, server.url("1"), code=2)
        assert bad[0].encode() in run.stderr, run.stderr
    assert b"ftp://x/" in fetch("ftp://x/", code=2).stderr
    run = fetch("--connections", "1000000", "--repeat", "1000000", server.url("1"), code=1)
    assert b"ulimit -Hn" in run.stderr, run.stderr
    line, = fetch_json("http://192.0.2.1/", code=1)
    assert line["outcome"] == "address-forbidden", line
    run = fetch("-o", "/dev/null/x", server.url("1"), code=1)
    assert b"/dev/null/x" in run.stderr
    line, = fetch_json(server.url("none"))
    assert line["status"] == 404 and line["outcome"] == "done", line
    if os.path.exists("/dev/full"):
        os.mkdir(os.path.join(folder, "full"))
        os.symlink("/dev/full", os.path.join(folder, "full", "1"))
        assert b"No space left" in fetch("-o", os.path.join(folder, "full"), server.url("65536"), code=3).stderr


def check_verbose(server, ca):
    """-v shows the exchange on stderr, -I prints the head alone, each command explains itself."""
    run = fetch("-v", "--cacert", ca, server.url("1000", "good", "localhost"))
    said = run.stderr.decode()
    assert len(run.stdout) == 1000
    for line in ("* connected to 127.0.0.1 port", "* TLSv1.2", "> GET /1000 HTTP/1.1", "< HTTP/1.1 200", "* done: 1000 bytes"):
        assert line in said, said
    said = fetch("-v", server.url("1", "new", "localhost"), code=1).stderr.decode()
    assert said.startswith("* connected to 127.0.0.1 port ") and "* tls-alert-protocol-version: 0 bytes" in said, said
    with socket.socket() as unheard:
        unheard.bind(("127.0.0.1", 0))
        port = unheard.getsockname()[1]
        said = fetch("-v", f"http://127.0.0.1:{port}/", code=1).stderr.decode()
    assert said.startswith(f"* could not connect to 127.0.0.1 port {port}\n* connect-refused: "), said
    run = fetch("-I", server.url("1000"))
    assert run.stdout.startswith(b"HTTP/1.1 200") and b"Content-Length: 1000" in run.stdout, run.stdout
    for command in ("fetch", "url", "links", "robots", "crawl", "why"):
        run = subprocess.run([LYCOSA, command, "--help"], capture_output=True, timeout=60)
        assert run.returncode == 0 and run.stdout.startswith(b"usage: lycosa " + command.encode()), (command, run)


def check_signal(server):
    """An interrupted run ends in order."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(8)
        run = subprocess.Popen([LYCOSA, "fetch", "http://127.0.0.1:%d/" % listener.getsockname()[1]],
                               stderr=subprocess.PIPE)
        peer, _ = listener.accept()
        run.send_signal(signal.SIGINT)
        assert run.wait(10) == 11, run.returncode
        assert b"aborted" in run.stderr.read()
        peer.close()


def main():
    need("nginx", "openssl")
    folder = tempfile.mkdtemp(prefix="lycosa_fetch.")
    server = None
    try:
        certificates = Certificates(folder)
        server = Nginx(folder, certificates)
        ca = certificates.path("ca.pem")
        check_files(server, ca, folder)
        check_stdout(server)
        check_chunked(server)
        check_keep_alive(server, ca)
        check_times(server, ca)
        check_ipv6(server)
        check_certificates(server, ca)
        check_names(server, ca, folder)
        check_options(server, folder)
        check_verbose(server, ca)
        check_signal(server)
    finally:
        if server:
            server.stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
