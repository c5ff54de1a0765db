"""Reads WARC files and checks them against ISO 28500:2017 (WARC/1.1); written from the standard alone."""
import base64
import hashlib
import re
import zlib

REQUIRED = {"WARC-Record-ID", "Content-Length", "WARC-Date", "WARC-Type"}
ID = re.compile(r"<urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}>\Z")
DATE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z\Z")


class Record:
    def __init__(self, fields, block):
        self.fields, self.block = fields, block

    def __getitem__(self, name):
        values = [value for key, value in self.fields if key == name]
        return values[0] if values else None

    def payload(self):
        """The entity of an HTTP message."""
        return self.block.split(b"\r\n\r\n", 1)[1]


def members(path):
    """Each gzip member of the file, unpacked; the whole file if it is not compressed."""
    data = path.read_bytes()
    if path.suffix != ".gz":
        yield from plain_records(data)
        return
    while data:
        unpack = zlib.decompressobj(31)
        text = unpack.decompress(data) + unpack.flush()
        assert unpack.eof, "a gzip member is cut off"
        data = unpack.unused_data
        yield text


def plain_records(data):
    while data:
        head, _, rest = data.partition(b"\r\n\r\n")
        length = int(re.search(rb"Content-Length: (\d+)", head).group(1))
        end = len(head) + 4 + length + 4
        yield data[:end]
        data = data[end:]


def sha1(data):
    return "sha1:" + base64.b32encode(hashlib.sha1(data).digest()).decode()


def parse(member):
    head, separator, rest = member.partition(b"\r\n\r\n")
    assert separator, "no empty line after the header"
    lines = head.decode().split("\r\n")
    assert lines[0] in ("WARC/1.1", "WARC/1.0"), lines[0]
    fields = [tuple(line.split(": ", 1)) for line in lines[1:]]
    assert all(len(field) == 2 and field[1] for field in fields), lines
    record = Record(fields, None)
    length = int(record["Content-Length"])
    assert rest[length:] == b"\r\n\r\n", "a record ends in two line ends, and one record is one member"
    record.block = rest[:length]
    return record


def check(record, has_block_digest):
    names = {name for name, _ in record.fields}
    assert REQUIRED <= names, names
    assert ID.match(record["WARC-Record-ID"]), record["WARC-Record-ID"]
    assert DATE.match(record["WARC-Date"]), record["WARC-Date"]
    assert record["WARC-Block-Digest"] == (sha1(record.block) if has_block_digest else None)
    kind = record["WARC-Type"]
    if kind == "warcinfo":
        assert record["Content-Type"] == "application/warc-fields"
        return
    assert ID.match(record["WARC-Warcinfo-ID"])
    uri = record["WARC-Target-URI"]
    assert re.match(r"https?://[^<>\s]+\Z", uri), uri
    assert record["Content-Type"] == f"application/http; msgtype={kind}"
    if kind == "response":
        assert record["WARC-Payload-Digest"] == sha1(record.payload())
        assert re.match(r"127\.|::1", record["WARC-IP-Address"])
        assert record.block.startswith(b"HTTP/1.")
        assert not re.search(rb"(?mi)^transfer-encoding:", record.block.split(b"\r\n\r\n")[0])
    if kind == "request":
        assert record.block.startswith(b"GET ") and record.block.endswith(b"\r\n\r\n")


def read(path, has_block_digest=True):
    """All records of a file, each checked, and their order."""
    records = [parse(member) for member in members(path)]
    for record in records:
        check(record, has_block_digest)
    assert records[0]["WARC-Type"] == "warcinfo" and records[0]["WARC-Filename"] == path.name
    info = records[0]["WARC-Record-ID"]
    for response, request in zip(records[1::2], records[2::2]):
        assert (response["WARC-Type"], request["WARC-Type"]) == ("response", "request")
        assert request["WARC-Concurrent-To"] == response["WARC-Record-ID"]
        assert request["WARC-Date"] == response["WARC-Date"]
        assert response["WARC-Warcinfo-ID"] == request["WARC-Warcinfo-ID"] == info
    assert len({record["WARC-Record-ID"] for record in records}) == len(records)
    return records
