//! What names stand for in the middle of a property, in words and in code.

use testwright_source::tree::Expression;

use super::code::{self, Stored, quoted};
use super::facts::Facts;
use crate::term::{Call, Reference, Role, Scope, Term, Type};

/// What is known at some point of a property.
#[derive(Clone)]
pub(super) struct Here<'a> {
    /// The source of the module.
    pub text: &'a str,
    pub facts: &'a Facts,
    /// What the module is called in step files.
    pub alias: &'a str,
    /// Where step files keep values.
    pub store: &'a str,
    /// The words of an identifier.
    pub words: &'a dyn Fn(&str) -> String,
    names: Vec<(String, Known)>,
    heard: Vec<(Call, Reference)>,
}

/// What a name stands for.
#[derive(Clone)]
enum Known {
    /// Something that has a name in the feature, too.
    Variable(Reference),
    /// Something that is written out wherever it is named.
    Written {
        term: Term,
        code: String,
        /// What it was assigned, if that still means the same.
        expression: Option<Expression>,
    },
    /// What a loop binds.
    Bound(Reference),
    /// What only code can say.
    Hidden(String),
}

impl<'a> Here<'a> {
    pub(super) fn new(
        text: &'a str,
        facts: &'a Facts,
        alias: &'a str,
        store: &'a str,
        words: &'a dyn Fn(&str) -> String,
    ) -> Here<'a> {
        Here {
            text,
            facts,
            alias,
            store,
            words,
            names: Vec::new(),
            heard: Vec::new(),
        }
    }

    /// From now on the name is that of something in the feature.
    pub(super) fn variable(&mut self, name: &str, type_: Type) {
        let reference = Reference::new(name, Role::Variable).with_type(type_);
        self.set(name, Known::Variable(reference));
    }

    /// From now on the name is another way to write an expression.
    pub(super) fn write(&mut self, name: &str, expression: &Expression) {
        let mut names = Vec::new();
        code::free_names(expression, &mut Vec::new(), &mut names);
        let is_of_itself = names.iter().any(|other| other == name);
        let written = Known::Written {
            term: self.term(expression),
            code: self.code(expression),
            expression: (!is_of_itself).then(|| expression.clone()),
        };
        self.set(name, written);
    }

    /// The same for what is no expression of the source.
    pub(super) fn write_term(&mut self, name: &str, term: Term, code: String) {
        let written = Known::Written {
            term,
            code,
            expression: None,
        };
        self.set(name, written);
    }

    /// From now on the name stands for code that cannot be said.
    pub(super) fn hide(&mut self, name: &str, code: String) {
        self.set(name, Known::Hidden(code));
    }

    /// Runs something while a loop binds names.
    pub(super) fn binding<T>(
        &mut self,
        names: &[(String, Type)],
        inside: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let before = self.names.clone();
        for (name, type_) in names {
            let reference = Reference::new(name, Role::Variable).with_type(type_.clone());
            self.set(name, Known::Bound(reference));
        }
        let result = inside(self);
        self.names = before;
        result
    }

    /// From now on the call reads like its result.
    pub(super) fn hear(&mut self, call: Call, result: &str) {
        self.heard
            .push((call, Reference::new(result, Role::Phrase)));
        // What was written down before with the call in it reads like that, too.
        let known = self.names.iter().enumerate();
        let again: Vec<(usize, Term, String)> = known
            .filter_map(|(at, (_, known))| match known {
                Known::Written {
                    expression: Some(expression),
                    ..
                } => Some((at, self.term(expression), self.code(expression))),
                _ => None,
            })
            .collect();
        for (at, new_term, new_code) in again {
            if let Some((_, Known::Written { term, code, .. })) = self.names.get_mut(at) {
                (*term, *code) = (new_term, new_code);
            }
        }
    }

    /// Something is done to the object: what calls about it have answered may not be so any more.
    pub(super) fn forget(&mut self, object: &str) {
        self.heard
            .retain(|(call, _)| !speaks_of(&Term::Call(Box::new(call.clone())), object));
    }

    /// Earlier values, before something is done to the object: locals that speak of it keep what they stood for (S5).
    /// Gives under which names they are kept, and how they are found out.
    pub(super) fn keep_earlier(
        &mut self,
        object: &str,
        is_wanted: impl Fn(&str) -> bool,
    ) -> Vec<(String, String)> {
        let mut kept = Vec::new();
        for (name, known) in &mut self.names {
            let Known::Written {
                term,
                code,
                expression,
            } = known
            else {
                continue;
            };
            let is_steady = matches!(term, Term::Reference(_) | Term::Earlier(_));
            if is_steady || !speaks_of(term, object) || !is_wanted(name) {
                continue;
            }
            let key = format!("earlier {}", (self.words)(name));
            kept.push((key.clone(), code.clone()));
            *term = Term::Earlier(Box::new(term.clone()));
            *expression = None;
            *code = format!("{}[{}]", self.store, quoted(&key));
        }
        kept
    }

    /// What an expression means here.
    pub(super) fn term(&self, expression: &Expression) -> Term {
        Term::read(expression, self.text, self)
    }

    /// What an expression does here.
    pub(super) fn code(&self, expression: &Expression) -> String {
        code::code(expression, self.text, self)
    }

    /// The source of an expression, in one line.
    pub(super) fn source(&self, expression: &Expression) -> String {
        let source = self.text.get(expression.range.clone()).unwrap_or_default();
        crate::gherkin::one_line(source)
    }

    /// Where a value is kept.
    pub(super) fn place(&self, name: &str) -> String {
        format!("{}[{}]", self.store, quoted(&(self.words)(name)))
    }

    /// What a local was assigned that is written out.
    pub(super) fn definition(&self, name: &str) -> Option<&Expression> {
        match self.known(name)? {
            Known::Written { expression, .. } => expression.as_ref(),
            _ => None,
        }
    }

    /// The names under which values are kept that an expression uses.
    pub(super) fn kept_names(&self, expression: &Expression) -> Vec<String> {
        let term = self.term(expression);
        let mut kept = Vec::new();
        self.kept_in(&term, &mut kept);
        kept
    }

    fn kept_in(&self, term: &Term, kept: &mut Vec<String>) {
        if let Term::Reference(reference) = term {
            let key = match (&reference.role, self.known(&reference.name)) {
                (Role::Phrase, _) => Some(reference.name.clone()),
                (_, Some(Known::Variable(known))) if known == reference => {
                    Some((self.words)(&reference.name))
                }
                _ => None,
            };
            kept.extend(key.filter(|key| !kept.contains(key)));
        }
        for child in term.children() {
            self.kept_in(child, kept);
        }
    }

    fn set(&mut self, name: &str, known: Known) {
        // What was assigned speaks of the value that the name had then.
        for (_, other) in &mut self.names {
            if let Known::Written { expression, .. } = other {
                let mut names = Vec::new();
                if let Some(expression) = expression {
                    code::free_names(expression, &mut Vec::new(), &mut names);
                }
                if names.iter().any(|read| read == name) {
                    *expression = None;
                }
            }
        }
        self.names.retain(|(other, _)| other != name);
        self.names.push((name.to_owned(), known));
    }

    fn known(&self, name: &str) -> Option<&Known> {
        self.names
            .iter()
            .find_map(|(other, known)| (other == name).then_some(known))
    }
}

