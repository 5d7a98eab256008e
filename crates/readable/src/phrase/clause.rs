//! Clauses of all terms but comparisons and connectives.

use super::call::may_be_built_in;
use super::{Fallback, Noun, Phraser, Polarity, Tense};
use crate::kind::noun_of_class;
use crate::term::{CallTarget, CallTerm, NameRole, Operator, Term, Type, UnaryOperator};
use crate::value::PythonValue;
use crate::words::{Verb, with_article};

/// Python's own predicates on texts, which are written as one word.
const TEXT_QUESTIONS: [&str; 12] = [
    "isalnum",
    "isalpha",
    "isascii",
    "isdecimal",
    "isdigit",
    "isidentifier",
    "islower",
    "isnumeric",
    "isprintable",
    "isspace",
    "istitle",
    "isupper",
];

impl Phraser<'_> {
    /// Phrases a term as a clause with this polarity and tense.
    #[must_use]
    pub fn clause_in(&self, term: &Term, polarity: Polarity, tense: Tense) -> String {
        match self.nested() {
            Some(deeper) => deeper.clause_inside(term, polarity, tense),
            None => self.truthiness_clause(&self.noun(term), &Type::Unknown, polarity, tense),
        }
    }

    /// Phrases a clause one level deeper. Idioms come first, then constants, then the rule for the
    /// kind of term.
    fn clause_inside(&self, term: &Term, polarity: Polarity, tense: Tense) -> String {
        if let Some(clause) = self.vocabulary.condition(term, polarity, tense, self) {
            self.record_specific();
            return clause;
        }
        if let Some(truth) = term.truth() {
            return constant_clause(truth == (polarity == Polarity::Positive), tense);
        }
        match term {
            // C1: `not` turns a clause into its negative form.
            Term::Not(operand) => self.clause_in(operand, polarity.opposite(), tense),
            Term::And(operands) => {
                self.record_specific();
                self.conjunction(operands, polarity, tense)
            }
            Term::Or(operands) => {
                self.record_specific();
                self.disjunction(operands, polarity, tense)
            }
            Term::Conditional {
                condition,
                then,
                otherwise,
            } => {
                self.record_specific();
                self.choice([condition, then, otherwise], polarity, tense)
            }
            Term::Compare { first, rest } => {
                self.record_specific();
                self.comparison(first, rest, polarity, tense)
            }
            Term::Call(call) => self.call_clause(term, call, polarity, tense),
            Term::Comprehension { clauses, .. } => {
                self.existence_clause(term, clauses, polarity, tense)
            }
            // C35: a condition from before the step is in the past.
            Term::Earlier(inner) => {
                self.record_specific();
                format!(
                    "{} before the step",
                    self.clause_in(inner, polarity, Tense::Past)
                )
            }
            Term::Attribute { object, name } => {
                match self.question_clause(object, name, polarity, tense) {
                    Some(clause) => {
                        self.record_specific();
                        clause
                    }
                    None => {
                        self.truthiness_clause(&self.noun(term), &term.type_of(), polarity, tense)
                    }
                }
            }
            Term::Unary {
                operator: UnaryOperator::Plus | UnaryOperator::Minus,
                operand,
            } => self.clause_in(operand, polarity, tense),
            _ => self.truthiness_clause(&self.noun(term), &term.type_of(), polarity, tense),
        }
    }

    /// Phrases a bare value as a condition (C32: not empty, not zero, true; C34: "is set" if its
    /// type is not known).
    pub(super) fn truthiness_clause(
        &self,
        subject: &Noun,
        type_: &Type,
        polarity: Polarity,
        tense: Tense,
    ) -> String {
        let verb = |polarity| Verb::Be.conjugate(subject.plural, polarity, tense);
        let x = &subject.text;
        match type_ {
            Type::Number => format!("{x} {} zero", verb(polarity.opposite())),
            Type::Boolean if polarity == Polarity::Positive => {
                format!("{x} {} true", verb(Polarity::Positive))
            }
            Type::Boolean => format!("{x} {} false", verb(Polarity::Positive)),
            _ if type_.is_sized() => self.emptiness_clause(subject, polarity.opposite(), tense),
            _ => format!("{x} {} set", verb(polarity)),
        }
    }

    /// Phrases a call as a condition.
    fn call_clause(
        &self,
        term: &Term,
        call: &CallTerm,
        polarity: Polarity,
        tense: Tense,
    ) -> String {
        if let Some(clause) = self.known_call_clause(call, polarity, tense) {
            self.record_specific();
            return clause;
        }
        let noun = match self.known_call_noun(call) {
            Some(noun) => Some(noun),
            None => call.constructed_class().map(|_| self.noun(term)),
        };
        match noun {
            Some(noun) => {
                self.record_specific();
                self.truthiness_clause(&noun, &term.type_of(), polarity, tense)
            }
            None => {
                self.record_fallback(Fallback::Condition, term);
                self.holds_clause(call, polarity, tense)
            }
        }
    }

    /// Phrases a call that is known to be a condition, or returns nothing.
    fn known_call_clause(
        &self,
        call: &CallTerm,
        polarity: Polarity,
        tense: Tense,
    ) -> Option<String> {
        match (&call.callee, call.arguments.as_slice()) {
            (CallTarget::Function { module: None, name }, [argument])
                if call.keywords.is_empty() =>
            {
                match name.as_str() {
                    "all" => Some(self.all_clause(argument, polarity, tense)),
                    "any" => Some(self.any_clause(argument, polarity, tense)),
                    "bool" => Some(self.clause_in(argument, polarity, tense)),
                    _ => None,
                }
            }
            (CallTarget::Function { module: None, name }, [x, class]) if name == "isinstance" => {
                Some(self.isinstance_clause(x, class, polarity, tense))
            }
            (CallTarget::Method { object, name }, [text])
                if may_be_built_in(object) && call.keywords.is_empty() =>
            {
                self.method_relation(object, name, text, polarity, tense)
            }
            (CallTarget::Method { object, name }, []) if call.keywords.is_empty() => {
                self.question_clause(object, name, polarity, tense)
            }
            _ => None,
        }
    }

    /// Phrases `startswith` and `endswith` (C29), and methods that relate two sets.
    fn method_relation(
        &self,
        object: &Term,
        name: &str,
        other: &Term,
        polarity: Polarity,
        tense: Tense,
    ) -> Option<String> {
        let verb = match name {
            "startswith" => Verb::Start,
            "endswith" => Verb::End,
            "issubset" if matches!(object.type_of(), Type::Set(_)) => {
                return Some(self.subset_clause(object, other, "", polarity, tense));
            }
            "issuperset" if matches!(object.type_of(), Type::Set(_)) => {
                return Some(self.subset_clause(other, object, "", polarity, tense));
            }
            _ => return None,
        };
        let subject = self.noun(object);
        let verb = verb.conjugate(subject.plural, polarity, tense);
        Some(format!(
            "{} {verb} with {}",
            subject.text,
            self.noun(other).text
        ))
    }

    /// Phrases "X is a subset of Y".
    pub(super) fn subset_clause(
        &self,
        x: &Term,
        y: &Term,
        proper: &str,
        polarity: Polarity,
        tense: Tense,
    ) -> String {
        let subject = self.noun(x);
        let verb = Verb::Be.conjugate(subject.plural, polarity, tense);
        format!(
            "{} {verb} a {proper}subset of {}",
            subject.text,
            self.noun(y).text
        )
    }

    /// Phrases a method or an attribute whose name is a question about its object (C30: is, has,
    /// can).
    fn question_clause(
        &self,
        object: &Term,
        name: &str,
        polarity: Polarity,
        tense: Tense,
    ) -> Option<String> {
        let words = self.words(name);
        let (first, rest) = match words.split_once(' ') {
            Some(parts) => parts,
            None if TEXT_QUESTIONS.contains(&name) => words.split_at(2),
            None => return None,
        };
        let verb = match first {
            "is" => Verb::Be,
            "has" => Verb::Have,
            "can" => Verb::Can,
            _ => return None,
        };
        let subject = self.noun(object);
        Some(format!(
            "{} {} {rest}",
            subject.text,
            verb.conjugate(subject.plural, polarity, tense)
        ))
    }

    /// Phrases `isinstance` (C28: it names the kind).
    fn isinstance_clause(
        &self,
        x: &Term,
        class: &Term,
        polarity: Polarity,
        tense: Tense,
    ) -> String {
        let mut classes = Vec::new();
        collect_classes(class, &mut classes);
        let kinds: Vec<String> = classes
            .iter()
            .map(|class| with_article(&self.class_noun(class)))
            .collect();
        let subject = self.noun(x);
        let verb = Verb::Be.conjugate(subject.plural, polarity, tense);
        format!(
            "{} {verb} {}",
            subject.text,
            super::join::nouns(&kinds, "or")
        )
    }

    /// Returns the noun of a class in `isinstance`.
    fn class_noun(&self, class: &Term) -> String {
        match class {
            // An earlier step has determined the class.
            Term::Reference(reference) if reference.role == NameRole::Phrase => {
                "value of that kind".to_owned()
            }
            Term::Reference(reference) => self.class_words(&reference.name),
            Term::Attribute { name, .. } => self.class_words(name),
            Term::Value(PythonValue::Nothing) => "empty value".to_owned(),
            Term::Call(call)
                if matches!(
                    call.only_argument("type"),
                    Some(Term::Value(PythonValue::Nothing))
                ) =>
            {
                "empty value".to_owned()
            }
            Term::Call(call) if call.only_argument("type").is_some() => {
                let other = call.only_argument("type").unwrap_or(class);
                format!("value of the same kind as {}", self.noun(other).text)
            }
            _ => format!("value of the kind {}", self.noun(class).text),
        }
    }

    /// Returns the noun of a class by its name.
    fn class_words(&self, name: &str) -> String {
        match noun_of_class(name) {
            Some(noun) if !self.vocabulary.has_name(name) => noun.to_owned(),
            _ => self.words(name),
        }
    }

    /// Phrases any other call as a condition (C31: `"contains" holds for x`).
    fn holds_clause(&self, call: &CallTerm, polarity: Polarity, tense: Tense) -> String {
        let verb = Verb::Hold.conjugate(false, polarity, tense);
        let arguments = self.arguments(call);
        match &call.callee {
            CallTarget::Method { object, name } if !super::call::is_self(object) => {
                let object = self.noun(object).text;
                let name = self.words(name);
                match arguments {
                    None => format!("\"{name}\" {verb} for {object}"),
                    Some(arguments) => {
                        format!(
                            "\"{name}\" {verb} for {} with {arguments}",
                            super::join::parenthesise(&object)
                        )
                    }
                }
            }
            callee => {
                let name = match callee {
                    CallTarget::Function { name, .. } | CallTarget::Method { name, .. } => {
                        format!("\"{}\"", self.words(name))
                    }
                    CallTarget::Other(Term::Reference(reference)) => {
                        format!("\"{}\"", self.words(&reference.name))
                    }
                    CallTarget::Other(other) => self.noun(other).text,
                };
                match arguments {
                    None => format!("{name} {verb}"),
                    Some(arguments) => format!("{name} {verb} for {arguments}"),
                }
            }
        }
    }
}

