//! Collects mistakes, so that all of them are reported at once.

use std::{cell::RefCell, fmt::Display, thread};

use quote::ToTokens;

/// The mistakes found so far. It must be finished: dropping it unchecked panics, since mistakes would be lost.
pub(crate) struct Context {
    errors: RefCell<Option<Vec<syn::Error>>>,
}

impl Context {
    pub(crate) fn new() -> Self {
        Self { errors: RefCell::new(Some(Vec::new())) }
    }

    /// A mistake at these tokens of the user.
    pub(crate) fn error(&self, tokens: impl ToTokens, message: impl Display) {
        self.push(syn::Error::new_spanned(tokens, message));
    }

    pub(crate) fn push(&self, error: syn::Error) {
        if let Some(errors) = self.errors.borrow_mut().as_mut() {
            errors.push(error);
        }
    }

    /// The value, or `None` with the mistake noted.
    pub(crate) fn ok<T>(&self, result: syn::Result<T>) -> Option<T> {
        result.map_err(|error| self.push(error)).ok()
    }

    /// How many mistakes there are so far.
    pub(crate) fn len(&self) -> usize {
        self.errors.borrow().as_ref().map_or(0, Vec::len)
    }

    pub(crate) fn finish(self) -> Result<(), Vec<syn::Error>> {
        match self.errors.take() {
            Some(errors) if !errors.is_empty() => Err(errors),
            _ => Ok(()),
        }
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        if self.errors.borrow().is_some() && !thread::panicking() {
            panic!("a context was dropped without a look at its errors");
        }
    }
}
