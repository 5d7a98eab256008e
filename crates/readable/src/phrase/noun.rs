//! Noun phrases (3.5) of everything but calls and parts of collections.

use super::filled::{self, TEXT_OF};
use super::{Fallback, Noun, Polarity, Speaker, Tense, join};
use crate::quotation;
use crate::term::{Binding, Clause, Form, Operator, Reference, Role, Term, Type, UnaryOperator};
use crate::value::Value;

/// How many parts an operand may have to be said twice in one phrase. Phrases would double with every level of
/// nesting otherwise.
pub(super) const LARGEST_SAID_TWICE: usize = 16;

impl Speaker<'_> {
    /// The noun phrase of a term (NP).
    #[must_use]
    pub fn noun(&self, term: &Term) -> Noun {
        match self.deeper() {
            Some(deeper) => deeper.noun_inside(term),
            None => self.leak(&Term::Source("...".to_owned())),
        }
    }

    fn noun_inside(&self, term: &Term) -> Noun {
        if let Some(noun) = self.vocabulary.value(term, self) {
            self.note();
            return noun;
        }
        match term {
            Term::Value(value) => self.constant(value),
            Term::Reference(reference) => self.reference(reference),
            _ => match self.specific(term) {
                Some(noun) => {
                    self.note();
                    noun
                }
                None => self.leak(term),
            },
        }
    }

    /// P1, P2, and P25 for constant bounds.
    fn constant(&self, value: &Value) -> Noun {
        match value {
            Value::List(items)
            | Value::Tuple(items)
            | Value::Set(items)
            | Value::FrozenSet(items)
                if items.is_empty() =>
            {
                Noun::one(self.value(value))
            }
            Value::Dictionary(entries) if entries.is_empty() => Noun::one(self.value(value)),
            Value::Range { .. } => Noun::several(self.notation(value)),
            _ => Noun::one(self.notation(value)),
        }
    }

    /// P42.
    fn leak(&self, term: &Term) -> Noun {
        self.note_fallback(Fallback::Source, term);
        let code = quotation::quoted(&term.to_python());
        Noun::one(format!("the Python expression {code}"))
    }

    fn specific(&self, term: &Term) -> Option<Noun> {
        if term.is_condition() {
            return Some(self.whether(term));
        }
        match term {
            Term::List(items) => Some(self.list(items)),
            Term::Tuple(items) if items.len() == 2 => Some(self.display("the pair of", items)),
            Term::Tuple(items) => Some(self.display("the group of", items)),
            Term::Set(items) => Some(self.display("the set of", items)),
            Term::Dictionary(entries) => self.dictionary(entries),
            Term::Attribute { object, name } => {
                let words = self.words(name);
                // "The is empty of x" has a verb too many, unless it is seen to be a name.
                if crate::words::begins_with_verb(&words) && !self.vocabulary.has_name(name) {
                    let object = self.noun(object).text;
                    return Some(Noun::one(format!("the \"{words}\" flag of {object}")));
                }
                Some(Noun {
                    plural: crate::words::is_plural(&words),
                    text: format!("the {words} of {}", self.noun(object).text),
                })
            }
            Term::Item { object, index } => Some(self.item(object, index)),
            Term::Slice {
                object,
                start,
                stop,
                step,
            } => self.slice(object, start.as_deref(), stop.as_deref(), step.as_deref()),
            Term::Call(call) => Some(self.call(term, call)),
            Term::Unary { operator, operand } => self.sign(*operator, operand),
            Term::Binary {
                left,
                operator,
                right,
            } => self.binary(left, *operator, right),
            Term::Or(operands) => Some(self.alternative(operands)),
            Term::And(operands) => self.last_if_all(operands),
            Term::Conditional {
                condition,
                then,
                otherwise,
            } => Some(self.conditional(condition, then, otherwise)),
            Term::Lambda { parameters, body } => Some(self.lambda(parameters, body)),
            Term::Comprehension {
                form,
                element,
                clauses,
            } => Some(self.comprehension(*form, element, clauses)),
            Term::DictionaryComprehension {
                key,
                value,
                clauses,
            } => Some(Noun::one(format!(
                "a dictionary in which {} is {} for {}",
                self.noun(key).text,
                self.noun(value).text,
                self.each("each", clauses, Tense::Present)
            ))),
            Term::Formatted(pieces) => Some(self.display(TEXT_OF, pieces)),
            Term::Starred(inner) => Some(Noun::several(format!(
                "the elements of {}",
                self.noun(inner).text
            ))),
            Term::Earlier(inner) => {
                let inner = self.noun(inner);
                Some(Noun {
                    text: format!("{} before the step", inner.text),
                    ..inner
                })
            }
            Term::Not(_) | Term::Compare { .. } => Some(self.whether(term)),
            Term::Value(_) | Term::Reference(_) | Term::Source(_) => None,
        }
    }

    /// P40.
    pub(super) fn whether(&self, term: &Term) -> Noun {
        Noun::one(format!("whether {}", self.clause(term)))
    }

    /// P3.
    fn list(&self, items: &[Term]) -> Noun {
        let just = if items.len() == 1 { "just " } else { "" };
        Noun::one(format!("a list with {just}{}", self.operands(items)))
    }

    /// P4, P35.
    pub(super) fn display(&self, what: &str, items: &[Term]) -> Noun {
        Noun::one(format!("{what} {}", self.operands(items)))
    }

    /// P4; entries on top of another dictionary's: `{**d, key: value}`.
    fn dictionary(&self, entries: &[(Option<Term>, Term)]) -> Option<Noun> {
        if let [(None, base), changed @ ..] = entries {
            let changed: Option<Vec<String>> = changed
                .iter()
                .map(|(key, value)| {
                    Some(format!(
                        "the entry for {} set to {}",
                        self.operand(key.as_ref()?),
                        self.operand(value)
                    ))
                })
                .collect();
            let base = self.noun(base);
            return match changed?.as_slice() {
                [] => Some(base),
                changed => Some(Noun {
                    text: format!("{} with {}", base.text, join::nouns(changed, "and")),
                    ..base
                }),
            };
        }
        let entries: Option<Vec<String>> = entries
            .iter()
            .map(|(key, value)| {
                Some(format!(
                    "{} is {}",
                    self.operand(key.as_ref()?),
                    self.operand(value)
                ))
            })
            .collect();
        let entries = join::clauses(&entries?, "and");
        Some(Noun::one(format!("a dictionary in which {entries}")))
    }

    /// P10.
    fn sign(&self, operator: UnaryOperator, operand: &Term) -> Option<Noun> {
        match operator {
            UnaryOperator::Minus => {
                let text = bracketed(&self.noun(operand).text, binding(operand) < Binding::Sign);
                Some(Noun::one(format!("minus {text}")))
            }
            UnaryOperator::Plus => Some(self.noun(operand)),
            UnaryOperator::Invert | UnaryOperator::Not => None,
        }
    }

    /// P6 to P9.
    fn binary(&self, left: &Term, operator: Operator, right: &Term) -> Option<Noun> {
        let (left_type, right_type) = (left.type_of(), right.type_of());
        let sets = matches!(left_type, Type::Set(_)) || matches!(right_type, Type::Set(_));
        let maybe_sets = sets || (left_type == Type::Unknown && right_type == Type::Unknown);
        let is_sum = left_type == Type::Number || right_type == Type::Number;
        let joins = (left_type.is_sequence() || right_type.is_sequence()) && !is_sum;
        let is_one = right
            .as_value()
            .is_some_and(|value| *value == Value::integer(1));
        match operator {
            Operator::BitOr if maybe_sets => {
                return Some(Noun::several(format!(
                    "the elements of {}",
                    self.enumerated(left, "or", right)
                )));
            }
            Operator::BitAnd if maybe_sets => {
                return Some(Noun::several(format!(
                    "the elements common to {}",
                    self.enumerated(left, "and", right)
                )));
            }
            Operator::Remainder if left_type == Type::Text => {
                if let Some(Value::Text(template)) = left.as_value()
                    && let Some(pieces) = filled::by_percent(template, right)
                {
                    return Some(self.display(TEXT_OF, &pieces));
                }
                // What goes where is not worth a reader's time.
                return Some(Noun::one(format!(
                    "{TEXT_OF} {}",
                    self.enumerated(left, "and", right)
                )));
            }
            Operator::BitOr
            | Operator::BitAnd
            | Operator::BitXor
            | Operator::MatrixMultiply
            | Operator::ShiftLeft
            | Operator::ShiftRight => return None,
            _ => {}
        }
        let parent = Binding::of(operator);
        let subject = self.noun(left);
        let a = bracketed(&subject.text, binding(left) < parent);
        if is_one && !joins && !sets && matches!(operator, Operator::Add | Operator::Subtract) {
            let more = if operator == Operator::Add {
                "more"
            } else {
                "less"
            };
            return Some(Noun::one(format!("one {more} than {a}")));
        }
        let b = bracketed(&self.noun(right).text, binding(right) <= parent);
        let plural = subject.plural;
        Some(match operator {
            Operator::Add if joins => Noun {
                text: format!("{a} followed by {b}"),
                plural,
            },
            Operator::Subtract if sets => Noun {
                text: format!("{a} without the elements of {b}"),
                plural,
            },
            Operator::Add => Noun::one(format!("{a} plus {b}")),
            Operator::Subtract => Noun::one(format!("{a} minus {b}")),
            Operator::Multiply => Noun::one(format!("{a} times {b}")),
            Operator::Divide => Noun::one(format!("{a} divided by {b}")),
            Operator::FloorDivide => Noun::one(format!("{a} divided by {b} (rounded down)")),
            Operator::Remainder => Noun::one(format!("the remainder of {a} divided by {b}")),
            _ => Noun::one(format!("{a} to the power of {b}")),
        })
    }

    fn enumerated(&self, left: &Term, word: &str, right: &Term) -> String {
        format!("{} {word} {}", self.operand(left), self.operand(right))
    }

    /// P33.
    fn conditional(&self, condition: &Term, then: &Term, otherwise: &Term) -> Noun {
        Noun::one(format!(
            "({} if {}, otherwise {})",
            self.noun(then).text,
            self.behind_if().clause(condition),
            self.noun(otherwise).text
        ))
    }

    /// A choice between values rather than a condition: `name or "nobody"`.
    fn alternative(&self, operands: &[Term]) -> Noun {
        let operands: Vec<String> = operands
            .iter()
            .map(|operand| self.operand(operand))
            .collect();
        Noun::one(format!("({})", operands.join(", or else ")))
    }

    /// `a and b` is b if a counts as true, otherwise a. That says a twice, so it must not be large.
    fn last_if_all(&self, operands: &[Term]) -> Option<Noun> {
        let [before @ .., last] = operands else {
            return None;
        };
        if before
            .iter()
            .any(|operand| operand.size() > LARGEST_SAID_TWICE)
        {
            return None;
        }
        let mut text = self.noun(last).text;
        for operand in before.iter().rev() {
            let (condition, otherwise) =
                (self.behind_if().clause(operand), self.noun(operand).text);
            text = format!("({text} if {condition}, otherwise {otherwise})");
        }
        Some(Noun::one(text))
    }

    /// P34.
    fn lambda(&self, parameters: &[String], body: &Term) -> Noun {
        let body = self.noun(body).text;
        if parameters.is_empty() {
            return Noun::one(format!("a rule that gives {body}"));
        }
        Noun::one(format!(
            "a rule that turns {} into {body}",
            self.names(parameters)
        ))
    }

    /// Names that are bound together: "k and v" (R5).
    pub(super) fn names(&self, names: &[String]) -> String {
        let names: Vec<String> = names.iter().map(|name| self.words(name)).collect();
        join::nouns(&names, "and")
    }

    /// P30, P31.
    fn comprehension(&self, form: Form, element: &Term, clauses: &[Clause]) -> Noun {
        if let ([clause], Form::List | Form::Generator) = (clauses, form)
            && clause.is_element(element)
        {
            return match self.such_that(clause, Tense::Present) {
                None => self.noun(&clause.iterable),
                Some(condition) => Noun::several(format!(
                    "the elements {} of {}{condition}",
                    self.names(&clause.targets),
                    self.noun(&clause.iterable).text
                )),
            };
        }
        let what = if form == Form::Set { "set" } else { "list" };
        Noun::one(format!(
            "the {what} of {} for {}",
            self.noun(element).text,
            self.each("each", clauses, Tense::Present)
        ))
    }

    /// "each v in X such that C", for all clauses of a comprehension.
    pub(super) fn each(&self, each: &str, clauses: &[Clause], tense: Tense) -> String {
        let clauses: Vec<String> = clauses
            .iter()
            .map(|clause| {
                let condition = self.such_that(clause, tense).unwrap_or_default();
                let (names, iterable) = (
                    self.names(&clause.targets),
                    self.noun(&clause.iterable).text,
                );
                format!("{each} {names} in {iterable}{condition}")
            })
            .collect();
        join::nouns(&clauses, "and")
    }

    /// " such that C", if there is a condition.
    pub(super) fn such_that(&self, clause: &Clause, tense: Tense) -> Option<String> {
        if clause.conditions.is_empty() {
            return None;
        }
        let conditions: Vec<String> = clause
            .conditions
            .iter()
            .map(|condition| self.say(condition, Polarity::Positive, tense))
            .collect();
        Some(format!(" such that {}", join::clauses(&conditions, "and")))
    }
}

