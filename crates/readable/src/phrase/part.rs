//! Parts of texts and collections: positions, entries and slices (P11 to P17).

use super::{Noun, Phraser};
use crate::term::{Term, Type, UnaryOperator};
use crate::value::PythonValue;
use crate::words::{ordinal, pluralise};

/// The number of members of a slice.
enum Amount {
    /// A number that can stand before a noun, "3" or "n", and true if the noun is plural.
    Counted(String, bool),
    /// A phrase such as "the size of x", which cannot stand before a noun (P14: it follows in
    /// parentheses).
    AsManyAs(String),
}

impl Phraser<'_> {
    /// Phrases a subscript (P11: ordinals; P12: a position; P13: an entry).
    pub(super) fn item(&self, object: &Term, index: &Term) -> Noun {
        let type_ = object.type_of();
        // A text is no position, so the object can only be a dictionary.
        let is_key = matches!(index, Term::Value(PythonValue::Text(_)));
        if matches!(type_, Type::Dictionary(..)) || (is_key && !type_.is_built_in()) {
            return self.entry(object, index);
        }
        let unit = type_.unit();
        let object = self.noun(object).text;
        let position = match index.as_value().and_then(PythonValue::as_integer) {
            Some(-1) => "last".to_owned(),
            Some(index @ 0..=9) => ordinal(index.unsigned_abs() as u64 + 1),
            _ => {
                return Noun::one(format!(
                    "the {unit} of {object} at position {}",
                    self.noun(index).text
                ));
            }
        };
        Noun::one(format!("the {position} {unit} of {object}"))
    }

    /// Phrases an entry of a dictionary (P13).
    pub(super) fn entry(&self, object: &Term, key: &Term) -> Noun {
        Noun::one(format!(
            "the entry for {} in {}",
            self.noun(key).text,
            self.noun(object).text
        ))
    }

    /// Phrases a slice (P14: from the beginning; P15: to the end; P16: between; P17: reversed).
    /// Returns nothing for other steps.
    pub(super) fn slice(
        &self,
        object: &Term,
        start: Option<&Term>,
        stop: Option<&Term>,
        step: Option<&Term>,
    ) -> Option<Noun> {
        match step.map(|step| step.as_value().and_then(PythonValue::as_integer)) {
            None | Some(Some(1)) => {}
            Some(Some(-1)) if start.is_none() && stop.is_none() => {
                return Some(self.reversed(object));
            }
            Some(_) => return None,
        }
        let unit = object.type_of().unit();
        let whole = self.noun(object);
        let x = &whole.text;
        let without = |end: &str, amount: Amount| {
            let members = match amount {
                Amount::Counted(count, false) if count == "1" => format!("{end} {unit}"),
                Amount::Counted(count, plural) => format!("{end} {count} {}", units(unit, plural)),
                Amount::AsManyAs(count) => {
                    format!("{end} {} (as many as {count})", units(unit, true))
                }
            };
            Noun {
                text: format!("{x} without its {members}"),
                plural: whole.plural,
            }
        };
        let only = |end: &str, amount: Amount| match amount {
            Amount::Counted(count, plural) => Noun {
                text: format!("the {end} {count} {} of {x}", units(unit, plural)),
                plural,
            },
            Amount::AsManyAs(count) => Noun::several(format!(
                "the {end} {} of {x} (as many as {count})",
                units(unit, true)
            )),
        };
        Some(match (start, stop) {
            (None, None) => whole,
            (None, Some(stop)) => match negated_bound(stop) {
                Some(count) => without("last", self.amount(&count)),
                None => only("first", self.amount(stop)),
            },
            (Some(start), None) => match negated_bound(start) {
                Some(count) => only("last", self.amount(&count)),
                None => without("first", self.amount(start)),
            },
            (Some(start), Some(stop)) => Noun::several(format!(
                "the {} of {x} from position {} up to but not including position {}",
                units(unit, true),
                self.noun(start).text,
                self.noun(stop).text
            )),
        })
    }

    /// Phrases the number of members of a slice.
    fn amount(&self, count: &Term) -> Amount {
        let is_one = count.as_value().and_then(PythonValue::as_integer) == Some(1);
        let text = self.noun(count).text;
        if text.starts_with("the ") || text.starts_with("one ") {
            Amount::AsManyAs(text)
        } else {
            Amount::Counted(text, !is_one)
        }
    }

    /// Phrases a reversed sequence (P17).
    pub(super) fn reversed(&self, object: &Term) -> Noun {
        let object = self.noun(object);
        Noun {
            text: format!("{} in reverse order", object.text),
            ..object
        }
    }
}

