"""Reads or writes a msg_tests.python.Station with the classes that flatc generates: station.py read|write FILE."""

import json
import sys

import flatbuffers
from msg_tests.python.Mixed import MixedT
from msg_tests.python.Mode import Mode
from msg_tests.python.Reading import ReadingT
from msg_tests.python.Station import Station, StationT
from msg_tests.python.Vec3 import Vec3T


def text(value):
    return None if value is None else value.decode()


def vec3(value):
    return None if value is None else [value.X(), value.Y(), value.Z()]


def every(length, get):
    return [get(index) for index in range(length)]


def reading(value):
    if value is None:
        return None
    values = every(value.ValuesLength(), value.Values)
    return {"name": text(value.Name()), "values": values, "at": vec3(value.At())}


def read(data):
    station = Station.GetRootAs(data, 0)
    mixed = station.Mixed()
    return {
        "id": station.Id(),
        "active": station.Active(),
        "level": station.Level(),
        "gain": station.Gain(),
        "wide": station.Wide(),
        "mode": station.Mode(),
        "maybe": station.Maybe(),
        "nothing": station.Nothing(),
        "label": text(station.Label()),
        "note": text(station.Note()),
        "origin": vec3(station.Origin()),
        "mixed": None if mixed is None else [mixed.Flag(), mixed.Number(), mixed.Small()],
        "trail": every(station.TrailLength(), lambda index: vec3(station.Trail(index))),
        "names": every(station.NamesLength(), lambda index: text(station.Names(index))),
        "readings": every(station.ReadingsLength(), lambda index: reading(station.Readings(index))),
        "best": reading(station.Best()),
        "bytes": every(station.BytesLength(), station.Bytes),
        "modes": every(station.ModesLength(), station.Modes),
        "counts": every(station.CountsLength(), station.Counts),
    }


def new_vec3(x, y, z):
    value = Vec3T()
    value.x, value.y, value.z = x, y, z
    return value


def new_reading(name, values, at):
    value = ReadingT()
    value.name, value.values, value.at = name, values, at
    return value


def write():
    station = StationT()
    station.id = 2**64 - 1
    station.active = True
    station.level = -128
    station.gain = 0.25
    station.wide = 1e10
    station.mode = Mode.Failed
    station.maybe = 0
    station.label = "Zürich"
    station.note = None
    station.origin = new_vec3(1.0, -2.0, 0.5)
    station.mixed = MixedT()
    station.mixed.flag, station.mixed.number, station.mixed.small = True, -(2**31), 65535
    station.trail = [new_vec3(float(n), 0.0, -float(n)) for n in range(3)]
    station.names = ["", "a", "bc"]
    station.readings = [new_reading("first", [1.0, 2.5], None), new_reading("", [], new_vec3(0.0, 0.0, 1.0))]
    station.best = new_reading("best", [0.5], new_vec3(9.0, 8.0, 7.0))
    station.bytes = [0, 127, 255]
    station.modes = [Mode.Failed, Mode.Idle, Mode.Busy]
    station.counts = [-(2**63), 0, 2**63 - 1]
    builder = flatbuffers.Builder()
    builder.Finish(station.Pack(builder))
    return bytes(builder.Output())


def main():
    verb, path = sys.argv[1:]
    if verb == "write":
        with open(path, "wb") as file:
            file.write(write())
    else:
        with open(path, "rb") as file:
            print(json.dumps(read(file.read())))


main()