/// Phrases a constant condition (C41: "this is always so").
fn constant_clause(truth: bool, tense: Tense) -> String {
    let verb = Verb::Be.conjugate(false, Polarity::Positive, tense);
    format!("this {verb} {} so", if truth { "always" } else { "never" })
}

/// Collects the classes of `T`, `(T, U)` or `T | U`.
fn collect_classes<'t>(class: &'t Term, classes: &mut Vec<&'t Term>) {
    match class {
        Term::Tuple(items) => items.iter().for_each(|item| collect_classes(item, classes)),
        Term::Binary {
            left,
            operator: Operator::BitOr,
            right,
        } => {
            collect_classes(left, classes);
            collect_classes(right, classes);
        }
        _ => classes.push(class),
    }
}

#[cfg(test)]
mod tests {
    use crate::phrase::testing::{cl, not, was, was_not};

    #[test]
    fn c1_not() {
        assert_eq!(cl("not flag"), "flag is false");
        assert_eq!(not("not flag"), "flag is true");
        assert_eq!(cl("not (not x)"), "x is set");
    }

    #[test]
    fn c28_kinds() {
        assert_eq!(cl("isinstance(x, int)"), "x is a whole number");
        assert_eq!(
            cl("isinstance(x, (int, str))"),
            "x is a whole number or a text"
        );
        assert_eq!(
            cl("isinstance(x, int | lib.AVLTree)"),
            "x is a whole number or an AVL tree"
        );
        assert_eq!(not("isinstance(x, Account)"), "x is not an account");
        assert_eq!(was("isinstance(x, dict)"), "x was a dictionary");
        assert_eq!(
            cl("isinstance(x, type(y))"),
            "x is a value of the same kind as y"
        );
        assert_eq!(
            cl("isinstance(x, kinds[0])"),
            "x is a value of the kind the first element of kinds"
        );
    }

