//! Constants in a line that can be changed in the feature: those of its code whose notation stands
//! in the text.

use testwright_source::Range;
use testwright_source::tree::{self, Expression, ExpressionKind, Statement, StatementKind};

use super::executable::{ExecutableLine, LinePart};
use crate::gherkin::{StepKeyword, remove_line_breaks};
use crate::property::child_expressions;
use crate::term::{CallTerm, NameReference, NameRole, NameScope, Term};
use crate::value::{PythonValue, parse};

/// Encloses the number of a constant in a marked text. No source contains it.
const MARK: char = '\u{f0000}';

/// A function that builds the term of an expression, usually [`Term::from_expression`].
pub(crate) type TermReader<'a> = &'a dyn Fn(&Expression, &str, &dyn NameScope) -> Term;

/// The expression that a line is made from, and how it is read.
pub(crate) struct LineSource<'a> {
    /// The expression.
    pub(crate) expression: &'a Expression,
    /// The text that it stands in.
    pub(crate) text: &'a str,
    /// The meaning of its names.
    pub(crate) scope: &'a dyn NameScope,
    /// Builds the term of an expression.
    pub(crate) read: TermReader<'a>,
}

/// A constant in code, or a name that stands for one.
#[derive(Debug, Clone, PartialEq)]
struct Constant {
    /// The range in the code.
    range: Range,
    /// The value.
    value: PythonValue,
    /// The name, if a name stands for the constant.
    name: Option<String>,
}

impl Constant {
    /// Returns true if two constants have the same value and name.
    fn is_like(&self, other: &Constant) -> bool {
        (&self.value, &self.name) == (&other.value, &other.name)
    }
}

