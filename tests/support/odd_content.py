"""Odd pages, feeds and sitemaps whose links browsers, feed readers and search engines find."""
import gzip
import json
import zlib

from odd_web import Case, reply


def page(name, text, kind="text/html", wanted="/found/NAME", fields=()):
    """LINK in the text is where it leads."""
    body = text if isinstance(text, bytes) else text.encode()
    body = body.replace(b"LINK", f"/found/{name}".encode()).replace(b"NAME", name.encode())
    fields = [field.replace("LINK", f"/found/{name}") for field in fields]
    return Case(name, {"/": lambda origin: reply(body.replace(b"ORIGIN", origin.encode()), *fields, kind=kind)},
                [wanted.replace("NAME", name)])


PLAIN = '<!DOCTYPE html><title>x</title><p><a href="LINK">on</a>'
XHTML = '<html xmlns="http://www.w3.org/1999/xhtml"><head><title>x</title></head><body><a href="LINK">on</a></body></html>'

TYPES = [
    page("type-quoted", PLAIN, 'text/html; charset="utf-8"'),
    page("type-upper", PLAIN, "TEXT/HTML"),
    page("type-empty-parameter", PLAIN, "text/html;; charset=utf-8;"),
    page("type-twice-in-one", PLAIN, "text/html; charset=utf-8, text/html"),
    page("type-twice", PLAIN, "text/html", fields=["Content-Type: text/html; charset=utf-8"]),
    page("type-missing", PLAIN, None),
    page("type-missing-space", "\r\n \t<!-- made by hand -->\n" + PLAIN, None),
    page("type-missing-no-doctype", '<HTML><a href="LINK">on</a>', None),
    page("type-empty", PLAIN, ""),
    page("type-any", PLAIN, "*/*"),
    page("type-unknown", PLAIN, "unknown/unknown"),
    page("type-app-unknown", PLAIN, "application/unknown"),
    page("type-no-semicolon", PLAIN, "text/html charset=utf-8"),
    page("type-no-slash", PLAIN, "html"),
    page("type-empty-charset", PLAIN, "text/html; charset="),
    page("xhtml-prefix", '<h:html xmlns:h="http://www.w3.org/1999/xhtml"><h:head><h:title>x</h:title></h:head><h:body>'
         '<h:a href="LINK">on</h:a></h:body></h:html>', "application/xhtml+xml"),
    page("xhtml-cdata", XHTML.replace("<body>", "<body><p><![CDATA[ <!-- ]]></p>"), "application/xhtml+xml"),
    page("xhtml", XHTML, "application/xhtml+xml"),
    page("xhtml-declared", '<?xml version="1.0" encoding="UTF-8"?>\n' + XHTML, "application/xhtml+xml; charset=utf-8"),
    page("xhtml-as-xml", '<?xml version="1.0"?>\n' + XHTML, "application/xml"),
    page("xhtml-as-text-xml", '<?xml version="1.0"?>\n' + XHTML, "text/xml"),
    page("svg", '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink">'
                '<a xlink:href="LINK"><text y="9">on</text></a></svg>', "image/svg+xml"),
]


def escaped(word):
    """As it stands in a URL."""
    return "".join(chr(byte) if byte < 128 else f"%{byte:02X}" for byte in word.encode())


def written(name, encoding, word, kind="text/html; charset=LABEL", label=None, meta="", bom=b""):
    """The link has a word of the language in its path: a wrong decoding leads elsewhere."""
    text = f'<!DOCTYPE html><html><head>{meta}<title>{word}</title></head><body><a href="/found/{name}/{word}">{word}</a>'
    data = reply(bom + text.encode(encoding), kind=kind.replace("LABEL", label or encoding))
    return Case(name, {"/": data}, [f"/found/{name}/{escaped(word)}"])


def meta_charset(label):
    return f'<meta charset="{label}">'


def equivalent(label):
    return f'<meta http-equiv="Content-Type" content="text/html; charset={label}">'


JA, ZH, TW, KO, RU, FR, PL, EL = "日本", "中文", "繁體", "한국", "слово", "été", "łódź", "λόγος"
LATE = "<!--" + "x" * 3000 + "-->"

