//! Kinds from Hypothesis strategies: `st.lists(st.integers(0, 9), max_size=5)`.

use testwright_source::tree::{Expression, ExpressionKind, Keyword, Operator};

use super::annotation::{dictionary_of, list_of};
use super::{Kind, Kinds, either, group, last_name};
use crate::phrase::join;
use crate::term::{Call, Reference, Role, Scope, Term, Type, is_class_name};
use crate::value::Value;

/// How many names of strategies may refer to one another: a strategy may be defined by itself.
const DEEPEST_DEFINITION: usize = 20;

/// The arguments of a strategy.
#[derive(Clone, Copy)]
struct Arguments<'a> {
    positions: &'a [Expression],
    keywords: &'a [Keyword],
}

impl<'a> Arguments<'a> {
    /// The argument of this name, or at this position.
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

impl Kinds<'_> {
    /// The kind of what a Hypothesis strategy gives. The variable is what conditions of `filter` speak of; without one
    /// they speak of the parameter of their lambda.
    #[must_use]
    pub fn of_strategy(&self, strategy: &Expression, variable: Option<&Term>) -> Kind {
        self.strategy(strategy, variable, DEEPEST_DEFINITION)
    }

    fn strategy(&self, strategy: &Expression, variable: Option<&Term>, depth: usize) -> Kind {
        match &strategy.kind {
            ExpressionKind::Name(name) => match ((self.definition)(name), depth) {
                (Some(definition), 1..) => self.strategy(&definition, variable, depth - 1),
                _ => Kind::unknown(),
            },
            ExpressionKind::Binary {
                operator: Operator::BitOr,
                ..
            } => {
                let mut kinds = Vec::new();
                self.either_strategy(strategy, depth, &mut kinds);
                either(&kinds)
            }
            ExpressionKind::Call {
                function,
                arguments,
                keywords,
            } => {
                let arguments = Arguments {
                    positions: arguments,
                    keywords,
                };
                if let ExpressionKind::Attribute { object, name } = &function.kind
                    && let Some(kind) = self.adapted(object, name, arguments, variable, depth)
                {
                    return kind;
                }
                last_name(function).map_or_else(Kind::unknown, |name| {
                    self.named_strategy(name, arguments, depth)
                })
            }
            _ => Kind::unknown(),
        }
    }

    fn either_strategy(&self, strategy: &Expression, depth: usize, kinds: &mut Vec<Kind>) {
        match &strategy.kind {
            ExpressionKind::Binary {
                left,
                operator: Operator::BitOr,
                right,
            } => {
                self.either_strategy(left, depth, kinds);
                self.either_strategy(right, depth, kinds);
            }
            _ => kinds.push(self.strategy(strategy, None, depth)),
        }
    }