impl LineSource<'_> {
    /// Builds a line in words, with code in which the values of the line replace the constants.
    pub(crate) fn line(
        &self,
        keyword: StepKeyword,
        words: &dyn Fn(&Term) -> String,
        code: &[String],
    ) -> ExecutableLine {
        let constants = self.constants();
        let shown = self.replaceable_constants(&constants, words);
        let in_code: Vec<Vec<Constant>> = code.iter().map(|line| self.constants_of(line)).collect();
        // The code may have more constants at its beginning, such as the name by which an action is
        // looked up.
        let alike = |found: &[Constant]| {
            let start = found.len().checked_sub(constants.len())?;
            let mut pairs = found[start..].iter().zip(&constants);
            pairs
                .all(|(one, other)| one.is_like(other))
                .then_some(start)
        };
        let is_there = in_code.iter().any(|found| alike(found).is_some());
        let mut names: Vec<Option<String>> = vec![None; constants.len()];
        let mut renamed = vec![false; constants.len()];
        let mut fresh = 0_usize;
        for index in shown {
            let own = constants[index].name.clone();
            let is_free = |name: &String| !names.contains(&Some(name.clone()));
            let is_read = |name: &String| {
                let all = in_code.iter().flatten();
                all.filter_map(|found| found.name.as_ref())
                    .any(|found| found == name)
            };
            match own.filter(|name| is_free(name) && is_read(name)) {
                Some(name) => names[index] = Some(name),
                None if is_there => {
                    fresh += 1;
                    names[index] = Some(match fresh {
                        1 => "value".to_owned(),
                        number => format!("value_{number}"),
                    });
                    renamed[index] = true;
                }
                None => {}
            }
        }
        let chosen: Vec<usize> = (0..constants.len())
            .filter(|index| names[*index].is_some())
            .collect();
        let parts = self.parts(&constants, &chosen, words);
        let code = code
            .iter()
            .zip(&in_code)
            .map(|(line, found)| match alike(found) {
                None => line.clone(),
                Some(start) => {
                    let each = found[start..].iter().zip(&names).zip(&renamed);
                    let edits = each.filter_map(|((constant, name), renamed)| {
                        let name = name.clone().filter(|_| *renamed)?;
                        Some((constant.range.clone(), name))
                    });
                    apply_edits(line, edits.collect())
                }
            });
        let parts = parts.into_iter().map(|part| match part {
            MarkedPiece::Words(words) => LinePart::Words(words),
            MarkedPiece::Constant(index) => LinePart::Value {
                name: names[index].clone().unwrap_or_default(),
                notation: constants[index].value.notation(),
            },
        });
        ExecutableLine {
            keyword,
            parts: parts.collect(),
            code: code.collect(),
        }
    }

    /// Returns the constants whose notation stands in the words exactly once and may be replaced.
    fn replaceable_constants(
        &self,
        constants: &[Constant],
        words: &dyn Fn(&Term) -> String,
    ) -> Vec<usize> {
        let plain = self.words_with_marks(&[], constants, words);
        let fits = |chosen: &[usize]| {
            let parts = self.parts(constants, chosen, words);
            let is_once = |index: &usize| {
                let all = parts.iter();
                all.filter(|part| matches!(part, MarkedPiece::Constant(found) if found == index))
                    .count()
                    == 1
            };
            let joined: String = parts
                .iter()
                .map(|part| match part {
                    MarkedPiece::Words(words) => words.clone(),
                    MarkedPiece::Constant(index) => constants[*index].value.notation(),
                })
                .collect();
            chosen.iter().all(is_once) && joined == plain
        };
        let all: Vec<usize> = (0..constants.len()).collect();
        if fits(&all) {
            return all;
        }
        let alone: Vec<usize> = all.into_iter().filter(|index| fits(&[*index])).collect();
        if fits(&alone) { alone } else { Vec::new() }
    }

    /// Returns the words of a line in pieces, with the chosen constants apart.
    fn parts(
        &self,
        constants: &[Constant],
        chosen: &[usize],
        words: &dyn Fn(&Term) -> String,
    ) -> Vec<MarkedPiece> {
        let marked = self.words_with_marks(chosen, constants, words);
        let split = marked.split(MARK).enumerate();
        let parts = split.filter_map(|(position, part)| match (position % 2, part.parse()) {
            (1, Ok(index)) => Some(MarkedPiece::Constant(index)),
            _ if part.is_empty() => None,
            _ => Some(MarkedPiece::Words(part.to_owned())),
        });
        parts.collect()
    }

    /// Returns the words of the line, with marks for the chosen constants.
    fn words_with_marks(
        &self,
        chosen: &[usize],
        constants: &[Constant],
        words: &dyn Fn(&Term) -> String,
    ) -> String {
        let marked = MarkedScope {
            scope: self.scope,
            constants,
            chosen,
        };
        remove_line_breaks(&words(&(self.read)(self.expression, self.text, &marked)))
    }

    /// Returns the constants of the expression.
    fn constants(&self) -> Vec<Constant> {
        let mut found = Vec::new();
        self.collect_constants(self.expression, self.text, &mut found);
        found
    }

    /// Returns the constants of a line of code.
    fn constants_of(&self, line: &str) -> Vec<Constant> {
        let mut found = Vec::new();
        let parsed = tree::statements(line).unwrap_or_default();
        let [Statement { kind, .. }] = parsed.as_slice() else {
            return found;
        };
        if let StatementKind::Expression(value)
        | StatementKind::Assign { value, .. }
        | StatementKind::Assert {
            condition: value, ..
        } = kind
        {
            self.collect_constants(value, line, &mut found);
        }
        found
    }

    /// Appends the constants of an expression whose notation can be parsed back.
    fn collect_constants(&self, expression: &Expression, text: &str, found: &mut Vec<Constant>) {
        let term = (self.read)(expression, text, self.scope);
        let value = PythonValue::from_term(&term);
        let can_be_read = |value: &PythonValue| {
            parse::parse_notation(&value.notation()).is_ok_and(|parsed| parsed == *value)
        };
        match value.filter(can_be_read) {
            Some(value) => found.push(Constant {
                range: expression.range.clone(),
                value,
                name: expression.as_name().map(str::to_owned),
            }),
            None => {
                // `self.p_tree[0]` is one name for a slot.
                let is_slot = matches!(expression.kind, ExpressionKind::Subscript { .. })
                    && matches!(term, Term::Reference(_));
                if !is_slot {
                    let inside = child_expressions(expression);
                    inside
                        .into_iter()
                        .for_each(|inner| self.collect_constants(inner, text, found));
                }
            }
        }
    }
}

/// A piece of the words of a line.
enum MarkedPiece {
    /// Fixed words.
    Words(String),
    /// The constant with this index.
    Constant(usize),
}

/// A scope in which the chosen constants stand for marks.
struct MarkedScope<'a> {
    scope: &'a dyn NameScope,
    constants: &'a [Constant],
    chosen: &'a [usize],
}