CHARSETS = [
    written("utf8", "utf-8", JA),
    written("utf8-label", "utf-8", JA, label="UTF8"),
    written("utf8-no-label", "utf-8", JA, kind="text/html", meta=meta_charset("utf-8")),
    written("utf8-bom", "utf-8", RU, kind="text/html", bom=b"\xef\xbb\xbf"),
    written("utf8-bom-wins", "utf-8", RU, label="iso-8859-1", bom=b"\xef\xbb\xbf"),
    written("utf16le-bom", "utf-16-le", JA, kind="text/html", bom=b"\xff\xfe"),
    written("utf16be-bom", "utf-16-be", JA, kind="text/html", bom=b"\xfe\xff"),
    written("utf16le-bom-wins", "utf-16-le", JA, label="utf-8", bom=b"\xff\xfe"),
    written("utf16le-label", "utf-16-le", RU, label="utf-16le"),
    written("utf16be-label", "utf-16-be", RU, label="utf-16be"),
    written("utf16-label", "utf-16-le", RU, label="utf-16"),
    written("utf16-label-bom", "utf-16-be", RU, label="utf-16", bom=b"\xfe\xff"),
    written("utf16-in-meta", "utf-8", RU, kind="text/html", meta=meta_charset("utf-16")),
    written("iso2022jp", "iso-2022-jp", JA),
    written("iso2022jp-meta", "iso-2022-jp", JA, kind="text/html", meta=meta_charset("iso-2022-jp")),
    written("shift-jis", "shift_jis", JA),
    written("shift-jis-meta", "shift_jis", JA, kind="text/html", meta=equivalent("x-sjis")),
    written("euc-jp", "euc-jp", JA),
    written("gbk", "gbk", ZH),
    written("gb2312", "gb2312", ZH),
    written("gb18030-meta", "gb18030", ZH, kind="text/html", meta=meta_charset("gb18030")),
    written("big5", "big5", TW),
    written("euc-kr", "euc-kr", KO),
    written("euc-kr-label", "euc-kr", KO, label="ks_c_5601-1987"),
    written("windows-1251", "windows-1251", RU),
    written("windows-1251-meta", "windows-1251", RU, kind="text/html", meta=equivalent("windows-1251")),
    written("windows-1251-late", "windows-1251", RU, kind="text/html", meta=LATE + meta_charset("windows-1251")),
    written("koi8-r", "koi8-r", RU),
    written("koi8-r-meta-unquoted", "koi8-r", RU, kind="text/html", meta="<META CHARSET=koi8-r>"),
    written("latin1", "iso-8859-1", FR),
    written("latin1-nothing-said", "windows-1252", FR, kind="text/html"),
    written("latin1-unknown-label", "windows-1252", FR, label="x-unheard-of"),
    written("latin2", "iso-8859-2", PL),
    written("greek", "iso-8859-7", EL),
    page("xml-encoding", '<?xml version="1.0" encoding="windows-1251"?>'.encode() +
         XHTML.replace("LINK", "LINK/слово").encode("windows-1251"), "application/xhtml+xml",
         "/found/NAME/" + escaped(RU)),
    page("xml-encoding-html", '<?xml version="1.0" encoding="windows-1251"?>'.encode() +
         PLAIN.replace("LINK", "LINK/слово").encode("windows-1251"), "text/html",
         "/found/NAME/" + escaped(RU)),
]


def body(name, text, wanted="/found/NAME", **more):
    return page(name, "<!DOCTYPE html><title>x</title>" + text, wanted=wanted, **more)


