"""A foreign NATS peer: nats_peer.py publish|receive URL SUBJECT.

`publish` sends a person without compression, with lz4 and with zstd. `receive` says `ready`, then prints a line for each of
three messages: how it was compressed, the stamp beside it, and the person in it.
"""

import asyncio
import json
import sys

import frame
import nats
import people


async def main():
    verb, url, subject = sys.argv[1:]
    client = await nats.connect(url)
    if verb == "publish":
        for number, compression in enumerate(["none", "lz4", "zstd"]):
            await client.publish(subject, frame.encode(people.write(number), compression))
        await client.flush()
    else:
        subscription = await client.subscribe(subject)
        await client.flush()
        print("ready", flush=True)
        for _ in range(3):
            message = await subscription.next_msg(timeout=60)
            payload, compression = frame.decode(message.data)
            stamp = (message.headers or {}).get("Msg")
            print(json.dumps({"compression": compression, "stamp": stamp, "person": people.read(payload)}), flush=True)
    await client.close()


asyncio.run(main())
