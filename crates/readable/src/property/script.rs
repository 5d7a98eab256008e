//! Scripts: a property and a sample as the lines of a scenario, in words and in code.

use crate::gherkin::StepKeyword;
use crate::phrase::{Phraser, Polarity, Tense, join};
use crate::quotation;
use crate::term::{CallTerm, Term};

/// A property as the lines of a scenario.
#[derive(Debug, Clone, Default)]
pub struct PropertyScript {
    /// The lines in order of execution, inputs first.
    pub lines: Vec<ScriptLine>,
    /// The assumptions of the property, for the description of its rule (F3).
    pub assumptions: Vec<Term>,
}

/// One line of a scenario.
#[derive(Debug, Clone)]
pub struct ScriptLine {
    /// The keyword.
    pub keyword: StepKeyword,
    /// The content of the line.
    pub sentence: StepSentence,
    /// The code of the line.
    pub code: StepCode,
    /// The source line that it comes from, counted from 1.
    pub line: usize,
}

/// The content of a line, from which its text is made.
#[derive(Debug, Clone)]
pub enum StepSentence {
    /// "I have the number 7, called n": an input.
    Input {
        /// The parameter.
        name: String,
    },
    /// "I have a new account, called account".
    Have {
        /// The object.
        term: Term,
        /// Its name, as an identifier.
        name: String,
    },
    /// "I make a new account, called account".
    Make {
        /// The new object.
        term: Term,
        /// Its name, as an identifier.
        name: String,
    },
    /// `I call "push" on stack with x, giving y`.
    Call {
        /// The call.
        call: Box<CallTerm>,
        /// The name of the result; nothing if it has none, or is "the result".
        giving: Option<ResultName>,
        /// True if the call is expected to fail: "I try to call".
        tries: bool,
    },
    /// `it fails with the error "key error"`, or one of several.
    Fails {
        /// The classes of exceptions, as identifiers.
        errors: Vec<String>,
    },
    /// A clause that holds, or does not.
    Clause {
        /// The condition.
        term: Term,
        /// Positive if it must hold, negative if it must not.
        polarity: Polarity,
    },
    /// "for every v in X, …".
    Each {
        /// The names of the elements, as identifiers.
        names: Vec<String>,
        /// The collection.
        iterable: Term,
        /// The content for each element.
        inner: Box<StepSentence>,
    },
    /// The Python statement "…" is carried out, which is a leak.
    Statement(String),
}

/// The name of a call's result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResultName {
    /// The names that the property gives it.
    Names(Vec<String>),
    /// A numbered result: "result 2".
    Number(usize),
}

/// The code of a line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StepCode {
    /// The names of earlier values that are kept first (S5), and the code that computes them.
    pub earlier: Vec<(String, String)>,
    /// Python statements, line by line.
    pub body: Vec<String>,
    /// The condition that must hold in the end.
    pub check: Option<String>,
    /// The names whose values explain a failed check.
    pub seen: Vec<String>,
}

impl StepSentence {
    /// Returns the content with other terms.
    pub(crate) fn map_terms(&self, change: &dyn Fn(&Term) -> Term) -> StepSentence {
        let mut sentence = self.clone();
        match &mut sentence {
            StepSentence::Have { term, .. }
            | StepSentence::Make { term, .. }
            | StepSentence::Clause { term, .. } => *term = change(term),
            StepSentence::Call { call, .. } => {
                if let Term::Call(changed) = change(&Term::Call(call.clone())) {
                    *call = changed;
                }
            }
            StepSentence::Each {
                iterable, inner, ..
            } => {
                *iterable = change(iterable);
                **inner = inner.map_terms(change);
            }
            StepSentence::Input { .. }
            | StepSentence::Fails { .. }
            | StepSentence::Statement(_) => {}
        }
        sentence
    }
}

impl StepSentence {
    /// Returns the text of the line. Inputs need their values and are written elsewhere.
    #[must_use]
    pub fn text(&self, phraser: &Phraser<'_>) -> String {
        match self {
            StepSentence::Input { name } => phraser.words(name),
            StepSentence::Have { term, name } => {
                // A constant is written like an input, so that it can be changed in the feature.
                let had = match term {
                    Term::Value(value) => value.phrase_with(false, &|word| phraser.words(word)),
                    _ => phraser.noun(term).text,
                };
                format!("I have {had}, called {}", phraser.words(name))
            }
            StepSentence::Make { term, name } => {
                format!(
                    "I make {}, called {}",
                    phraser.noun(term).text,
                    phraser.words(name)
                )
            }
            StepSentence::Call {
                call,
                giving,
                tries,
            } => {
                let verb = if *tries { "I try to call" } else { "I call" };
                let giving = giving
                    .as_ref()
                    .map(|given| format!(", giving {}", given.text(phraser)));
                format!(
                    "{verb} {}{}",
                    call_text(call, phraser),
                    giving.unwrap_or_default()
                )
            }
            StepSentence::Fails { errors } => {
                let errors = errors
                    .iter()
                    .map(|error| format!("\"{}\"", phraser.words(error)));
                format!(
                    "it fails with the error {}",
                    join::nouns(&errors.collect::<Vec<_>>(), "or")
                )
            }
            StepSentence::Clause { term, polarity } => {
                phraser.clause_in(term, *polarity, Tense::Present)
            }
            StepSentence::Each {
                names,
                iterable,
                inner,
            } => {
                let names: Vec<String> = names.iter().map(|name| phraser.words(name)).collect();
                let names = join::nouns(&names, "and");
                let iterable = phraser.noun(iterable).text;
                format!("for every {names} in {iterable}, {}", inner.text(phraser))
            }
            StepSentence::Statement(source) => {
                format!(
                    "the Python statement {} is carried out",
                    quotation::quote_code(source)
                )
            }
        }
    }
}

impl ResultName {
    /// Returns the words of the result.
    fn text(&self, phraser: &Phraser<'_>) -> String {
        match self {
            ResultName::Names(names) => {
                let names: Vec<String> = names.iter().map(|name| phraser.words(name)).collect();
                join::nouns(&names, "and")
            }
            ResultName::Number(number) => format!("result {number}"),
        }
    }
}

/// Describes a call, `"push" on stack with x`, or returns what an idiom has for it.
pub(crate) fn call_text(call: &CallTerm, phraser: &Phraser<'_>) -> String {
    if let Some(words) = phraser.call_idiom(&Term::Call(Box::new(call.clone()))) {
        return words;
    }
    phraser.call_words(call)
}