LINKS = [
    body("href-unquoted", "<a href=LINK>on</a>"),
    body("href-single", "<a href='LINK'>on</a>"),
    body("href-upper", '<A CLASS=x HREF = "LINK">on</A>'),
    body("href-lines", '<a\nhref\n=\n"LINK"\n>on</a>'),
    body("href-spaces", '<a href="  LINK \n">on</a>'),
    body("href-inner-newline", '<a href="/fou\nnd/\tNAME">on</a>'),
    body("href-backslashes", r'<a href="\found\NAME">on</a>'),
    body("href-entity", '<a href="LINK?a=1&amp;b=2">on</a>', "/found/NAME?a=1&b=2"),
    body("href-numeric-entity", '<a href="&#47;found&#x2F;NAME">on</a>'),
    body("href-bare-ampersand", '<a href="LINK?a=1&b=2">on</a>', "/found/NAME?a=1&b=2"),
    body("href-twice", '<a href="LINK" href="/wrong">on</a>'),
    body("href-dots", '<a href="/x/../found/./NAME">on</a>'),
    body("href-query", '<a href="?found=NAME">on</a>', "/?found=NAME"),
    body("href-fragment", '<a href="LINK#part">on</a>'),
    body("href-no-scheme", '<a href="ORIGIN/found/NAME">on</a>'),
    body("href-space-inside", '<a href="LINK/a b">on</a>', "/found/NAME/a%20b"),
    body("href-unicode", '<a href="LINK/é">on</a>', "/found/NAME/%C3%A9", kind="text/html; charset=utf-8"),
    body("href-many-attributes", "<a " + " ".join(f"data-{i}=x" for i in range(300)) + ' href="LINK">on</a>'),
    body("href-named-entity", '<a href="&sol;found&sol;NAME">on</a>'),
    body("href-unquoted-slash", "<a href=LINK/>on</a>", "/found/NAME/"),
    body("href-scheme-only", '<a href="http:/found/NAME">on</a>'),
    body("href-newline-in-scheme", '<a href="ht\ntp:\t/found/NAME">on</a>'),
    body("base-first-of-two", '<base href="/found/"><base href="/wrong/"><a href="NAME">on</a>'),
    body("base-empty", '<base href=""><a href="LINK">on</a>'),
    body("base-relative", '<base href="/found/"><a href="NAME">on</a>'),
    body("base-absolute", '<base href="ORIGIN/found/"><a href="NAME">on</a>'),
    body("base-target-first", '<base target=_top><base href="/found/"><a href="NAME">on</a>'),
    body("base-after", '<a href="NAME">on</a><base href="/found/">'),
    body("refresh-meta", '<meta http-equiv="refresh" content="0; url=LINK">'),
    body("refresh-meta-quoted", "<meta http-equiv=Refresh content=\"5;URL='LINK'\">"),
    body("refresh-meta-no-url", '<meta http-equiv="refresh" content="0; LINK">'),
    body("refresh-meta-comma", '<meta http-equiv="refresh" content="0, url=LINK">'),
    body("refresh-header", "<p>wait", fields=["Refresh: 0; url=LINK"]),
    body("refresh-header-quoted", "<p>wait", fields=['Refresh: 1;URL="LINK"']),
    body("link-header", "<p>see", fields=["Link: <LINK>; rel=next"]),
    body("link-header-second", "<p>see", fields=['Link: </>; rel="canonical", <LINK>; rel="next"; title="a, b"']),
    body("link-element", '<link rel="next" href="LINK">'),
    body("area", '<map name=m><area shape=rect coords="0,0,9,9" href="LINK"></map>'),
    body("iframe", '<iframe src="LINK"></iframe>'),
    body("iframe-srcdoc", '<iframe srcdoc="&lt;a href=&quot;LINK&quot;&gt;on&lt;/a&gt;"></iframe>'),
    body("iframe-srcdoc-nested", '<iframe srcdoc="<iframe srcdoc=\'<a href=LINK>on</a>\'></iframe>"></iframe>'),
    page("frameset", '<html><frameset cols="*"><frame src="LINK"></frameset></html>'),
    body("noscript-img", '<noscript><img src="LINK"></noscript>'),
    body("noscript", '<noscript><a href="LINK">on</a></noscript>'),
    body("svg-xlink", '<svg><a xlink:href="LINK"><text>on</text></a></svg>'),
    body("svg-href", '<svg><a href="LINK"><text>on</text></a></svg>'),
    body("svg-image", '<svg><image xlink:href="LINK" width="9" height="9"/></svg>'),
    body("svg-use", '<svg><use href="LINK#part"/></svg>'),
    body("srcset", '<img srcset="LINK 2x, /other 3x">'),
    body("srcset-source", '<picture><source srcset="LINK"><img src="/other"></picture>'),
    body("poster", '<video poster="LINK"></video>'),
    body("object", '<object data="LINK"></object>'),
    body("style-url", '<style>body { background: url("LINK") }</style>'),
    body("style-import", "<style>@import 'LINK';</style>"),
    body("style-attribute", '<p style="background: url(LINK)">'),
    body("comment-short", '<!--><a href="LINK">on</a>'),
    body("comment-bang", '<!-- a comment --!><a href="LINK">on</a>'),
    body("script-before", '<script>var a = "<a href=\'/wrong\'>";</script><a href="LINK">on</a>'),
    body("script-comment", '<script><!-- <script> --></script><a href="LINK">on</a>'),
    body("textarea-before", '<textarea><a href="/wrong"></textarea><a href="LINK">on</a>'),
    body("tag-garbage", '<p <b ="x" <><a href="LINK">on</a>'),
    body("xmp-before", '<xmp><a href="/wrong"></xmp><a href="LINK">on</a>'),
    body("title-with-tags", '<title><!-- <a href="/wrong"></title><a href="LINK">on</a>'),
    body("comment-conditional", '<![if !IE]><a href="LINK">on</a><![endif]>'),
    body("comment-unclosed-quote", '<!-- it"s --><a href="LINK">on</a>'),
    page("bytes-invalid", b'<!DOCTYPE html><p>\xff\xfe\xc3(\xed\xa0\x80<a href="LINK">on</a>', "text/html; charset=utf-8"),
    body("nul-bytes", '\0<p>\0<a href="LINK">on</a>'),
    body("after-the-end", '</body></html>\n<a href="LINK">on</a>'),
    body("far-down", "<p>" + "many words " * 90000 + '<a href="LINK">on</a>'),
    body("deep", "<div>" * 20000 + '<a href="LINK">on</a>'),
    body("table-foster", '<table><tr><a href="LINK">on</a></table>'),
]


