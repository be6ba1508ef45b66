//! The expansion depends on nothing around it: no prelude, no names in scope, not the runtime's own name, and no
//! permission for unsafe code.
#![no_implicit_prelude]
#![forbid(unsafe_code)]
#![deny(warnings, missing_docs, clippy::pedantic, unused_qualifications)]
#![allow(dead_code, missing_debug_implementations, reason = "what is tested is that it compiles")]

extern crate msg_runtime as renamed;

use ::std::{assert, assert_eq};

/// A macro that must not be used instead of the standard one.
#[allow(unused_macros)]
macro_rules! panic {
    () => {};
}

mod shadowed {
    //! Every name that an expansion could stumble over means something else here.
    #![allow(non_camel_case_types, non_upper_case_globals, unused, clippy::trivially_copy_pass_by_ref)]

    pub(crate) struct u8;
    pub(crate) struct u16;
    pub(crate) struct u64;
    pub(crate) struct str;
    pub(crate) struct bool;
    pub(crate) struct usize;
    pub(crate) struct String;
    pub(crate) struct Vec;
    pub(crate) struct Self_;
    pub(crate) enum Option {
        Some,
        None,
    }
    pub(crate) enum Result {
        Ok,
        Err,
    }
    pub(crate) use Option::{None, Some};
    pub(crate) use Result::{Err, Ok};
    pub(crate) trait Clone {}
    pub(crate) trait Copy {}
    pub(crate) trait Debug {}
    pub(crate) trait From {}
    pub(crate) trait Default {}
    pub(crate) trait Field {}
    pub(crate) trait Message {}
    pub(crate) mod core {}
    pub(crate) mod std {}
    pub(crate) mod msg_runtime {}
    pub(crate) const FIELDS: () = ();
    pub(crate) const NAME: () = ();
    pub(crate) const SCHEMA: () = ();
    pub(crate) fn vtable() {}
    pub(crate) fn out() {}
    pub(crate) static place: () = ();

    /// Doc.
    #[derive(::renamed::Message)]
    #[message(namespace = "hygiene", crate = "::renamed")]
    pub(crate) struct Table {
        pub(crate) number: i32,
        pub(crate) text: ::std::string::String,
        pub(crate) list: ::std::vec::Vec<f32>,
        pub(crate) maybe: ::core::option::Option<::core::primitive::u8>,
        #[message(default = Mode::On)]
        pub(crate) mode: Mode,
        pub(crate) plain: Plain,
        pub(crate) union: ::core::option::Option<Union>,
        pub(crate) unions: ::std::vec::Vec<Union>,
    }

    #[derive(::renamed::Message, ::core::clone::Clone, ::core::marker::Copy)]
    #[message(crate = "::renamed", plain)]
    #[repr(transparent)]
    pub(crate) struct Newtype(pub(crate) f32);

    pub(crate) mod converted {
        pub(crate) type Field = ::core::primitive::u8;

        pub(crate) fn to_field(value: &::core::primitive::char) -> Field {
            *value as Field
        }

        pub(crate) fn from_field(value: Field) -> ::core::primitive::char {
            ::core::convert::From::from(value)
        }
    }

    #[derive(::renamed::Message)]
    #[message(namespace = "hygiene", crate = "::renamed")]
    pub(crate) struct Conversions {
        #[message(key)]
        pub(crate) key: ::std::string::String,
        #[message(skip)]
        pub(crate) skipped: ::core::primitive::usize,
        #[message(with = "converted")]
        pub(crate) converted: ::core::primitive::char,
        pub(crate) newtype: Newtype,
        pub(crate) map: ::std::collections::BTreeMap<i32, Newtype>,
    }

    #[derive(::renamed::Message)]
    #[message(like = Conversions, crate = "::renamed")]
    pub(crate) struct Twin<'a> {
        pub(crate) key: &'a ::core::primitive::str,
        #[message(with = "converted")]
        pub(crate) converted: ::core::primitive::char,
        pub(crate) newtype: f32,
        pub(crate) map: ::std::collections::BTreeMap<i32, f32>,
    }

    #[derive(::renamed::Message)]
    #[message(namespace = "hygiene", crate = "::renamed")]
    pub(crate) enum Union {
        Table(::std::boxed::Box<Table>),
        Text(::std::string::String),
        Plain(Plain),
        #[message(unknown)]
        Unknown(::core::primitive::u8),
    }

    #[derive(::renamed::Message, ::core::clone::Clone, ::core::marker::Copy)]
    #[message(namespace = "hygiene", crate = "::renamed", plain)]
    #[repr(C)]
    pub(crate) struct Plain {
        pub(crate) x: f64,
        pub(crate) mode: Mode,
        pub(crate) padding: ::renamed::Padding<7>,
    }

    #[derive(::renamed::Message, ::core::clone::Clone, ::core::marker::Copy)]
    #[message(namespace = "hygiene", crate = "::renamed")]
    #[repr(i8)]
    pub(crate) enum Mode {
        Off = -1,
        On,
    }
}

