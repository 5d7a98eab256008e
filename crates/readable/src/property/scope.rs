//! The meaning of names at one point of a property, both in words and in code.

use testwright_source::tree::Expression;

use super::code::{self, NameReplacements, python_string};
use super::facts::ModuleFacts;
use crate::term::{CallTerm, NameReference, NameRole, NameScope, Term, Type};

/// The names that are known at one point of a property.
#[derive(Clone)]
pub(super) struct PropertyScope<'a> {
    /// The source of the module.
    pub text: &'a str,
    /// The facts of the module.
    pub facts: &'a ModuleFacts,
    /// The name of the module in step files.
    pub alias: &'a str,
    /// The variable in which step files keep values.
    pub store: &'a str,
    /// Gives the words of an identifier.
    pub words: &'a dyn Fn(&str) -> String,
    /// The locals and their meanings.
    names: Vec<(String, LocalMeaning)>,
    /// Calls whose results have been stored, with the names of the results.
    results: Vec<(CallTerm, NameReference)>,
}

/// The meaning of a local.
#[derive(Clone)]
enum LocalMeaning {
    /// Something that has a name in the feature, too.
    Variable(NameReference),
    /// An expression that is written out wherever the local is mentioned.
    Expression {
        term: Term,
        code: String,
        /// The assigned expression, if it still means the same.
        expression: Option<Expression>,
    },
    /// A variable of a loop.
    Bound(NameReference),
    /// Something that only code can express.
    CodeOnly(String),
}

impl<'a> PropertyScope<'a> {
    /// Creates a scope without locals.
    pub(super) fn new(
        text: &'a str,
        facts: &'a ModuleFacts,
        alias: &'a str,
        store: &'a str,
        words: &'a dyn Fn(&str) -> String,
    ) -> PropertyScope<'a> {
        PropertyScope {
            text,
            facts,
            alias,
            store,
            words,
            names: Vec::new(),
            results: Vec::new(),
        }
    }

    /// Defines a name that the feature uses, too.
    pub(super) fn define_variable(&mut self, name: &str, type_: Type) {
        let reference = NameReference::new(name, NameRole::Variable).with_type(type_);
        self.set_name(name, LocalMeaning::Variable(reference));
    }

    /// Defines a name as an abbreviation of an expression.
    pub(super) fn define_expression(&mut self, name: &str, expression: &Expression) {
        let mut names = Vec::new();
        code::collect_free_names(expression, &mut Vec::new(), &mut names);
        let is_of_itself = names.iter().any(|other| other == name);
        let written = LocalMeaning::Expression {
            term: self.term(expression),
            code: self.code(expression),
            expression: (!is_of_itself).then(|| expression.clone()),
        };
        self.set_name(name, written);
    }

    /// Defines a name as a term that is no expression of the source.
    pub(super) fn define_term(&mut self, name: &str, term: Term, code: String) {
        let written = LocalMeaning::Expression {
            term,
            code,
            expression: None,
        };
        self.set_name(name, written);
    }

    /// Defines a name that stands for code without a phrase.
    pub(super) fn define_code(&mut self, name: &str, code: String) {
        self.set_name(name, LocalMeaning::CodeOnly(code));
    }

    /// Runs `inside` while a loop binds names.
    pub(super) fn binding<T>(
        &mut self,
        names: &[(String, Type)],
        inside: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let before = self.names.clone();
        for (name, type_) in names {
            let reference = NameReference::new(name, NameRole::Variable).with_type(type_.clone());
            self.set_name(name, LocalMeaning::Bound(reference));
        }
        let result = inside(self);
        self.names = before;
        result
    }

    /// Reads the call as its result from now on.
    pub(super) fn record_result(&mut self, call: CallTerm, result: &str) {
        self.results
            .push((call, NameReference::new(result, NameRole::Phrase)));
        // Expressions that were defined before and contain the call change, too.
        let known = self.names.iter().enumerate();
        let updated: Vec<(usize, Term, String)> = known
            .filter_map(|(at, (_, known))| match known {
                LocalMeaning::Expression {
                    expression: Some(expression),
                    ..
                } => Some((at, self.term(expression), self.code(expression))),
                _ => None,
            })
            .collect();
        for (at, new_term, new_code) in updated {
            if let Some((_, LocalMeaning::Expression { term, code, .. })) = self.names.get_mut(at) {
                (*term, *code) = (new_term, new_code);
            }
        }
    }

    /// Forgets results of calls on an object that is about to change.
    pub(super) fn forget_results(&mut self, object: &str) {
        self.results
            .retain(|(call, _)| !mentions_object(&Term::Call(Box::new(call.clone())), object));
    }

    /// Keeps the earlier values of locals before an object changes (S5). Returns the names under
    /// which they are kept, and the code that computes them.
    pub(super) fn keep_earlier(
        &mut self,
        object: &str,
        is_wanted: impl Fn(&str) -> bool,
    ) -> Vec<(String, String)> {
        let mut kept = Vec::new();
        for (name, known) in &mut self.names {
            let LocalMeaning::Expression {
                term,
                code,
                expression,
            } = known
            else {
                continue;
            };
            let is_steady = matches!(term, Term::Reference(_) | Term::Earlier(_));
            if is_steady || !mentions_object(term, object) || !is_wanted(name) {
                continue;
            }
            let key = format!("earlier {}", (self.words)(name));
            kept.push((key.clone(), code.clone()));
            *term = Term::Earlier(Box::new(term.clone()));
            *expression = None;
            *code = format!("{}[{}]", self.store, python_string(&key));
        }
        kept
    }

    /// Builds the term of an expression at this point.
    pub(super) fn term(&self, expression: &Expression) -> Term {
        Term::from_expression(expression, self.text, self)
    }

    /// Returns the code of an expression at this point.
    pub(super) fn code(&self, expression: &Expression) -> String {
        code::rewrite_expression(expression, self.text, self)
    }

    /// Returns the source of an expression on one line.
    pub(super) fn source(&self, expression: &Expression) -> String {
        let source = self.text.get(expression.range.clone()).unwrap_or_default();
        crate::gherkin::collapse_whitespace(source)
    }

    /// Returns the code that accesses a stored value.
    pub(super) fn store_entry(&self, name: &str) -> String {
        format!("{}[{}]", self.store, python_string(&(self.words)(name)))
    }

    /// Returns the expression of a local that is written out.
    pub(super) fn definition(&self, name: &str) -> Option<&Expression> {
        match self.find_name(name)? {
            LocalMeaning::Expression { expression, .. } => expression.as_ref(),
            _ => None,
        }
    }

    /// Returns the names of stored values that an expression uses.
    pub(super) fn kept_names(&self, expression: &Expression) -> Vec<String> {
        let term = self.term(expression);
        let mut kept = Vec::new();
        self.collect_kept_names(&term, &mut kept);
        kept
    }

    /// Appends the names of stored values that a term uses.
    fn collect_kept_names(&self, term: &Term, kept: &mut Vec<String>) {
        if let Term::Reference(reference) = term {
            let key = match (&reference.role, self.find_name(&reference.name)) {
                (NameRole::Phrase, _) => Some(reference.name.clone()),
                (_, Some(LocalMeaning::Variable(known))) if known == reference => {
                    Some((self.words)(&reference.name))
                }
                _ => None,
            };
            kept.extend(key.filter(|key| !kept.contains(key)));
        }
        for child in term.children() {
            self.collect_kept_names(child, kept);
        }
    }

    /// Sets the meaning of a name.
    fn set_name(&mut self, name: &str, known: LocalMeaning) {
        // Expressions that read the name were assigned with its earlier value.
        for (_, other) in &mut self.names {
            if let LocalMeaning::Expression { expression, .. } = other {
                let mut names = Vec::new();
                if let Some(expression) = expression {
                    code::collect_free_names(expression, &mut Vec::new(), &mut names);
                }
                if names.iter().any(|read| read == name) {
                    *expression = None;
                }
            }
        }
        self.names.retain(|(other, _)| other != name);
        self.names.push((name.to_owned(), known));
    }

    /// Finds the meaning of a local.
    fn find_name(&self, name: &str) -> Option<&LocalMeaning> {
        self.names
            .iter()
            .find_map(|(other, known)| (other == name).then_some(known))
    }
}

