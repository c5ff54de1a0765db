"""Reads the frames of a crawl's journal, DIR/state/journal-*: engine/state/journal.h."""
import struct

MAGIC, COMMIT, SYNCED, SESSION = 0x31636C79, 2, 3, 4
FRAME = struct.Struct("<IIQQHHI")  # magic, bytes that follow, epoch, microseconds, kind, writer, checksum


def frames(directory):
    """(kind, epoch, microseconds of the wall clock) of each whole frame."""
    for path in sorted((directory / "state").glob("journal-*")):
        text, at = path.read_bytes(), 0
        while at + FRAME.size <= len(text):
            magic, size, epoch, wall_us, kind, _, _ = FRAME.unpack_from(text, at)
            at += FRAME.size + size
            if magic != MAGIC or at > len(text):
                break  # torn
            yield kind, epoch, wall_us


def last_commit_s(directory):
    """When the last commit was made, by the wall clock; 0: none was."""
    return max((wall_us / 1e6 for kind, _, wall_us in frames(directory) if kind == COMMIT), default=0)


def covered_us(directory):
    """Up to when all is in the last commit, by the wall clock: when the one before was made, or the session begun."""
    covers, before = 0, 0
    for kind, _, wall_us in frames(directory):
        covers = before if kind == COMMIT else covers
        before = wall_us if kind in (COMMIT, SESSION) else before
    return covers
