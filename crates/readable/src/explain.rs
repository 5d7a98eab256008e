//! Explains models, machines and harnesses in plain English.
//!
//! ```
//! use testwright_readable::{explain, idiom::Vocabulary, render};
//!
//! let model = "items = []\ndef push(x):\n    items.append(x)\nstate = ('items',)\nactions = (push,)\n";
//! let explanation = explain::explain("pile.py", model, &explain::Options::default()).unwrap();
//! let text = render::text(&explanation.document.at_verbosity(1));
//! assert!(text.contains("- The given x is added at the end of the items."));
//! ```
//!
//! The modules are the stages of an explanation: `locate` finds the parts of a model, `run`
//! executes its actions symbolically into a `flow`, `tell` and `effect` phrase that as sentences,
//! and `document` arranges the sentences in a document. Harnesses and scenario machines have a
//! module each.

mod difference;
mod document;
mod effect;
mod facts;
mod flow;
mod harness;
mod inputs;
pub(crate) mod locate;
mod run;
mod scenario;
mod tell;
mod unfold;

use std::collections::BTreeMap;

use testwright_lang::Diagnostic;
use testwright_source::{SyntaxProblem, tree};

use crate::big_stack::with_big_stack;
use crate::block::{Document, DocumentSource};
use crate::idiom::Vocabulary;
use crate::measure::PhraseCoverage;
use crate::phrase::{PhraseCounts, PhraseRecorder};
use crate::term::Term;

pub use difference::difference;
pub use run::Limits;
pub use scenario::Actor;
pub(crate) use scenario::Player;

/// Returns the meaning of the names in the code of a state machine, as far as its text tells:
/// variables and constants.
pub(crate) fn known_in_machine(
    module: &tree::Module,
    text: &str,
    machine: &str,
) -> BTreeMap<String, Term> {
    let Some(parts) = locate::machine(module, Some(machine)) else {
        return BTreeMap::new();
    };
    let vocabulary = Vocabulary::default();
    run::World::new(&parts, text, &vocabulary, Limits::default()).known()
}

/// Options for an explanation.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Names and idioms.
    pub vocabulary: Vocabulary,
    /// Limits of the explanation.
    pub limits: Limits,
    /// Name of the machine to explain, or `None` for the first of the file.
    pub machine: Option<String>,
}

/// An explanation.
#[derive(Debug, Clone)]
pub struct Explanation {
    /// Text of the explanation.
    pub document: Document,
    /// Record of the phrases that were used.
    pub tally: PhraseCounts,
}

impl Explanation {
    /// Returns the number of phrased expressions, and how many of them got only the general phrase.
    #[must_use]
    pub fn phrased(&self) -> PhraseCoverage {
        PhraseCoverage {
            all: self.tally.phrased,
            by_fallback: self.tally.fallbacks.len(),
        }
    }

    /// Returns the expressions that only a general rule could phrase, as idioms to fill in (I6).
    #[must_use]
    pub fn unmatched(&self) -> String {
        crate::idiom::write_stubs(&self.tally)
    }
}

/// Reason for which a text cannot be explained.
#[derive(Debug, Clone)]
pub enum Unreadable {
    /// The text is not Python.
    Python(Vec<SyntaxProblem>),
    /// The text is not a harness.
    Harness(Vec<Diagnostic>),
    /// The text is Python, but neither a model nor a machine.
    NoModel,
    /// The file has no machine of that name, but these.
    NoMachine(Vec<String>),
}

/// Explains a model, a machine, a harness or a scenario machine. `file` is its name without
/// folders.
///
/// # Errors
/// Returns the reason if the text cannot be read at all. Everything that can be read is explained
/// as far as possible.
pub fn explain(file: &str, text: &str, options: &Options) -> Result<Explanation, Unreadable> {
    with_big_stack(|| explained(file, text, options))
}

fn explained(file: &str, text: &str, options: &Options) -> Result<Explanation, Unreadable> {
    let source = DocumentSource {
        file: file.to_owned(),
        text: text.to_owned(),
    };
    let recorder = PhraseRecorder::default();
    let document = match file.strip_suffix(".tstl") {
        Some(name) => harness::document(name, &source, options, &recorder)?,
        None => {
            let tree = tree::module(text).map_err(Unreadable::Python)?;
            let name = file.strip_suffix(".py").unwrap_or(file);
            python(name, &tree, &source, options, &recorder)?
        }
    };
    Ok(Explanation {
        document,
        tally: recorder.counts(),
    })
}

fn python(
    name: &str,
    tree: &tree::Module,
    source: &DocumentSource,
    options: &Options,
    recorder: &PhraseRecorder,
) -> Result<Document, Unreadable> {
    let wanted = options.machine.as_deref();
    if let (Some(_), None) = (wanted, locate::machine(tree, wanted)) {
        return Err(Unreadable::NoMachine(locate::machines(tree)));
    }
    if wanted.is_none() {
        if let Some(found) = locate::scenario(tree) {
            return Ok(scenario::document(name, &found, source, options, recorder));
        }
        if let Some(runs) = locate::suite(tree) {
            let intro = tree.docstring.as_deref().map(tree::first_paragraph);
            return Ok(scenario::suite_document(
                name, &runs, intro, source, options, recorder,
            ));
        }
        if let Some(parts) = locate::program(tree) {
            let parts = parts.unfolded();
            return Ok(document::document(name, &parts, source, options, recorder));
        }
    }
    match locate::machine(tree, wanted) {
        Some(parts) => {
            let parts = parts.unfolded();
            let name = &parts.name;
            Ok(document::document(name, &parts, source, options, recorder))
        }
        None => Err(Unreadable::NoModel),
    }
}