    #[test]
    fn c29_beginnings_and_ends() {
        assert_eq!(cl("s.startswith('a')"), "s starts with \"a\"");
        assert_eq!(cl("s.endswith(t)"), "s ends with t");
        assert_eq!(not("s.startswith(t)"), "s does not start with t");
        assert_eq!(was("s.endswith(t)"), "s ended with t");
        assert_eq!(was_not("s.startswith(t)"), "s did not start with t");
    }

    #[test]
    fn c30_questions() {
        assert_eq!(cl("tree.is_balanced()"), "the tree is balanced");
        assert_eq!(not("tree.is_balanced()"), "the tree is not balanced");
        assert_eq!(cl("x.hasChildren()"), "x has children");
        assert_eq!(not("x.has_children()"), "x does not have children");
        assert_eq!(cl("x.can_move()"), "x can move");
        assert_eq!(not("x.can_move()"), "x cannot move");
        assert_eq!(was("names.is_full()"), "the given names were full");
        assert_eq!(was_not("x.can_move()"), "x could not move");
        assert_eq!(cl("s.isdigit()"), "s is digit");
        assert_eq!(cl("x.is_leaf"), "x is leaf");
        // Words that only begin with the same letters are no questions.
        assert_eq!(cl("x.cancel()"), "\"cancel\" holds for x");
        assert_eq!(cl("x.issue()"), "\"issue\" holds for x");
        assert_eq!(cl("x.is_in(y)"), "\"is in\" holds for x with y");
    }

