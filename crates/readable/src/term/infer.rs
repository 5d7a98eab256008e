//! Type inference for terms: from literals, start values, annotations, generators and built-ins.

use super::{CallTarget, CallTerm, ComprehensionKind, Operator, Term, Type};
use crate::value::PythonValue;

impl Term {
    /// Returns the type, as far as it is known.
    #[must_use]
    pub fn type_of(&self) -> Type {
        match self {
            Self::Value(value) => Type::of_value(value),
            Self::Reference(reference) => reference.type_.clone(),
            Self::List(items) => {
                Type::List(Box::new(Type::unify_all(items.iter().map(Self::type_of))))
            }
            Self::Tuple(items) => Type::Tuple(items.iter().map(Self::type_of).collect()),
            Self::Set(items) => {
                Type::Set(Box::new(Type::unify_all(items.iter().map(Self::type_of))))
            }
            Self::Dictionary(_) | Self::DictionaryComprehension { .. } => Type::dictionary(),
            Self::Item { object, index } => item_type(object, index),
            Self::Slice { object, .. } => match object.type_of() {
                Type::Tuple(_) => Type::Tuple(Vec::new()),
                other => other,
            },
            Self::Call(call) => call.type_of(),
            Self::Unary { operand, .. } => operand.type_of(),
            Self::Not(_) | Self::Compare { .. } => Type::Boolean,
            Self::Binary {
                left,
                operator,
                right,
            } => binary_type(left, *operator, right),
            Self::And(operands) | Self::Or(operands) => {
                Type::unify_all(operands.iter().map(Self::type_of))
            }
            Self::Conditional {
                then, otherwise, ..
            } => then.type_of().unify(otherwise.type_of()),
            Self::Comprehension {
                form: ComprehensionKind::Set,
                element,
                ..
            } => Type::Set(Box::new(element.type_of())),
            Self::Comprehension { element, .. } => Type::List(Box::new(element.type_of())),
            Self::Formatted(_) => Type::Text,
            Self::Earlier(inner) => inner.type_of(),
            Self::Attribute { .. } | Self::Lambda { .. } | Self::Starred(_) | Self::Source(_) => {
                Type::Unknown
            }
        }
    }
}

impl Term {
    /// Returns true if it is a condition wherever it stands (P40: as a value it reads "whether …"):
    /// a comparison, a connective of conditions, or a built-in that asks something. `a or b` is one
    /// if one operand is and the others may be.
    #[must_use]
    pub fn is_condition(&self) -> bool {
        match self {
            Self::Not(_) | Self::Compare { .. } => true,
            Self::And(operands) | Self::Or(operands) => {
                let is_possible =
                    |term: &Self| matches!(term.type_of(), Type::Boolean | Type::Unknown);
                let is_certain =
                    |term: &Self| term.type_of() == Type::Boolean || term.is_condition();
                operands.iter().all(is_possible) && operands.iter().any(is_certain)
            }
            Self::Call(call) => call.type_of() == Type::Boolean,
            _ => false,
        }
    }
}

/// Infers the type of `object[index]`.
fn item_type(object: &Term, index: &Term) -> Type {
    match object.type_of() {
        Type::Dictionary(_, value) => *value,
        Type::Tuple(items) => index
            .as_value()
            .and_then(PythonValue::as_integer)
            .and_then(|index| usize::try_from(index).ok())
            .and_then(|index| items.get(index).cloned())
            .unwrap_or_default(),
        other => other.element(),
    }
}

/// Infers the type of an operation.
fn binary_type(left: &Term, operator: Operator, right: &Term) -> Type {
    let (left, right) = (left.type_of(), right.type_of());
    match operator {
        Operator::Add if left.is_sequence() => left.concatenate(right),
        Operator::Add if right.is_sequence() => right,
        Operator::Remainder if left == Type::Text => Type::Text,
        Operator::Multiply if left.is_sequence() => left,
        Operator::Multiply if right.is_sequence() => right,
        Operator::Subtract | Operator::BitAnd | Operator::BitOr | Operator::BitXor
            if matches!(left, Type::Set(_)) || matches!(right, Type::Set(_)) =>
        {
            if matches!(left, Type::Set(_)) {
                left
            } else {
                right
            }
        }
        Operator::BitOr if matches!(left, Type::Dictionary(..)) => left,
        Operator::Divide | Operator::FloorDivide | Operator::Power => Type::Number,
        _ if left == Type::Number || right == Type::Number => Type::Number,
        _ => Type::Unknown,
    }
}

