//! Schemas with a mistake, or with something unusual: what `schema_text` writes, with one or two words of it changed.
//!
//! Letters at random are a mistake of the lexer nearly always. So whole words change places, are said twice, left out or
//! replaced by others that mean something in the language.

use crate::random::Random;

/// What can stand where a type is wanted.
const TYPES: [&str; 34] = [
    "bool",
    "byte",
    "ubyte",
    "short",
    "ushort",
    "int",
    "uint",
    "long",
    "ulong",
    "float",
    "double",
    "string",
    "int8",
    "uint64",
    "float64",
    "[int]",
    "[bool]",
    "[string]",
    "[ubyte]",
    "[int:2]",
    "[int:0]",
    "[[int]]",
    "[bool:65535]",
    "[bool:65536]",
    "[T1]",
    "NONE",
    "T1",
    "S1",
    "S2",
    "U3",
    "E1",
    "E2",
    "a.T1",
    "a.b.S2",
];

/// What can stand where a value is wanted.
const VALUES: [&str; 41] = [
    "0",
    "1",
    "-1",
    "2",
    "7",
    "8",
    "63",
    "64",
    "127",
    "128",
    "-129",
    "255",
    "256",
    "65535",
    "65536",
    "2147483648",
    "4294967295",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "0x10",
    "1.5",
    "1e3",
    "1e39",
    "1.",
    "nan",
    "-inf",
    "null",
    "true",
    "false",
    "\"\"",
    "\"1\"",
    "\"V0 V1\"",
    "\"true\"",
    "'a'",
    "[]",
    "{}",
    "V1",
    "E1.V0",
];

/// What can stand where a name is wanted, or anywhere.
const WORDS: [&str; 30] = [
    "table",
    "struct",
    "enum",
    "union",
    "namespace",
    "root_type",
    "attribute",
    "rpc_service",
    "file_identifier",
    "V0",
    "V1",
    "M0",
    "f0",
    "f1",
    "f1_type",
    "a.b",
    "a",
    "T1",
    "S1",
    "U1",
    "int",
    "string",
    "NONE",
    "null",
    ";",
    ",",
    ":",
    "}",
    ".",
    "///x\n",
];

/// What can follow a type or a default: defaults, and every attribute that means something.
const ENDINGS: [&str; 41] = [
    " = null",
    " = 0",
    " = 1",
    " = V0",
    " = []",
    " = \"x\"",
    " = nan",
    " = 300",
    " (key)",
    " (required)",
    " (deprecated)",
    " (id: 0)",
    " (id: 1)",
    " (id: -1)",
    " (id: \"0\")",
    " (id: 65535)",
    " (id)",
    " (force_align: 1)",
    " (force_align: 4)",
    " (force_align: 3)",
    " (force_align: 16)",
    " (force_align: 64)",
    " (bit_flags)",
    " (original_order)",
    " (nested_flatbuffer: \"T1\")",
    " (nested_flatbuffer: \"S1\")",
    " (nested_flatbuffer)",
    " (flexbuffer)",
    " (hash: \"fnv1a_32\")",
    " (hash: \"fnv1_64\")",
    " (hash: \"md5\")",
    " (shared)",
    " (private)",
    " (native_inline)",
    " (native_default: \"x\")",
    " (cpp_type: \"x\")",
    " (csharp_partial)",
    " (unit)",
    " (priority: 3, priority: 4)",
    " (unheard_of)",
    " ()",
];

/// Changes one to two words of a schema; the same for the same random numbers.
pub fn change(text: &str, random: &mut Random) -> String {
    let mut words = words(text);
    for _ in 0..1 + random.below(4) / 3 {
        if words.len() > 2 {
            change_one(&mut words, random);
        }
    }
    words.concat()
}

