//! Kinds of generated values: what a strategy or an annotation says about the values it gives, such
//! as "whole number" or "list of texts".
//!
//! A kind is a noun with a restriction after it. Properties say "any whole number n from 0 to 9",
//! inputs of actions "any whole number from 0 to 9".

mod annotation;
mod strategy;

use testwright_source::tree::{Expression, ExpressionKind};

use crate::phrase::{Phraser, join};
use crate::term::{NameScope, Term, Type};
use crate::words::{pluralise, with_article};

/// The words for one kind of values, and their type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KindPhrase {
    /// The singular noun: "whole number".
    pub noun: String,
    /// The plural noun: "whole numbers".
    pub plural: String,
    /// The words after the noun or the name, with a leading space: " from 0 to 9". May be empty.
    pub restriction: String,
    /// The restriction after the plural noun (W5: verbs agree in number).
    pub plural_restriction: String,
    /// The type of the values.
    pub type_: Type,
}

/// Reads the kinds of strategies and annotations in a source text.
#[derive(Clone, Copy)]
pub struct KindReader<'a> {
    /// The source text.
    pub text: &'a str,
    /// The meaning of names in it.
    pub scope: &'a dyn NameScope,
    /// Gives the expression that a module-level name was assigned, for strategies with a name.
    pub definition: &'a dyn Fn(&str) -> Option<Expression>,
    /// The phraser of bounds and conditions.
    pub phraser: Phraser<'a>,
}

impl KindPhrase {
    /// Returns the kind of values about which nothing is known.
    #[must_use]
    pub fn unknown() -> Self {
        Self::with_noun("value", Type::Unknown)
    }

    /// Creates a kind without a restriction.
    fn with_noun(noun: &str, type_: Type) -> Self {
        Self {
            noun: noun.to_owned(),
            plural: pluralise(noun),
            restriction: String::new(),
            plural_restriction: String::new(),
            type_,
        }
    }

    /// Sets the restriction after the noun and after its plural.
    fn with_restriction(self, restriction: impl Into<String>) -> Self {
        let restriction = restriction.into();
        Self {
            plural_restriction: restriction.clone(),
            restriction,
            ..self
        }
    }

    /// Sets the restriction after the plural alone.
    fn with_plural_restriction(self, several_restriction: String) -> Self {
        Self {
            plural_restriction: several_restriction,
            ..self
        }
    }

    /// Returns "any whole number n from 0 to 9"; inputs of actions have no name.
    #[must_use]
    pub fn any(&self, name: Option<&str>) -> String {
        let name = name.map_or(String::new(), |name| format!(" {name}"));
        format!("any {}{name}{}", self.noun, self.restriction)
    }

    /// Returns "a whole number from 0 to 9".
    #[must_use]
    pub fn one(&self) -> String {
        format!("{}{}", with_article(&self.noun), self.restriction)
    }

    /// Returns "whole numbers from 0 to 9".
    #[must_use]
    pub fn several(&self) -> String {
        format!("{}{}", self.plural, self.plural_restriction)
    }
}

/// Returns the noun of one of Python's own classes (C28: `isinstance` names the kind).
pub(crate) fn noun_of_class(class: &str) -> Option<&'static str> {
    Some(match class {
        "int" => "whole number",
        "float" => "number",
        "bool" => "true-or-false value",
        "str" => "text",
        "list" | "List" => "list",
        "tuple" | "Tuple" => "group",
        "set" | "Set" => "set",
        "frozenset" | "FrozenSet" => "fixed set",
        "dict" | "Dict" => "dictionary",
        "bytes" => "byte string",
        "complex" => "complex number",
        "Decimal" => "exact number",
        "Fraction" => "fraction",
        "date" => "date",
        "datetime" => "moment",
        "timedelta" => "duration",
        "NoneType" => "empty value",
        _ => return None,
    })
}

/// Returns the type of one of Python's own classes.
fn type_of_class(class: &str) -> Type {
    match class {
        "int" | "float" | "complex" | "Decimal" | "Fraction" => Type::Number,
        "bool" => Type::Boolean,
        "str" => Type::Text,
        "list" | "List" => Type::list(),
        "tuple" | "Tuple" => Type::Tuple(Vec::new()),
        "set" | "Set" | "frozenset" | "FrozenSet" => Type::set(),
        "dict" | "Dict" => Type::dictionary(),
        "bytes" => Type::Bytes,
        "NoneType" => Type::Nothing,
        _ => Type::Unknown,
    }
}

/// Combines kinds into a pair or a group; at least one is needed.
fn group_kind(kinds: &[KindPhrase]) -> KindPhrase {
    let noun = if kinds.len() == 2 { "pair" } else { "group" };
    let items: Vec<String> = kinds
        .iter()
        .map(|kind| join::parenthesise(&kind.one()))
        .collect();
    let type_ = Type::Tuple(kinds.iter().map(|kind| kind.type_.clone()).collect());
    KindPhrase::with_noun(noun, type_)
        .with_restriction(format!(" of {}", join::nouns(&items, "and")))
}

