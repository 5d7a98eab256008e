//! Noun phrases of calls: built-ins and methods with words of their own (P18 to P29), constructors
//! (P36: they make something new), and all other calls (P37, P38: "the result of").

use super::format_text::{self, TEXT_OF};
use super::length::{argument_of, count_target};
use super::{Fallback, Noun, Phraser, join};
use crate::term::{
    CallTarget, CallTerm, ComprehensionKind, NameReference, NameRole, Term, Type, is_class_name,
};
use crate::value::PythonValue;

impl CallTerm {
    /// Returns what a call copies: `list(x)`, `tuple(x)` and `x.copy()` say no more than x (P24).
    pub(crate) fn copied_argument(&self) -> Option<&Term> {
        if !self.keywords.is_empty() {
            return None;
        }
        match (&self.callee, self.arguments.as_slice()) {
            (CallTarget::Function { module: None, name }, [argument])
                if matches!(name.as_str(), "list" | "tuple" | "dict" | "iter")
                    && !is_starred(argument) =>
            {
                Some(argument)
            }
            (
                CallTarget::Function {
                    module: Some(module),
                    name,
                },
                [argument],
            ) if module == "copy" && matches!(name.as_str(), "copy" | "deepcopy") => Some(argument),
            (CallTarget::Method { object, name }, [])
                if name == "copy" && may_be_built_in(object) =>
            {
                Some(object)
            }
            _ => None,
        }
    }

    /// Returns the class if the call is a constructor (P36).
    pub(crate) fn constructed_class(&self) -> Option<&str> {
        match &self.callee {
            CallTarget::Function { name, .. } | CallTarget::Method { name, .. }
                if is_class_name(name) =>
            {
                Some(name)
            }
            _ => None,
        }
    }
}

/// Returns true for `*rest`.
fn is_starred(term: &Term) -> bool {
    matches!(term, Term::Starred(_))
}

/// Returns true if methods of the object may be those of a built-in type, which is so unless its
/// class is known.
pub(super) fn may_be_built_in(object: &Term) -> bool {
    !matches!(object.type_of(), Type::Object(_))
}