def feed(name, text, kind, wanted="/found/NAME"):
    return page(name, text, kind, wanted)


RSS = ('<rss version="2.0"><channel><title>x</title><link>ORIGIN/</link><item><title>y</title>'
       "<link>ORIGINLINK</link></item></channel></rss>")
ATOM = ('<feed xmlns="http://www.w3.org/2005/Atom"ATTRIBUTES><title>x</title><entry><title>y</title>'
        '<link href="HREF"/></entry></feed>')

JSON = {"version": "https://jsonfeed.org/version/1.1", "title": "x", "items": [{"id": "1", "url": "ORIGINLINK"}]}


def declared(encoding, text):
    """A feed or sitemap in this encoding, which it names itself."""
    return f'<?xml version="1.0" encoding="{encoding}"?>'.encode() + text.encode(encoding)


FEEDS = [
    feed("rss", '<?xml version="1.0"?>' + RSS, "application/rss+xml"),
    feed("rss-as-xml", '<?xml version="1.0"?>' + RSS, "text/xml"),
    feed("rss-spaces", '<?xml version="1.0"?>' + RSS.replace("ORIGINLINK", "\n   ORIGINLINK\n "), "application/rss+xml"),
    feed("rss-cdata", '<?xml version="1.0"?>' + RSS.replace("ORIGINLINK", "<![CDATA[ORIGINLINK]]>"), "application/rss+xml"),
    feed("rss-latin1", '<?xml version="1.0" encoding="iso-8859-1"?>'.encode() +
         RSS.replace("ORIGINLINK", "ORIGINLINK/é").encode("latin-1"), "application/rss+xml", "/found/NAME/%C3%A9"),
    feed("rss-windows-1251", '<?xml version="1.0" encoding="windows-1251"?>'.encode() +
         RSS.replace("y</title>", "слово</title>").encode("windows-1251"), "application/xml"),
    feed("rss-utf16", b"\xff\xfe" + RSS.replace("LINK", "/found/rss-utf16").replace(
        "ORIGIN", "").encode("utf-16-le"), "application/rss+xml", "/found/NAME"),
    feed("rdf", '<?xml version="1.0"?><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" '
         'xmlns="http://purl.org/rss/1.0/"><item rdf:about="ORIGINLINK"><title>y</title><link>ORIGINLINK</link></item></rdf:RDF>',
         "application/rdf+xml"),
    feed("atom", ATOM.replace("ATTRIBUTES", "").replace("HREF", "ORIGINLINK"), "application/atom+xml"),
    feed("atom-relative", ATOM.replace("ATTRIBUTES", "").replace("HREF", "LINK"), "application/atom+xml"),
    feed("atom-base", ATOM.replace("ATTRIBUTES", ' xml:base="ORIGIN/found/"').replace("HREF", "NAME"), "application/atom+xml"),
    feed("atom-base-of-entry", ATOM.replace("ATTRIBUTES", ' xml:base="ORIGIN/found/x/"').replace(
        "<entry>", '<entry xml:base="../">').replace("HREF", "NAME"), "application/atom+xml"),
    feed("atom-base-of-another", ATOM.replace("ATTRIBUTES", ' xml:base="/found/"').replace(
        "<entry>", '<entry xml:base="/wrong/"><link href="x"/></entry><entry>').replace("HREF", "NAME"), "application/atom+xml"),
    feed("atom-base-of-link", ATOM.replace("ATTRIBUTES", "").replace('href="HREF"', 'xml:base="/found/" href="NAME"'),
         "application/atom+xml"),
    feed("rss-base", RSS.replace("<channel>", '<channel xml:base="ORIGIN/found/">').replace("ORIGINLINK", "NAME"), "text/xml"),
    feed("rss-shift-jis", declared("shift_jis", RSS.replace("ORIGINLINK", "LINK/" + JA)), "application/rss+xml",
         "/found/NAME/" + escaped(JA)),
    feed("rss-iso2022jp", declared("iso-2022-jp", RSS.replace("ORIGINLINK", "LINK/" + JA)), "application/rss+xml",
         "/found/NAME/" + escaped(JA)),
    feed("rss-euc-jp-label", RSS.replace("ORIGINLINK", "LINK/" + JA).encode("euc-jp"), "application/rss+xml; charset=euc-jp",
         "/found/NAME/" + escaped(JA)),
    feed("atom-koi8-r", declared("koi8-r", ATOM.replace("ATTRIBUTES", "").replace("HREF", "LINK/" + RU)),
         "application/atom+xml", "/found/NAME/" + escaped(RU)),
    feed("json-feed", json.dumps(JSON), "application/feed+json"),
    feed("json-feed-as-json", json.dumps(JSON), "application/json"),
    feed("json-feed-as-text", json.dumps(JSON), "text/plain"),
    feed("json-feed-bom", "\ufeff" + json.dumps(JSON), "application/feed+json"),
    feed("json-feed-next", json.dumps({**JSON, "items": [], "next_url": "LINK"}), "application/feed+json"),
    feed("json-feed-escaped", '{"version":"https:\\/\\/jsonfeed.org\\/version\\/1.1","title":"x",'
         '"items":[{"id":"1","url":"ORIGIN\\/found\\/NAME"}]}', "application/feed+json; charset=utf-8"),
]

