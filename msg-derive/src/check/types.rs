//! The rules about the types of fields.
//!
//! They go by spelling and are there for a better message only: what counts is what the traits say, so an alias gets
//! past here and fails there.

use quote::ToTokens;
use syn::{Expr, ExprLit, GenericArgument, Lit, PathArguments, PathSegment, Type};

use crate::{ast::Field, context::Context};

/// ```text
/// struct Person { #[message(default = 3)] name: String, #[message(default = "x")] age: Option<u8> }
/// ```
pub(super) fn default_of_text(context: &Context, field: &Field<'_>) {
    let Some(default) = &field.attributes.default else { return };
    let Some(name) = standard_name(&field.original.ty) else { return };
    let is_text = matches!(default, Expr::Lit(ExprLit { lit: Lit::Str(_), .. }));
    let is_empty = matches!(default, Expr::Array(items) if items.elems.is_empty());
    let message = match name.as_str() {
        "String" if !is_text => "the default of a `String` is a string: write `default = \"..\"`",
        "Vec" if !is_empty => {
            "the only default of a `Vec` is the empty one: write `default = []`, or remove it"
        }
        "Option" => "an `Option` has no default: remove `default`; it reads as `None` when absent",
        _ => return,
    };
    context.error(default, message);
}

/// ```text
/// struct Person { id: usize, initial: char, raw: *const u8, pair: (u8, u8) }
/// ```
pub(super) fn supported_type(context: &Context, ty: &Type) {
    if let Some(reason) = unsupported(ty) {
        return context.error(ty, reason);
    }
    match ty {
        Type::Reference(reference) if reference.mutability.is_some() => {
            context.error(
                ty,
                "a message borrows what it sends without changing it: write `&` instead of `&mut`",
            );
        }
        Type::Reference(reference) => match &*reference.elem {
            Type::Slice(slice) => supported_type(context, &slice.elem),
            other if is_named(other, "str") => {}
            other => {
                let found = other.to_token_stream();
                let message = format!(
                    "a message borrows strings as `&str` and vectors as `&[T]`: write `{found}` without the `&`"
                );
                context.error(ty, message);
            }
        },
        Type::Array(array) => supported_type(context, &array.elem),
        // What it borrows has no size of its own, as in `Cow<str>`.
        _ if last_segment(ty).is_some_and(|segment| segment.ident == "Cow") => {}
        _ => {
            if let Some(message) = map_key(ty) {
                return context.error(ty, message);
            }
            for argument in type_arguments(ty) {
                match nested(ty, argument) {
                    Some(reason) => context.error(argument, reason),
                    None => supported_type(context, argument),
                }
            }
        }
    }
}

/// ```text
/// #[message(namespace = "demo", plain)]
/// #[repr(C)]
/// struct Pose { name: String, next: &'static Pose, x: Option<f64> }
/// ```
pub(super) fn plain_type(context: &Context, ty: &Type) {
    if let Some(reason) = unsupported(ty) {
        return context.error(ty, reason);
    }
    match ty {
        Type::Array(array) => plain_type(context, &array.elem),
        Type::Reference(_) => {
            context.error(ty, "a plain message is its own memory and cannot point elsewhere: remove `plain`, or hold the value");
        }
        _ => {
            let Some(name) = standard_name(ty) else { return };
            let instead = match name.as_str() {
                "String" => "an array such as `[u8; 32]`",
                "Vec" => "an array such as `[f32; 16]`",
                "Box" => "the value itself",
                "Option" => "a `bool` beside the value",
                _ => return,
            };
            let message = format!(
                "a plain message is its own memory, and `{name}` is not: remove `plain`, or use {instead}"
            );
            context.error(ty, message);
        }
    }
}

/// ```text
/// enum Thing { Count(u32), Names(Vec<String>), Maybe(Option<Node>), .. }
/// ```
pub(super) fn member_type(context: &Context, ty: &Type) {
    if let Some(reason) = unsupported(ty) {
        return context.error(ty, reason);
    }
    let found = match ty {
        Type::Array(_) => "an array".to_owned(),
        Type::Path(path) => match path.path.get_ident().map(ToString::to_string) {
            Some(number) if NUMBERS.contains(&number.as_str()) => format!("`{number}`"),
            _ => match standard_name(ty) {
                Some(name) if matches!(name.as_str(), "Vec" | "Option") => format!("`{name}`"),
                _ => return supported_type(context, ty),
            },
        },
        _ => return supported_type(context, ty),
    };
    let message = format!(
        "a member of a union is a message, a plain struct or a string, not {found}: put it into a message struct of its own"
    );
    context.error(ty, message);
}

const NUMBERS: &[&str] = &["u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64", "f32", "f64", "bool"];

/// True when the type, by its spelling, may be in a table.
pub(crate) fn is_supported(ty: &Type) -> bool {
    let context = Context::new();
    supported_type(&context, ty);
    context.finish().is_ok()
}