impl CallTerm {
    /// Infers the type of the result of a call.
    fn type_of(&self) -> Type {
        let first = self
            .arguments
            .first()
            .map(Term::type_of)
            .unwrap_or_default();
        match &self.callee {
            CallTarget::Function { module: None, name } => match name.as_str() {
                "len" | "abs" | "round" | "int" | "float" | "ord" | "hash" | "id" => Type::Number,
                "sum" if !first.element().is_sequence() => Type::Number,
                "str" | "repr" | "chr" | "ascii" | "bin" | "hex" | "oct" | "format" | "input" => {
                    Type::Text
                }
                "bool" | "isinstance" | "issubclass" | "callable" | "hasattr" | "all" | "any" => {
                    Type::Boolean
                }
                "list" | "sorted" | "reversed" | "filter" => Type::List(Box::new(first.element())),
                "tuple" => match first {
                    Type::Tuple(_) => first,
                    _ => Type::Tuple(Vec::new()),
                },
                "set" | "frozenset" => Type::Set(Box::new(first.element())),
                "dict" => match first {
                    Type::Dictionary(..) => first,
                    _ => Type::dictionary(),
                },
                "range" => Type::List(Box::new(Type::Number)),
                "map" => Type::list(),
                "zip" => {
                    let items = self
                        .arguments
                        .iter()
                        .map(|argument| argument.type_of().element());
                    Type::List(Box::new(Type::Tuple(items.collect())))
                }
                "enumerate" => {
                    Type::List(Box::new(Type::Tuple(vec![Type::Number, first.element()])))
                }
                "max" | "min" if self.arguments.len() == 1 => first.element(),
                "max" | "min" => Type::unify_all(self.arguments.iter().map(Term::type_of)),
                "bytes" => Type::Bytes,
                _ => self.constructed_type(name),
            },
            CallTarget::Function {
                module: Some(module),
                name,
            } => match (module.as_str(), name.as_str()) {
                ("copy", "copy" | "deepcopy") => first,
                ("math", "isclose" | "isnan" | "isinf" | "isfinite") => Type::Boolean,
                ("math", _) => Type::Number,
                _ => self.constructed_type(name),
            },
            CallTarget::Method { object, name } => {
                let constructed = self.constructed_type(name);
                if constructed == Type::Unknown {
                    method_type(&object.type_of(), name)
                } else {
                    constructed
                }
            }
            CallTarget::Other(_) => Type::Unknown,
        }
    }

    /// Returns the type that a constructor makes.
    fn constructed_type(&self, name: &str) -> Type {
        if is_class_name(name) {
            Type::Object(name.to_owned())
        } else {
            Type::Unknown
        }
    }
}

/// Returns true if a name is written like a class (P36: calling it makes something new): a capital
/// first, a small letter somewhere.
pub(crate) fn is_class_name(name: &str) -> bool {
    let name = name.trim_start_matches('_');
    name.starts_with(char::is_uppercase) && name.contains(char::is_lowercase)
}

/// Infers the type of the result of a method of a built-in type.
fn method_type(object: &Type, name: &str) -> Type {
    match (object, name) {
        (Type::Text | Type::Unknown, "upper" | "lower" | "strip") => Type::Text,
        (Type::Text | Type::Unknown, "split") => Type::List(Box::new(Type::Text)),
        (Type::Text | Type::Unknown, "startswith" | "endswith") => Type::Boolean,
        (
            Type::Text,
            "lstrip" | "rstrip" | "title" | "capitalize" | "casefold" | "swapcase" | "replace"
            | "join" | "format" | "center" | "ljust" | "rjust" | "zfill" | "expandtabs"
            | "translate" | "removeprefix" | "removesuffix",
        ) => Type::Text,
        (Type::Text, "splitlines" | "rsplit") => Type::List(Box::new(Type::Text)),
        (Type::Text, "find" | "rfind" | "rindex") => Type::Number,
        (Type::Text, "encode") => Type::Bytes,
        (Type::Text, _) if name.starts_with("is") => Type::Boolean,
        (Type::Object(_), _) => Type::Unknown,
        (_, "count" | "index") => Type::Number,
        (_, "copy") => object.clone(),
        (Type::Dictionary(key, _), "keys") => Type::List(key.clone()),
        (Type::Dictionary(_, value), "values") => Type::List(value.clone()),
        (Type::Dictionary(key, value), "items") => Type::List(Box::new(Type::Tuple(vec![
            (**key).clone(),
            (**value).clone(),
        ]))),
        (Type::Dictionary(_, value), "get" | "pop" | "setdefault") => (**value).clone(),
        (Type::Unknown, "keys" | "values" | "items") => Type::list(),
        (Type::List(element) | Type::Set(element), "pop") => (**element).clone(),
        (Type::Set(_), "union" | "intersection" | "difference" | "symmetric_difference") => {
            object.clone()
        }
        (Type::Set(_), "issubset" | "issuperset" | "isdisjoint") => Type::Boolean,
        _ => Type::Unknown,
    }
}

