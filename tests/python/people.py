"""A msg_tests.Person in the classes that flatc generates, from and to the bytes of a payload."""

import flatbuffers
from msg_tests.Person import Person, PersonT


def write(number):
    """A person whose text is long enough to compress."""
    person = PersonT()
    person.id, person.name, person.email = number, "Grace Hopper " * 20, "grace@example.org"
    builder = flatbuffers.Builder()
    builder.Finish(person.Pack(builder))
    return bytes(builder.Output())


def read(payload):
    person = Person.GetRootAs(payload, 0)
    text = lambda value: None if value is None else value.decode()
    return {"id": person.Id(), "name": text(person.Name()), "email": text(person.Email())}