impl Clause {
    /// Whether a term is nothing but what the clause binds.
    pub(super) fn is_element(&self, term: &Term) -> bool {
        matches!(
            (term, self.targets.as_slice()),
            (Term::Reference(Reference { name, role: Role::Variable, .. }), [target]) if name == target
        )
    }
}

fn bracketed(text: &str, brackets: bool) -> String {
    if brackets {
        format!("({text})")
    } else {
        text.to_owned()
    }
}

/// How tightly the phrase of a term holds together: a conditional has parentheses of its own, and what is phrased as
/// something else binds like that.
fn binding(term: &Term) -> Binding {
    match term {
        Term::Conditional { .. } => Binding::Atom,
        Term::And(_) | Term::Or(_) if !term.is_condition() => Binding::Atom,
        Term::Unary {
            operator: UnaryOperator::Plus,
            operand,
        } => binding(operand),
        Term::Call(call) => call.copied().map_or(Binding::Atom, binding),
        _ => term.binding(),
    }
}

#[cfg(test)]
mod tests {
    use crate::phrase::testing::np;

    #[test]
    fn p1_literals_are_bare() {
        assert_eq!(np("5"), "5");
        assert_eq!(np("-2.5"), "-2.5");
        assert_eq!(np("None"), "nothing");
        assert_eq!(np("'a'"), "\"a\"");
        assert_eq!(np("''"), "\"\"");
        assert_eq!(np("[1, [], 'x']"), "[1, [], \"x\"]");
        assert_eq!(np("{'k': (1,)}"), "{\"k\": (1)}");
        assert_eq!(np("2 * 3 + 1"), "7");
        assert_eq!(np("Colour.RED"), "the colour RED");
        assert_eq!(np("Colour.RED.value"), "the value of the colour RED");
        assert_eq!(np("len(NAMES) - 1"), "1");
        assert_eq!(np("NAMES[0]"), "\"a\"");
    }

