"""Frames as on every network: one header byte, then the payload, or its size and one compressed block."""

import struct

import lz4.block
import zstandard

NAMES = ["none", "lz4", "zstd"]


def pack(payload, codec):
    if codec == "none":
        return b"\0" + payload
    block = (
        lz4.block.compress(payload, store_size=False)
        if codec == "lz4"
        else zstandard.ZstdCompressor(level=19).compress(payload)
    )
    return bytes([NAMES.index(codec)]) + struct.pack("<I", len(payload)) + block


def unpack(frame):
    """The codec's name and the payload."""
    codec = NAMES[frame[0]]
    if codec == "none":
        return codec, frame[1:]
    (size,) = struct.unpack_from("<I", frame, 1)
    payload = (
        lz4.block.decompress(frame[5:], uncompressed_size=size)
        if codec == "lz4"
        else zstandard.ZstdDecompressor().decompress(frame[5:])
    )
    assert len(payload) == size
    return codec, payload