impl NameScope for MarkedScope<'_> {
    fn resolve_name(&self, name: &str) -> Option<Term> {
        self.scope.resolve_name(name)
    }

    fn resolve_expression(&self, range: &Range) -> Option<Term> {
        let marked = self.chosen.iter().find(|index| {
            self.constants
                .get(**index)
                .is_some_and(|constant| constant.range == *range)
        });
        match marked {
            Some(index) => {
                let type_ = Term::Value(self.constants[*index].value.clone()).type_of();
                let mark = NameReference::new(format!("{MARK}{index}{MARK}"), NameRole::Phrase);
                Some(mark.with_type(type_).into())
            }
            None => self.scope.resolve_expression(range),
        }
    }

    fn resolve_attribute(&self, object: &str, name: &str) -> Option<Term> {
        self.scope.resolve_attribute(object, name)
    }

    fn resolve_call(&self, call: &CallTerm) -> Option<Term> {
        self.scope.resolve_call(call)
    }

    fn is_module(&self, name: &str) -> bool {
        self.scope.is_module(name)
    }
}

/// Replaces ranges of a text, last range first.
fn apply_edits(text: &str, edits: Vec<(Range, String)>) -> String {
    let mut code = text.to_owned();
    for (range, name) in edits.into_iter().rev() {
        code.replace_range(range, &name);
    }
    code
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::idiom::Vocabulary;
    use crate::phrase::Phraser;
    use crate::property::call_text;

    struct SlotNames;

    impl NameScope for SlotNames {
        fn resolve_name(&self, name: &str) -> Option<Term> {
            (name == "int0").then(|| Term::Value(PythonValue::integer(4)))
        }
    }

    /// The line of a call with `…` for each value, and the code.
    fn line(source: &str, code: &str) -> (String, String) {
        let vocabulary = Vocabulary::default();
        let phraser = Phraser::new(&vocabulary);
        let expression = tree::expression(source).expect("Python");
        let origin = LineSource {
            expression: &expression,
            text: source,
            scope: &SlotNames,
            read: &Term::from_expression,
        };
        let words = |term: &Term| match term {
            Term::Call(call) => call_text(call, &phraser),
            other => phraser.clause(other),
        };
        let line = origin.line(StepKeyword::When, &words, &[code.to_owned()]);
        let parts = line.parts.iter().map(|part| match part {
            LinePart::Words(words) => words.clone(),
            LinePart::Value { name, .. } => format!("…{name}"),
        });
        (parts.collect(), line.code.concat())
    }

    fn check(source: &str, code: &str, words: &str, edited: &str) {
        assert_eq!(line(source, code), (words.to_owned(), edited.to_owned()));
    }

    #[test]
    fn s1_constants_that_can_be_seen_can_be_changed() {
        check(
            "f(3, 'a')",
            "m.f(3, 'a')",
            "\"f\" with …value and …value_2",
            "m.f(value, value_2)",
        );
        check(
            "f(-3, [1, 2])",
            "f(-3, [1, 2])",
            "\"f\" with …value and …value_2",
            "f(value, value_2)",
        );
        check(
            "f(g(1))",
            "x = f(g(1))",
            "\"f\" with (the result of \"g\" with …value)",
            "x = f(g(value))",
        );
        check(
            "x.size < 8",
            "assert x.size < 8",
            "the size of x is less than …value",
            "assert x.size < value",
        );
    }

    #[test]
    fn slots_keep_their_names() {
        check("f(int0)", "f(int0)", "\"f\" with …int0", "f(int0)");
        check(
            "f(int0, int0)",
            "f(int0, int0)",
            "\"f\" with …int0 and …value",
            "f(int0, value)",
        );
    }

    #[test]
    fn values_that_change_the_wording_are_not_generalised() {
        check(
            "f(x + 1)",
            "f(x + 1)",
            "\"f\" with one more than x",
            "f(x + 1)",
        );
        check(
            "len(x) == 0",
            "assert len(x) == 0",
            "x is empty",
            "assert len(x) == 0",
        );
        check(
            "f(x[0], 2)",
            "f(x[0], 2)",
            "\"f\" with the first element of x and …value",
            "f(x[0], value)",
        );
    }

    #[test]
    fn values_absent_from_the_code_are_not_generalised() {
        check("f(3)", "g()", "\"f\" with 3", "g()");
        check(
            "f(3)",
            "take(\"f\", 3)",
            "\"f\" with …value",
            "take(\"f\", value)",
        );
    }
}