URLSET = ('<?xml version="1.0" encoding="UTF-8"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
          "<url><loc>ORIGINLINK</loc></url></urlset>")
INDEX = ('<?xml version="1.0" encoding="UTF-8"?><sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
         "<sitemap><loc>ORIGINMAP</loc></sitemap></sitemapindex>")


def sitemap(name, text, kind="application/xml", encode=bytes, fields=(), path="/map.xml", robots=None, more=()):
    """Named by robots.txt, no page links there. `more`: {path: (text, kind, encode)} beside it."""
    def answer(text, kind, encode, fields=()):
        def made(origin):
            data = text if isinstance(text, bytes) else text.encode()
            data = data.replace(b"LINK", f"/found/{name}".encode()).replace(b"ORIGIN", origin.encode())
            return reply(encode(data), *(field.replace("ORIGIN", origin) for field in fields), kind=kind)
        return made
    line = robots or "User-agent: *\nDisallow:\n\nSitemap: ORIGINMAP\n"
    rules = answer(line.replace("MAP", path).encode("utf-8"), "text/plain", bytes)
    pages = {"/robots.txt": rules, path: answer(text, kind, encode, fields)}
    pages.update({where: answer(*what) for where, what in dict(more).items()})
    return Case(name, {"/": reply(b"<p>nothing"), **pages}, [f"/found/{name}"])


