"""Gets a msg_tests.Person over Redis and sends one back: redis_person.py PORT TOPIC CODEC."""

import json
import sys

import flatbuffers
import frame
import redis
from msg_tests.Person import Person, PersonT


def main():
    port, topic, codec = sys.argv[1:]
    client = redis.Redis(port=int(port))
    subscription = client.pubsub(ignore_subscribe_messages=False)
    subscription.subscribe(topic + ".to-python")
    assert subscription.get_message(timeout=30)["type"] == "subscribe"
    print("ready", flush=True)

    payload, came_as = frame.decode(subscription.get_message(timeout=30)["data"])
    person = Person.GetRootAs(payload, 0)
    print(json.dumps([came_as, person.Id(), person.Name().decode(), person.Email().decode()]), flush=True)

    answer = PersonT()
    answer.id, answer.name, answer.email = 8, "Ada Lovelace", "ada@example.org " * 30
    builder = flatbuffers.Builder()
    builder.Finish(answer.Pack(builder))
    receivers = client.publish(topic + ".from-python", frame.encode(bytes(builder.Output()), codec))
    assert receivers == 1, f"{receivers} subscribers, expected one"


main()
