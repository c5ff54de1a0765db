#!/usr/bin/env python3
"""What a crawl stored is found again: indexes, pages by the index, checks of every record; and bad files are told by name and
place, with nothing overwritten."""
import base64
import gzip
import hashlib
import json
import os
import pty
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import warc  # noqa: E402
from simulated import BUILD, IMPATIENT, RUDE, Crawl, Web, compare, main, merge  # noqa: E402

WEB = ["--seed", "5", "--hosts", "20", "--pages", "15", "--rtt-ms", "1", "--think-ms", "0", "--crawl-delay-ms", "20"]


def lycosa(*arguments, code=0, **options):
    done = subprocess.run([BUILD / "lycosa", *map(str, arguments)], capture_output=True, **options)
    assert done.returncode == code, (arguments, done.returncode, done.stdout[-1000:], done.stderr[-2000:])
    return done


def said(*arguments, code=1):
    """What it says of an error; nothing crashes."""
    text = lycosa(*arguments, code=code).stderr.decode()
    assert text and "Sanitizer" not in text, text
    return text


def base32(data):
    return base64.b32encode(hashlib.sha1(data).digest()).decode()


def truth_of(web):
    text = web.run("truth", "--seeds", str(web.directory / "seeds.txt"), "--digest", "sha1").stdout
    return {row[0]: row[3] for row in (line.split("\t") for line in text.splitlines())}


def warcs_of(crawl):
    return [path for path in crawl.warcs() if re.search(r"\.warc(\.gz)?$", path.name)]


def check_index(crawl, truth):
    """Each line of each index leads to its record, by a reader that is not ours."""
    found = {}
    for path in warcs_of(crawl):
        index = Path(re.sub(r"\.warc(\.gz)?$", ".cdxj", str(path)))
        lines = index.read_bytes().splitlines(keepends=True)
        assert lines == sorted(lines), index
        for line in lines:
            key, timestamp, text = line.decode().split(" ", 2)
            entry = json.loads(text)
            assert " " not in key and re.fullmatch(r"\d{14}", timestamp), line
            begin, length = int(entry["offset"]), int(entry["length"])
            member = path.read_bytes()[begin:begin + length]
            record = warc.parse(gzip.decompress(member) if path.suffix == ".gz" else member)
            assert warc.is_capture(record) and record["WARC-Target-URI"] == entry["url"], line
            assert entry["filename"] == path.name and "sha1:" + entry["digest"] == record["WARC-Payload-Digest"]
            assert re.sub(r"[-T:]", "", record["WARC-Date"])[:14] == timestamp
            if record["WARC-Type"] == "response":
                assert entry["status"] == record.block.split(b" ")[1].decode()
            else:
                assert entry["mime"] == "warc/revisit"
            found[entry["url"]] = key
    assert set(found) <= set(truth) and len(found) > len(truth) * 0.9, (len(found), len(truth))
    return found


def test_pages_are_found_again():
    with Web(*WEB) as web:
        for store in ({"file-bytes": "300KB"}, {"compress": "none"}):
            crawl = Crawl(web, merge(RUDE, IMPATIENT, {"store": store}))
            truth = truth_of(web)
            compare(crawl, web.truth())
            assert b"lines" in lycosa("index", crawl.directory).stdout
            found = check_index(crawl, truth)
            checked = lycosa("archive", "check", crawl.directory).stdout.decode()
            assert checked.count(": good: ") == len(warcs_of(crawl)), checked
            for url in sorted(found)[::5]:
                body = lycosa("archive", "get", crawl.directory, url).stdout
                assert base32(body) == truth[url], url
            merged = crawl.directory / "all.cdxj"
            lycosa("index", "-o", merged, crawl.directory)
            lines = [line for path in crawl.directory.glob("warc/*.cdxj") for line in path.read_bytes().splitlines(True)]
            assert merged.read_bytes() == b"".join(sorted(lines))
            again = crawl.directory / "again.cdxj"
            lycosa("index", "-o", again, *sorted(crawl.directory.glob("warc/*.cdxj")))
            assert again.read_bytes() == merged.read_bytes()
            url = sorted(found)[0]
            assert base32(lycosa("archive", "get", merged, url).stdout) == truth[url]
            assert not list(crawl.directory.rglob("*.tmp")) and not list(crawl.directory.rglob("lycosa-sort-*"))


def record(kind, fields, block):
    lines = [f"WARC-Type: {kind}", "WARC-Record-ID: <urn:uuid:0>", *fields, f"Content-Length: {len(block)}"]
    return ("WARC/1.0\r\n" + "".join(line + "\r\n" for line in lines) + "\r\n").encode() + block + b"\r\n\r\n"


HTTP = ["Content-Type: application/http; msgtype=response"]
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Type: text/plain; charset=x\r\n\r\n"


