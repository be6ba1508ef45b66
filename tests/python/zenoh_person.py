"""Publishes or receives msg_tests.Person over Zenoh: zenoh_person.py send|receive PORT TOPIC.

`send` publishes one with each compression when somebody subscribes. `receive` prints the first of each compression with
the numbers of its stamp.
"""

import json
import struct
import sys
import time

import flatbuffers
import zenoh
from frame import CODECS, decode, encode
from msg_tests.Person import Person, PersonT


def payload():
    person = PersonT()
    person.id, person.name, person.email = -7, "Grace Hopper " * 100, "grace@example.org"
    builder = flatbuffers.Builder()
    builder.Finish(person.Pack(builder))
    return bytes(builder.Output())


def send(session, topic):
    publisher = session.declare_publisher(topic)
    while not publisher.matching_status.matching:
        time.sleep(0.01)
    for codec in CODECS:
        publisher.put(encode(payload(), codec))


def receive(session, topic):
    left = set(CODECS)
    subscriber = session.declare_subscriber(topic)
    for sample in subscriber:
        data, codec = decode(sample.payload.to_bytes())
        if codec not in left:
            continue
        left.remove(codec)
        person = Person.GetRootAs(data, 0)
        _, sequence, sent = struct.unpack("<QQQ", sample.attachment.to_bytes())
        recent = abs(time.time() - sent / 1e9) < 60
        shown = [codec, person.Id(), person.Name().decode(), person.Email().decode(), sequence < 10**6, recent]
        print(json.dumps(shown), flush=True)
        if not left:
            break


def main():
    verb, port, topic = sys.argv[1:]
    config = zenoh.Config()
    for key, value in {
        "mode": "client",
        "connect/endpoints": [f"tcp/127.0.0.1:{port}"],
        "scouting/multicast/enabled": False,
    }.items():
        config.insert_json5(key, json.dumps(value))
    with zenoh.open(config) as session:
        {"send": send, "receive": receive}[verb](session, topic)


main()
