//! Views of generated types over any bytes: an error, or a message that can be looked at, owned and sent on.
#![no_main]

use std::fmt::Debug;

use libfuzzer_sys::fuzz_target;
use msg_runtime::{AlignedBuffer, Encode, FromView, Message, decode, encode};

mod generated {
    include!(concat!(env!("OUT_DIR"), "/msg_schemas.rs"));
}
use generated::msg_tests::{enums, nested, optional, recursion, structs, unions, vectors};

/// Looks at everything. What was received can be sent on, unless it `lacks` what it must have when it is sent: a member of a
/// union that nobody here knows is only received. An owned value comes back as itself, but for such members.
fn check<M>(bytes: &AlignedBuffer, lacks: impl Fn(&M::View<'_>) -> bool)
where
    M: Message + Encode<Message = M> + FromView + Debug,
    for<'a> M::View<'a>: Encode<Message = M> + Debug,
{
    let Ok(view) = decode::<M>(bytes) else { return };
    assert!(!format!("{view:?}").is_empty());
    if lacks(&view) {
        let error = encode(&view).expect_err("a required member that nobody knows cannot be sent");
        return assert!(error.to_string().contains("a required field is absent"), "{error}");
    }
    let sent = encode(&view).expect("what was received can be sent on");
    let again = M::from_view(decode::<M>(&sent).expect("what was sent on is valid"));
    let owned = encode(&M::from_view(view)).expect("an owned value can be sent on");
    let owned = M::from_view(decode::<M>(&owned).expect("an owned value is valid"));
    assert_eq!(format!("{again:?}"), format!("{owned:?}"));
}

fuzz_target!(|bytes: &[u8]| {
    let bytes = AlignedBuffer::copy_of(bytes);
    check::<enums::Paint>(&bytes, |_| false);
    check::<nested::Envelope>(&bytes, |_| false);
    check::<optional::Optional>(&bytes, |_| false);
    check::<recursion::Node>(&bytes, |_| false);
    check::<structs::Log>(&bytes, |_| false);
    check::<unions::Drawing>(&bytes, |drawing| matches!(drawing.r#type(), unions::OddView_::Unknown_(_)));
    check::<vectors::Vectors>(&bytes, |_| false);
});
