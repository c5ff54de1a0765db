"""Reads WARC files and checks them against ISO 28500:2017 (WARC/1.1); written from the standard alone."""
import base64
import hashlib
import re
import struct
import subprocess
import tempfile
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


def frames(data):
    """The start, end, length of content and dictionary of each zstd frame (RFC 8878, 3.1), and what the IIPC's convention
    asks of it: a length, a checksum, and the dictionary's id if there is a dictionary."""
    at = 0
    while at < len(data):
        magic, size = (int.from_bytes(data[at + i:at + i + 4], "little") for i in (0, 4))
        if magic & 0xFFFFFFF0 == 0x184D2A50:
            assert magic != 0x184D2A5D or at == 0, "a dictionary stands at the start"
            at += 8 + size
            continue
        assert magic == 0xFD2FB528, hex(magic)
        head, end = data[at + 4], at + 5
        is_single, has_checksum = head >> 5 & 1, head >> 2 & 1
        end += not is_single
        dictionary_bytes, length_bytes = (0, 1, 2, 4)[head & 3], (is_single, 2, 4, 8)[head >> 6]
        dictionary = int.from_bytes(data[end:end + dictionary_bytes], "little")
        end += dictionary_bytes
        length = int.from_bytes(data[end:end + length_bytes], "little") + (256 if length_bytes == 2 else 0)
        end += length_bytes
        assert length_bytes and has_checksum, "a frame without its length or a checksum"
        is_last = False
        while not is_last:
            block = int.from_bytes(data[end:end + 3], "little")
            is_last = block & 1
            end += 3 + (1 if block >> 1 & 3 == 1 else block >> 3)
        end += 4
        assert end <= len(data), "a frame is cut off"
        yield at, end, length, dictionary
        at = end


def zstd_members(data):
    """Unpacked by the program zstd, which skips what is no frame, and cut by the lengths that the frames tell."""
    with tempfile.NamedTemporaryFile() as dictionary, tempfile.NamedTemporaryFile() as packed:
        options, name = [], 0
        if data.startswith(b"\x5d\x2a\x4d\x18"):
            text = data[8:8 + int.from_bytes(data[4:8], "little")]
            assert text.startswith(b"\x37\xa4\x30\xec")
            name = int.from_bytes(text[4:8], "little")
            dictionary.write(text)
            dictionary.flush()
            options = ["-D", dictionary.name]
        packed.write(data)
        packed.flush()
        unpacked = subprocess.run(["zstd", "-d", "-c", *options, packed.name], check=True, capture_output=True).stdout
    at = 0
    for _, _, length, dictionary in frames(data):
        assert dictionary == name, (dictionary, name)
        yield unpacked[at:at + length]
        at += length
    assert at == len(unpacked)


def members(path):
    """Each gzip member or zstd frame of the file, unpacked; the records of a file that is not compressed."""
    data = path.read_bytes()
    if path.suffix == ".zst":
        yield from zstd_members(data)
        return
    if path.suffix != ".gz":
        yield from plain_records(data)
        return
    at = 0
    while at < len(data):
        # The skip lengths are those of the member and of its text. What is cut out by a wrong one is no member.
        assert data[at + 3] == 4 and data[at + 10:at + 16] == b"\x0c\x00sl\x08\x00", "no skip lengths"
        packed_bytes, text_bytes = struct.unpack_from("<II", data, at + 16)
        unpack = zlib.decompressobj(31)
        text = unpack.decompress(data[at:at + packed_bytes]) + unpack.flush()
        assert unpack.eof, "a gzip member is cut off, or its skip length is too short"
        assert not unpack.unused_data and len(text) == text_bytes, "skip lengths"
        at += packed_bytes
        yield text


def plain_records(data):
    at = 0
    while at < len(data):
        body_at = data.find(b"\r\n\r\n", at) + 4
        length = int(re.search(rb"Content-Length: (\d+)", data[at:body_at]).group(1))
        end = body_at + length + 4
        yield data[at:end]
        at = end


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


