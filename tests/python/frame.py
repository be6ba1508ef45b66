"""The frames of msg on every network: a header byte, then the payload.

header 0: the payload; 1: its size in four bytes, little-endian, and an lz4 block; 2: its size and a zstd frame.
"""

import struct

import lz4.block
import zstandard

CODECS = ["none", "lz4", "zstd"]


def encode(payload, codec):
    header = bytes([CODECS.index(codec)])
    if codec == "none":
        return header + payload
    compress = {
        "lz4": lambda: lz4.block.compress(payload, store_size=False),
        "zstd": lambda: zstandard.ZstdCompressor().compress(payload),
    }[codec]
    return header + struct.pack("<I", len(payload)) + compress()


def decode(frame):
    """The payload, and how it was compressed."""
    codec, body = CODECS[frame[0]], frame[1:]
    if codec == "none":
        return body, codec
    (size,) = struct.unpack_from("<I", body)
    decompress = {
        "lz4": lambda: lz4.block.decompress(body[4:], uncompressed_size=size),
        "zstd": lambda: zstandard.ZstdDecompressor().decompress(body[4:], max_output_size=size),
    }[codec]
    payload = decompress()
    assert len(payload) == size, f"{len(payload)} bytes, the frame says {size}"
    return payload, codec
