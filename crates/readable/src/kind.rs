//! What generators and annotations promise of the values they give (3.4): "whole number", "list of texts".

mod annotation;
mod strategy;

use testwright_source::tree::{Expression, ExpressionKind};

use crate::phrase::{Speaker, join};
use crate::term::{Scope, Term, Type};
use crate::words::{plural_of, with_article};

/// What kind of values there are to be expected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kind {
    /// One of them: "whole number".
    pub noun: String,
    /// Several of them: "whole numbers".
    pub plural: String,
    /// What is said behind the noun or the name, with the space before it: " from 0 to 9". May be empty.
    pub restriction: String,
    /// The same behind the plural: verbs agree with what they speak of (W5).
    pub several_restriction: String,
    /// What this tells of their type.
    pub type_: Type,
}

/// Reads kinds where generators and annotations stand.
#[derive(Clone, Copy)]
pub struct Kinds<'a> {
    /// The text in which they stand.
    pub text: &'a str,
    /// What names stand for there.
    pub scope: &'a dyn Scope,
    /// The expression that a module-level name was assigned, for strategies that have a name.
    pub definition: &'a dyn Fn(&str) -> Option<Expression>,
    /// Who phrases bounds and conditions.
    pub speaker: Speaker<'a>,
}

impl Kind {
    /// Nothing is known.
    #[must_use]
    pub fn unknown() -> Self {
        Self::named("value", Type::Unknown)
    }

    fn named(noun: &str, type_: Type) -> Self {
        Self {
            noun: noun.to_owned(),
            plural: plural_of(noun),
            restriction: String::new(),
            several_restriction: String::new(),
            type_,
        }
    }

    fn with_restriction(self, restriction: impl Into<String>) -> Self {
        let restriction = restriction.into();
        Self {
            several_restriction: restriction.clone(),
            restriction,
            ..self
        }
    }

    fn with_several(self, several_restriction: String) -> Self {
        Self {
            several_restriction,
            ..self
        }
    }

    /// "any whole number n from 0 to 9" for properties, without a name for inputs.
    #[must_use]
    pub fn any(&self, name: Option<&str>) -> String {
        let name = name.map_or(String::new(), |name| format!(" {name}"));
        format!("any {}{name}{}", self.noun, self.restriction)
    }

    /// "a whole number from 0 to 9".
    #[must_use]
    pub fn one(&self) -> String {
        format!("{}{}", with_article(&self.noun), self.restriction)
    }

    /// "whole numbers from 0 to 9".
    #[must_use]
    pub fn several(&self) -> String {
        format!("{}{}", self.plural, self.several_restriction)
    }
}

/// The noun of one of Python's own classes (3.4, C28).
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

/// The type that goes with such a class.
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

/// A pair or a group of kinds, if at least one is given.
fn group(kinds: &[Kind]) -> Kind {
    let noun = if kinds.len() == 2 { "pair" } else { "group" };
    let items: Vec<String> = kinds
        .iter()
        .map(|kind| join::operand(&kind.one()))
        .collect();
    let type_ = Type::Tuple(kinds.iter().map(|kind| kind.type_.clone()).collect());
    Kind::named(noun, type_).with_restriction(format!(" of {}", join::nouns(&items, "and")))
}

/// One of several kinds.
fn either(kinds: &[Kind]) -> Kind {
    if let [only] = kinds {
        return only.clone();
    }
    let alternatives: Vec<String> = kinds.iter().map(Kind::one).collect();
    let type_ = Type::common(kinds.iter().map(|kind| kind.type_.clone()));
    let either = join::nouns(&alternatives, "or");
    let kind = Kind::unknown()
        .with_restriction(format!(" that is either {either}"))
        .with_several(format!(" that are either {either}"));
    Kind { type_, ..kind }
}

/// The last word of `a.b.c`.
fn last_name(expression: &Expression) -> Option<&str> {
    match &expression.kind {
        ExpressionKind::Name(name) | ExpressionKind::Attribute { name, .. } => Some(name),
        _ => None,
    }
}

impl Kinds<'_> {
    fn term(&self, expression: &Expression) -> Term {
        Term::read(expression, self.text, self.scope)
    }
}

#[cfg(test)]
mod tests {
    use testwright_source::tree;

    use super::*;
    use crate::idiom::Vocabulary;
    use crate::term::{Reference, Role, Unscoped};

    fn kind(text: &str, read: impl Fn(&Kinds<'_>, &Expression) -> Kind) -> Kind {
        let vocabulary = Vocabulary::default();
        let definition = |name: &str| match name {
            "small" => tree::expression("st.integers(0, 9)").ok(),
            "loop" => tree::expression("loop").ok(),
            _ => None,
        };
        let kinds = Kinds {
            text,
            scope: &Unscoped,
            definition: &definition,
            speaker: Speaker::new(&vocabulary),
        };
        read(&kinds, &tree::expression(text).expect("an expression"))
    }

    fn strategy(text: &str) -> String {
        let n = Term::from(Reference::new("n", Role::Variable));
        kind(text, |kinds, strategy| {
            kinds.of_strategy(strategy, Some(&n))
        })
        .any(Some("n"))
    }

    fn annotation(text: &str) -> String {
        kind(text, |kinds, annotation| kinds.of_annotation(annotation)).any(Some("n"))
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
            |kinds, strategy| kinds.of_strategy(strategy, None),
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
            |text: &str| kind(text, |kinds, strategy| kinds.of_strategy(strategy, None)).type_;
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
