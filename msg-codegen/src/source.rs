//! Schema files: reading them and what they include, and finding lines and columns in them. The only file of this
//! crate that reads from disk.
//!
//! An include is searched in the directory of the including file, then in the configured include paths, then in
//! the current directory. Each file is read once, however many ways lead to it, so cycles need no care.
//!
//! A binary schema is read as the text that it would be written as, so that all rules hold for it too.

use std::{
    collections::HashMap,
    fs, io,
    ops::Range,
    path::{Path, PathBuf},
};

use msg_schema::Schema;

use crate::{
    ast,
    diagnostic::{Code, Diagnostic, FileId, Span},
    fbs, lexer, parser,
};

/// The schema files of a run: their names and texts.
#[derive(Debug, Default)]
pub struct Sources {
    files: Vec<SourceFile>,
}

#[derive(Debug)]
struct SourceFile {
    path: PathBuf,
    /// As it is shown, with forward slashes.
    name: String,
    text: String,
    /// Byte offset of each line's start.
    lines: Vec<u32>,
}

/// A position as people count: both from 1, the column in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Location {
    /// The line.
    pub line: usize,
    /// The column, in characters.
    pub column: usize,
}

impl Sources {
    /// A single text that is no file on disk.
    #[cfg(test)]
    pub(crate) fn from_text(name: &str, text: &str) -> Self {
        let mut sources = Self::default();
        sources.add(PathBuf::from(name), text.to_owned());
        sources
    }

    /// The file of [`from_text`](Self::from_text).
    #[cfg(test)]
    pub(crate) fn only(&self) -> FileId {
        FileId(0)
    }

    fn add(&mut self, path: PathBuf, text: String) -> FileId {
        let id = FileId(self.files.len() as u32);
        let name = path.display().to_string().replace('\\', "/");
        let after_breaks =
            text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at as u32 + 1);
        let lines = std::iter::once(0).chain(after_breaks).collect();
        self.files.push(SourceFile { path, name, text, lines });
        id
    }

    /// Every file that was read, in a stable order.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.files.iter().map(|file| file.path.as_path())
    }

    /// The name of a file as diagnostics show it.
    pub fn path(&self, file: FileId) -> &str {
        self.files.get(file.0 as usize).map_or("", |file| &file.name)
    }

    /// The text of a span.
    pub fn text(&self, span: Span) -> &str {
        let text = self.file_text(span.file);
        text.get(span.start as usize..span.end as usize).unwrap_or("")
    }

    pub(crate) fn file_text(&self, file: FileId) -> &str {
        self.files.get(file.0 as usize).map_or("", |file| &file.text)
    }

    /// Line and column of a span's start.
    pub fn location(&self, span: Span) -> Location {
        let Some(file) = self.files.get(span.file.0 as usize) else { return Location { line: 1, column: 1 } };
        let line = file.lines.partition_point(|start| *start <= span.start).max(1);
        let before = file.text.get(file.lines[line - 1] as usize..span.start as usize).unwrap_or("");
        let before = before.strip_prefix(lexer::BYTE_ORDER_MARK).unwrap_or(before);
        Location { line, column: before.chars().count() + 1 }
    }

    /// The line that a span starts in, without its end, and the bytes of it that the span covers.
    pub(crate) fn line_of(&self, span: Span) -> (&str, Range<usize>) {
        let Some(file) = self.files.get(span.file.0 as usize) else { return ("", 0..0) };
        let line = file.lines.partition_point(|start| *start <= span.start).max(1);
        let mut start = file.lines[line - 1] as usize;
        let end = file.lines.get(line).map_or(file.text.len(), |next| *next as usize);
        if start == 0 && file.text.starts_with(lexer::BYTE_ORDER_MARK) {
            start = lexer::BYTE_ORDER_MARK.len_utf8();
        }
        let text = file.text.get(start..end).unwrap_or("").trim_end_matches(['\n', '\r']);
        let in_line = |at: u32| (at as usize).saturating_sub(start).min(text.len());
        (text, in_line(span.start)..in_line(span.end))
    }
}

/// What came of reading: the files, their syntax trees in the same order, and what went wrong.
#[derive(Debug, Default)]
pub(crate) struct Loaded {
    pub(crate) sources: Sources,
    pub(crate) files: Vec<ast::File>,
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// The files that were asked for, the others being included ones.
    pub(crate) inputs: Vec<FileId>,
}

/// Whether a file holds a binary schema, by its name.
pub(crate) fn is_binary(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "bfbs")
}

/// The bytes of a file that is no schema text.
pub(crate) fn read_binary(path: &Path) -> io::Result<Vec<u8>> {
    fs::read(path)
}

/// Parses one text that is no file on disk; it has nowhere to include from.
pub(crate) fn load_text(name: &str, text: &str) -> Loaded {
    let mut loader = Loader::new(&[]);
    let file = loader.take_in(PathBuf::from(name), text.to_owned());
    loader.loaded.inputs.push(file);
    loader.missing_includes(file);
    loader.loaded
}

/// Reads and parses the schemas and all that they include.
pub(crate) fn load(schemas: &[PathBuf], include_paths: &[PathBuf]) -> Loaded {
    let mut loader = Loader::new(include_paths);
    // Sorted, so that the order of inputs never shows in the output.
    let mut schemas: Vec<&PathBuf> = schemas.iter().collect();
    schemas.sort();
    for schema in schemas {
        loader.input(schema);
    }
    let mut next = 0;
    while next < loader.loaded.files.len() {
        loader.includes(FileId(next as u32));
        next += 1;
    }
    loader.loaded
}