    #[test]
    fn p2_empty_literals() {
        assert_eq!(np("[]"), "the empty list");
        assert_eq!(np("list()"), "the empty list");
        assert_eq!(np("()"), "the empty group");
        assert_eq!(np("set()"), "the empty set");
        assert_eq!(np("frozenset()"), "the empty fixed set");
        assert_eq!(np("{}"), "the empty dictionary");
        assert_eq!(np("dict()"), "the empty dictionary");
    }

    #[test]
    fn p3_list_displays() {
        assert_eq!(np("[x]"), "a list with just x");
        assert_eq!(np("[x, 1]"), "a list with x and 1");
        assert_eq!(np("[x, y, z]"), "a list with x, y and z");
        assert_eq!(np("[*xs, y]"), "a list with the elements of xs and y");
    }

    #[test]
    fn p4_other_displays() {
        assert_eq!(np("(x, 1)"), "the pair of x and 1");
        assert_eq!(np("(x, y, z)"), "the group of x, y and z");
        assert_eq!(np("{x, 1}"), "the set of x and 1");
        assert_eq!(np("{**d, 'a': x}"), "d with the entry for \"a\" set to x");
        assert_eq!(np("{**regs}"), "the regs (plural)");
        assert_eq!(np("{'a': x}"), "a dictionary in which \"a\" is x");
        assert_eq!(
            np("{'a': x, 'b': 2}"),
            "a dictionary in which \"a\" is x and \"b\" is 2"
        );
    }

