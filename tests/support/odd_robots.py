"""Odd ways to serve robots.txt. Each forbids /denied and nothing else, or nothing at all."""
import gzip

from odd_http import chunks, cut, lines_end_in
from odd_web import Case, End, Slow, reply

RULES = b"User-agent: *\nDisallow: /denied\n"
LONG = RULES + b"".join(b"Disallow: /private/%d\n" % i for i in range(2000))
# What is read of it, 500 KiB, ends within a line: "Disallow: /".
CUT = RULES + b"# " + b"x" * (500 * 1024 - len(RULES) - 14) + b"\nDisallow: /private\n"
assert CUT[:500 * 1024].endswith(b"\nDisallow: /")
PAGE = reply(b'<a href="/denied">no</a><a href="/found">yes</a>')


def obeyed(name, answer):
    return Case(f"robots-{name}", {"/": PAGE, "/robots.txt": answer}, ["/", "/found"], ["/denied"])


def absent(name, answer):
    """Says nothing about anything."""
    return Case(f"robots-{name}", {"/": PAGE, "/robots.txt": answer}, ["/", "/found", "/denied"])


def rules(body=RULES, *fields, **more):
    return reply(body, *fields, kind=more.pop("kind", "text/plain"), **more)


def moved(location, status="301 Moved Permanently"):
    return lambda origin: rules(b"", f"Location: {location.replace('ORIGIN', origin)}", line=f"HTTP/1.1 {status}")


def behind_redirects(name, *answers):
    case = obeyed(name, answers[0])
    case.pages.update({f"/rules{i}": answer for i, answer in enumerate(answers[1:])})
    return case


CASES = [
    obeyed("plain", rules()),
    obeyed("gzip", rules(gzip.compress(RULES), "Content-Encoding: gzip")),
    obeyed("gzip-no-trailer", rules(gzip.compress(RULES)[:-8], "Content-Encoding: gzip")),
    obeyed("gzip-bad-sum", rules(gzip.compress(RULES)[:-8] + b"12345678", "Content-Encoding: gzip")),
    obeyed("gzip-cut", rules(cut(gzip.compress)(LONG), "Content-Encoding: gzip")),
    *(obeyed(f"coding-{word}", rules(RULES, f"Content-Encoding: {word}")) for word in ("UTF-8", "none", "aws-chunked")),
    obeyed("length-too-large", End(rules(RULES, "Content-Length: 9999", length=False))),
    obeyed("length-word", End(rules(RULES, "Content-Length: many", length=False))),
    obeyed("length-and-chunked", rules(chunks(RULES), "Content-Length: 3", "Transfer-Encoding: chunked", length=False)),
    obeyed("chunk-bare-lf", rules(chunks(RULES, end=b"\n", last=b"0\n\n"), "Transfer-Encoding: chunked", length=False)),
    obeyed("chunk-no-last", End(rules(chunks(RULES, last=b""), "Transfer-Encoding: chunked", length=False))),
    obeyed("until-close", End(rules(length=False))),
    obeyed("old-version", End(rules(line="HTTP/1.0 200 OK", length=False))),
    obeyed("interim", b"HTTP/1.1 100 Continue\r\n\r\n" + rules()),
    obeyed("fields-200", rules(RULES, *(f"X-{i}: y" for i in range(200)))),
    obeyed("head-100K", rules(RULES, "X-Large: " + "x" * 100000)),
    obeyed("bare-lf", lines_end_in(b"\n")(rules())),
    obeyed("as-html", rules(kind="text/html")),
    obeyed("no-type", rules(kind=None)),
    obeyed("as-stream", rules(kind="application/octet-stream")),
    obeyed("slow", Slow([bytes([byte]) for byte in rules()], 0.002)),
    obeyed("bom", rules(b"\xef\xbb\xbf" + RULES)),
    obeyed("cr", rules(RULES.replace(b"\n", b"\r"))),
    obeyed("crlf", rules(RULES.replace(b"\n", b"\r\n"))),
    obeyed("no-last-end", rules(RULES.rstrip())),
    obeyed("upper", rules(b"USER-AGENT: *\nDISALLOW: /denied\n")),
    obeyed("no-spaces", rules(b"user-agent:*\ndisallow:/denied")),
    obeyed("spaces", rules(b"  User-agent :  *  \n\t Disallow\t:  /denied  # no\n")),
    obeyed("latin-comment", rules(b"# d\xe9fense d'entrer\n" + RULES)),
    obeyed("large", rules(RULES + b"# " + b"x" * 600000 + b"\n")),
    obeyed("large-cut", rules(CUT)),
    obeyed("large-cut-gzip", rules(gzip.compress(CUT), "Content-Encoding: gzip")),
    obeyed("empty-lines", rules(b"User-agent: *\n\n\nDisallow: /denied\n")),
    behind_redirects("moved", moved("ORIGIN/rules0"), rules()),
    behind_redirects("moved-relative", moved("/rules0", "308 Permanent Redirect"), rules()),
    behind_redirects("moved-thrice", moved("/rules0"), moved("rules1", "302 Found"), moved("/rules2", "307"), rules()),
    absent("404", rules(b"none", line="HTTP/1.1 404 Not Found")),
    absent("410", rules(b"gone", line="HTTP/1.1 410 Gone")),
    absent("403", rules(b"no", line="HTTP/1.1 403 Forbidden")),
    absent("204", b"HTTP/1.1 204 No Content\r\n\r\n"),
    absent("empty", rules(b"")),
    absent("page", rules(b"<!DOCTYPE html><html><body><p>Welcome</p></body></html>", kind="text/html")),
]