impl Phraser<'_> {
    /// Phrases the result of a call.
    pub(super) fn call_noun(&self, term: &Term, call: &CallTerm) -> Noun {
        if self.vocabulary.has_condition(term) {
            return self.whether_noun(term);
        }
        if let Some(noun) = self.known_call_noun(call) {
            return noun;
        }
        if let Some(class) = call.constructed_class() {
            let class = self.words(class);
            return Noun::one(match self.arguments(call) {
                None => format!("a new {class}"),
                Some(arguments) => format!("a new {class} made from {arguments}"),
            });
        }
        let (fallback, what) = match &call.callee {
            CallTarget::Function { .. } | CallTarget::Other(_) => {
                (Fallback::Call, self.call_words(call))
            }
            CallTarget::Method { .. } => (Fallback::Method, self.call_words(call)),
        };
        self.record_fallback(fallback, term);
        Noun::one(format!("the result of {what}"))
    }

    /// Returns the name of the callee in quotation marks, or the phrase it comes from if it has no
    /// name.
    #[must_use]
    pub fn callee_words(&self, call: &CallTerm) -> String {
        match &call.callee {
            CallTarget::Function { name, .. }
            | CallTarget::Method { name, .. }
            | CallTarget::Other(Term::Reference(NameReference { name, .. })) => {
                format!("\"{}\"", self.words(name))
            }
            CallTarget::Other(term) => join::parenthesise(&self.noun(term).text),
        }
    }

    /// Describes a call: `"insert" on the tree with the key`.
    #[must_use]
    pub fn call_words(&self, call: &CallTerm) -> String {
        let arguments = self.arguments(call);
        let callee = self.callee_words(call);
        let mut text = match &call.callee {
            CallTarget::Method { object, .. } if !is_self(object) => {
                let object = self.noun(object).text;
                // In "on O with A with B" the end of O would be unclear.
                let object = if arguments.is_some() {
                    join::parenthesise(&object)
                } else {
                    object
                };
                format!("{callee} on {object}")
            }
            _ => callee,
        };
        if let Some(arguments) = arguments {
            text += &format!(" with {arguments}");
        }
        text
    }

    /// Phrases a call that has words of its own, or returns nothing.
    pub(super) fn known_call_noun(&self, call: &CallTerm) -> Option<Noun> {
        if let Some(copied) = call.copied_argument() {
            return Some(self.noun(copied));
        }
        match &call.callee {
            CallTarget::Function { module: None, name } => self.built_in(call, name),
            CallTarget::Method { object, name } if may_be_built_in(object) => {
                self.built_in_method(call, object, name)
            }
            _ => None,
        }
    }

    /// Phrases a call of a built-in function.
    fn built_in(&self, call: &CallTerm, name: &str) -> Option<Noun> {
        if call.arguments.iter().any(is_starred) {
            return None;
        }
        if name == "sorted" {
            return self.sorted(call);
        }
        if !call.keywords.is_empty() {
            return None;
        }
        match (name, call.arguments.as_slice()) {
            ("reversed", [x]) => Some(self.reversed(x)),
            ("len", [_]) => count_target(&Term::Call(Box::new(call.clone())))
                .map(|counted| self.count_noun(&counted)),
            ("sum", [x]) => Some(self.sum(x)),
            ("max", arguments) => self.extreme("largest", arguments),
            ("min", arguments) => self.extreme("smallest", arguments),
            ("abs", [x]) => Some(Noun::one(format!(
                "the absolute value of {}",
                self.noun(x).text
            ))),
            ("round", [x]) => {
                let x = self.noun(x);
                Some(Noun {
                    text: format!("{} rounded", x.text),
                    ..x
                })
            }
            ("str", [x]) => Some(Noun::one(format!("{} as text", self.noun(x).text))),
            ("int", [x]) => Some(Noun::one(format!(
                "{} as a whole number",
                self.noun(x).text
            ))),
            ("float", [x]) => Some(Noun::one(format!("{} as a number", self.noun(x).text))),
            (
                "set" | "frozenset",
                [
                    Term::Comprehension {
                        form: ComprehensionKind::List | ComprehensionKind::Generator,
                        element,
                        clauses,
                    },
                ],
            ) if !clauses
                .first()
                .is_some_and(|clause| clause.binds_only(element)) =>
            {
                let each = self.each_phrase("each", clauses, super::Tense::Present);
                Some(Noun::one(format!(
                    "the set of {} for {each}",
                    self.noun(element).text
                )))
            }
            ("set" | "frozenset", [x]) => Some(Noun::several(format!(
                "the distinct elements of {}",
                self.noun(x).text
            ))),
            ("range", [stop]) => Some(self.number_range(&PythonValue::integer(0).into(), stop)),
            ("range", [start, stop]) => Some(self.number_range(start, stop)),
            ("zip", items @ [_, _]) => Some(Noun::several(format!(
                "the pairs of elements of {}",
                self.operands(items)
            ))),
            ("enumerate", [x]) => Some(Noun::several(format!(
                "the numbered elements of {}",
                self.noun(x).text
            ))),
            _ => None,
        }
    }

    /// Phrases `sorted` (P20: an order).
    fn sorted(&self, call: &CallTerm) -> Option<Noun> {
        let [x] = call.arguments.as_slice() else {
            return None;
        };
        let order = match call.keywords.as_slice() {
            [] => "sorted",
            [(Some(key), Term::Value(PythonValue::Boolean(reverse)))] if key == "reverse" => {
                if *reverse {
                    "descending"
                } else {
                    "sorted"
                }
            }
            _ => return None,
        };
        let x = self.noun(x);
        Some(Noun {
            text: format!("{} in {order} order", x.text),
            ..x
        })
    }

    /// Phrases `sum` (P21). Conditions are counted as well, since true is one.
    fn sum(&self, x: &Term) -> Noun {
        let Term::Comprehension {
            element,
            clauses,
            form: ComprehensionKind::List | ComprehensionKind::Generator,
        } = x
        else {
            return Noun::one(format!("the sum of {}", self.noun(x).text));
        };
        let is_one = element
            .as_value()
            .is_some_and(|value| *value == PythonValue::integer(1));
        if is_one {
            return Noun::one(match clauses.as_slice() {
                [clause] if clause.conditions.is_empty() => {
                    self.count_noun(&super::length::CountTarget::Members(&clause.iterable))
                        .text
                }
                _ => self.selected_count(x),
            });
        }
        if let [clause] = clauses.as_slice() {
            if clause.binds_only(element) && clause.conditions.is_empty() {
                return Noun::one(format!("the sum of {}", self.noun(&clause.iterable).text));
            }
            if element.is_condition() {
                let mut clause = clause.clone();
                clause.conditions.push((**element).clone());
                let counted = Term::Comprehension {
                    form: ComprehensionKind::List,
                    element: element.clone(),
                    clauses: vec![clause],
                };
                return Noun::one(self.selected_count(&counted));
            }
        }
        Noun::one(format!(
            "the sum of {} for {}",
            self.noun(element).text,
            self.each_phrase("each", clauses, super::Tense::Present)
        ))
    }

    /// Phrases `max` and `min` (P22: the largest, the smallest).
    fn extreme(&self, what: &str, arguments: &[Term]) -> Option<Noun> {
        match arguments {
            [] => None,
            [x] => Some(Noun::one(format!(
                "the {what} element of {}",
                self.noun(x).text
            ))),
            _ => Some(Noun::one(format!(
                "the {what} of {}",
                self.operands(arguments)
            ))),
        }
    }

    /// Phrases a range whose bounds are not constant (P25).
    fn number_range(&self, start: &Term, stop: &Term) -> Noun {
        let (start, stop) = (self.noun(start).text, self.noun(stop).text);
        Noun::several(format!(
            "the numbers from {start} up to but not including {stop}"
        ))
    }

    /// Phrases methods of built-in types (P26 to P29), and the set operations that have a name
    /// besides their operator.
    fn built_in_method(&self, call: &CallTerm, object: &Term, name: &str) -> Option<Noun> {
        if let (Some(PythonValue::Text(template)), "format") = (object.as_value(), name) {
            let pieces = format_text::parse_format_call(template, call)?;
            return Some(self.display(TEXT_OF, &pieces));
        }
        if !call.keywords.is_empty() || call.arguments.iter().any(is_starred) {
            return None;
        }
        let arguments = call.arguments.as_slice();
        let is_set = matches!(object.type_of(), Type::Set(_));
        // The object is phrased once at most, because chains of methods can be long.
        let noun = || self.noun(object);
        let one = |text: String| Some(Noun::one(text));
        let several = |text: String| Some(Noun::several(text));
        let changed = |ending: &str| {
            let object = noun();
            Some(Noun {
                text: format!("{} {ending}", object.text),
                ..object
            })
        };
        match (name, arguments) {
            ("count", [y]) => one(format!(
                "the number of times {} occurs in {}",
                self.noun(y).text,
                noun().text
            )),
            ("index", [y]) => one(format!(
                "the position of {} in {}",
                self.noun(y).text,
                noun().text
            )),
            ("keys", []) => several(format!("the keys of {}", noun().text)),
            ("values", []) => several(format!("the values of {}", noun().text)),
            ("items", []) => several(format!("the entries of {}", noun().text)),
            ("get", [key]) => Some(self.entry_or_default(object, key, "nothing")),
            ("get", [key, default]) => {
                Some(self.entry_or_default(object, key, &self.noun(default).text))
            }
            ("upper", []) => changed("in upper case"),
            ("lower", []) => changed("in lower case"),
            ("strip", []) => changed("without surrounding spaces"),
            ("split", []) => several(format!("the words of {}", noun().text)),
            ("split", [c]) => several(format!(
                "the parts of {} separated by {}",
                noun().text,
                self.noun(c).text
            )),
            ("union", [other]) if is_set => several(format!(
                "the elements of {} or {}",
                self.operand(object),
                self.operand(other)
            )),
            ("intersection", [other]) if is_set => several(format!(
                "the elements common to {} and {}",
                self.operand(object),
                self.operand(other)
            )),
            ("difference", [other]) if is_set => changed(&format!(
                "without the elements of {}",
                self.noun(other).text
            )),
            _ => None,
        }
    }

    /// Phrases `d.get(k, v)` (P28: an entry, with what comes instead if there is none).
    fn entry_or_default(&self, object: &Term, key: &Term, default: &str) -> Noun {
        Noun::one(format!(
            "{} ({default} if there is none)",
            self.entry(object, key).text
        ))
    }
}