    #[test]
    fn p5_attributes() {
        assert_eq!(np("x.balance"), "the balance of x");
        assert_eq!(np("x.owner.lastName"), "the last name of the owner of x");
        assert_eq!(np("x.items"), "the items of x (plural)");
        assert_eq!(np("x.is_open"), "the \"is open\" flag of x");
    }

    #[test]
    fn p6_one_more_and_one_less() {
        assert_eq!(np("x + 1"), "one more than x");
        assert_eq!(np("x - 1"), "one less than x");
        assert_eq!(np("1 + x"), "1 plus x");
        assert_eq!(np("(x + 1) * 2"), "(one more than x) times 2");
        assert_eq!(
            np("len(xs) + 1"),
            "one more than the number of elements in xs"
        );
    }

    #[test]
    fn p7_arithmetic() {
        assert_eq!(np("a + b"), "a plus b");
        assert_eq!(np("a - b"), "a minus b");
        assert_eq!(np("a * b"), "a times b");
        assert_eq!(np("a / b"), "a divided by b");
        assert_eq!(np("a // b"), "a divided by b (rounded down)");
        assert_eq!(np("a % b"), "the remainder of a divided by b");
        assert_eq!(np("a ** b"), "a to the power of b");
    }

    #[test]
    fn nesting_of_arithmetic() {
        assert_eq!(np("(a + b) * c"), "(a plus b) times c");
        assert_eq!(np("a + b * c"), "a plus b times c");
        assert_eq!(np("a - (b - c)"), "a minus (b minus c)");
        assert_eq!(np("a - b - c"), "a minus b minus c");
        assert_eq!(
            np("a ** (b ** c)"),
            "a to the power of (b to the power of c)"
        );
        assert_eq!(
            np("a * (b % c)"),
            "a times (the remainder of b divided by c)"
        );
        assert_eq!(np("a - (b + 1)"), "a minus (one more than b)");
        assert_eq!(np("a * len(xs)"), "a times the number of elements in xs");
        assert_eq!(
            np("a * (b if c else 1)"),
            "a times (b if c is set, otherwise 1)"
        );
        assert_eq!(np("a + (b < c)"), "a plus (whether b is less than c)");
        assert_eq!(np("-x ** 2"), "minus x to the power of 2");
        assert_eq!(np("(-x) ** 2"), "(minus x) to the power of 2");
    }

