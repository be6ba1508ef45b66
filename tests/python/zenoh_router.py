"""A Zenoh router: zenoh_router.py PORT [PORT...] listens at the first port of 127.0.0.1 and connects to the others."""

import json
import sys

import zenoh

listen, *connect = [f"tcp/127.0.0.1:{port}" for port in sys.argv[1:]]
config = zenoh.Config()
for key, value in {
    "mode": "router",
    "listen/endpoints": [listen],
    "connect/endpoints": connect,
    "scouting/multicast/enabled": False,
}.items():
    config.insert_json5(key, json.dumps(value))
with zenoh.open(config):
    print("ready", flush=True)
    sys.stdin.read()