    fn named_strategy(&self, name: &str, arguments: Arguments<'_>, depth: usize) -> Kind {
        let inner = |name: &str, position: usize| {
            arguments
                .get(name, Some(position))
                .map(|strategy| self.strategy(strategy, None, depth))
        };
        let all = || -> Vec<Kind> {
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
                .map(|strategy| self.strategy(strategy, None, depth))
                .collect()
        };
        match name {
            "integers" => self.bounded("whole number", arguments),
            "floats" => self.bounded("number", arguments),
            "decimals" => self.bounded("exact number", arguments),
            "fractions" => self.bounded("fraction", arguments),
            "complex_numbers" => Kind::named("complex number", Type::Number),
            "booleans" => Kind::named("true-or-false value", Type::Boolean),
            "none" => Kind::named("empty value", Type::Nothing),
            "dates" => Kind::named("date", Type::Unknown),
            "datetimes" => Kind::named("moment", Type::Unknown),
            "timedeltas" => Kind::named("duration", Type::Unknown),
            "characters" => Kind::named("character", Type::Text),
            "binary" => Kind::named("byte string", Type::Bytes),
            "text" => self.text(arguments),
            "lists" => self.collection("list", inner("elements", 0), arguments),
            "sets" => self.collection("set", inner("elements", 0), arguments),
            "frozensets" => self.collection("fixed set", inner("elements", 0), arguments),
            "tuples" if !arguments.positions.is_empty() => group(&all()),
            "tuples" => Kind::named("group", Type::Tuple(Vec::new())),
            "dictionaries" => match (inner("keys", 0), inner("values", 1)) {
                (Some(key), Some(value)) => dictionary_of(&key, &value),
                _ => Kind::named("dictionary", Type::dictionary()),
            },
            "sampled_from" => {
                arguments
                    .get("elements", Some(0))
                    .map_or_else(Kind::unknown, |elements| match self.term(elements) {
                        // The members of an enumeration.
                        Term::Reference(class) if is_class_name(&class.name) => {
                            self.of_user_class(&class.name)
                        }
                        term => self.among(&term),
                    })
            }
            "just" => arguments
                .positions
                .first()
                .map_or_else(Kind::unknown, |value| {
                    let term = self.term(value);
                    let kind = Kind::unknown()
                        .with_restriction(format!(" equal to {}", self.speaker.noun(&term).text));
                    Kind {
                        type_: term.type_of(),
                        ..kind
                    }
                }),
            "one_of" if !arguments.positions.is_empty() => either(&all()),
            "builds" => match arguments.positions.first().and_then(last_name) {
                Some(class) => self.of_user_class(class),
                None => Kind::unknown(),
            },
            "from_type" => arguments
                .positions
                .first()
                .map_or_else(Kind::unknown, |class| self.of_annotation(class)),
            _ => Kind::unknown(),
        }
    }

    fn number(&self, expression: &Expression) -> String {
        self.speaker.noun(&self.term(expression)).text
    }

    /// " from A to B", " of at least A", " of at most B".
    fn bounded(&self, noun: &str, arguments: Arguments<'_>) -> Kind {
        let (least, most) = (
            arguments.get("min_value", Some(0)),
            arguments.get("max_value", Some(1)),
        );
        let restriction = match (least, most) {
            (None, None) => String::new(),
            (Some(least), Some(most)) => {
                format!(" from {} to {}", self.number(least), self.number(most))
            }
            (Some(least), None) => format!(" of at least {}", self.number(least)),
            (None, Some(most)) => format!(" of at most {}", self.number(most)),
        };
        Kind::named(noun, Type::Number).with_restriction(restriction)
    }

    fn text(&self, arguments: Arguments<'_>) -> Kind {
        let least = arguments
            .get("min_size", None)
            .map(|size| self.number(size));
        let most = arguments
            .get("max_size", None)
            .map(|size| self.number(size));
        let characters = |count: &str| {
            if count == "1" {
                "character"
            } else {
                "characters"
            }
        };
        let restriction = match (least, most) {
            (None, None) => String::new(),
            (Some(least), Some(most)) => format!(" of {least} to {most} {}", characters(&most)),
            (Some(least), None) => format!(" of at least {least} {}", characters(&least)),
            (None, Some(most)) => format!(" of at most {most} {}", characters(&most)),
        };
        Kind::named("text", Type::Text).with_restriction(restriction)
    }

