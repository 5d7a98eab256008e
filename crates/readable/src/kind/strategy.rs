//! Kinds of Hypothesis strategies: `st.lists(st.integers(0, 9), max_size=5)`.

use testwright_source::tree::{Expression, ExpressionKind, Keyword, Operator};

use super::annotation::{dictionary_of, list_of};
use super::{KindPhrase, KindReader, either_kind, group_kind, last_segment};
use crate::phrase::join;
use crate::term::{CallTerm, NameReference, NameRole, NameScope, Term, Type, is_class_name};
use crate::value::PythonValue;

/// The longest chain of named strategies that is followed, since a strategy may be defined by
/// itself.
const MAX_DEFINITION_DEPTH: usize = 20;

/// The arguments of a call of a strategy.
#[derive(Clone, Copy)]
struct StrategyCall<'a> {
    positions: &'a [Expression],
    keywords: &'a [Keyword],
}

impl<'a> StrategyCall<'a> {
    /// Returns the argument of this name, or at this position. `None` counts as absent.
    fn get(self, name: &str, position: Option<usize>) -> Option<&'a Expression> {
        let named = self
            .keywords
            .iter()
            .find(|keyword| keyword.name.as_deref() == Some(name));
        named
            .map(|keyword| &keyword.value)
            .or_else(|| self.positions.get(position?))
            .filter(|argument| argument.kind != ExpressionKind::None)
    }
}