def others_archive():
    """As other tools write it: chunks left on, hexadecimal digests, revisits, records that are no pages."""
    packed = gzip.compress(b"first body")
    chunks = b"5\r\nfirst\r\n6\r\n again\r\n0\r\n\r\n"
    plain = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + packed
    return [
        record("warcinfo", ["WARC-Date: 2020-01-01T00:00:00Z", "Content-Type: application/warc-fields"], b"a: b\r\n"),
        record("response", [*HTTP, "WARC-Date: 2020-01-01T00:00:00Z", "WARC-Target-URI: <http://a.test/>",
                            "WARC-Payload-Digest: sha1:" + base32(packed),
                            "WARC-Block-Digest: sha1:" + hashlib.sha1(plain).hexdigest()], plain),
        record("response", [*HTTP, "WARC-Date: 2021-01-01T00:00:00Z", "WARC-Target-URI: http://a.test/",
                            "WARC-Payload-Digest: sha1:" + base32(b"first again")], CHUNKED + chunks),
        record("response", [*HTTP, "WARC-Date: 2022-01-01T00:00:00Z", "WARC-Target-URI: http://b.test/",
                            "WARC-Payload-Digest: sha1:" + base32(chunks)], CHUNKED + chunks),
        record("revisit", [*HTTP, "WARC-Date: 2023-01-01T00:00:00Z", "WARC-Target-URI: http://c.test/",
                           "WARC-Refers-To-Target-URI: http://a.test/", "WARC-Refers-To-Date: 2020-01-01T00:00:00Z",
                           "WARC-Payload-Digest: sha1:" + base32(packed)], b"HTTP/1.1 200 OK\r\n\r\n"),
        record("revisit", [*HTTP, "WARC-Date: 2024-01-01T00:00:00Z", "WARC-Target-URI: http://a.test/",
                           "WARC-Payload-Digest: sha1:" + base32(packed)], b""),
        record("resource", ["WARC-Date: 2024-01-01T00:00:00Z", "WARC-Target-URI: urn:x:y", "Content-Type: text/css"],
               b"the resource"),
        record("request", ["WARC-Date: 2024-01-01T00:00:00Z", "WARC-Target-URI: http://a.test/"], b"GET / HTTP/1.1\r\n\r\n"),
        record("response", ["WARC-Date: 2024-01-01T00:00:00Z", "WARC-Target-URI: dns:a.test"], b"dns"),
    ]


def test_the_bar_is_for_terminals():
    """It grows, never beyond the whole, and is gone at the end; a file gets none of it."""
    with tempfile.TemporaryDirectory() as name:
        path, out = Path(name) / "long.warc", Path(name) / "out.cdxj"
        body = b"x" * (1 << 20)
        head = (b"WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-%012d>\r\n"
                b"WARC-Date: 2026-11-18T00:00:00Z\r\nWARC-Target-URI: http://a.it/%d\r\nContent-Type: application/http\r\n"
                b"Content-Length: %d\r\n\r\nHTTP/1.1 200 OK\r\n\r\n")
        with open(path, "wb") as file:
            for i in range(30):
                file.write(head % (i, i, len(body) + 19) + body + b"\r\n\r\n")
        quiet = lycosa("index", "-o", out, path)
        assert quiet.stderr == b"", quiet.stderr
        out.unlink()
        terminal, end = pty.openpty()
        process = subprocess.Popen([BUILD / "lycosa", "index", "-o", out, path], stdout=subprocess.PIPE, stderr=end)
        os.close(end)
        shown = b""
        while piece := read_terminal(terminal):
            shown += piece
        os.close(terminal)
        assert process.wait() == 0 and len(out.read_text().splitlines()) == 30
        shares = [int(share) for share in re.findall(rb"\r\[#* *\] +(\d+)% of 31\.\d MB\x1b\[K", shown)]
        assert shares and shares == sorted(shares) and shares[-1] <= 100, shown[-500:]
        assert shown.endswith(b"\r\x1b[K"), shown[-100:]


def read_terminal(terminal):
    """Empty at its end, which a terminal tells by an error."""
    try:
        return os.read(terminal, 65536)
    except OSError:
        return b""


