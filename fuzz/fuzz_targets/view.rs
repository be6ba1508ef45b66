//! Views of generated types over any bytes: an error, or a message that can be looked at, owned and sent on.
#![no_main]

use std::fmt::Debug;

use libfuzzer_sys::fuzz_target;
use msg_runtime::{AlignedBuffer, Encode, FromView, Message, decode, encode};

mod generated {
    include!(concat!(env!("OUT_DIR"), "/msg_schemas.rs"));
}
use generated::msg_tests::{enums, nested, optional, recursion, structs, unions, vectors};

/// Looks at everything. An owned value comes back as itself, but for what nobody knows and so nobody sends on.
fn check<M>(bytes: &AlignedBuffer)
where
    M: Message + Encode<Message = M> + FromView + Debug,
    for<'a> M::View<'a>: Encode<Message = M> + Debug,
{
    let Ok(view) = decode::<M>(bytes) else { return };
    assert!(!format!("{view:?}").is_empty());
    let sent = match encode(&view) {
        Ok(sent) => sent,
        // A member that nobody knows is only received, and here it was required.
        Err(error) => return assert!(error.to_string().contains("a required field is absent"), "{error}"),
    };
    let again = M::from_view(decode::<M>(&sent).expect("what was sent on is valid"));
    let owned = encode(&M::from_view(view)).expect("an owned value can be sent on");
    let owned = M::from_view(decode::<M>(&owned).expect("an owned value is valid"));
    assert_eq!(format!("{again:?}"), format!("{owned:?}"));
}

fuzz_target!(|bytes: &[u8]| {
    let bytes = AlignedBuffer::copy_of(bytes);
    check::<enums::Paint>(&bytes);
    check::<nested::Envelope>(&bytes);
    check::<optional::Optional>(&bytes);
    check::<recursion::Node>(&bytes);
    check::<structs::Log>(&bytes);
    check::<unions::Drawing>(&bytes);
    check::<vectors::Vectors>(&bytes);
});