fn change_one(words: &mut Vec<String>, random: &mut Random) {
    let (at, other) = (meaning(words, random), meaning(words, random));
    match random.below(16) {
        0 => drop(words.remove(at)),
        1 => words.insert(at, words[at].clone() + " "),
        2 => words.swap(at, other),
        3 => words[at] = words[other].clone(),
        4..10 => words[at] = another(words, at, random).to_owned(),
        10 => words.insert(at, format!(" {} ", WORDS[random.below(WORDS.len())])),
        11..14 => {
            let ending = ENDINGS[random.below(ENDINGS.len())];
            let end = (at..words.len()).find(|end| [";", "{", ",", ")"].contains(&words[*end].as_str()));
            let end = end.unwrap_or(at);
            let is_list = words[end] == ")";
            let attributes = ending.trim_start_matches(" (").trim_end_matches(')');
            words.insert(end, if is_list { format!(", {attributes}") } else { ending.to_owned() });
        }
        14 => {
            // A whole field or declaration again, somewhere.
            let (start, end) = statement(words, at);
            let copy = words[start..end].to_vec();
            let (_, place) = statement(words, other);
            words.splice(place..place, copy);
        }
        _ => {
            let (start, end) = statement(words, at);
            words.drain(start..end);
        }
    }
}

/// What could stand in a word's place.
fn another(words: &[String], at: usize, random: &mut Random) -> &'static str {
    let before = words[..at].iter().rev().find(|word| !word.trim().is_empty()).map_or("", String::as_str);
    let is_name = words[at].starts_with(char::is_alphabetic);
    let all: &[&str] = match before {
        ":" | "[" if is_name => &TYPES,
        ":" | "=" | "-" => &VALUES,
        _ => &WORDS,
    };
    all[random.below(all.len())]
}

/// The place of a word that is no blank, seldom of one that only holds others together.
fn meaning(words: &[String], random: &mut Random) -> usize {
    let start = random.below(words.len());
    let punctuation_too = random.below(12) == 0;
    let means = |at: &usize| {
        let word = words[*at].trim();
        word.starts_with(|letter: char| punctuation_too || letter.is_alphanumeric() || letter == '"')
    };
    (start..words.len()).chain(0..start).find(means).unwrap_or(start)
}

/// From behind one `;`, `{` or `}` to behind the next.
fn statement(words: &[String], at: usize) -> (usize, usize) {
    let ends = |at: &usize| [";", "{", "}"].contains(&words[*at].as_str());
    let start = (0..at).rev().find(ends).map_or(0, |end| end + 1);
    let end = (at..words.len()).find(ends).map_or(words.len(), |end| end + 1);
    (start, end)
}

/// Names and numbers, strings, comments, blanks, and each other character by itself.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let part_of_name = |letter: char| letter.is_alphanumeric() || "_.".contains(letter);
        let len = match first {
            '"' => quoted(rest),
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            blank if blank.is_whitespace() => run(rest, char::is_whitespace),
            letter if part_of_name(letter) => number(rest).max(run(rest, part_of_name)),
            other => other.len_utf8(),
        };
        let (word, after) = rest.split_at(len);
        words.push(word.to_owned());
        rest = after;
    }
    words
}

fn run(text: &str, belongs: impl Fn(char) -> bool) -> usize {
    text.find(|letter| !belongs(letter)).unwrap_or(text.len())
}

/// The length of a number with a signed exponent that starts here.
fn number(text: &str) -> usize {
    let digits = run(text, |letter| letter.is_ascii_digit() || letter == '.');
    let exponent = text[digits..].strip_prefix("e-").filter(|_| digits > 0);
    exponent.map_or(0, |exponent| digits + 2 + run(exponent, |letter| letter.is_ascii_digit()))
}

/// The length of the string that starts here.
fn quoted(text: &str) -> usize {
    let mut escaped = false;
    for (at, letter) in text.char_indices().skip(1) {
        match letter {
            '"' if !escaped => return at + 1,
            _ => escaped = letter == '\\' && !escaped,
        }
    }
    text.len()
}