    /// " of " + size + unique + plural of K + restriction of K.
    fn collection(&self, noun: &str, element: Option<Kind>, arguments: Arguments<'_>) -> Kind {
        let element = element.unwrap_or_else(Kind::unknown);
        let least = arguments
            .get("min_size", None)
            .map(|size| self.number(size));
        let most = arguments
            .get("max_size", None)
            .map(|size| self.number(size));
        let size = match (&least, &most) {
            (None, None) => String::new(),
            (Some(least), Some(most)) => format!("from {least} to {most} "),
            (Some(least), None) => format!("at least {least} "),
            (None, Some(most)) => format!("at most {most} "),
        };
        let is_one = matches!(
            (least.as_deref(), most.as_deref()),
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

    /// " among X, Y and Z".
    pub(super) fn among(&self, elements: &Term) -> Kind {
        let members: Option<Vec<Term>> = match elements {
            Term::Value(Value::List(items) | Value::Tuple(items) | Value::Set(items)) => {
                Some(items.iter().cloned().map(Term::Value).collect())
            }
            Term::Value(Value::Text(text)) => Some(
                text.chars()
                    .map(|character| Value::text(character).into())
                    .collect(),
            ),
            Term::Value(value @ (Value::Nothing | Value::Boolean(_) | Value::Integer(_))) => {
                Some(vec![Term::Value(value.clone())])
            }
            Term::List(items) | Term::Tuple(items) => Some(items.clone()),
            _ => None,
        };
        let kind = match &members {
            Some(members) if !members.is_empty() => {
                let all: Vec<String> = members
                    .iter()
                    .map(|member| join::operand(&self.speaker.noun(member).text))
                    .collect();
                Kind::unknown().with_restriction(format!(" among {}", join::nouns(&all, "and")))
            }
            _ => Kind::unknown()
                .with_restriction(format!(" among {}", self.speaker.noun(elements).text)),
        };
        Kind {
            type_: elements.type_of().element(),
            ..kind
        }
    }

    /// `K.filter(c)` and `K.map(f)`.
    fn adapted(
        &self,
        strategy: &Expression,
        method: &str,
        arguments: Arguments<'_>,
        variable: Option<&Term>,
        depth: usize,
    ) -> Option<Kind> {
        let [function] = arguments.positions else {
            return None;
        };
        match method {
            "filter" => {
                let kind = self.strategy(strategy, variable, depth);
                // A value that has no name of its own is "it", one of several "each".
                let such_that = |word: &str| {
                    let unnamed: Term = Reference::new(word, Role::Phrase).into();
                    let variable = variable.unwrap_or(&unnamed);
                    let condition = self.applied(function, Some(variable), &kind.type_);
                    format!(" such that {}", self.speaker.clause(&condition))
                };
                let restriction = kind.restriction.clone() + &such_that("it");
                let several = kind.several_restriction.clone() + &such_that("each");
                Some(kind.with_restriction(restriction).with_several(several))
            }
            "map" => {
                let kind = self.strategy(strategy, None, depth);
                let restriction = match (&function.kind, last_name(function)) {
                    (_, Some(name)) => {
                        format!(
                            " obtained by \"{}\" from {}",
                            self.speaker.words(name),
                            kind.one()
                        )
                    }
                    (ExpressionKind::Lambda { parameters, .. }, _) => {
                        let result = self
                            .speaker
                            .noun(&self.applied(function, None, &kind.type_))
                            .text;
                        let name = parameters.first().map_or(String::new(), |parameter| {
                            format!(" {}", self.speaker.words(&parameter.name))
                        });
                        let source = crate::words::with_article(&kind.noun);
                        format!(
                            " obtained as {result} from {source}{name}{}",
                            kind.restriction
                        )
                    }
                    _ => format!(" obtained from {}", kind.one()),
                };
                Some(Kind::unknown().with_restriction(restriction))
            }
            "flatmap" => Some(Kind::unknown()),
            _ => None,
        }
    }

    /// A function applied to the variable, or to its own parameter if there is none.
    fn applied(&self, function: &Expression, variable: Option<&Term>, type_: &Type) -> Term {
        let own =
            |name: &str| Term::from(Reference::new(name, Role::Variable).with_type(type_.clone()));
        // Whatever the generator gives is what the variable is.
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
                Term::read(
                    body,
                    self.text,
                    &With {
                        name,
                        value: &value,
                        scope: self.scope,
                    },
                )
            }
            _ => {
                let argument = variable.unwrap_or_else(|| own("value"));
                match last_name(function) {
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
struct With<'a> {
    name: &'a str,
    value: &'a Term,
    scope: &'a dyn Scope,
}

impl Scope for With<'_> {
    fn name(&self, name: &str) -> Option<Term> {
        if name == self.name {
            Some(self.value.clone())
        } else {
            self.scope.name(name)
        }
    }

    fn attribute(&self, object: &str, name: &str) -> Option<Term> {
        if object == self.name {
            None
        } else {
            self.scope.attribute(object, name)
        }
    }

    fn call(&self, call: &Call) -> Option<Term> {
        self.scope.call(call)
    }

    fn is_module(&self, name: &str) -> bool {
        name != self.name && self.scope.is_module(name)
    }
}