/// Returns the singular or the plural of a unit.
pub(super) fn units(unit: &str, plural: bool) -> String {
    if plural {
        pluralise(unit)
    } else {
        unit.to_owned()
    }
}

/// Returns the amount of a negative bound.
fn negated_bound(bound: &Term) -> Option<Term> {
    match bound {
        Term::Unary {
            operator: UnaryOperator::Minus,
            operand,
        } => Some((**operand).clone()),
        Term::Value(value) => {
            let number = value.as_integer().filter(|number| *number < 0)?;
            Some(PythonValue::integer(number.checked_neg()?).into())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::phrase::testing::np;

    #[test]
    fn p11_first_and_last() {
        assert_eq!(np("xs[0]"), "the first element of xs");
        assert_eq!(np("xs[9]"), "the tenth element of xs");
        assert_eq!(np("xs[-1]"), "the last element of xs");
        assert_eq!(np("s[0]"), "the first character of s");
        assert_eq!(np("x[1]"), "the second element of x");
    }

    #[test]
    fn p12_positions() {
        assert_eq!(np("xs[i]"), "the element of xs at position i");
        assert_eq!(np("xs[10]"), "the element of xs at position 10");
        assert_eq!(np("xs[-2]"), "the element of xs at position -2");
        assert_eq!(
            np("s[i + 1]"),
            "the character of s at position one more than i"
        );
    }

    #[test]
    fn p13_entries() {
        assert_eq!(np("d[k]"), "the entry for k in d");
        assert_eq!(np("d[0]"), "the entry for 0 in d");
        assert_eq!(np("regs[pid]"), "the entry for the given pid in the regs");
        assert_eq!(np("x['name']"), "the entry for \"name\" in x");
    }

    #[test]
    fn p14_beginnings() {
        assert_eq!(np("xs[:3]"), "the first 3 elements of xs (plural)");
        assert_eq!(np("xs[:1]"), "the first 1 element of xs");
        assert_eq!(np("s[:n]"), "the first n characters of s (plural)");
        assert_eq!(
            np("xs[:len(ys)]"),
            "the first elements of xs (as many as the number of elements in ys) (plural)"
        );
        assert_eq!(
            np("xs[:n + 1]"),
            "the first elements of xs (as many as one more than n) (plural)"
        );
    }

    #[test]
    fn p15_without() {
        assert_eq!(np("xs[2:]"), "xs without its first 2 elements");
        assert_eq!(np("xs[1:]"), "xs without its first element");
        assert_eq!(np("xs[:-1]"), "xs without its last element");
        assert_eq!(np("xs[:-2]"), "xs without its last 2 elements");
        assert_eq!(np("xs[-2:]"), "the last 2 elements of xs (plural)");
        assert_eq!(np("xs[-n:]"), "the last n elements of xs (plural)");
        assert_eq!(
            np("xs[len(ys):]"),
            "xs without its first elements (as many as the number of elements in ys)"
        );
        assert_eq!(
            np("plates[1:]"),
            "the plates without its first element (plural)"
        );
    }

    #[test]
    fn p16_middles() {
        assert_eq!(
            np("xs[i:k]"),
            "the elements of xs from position i up to but not including position k (plural)"
        );
        assert_eq!(np("xs[:]"), "xs");
    }

    #[test]
    fn p17_reverse() {
        assert_eq!(np("xs[::-1]"), "xs in reverse order");
        assert_eq!(np("list(reversed(xs))"), "xs in reverse order");
    }
}
