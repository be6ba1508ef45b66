"""Reads or writes a msg_tests.Person with the classes that flatc generates: person.py read|write FILE."""

import json
import sys

import flatbuffers
from msg_tests.Person import Person, PersonT


def read(data):
    person = Person.GetRootAs(data, 0)
    text = lambda value: None if value is None else value.decode()
    return {"id": person.Id(), "name": text(person.Name()), "email": text(person.Email())}


def write():
    person = PersonT()
    person.id, person.name, person.email = -7, "Grace Hopper", "grace@example.org"
    builder = flatbuffers.Builder()
    builder.Finish(person.Pack(builder))
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
