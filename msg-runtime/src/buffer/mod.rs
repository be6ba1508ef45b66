//! Reading verified FlatBuffers and encoding into a slot.
