//! The binary schema that the derive makes against flatc's for a `.fbs` twin: each construct that a derived type may
//! have, with its ids, offsets, sizes, defaults, attributes and comments.#![allow(dead_code, reason = "the types are only asked for their schemas")]

use msg_runtime::{Flags, Message, Open, Padding};
use msg_schema::{Schema, difference};
use msg_tests::schemas::assert_same;
use msg_tests::tools::flatc_schema_of;

fn check<M: Message>(twin: &str) {
    let (ours, theirs) = (Schema::from_bytes(M::schema()).expect("our schema is one"), flatc_schema_of(twin));
    assert_same(&ours, &theirs);
    assert_eq!(difference(&ours, &theirs), None);
    assert_eq!(M::fingerprint(), theirs.fingerprint());
}

#[test]
fn scalars_and_defaults() {
    #[derive(Message)]
    #[message(namespace = "a.b")]
    struct Scalars {
        a: bool,
        b: i8,
        c: u8,
        d: i16,
        e: u16,
        f: i32,
        g: u32,
        h: i64,
        i: u64,
        j: f32,
        k: f64,
    }
    check::<Scalars>(
        "namespace a.b; table Scalars { a: bool; b: byte; c: ubyte; d: short; e: ushort; f: int; g: uint; h: long;
         i: ulong; j: float; k: double; } root_type Scalars;",
    );

    #[derive(Message)]
    #[message(namespace = "")]
    struct Defaults {
        #[message(default = true)]
        a: bool,
        #[message(default = -128)]
        b: i8,
        #[message(default = 255)]
        c: u8,
        #[message(default = -9223372036854775808)]
        h: i64,
        #[message(default = 9223372036854775807)]
        i: u64,
        #[message(default = 0.1)]
        j: f32,
        #[message(default = 0.1)]
        k: f64,
        #[message(default = f32::NAN)]
        l: f32,
        #[message(default = f64::NEG_INFINITY)]
        m: f64,
    }
    check::<Defaults>(
        "table Defaults { a: bool = true; b: byte = -128; c: ubyte = 255; h: long = -9223372036854775808;
         i: ulong = 9223372036854775807; j: float = 0.1; k: double = 0.1; l: float = nan; m: double = -inf; }
         root_type Defaults;",
    );
}

#[test]
fn optional_scalars_strings_and_vectors() {
    #[derive(Message)]
    #[message(namespace = "demo")]
    struct Lists {
        maybe: Option<i64>,
        perhaps: Option<bool>,
        text: Option<String>,
        #[message(required)]
        name: String,
        bytes: Vec<u8>,
        floats: Option<Vec<f64>>,
        texts: Vec<String>,
    }
    check::<Lists>(
        "namespace demo; table Lists { maybe: long = null; perhaps: bool = null; text: string; name: string (required);
         bytes: [ubyte]; floats: [double]; texts: [string]; } root_type Lists;",
    );
}

#[test]
fn enums_and_flags() {
    /// How it goes
    #[derive(Message, Clone, Copy, Debug, PartialEq)]
    #[message(namespace = "demo")]
    #[repr(i16)]
    enum Mode {
        /// Backwards
        Back = -2,
        Stop = 0,
        Forth,
    }
    #[derive(Message, Clone, Copy, Debug, PartialEq)]
    #[message(namespace = "demo", bit_flags)]
    #[repr(u64)]
    enum Rights {
        Read = 1,
        Write = 2,
        Last = 1 << 63,
    }
    #[derive(Message)]
    #[message(namespace = "demo")]
    struct Numbers {
        mode: Mode,
        #[message(default = Mode::Back)]
        back: Mode,
        open: Open<Mode>,
        maybe: Option<Mode>,
        rights: Flags<Rights>,
        modes: Vec<Open<Mode>>,
    }
    check::<Numbers>(
        "namespace demo;
         /// How it goes
         enum Mode : short {
            /// Backwards
            Back = -2, Stop = 0, Forth }
         enum Rights : ulong (bit_flags) { Read, Write, Last = 63 }
         table Numbers { mode: Mode; back: Mode = Back; open: Mode; maybe: Mode = null; rights: Rights; modes: [Mode]; }
         root_type Numbers;",
    );
}

#[test]
fn structs_in_structs_and_arrays() {
    #[derive(Message, Clone, Copy, Debug)]
    #[message(namespace = "geo", plain)]
    #[repr(C)]
    struct Inner {
        a: u8,
        gap: Padding<3>,
        b: u32,
        c: u16,
        end: Padding<2>,
    }
    #[derive(Message, Clone, Copy, Debug)]
    #[message(namespace = "geo", plain)]
    #[repr(C)]
    struct Outer {
        inner: Inner,
        gap: Padding<4>,
        xs: [f64; 3],
        many: [Inner; 40],
        on: bool,
        end: Padding<7>,
    }
    #[derive(Message)]
    #[message(namespace = "geo")]
    struct Holder {
        outer: Option<Outer>,
        inners: Vec<Inner>,
    }
    check::<Holder>(
        "namespace geo; struct Inner { a: ubyte; b: uint; c: ushort; }
         struct Outer { inner: Inner; xs: [double: 3]; many: [Inner: 40]; on: bool; }
         table Holder { outer: Outer; inners: [Inner]; } root_type Holder;",
    );
}

#[test]
fn nesting_recursion_and_other_namespaces() {
    #[derive(Message)]
    #[message(namespace = "one")]
    struct Leaf {
        n: i32,
    }
    #[derive(Message)]
    #[message(namespace = "two.deep")]
    struct Tree {
        leaf: Option<Leaf>,
        leaves: Vec<Leaf>,
        parent: Option<Box<Tree>>,
        children: Vec<Tree>,
    }
    check::<Tree>(
        "namespace one; table Leaf { n: int; }
         namespace two.deep; table Tree { leaf: one.Leaf; leaves: [one.Leaf]; parent: Tree; children: [Tree]; }
         root_type Tree;",
    );
}

#[test]
fn ids_names_attributes_and_comments() {
    /// A table
    ///   of everything else
    #[derive(Message)]
    #[message(namespace = "demo", identifier = "ABCD", extension = "abc", attribute(priority = "9", flag))]
    struct Marked {
        /// Comes second
        #[message(id = 1, attribute(priority = "3"))]
        second: Option<String>,
        #[message(id = 0, rename = "first")]
        number_one: i32,
        #[message(id = 2, deprecated)]
        old: i32,
        #[message(id = 3, key)]
        place: u32,
    }
    check::<Marked>(
        "attribute \"priority\"; attribute \"flag\"; namespace demo;
         /// A table
         ///   of everything else
         table Marked (priority: \"9\", flag) {
            /// Comes second
            second: string (id: 1, priority: \"3\"); first: int (id: 0); old: int (id: 2, deprecated); place: uint (id: 3, key);
         }
         root_type Marked; file_identifier \"ABCD\"; file_extension \"abc\";",
    );
}