/// Combines alternatives: "value that is either a text or a whole number".
fn either_kind(kinds: &[KindPhrase]) -> KindPhrase {
    if let [only] = kinds {
        return only.clone();
    }
    let alternatives: Vec<String> = kinds.iter().map(KindPhrase::one).collect();
    let type_ = Type::unify_all(kinds.iter().map(|kind| kind.type_.clone()));
    let either = join::nouns(&alternatives, "or");
    let kind = KindPhrase::unknown()
        .with_restriction(format!(" that is either {either}"))
        .with_plural_restriction(format!(" that are either {either}"));
    KindPhrase { type_, ..kind }
}

/// Returns the last name of `a.b.c`.
fn last_segment(expression: &Expression) -> Option<&str> {
    match &expression.kind {
        ExpressionKind::Name(name) | ExpressionKind::Attribute { name, .. } => Some(name),
        _ => None,
    }
}

impl KindReader<'_> {
    /// Builds the term of an expression in this text.
    fn term(&self, expression: &Expression) -> Term {
        Term::from_expression(expression, self.text, self.scope)
    }
}

#[cfg(test)]
mod tests {
    use testwright_source::tree;

    use super::*;
    use crate::idiom::Vocabulary;
    use crate::term::{EmptyScope, NameReference, NameRole};

