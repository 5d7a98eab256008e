//! Idioms that wait to be filled in, for expressions that have only the phrase for anything (I6).

use std::collections::BTreeMap;

use crate::phrase::{Fallback, Tally};
use crate::term::{Call, Callee, Reference, Role, Term};
use crate::words::humanise;

/// One stub for each expression, with how often it came; those that came most often first.
pub(super) fn stubs(tally: &Tally) -> String {
    let mut found: Vec<(Stub, usize)> = Vec::new();
    for (fallback, term) in &tally.fallbacks {
        let Some(stub) = Stub::of(*fallback, term) else {
            continue;
        };
        match found.iter_mut().find(|(known, _)| *known == stub) {
            Some((_, times)) => *times += 1,
            None => found.push((stub, 1)),
        }
    }
    // Stable, so that those that came equally often stay in the order of the text.
    found.sort_by_key(|(_, times)| std::cmp::Reverse(*times));
    let written: Vec<String> = found.iter().map(|(stub, times)| stub.write(*times)).collect();
    written.join("\n")
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Stub {
    title: String,
    kind: &'static str,
    pattern: String,
    placeholders: Vec<String>,
    /// Neither a call nor an expression: there is no idiom for it.
    is_statement: bool,
}

impl Stub {
    fn of(fallback: Fallback, term: &Term) -> Option<Stub> {
        let kind = match fallback {
            Fallback::Call | Fallback::Method | Fallback::Source => "value",
            Fallback::Condition => "condition",
            Fallback::Effect => "effect",
            Fallback::Statement => "statement",
        };
        let (pattern, placeholders) = match term {
            Term::Call(call) => pattern(call),
            other => (other.to_python(), vec![]),
        };
        let title = match term {
            Term::Call(call) => match &call.callee {
                Callee::Function { name, .. } | Callee::Method { name, .. } => humanise(name),
                Callee::Other(_) => "call".to_owned(),
            },
            _ => "code".to_owned(),
        };
        Some(Stub {
            title,
            kind,
            pattern,
            placeholders,
            is_statement: fallback == Fallback::Statement,
        })
    }

    fn write(&self, times: usize) -> String {
        let came = match times {
            1 => "once".to_owned(),
            2 => "twice".to_owned(),
            several => format!("{several} times"),
        };
        if self.is_statement {
            return format!("# {came}: the statement {}\n", self.pattern.replace('\n', " "));
        }
        let holes: Vec<String> = self.placeholders.iter().map(|one| format!("{{{one}}}")).collect();
        let mut lines = vec![
            format!("# {came}"),
            format!("[idiom {}]", self.title),
            format!("kind  = {}", self.kind),
            format!("match = {}", self.pattern),
            format!("say   = {}", holes.join(" ")).trim_end().to_owned(),
        ];
        if self.kind == "condition" {
            lines.push(format!("not   = {}", holes.join(" ")).trim_end().to_owned());
        }
        lines.push(String::new());
        lines.join("\n")
    }
}

/// The call with a placeholder for its object and each argument, named after what stands there if that has a name.
fn pattern(call: &Call) -> (String, Vec<String>) {
    let mut names = Names::default();
    let mut pattern = call.clone();
    if let Callee::Method { object, .. } = &mut pattern.callee {
        *object = names.placeholder(object);
    }
    for argument in &mut pattern.arguments {
        *argument = names.placeholder(argument);
    }
    for (_, argument) in &mut pattern.keywords {
        *argument = names.placeholder(argument);
    }
    (Term::Call(Box::new(pattern)).to_python(), names.given)
}

#[derive(Default)]
struct Names {
    given: Vec<String>,
    times: BTreeMap<String, usize>,
}

impl Names {
    fn placeholder(&mut self, term: &Term) -> Term {
        let base = match term {
            Term::Reference(reference) if !matches!(reference.role, Role::Phrase) => {
                reference.name.clone()
            }
            Term::Attribute { name, .. } => name.clone(),
            _ => "x".to_owned(),
        };
        let times = self.times.entry(base.clone()).or_default();
        *times += 1;
        let name = match *times {
            1 => base,
            several => format!("{base}{several}"),
        };
        self.given.push(name.clone());
        Reference::new(format!("${name}"), Role::Global).into()
    }
}
