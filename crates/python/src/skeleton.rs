//! Reuse of compiled functions that differ only in their literals.
//!
//! A harness may list ten thousand lines such as `<word> := 'apple'`. Their functions have the same
//! code except for a constant, a name and a line number. So such code is compiled once, with marks
//! in place of the literals, and each function gets a copy of it with its own constants: a copy
//! takes a tenth of the time of compiling.

use std::cell::RefCell;

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use rustc_hash::FxHashMap;
use testwright_source::{Token, TokenKind, tokenize};

use crate::context::HarnessContext;
use crate::functions::FunctionText;

/// The maximum number of literals; texts with more are compiled normally.
const MAX_LITERALS: usize = 16;

/// The first of the numbers that stand for literals. No harness contains them.
const FIRST_MARK: i64 = 7_405_926_137_264_000;

/// A function without its name and its literals.
pub(crate) struct Skeleton {
    /// The text with marks in place of literals.
    pub(crate) text: String,
    /// The name of the function.
    name: String,
    /// The literals, in order.
    literals: Vec<Literal>,
}

/// A literal that is compiled in the same way whatever its value is: not empty, not zero, without
/// escapes, and not joined with another.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Literal {
    Number(i64),
    Text(String),
}

impl Literal {
    /// Returns the literal of a token, or `None` if its compilation may depend on the value.
    fn new(text: &str, token: &Token, neighbours: [Option<&Token>; 2]) -> Option<Literal> {
        let literal = &text[token.range.clone()];
        match token.kind {
            TokenKind::Number => {
                let number = literal.parse().ok()?;
                let is_plain = !literal.starts_with('0') && number < FIRST_MARK;
                is_plain.then_some(Literal::Number(number))
            }
            TokenKind::String => {
                let inner = ['\'', '"'].into_iter().find_map(|quote| {
                    literal
                        .strip_prefix(quote)?
                        .strip_suffix(quote)
                        .filter(|inner| !inner.contains([quote, '\\', '\n', '\r', '\0']))
                })?;
                let is_joined = neighbours
                    .into_iter()
                    .flatten()
                    .any(|neighbour| neighbour.kind == TokenKind::String);
                (!inner.is_empty() && !is_joined).then(|| Literal::Text(inner.to_owned()))
            }
            _ => None,
        }
    }

    /// Returns the mark of the same type with this number.
    fn mark(&self, number: usize) -> Literal {
        let number = FIRST_MARK + number as i64;
        match self {
            Literal::Number(_) => Literal::Number(number),
            Literal::Text(_) => Literal::Text(number.to_string()),
        }
    }

    /// Returns the Python object of the literal.
    fn to_object<'py>(&self, python: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(match self {
            Literal::Number(number) => number.into_pyobject(python)?.into_any(),
            Literal::Text(text) => text.into_pyobject(python)?.into_any(),
        })
    }
}

impl Skeleton {
    /// Splits the text of a function. `None` if it has no literals, or does not look like a
    /// function.
    pub(crate) fn new(text: &str) -> Option<Skeleton> {
        let (name, _) = text.strip_prefix("def ")?.split_once('(')?;
        let body = 4 + name.len();
        let tokens = tokenize(&text[body..]);
        let mut skeleton = Skeleton {
            text: String::from("def alike"),
            name: name.to_owned(),
            literals: Vec::new(),
        };
        let rest = &text[body..];
        let mut copied = 0;
        for (position, token) in tokens.iter().enumerate() {
            let before = position
                .checked_sub(1)
                .and_then(|position| tokens.get(position));
            let neighbours = [before, tokens.get(position + 1)];
            let Some(literal) = Literal::new(rest, token, neighbours) else {
                continue;
            };
            skeleton.text.push_str(&rest[copied..token.range.start]);
            match literal.mark(skeleton.literals.len()) {
                Literal::Number(mark) => skeleton.text.push_str(&mark.to_string()),
                Literal::Text(mark) => skeleton.text.push_str(&format!("'{mark}'")),
            }
            skeleton.literals.push(literal);
            copied = token.range.end;
        }
        skeleton.text.push_str(&rest[copied..]);
        (1..=MAX_LITERALS)
            .contains(&skeleton.literals.len())
            .then_some(skeleton)
    }
}

/// The skeletons seen so far.
#[derive(Default)]
pub(crate) struct Skeletons<'py>(RefCell<FxHashMap<String, SkeletonState<'py>>>);