/// Why a type as it is spelled cannot be in any message.
fn unsupported(ty: &Type) -> Option<String> {
    let reason = match ty {
        Type::Ptr(_) => {
            "a pointer means nothing in another process: hold the value, or borrow it with `&[T]` or `&str`"
        }
        Type::FnPtr(_) => "a function cannot be sent: remove the field",
        Type::Tuple(_) => "a tuple has no names for its parts: write a struct with `#[derive(Message)]`",
        Type::TraitObject(_) | Type::ImplTrait(_) => "a message needs to know its types: name one",
        Type::Never(_) => "`!` has no values: remove the field",
        Type::Slice(_) => "a slice has no size of its own: write `&[T]` or `Vec<T>`",
        _ => return unsupported_name(&standard_name(ty)?),
    };
    Some(reason.to_owned())
}

fn unsupported_name(name: &str) -> Option<String> {
    let reason = match name {
        "usize" => "has another size on other machines: write `u64` or `u32`",
        "isize" => "has another size on other machines: write `i64` or `i32`",
        "char" => "is no FlatBuffers type: write `u32` for one character, or `String`",
        "u128" | "i128" => "is wider than any FlatBuffers number: write `[u64; 2]`",
        "f16" | "f128" => "is no FlatBuffers number: write `f32` or `f64`",
        "str" => "has no size of its own: write `String` or `&str`",
        "HashSet" | "BTreeSet" | "VecDeque" => "is no FlatBuffers type: write a `Vec`",
        "Rc" | "Arc" | "Cell" | "RefCell" | "Mutex" => {
            "shares memory, which a message cannot: hold the value itself"
        }
        _ => return None,
    };
    Some(format!("`{name}` {reason}"))
}

/// Standard types without type arguments; all others that the rules name have some.
const WITHOUT_ARGUMENTS: &[&str] =
    &["String", "usize", "isize", "char", "u128", "i128", "f16", "f128", "str"];

/// The name of a type of the language or the standard library, as far as its spelling can tell: a message of the user's
/// may well be called `Cell`, but has no type arguments.
fn standard_name(ty: &Type) -> Option<String> {
    let Type::Path(path) = ty else { return None };
    let segment = last_segment(ty)?;
    let name = segment.ident.to_string();
    let is_standard = match segment.arguments {
        PathArguments::AngleBracketed(_) => true,
        _ => path.path.segments.len() == 1 && WITHOUT_ARGUMENTS.contains(&name.as_str()),
    };
    is_standard.then_some(name)
}

fn last_segment(ty: &Type) -> Option<&PathSegment> {
    match ty {
        Type::Path(path) => path.path.segments.last(),
        _ => None,
    }
}

/// Why a type cannot hold another as it is spelled.
fn nested(outer: &Type, inner: &Type) -> Option<&'static str> {
    // Without arguments it is somebody's own type of that name.
    let name = |ty| {
        let segment = last_segment(ty).filter(|segment| !segment.arguments.is_none())?;
        Some(segment.ident.to_string())
    };
    match (name(outer)?.as_str(), name(inner)?.as_str()) {
        ("Vec", "Vec") => {
            Some("FlatBuffers has no vectors of vectors: put the inner one into a message struct of its own")
        }
        ("Vec", "HashMap" | "BTreeMap") => {
            Some("FlatBuffers has no vectors of vectors: put the map into a message struct of its own")
        }
        ("Vec", "Option") => {
            Some("FlatBuffers has no absent elements: put the `Option` into a message struct of its own")
        }
        ("Option", "Option") => Some("absence would have two meanings: remove one `Option`"),
        _ => None,
    }
}

/// Why the key of a map, as it is spelled, is none.
fn map_key(ty: &Type) -> Option<String> {
    let map = last_segment(ty)?;
    if map.ident != "HashMap" && map.ident != "BTreeMap" {
        return None;
    }
    let key = type_arguments(ty).next()?;
    let refused = match key {
        Type::Array(_) | Type::Tuple(_) => true,
        _ => last_segment(key).is_some_and(|segment| {
            let real = segment.ident == "f32" || segment.ident == "f64";
            real || !segment.arguments.is_none()
                && ["Vec", "Option", "HashMap", "BTreeMap"].iter().any(|name| segment.ident == name)
        }),
    };
    let found = key.to_token_stream().to_string().replace(' ', "");
    refused.then(|| format!("a map's key is a string or an integer, not `{found}`: write a `Vec` of a struct with a key and a value"))
}

fn type_arguments(ty: &Type) -> impl Iterator<Item = &Type> {
    let arguments = match last_segment(ty).map(|segment| &segment.arguments) {
        Some(PathArguments::AngleBracketed(arguments)) => Some(&arguments.args),
        _ => None,
    };
    arguments.into_iter().flatten().filter_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    })
}

/// True for a path that ends in this name.
pub(super) fn is_named(ty: &Type, name: &str) -> bool {
    last_segment(ty).is_some_and(|segment| segment.ident == name)
}