    fn kind(text: &str, read: impl Fn(&KindReader<'_>, &Expression) -> KindPhrase) -> KindPhrase {
        let vocabulary = Vocabulary::default();
        let definition = |name: &str| match name {
            "small" => tree::expression("st.integers(0, 9)").ok(),
            "loop" => tree::expression("loop").ok(),
            _ => None,
        };
        let kinds = KindReader {
            text,
            scope: &EmptyScope,
            definition: &definition,
            phraser: Phraser::new(&vocabulary),
        };
        read(&kinds, &tree::expression(text).expect("an expression"))
    }

    fn strategy(text: &str) -> String {
        let n = Term::from(NameReference::new("n", NameRole::Variable));
        kind(text, |kinds, strategy| {
            kinds.read_strategy(strategy, Some(&n))
        })
        .any(Some("n"))
    }

    fn annotation(text: &str) -> String {
        kind(text, |kinds, annotation| kinds.read_annotation(annotation)).any(Some("n"))
    }

    #[test]
    fn numbers() {
        assert_eq!(strategy("st.integers()"), "any whole number n");
        assert_eq!(
            strategy("st.integers(0, 1000)"),
            "any whole number n from 0 to 1000"
        );
        assert_eq!(
            strategy("integers(min_value=1)"),
            "any whole number n of at least 1"
        );
        assert_eq!(
            strategy("st.integers(max_value=-1)"),
            "any whole number n of at most -1"
        );
        assert_eq!(
            strategy("st.integers(None, 5)"),
            "any whole number n of at most 5"
        );
        assert_eq!(
            strategy("st.floats(0.5, 1, allow_nan=False)"),
            "any number n from 0.5 to 1"
        );
        assert_eq!(strategy("st.booleans()"), "any true-or-false value n");
    }

    #[test]
    fn w5_what_elements_are_like_agrees_with_them() {
        assert_eq!(
            strategy("st.lists(st.integers() | st.none())"),
            "any list n of values that are either a whole number or an empty value"
        );
        assert_eq!(
            strategy("st.lists(st.integers() | st.none(), min_size=1)"),
            "any list n of at least 1 value that is either a whole number or an empty value"
        );
        assert_eq!(
            strategy("st.lists(st.integers().filter(lambda v: v > 0))"),
            "any list n of whole numbers such that each is greater than 0"
        );
        assert_eq!(
            strategy("st.tuples(st.integers().filter(lambda v: v > 0), st.text())"),
            "any pair n of a whole number such that it is greater than 0 and a text"
        );
        assert_eq!(strategy("st.sampled_from(Color)"), "any color n");
    }

    #[test]
    fn texts() {
        assert_eq!(strategy("st.text()"), "any text n");
        assert_eq!(
            strategy("st.text('abc', min_size=1)"),
            "any text n of at least 1 character"
        );
        assert_eq!(
            strategy("st.text(max_size=5)"),
            "any text n of at most 5 characters"
        );
        assert_eq!(
            strategy("st.text(min_size=2, max_size=5)"),
            "any text n of 2 to 5 characters"
        );
    }

    #[test]
    fn collections() {
        assert_eq!(
            strategy("st.lists(st.integers())"),
            "any list n of whole numbers"
        );
        assert_eq!(
            strategy("st.lists(st.integers(0, 9), min_size=1)"),
            "any list n of at least 1 whole number from 0 to 9"
        );
        assert_eq!(
            strategy("st.lists(st.text(), min_size=2, max_size=4)"),
            "any list n of from 2 to 4 texts"
        );
        assert_eq!(
            strategy("st.lists(st.booleans(), unique=True)"),
            "any list n of different true-or-false values"
        );
        assert_eq!(
            strategy("st.lists(st.integers(), max_size=3, unique=True)"),
            "any list n of at most 3 different whole numbers"
        );
        assert_eq!(
            strategy("st.sets(st.text(max_size=3))"),
            "any set n of texts of at most 3 characters"
        );
        assert_eq!(
            strategy("st.lists(st.lists(small))"),
            "any list n of lists of whole numbers from 0 to 9"
        );
        assert_eq!(
            strategy("st.tuples(st.integers(), st.text())"),
            "any pair n of a whole number and a text"
        );
        assert_eq!(
            strategy("st.tuples(small, st.none(), st.text())"),
            "any group n of a whole number from 0 to 9, an empty value and a text"
        );
        assert_eq!(
            strategy("st.dictionaries(st.text(max_size=1), st.integers())"),
            "any dictionary n from texts of at most 1 character to whole numbers"
        );
    }

    #[test]
    fn choices() {
        assert_eq!(
            strategy("st.sampled_from(['a', 'b', 'c'])"),
            "any value n among \"a\", \"b\" and \"c\""
        );
        assert_eq!(strategy("st.just(5)"), "any value n equal to 5");
        assert_eq!(
            strategy("st.one_of(st.integers(), st.none())"),
            "any value n that is either a whole number or an empty value"
        );
        assert_eq!(
            strategy("st.integers() | st.text() | st.none()"),
            "any value n that is either a whole number, a text or an empty value"
        );
        assert_eq!(
            strategy("st.builds(BankAccount, st.integers())"),
            "any bank account n"
        );
        assert_eq!(strategy("mystery()"), "any value n");
        assert_eq!(strategy("small"), "any whole number n from 0 to 9");
        assert_eq!(strategy("loop"), "any value n");
    }

    #[test]
    fn filters_and_maps() {
        assert_eq!(
            strategy("st.integers().filter(lambda v: v % 2 == 0)"),
            "any whole number n such that n is even"
        );
        assert_eq!(
            strategy("st.text(max_size=3).filter(lambda v: v)"),
            "any text n of at most 3 characters such that n is not empty"
        );
        assert_eq!(
            strategy("st.integers(1, 9).filter(is_prime)"),
            "any whole number n from 1 to 9 such that \"is prime\" holds for n"
        );
        assert_eq!(
            strategy("st.integers().map(to_roman)"),
            "any value n obtained by \"to roman\" from a whole number"
        );
        assert_eq!(
            strategy("st.integers(0, 9).map(lambda v: v * 2)"),
            "any value n obtained as v times 2 from a whole number v from 0 to 9"
        );
        let input = kind(
            "st.integers().filter(lambda v: v > 3)",
            |kinds, strategy| kinds.read_strategy(strategy, None),
        );
        assert_eq!(
            input.any(None),
            "any whole number such that it is greater than 3"
        );
    }

    #[test]
    fn annotations() {
        assert_eq!(annotation("int"), "any whole number n");
        assert_eq!(annotation("list[int]"), "any list n of whole numbers");
        assert_eq!(annotation("typing.List[str]"), "any list n of texts");
        assert_eq!(
            annotation("dict[str, set[float]]"),
            "any dictionary n from texts to sets of numbers"
        );
        assert_eq!(
            annotation("tuple[int, str]"),
            "any pair n of a whole number and a text"
        );
        assert_eq!(
            annotation("int | None"),
            "any value n that is either a whole number or an empty value"
        );
        assert_eq!(
            annotation("Optional[str]"),
            "any value n that is either a text or an empty value"
        );
        assert_eq!(
            annotation("'list[bool]'"),
            "any list n of true-or-false values"
        );
        assert_eq!(annotation("bank.Account"), "any account n");
        assert_eq!(annotation("list"), "any list n");
        assert_eq!(annotation("Any"), "any value n");
        assert_eq!(
            annotation("Literal['a', 'b']"),
            "any value n among \"a\" and \"b\""
        );
    }

    #[test]
    fn kinds_tell_types() {
        let type_of =
            |text: &str| kind(text, |kinds, strategy| kinds.read_strategy(strategy, None)).type_;
        assert_eq!(
            type_of("st.lists(st.text())"),
            Type::List(Box::new(Type::Text))
        );
        assert_eq!(type_of("st.sampled_from([1, 2])"), Type::Number);
        assert_eq!(type_of("st.integers() | st.none()"), Type::Unknown);
        assert_eq!(
            type_of("st.dictionaries(st.text(), st.integers())"),
            Type::Dictionary(Box::new(Type::Text), Box::new(Type::Number))
        );
    }
}