    #[test]
    fn p8_one_behind_the_other() {
        assert_eq!(np("xs + ys"), "xs followed by ys");
        assert_eq!(np("x + [y]"), "x followed by a list with just y");
        assert_eq!(np("s + 'a'"), "s followed by \"a\"");
        assert_eq!(
            np("plates + [x]"),
            "the plates followed by a list with just x (plural)"
        );
        assert_eq!(np("xs + (ys + xs)"), "xs followed by (ys followed by xs)");
    }

    #[test]
    fn p9_sets() {
        assert_eq!(np("u - v"), "u without the elements of v");
        assert_eq!(np("u | v"), "the elements of u or v (plural)");
        assert_eq!(np("u & v"), "the elements common to u and v (plural)");
        assert_eq!(np("u.union(v)"), "the elements of u or v (plural)");
        assert_eq!(
            np("(u | v) - u"),
            "(the elements of u or v) without the elements of u (plural)"
        );
    }

    #[test]
    fn p10_minus() {
        assert_eq!(np("-x"), "minus x");
        assert_eq!(np("-(a + b)"), "minus (a plus b)");
        assert_eq!(np("+x"), "x");
    }

    #[test]
    fn p30_selected_elements() {
        assert_eq!(
            np("[i for i in xs if i > 1]"),
            "the elements i of xs such that i is greater than 1 (plural)"
        );
        assert_eq!(np("[i for i in xs]"), "xs");
        assert_eq!(
            np("list(i for i in xs if i > 1 if i < 5)"),
            "the elements i of xs such that i is greater than 1 and i is less than 5 (plural)"
        );
    }