impl KindReader<'_> {
    /// Reads the kind of the values that a strategy gives. Conditions of `filter` speak of
    /// `variable`, or of the parameter of their lambda if there is none.
    #[must_use]
    pub fn read_strategy(&self, strategy: &Expression, variable: Option<&Term>) -> KindPhrase {
        self.strategy_kind(strategy, variable, MAX_DEFINITION_DEPTH)
    }

    /// Reads a strategy, following at most `depth` names.
    fn strategy_kind(
        &self,
        strategy: &Expression,
        variable: Option<&Term>,
        depth: usize,
    ) -> KindPhrase {
        match &strategy.kind {
            ExpressionKind::Name(name) => match ((self.definition)(name), depth) {
                (Some(definition), 1..) => self.strategy_kind(&definition, variable, depth - 1),
                _ => KindPhrase::unknown(),
            },
            ExpressionKind::Binary {
                operator: Operator::BitOr,
                ..
            } => {
                let mut kinds = Vec::new();
                self.collect_strategy_alternatives(strategy, depth, &mut kinds);
                either_kind(&kinds)
            }
            ExpressionKind::Call {
                function,
                arguments,
                keywords,
            } => {
                let arguments = StrategyCall {
                    positions: arguments,
                    keywords,
                };
                if let ExpressionKind::Attribute { object, name } = &function.kind
                    && let Some(kind) = self.adapted_kind(object, name, arguments, variable, depth)
                {
                    return kind;
                }
                last_segment(function).map_or_else(KindPhrase::unknown, |name| {
                    self.named_strategy(name, arguments, depth)
                })
            }
            _ => KindPhrase::unknown(),
        }
    }

    /// Collects the kinds of `a | b | c`.
    fn collect_strategy_alternatives(
        &self,
        strategy: &Expression,
        depth: usize,
        kinds: &mut Vec<KindPhrase>,
    ) {
        match &strategy.kind {
            ExpressionKind::Binary {
                left,
                operator: Operator::BitOr,
                right,
            } => {
                self.collect_strategy_alternatives(left, depth, kinds);
                self.collect_strategy_alternatives(right, depth, kinds);
            }
            _ => kinds.push(self.strategy_kind(strategy, None, depth)),
        }
    }

    /// Reads a call of a strategy by its name.
    fn named_strategy(&self, name: &str, arguments: StrategyCall<'_>, depth: usize) -> KindPhrase {
        let inner = |name: &str, position: usize| {
            arguments
                .get(name, Some(position))
                .map(|strategy| self.strategy_kind(strategy, None, depth))
        };
        let all = || -> Vec<KindPhrase> {
            let strategies = match arguments.positions {
                // `one_of([a, b])` is `one_of(a, b)`.
                [
                    Expression {
                        kind: ExpressionKind::List(items) | ExpressionKind::Tuple(items),
                        ..
                    },
                ] => items,
                positions => positions,
            };
            strategies
                .iter()
                .map(|strategy| self.strategy_kind(strategy, None, depth))
                .collect()
        };
        match name {
            "integers" => self.bounded_kind("whole number", arguments),
            "floats" => self.bounded_kind("number", arguments),
            "decimals" => self.bounded_kind("exact number", arguments),
            "fractions" => self.bounded_kind("fraction", arguments),
            "complex_numbers" => KindPhrase::with_noun("complex number", Type::Number),
            "booleans" => KindPhrase::with_noun("true-or-false value", Type::Boolean),
            "none" => KindPhrase::with_noun("empty value", Type::Nothing),
            "dates" => KindPhrase::with_noun("date", Type::Unknown),
            "datetimes" => KindPhrase::with_noun("moment", Type::Unknown),
            "timedeltas" => KindPhrase::with_noun("duration", Type::Unknown),
            "characters" => KindPhrase::with_noun("character", Type::Text),
            "binary" => KindPhrase::with_noun("byte string", Type::Bytes),
            "text" => self.text_kind(arguments),
            "lists" => self.collection_kind("list", inner("elements", 0), arguments),
            "sets" => self.collection_kind("set", inner("elements", 0), arguments),
            "frozensets" => self.collection_kind("fixed set", inner("elements", 0), arguments),
            "tuples" if !arguments.positions.is_empty() => group_kind(&all()),
            "tuples" => KindPhrase::with_noun("group", Type::Tuple(Vec::new())),
            "dictionaries" => match (inner("keys", 0), inner("values", 1)) {
                (Some(key), Some(value)) => dictionary_of(&key, &value),
                _ => KindPhrase::with_noun("dictionary", Type::dictionary()),
            },
            "sampled_from" => {
                arguments
                    .get("elements", Some(0))
                    .map_or_else(KindPhrase::unknown, |elements| match self.term(elements) {
                        // The members of an enumeration.
                        Term::Reference(class) if is_class_name(&class.name) => {
                            self.user_class_kind(&class.name)
                        }
                        term => self.choice_kind(&term),
                    })
            }
            "just" => arguments
                .positions
                .first()
                .map_or_else(KindPhrase::unknown, |value| {
                    let term = self.term(value);
                    let kind = KindPhrase::unknown()
                        .with_restriction(format!(" equal to {}", self.phraser.noun(&term).text));
                    KindPhrase {
                        type_: term.type_of(),
                        ..kind
                    }
                }),
            "one_of" if !arguments.positions.is_empty() => either_kind(&all()),
            "builds" => match arguments.positions.first().and_then(last_segment) {
                Some(class) => self.user_class_kind(class),
                None => KindPhrase::unknown(),
            },
            "from_type" => arguments
                .positions
                .first()
                .map_or_else(KindPhrase::unknown, |class| self.read_annotation(class)),
            _ => KindPhrase::unknown(),
        }
    }

    /// Phrases a bound.
    fn number_words(&self, expression: &Expression) -> String {
        self.phraser.noun(&self.term(expression)).text
    }

    /// Returns a number kind with its bounds: " from A to B", " of at least A", " of at most B".
    fn bounded_kind(&self, noun: &str, arguments: StrategyCall<'_>) -> KindPhrase {
        let (min, max) = (
            arguments.get("min_value", Some(0)),
            arguments.get("max_value", Some(1)),
        );
        let restriction = match (min, max) {
            (None, None) => String::new(),
            (Some(min), Some(max)) => {
                format!(
                    " from {} to {}",
                    self.number_words(min),
                    self.number_words(max)
                )
            }
            (Some(min), None) => format!(" of at least {}", self.number_words(min)),
            (None, Some(max)) => format!(" of at most {}", self.number_words(max)),
        };
        KindPhrase::with_noun(noun, Type::Number).with_restriction(restriction)
    }

    /// Returns the kind of a text with its length.
    fn text_kind(&self, arguments: StrategyCall<'_>) -> KindPhrase {
        let min = arguments
            .get("min_size", None)
            .map(|size| self.number_words(size));
        let max = arguments
            .get("max_size", None)
            .map(|size| self.number_words(size));
        let characters = |count: &str| {
            if count == "1" {
                "character"
            } else {
                "characters"
            }
        };
        let restriction = match (min, max) {
            (None, None) => String::new(),
            (Some(min), Some(max)) => format!(" of {min} to {max} {}", characters(&max)),
            (Some(min), None) => format!(" of at least {min} {}", characters(&min)),
            (None, Some(max)) => format!(" of at most {max} {}", characters(&max)),
        };
        KindPhrase::with_noun("text", Type::Text).with_restriction(restriction)
    }

    /// Returns the kind of a collection with its size, "different" if it is unique, and the kind of
    /// its elements.
    fn collection_kind(
        &self,
        noun: &str,
        element: Option<KindPhrase>,
        arguments: StrategyCall<'_>,
    ) -> KindPhrase {
        let element = element.unwrap_or_else(KindPhrase::unknown);
        let min = arguments
            .get("min_size", None)
            .map(|size| self.number_words(size));
        let max = arguments
            .get("max_size", None)
            .map(|size| self.number_words(size));
        let size = match (&min, &max) {
            (None, None) => String::new(),
            (Some(min), Some(max)) => format!("from {min} to {max} "),
            (Some(min), None) => format!("at least {min} "),
            (None, Some(max)) => format!("at most {max} "),
        };
        let is_one = matches!(
            (min.as_deref(), max.as_deref()),
            (Some("1"), None) | (None, Some("1"))
        );
        let is_unique = noun == "list"
            && arguments
                .get("unique", None)
                .is_some_and(|unique| unique.kind == ExpressionKind::Boolean(true));
        let unique = if is_unique { "different " } else { "" };
        let members = if is_one {
            format!("{}{}", element.noun, element.restriction)
        } else {
            element.several()
        };
        let restriction = format!(" of {size}{unique}{members}");
        list_of(noun, &element).with_restriction(restriction)
    }

    /// Returns the kind of a choice: " among X, Y and Z".
    pub(super) fn choice_kind(&self, elements: &Term) -> KindPhrase {
        let members: Option<Vec<Term>> = match elements {
            Term::Value(
                PythonValue::List(items) | PythonValue::Tuple(items) | PythonValue::Set(items),
            ) => Some(items.iter().cloned().map(Term::Value).collect()),
            Term::Value(PythonValue::Text(text)) => Some(
                text.chars()
                    .map(|character| PythonValue::text(character).into())
                    .collect(),
            ),
            Term::Value(
                value @ (PythonValue::Nothing | PythonValue::Boolean(_) | PythonValue::Integer(_)),
            ) => Some(vec![Term::Value(value.clone())]),
            Term::List(items) | Term::Tuple(items) => Some(items.clone()),
            _ => None,
        };
        let kind = match &members {
            Some(members) if !members.is_empty() => {
                let all: Vec<String> = members
                    .iter()
                    .map(|member| join::parenthesise(&self.phraser.noun(member).text))
                    .collect();
                KindPhrase::unknown()
                    .with_restriction(format!(" among {}", join::nouns(&all, "and")))
            }
            _ => KindPhrase::unknown()
                .with_restriction(format!(" among {}", self.phraser.noun(elements).text)),
        };
        KindPhrase {
            type_: elements.type_of().element(),
            ..kind
        }
    }

    /// Reads `K.filter(c)`, `K.map(f)` and `K.flatmap(f)`.
    fn adapted_kind(
        &self,
        strategy: &Expression,
        method: &str,
        arguments: StrategyCall<'_>,
        variable: Option<&Term>,
        depth: usize,
    ) -> Option<KindPhrase> {
        let [function] = arguments.positions else {
            return None;
        };
        match method {
            "filter" => {
                let kind = self.strategy_kind(strategy, variable, depth);
                // A value without a name is "it", one of several is "each".
                let such_that = |word: &str| {
                    let unnamed: Term = NameReference::new(word, NameRole::Phrase).into();
                    let variable = variable.unwrap_or(&unnamed);
                    let condition = self.apply_function(function, Some(variable), &kind.type_);
                    format!(" such that {}", self.phraser.clause(&condition))
                };
                let restriction = kind.restriction.clone() + &such_that("it");
                let several = kind.plural_restriction.clone() + &such_that("each");
                Some(
                    kind.with_restriction(restriction)
                        .with_plural_restriction(several),
                )
            }
            "map" => {
                let kind = self.strategy_kind(strategy, None, depth);
                let restriction = match (&function.kind, last_segment(function)) {
                    (_, Some(name)) => {
                        format!(
                            " obtained by \"{}\" from {}",
                            self.phraser.words(name),
                            kind.one()
                        )
                    }
                    (ExpressionKind::Lambda { parameters, .. }, _) => {
                        let result = self
                            .phraser
                            .noun(&self.apply_function(function, None, &kind.type_))
                            .text;
                        let name = parameters.first().map_or(String::new(), |parameter| {
                            format!(" {}", self.phraser.words(&parameter.name))
                        });
                        let source = crate::words::with_article(&kind.noun);
                        format!(
                            " obtained as {result} from {source}{name}{}",
                            kind.restriction
                        )
                    }
                    _ => format!(" obtained from {}", kind.one()),
                };
                Some(KindPhrase::unknown().with_restriction(restriction))
            }
            "flatmap" => Some(KindPhrase::unknown()),
            _ => None,
        }
    }

    /// Builds the term of a function applied to the variable, or to its own parameter if there is
    /// none.
    fn apply_function(&self, function: &Expression, variable: Option<&Term>, type_: &Type) -> Term {
        let own = |name: &str| {
            Term::from(NameReference::new(name, NameRole::Variable).with_type(type_.clone()))
        };
        // The variable has the type of what the generator gives.
        let variable = variable.map(|variable| match variable {
            Term::Reference(reference) if reference.type_ == Type::Unknown => {
                Term::from(reference.clone().with_type(type_.clone()))
            }
            _ => variable.clone(),
        });
        match &function.kind {
            ExpressionKind::Lambda { parameters, body } => {
                let name = parameters
                    .first()
                    .map_or("value", |parameter| parameter.name.as_str());
                let value = variable.unwrap_or_else(|| own(name));
                Term::from_expression(
                    body,
                    self.text,
                    &ExtendedScope {
                        name,
                        value: &value,
                        scope: self.scope,
                    },
                )
            }
            _ => {
                let argument = variable.unwrap_or_else(|| own("value"));
                match last_segment(function) {
                    Some(name) => Term::call(name, vec![argument]),
                    None => Term::Source(
                        self.text
                            .get(function.range.clone())
                            .unwrap_or("...")
                            .to_owned(),
                    ),
                }
            }
        }
    }
}

/// A scope in which one more name is known.
struct ExtendedScope<'a> {
    name: &'a str,
    value: &'a Term,
    scope: &'a dyn NameScope,
}

impl NameScope for ExtendedScope<'_> {
    fn resolve_name(&self, name: &str) -> Option<Term> {
        if name == self.name {
            Some(self.value.clone())
        } else {
            self.scope.resolve_name(name)
        }
    }

    fn resolve_attribute(&self, object: &str, name: &str) -> Option<Term> {
        if object == self.name {
            None
        } else {
            self.scope.resolve_attribute(object, name)
        }
    }

    fn resolve_call(&self, call: &CallTerm) -> Option<Term> {
        self.scope.resolve_call(call)
    }

    fn is_module(&self, name: &str) -> bool {
        name != self.name && self.scope.is_module(name)
    }
}