def utf16(data):
    return b"\xff\xfe" + data.decode().replace('encoding="UTF-8"', 'encoding="UTF-16"').encode("utf-16-le")


def moved(path):
    def answer(origin):
        return reply(b"", f"Location: {origin}{path}", line="HTTP/1.1 301 Moved Permanently")
    return answer


def moved_sitemap(name, *path, **more):
    """robots.txt names the first path; each leads to the next, the last to the sitemap."""
    made = sitemap(name, URLSET, path="/real", robots=f"Sitemap: ORIGIN{path[0]}\n", **more)
    made.pages.update({here: moved(there) for here, there in zip(path, [*path[1:], "/real"])})
    return made


def index_of_moved():
    made = sitemap("map-index-of-moved", INDEX.replace("MAP", "/second.xml"),
                   more={"/real": (URLSET, "text/plain", gzip.compress)})
    made.pages["/second.xml"] = moved("/real")
    return made


def sitemap_to(word, made):
    made.wanted = [f"/found/{made.name}/{escaped(word)}"]
    return made


SITEMAPS = [
    sitemap("map", URLSET),
    sitemap("map-gz", URLSET, "application/gzip", gzip.compress, path="/map.xml.gz"),
    sitemap("map-gz-x", URLSET, "application/x-gzip", gzip.compress, path="/map.xml.gz"),
    sitemap("map-gz-as-stream", URLSET, "application/octet-stream", gzip.compress, path="/map.xml.gz"),
    sitemap("map-gz-as-xml", URLSET, "application/xml", gzip.compress, path="/map.xml.gz"),
    sitemap("map-gz-as-text", URLSET, "text/plain", gzip.compress, path="/map"),
    sitemap("map-gz-no-type", URLSET, None, gzip.compress, path="/map.xml.gz"),
    sitemap("map-gz-coded", URLSET, "application/xml", gzip.compress, ["Content-Encoding: gzip"], path="/map.xml.gz"),
    sitemap("map-gz-coded-twice", URLSET, "application/gzip", lambda data: gzip.compress(gzip.compress(data)),
            ["Content-Encoding: gzip"], path="/map.xml.gz"),
    sitemap("map-index", INDEX.replace("MAP", "/second.xml"), more={"/second.xml": (URLSET, "text/xml", bytes)}),
    sitemap("map-index-of-gz", INDEX.replace("MAP", "/second.xml.gz"),
            more={"/second.xml.gz": (URLSET, "application/x-gzip", gzip.compress)}),
    sitemap("map-index-gz", INDEX.replace("MAP", "/second.xml"), "application/gzip", gzip.compress,
            more={"/second.xml": (URLSET, "text/xml", bytes)}, path="/index.xml.gz"),
    sitemap("map-text", "ORIGIN/\nORIGINLINK\n", "text/plain", path="/map.txt"),
    sitemap("map-text-no-end", "ORIGIN/\nORIGINLINK", "text/plain", path="/map.txt"),
    sitemap("map-text-cr", "ORIGIN/\rORIGINLINK\r", "text/plain", path="/map.txt"),
    sitemap("map-text-crlf", "ORIGIN/\r\nORIGINLINK\r\n", "text/plain", path="/map.txt"),
    sitemap("map-text-bom", "\ufeffORIGINLINK\n", "text/plain; charset=utf-8", path="/map.txt"),
    sitemap("map-text-gz", "ORIGINLINK\n", "application/gzip", gzip.compress, path="/map.txt.gz"),
    sitemap("map-xml-as-text", URLSET, "text/plain"),
    sitemap("map-xml-as-html", URLSET, "text/html"),
    sitemap("map-xml-as-stream", URLSET, "application/octet-stream"),
    sitemap("map-xml-no-type", URLSET, None),
    sitemap("map-xml-bom", "\ufeff" + URLSET),
    sitemap("map-xml-space-first", "\n\n" + URLSET),
    sitemap("map-xml-utf16", URLSET, "application/xml", utf16),
    sitemap("map-cdata", URLSET.replace("ORIGINLINK", "<![CDATA[ORIGINLINK]]>")),
    sitemap("map-loc-spaces", URLSET.replace("ORIGINLINK", "\n      ORIGINLINK\n    ")),
    sitemap("map-prefix", URLSET.replace("<", "<s:").replace("<s:/", "</s:").replace("<s:?", "<?").replace("xmlns=", "xmlns:s=")),
    sitemap("map-hreflang", URLSET.replace("ORIGINLINK</loc>", 'ORIGIN/</loc><xhtml:link rel="alternate" hreflang="de" '
                                           'href="ORIGINLINK" xmlns:xhtml="http://www.w3.org/1999/xhtml"/>')),
    sitemap("map-rss", '<?xml version="1.0"?>' + RSS, "application/rss+xml"),
    sitemap("map-atom", ATOM.replace("ATTRIBUTES", "").replace("HREF", "ORIGINLINK"), "application/atom+xml"),
    sitemap("map-named-lower", URLSET, robots="sitemap:ORIGINMAP"),
    sitemap("map-named-first", URLSET, robots="Sitemap:   ORIGINMAP   \r\nUser-agent: *\r\nDisallow: /private\r\n"),
    sitemap("map-named-bom", URLSET, robots="\ufeffSitemap: ORIGINMAP\n"),
    sitemap("map-second", URLSET, robots="Sitemap: ORIGIN/none.xml\nSitemap: ORIGINMAP\n",
            more={"/none.xml": ("not a sitemap", "text/html", bytes)}),
    sitemap("map-comment", URLSET.replace("<urlset", "<!-- made by hand, <urlset> follows --><urlset")),
    sitemap("map-cut", URLSET.replace("</urlset>", "<url><loc>ORIGIN/x")),
    sitemap("map-gz-cut", URLSET.replace("</urlset>", "".join(f"<url><loc>ORIGIN/?{zlib.crc32(bytes([i]))}</loc></url>"
                                                              for i in range(200))),
            "application/gzip", lambda data: gzip.compress(data)[:-400], path="/map.xml.gz"),
    sitemap("map-text-empty-lines", "\n\n  ORIGINLINK  \n\n", "text/plain", path="/map.txt"),
    moved_sitemap("map-moved", "/map.xml"),
    moved_sitemap("map-moved-twice", "/map.xml", "/other.xml", kind="application/gzip", encode=gzip.compress),
    index_of_moved(),
    sitemap("map-gz-as-png", URLSET, "image/png", gzip.compress),
    sitemap("map-gz-no-trailer", URLSET, "application/gzip", lambda data: gzip.compress(data)[:-8]),
    sitemap("map-gz-bad-sum", URLSET, "application/gzip", lambda data: gzip.compress(data)[:-8] + b"12345678"),
    sitemap("map-xml-as-css", URLSET, "text/css"),
    sitemap("map-xml-as-json", URLSET, "application/json"),
    sitemap("map-text-as-xml", "ORIGINLINK", "application/xml"),
    sitemap("map-text-as-html", "ORIGINLINK", "text/html"),
    sitemap("map-text-utf16", "ORIGINLINK", "text/plain", lambda data: b"\xff\xfe" + data.decode().encode("utf-16-le")),
    sitemap("map-json", json.dumps(JSON), "application/json"),
    sitemap_to(RU, sitemap("map-koi8-r", declared("koi8-r", f"<urlset><url><loc>ORIGINLINK/{RU}</loc></url></urlset>"))),
    sitemap_to(FR, sitemap("map-text-latin1", f"ORIGINLINK/{FR}\n".encode("latin-1"), "text/plain; charset=iso-8859-1")),
]

CASES = TYPES + CHARSETS + LINKS + FEEDS + SITEMAPS