def test_archives_of_others():
    with tempfile.TemporaryDirectory(prefix="lycosa-archive-") as name:
        folder = Path(name)
        file = folder / "others.warc.gz"
        records = others_archive()
        file.write_bytes(b"".join(gzip.compress(text) for text in records))
        lycosa("archive", "check", file)
        assert lycosa("archive", "cat", file).stdout == b"".join(records)
        assert len(lycosa("archive", "list", file).stdout.splitlines()) == len(records)
        assert "`lycosa index`" in said("archive", "get", folder, "http://a.test/")
        lycosa("index", folder)
        entries = [json.loads(line.split(" ", 2)[2]) for line in (folder / "others.cdxj").read_text().splitlines()]
        assert [entry["mime"] for entry in entries] == ["unk", "text/plain", "warc/revisit", "text/plain",
                                                        "warc/revisit", "text/css"], entries
        assert [entry["status"] for entry in entries] == ["200", "200", "-", "200", "-", "-"], entries
        assert entries[5]["digest"] == base32(b"the resource")

        def get(*arguments):
            return lycosa("archive", "get", *arguments).stdout

        assert get("--time", "2020", folder, "http://a.test/") == b"first body"
        assert get("--time", "20201231000000", folder, "http://www.a.test/#x") == b"first again"
        assert get(folder, "http://a.test/") == b"first body", "the latest is a revisit, by its digest"
        assert get(folder, "http://c.test/") == b"first body", "a revisit of another URL"
        assert get(folder, "http://b.test/") == b"first again"
        assert get("--raw", "--headers", folder, "http://b.test/").startswith(CHUNKED + b"5\r\nfirst")
        assert get(folder, "urn:x:y") == b"the resource"
        assert "no capture" in said("archive", "get", folder, "http://nowhere.test/")


def test_bad_files_are_told_by_name_and_place():
    with tempfile.TemporaryDirectory(prefix="lycosa-archive-") as name:
        folder = Path(name)
        members = [gzip.compress(text) for text in others_archive()]
        good, file = b"".join(members), folder / "bad.warc.gz"
        last = len(good) - len(members[-1])
        flipped = bytearray(good)
        flipped[last + len(members[-1]) - 6] ^= 1  # in the checksum
        lying = b"".join(others_archive()).replace(b"Content-Length: 6", b"Content-Length: 5")
        for content, place in [(good[:-3], len(good) - 3), (bytes(flipped), len(good) - 8), (good + b"more", len(good)),
                               (b"no archive", 0), (lying, lying.index(b"a: b\r\n") + 5)]:
            file.write_bytes(content)
            expected = f"{file}: byte {place}: "
            for command in (["archive", "check", file], ["index", file], ["archive", "cat", file]):
                assert expected in said(*command), (command, place, said(*command))
            assert list(folder.iterdir()) == [file], "no half index is left"
        wrong = others_archive()[1].replace(b"WARC-Payload-Digest: sha1:", b"WARC-Payload-Digest: sha1:A", 1)
        file.write_bytes(members[0] + gzip.compress(wrong))
        assert f"byte {len(members[0])}: WARC-Payload-Digest is wrong" in said("archive", "check", file)
        file.write_bytes(gzip.compress(b"".join(others_archive())))
        lycosa("archive", "check", file)
        assert "packed together" in said("index", file)
        missing = folder / "missing.warc.gz"
        for command in (["archive", "check", missing], ["index", missing], ["archive", "cat", missing],
                        ["archive", "get", missing, "http://a.test/"]):
            assert f"{missing}" in said(*command) and "No such file" in said(*command)
        said("index", code=2)
        said("archive", "get", folder, code=2)
        said("archive", "mend", folder, code=2)
        said("index", "--memory", "1", file, code=2)


def test_indexes_are_refused_or_kept():
    with tempfile.TemporaryDirectory(prefix="lycosa-archive-") as name:
        folder = Path(name)
        file, out = folder / "a.warc.gz", folder / "out.cdxj"
        file.write_bytes(b"".join(gzip.compress(text) for text in others_archive()))
        lycosa("index", "-o", out, file)
        lines = out.read_bytes().splitlines(True)
        unsorted = folder / "unsorted.cdxj"
        unsorted.write_bytes(lines[0] + lines[2] + lines[1])
        place = len(lines[0] + lines[2])
        text = said("index", "-o", folder / "new.cdxj", out, unsorted)
        assert f"{unsorted}: byte {place}: line 3 " in text and "not sorted" in text, text
        assert not (folder / "new.cdxj").exists()
        unsorted.write_bytes(lines[0] + b"no line\n")
        assert f"byte {len(lines[0])}: line 2 " in said("index", "-o", folder / "new.cdxj", unsorted)
        out.write_bytes(b"precious")
        assert "already" in said("index", "-o", out, file) and out.read_bytes() == b"precious"
        lycosa("index", "--force", "-o", out, file)
        assert out.read_bytes() == b"".join(lines)
        assert b"usage" in lycosa("index", "--help").stdout and b"usage" in lycosa("archive", "--help").stdout


main([test_pages_are_found_again, test_the_bar_is_for_terminals, test_archives_of_others, test_bad_files_are_told_by_name_and_place,
      test_indexes_are_refused_or_kept])
