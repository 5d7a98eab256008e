//! Stubs of idioms, to be filled in by users, for everything that had no phrase of its own (I6).

use std::collections::BTreeMap;

use crate::phrase::{Fallback, PhraseCounts};
use crate::term::{CallTarget, CallTerm, NameReference, NameRole, Term};
use crate::words::humanise;

/// Writes a names and idioms file with one idiom for each shape of expression that only a general
/// rule could phrase, the most frequent first. Each says what is said already, so that only the
/// words have to be changed.
#[must_use]
pub fn write_stubs(tally: &PhraseCounts) -> String {
    // Stubs by pattern, in order of appearance.
    let mut order: Vec<(IdiomStub, usize)> = Vec::new();
    let mut known: BTreeMap<(Fallback, String), usize> = BTreeMap::new();
    for (fallback, term) in &tally.fallbacks {
        let stub = IdiomStub::new(*fallback, term);
        match known.get(&(stub.fallback, stub.pattern.clone())) {
            Some(&index) => {
                if let Some((_, count)) = order.get_mut(index) {
                    *count += 1;
                }
            }
            None => {
                known.insert((stub.fallback, stub.pattern.clone()), order.len());
                order.push((stub, 1));
            }
        }
    }
    order.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let texts: Vec<String> = order
        .iter()
        .map(|(stub, count)| stub.text(*count))
        .collect();
    texts.join("\n")
}

/// An idiom that says what is said without it.
struct IdiomStub {
    /// The general rule that phrased the expression.
    fallback: Fallback,
    /// The title of the idiom.
    title: String,
    /// The `match` line.
    pattern: String,
    /// The `say` line.
    say: String,
    /// The `not` line of a condition.
    not: Option<String>,
}

impl IdiomStub {
    /// Creates the stub for a term.
    fn new(fallback: Fallback, term: &Term) -> Self {
        let Term::Call(call) = term else {
            let source = term.to_python();
            return Self {
                fallback,
                title: source
                    .chars()
                    .filter(|character| !"[]".contains(*character))
                    .collect(),
                say: "what this is".to_owned(),
                pattern: source,
                not: None,
            };
        };
        let (call, name, object, arguments) = generalise_call(call);
        let pattern = Term::Call(Box::new(call)).to_python();
        let words = humanise(&name);
        let on = object
            .as_ref()
            .map_or(String::new(), |object| format!(" on {object}"));
        let with = if arguments.is_empty() {
            String::new()
        } else {
            format!(" with {arguments}")
        };
        let holds = |verb: &str| match (&object, arguments.is_empty()) {
            (Some(object), _) => format!("\"{words}\" {verb} for {object}{with}"),
            (None, true) => format!("\"{words}\" {verb}"),
            (None, false) => format!("\"{words}\" {verb} for {arguments}"),
        };
        let (say, not) = match fallback {
            Fallback::Condition => (holds("holds"), Some(holds("does not hold"))),
            Fallback::Effect => (format!("\"{words}\" is carried out{on}{with}"), None),
            _ => (format!("the result of \"{words}\"{on}{with}"), None),
        };
        Self {
            fallback,
            title: words,
            pattern,
            say,
            not,
        }
    }

    /// Writes the stub as a section of a file, with its frequency as a comment.
    fn text(&self, count: usize) -> String {
        let kind = match self.fallback {
            Fallback::Condition => "condition",
            Fallback::Effect | Fallback::Statement => "effect",
            Fallback::Call | Fallback::Method | Fallback::Source => "value",
        };
        let times = if count == 1 {
            "once".to_owned()
        } else {
            format!("{count} times")
        };
        let not = self
            .not
            .as_ref()
            .map_or(String::new(), |not| format!("not   = {not}\n"));
        format!(
            "# {times}\n[idiom {}]\nkind  = {kind}\nmatch = {}\nsay   = {}\n{not}",
            self.title, self.pattern, self.say
        )
    }
}

/// Replaces the object and the arguments of a call by placeholders. Returns the call, its name, and
/// the words for the object and the arguments.
fn generalise_call(call: &CallTerm) -> (CallTerm, String, Option<String>, String) {
    let mut letters = ('a'..='z').filter(|letter| *letter != 'o');
    let mut placeholder = || letters.next().map_or_else(|| "_".to_owned(), String::from);
    let hole = |name: &str| Term::from(NameReference::new(format!("${name}"), NameRole::Global));
    let (callee, name, object) = match &call.callee {
        CallTarget::Method { name, .. } => (
            CallTarget::Method {
                object: hole("o"),
                name: name.clone(),
            },
            name.clone(),
            Some("{o}".to_owned()),
        ),
        CallTarget::Function { name, .. } => (call.callee.clone(), name.clone(), None),
        CallTarget::Other(Term::Reference(reference)) => (
            CallTarget::Function {
                module: None,
                name: reference.name.clone(),
            },
            reference.name.clone(),
            None,
        ),
        CallTarget::Other(_) => (call.callee.clone(), "call".to_owned(), None),
    };
    let mut argument_words = Vec::new();
    let mut arguments = Vec::new();
    for argument in &call.arguments {
        let name = placeholder();
        argument_words.push(format!("{{{name}}}"));
        arguments.push(match argument {
            Term::Starred(_) => hole(&format!("*{name}")),
            _ => hole(&name),
        });
    }
    let mut keywords = Vec::new();
    for (key, _) in &call.keywords {
        let name = placeholder();
        if let Some(key) = key {
            argument_words.push(format!("{} set to {{{name}}}", humanise(key)));
        }
        keywords.push((key.clone(), hole(&name)));
    }
    let argument_words = crate::phrase::join::nouns(&argument_words, "and");
    (
        CallTerm {
            callee,
            arguments,
            keywords,
        },
        name,
        object,
        argument_words,
    )
}