    #[test]
    fn c31_unknown_calls() {
        assert_eq!(cl("f(x)"), "\"f\" holds for x");
        assert_eq!(cl("is_prime(x, 2)"), "\"is prime\" holds for x and 2");
        assert_eq!(cl("ready()"), "\"ready\" holds");
        assert_eq!(
            cl("tree.contains(k)"),
            "\"contains\" holds for the tree with k"
        );
        assert_eq!(
            not("tree.contains(k)"),
            "\"contains\" does not hold for the tree with k"
        );
        assert_eq!(
            was("tree.contains(k)"),
            "\"contains\" held for the tree with k"
        );
        assert_eq!(
            was_not("tree.contains(k)"),
            "\"contains\" did not hold for the tree with k"
        );
    }

    #[test]
    fn c32_bare_values_of_known_type() {
        assert_eq!(cl("plates"), "the plates are not empty");
        assert_eq!(not("s"), "s is empty");
        assert_eq!(cl("n"), "n is not zero");
        assert_eq!(not("n"), "n is zero");
        assert_eq!(cl("flag"), "flag is true");
        assert_eq!(was("flag"), "flag was true");
        assert_eq!(was("plates"), "the plates were not empty");
        assert_eq!(cl("x % 2"), "the remainder of x divided by 2 is not zero");
        assert_eq!(cl("bool(xs)"), "xs is not empty");
        assert_eq!(cl("sorted(xs)"), "xs in sorted order is not empty");
    }

    #[test]
    fn c34_bare_values_of_unknown_type() {
        assert_eq!(cl("x"), "x is set");
        assert_eq!(not("x.owner"), "the owner of x is not set");
        assert_eq!(was("names"), "the given names were set");
        assert_eq!(
            cl("d.get(k)"),
            "the entry for k in d (nothing if there is none) is set"
        );
    }

    #[test]
    fn c35_earlier_conditions() {
        assert_eq!(
            cl("pre(tree.contains(k))"),
            "\"contains\" held for the tree with k before the step"
        );
        assert_eq!(
            not("pre(tree.contains(k))"),
            "\"contains\" did not hold for the tree with k before the step"
        );
        assert_eq!(cl("not pre(x in xs)"), "x was not in xs before the step");
        assert_eq!(
            cl("pre(len(plates) > 2)"),
            "the plates had more than 2 elements before the step"
        );
        assert_eq!(cl("pre(x == y)"), "x equalled y before the step");
        assert_eq!(cl("pre(x < y)"), "x was less than y before the step");
    }

    #[test]
    fn c41_constants() {
        assert_eq!(cl("True"), "this is always so");
        assert_eq!(not("True"), "this is never so");
        assert_eq!(cl("1 > 2"), "this is never so");
        assert_eq!(cl("x and True"), "x is set");
        assert_eq!(cl("x or True"), "this is always so");
    }
}