/// The state of a skeleton.
#[derive(Clone)]
enum SkeletonState<'py> {
    /// One function has it. It is not compiled before a second one does.
    Once,
    /// A function compiled from the text with marks, and the positions of the marks in its
    /// constants.
    Compiled(Bound<'py, PyAny>, Vec<usize>),
    /// The marks are not found in its constants, because the compiler merged them with something
    /// else.
    NotReusable,
}

impl<'py> Skeletons<'py> {
    /// Returns the function of a text that equals an earlier one except for its literals. `None` if
    /// there was none.
    pub(crate) fn function(
        &self,
        context: &HarnessContext<'py>,
        function: &FunctionText,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some(skeleton) = Skeleton::new(&function.text) else {
            return Ok(None);
        };
        let known = self.0.borrow().get(&skeleton.text).cloned();
        let known = match known {
            None => SkeletonState::Once,
            Some(SkeletonState::Once) => compile_skeleton(context, &skeleton)?,
            Some(known) => known,
        };
        let made = match &known {
            SkeletonState::Compiled(model, positions) => {
                Some(copy(context, model, positions, &skeleton, function.line)?)
            }
            SkeletonState::Once | SkeletonState::NotReusable => None,
        };
        self.0.borrow_mut().insert(skeleton.text, known);
        Ok(made)
    }
}

/// The line that skeletons are compiled for, with room for lines before it.
const MODEL_LINE: usize = 10;

/// Compiles a skeleton and finds its marks among the constants.
fn compile_skeleton<'py>(
    context: &HarnessContext<'py>,
    skeleton: &Skeleton,
) -> PyResult<SkeletonState<'py>> {
    let model = context.compile(&skeleton.text, MODEL_LINE)?;
    let constants = model.getattr("__code__")?.getattr("co_consts")?;
    let constants = constants.cast_into::<PyTuple>()?;
    let mut positions = Vec::new();
    for (number, literal) in skeleton.literals.iter().enumerate() {
        let mark = literal.mark(number).to_object(context.python)?;
        let is_mark = |constant: &Bound<'_, PyAny>| {
            constant.get_type().is(mark.get_type()) && constant.eq(&mark).unwrap_or(false)
        };
        let found: Vec<usize> = (0..constants.len())
            .filter(|position| constants.get_item(*position).is_ok_and(|it| is_mark(&it)))
            .collect();
        match found.as_slice() {
            [only] => positions.push(*only),
            _ => return Ok(SkeletonState::NotReusable),
        }
    }
    Ok(SkeletonState::Compiled(model, positions))
}

/// Copies a compiled function with other literals, at another line.
fn copy<'py>(
    context: &HarnessContext<'py>,
    model: &Bound<'py, PyAny>,
    positions: &[usize],
    skeleton: &Skeleton,
    line: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let python = context.python;
    let constants = model.getattr("__code__")?.getattr("co_consts")?;
    let mut constants: Vec<Bound<'py, PyAny>> = constants.extract()?;
    for (position, literal) in positions.iter().zip(&skeleton.literals) {
        constants[*position] = literal.to_object(python)?;
    }
    let distance = line as i64 - MODEL_LINE as i64;
    let constants = PyTuple::new(python, constants)?;
    let arguments = (model, &skeleton.name, distance, constants);
    context.support.call_method1("copy_function", arguments)
}

#[cfg(test)]
mod tests {
    use super::{Literal, Skeleton};

    #[track_caller]
    fn check(text: &str, expected: &str, literals: &[Literal]) {
        let skeleton = Skeleton::new(text);
        let found = skeleton.as_ref().map(|skeleton| skeleton.text.as_str());
        assert_eq!(found, Some(expected).filter(|text| !text.is_empty()));
        let found = skeleton.map(|skeleton| skeleton.literals);
        assert_eq!(found.unwrap_or_default(), literals);
    }

    #[test]
    fn literals_are_marked() {
        check(
            "def line_5(_tw_p, _tw_0):\n _tw_p[_tw_0] = f('a b', 12)\n",
            "def alike(_tw_p, _tw_0):\n _tw_p[_tw_0] = f('7405926137264000', 7405926137264001)\n",
            &[Literal::Text("a b".to_owned()), Literal::Number(12)],
        );
    }

    #[test]
    fn code_that_may_compile_differently_is_left_alone() {
        for body in [
            "x = 0",
            "x = ''",
            "x = 'a' 'b'",
            "x = '\\n'",
            "x = f'{1}'",
            "x = b'x'",
            "x = 1.5",
            "x = 0x10",
            "x = '''a'''",
            "x = y",
        ] {
            check(&format!("def f(_tw_p):\n {body}\n"), "", &[]);
        }
    }
}