struct Loader<'a> {
    include_paths: &'a [PathBuf],
    loaded: Loaded,
    /// Files by their canonical path: one file may be reached by several spellings.
    known: HashMap<PathBuf, FileId>,
}

impl<'a> Loader<'a> {
    fn new(include_paths: &'a [PathBuf]) -> Self {
        Self { include_paths, loaded: Loaded::default(), known: HashMap::new() }
    }

    fn input(&mut self, path: &Path) {
        match self.read(path) {
            Ok(file) if self.loaded.inputs.contains(&file) => {}
            Ok(file) => self.loaded.inputs.push(file),
            Err(error) => {
                let message = format!("cannot read `{}`: {}", path.display(), describe(&error));
                let diagnostic = Diagnostic::without_place(Code::UnreadableFile, message).help(
                    "paths are taken from the directory of the package that is built, or the current one",
                );
                self.loaded.diagnostics.push(diagnostic);
            }
        }
    }

    /// The file at a path, read and parsed unless it is known already.
    fn read(&mut self, path: &Path) -> io::Result<FileId> {
        let identity = fs::canonicalize(path)?;
        if let Some(file) = self.known.get(&identity) {
            return Ok(*file);
        }
        let mut bytes = fs::read(path)?;
        if is_binary(path) {
            let invalid = |error: String| io::Error::new(io::ErrorKind::InvalidData, error);
            let schema = Schema::from_bytes(&bytes).map_err(|error| invalid(error.to_string()))?;
            bytes = fbs::to_fbs(&schema).map_err(|error| invalid(error.to_string()))?.into_bytes();
        }
        if u32::try_from(bytes.len()).is_err() {
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, "a schema of 4 GiB or more"));
        }
        let file = match String::from_utf8(bytes) {
            Ok(text) => self.take_in(path.to_owned(), text),
            Err(error) => self.not_utf8(path, &error),
        };
        self.known.insert(identity, file);
        Ok(file)
    }

    fn take_in(&mut self, path: PathBuf, text: String) -> FileId {
        let file = self.loaded.sources.add(path, text);
        let text = self.loaded.sources.file_text(file);
        let tokens = lexer::lex(file, text, &mut self.loaded.diagnostics);
        self.loaded.files.push(parser::parse(file, &tokens, &mut self.loaded.diagnostics));
        file
    }

    /// Keeps the part before the wrong byte, to show the line, and parses nothing.
    fn not_utf8(&mut self, path: &Path, error: &std::string::FromUtf8Error) -> FileId {
        let at = error.utf8_error().valid_up_to();
        let text = String::from_utf8_lossy(&error.as_bytes()[..at]).into_owned();
        let byte = error.as_bytes().get(at).copied().unwrap_or_default();
        let file = self.loaded.sources.add(path.to_owned(), text);
        let span = Span { file, start: at as u32, end: at as u32 };
        let message = format!("byte 0x{byte:02x} is not UTF-8");
        let diagnostic = Diagnostic::new(Code::NotUtf8, span, message).help("save the file as UTF-8");
        self.loaded.diagnostics.push(diagnostic);
        self.loaded.files.push(ast::File { broken: true, ..ast::File::default() });
        file
    }

    fn includes(&mut self, file: FileId) {
        let includes = std::mem::take(&mut self.loaded.files[file.0 as usize].includes);
        let mut targets = Vec::new();
        for include in &includes {
            match self.include(file, include) {
                Ok(target) => targets.push(target),
                Err(diagnostic) => {
                    self.loaded.files[file.0 as usize].broken = true;
                    self.loaded.diagnostics.push(diagnostic);
                }
            }
        }
        let ast = &mut self.loaded.files[file.0 as usize];
        ast.includes = includes;
        ast.included = targets;
    }

    fn include(&mut self, file: FileId, include: &ast::Text) -> Result<FileId, Diagnostic> {
        let candidates = self.candidates(file, &include.value);
        for candidate in &candidates {
            if !candidate.is_file() {
                continue;
            }
            return self.read(candidate).map_err(|error| {
                let message = format!("cannot read `{}`: {}", candidate.display(), describe(&error));
                Diagnostic::new(Code::UnreadableFile, include.span, message)
            });
        }
        let mut diagnostic = not_found(include);
        for candidate in &candidates {
            diagnostic = diagnostic.fact(format!("looked for `{}`", candidate.display()));
        }
        Err(diagnostic)
    }

    /// Where an include may be, in the order in which it is looked for.
    fn candidates(&self, file: FileId, name: &str) -> Vec<PathBuf> {
        let including = &self.loaded.sources.files[file.0 as usize].path;
        let beside = including.parent().unwrap_or(Path::new("")).join(name);
        let mut candidates = vec![beside];
        let configured = self.include_paths.iter().map(|directory| directory.join(name));
        for candidate in configured.chain([PathBuf::from(name)]) {
            if !candidates.contains(&candidate) {
                candidates.push(candidate);
            }
        }
        candidates
    }

    fn missing_includes(&mut self, file: FileId) {
        let ast = &mut self.loaded.files[file.0 as usize];
        ast.broken |= !ast.includes.is_empty();
        self.loaded.diagnostics.extend(ast.includes.iter().map(not_found));
    }
}

fn not_found(include: &ast::Text) -> Diagnostic {
    Diagnostic::new(Code::IncludeNotFound, include.span, format!("cannot find `{}`", include.value)).help(
        "an include is searched beside the including file, in the include paths (`-I`, `include_path`), \
         then in the current directory",
    )
}

/// The system's words without its error number, which differs between systems.
fn describe(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        io::ErrorKind::IsADirectory => "it is a directory".to_owned(),
        _ => error.to_string(),
    }
}
