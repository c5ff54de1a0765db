"""Odd ways to speak HTTP that browsers put up with: codings, framing, heads, redirects, TLS."""
import gzip
import struct
import subprocess
import zlib

from odd_web import Case, End, Slow, html, reply

def case(name, answer, **more):
    """`answer(link)` for /, which leads to the page that must be asked for."""
    link = f"/found/{name}"
    return Case(name, {"/": answer(link)}, [link], **more)


def coded(name, coding, encode, body=html):
    return coded_by_fields(name, [coding], encode, body)


def coded_by_fields(name, codings, encode, body=html):
    return case(name, lambda link: reply(encode(body(link)), *(f"Content-Encoding: {coding}" for coding in codings)))


def raw_deflate(data):
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


def tool(*command):
    return lambda data: subprocess.run(command, input=data, capture_output=True, check=True).stdout


brotli, zstd = tool("brotli", "-c"), tool("zstd", "-q", "-c")


def long_page(link):
    """The link is at its beginning; what can be cut off is without it."""
    noise = "".join(f"<p>{zlib.crc32(bytes([i & 255, i >> 8])):x}</p>" for i in range(4000))
    return html(link, after=noise)


def cut(encode):
    return lambda data: encode(data)[:-len(encode(data)) // 3]


def gzip_with_everything(data):
    """FTEXT, FHCRC, FEXTRA, FNAME, FCOMMENT."""
    head = b"\x1f\x8b\x08\x1f\0\0\0\0\0\xff" + struct.pack("<H", 6) + b"AB\x02\0xy" + b"a name\0" + b"a comment\0"
    head += struct.pack("<H", zlib.crc32(head) & 0xffff)
    return head + raw_deflate(data) + struct.pack("<II", zlib.crc32(data), len(data))


def two_members(data):
    return gzip.compress(data[:40]) + gzip.compress(data[40:])


def damaged(data):
    """The second half is full of zeros."""
    packed = gzip.compress(data)
    return packed[:len(packed) // 2] + bytes(len(packed) - len(packed) // 2)


CODINGS = [
    case("as-it-should-be", lambda link: reply(html(link))),
    coded("gzip", "gzip", gzip.compress),
    coded("gzip-x", "x-gzip", gzip.compress),
    coded("gzip-upper", "GZIP", gzip.compress),
    coded("gzip-stored", "gzip", lambda data: gzip.compress(data, 0)),
    coded("gzip-no-trailer", "gzip", lambda data: gzip.compress(data)[:-8]),
    coded("gzip-half-trailer", "gzip", lambda data: gzip.compress(data)[:-3]),
    coded("gzip-bad-sum", "gzip", lambda data: gzip.compress(data)[:-8] + b"\1\2\3\4" + gzip.compress(data)[-4:]),
    coded("gzip-bad-size", "gzip", lambda data: gzip.compress(data)[:-4] + b"\1\2\3\4"),
    coded("gzip-cut", "gzip", cut(gzip.compress), long_page),
    coded("gzip-damaged", "gzip", damaged, long_page),
    coded("gzip-named-only", "gzip", bytes),
    coded("gzip-members", "gzip", two_members),
    coded("gzip-tail", "gzip", lambda data: gzip.compress(data) + b"\0" * 100),
    coded("gzip-tail-text", "gzip", lambda data: gzip.compress(data) + b"<!-- served by 7 -->"),
    coded("gzip-all-fields", "gzip", gzip_with_everything),
    coded("gzip-twice", "gzip, gzip", lambda data: gzip.compress(gzip.compress(data))),
    coded("gzip-after-deflate", "deflate, gzip", lambda data: gzip.compress(zlib.compress(data))),
    coded("gzip-empty-element", ", gzip", gzip.compress),
    coded_by_fields("gzip-after-deflate-two-fields", ["deflate", "gzip"], lambda data: gzip.compress(zlib.compress(data))),
    coded_by_fields("gzip-after-other-field", ["identity", "gzip"], gzip.compress),
    coded_by_fields("gzip-in-both-fields", ["gzip", "gzip"], gzip.compress),
    coded("deflate-zlib", "deflate", zlib.compress),
    coded("deflate-raw", "deflate", raw_deflate),
    coded("deflate-cut", "deflate", cut(zlib.compress), long_page),
    coded("deflate-no-sum", "deflate", lambda data: zlib.compress(data)[:-4]),
    coded("brotli", "br", brotli),
    coded("brotli-cut", "br", cut(brotli), long_page),
    coded("zstd", "zstd", zstd),
    *(coded(f"coding-{word or 'empty'}", word, bytes)
      for word in ("identity", "none", "UTF-8", "binary", "aws-chunked", "8bit", "", "text", "utf-8,identity")),
    *(coded(f"gzip-and-{word}", f"gzip, {word}", gzip.compress) for word in ("UTF-8", "aws-chunked")),
]


def chunks(data, size=50, form="{:x}", end=b"\r\n", last=b"0\r\n\r\n"):
    return b"".join(form.format(len(data[i:i + size])).encode() + end + data[i:i + size] + end
                    for i in range(0, len(data), size)) + last


def chunked(name, *fields, ends=False, body=html, **how):
    def answer(link):
        data = reply(chunks(body(link), **how), "Transfer-Encoding: chunked", *fields, length=False)
        return End(data) if ends else data
    return case(name, answer)


def framed(name, *fields, ends=True, line="HTTP/1.1 200 OK", after=b""):
    """With these fields instead of a Content-Length, then the end of the connection."""
    def answer(link):
        body = html(link)
        data = reply(body + after, *(text.replace("LENGTH", str(len(body))) for text in fields), line=line, length=False)
        return End(data) if ends else data
    return case(name, answer)


def pieces(data, size):
    return [data[i:i + size] for i in range(0, len(data), size)]


FRAMES = [
    chunked("chunked"),
    chunked("chunks-of-one", size=1),
    chunked("chunk-upper", form="{:X}"),
    chunked("chunk-zeros", form="{:08x}"),
    chunked("chunk-extension", form="{:x};name=value"),
    chunked("chunk-extension-quoted", form='{:x};name="a;b"'),
    chunked("chunk-extension-spaced", form="{:x} ; name"),
    chunked("chunk-spaces", form="{:x}   "),
    chunked("chunk-bare-lf", end=b"\n", last=b"0\n\n"),
    chunked("chunk-trailers", last=b"0\r\nX-Sum: 1\r\nX-Other: 2\r\n\r\n"),
    chunked("chunk-last-zeros", last=b"0000\r\n\r\n"),
    chunked("chunk-no-last", last=b"", ends=True),
    chunked("chunk-half-last", last=b"0\r\n", ends=True),
    chunked("chunk-cut", last=b"ff\r\n<p>The rest is", ends=True),
    chunked("chunked-and-length", "Content-Length: 5"),
    chunked("chunked-twice", "Transfer-Encoding: chunked"),
    chunked("chunked-gzip-cut", "Content-Encoding: gzip", body=lambda link: cut(gzip.compress)(long_page(link))),
    chunked("chunked-and-bad-length", "Content-Length: many"),
    chunked("chunk-bare-lf-some", end=b"\n"),
    chunked("chunk-bare-lf-trailers", last=b"0\nX-Sum: 1\n\n"),
    case("chunked-list-twice", lambda link: reply(chunks(html(link)), "Transfer-Encoding: chunked, chunked", length=False)),
    case("chunked-and-identity", lambda link: reply(chunks(html(link)), "Transfer-Encoding: chunked, identity", length=False)),
    case("chunked-and-gzip", lambda link: reply(chunks(gzip.compress(html(link))), "Transfer-Encoding: gzip, chunked",
                                                length=False)),
    case("chunked-old", lambda link: reply(chunks(html(link)), "Transfer-Encoding: chunked", length=False,
                                           line="HTTP/1.0 200 OK")),
    case("chunked-upper", lambda link: reply(chunks(html(link)), "Transfer-Encoding: CHUNKED", length=False)),
    case("chunked-space", lambda link: reply(chunks(html(link)), "Transfer-Encoding:  chunked  ", length=False)),
    framed("until-close"),
    framed("until-close-keep-alive", "Connection: keep-alive"),
    framed("until-close-close", "Connection: close"),
    framed("until-close-old", line="HTTP/1.0 200 OK"),
    framed("transfer-unknown", "Transfer-Encoding: binary", "Content-Length: 5"),
    framed("transfer-identity", "Transfer-Encoding: identity", "Content-Length: LENGTH"),
    framed("length-twice", "Content-Length: LENGTH", "Content-Length: LENGTH", ends=False),
    framed("length-list", "Content-Length: LENGTH, LENGTH", ends=False),
    framed("length-zeros", "Content-Length: 000LENGTH", ends=False),
    framed("length-spaces", "Content-Length:   LENGTH   ", ends=False),
    framed("length-empty", "Content-Length:"),
    framed("length-word", "Content-Length: unknown"),
    framed("length-negative", "Content-Length: -1"),
    framed("length-twice-differ", "Content-Length: 5", "Content-Length: LENGTH"),
    framed("length-list-differ", "Content-Length: 5, LENGTH"),
    framed("length-and-word", "Content-Length: LENGTH bytes"),
    framed("length-beyond-64-bits", "Content-Length: 99999999999999999999999"),
    framed("length-too-large", "Content-Length: 9999"),
    framed("length-and-more", "Content-Length: LENGTH", after=b"and so on"),
    framed("old-keep-alive", "Connection: keep-alive", "Content-Length: LENGTH", line="HTTP/1.0 200 OK", ends=False),
    case("gzip-length-decoded", lambda link: End(reply(gzip.compress(long_page(link)), "Content-Encoding: gzip",
                                                       f"Content-Length: {len(long_page(link))}", length=False))),
    Case("answer-twice", {"/": reply(html("/found/answer-twice")) + reply(html("/wrong"))}, ["/found/answer-twice"], ["/wrong"]),
    case("reset-after", lambda link: End(reply(html(link)), orderly=False)),
    case("byte-by-byte", lambda link: Slow(pieces(reply(html(link)), 1), 0.001)),
    case("head-then-body", lambda link: Slow(reply(html(link)).partition(b"\r\n\r\n"), 0.05)),
    case("chunk-by-chunk", lambda link: Slow(
        pieces(reply(chunks(html(link)), "Transfer-Encoding: chunked", length=False), 7), 0.002)),
]


def head(name, change):
    """A good answer whose bytes were changed."""
    return case(name, lambda link: change(reply(html(link), "X-Before: 1", "X-After: 2")))


def swap(old, new):
    return lambda data: data.replace(old, new, 1)


def lines_end_in(end):
    def change(data):
        fields, _, body = data.partition(b"\r\n\r\n")
        return fields.replace(b"\r\n", end) + end + end + body
    return change


def beside(name, *fields, line="HTTP/1.1 200 OK", kind="text/html"):
    return case(name, lambda link: reply(html(link), *fields, line=line, kind=kind))


def interim(name, *answers):
    return case(name, lambda link: "".join(answers).encode() + reply(html(link)))


HEADS = [
    interim("continue-100", "HTTP/1.1 100 Continue\r\n\r\n"),
    interim("processing-102", "HTTP/1.1 102 Processing\r\n\r\n"),
    interim("hints-103", "HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload; as=style\r\n\r\n"),
    interim("interim-many", *["HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 103 Early Hints\r\nX: y\r\n\r\n"] * 3),
    beside("fields-130", *(f"X-Field-{i}: {i}" for i in range(130))),
    beside("fields-1000", *(f"X-Field-{i}: {i}" for i in range(1000))),
    beside("cookies-60", *(f"Set-Cookie: name{i}=value{i}; Path=/" for i in range(60))),
    beside("head-60K", "X-Large: " + "x" * 60000),
    beside("head-100K", "X-Large: " + "x" * 100000),
    beside("head-200K", *(f"X-Large-{i}: " + "x" * 2000 for i in range(100))),
    beside("head-250K", "X-Large: " + "x" * 250000),
    case("fields-1500-first", lambda link: reply(b"", *(f"X-Field-{i}: {i}" for i in range(1500)), kind=None, length=False)[:-2] +
         reply(html(link)).partition(b"\r\n")[2]),
    beside("field-latin", "X-Name: caf\xe9"),
    beside("field-empty", "X-Empty:"),
    beside("field-no-colon", "This is not a field"),
    beside("field-no-name", ": a value"),
    beside("field-punctuation", "X-Odd!#$%&'*+.^_`|~: 1"),
    beside("upgrade", "Upgrade: h2,h2c", "Connection: Upgrade, Keep-Alive", "Keep-Alive: timeout=5, max=100"),
    beside("disposition", "Content-Disposition: inline; filename=index.html"),
    beside("status-203", line="HTTP/1.1 203 Non-Authoritative Information"),
    beside("status-no-reason", line="HTTP/1.1 200"),
    beside("status-empty-reason", line="HTTP/1.1 200 "),
    beside("status-latin-reason", line="HTTP/1.1 200 D\xe9j\xe0 vu"),
    beside("status-spaces", line="HTTP/1.1  200  OK"),
    beside("status-lower", line="http/1.1 200 ok"),
    head("old-version", swap(b"HTTP/1.1", b"HTTP/1.0")),
    head("newer-version", swap(b"HTTP/1.1", b"HTTP/1.2")),
    head("bare-lf", lines_end_in(b"\n")),
    head("bare-lf-some", swap(b"1\r\n", b"1\n")),
    head("empty-line-first", lambda data: b"\r\n" + data),
    head("fold-space", swap(b"X-Before: 1", b"X-Before: 1,\r\n 2")),
    head("fold-tab", swap(b"X-Before: 1", b"X-Before: 1,\r\n\t2")),
    head("fold-type", swap(b"Content-Type: text/html", b"Content-Type: text/html;\r\n charset=utf-8")),
    head("space-before-colon", swap(b"X-Before:", b"X-Before :")),
    head("space-before-colon-length", swap(b"Content-Length:", b"Content-Length :")),
    head("no-space-after-colon", lambda data: data.replace(b": ", b":", 4)),
    head("tab-after-colon", lambda data: data.replace(b": ", b":\t", 4)),
    head("names-lower", lambda data: data.replace(b"Content-", b"content-")),
    head("names-upper", lambda data: data.replace(b"Content-Length", b"CONTENT-LENGTH")),
]


def redirect(name, location, wanted, status="302 Found"):
    def answer(origin):
        where = location.replace("NAME", name).encode("latin-1").replace(b"ORIGIN", origin.encode())
        return reply(b"moved", b"Location: " + where, line=f"HTTP/1.1 {status}")
    return Case(name, {"/": answer}, [wanted.replace("NAME", name)])


REDIRECTS = [
    redirect("moved-301", "ORIGIN/found/NAME", "/found/NAME", "301 Moved Permanently"),
    redirect("moved-303", "/found/NAME", "/found/NAME", "303 See Other"),
    redirect("moved-307", "/found/NAME", "/found/NAME", "307 Temporary Redirect"),
    redirect("moved-308", "/found/NAME", "/found/NAME", "308 Permanent Redirect"),
    redirect("moved-relative", "found/NAME", "/found/NAME"),
    redirect("moved-dots", "./x/../found/NAME", "/found/NAME"),
    redirect("moved-query", "?found=NAME", "/?found=NAME"),
    redirect("moved-fragment", "/found/NAME#part", "/found/NAME"),
    redirect("moved-space", "/found/NAME/a b", "/found/NAME/a%20b"),
    redirect("moved-latin", "/found/NAME/caf\xe9", "/found/NAME/caf%E9"),
    redirect("moved-utf8", "/found/NAME/caf\xc3\xa9", "/found/NAME/caf%C3%A9"),
    redirect("moved-no-reason", "/found/NAME", "/found/NAME", "302"),
    Case("moved-gzip-empty", {"/": reply(b"", "Content-Encoding: gzip", "Location: /found/moved-gzip-empty",
                                         line="HTTP/1.1 302 Found")}, ["/found/moved-gzip-empty"]),
    Case("moved-until-close", {"/": End(reply(b"", "Location: /found/moved-until-close", line="HTTP/1.1 302 Found",
                                              length=False))}, ["/found/moved-until-close"]),
]

TLS = [
    case("tls-rsa", lambda link: reply(html(link)), tls="rsa"),
    case("tls-ec", lambda link: reply(html(link)), tls="ec"),
    case("tls-until-close", lambda link: End(reply(html(link), length=False)), tls="ec"),
    case("tls-no-goodbye", lambda link: End(reply(html(link), length=False), orderly=False), tls="ec"),
    case("tls-length-too-large", lambda link: End(reply(html(link), "Content-Length: 9999", length=False)), tls="ec"),
    case("tls-chunked", lambda link: reply(chunks(html(link)), "Transfer-Encoding: chunked", length=False), tls="ec"),
]

CASES = CODINGS + FRAMES + HEADS + REDIRECTS + TLS