def is_capture(record):
    """A page as it came, or the head of one whose body came before."""
    return record["WARC-Type"] in ("response", "revisit") and not record["WARC-Target-URI"].startswith("dns:")


def check_revisit(record):
    profile = record["WARC-Profile"].split("/revisit/")
    assert re.fullmatch(r"http://netpreserve.org/warc/1\.[01]", profile[0]), profile
    assert record.block.startswith(b"HTTP/1.") and record.block.endswith(b"\r\n\r\n")
    if profile[1] == "identical-payload-digest":
        assert DATE.match(record["WARC-Refers-To-Date"]) and record["WARC-Refers-To-Target-URI"].startswith("http")
        assert re.fullmatch(r"sha1:[A-Z2-7]{32}", record["WARC-Payload-Digest"])
    else:
        assert profile[1] == "server-not-modified" and record["WARC-Payload-Digest"] is None


def first_copies(records):
    """Checks that each revisit leads to a capture with that URL, date and payload; returns payloads by URL and date."""
    payloads = {(record["WARC-Target-URI"], record["WARC-Date"]): record.payload() for record in records
                if record["WARC-Type"] == "response"}
    for record in records:
        if record["WARC-Type"] == "revisit":
            first = payloads[record["WARC-Refers-To-Target-URI"], record["WARC-Refers-To-Date"]]
            assert sha1(first) == record["WARC-Payload-Digest"], record.fields
    return payloads


def fields_of(record):
    """[(name, value)] of a metadata record; its outlinks are (URL, hop, context)."""
    assert record.block.endswith(b"\r\n\r\n") and record.block.count(b"\n") == record.block.count(b"\r\n"), record.block
    fields = [tuple(line.split(": ", 1)) for line in record.block.decode().split("\r\n")[:-2]]
    assert all(len(field) == 2 or field == ("seed:",) for field in fields), fields
    for name, value in (field for field in fields if field[0] == "outlink"):
        assert re.fullmatch(r"https?://\S+ [LERM] [\w/@=:]+", value), value
    return fields


def metadata(records):
    """{URL: fields} of the metadata records."""
    return {record["WARC-Target-URI"]: fields_of(record) for record in records if record["WARC-Type"] == "metadata"}


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
    if uri.startswith("dns:"):
        assert kind == "response" and record["Content-Type"] == "text/dns"
        name = re.escape(uri[4:])
        assert re.fullmatch(rf"\d{{14}}\n({name}\.\t\d+\tIN\t(A|AAAA)\t\S+\n)+", record.block.decode()), record.block
        return
    assert re.match(r"https?://[^<>\s]+\Z", uri), uri
    if kind == "metadata":
        assert record["Content-Type"] == "application/warc-fields" and record["WARC-Payload-Digest"] is None
        fields_of(record)
        return
    message = "response" if kind == "revisit" else kind
    assert record["Content-Type"] == f"application/http; msgtype={message}"
    if kind == "revisit":
        check_revisit(record)
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
    response = None
    for record in records[1:]:
        assert record["WARC-Warcinfo-ID"] == info
        if record["WARC-Target-URI"].startswith("dns:"):
            continue
        if is_capture(record):
            response, told = record, []
            continue
        told.append(record["WARC-Type"])
        assert told in (["request"], ["request", "metadata"]), told
        for name, same in (("WARC-Concurrent-To", "WARC-Record-ID"), ("WARC-Date", "WARC-Date"),
                           ("WARC-Target-URI", "WARC-Target-URI")):
            assert record[name] == response[same], (name, record.fields)
    captures, requests = (sum(test(record) for record in records) for test in
                          (is_capture, lambda record: record["WARC-Type"] == "request"))
    assert captures == requests, (captures, requests)
    assert len({record["WARC-Record-ID"] for record in records}) == len(records)
    return records
