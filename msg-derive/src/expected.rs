//! Whole expansions, kept as files for reviewers in `expected/`.
//!
//! `MSG_BLESS=1 cargo test -p msg-derive` rewrites them; read the difference before you commit it.

use std::{env, fs, path::Path};

use proc_macro2::TokenStream;
use quote::quote;

/// Compares the expansion of `input` with `expected/<name>.rs`.
#[track_caller]
fn check(name: &str, input: TokenStream) {
    let shown = pretty(input.clone());
    let commented: String = shown.lines().map(|line| format!("// {line}\n")).collect();
    let expansion = format!("{commented}\n{}", pretty(crate::derive(input)));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("expected").join(name).with_extension("rs");
    if env::var_os("MSG_BLESS").is_some() {
        fs::write(&path, &expansion).expect("the folder of expected files can be written");
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        expansion == expected,
        "the expansion is not `{}`: `MSG_BLESS=1` rewrites it\n{expansion}",
        path.display()
    );
}

fn pretty(tokens: TokenStream) -> String {
    prettyplease::unparse(&syn::parse2(tokens).expect("an expansion is a file of items"))
}

#[test]
fn table() {
    check(
        "table",
        quote! {
            /// A person.
            #[derive(Message)]
            #[message(namespace = "demo")]
            pub struct Person {
                /// Never reused.
                #[message(default = 7)]
                pub id: i32,
                email: Option<String>,
            }
        },
    );
}

#[test]
fn borrowed() {
    check(
        "borrowed",
        quote! {
            #[derive(Message)]
            #[message(namespace = "demo", topic = "left.iq", crate = "renamed")]
            struct Iq<'a> {
                samples: &'a [f32],
            }
        },
    );
}

#[test]
fn plain() {
    check(
        "plain",
        quote! {
            #[derive(Message)]
            #[message(namespace = "demo", plain)]
            #[repr(C)]
            pub struct Pose {
                pub x: f64,
                pub valid: bool,
                pub padding: Padding<7>,
            }
        },
    );
}

#[test]
fn enumeration() {
    check(
        "enumeration",
        quote! {
            #[derive(Message)]
            #[message(namespace = "demo", bit_flags)]
            #[repr(u16)]
            pub enum Access {
                Read = 1,
                /// And truncate.
                #[message(rename = "write")]
                Write = 2,
            }
        },
    );
}

#[test]
fn union() {
    check(
        "union",
        quote! {
            /// One of several.
            #[derive(Message)]
            #[message(namespace = "demo")]
            pub enum Thing<'a> {
                /// A tree.
                Node(Box<Node<'a>>),
                #[message(id = 7, rename = "text")]
                Text(&'a str),
                #[message(unknown)]
                Unknown(u8),
            }
        },
    );
}

#[test]
fn newtype() {
    check(
        "newtype",
        quote! {
            #[derive(Message)]
            #[message(plain)]
            #[repr(transparent)]
            pub struct Celsius(f32);
        },
    );
}

#[test]
fn twin() {
    check(
        "twin",
        quote! {
            #[derive(Message)]
            #[message(like = Scan)]
            struct ScanRef<'a> {
                #[message(skip)]
                cache: Cache,
                #[message(with = "stamps")]
                stamp: Stamp,
                ranges: &'a [f32],
            }
        },
    );
}

#[test]
fn keyed() {
    check(
        "keyed",
        quote! {
            #[derive(Message)]
            #[message(namespace = "demo")]
            struct Word {
                #[message(key)]
                text: String,
                #[message(with = "stamps")]
                stamp: Stamp,
                #[message(skip)]
                cache: Cache,
            }
        },
    );
}

#[test]
fn fallback() {
    check(
        "fallback",
        quote! {
            #[derive(Message)]
            struct Imu {
                sequence: u64,
                offset: usize,
            }
        },
    );
}