fn speaks_of(term: &Term, object: &str) -> bool {
    term.any(&|part| matches!(part, Term::Reference(reference) if reference.name == object))
}

impl Scope for Here<'_> {
    fn name(&self, name: &str) -> Option<Term> {
        match self.known(name) {
            Some(Known::Variable(reference) | Known::Bound(reference)) => {
                Some(reference.clone().into())
            }
            Some(Known::Written { term, .. }) => Some(term.clone()),
            Some(Known::Hidden(_)) => None,
            None => self.facts.name(name),
        }
    }

    fn call(&self, call: &Call) -> Option<Term> {
        let heard = self.heard.iter().find(|(heard, _)| heard == call);
        heard.map(|(_, result)| result.clone().into())
    }

    fn is_module(&self, name: &str) -> bool {
        self.known(name).is_none() && self.facts.is_module(name)
    }
}

impl Stored for Here<'_> {
    fn name(&self, name: &str) -> Option<String> {
        match self.known(name) {
            Some(Known::Variable(_)) => Some(self.place(name)),
            Some(Known::Written { code, .. } | Known::Hidden(code)) => Some(code.clone()),
            Some(Known::Bound(_)) => None,
            None => self
                .facts
                .binds(name)
                .then(|| format!("{}.{name}", self.alias)),
        }
    }

    fn call(&self, call: &Expression) -> Option<String> {
        if self.heard.is_empty() {
            return None;
        }
        match self.term(call) {
            Term::Reference(result) if self.heard.iter().any(|(_, heard)| *heard == result) => {
                Some(format!("{}[{}]", self.store, quoted(&result.name)))
            }
            _ => None,
        }
    }
}