/// Returns true if a term mentions an object.
fn mentions_object(term: &Term, object: &str) -> bool {
    term.any(&|part| matches!(part, Term::Reference(reference) if reference.name == object))
}

impl NameScope for PropertyScope<'_> {
    fn resolve_name(&self, name: &str) -> Option<Term> {
        match self.find_name(name) {
            Some(LocalMeaning::Variable(reference) | LocalMeaning::Bound(reference)) => {
                Some(reference.clone().into())
            }
            Some(LocalMeaning::Expression { term, .. }) => Some(term.clone()),
            Some(LocalMeaning::CodeOnly(_)) => None,
            None => self.facts.resolve_name(name),
        }
    }

    fn resolve_call(&self, call: &CallTerm) -> Option<Term> {
        let stored = self.results.iter().find(|(stored, _)| stored == call);
        stored.map(|(_, result)| result.clone().into())
    }

    fn is_module(&self, name: &str) -> bool {
        self.find_name(name).is_none() && self.facts.is_module(name)
    }
}

impl NameReplacements for PropertyScope<'_> {
    fn name(&self, name: &str) -> Option<String> {
        match self.find_name(name) {
            Some(LocalMeaning::Variable(_)) => Some(self.store_entry(name)),
            Some(LocalMeaning::Expression { code, .. } | LocalMeaning::CodeOnly(code)) => {
                Some(code.clone())
            }
            Some(LocalMeaning::Bound(_)) => None,
            None => self
                .facts
                .binds(name)
                .then(|| format!("{}.{name}", self.alias)),
        }
    }

    fn call(&self, call: &Expression) -> Option<String> {
        if self.results.is_empty() {
            return None;
        }
        match self.term(call) {
            Term::Reference(result) if self.results.iter().any(|(_, stored)| *stored == result) => {
                Some(format!("{}[{}]", self.store, python_string(&result.name)))
            }
            _ => None,
        }
    }
}
