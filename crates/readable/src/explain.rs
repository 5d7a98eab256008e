//! Models, machines and harnesses in plain English (section 6 of the specification).
//!
//! ```
//! use testwright_readable::{explain, idiom::Vocabulary, render};
//!
//! let model = "items = []\ndef push(x):\n    items.append(x)\nstate = ('items',)\nactions = (push,)\n";
//! let told = explain::explain("pile.py", model, &explain::Options::default()).unwrap();
//! let text = render::text(&told.document.shown_at(1));
//! assert!(text.contains("- The given x is added at the end of the items."));
//! ```
//!
//! The files follow a model on its way: `locate` finds its parts, `run` executes its actions symbolically into a `flow`,
//! `tell` and `effect` put that into sentences, `document` puts the sentences into a document. Harnesses and scenario
//! machines have a file each.

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
use testwright_source::{Problem, tree};

use crate::block::{Document, Source};
use crate::idiom::Vocabulary;
use crate::measure::Phrased;
use crate::phrase::{Recorder, Tally};
use crate::room::with_room;
use crate::term::Term;

pub use difference::difference;
pub use run::Limits;
pub use scenario::Actor;
pub(crate) use scenario::Player;

/// What the names in the code of a state machine stand for, as far as its text tells: what it remembers, and constants.
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

/// How something is to be explained.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Names and idioms.
    pub vocabulary: Vocabulary,
    /// How far to go.
    pub limits: Limits,
    /// Which machine of the file; the first one if it is not said.
    pub machine: Option<String>,
}

/// An explanation.
#[derive(Debug, Clone)]
pub struct Explanation {
    /// What it says.
    pub document: Document,
    /// What was phrased how.
    pub tally: Tally,
}

impl Explanation {
    /// How many expressions were phrased, and how many of them by the phrase for anything.
    #[must_use]
    pub fn phrased(&self) -> Phrased {
        Phrased {
            all: self.tally.phrased,
            by_fallback: self.tally.fallbacks.len(),
        }
    }

    /// The expressions that no specific rule or idiom knew, as idioms that wait to be filled in (I6).
    #[must_use]
    pub fn unmatched(&self) -> String {
        crate::idiom::stubs(&self.tally)
    }
}

/// Why something cannot be explained.
#[derive(Debug, Clone)]
pub enum Unreadable {
    /// It is no Python.
    Python(Vec<Problem>),
    /// It is no harness.
    Harness(Vec<Diagnostic>),
    /// It is Python, but neither a model nor a machine.
    NoModel,
    /// There is no machine of that name; these are there.
    NoMachine(Vec<String>),
}

/// Explains a model, a machine, a harness or a scenario machine. `file` is its name without folders.
///
/// # Errors
/// Why it cannot be explained. Whatever can be read at all is explained as far as possible.
pub fn explain(file: &str, text: &str, options: &Options) -> Result<Explanation, Unreadable> {
    with_room(|| explained(file, text, options))
}

fn explained(file: &str, text: &str, options: &Options) -> Result<Explanation, Unreadable> {
    let source = Source {
        file: file.to_owned(),
        text: text.to_owned(),
    };
    let recorder = Recorder::default();
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
        tally: recorder.tally(),
    })
}

fn python(
    name: &str,
    tree: &tree::Module,
    source: &Source,
    options: &Options,
    recorder: &Recorder,
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