    #[test]
    fn p31_lists_of_something() {
        assert_eq!(
            np("[i * 2 for i in xs]"),
            "the list of i times 2 for each i in xs"
        );
        assert_eq!(
            np("[i * 2 for i in xs if i]"),
            "the list of i times 2 for each i in xs such that i is set"
        );
        assert_eq!(
            np("{i * 2 for i in xs}"),
            "the set of i times 2 for each i in xs"
        );
        assert_eq!(
            np("set(i * 2 for i in xs)"),
            "the set of i times 2 for each i in xs"
        );
        assert_eq!(
            np("[k for k, x in d.items() if x]"),
            "the list of k for each k and x in the entries of d such that x is set"
        );
        assert_eq!(
            np("[i + k for i in xs for k in ys]"),
            "the list of i plus k for each i in xs and each k in ys"
        );
        assert_eq!(
            np("{k: 1 for k in xs}"),
            "a dictionary in which k is 1 for each k in xs"
        );
    }

    #[test]
    fn p33_conditional() {
        assert_eq!(np("a if c else b"), "(a if c is set, otherwise b)");
        assert_eq!(
            np("a if x > 1 else 0"),
            "(a if x is greater than 1, otherwise 0)"
        );
        assert_eq!(np("a if True else b"), "a");
    }

    #[test]
    fn p34_rules() {
        assert_eq!(
            np("lambda v: v + 1"),
            "a rule that turns v into one more than v"
        );
        assert_eq!(np("lambda p, q: p"), "a rule that turns p and q into p");
        assert_eq!(np("lambda: x"), "a rule that gives x");
    }

    #[test]
    fn p35_formatted_texts() {
        assert_eq!(np("f'{x}-{y}'"), "the text made of x, \"-\" and y");
        assert_eq!(np("f'plain'"), "\"plain\"");
        assert_eq!(np("'%s!' % x"), "the text made of x and \"!\"");
    }

    #[test]
    fn p40_conditions_as_values() {
        assert_eq!(np("x == y"), "whether x equals y");
        assert_eq!(np("not x"), "whether x is not set");
        assert_eq!(
            np("x in xs and flag"),
            "whether x is in xs and flag is true"
        );
        assert_eq!(np("isinstance(x, int)"), "whether x is a whole number");
        assert_eq!(np("x.startswith('a')"), "whether x starts with \"a\"");
    }

    #[test]
    fn choices_between_values_are_no_conditions() {
        assert_eq!(np("x or 'nobody'"), "(x, or else \"nobody\")");
        assert_eq!(
            np("xs and xs[0]"),
            "(the first element of xs if xs is not empty, otherwise xs)"
        );
    }

    #[test]
    fn p41_earlier_values() {
        assert_eq!(
            np("pre(len(xs))"),
            "the number of elements in xs before the step"
        );
    }

    #[test]
    fn p42_anything_else() {
        assert_eq!(np("x @ y"), "the Python expression \"x @ y\"");
        assert_eq!(np("~(x << 2)"), "the Python expression \"~(x << 2)\"");
        assert_eq!(np("xs[::2]"), "the Python expression \"xs[::2]\"");
        assert_eq!(np("(yield)"), "the Python expression \"yield\"");
    }
}
