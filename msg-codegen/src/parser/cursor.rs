//! Going through the tokens: what stands here, what was wanted instead, and where to go on after a mistake.

use super::{DECLARATIONS, Parsed, Parser, Reported};
use crate::{
    diagnostic::{Code, Diagnostic, Span},
    lexer::{Token, TokenKind},
};

impl<'t, 'a> Parser<'t, 'a, '_> {
    pub(super) fn open_block(&mut self) -> Parsed<Span> {
        let span = self.token().span;
        self.expect(b'{')?;
        Ok(span)
    }

    /// Whether the block is over: at its brace, or where the brace must have been forgotten.
    pub(super) fn block_ends(&mut self, open: Span, name: &str) -> bool {
        if self.take(b'}') {
            return true;
        }
        if !self.at_end() && !self.declaration_starts() {
            return false;
        }
        if !self.token().broken {
            let found = self.found();
            let message = format!("the block of `{name}` is not closed before {found}");
            self.report(Diagnostic::new(Code::UnclosedBlock, open, message).help("close it with `}`"));
        }
        true
    }

    /// The comma after an enumerator or member, which the last may do without.
    pub(super) fn separator(&mut self) -> Parsed<()> {
        match self.token().kind {
            // A missing brace is reported for the block.
            TokenKind::Symbol(b'}') | TokenKind::End => Ok(()),
            _ => self.expect_after(b',', "enumerators are separated by commas"),
        }
    }

    /// A keyword and a name: no field, enumerator or member looks like that.
    pub(super) fn declaration_starts(&self) -> bool {
        let next = self.tokens.get(self.at + 1).map(|token| &token.kind);
        self.token().kind == TokenKind::Identifier
            && DECLARATIONS.contains(&self.token().text)
            && matches!(next, Some(TokenKind::Identifier | TokenKind::Text(_)))
    }

    /// To the next field or enumerator of the block.
    pub(super) fn recover_within(&mut self, separator: u8) {
        loop {
            match self.token().kind {
                TokenKind::Symbol(b'}') | TokenKind::End => return,
                TokenKind::Symbol(symbol) if symbol == separator || symbol == b';' => {
                    self.advance();
                    return;
                }
                _ if self.declaration_starts() => return,
                _ => self.advance(),
            };
        }
    }

    /// To the next declaration, going at least one token beyond `start`.
    pub(super) fn recover_declaration(&mut self, start: usize) {
        let mut depth = 0_usize;
        if self.at == start {
            depth += usize::from(self.token().kind == TokenKind::Symbol(b'{'));
            let ends = self.token().kind == TokenKind::Symbol(b';');
            self.advance();
            if ends {
                return;
            }
        }
        while !self.at_end() && !self.declaration_starts() {
            let kind = &self.advance().kind;
            match kind {
                TokenKind::Symbol(b'{') => depth += 1,
                TokenKind::Symbol(b'}') if depth <= 1 => return,
                TokenKind::Symbol(b'}') => depth -= 1,
                TokenKind::Symbol(b';') if depth == 0 => return,
                _ => {}
            }
        }
    }

    pub(super) fn take(&mut self, symbol: u8) -> bool {
        let found = self.token().kind == TokenKind::Symbol(symbol);
        if found {
            self.advance();
        }
        found
    }

    pub(super) fn expect(&mut self, symbol: u8) -> Parsed<()> {
        self.expect_after(symbol, "")
    }

    pub(super) fn expect_after(&mut self, symbol: u8, help: &str) -> Parsed<()> {
        match self.take(symbol) {
            true => Ok(()),
            false => Err(self.unexpected(&format!("`{}`", char::from(symbol)), help)),
        }
    }

    /// Reports that the token here is not what was wanted.
    pub(super) fn unexpected(&mut self, wanted: &str, help: &str) -> Reported {
        if self.token().broken || self.at > 0 && self.previous().broken {
            return Reported;
        }
        let message = format!("expected {wanted}, found {}", self.found());
        // What is missing belongs behind the token before, not before one that may stand lines below.
        let missing = wanted.starts_with('`') && self.at > 0;
        let here = self.token().span;
        let mut diagnostic = Diagnostic::new(Code::UnexpectedToken, here, message);
        if missing {
            let end = self.previous().span.end;
            diagnostic = Diagnostic { span: Some(Span { file: self.file, start: end, end }), ..diagnostic };
            diagnostic = diagnostic.label(format!("{wanted} is missing here"));
        }
        if !help.is_empty() {
            diagnostic = diagnostic.help(help);
        }
        self.report(diagnostic)
    }

    /// The token here, in words.
    pub(super) fn found(&self) -> String {
        match self.token().kind {
            TokenKind::End => "the end of the file".to_owned(),
            TokenKind::Text(_) => "a string".to_owned(),
            _ => format!("`{}`", self.token().text),
        }
    }

    pub(super) fn report(&mut self, diagnostic: Diagnostic) -> Reported {
        self.diagnostics.push(diagnostic);
        Reported
    }

    pub(super) fn at_end(&self) -> bool {
        self.token().kind == TokenKind::End
    }

    pub(super) fn token(&self) -> &'t Token<'a> {
        &self.tokens[self.at]
    }

    pub(super) fn previous(&self) -> &'t Token<'a> {
        &self.tokens[self.at.saturating_sub(1)]
    }

    /// Goes to the next token, but never beyond the last, and gives the one left.
    pub(super) fn advance(&mut self) -> &'t Token<'a> {
        let token = self.token();
        if !self.at_end() {
            self.at += 1;
        }
        token
    }
}
