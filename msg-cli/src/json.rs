//! Diagnostics as JSON, for editors and other programs.
//!
//! An array with an object a line. `start` and `end` have the offset in bytes from the start of the file, and line and
//! column, both from 1, the column in characters; what is not known is `null`.

use msg_codegen::{Checked, Diagnostic, Note, Severity, Span};

/// All diagnostics.
pub(crate) fn diagnostics(checked: &Checked) -> String {
    let objects: Vec<String> =
        checked.diagnostics().iter().map(|diagnostic| object(checked, diagnostic)).collect();
    match objects.is_empty() {
        true => "[]\n".to_owned(),
        false => format!("[\n{}\n]\n", objects.join(",\n")),
    }
}

fn object(checked: &Checked, diagnostic: &Diagnostic) -> String {
    let severity = match diagnostic.severity() {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    let label = Some(diagnostic.label.as_str()).filter(|label| !label.is_empty());
    let notes: Vec<String> = diagnostic.notes.iter().map(|one| note(checked, one)).collect();
    format!(
        r#"{{"severity":"{severity}","code":"{}","message":{},{},"label":{},"notes":[{}],"help":{}}}"#,
        diagnostic.code,
        string(&diagnostic.message),
        place(checked, diagnostic.span),
        optional(label),
        notes.join(","),
        optional(diagnostic.help.as_deref()),
    )
}

fn note(checked: &Checked, note: &Note) -> String {
    format!(r#"{{"message":{},{}}}"#, string(&note.message), place(checked, note.span))
}

/// `"file":..,"start":..,"end":..`
fn place(checked: &Checked, span: Option<Span>) -> String {
    let Some(span) = span else { return r#""file":null,"start":null,"end":null"#.to_owned() };
    let position = |at: u32| {
        let location = checked.sources().location(Span { start: at, end: at, ..span });
        format!(r#"{{"offset":{at},"line":{},"column":{}}}"#, location.line, location.column)
    };
    let file = string(checked.sources().path(span.file));
    format!(r#""file":{file},"start":{},"end":{}"#, position(span.start), position(span.end))
}

fn optional(text: Option<&str>) -> String {
    text.map_or_else(|| "null".to_owned(), string)
}

/// A string literal.
fn string(text: &str) -> String {
    let mut literal = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => literal.extend(['\\', character]),
            '\n' => literal.push_str("\\n"),
            _ if character.is_control() => literal.push_str(&format!("\\u{:04x}", u32::from(character))),
            _ => literal.push(character),
        }
    }
    literal.push('"');
    literal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals() {
        let check = |text: &str, expected: &str| assert_eq!(string(text), expected, "{text:?}");
        check("", r#""""#);
        check("a \"b\" \\ é", r#""a \"b\" \\ é""#);
        check("a\nb\t\u{1}", r#""a\nb\u0009\u0001""#);
    }

    #[test]
    fn objects() {
        let check = |text: &str, expected: &str| {
            let checked = msg_codegen::Config::new().check_text("a.fbs", text);
            assert_eq!(diagnostics(&checked), expected, "{text}");
        };
        check("table A {}", "[]\n");
        check(
            "// é\n/* é */ table A { x: itn; }",
            "[\n{\"severity\":\"error\",\"code\":\"E0301\",\"message\":\"unknown type `itn`\",\"file\":\"a.fbs\",\
             \"start\":{\"offset\":28,\"line\":2,\"column\":22},\"end\":{\"offset\":31,\"line\":2,\"column\":25},\
             \"label\":null,\"notes\":[],\"help\":\"did you mean `int`?\"}\n]\n",
        );
    }
}
