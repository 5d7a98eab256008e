//! What a property does with a sample, line by line: what is had, done and checked, in words and in code.

use crate::gherkin::Keyword;
use crate::phrase::{Polarity, Speaker, Tense, join};
use crate::quotation;
use crate::term::{Call, Term};

/// A property as the lines of a scenario.
#[derive(Debug, Clone, Default)]
pub struct Script {
    /// In the order in which they happen. The inputs come first.
    pub lines: Vec<Line>,
    /// What the property assumes, for the description of its rule (F3).
    pub assumptions: Vec<Term>,
}

/// One line of a scenario.
#[derive(Debug, Clone)]
pub struct Line {
    /// What it is for.
    pub keyword: Keyword,
    /// What it says.
    pub saying: Saying,
    /// What it does.
    pub code: Code,
    /// The line of the source that it comes from, from 1.
    pub line: usize,
}

/// What a line says.
#[derive(Debug, Clone)]
pub enum Saying {
    /// "I have P(v), called NAME": an input.
    Input {
        /// The parameter.
        name: String,
    },
    /// "I have NP, called NAME".
    Have {
        /// What there is.
        term: Term,
        /// What it is called, as an identifier.
        name: String,
    },
    /// "I make NP, called NAME".
    Make {
        /// What is made.
        term: Term,
        /// What it is called, as an identifier.
        name: String,
    },
    /// `I call "H(f)" on O with A and B, giving x`.
    Call {
        /// What is called.
        call: Box<Call>,
        /// What its answer is called; nothing if it has no name, or is "the result".
        giving: Option<Given>,
        /// Whether it is expected to fail: "I try to call".
        tries: bool,
    },
    /// `it fails with the error "H(E)"`, or one of several.
    Fails {
        /// The classes of exceptions, as identifiers.
        errors: Vec<String>,
    },
    /// A clause.
    Clause {
        /// What holds.
        term: Term,
        /// Or does not.
        polarity: Polarity,
    },
    /// "for every v in X, …".
    Each {
        /// What the elements are called, as identifiers.
        names: Vec<String>,
        /// What they are elements of.
        iterable: Term,
        /// What is done with each.
        inner: Box<Saying>,
    },
    /// The Python statement "…" is carried out: a leak.
    Statement(String),
}

/// What an answer is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Given {
    /// As the property calls it.
    Names(Vec<String>),
    /// "result 2".
    Number(usize),
}

/// What a line does.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Code {
    /// Names under which earlier values are kept before anything is done (S5), and how they are found out.
    pub earlier: Vec<(String, String)>,
    /// Python statements, line by line.
    pub body: Vec<String>,
    /// What must hold in the end.
    pub check: Option<String>,
    /// The names whose values explain why it does not.
    pub seen: Vec<String>,
}

impl Saying {
    /// The same with other terms, as [`Term::replaced`] makes them.
    pub(crate) fn with_terms(&self, change: &dyn Fn(&Term) -> Term) -> Saying {
        let mut saying = self.clone();
        match &mut saying {
            Saying::Have { term, .. } | Saying::Make { term, .. } | Saying::Clause { term, .. } => {
                *term = change(term)
            }
            Saying::Call { call, .. } => {
                if let Term::Call(changed) = change(&Term::Call(call.clone())) {
                    *call = changed;
                }
            }
            Saying::Each {
                iterable, inner, ..
            } => {
                *iterable = change(iterable);
                **inner = inner.with_terms(change);
            }
            Saying::Input { .. } | Saying::Fails { .. } | Saying::Statement(_) => {}
        }
        saying
    }
}

impl Saying {
    /// The words. Inputs are said elsewhere, for they need their values.
    #[must_use]
    pub fn words(&self, speaker: &Speaker<'_>) -> String {
        match self {
            Saying::Input { name } => speaker.words(name),
            Saying::Have { term, name } => {
                // A constant is said like an input, so that its number can be changed in the feature.
                let had = match term {
                    Term::Value(value) => value.phrase_in(false, &|word| speaker.words(word)),
                    _ => speaker.noun(term).text,
                };
                format!("I have {had}, called {}", speaker.words(name))
            }
            Saying::Make { term, name } => {
                format!(
                    "I make {}, called {}",
                    speaker.noun(term).text,
                    speaker.words(name)
                )
            }
            Saying::Call {
                call,
                giving,
                tries,
            } => {
                let verb = if *tries { "I try to call" } else { "I call" };
                let giving = giving
                    .as_ref()
                    .map(|given| format!(", giving {}", given.words(speaker)));
                format!(
                    "{verb} {}{}",
                    called(call, speaker),
                    giving.unwrap_or_default()
                )
            }
            Saying::Fails { errors } => {
                let errors = errors
                    .iter()
                    .map(|error| format!("\"{}\"", speaker.words(error)));
                format!(
                    "it fails with the error {}",
                    join::nouns(&errors.collect::<Vec<_>>(), "or")
                )
            }
            Saying::Clause { term, polarity } => speaker.say(term, *polarity, Tense::Present),
            Saying::Each {
                names,
                iterable,
                inner,
            } => {
                let names: Vec<String> = names.iter().map(|name| speaker.words(name)).collect();
                let names = join::nouns(&names, "and");
                let iterable = speaker.noun(iterable).text;
                format!("for every {names} in {iterable}, {}", inner.words(speaker))
            }
            Saying::Statement(source) => {
                format!(
                    "the Python statement {} is carried out",
                    quotation::quoted(source)
                )
            }
        }
    }
}

impl Given {
    fn words(&self, speaker: &Speaker<'_>) -> String {
        match self {
            Given::Names(names) => {
                let names: Vec<String> = names.iter().map(|name| speaker.words(name)).collect();
                join::nouns(&names, "and")
            }
            Given::Number(number) => format!("result {number}"),
        }
    }
}

/// `"H(f)" on O with A and B`, or what an idiom has for it.
pub(crate) fn called(call: &Call, speaker: &Speaker<'_>) -> String {
    if let Some(words) = speaker.call_idiom(&Term::Call(Box::new(call.clone()))) {
        return words;
    }
    speaker.called(call)
}