/// Returns true for `self`, which needs no mention.
pub(super) fn is_self(object: &Term) -> bool {
    matches!(object, Term::Reference(NameReference { name, role: NameRole::Global | NameRole::Variable, .. }) if name == "self")
}

/// Returns the argument of `sorted(x)`, and true if the order is descending.
pub(super) fn sorted_argument(term: &Term) -> Option<(&Term, bool)> {
    if let Some(argument) = argument_of(term, "sorted") {
        return Some((argument, false));
    }
    let Term::Call(call) = term else {
        return None;
    };
    match (
        &call.callee,
        call.arguments.as_slice(),
        call.keywords.as_slice(),
    ) {
        (
            CallTarget::Function { module: None, name },
            [argument],
            [(Some(key), Term::Value(PythonValue::Boolean(descending)))],
        ) if name == "sorted" && key == "reverse" => Some((argument, *descending)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::phrase::testing::np;

    #[test]
    fn p20_sorted() {
        assert_eq!(np("sorted(xs)"), "xs in sorted order");
        assert_eq!(np("sorted(xs, reverse=True)"), "xs in descending order");
        assert_eq!(
            np("sorted(xs, key=len)"),
            "the result of \"sorted\" with xs and key set to len"
        );
    }

    #[test]
    fn p21_sums() {
        assert_eq!(np("sum(xs)"), "the sum of xs");
        assert_eq!(
            np("sum(i * 2 for i in xs)"),
            "the sum of i times 2 for each i in xs"
        );
        assert_eq!(
            np("sum(i * 2 for i in xs if i > 0)"),
            "the sum of i times 2 for each i in xs such that i is greater than 0"
        );
        assert_eq!(
            np("sum(1 for i in xs if i > 0)"),
            "the number of elements i of xs such that i is greater than 0"
        );
        assert_eq!(np("sum(1 for i in xs)"), "the number of elements in xs");
        assert_eq!(np("sum(i for i in xs)"), "the sum of xs");
        assert_eq!(
            np("sum(i > 0 for i in xs)"),
            "the number of elements i of xs such that i is greater than 0"
        );
    }

    #[test]
    fn p22_extremes() {
        assert_eq!(np("max(xs)"), "the largest element of xs");
        assert_eq!(np("min(xs)"), "the smallest element of xs");
        assert_eq!(np("max(a, b)"), "the largest of a and b");
        assert_eq!(
            np("min(a, b, f(x))"),
            "the smallest of a, b and (the result of \"f\" with x)"
        );
    }

    #[test]
    fn p23_conversions() {
        assert_eq!(np("abs(x)"), "the absolute value of x");
        assert_eq!(np("round(x)"), "x rounded");
        assert_eq!(np("str(x)"), "x as text");
        assert_eq!(np("int(x)"), "x as a whole number");
        assert_eq!(np("float(x)"), "x as a number");
    }

    #[test]
    fn p24_copies_and_distinct_elements() {
        assert_eq!(np("set(xs)"), "the distinct elements of xs (plural)");
        for copy in ["list(xs)", "tuple(xs)", "xs.copy()", "copy.deepcopy(xs)"] {
            assert_eq!(np(copy), "xs", "{copy}");
        }
        assert_eq!(np("list(plates)"), "the plates (plural)");
        assert_eq!(np("tree.copy()"), "the result of \"copy\" on the tree");
    }

    #[test]
    fn p25_ranges() {
        assert_eq!(np("range(1, 5)"), "the numbers from 1 to 4 (plural)");
        assert_eq!(np("range(3)"), "the numbers from 0 to 2 (plural)");
        assert_eq!(np("range(len(NAMES))"), "the numbers from 0 to 1 (plural)");
        assert_eq!(
            np("range(a, b)"),
            "the numbers from a up to but not including b (plural)"
        );
        assert_eq!(
            np("range(n)"),
            "the numbers from 0 up to but not including n (plural)"
        );
    }

    #[test]
    fn p26_counting_and_finding() {
        assert_eq!(np("xs.count(y)"), "the number of times y occurs in xs");
        assert_eq!(np("xs.index(y)"), "the position of y in xs");
        assert_eq!(
            np("tree.count(y)"),
            "the result of \"count\" on the tree with y"
        );
    }

    #[test]
    fn p27_keys_values_entries() {
        assert_eq!(np("d.keys()"), "the keys of d (plural)");
        assert_eq!(np("regs.values()"), "the values of the regs (plural)");
        assert_eq!(np("d.items()"), "the entries of d (plural)");
    }

    #[test]
    fn p28_get() {
        assert_eq!(
            np("d.get(k)"),
            "the entry for k in d (nothing if there is none)"
        );
        assert_eq!(
            np("d.get(k, 0)"),
            "the entry for k in d (0 if there is none)"
        );
        assert_eq!(
            np("regs.get(pid)"),
            "the entry for the given pid in the regs (nothing if there is none)"
        );
    }

    #[test]
    fn p29_texts() {
        assert_eq!(np("s.upper()"), "s in upper case");
        assert_eq!(np("s.lower()"), "s in lower case");
        assert_eq!(np("s.strip()"), "s without surrounding spaces");
        assert_eq!(np("s.split()"), "the words of s (plural)");
        assert_eq!(
            np("s.split(',')"),
            "the parts of s separated by \",\" (plural)"
        );
        assert_eq!(
            np("s.strip().lower()"),
            "s without surrounding spaces in lower case"
        );
    }

    #[test]
    fn p36_constructors() {
        assert_eq!(np("Account()"), "a new account");
        assert_eq!(np("Account(x, 5)"), "a new account made from x and 5");
        assert_eq!(np("avl.AVLTree()"), "a new AVL tree");
        assert_eq!(np("lib.Box(size=3)"), "a new box made from size set to 3");
        assert_eq!(np("ABC(x)"), "the result of \"ABC\" with x");
    }

    #[test]
    fn p37_unknown_calls() {
        assert_eq!(np("f()"), "the result of \"f\"");
        assert_eq!(
            np("remove_first(n, xs)"),
            "the result of \"remove first\" with n and xs"
        );
        assert_eq!(np("lib.pop_min(xs)"), "the result of \"pop min\" with xs");
        assert_eq!(
            np("f(g(x), 1)"),
            "the result of \"f\" with (the result of \"g\" with x) and 1"
        );
        assert_eq!(np("f(*xs)"), "the result of \"f\" with the elements of xs");
        assert_eq!(np("x(y)"), "the result of \"x\" with y");
        assert_eq!(np("math.sqrt(x)"), "the result of \"sqrt\" with x");
        assert_eq!(
            np("f((a, b))"),
            "the result of \"f\" with (the pair of a and b)"
        );
    }

    #[test]
    fn p38_unknown_methods() {
        assert_eq!(
            np("tree.listing()"),
            "the result of \"listing\" on the tree"
        );
        assert_eq!(np("o.m(a)"), "the result of \"m\" on o with a");
        assert_eq!(
            np("f(x).m(a)"),
            "the result of \"m\" on (the result of \"f\" with x) with a"
        );
        assert_eq!(
            np("tree2.listing()"),
            "the result of \"listing\" on the second tree"
        );
    }

    #[test]
    fn p39_keywords() {
        assert_eq!(
            np("f(x, maxSize=3)"),
            "the result of \"f\" with x and max size set to 3"
        );
        assert_eq!(np("f(**d)"), "the result of \"f\" with the entries of d");
    }
}