/// Names of fields that are also methods, keywords or names in the expansion.
#[derive(::msg_runtime::Message)]
#[message(namespace = "hygiene")]
pub struct Names {
    /// Doc.
    pub r#type: u8,
    /// Doc.
    pub r#match: ::std::string::String,
    /// Doc.
    pub self_: u8,
    /// Doc.
    pub len: u8,
    /// Doc.
    pub is_empty: u8,
    /// Doc.
    pub clone: u8,
    /// Doc.
    pub fmt: u8,
    /// Doc.
    pub to_owned: u8,
    /// Doc.
    pub from_view: u8,
    /// Doc.
    pub into_iter: u8,
    /// Doc.
    pub get: u8,
    /// Doc.
    pub out: u8,
    /// Doc.
    pub place: u8,
    /// Doc.
    pub vtable: u8,
    /// Doc.
    pub table: u8,
    /// Doc.
    pub view: u8,
    /// Doc.
    pub cursor: u8,
    /// Doc.
    pub debug: u8,
    /// Doc.
    pub f: u8,
}

#[test]
fn fields_may_have_any_name() {
    let names = Names {
        r#type: 1,
        r#match: ::std::convert::From::from("m"),
        self_: 2,
        len: 3,
        is_empty: 4,
        clone: 5,
        fmt: 6,
        to_owned: 7,
        from_view: 8,
        into_iter: 9,
        get: 10,
        out: 11,
        place: 12,
        vtable: 13,
        table: 14,
        view: 15,
        cursor: 16,
        debug: 17,
        f: 18,
    };
    let bytes = ::msg_runtime::encode(&names).unwrap();
    let view = ::msg_runtime::decode::<Names>(&bytes).unwrap();
    assert_eq!((view.r#type(), view.r#match(), view.clone(), view.to_owned(), view.f()), (1, "m", 5, 7, 18));
    let owned: Names = ::core::convert::From::from(view);
    assert_eq!((owned.get, owned.debug), (10, 17));
}

/// Members that are named like what the expansion names.
#[derive(::msg_runtime::Message)]
#[message(namespace = "hygiene")]
pub enum Members {
    /// Doc.
    Some(::std::string::String),
    /// Doc.
    Ok(::std::boxed::Box<Names>),
    /// Doc.
    r#Self_(types_named_like_others::String),
    /// Doc.
    #[message(unknown)]
    None(u8),
}

/// Doc.
#[derive(::msg_runtime::Message)]
#[message(namespace = "hygiene")]
pub struct HoldsMembers {
    /// Doc.
    pub members: ::std::vec::Vec<Members>,
}

#[test]
fn members_may_have_any_name() {
    let members = ::std::convert::From::from([Members::Some(::std::convert::From::from("s"))]);
    let bytes = ::msg_runtime::encode(&HoldsMembers { members }).unwrap();
    let view = ::msg_runtime::decode::<HoldsMembers>(&bytes).unwrap();
    assert!(::core::matches!(view.members().get(0), ::core::option::Option::Some(MembersView::Some("s"))));
}

#[test]
fn conversions_need_no_prelude() {
    let map = || ::std::convert::From::from([(1, 2.5)]);
    let twin = shadowed::Twin { key: "k", converted: 'c', newtype: 1.5, map: map() };
    let bytes = ::msg_runtime::encode(&twin).unwrap();
    let view = ::msg_runtime::decode::<shadowed::Conversions>(&bytes).unwrap();
    assert_eq!(
        (view.key(), view.converted(), view.newtype(), view.map().get(1)),
        ("k", b'c', 1.5, ::std::option::Option::Some(2.5))
    );
    let owned: shadowed::Conversions = ::core::convert::From::from(view);
    assert_eq!((owned.skipped, owned.converted), (0, 'c'));
}

#[test]
fn a_message_may_be_local_to_a_function() {
    const __FIELDS: u8 = 1;
    #[derive(::msg_runtime::Message)]
    #[message(namespace = "hygiene")]
    struct Local {
        x: u16,
        inner: ::std::vec::Vec<Inner>,
    }
    #[derive(::msg_runtime::Message)]
    #[message(namespace = "hygiene")]
    struct Inner {
        y: [u8; 2],
    }
    let local = Local { x: 3, inner: ::std::convert::From::from([Inner { y: [1, 2] }]) };
    let bytes = ::msg_runtime::encode(&local).unwrap();
    let view = ::msg_runtime::decode::<Local>(&bytes).unwrap();
    assert_eq!((view.x(), view.inner().get(0).unwrap().y()), (3, &[1, 2]));
}

/// A message and its enum written by a macro.
macro_rules! message {
    ($(#[$meta:meta])* $name:ident $mode:ident { $($field:ident: $ty:ty),* } [$($variant:ident = $number:expr),*]) => {
        $(#[$meta])*
        #[derive(::msg_runtime::Message)]
        #[message(namespace = "hygiene")]
        pub struct $name {
            $(
                /// Doc.
                pub $field: $ty,
            )*
        }

        /// Doc.
        #[derive(::msg_runtime::Message, ::core::clone::Clone, ::core::marker::Copy)]
        #[message(namespace = "hygiene")]
        #[repr(u8)]
        pub enum $mode {
            $(
                /// Doc.
                $variant = $number,
            )*
        }
    };
}

message! {
    /// Doc.
    FromMacro FromMacroMode { x: f32, items: ::std::vec::Vec<::std::string::String>, mode: FromMacroMode } [Off = 0, On = 1 + 1]
}

#[test]
fn a_message_may_come_from_a_macro() {
    let value = FromMacro { x: 1.0, items: ::std::vec::Vec::new(), mode: FromMacroMode::On };
    let bytes = ::msg_runtime::encode(&value).unwrap();
    let view = ::msg_runtime::decode::<FromMacro>(&bytes).unwrap();
    assert!(::core::matches!(view.mode(), FromMacroMode::On));
    assert!(view.items().is_empty());
}

/// Fields that are compiled out are not there.
#[derive(::msg_runtime::Message)]
#[message(namespace = "hygiene")]
pub struct Conditional {
    /// Doc.
    pub here: u8,
    /// Doc.
    #[cfg(any())]
    pub gone: NoSuchType,
    /// Doc.
    #[cfg(not(any()))]
    pub there: u8,
}

#[test]
fn fields_may_be_compiled_out() {
    let bytes = ::msg_runtime::encode(&Conditional { here: 1, there: 2 }).unwrap();
    assert_eq!(::msg_runtime::decode::<Conditional>(&bytes).unwrap().there(), 2);
}

pub mod types_named_like_others {
    //! Message types that have the names of types that an expansion uses.
    #![allow(non_camel_case_types)]

    /// Doc.
    #[derive(::msg_runtime::Message)]
    #[message(namespace = "hygiene.names")]
    pub struct Option {
        /// Doc.
        pub next: ::core::option::Option<::std::boxed::Box<Option>>,
        /// Doc.
        pub text: String,
    }

    /// Doc.
    #[derive(::msg_runtime::Message)]
    #[message(namespace = "hygiene.names")]
    pub struct String {
        /// Doc.
        pub text: ::std::string::String,
    }

    /// Doc.
    #[derive(::msg_runtime::Message)]
    #[message(namespace = "hygiene.names")]
    pub struct u8 {
        /// Doc.
        pub bytes: ::std::vec::Vec<::core::primitive::u8>,
    }

    /// Doc.
    #[derive(::msg_runtime::Message)]
    #[message(namespace = "hygiene.names", view = "ViewOfA")]
    pub struct A {
        /// Doc.
        pub other: AView,
    }

    /// Doc.
    #[derive(::msg_runtime::Message)]
    #[message(namespace = "hygiene.names")]
    pub struct AView {
        /// Doc.
        pub x: ::core::primitive::u8,
    }

    /// Doc.
    #[derive(::msg_runtime::Message, ::core::clone::Clone, ::core::marker::Copy)]
    #[message(namespace = "hygiene.names")]
    #[repr(u8)]
    pub enum Result {
        /// Doc.
        Ok,
        /// Doc.
        Err,
        /// Doc.
        r#type,
    }
}

#[test]
fn schemas_keep_the_wire_names() {
    let schema = <types_named_like_others::A as ::msg_runtime::Message>::TYPE_NAME;
    assert_eq!(schema, "hygiene.names.A");
    assert_eq!(<shadowed::Table as ::msg_runtime::Message>::TYPE_NAME, "hygiene.Table");
    let bytes = <Names as ::msg_runtime::Message>::schema();
    let schema = ::msg_schema::Schema::from_bytes(bytes).unwrap();
    let names: ::std::vec::Vec<_> = ::std::iter::Iterator::collect(::std::iter::Iterator::map(
        schema.objects[0].fields.iter(),
        |field| field.name.as_str(),
    ));
    assert!(names.contains(&"type") && names.contains(&"match") && names.contains(&"self_"));
}