/// The built-in functions that have a phrase of their own.
pub(crate) const PHRASED_BUILT_INS: [&str; 23] = [
    "list",
    "set",
    "dict",
    "tuple",
    "frozenset",
    "reversed",
    "len",
    "sorted",
    "sum",
    "max",
    "min",
    "abs",
    "round",
    "str",
    "int",
    "float",
    "range",
    "all",
    "any",
    "isinstance",
    "bool",
    "zip",
    "enumerate",
];

impl CallTerm {
    /// Returns true if only the system under test knows what is called; see
    /// [`Term::is_unknown_call`].
    #[must_use]
    pub fn is_unknown(&self) -> bool {
        match &self.callee {
            CallTarget::Function { module: None, name } => {
                !PHRASED_BUILT_INS.contains(&name.as_str()) && !is_class_name(name)
            }
            CallTarget::Function {
                module: Some(module),
                name,
            } => !super::build::PURE_MODULES.contains(&module.as_str()) && !is_class_name(name),
            CallTarget::Method { object, name } => {
                !object.type_of().is_built_in() && !is_class_name(name)
            }
            CallTarget::Other(_) => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phrase::testing::term;

    #[test]
    fn types_are_inferred() {
        let texts = || Type::List(Box::new(Type::Text));
        for (text, expected) in [
            ("1", Type::Number),
            ("x", Type::Unknown),
            ("len(x)", Type::Number),
            ("x + 1", Type::Number),
            ("x / y", Type::Number),
            ("x + [1]", Type::List(Box::new(Type::Number))),
            ("s.split()", texts()),
            ("s.split()[0]", Type::Text),
            ("s[0]", Type::Text),
            ("sorted(s)", texts()),
            ("[s for i in xs]", texts()),
            ("u | v", Type::set()),
            ("{x: 1}", Type::dictionary()),
            ("(1, s)[1]", Type::Text),
            ("x < y", Type::Boolean),
            ("s if x else t", Type::Text),
            ("s if x else 1", Type::Unknown),
            ("max('ab', s)", Type::Text),
            ("Account(1)", Type::Object("Account".into())),
            ("pre(s)", Type::Text),
            ("f(x)", Type::Unknown),
            ("tree.count(x)", Type::Unknown),
            ("sum(xs)", Type::Number),
        ] {
            assert_eq!(term(text).type_of(), expected, "{text}");
        }
        let pairs = term("[b for a, b in zip(xs, s)]");
        assert_eq!(pairs.type_of(), texts());
    }

    #[test]
    fn unknown_calls() {
        for text in [
            "f(x)",
            "lib.f(x)",
            "tree.insert(x)",
            "x.upper()",
            "ord(s)",
            "divmod(x, y)",
            "f(x)(y)",
        ] {
            assert!(term(text).is_unknown_call(), "{text}");
        }
        for text in [
            "len(x)",
            "s.upper()",
            "xs.index(x)",
            "math.sqrt(x)",
            "Account(x)",
            "lib.Account(x)",
            "x",
            "x + y",
        ] {
            assert!(!term(text).is_unknown_call(), "{text}");
        }
    }

    #[test]
    fn p40_conditions() {
        for text in [
            "x < y",
            "not x",
            "x in xs and y",
            "all(xs)",
            "isinstance(x, int)",
            "s.isdigit()",
            "flag or x",
        ] {
            assert!(term(text).is_condition(), "{text}");
        }
        for text in [
            "x",
            "flag",
            "x or 'a'",
            "f(x)",
            "len(x)",
            "x or y",
            "xs and xs[0]",
        ] {
            assert!(!term(text).is_condition(), "{text}");
        }
    }
}
