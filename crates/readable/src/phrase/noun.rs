//! Noun phrases of all terms but calls and parts of collections.

use super::format_text::{self, TEXT_OF};
use super::{Fallback, Noun, Phraser, Polarity, Tense, join};
use crate::quotation;
use crate::term::{
    ComprehensionKind, ForClause, NameReference, NameRole, Operator, Precedence, Term, Type,
    UnaryOperator,
};
use crate::value::PythonValue;

/// The largest operand that a phrase may mention twice. Phrases would double with every level of
/// nesting otherwise.
pub(super) const MAX_REPEATED_SIZE: usize = 16;

impl Phraser<'_> {
    /// Phrases a term as a noun.
    #[must_use]
    pub fn noun(&self, term: &Term) -> Noun {
        match self.nested() {
            Some(deeper) => deeper.noun_inside(term),
            None => self.source_noun(&Term::Source("...".to_owned())),
        }
    }

    /// Phrases a noun one level deeper. Idioms come first, then constants and names, then the rule
    /// for the kind of term.
    fn noun_inside(&self, term: &Term) -> Noun {
        if let Some(noun) = self.vocabulary.value(term, self) {
            self.record_specific();
            return noun;
        }
        match term {
            Term::Value(value) => self.constant(value),
            Term::Reference(reference) => self.reference(reference),
            _ => match self.specific_noun(term) {
                Some(noun) => {
                    self.record_specific();
                    noun
                }
                None => self.source_noun(term),
            },
        }
    }

    /// Phrases a constant (P1: bare notation; P2: "the empty list"; P25: a range of numbers).
    fn constant(&self, value: &PythonValue) -> Noun {
        match value {
            PythonValue::List(items)
            | PythonValue::Tuple(items)
            | PythonValue::Set(items)
            | PythonValue::FrozenSet(items)
                if items.is_empty() =>
            {
                Noun::one(self.value_phrase(value))
            }
            PythonValue::Dictionary(entries) if entries.is_empty() => {
                Noun::one(self.value_phrase(value))
            }
            PythonValue::Range { .. } => Noun::several(self.notation(value)),
            _ => Noun::one(self.notation(value)),
        }
    }

    /// Quotes a term as Python code (P42: whatever has no phrase).
    fn source_noun(&self, term: &Term) -> Noun {
        self.record_fallback(Fallback::Source, term);
        let code = quotation::quote_code(&term.to_python());
        Noun::one(format!("the Python expression {code}"))
    }

    /// Phrases a term by the rule for its kind, or returns nothing if there is none.
    fn specific_noun(&self, term: &Term) -> Option<Noun> {
        if term.is_condition() {
            return Some(self.whether_noun(term));
        }
        match term {
            Term::List(items) => Some(self.list(items)),
            Term::Tuple(items) if items.len() == 2 => Some(self.display("the pair of", items)),
            Term::Tuple(items) => Some(self.display("the group of", items)),
            Term::Set(items) => Some(self.display("the set of", items)),
            Term::Dictionary(entries) => self.dictionary(entries),
            Term::Attribute { object, name } => {
                let words = self.words(name);
                // "The is empty of x" cannot be read, so the name is quoted.
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
            Term::Call(call) => Some(self.call_noun(term, call)),
            Term::Unary { operator, operand } => self.sign(*operator, operand),
            Term::Binary {
                left,
                operator,
                right,
            } => self.binary(left, *operator, right),
            Term::Or(operands) => Some(self.or_noun(operands)),
            Term::And(operands) => self.and_noun(operands),
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
                self.each_phrase("each", clauses, Tense::Present)
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
            Term::Not(_) | Term::Compare { .. } => Some(self.whether_noun(term)),
            Term::Value(_) | Term::Reference(_) | Term::Source(_) => None,
        }
    }

    /// Phrases a condition as a value (P40: "whether …").
    pub(super) fn whether_noun(&self, term: &Term) -> Noun {
        Noun::one(format!("whether {}", self.clause(term)))
    }

    /// Phrases a list of expressions (P3: "a list with x and y").
    fn list(&self, items: &[Term]) -> Noun {
        let just = if items.len() == 1 { "just " } else { "" };
        Noun::one(format!("a list with {just}{}", self.operands(items)))
    }

    /// Phrases a display or a formatted text (P4: "the pair of a and b"; P35: "the text made of
    /// …").
    pub(super) fn display(&self, what: &str, items: &[Term]) -> Noun {
        Noun::one(format!("{what} {}", self.operands(items)))
    }

    /// Phrases a dictionary display (P4), or another dictionary with changed entries: `{**d, key:
    /// value}`.
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

    /// Phrases a sign (P10: "minus x").
    fn sign(&self, operator: UnaryOperator, operand: &Term) -> Option<Noun> {
        match operator {
            UnaryOperator::Minus => {
                let text = parenthesise_if(
                    &self.noun(operand).text,
                    phrase_precedence(operand) < Precedence::Sign,
                );
                Some(Noun::one(format!("minus {text}")))
            }
            UnaryOperator::Plus => Some(self.noun(operand)),
            UnaryOperator::Invert | UnaryOperator::Not => None,
        }
    }

    /// Phrases an operation (P6: one more than; P7: arithmetic; P8: "followed by"; P9: set
    /// operations).
    fn binary(&self, left: &Term, operator: Operator, right: &Term) -> Option<Noun> {
        let (left_type, right_type) = (left.type_of(), right.type_of());
        let sets = matches!(left_type, Type::Set(_)) || matches!(right_type, Type::Set(_));
        let maybe_sets = sets || (left_type == Type::Unknown && right_type == Type::Unknown);
        let is_sum = left_type == Type::Number || right_type == Type::Number;
        let joins = (left_type.is_sequence() || right_type.is_sequence()) && !is_sum;
        let is_one = right
            .as_value()
            .is_some_and(|value| *value == PythonValue::integer(1));
        match operator {
            Operator::BitOr if maybe_sets => {
                return Some(Noun::several(format!(
                    "the elements of {}",
                    self.joined_operands(left, "or", right)
                )));
            }
            Operator::BitAnd if maybe_sets => {
                return Some(Noun::several(format!(
                    "the elements common to {}",
                    self.joined_operands(left, "and", right)
                )));
            }
            Operator::Remainder if left_type == Type::Text => {
                if let Some(PythonValue::Text(template)) = left.as_value()
                    && let Some(pieces) = format_text::parse_percent_format(template, right)
                {
                    return Some(self.display(TEXT_OF, &pieces));
                }
                // The exact places are not worth a reader's time.
                return Some(Noun::one(format!(
                    "{TEXT_OF} {}",
                    self.joined_operands(left, "and", right)
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
        let parent = Precedence::of(operator);
        let subject = self.noun(left);
        let a = parenthesise_if(&subject.text, phrase_precedence(left) < parent);
        if is_one && !joins && !sets && matches!(operator, Operator::Add | Operator::Subtract) {
            let more = if operator == Operator::Add {
                "more"
            } else {
                "less"
            };
            return Some(Noun::one(format!("one {more} than {a}")));
        }
        let b = parenthesise_if(&self.noun(right).text, phrase_precedence(right) <= parent);
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

    /// Joins two operands with a word.
    fn joined_operands(&self, left: &Term, word: &str, right: &Term) -> String {
        format!("{} {word} {}", self.operand(left), self.operand(right))
    }

    /// Phrases a conditional expression (P33: "(A if C, otherwise B)").
    fn conditional(&self, condition: &Term, then: &Term, otherwise: &Term) -> Noun {
        Noun::one(format!(
            "({} if {}, otherwise {})",
            self.noun(then).text,
            self.after_if().clause(condition),
            self.noun(otherwise).text
        ))
    }

    /// Phrases `or` as a choice between values rather than a condition: `name or "unknown"`.
    fn or_noun(&self, operands: &[Term]) -> Noun {
        let operands: Vec<String> = operands
            .iter()
            .map(|operand| self.operand(operand))
            .collect();
        Noun::one(format!("({})", operands.join(", or else ")))
    }

    /// Phrases `a and b` as a value: b if a counts as true, otherwise a. This mentions a twice, so
    /// it must not be large.
    fn and_noun(&self, operands: &[Term]) -> Option<Noun> {
        let [before @ .., last] = operands else {
            return None;
        };
        if before
            .iter()
            .any(|operand| operand.size() > MAX_REPEATED_SIZE)
        {
            return None;
        }
        let mut text = self.noun(last).text;
        for operand in before.iter().rev() {
            let (condition, otherwise) = (self.after_if().clause(operand), self.noun(operand).text);
            text = format!("({text} if {condition}, otherwise {otherwise})");
        }
        Some(Noun::one(text))
    }

    /// Phrases a lambda (P34: "a rule that turns v into E").
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

    /// Joins names that are bound together (R5): "k and v".
    pub(super) fn names(&self, names: &[String]) -> String {
        let names: Vec<String> = names.iter().map(|name| self.words(name)).collect();
        join::nouns(&names, "and")
    }

    /// Phrases a comprehension (P30: "the elements v of X such that C"; P31: "the list of E for
    /// each v in X").
    fn comprehension(
        &self,
        form: ComprehensionKind,
        element: &Term,
        clauses: &[ForClause],
    ) -> Noun {
        if let ([clause], ComprehensionKind::List | ComprehensionKind::Generator) = (clauses, form)
            && clause.binds_only(element)
        {
            return match self.such_that_clause(clause, Tense::Present) {
                None => self.noun(&clause.iterable),
                Some(condition) => Noun::several(format!(
                    "the elements {} of {}{condition}",
                    self.names(&clause.targets),
                    self.noun(&clause.iterable).text
                )),
            };
        }
        let what = if form == ComprehensionKind::Set {
            "set"
        } else {
            "list"
        };
        Noun::one(format!(
            "the {what} of {} for {}",
            self.noun(element).text,
            self.each_phrase("each", clauses, Tense::Present)
        ))
    }

    /// Phrases the clauses of a comprehension: "each v in X such that C".
    pub(super) fn each_phrase(&self, each: &str, clauses: &[ForClause], tense: Tense) -> String {
        let clauses: Vec<String> = clauses
            .iter()
            .map(|clause| {
                let condition = self.such_that_clause(clause, tense).unwrap_or_default();
                let (names, iterable) = (
                    self.names(&clause.targets),
                    self.noun(&clause.iterable).text,
                );
                format!("{each} {names} in {iterable}{condition}")
            })
            .collect();
        join::nouns(&clauses, "and")
    }

    /// Phrases the conditions of a clause, " such that C", if there are any.
    pub(super) fn such_that_clause(&self, clause: &ForClause, tense: Tense) -> Option<String> {
        if clause.conditions.is_empty() {
            return None;
        }
        let conditions: Vec<String> = clause
            .conditions
            .iter()
            .map(|condition| self.clause_in(condition, Polarity::Positive, tense))
            .collect();
        Some(format!(" such that {}", join::clauses(&conditions, "and")))
    }
}

impl ForClause {
    /// Returns true if a term is nothing but the variable that the clause binds.
    pub(super) fn binds_only(&self, term: &Term) -> bool {
        matches!(
            (term, self.targets.as_slice()),
            (Term::Reference(NameReference { name, role: NameRole::Variable, .. }), [target]) if name == target
        )
    }
}

/// Puts text in parentheses if asked for.
fn parenthesise_if(text: &str, brackets: bool) -> String {
    if brackets {
        format!("({text})")
    } else {
        text.to_owned()
    }
}

/// Returns the precedence of a term's phrase. A conditional has parentheses of its own, and what is
/// phrased as something else binds like that.
fn phrase_precedence(term: &Term) -> Precedence {
    match term {
        Term::Conditional { .. } => Precedence::Atom,
        Term::And(_) | Term::Or(_) if !term.is_condition() => Precedence::Atom,
        Term::Unary {
            operator: UnaryOperator::Plus,
            operand,
        } => phrase_precedence(operand),
        Term::Call(call) => call
            .copied_argument()
            .map_or(Precedence::Atom, phrase_precedence),
        _ => term.precedence(),
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
