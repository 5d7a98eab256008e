//! Formulas as trees, and their text form.

use std::fmt;

/// A predicate that holds in a state or does not.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Atom {
    /// A predicate that the caller evaluates: a name, or an expression of the host language.
    Predicate(String),
    /// True if the step that led to the state was an action whose text matches this pattern. `*`
    /// stands for anything.
    Took(String),
}

/// A temporal property. See the [module](super) for the meaning of each operator.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the table in the module says what each means")]
pub enum Formula {
    True,
    False,
    Atom(Atom),
    Not(Box<Formula>),
    Next(Box<Formula>),
    Always(Box<Formula>),
    Eventually(Box<Formula>),
    And(Box<Formula>, Box<Formula>),
    Or(Box<Formula>, Box<Formula>),
    Implies(Box<Formula>, Box<Formula>),
    Until(Box<Formula>, Box<Formula>),
    WeakUntil(Box<Formula>, Box<Formula>),
    Release(Box<Formula>, Box<Formula>),
}

/// Words that cannot be names of atoms.
pub(super) const RESERVED: [&str; 20] = [
    "always",
    "eventually",
    "next",
    "until",
    "weak",
    "release",
    "not",
    "and",
    "or",
    "implies",
    "true",
    "false",
    "took",
    "G",
    "F",
    "X",
    "U",
    "W",
    "R",
    "V",
];

impl Formula {
    /// Returns the negation.
    pub fn negated(self) -> Formula {
        Formula::Not(Box::new(self))
    }

    /// Returns the atoms, each once, in the order in which they are written.
    pub fn atoms(&self) -> Vec<Atom> {
        let mut atoms = Vec::new();
        self.collect_atoms(&mut atoms);
        atoms
    }

    /// Replaces each atom.
    pub fn map_atoms(mut self, change: &mut dyn FnMut(Atom) -> Atom) -> Formula {
        self.change_atoms(change);
        self
    }

    /// Replaces each atom in place.
    fn change_atoms(&mut self, change: &mut dyn FnMut(Atom) -> Atom) {
        match self {
            Formula::True | Formula::False => {}
            Formula::Atom(atom) => *atom = change(atom.clone()),
            Formula::Not(one)
            | Formula::Next(one)
            | Formula::Always(one)
            | Formula::Eventually(one) => one.change_atoms(change),
            Formula::And(left, right)
            | Formula::Or(left, right)
            | Formula::Implies(left, right)
            | Formula::Until(left, right)
            | Formula::WeakUntil(left, right)
            | Formula::Release(left, right) => {
                left.change_atoms(change);
                right.change_atoms(change);
            }
        }
    }

    /// Adds the atoms of the formula to a list.
    fn collect_atoms(&self, atoms: &mut Vec<Atom>) {
        if let Formula::Atom(atom) = self
            && !atoms.contains(atom)
        {
            atoms.push(atom.clone());
        }
        for operand in self.operands() {
            operand.collect_atoms(atoms);
        }
    }

    /// Returns the operands.
    fn operands(&self) -> Vec<&Formula> {
        match self {
            Formula::True | Formula::False | Formula::Atom(_) => Vec::new(),
            Formula::Not(one)
            | Formula::Next(one)
            | Formula::Always(one)
            | Formula::Eventually(one) => vec![one],
            Formula::And(left, right)
            | Formula::Or(left, right)
            | Formula::Implies(left, right)
            | Formula::Until(left, right)
            | Formula::WeakUntil(left, right)
            | Formula::Release(left, right) => vec![left, right],
        }
    }

    /// Returns the operator's word and how tightly it binds.
    fn operator_and_binding(&self) -> (&'static str, u8) {
        match self {
            Formula::True => ("true", 5),
            Formula::False => ("false", 5),
            Formula::Atom(_) => ("", 5),
            Formula::Not(_) => ("not", 4),
            Formula::Next(_) => ("next", 4),
            Formula::Always(_) => ("always", 4),
            Formula::Eventually(_) => ("eventually", 4),
            Formula::Until(..) => ("until", 3),
            Formula::WeakUntil(..) => ("weak until", 3),
            Formula::Release(..) => ("release", 3),
            Formula::And(..) => ("and", 2),
            Formula::Or(..) => ("or", 1),
            Formula::Implies(..) => ("implies", 0),
        }
    }

    /// Writes the formula, in parentheses if it binds less tightly than `least`.
    fn write(&self, out: &mut fmt::Formatter<'_>, min_binding: u8) -> fmt::Result {
        let (word, binding) = self.operator_and_binding();
        if binding < min_binding {
            out.write_str("(")?;
            self.write(out, 0)?;
            return out.write_str(")");
        }
        match (self, self.operands().as_slice()) {
            (Formula::Atom(atom), _) => write!(out, "{atom}"),
            (_, [one]) => {
                write!(out, "{word} ")?;
                one.write(out, binding)
            }
            (_, [left, right]) => {
                // All binary operators group to the right.
                left.write(out, binding + 1)?;
                write!(out, " {word} ")?;
                right.write(out, binding)
            }
            _ => out.write_str(word),
        }
    }
}

impl fmt::Display for Formula {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(out, 0)
    }
}

impl fmt::Display for Atom {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Atom::Took(text) => {
                let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
                write!(out, "took \"{escaped}\"")
            }
            Atom::Predicate(text) if is_name(text) => out.write_str(text),
            Atom::Predicate(text) if braces_match(text) => write!(out, "{{{text}}}"),
            Atom::Predicate(text) => write!(out, "`{text}`"),
        }
    }
}

/// Returns true if a text can be written as the name of an atom.
fn is_name(text: &str) -> bool {
    !RESERVED.contains(&text)
        && text.starts_with(|first: char| first.is_alphabetic() || first == '_')
        && text
            .chars()
            .all(|next| next.is_alphanumeric() || next == '_')
}

/// Returns true if the braces in a text are balanced.
fn braces_match(text: &str) -> bool {
    let mut open = 0i64;
    for character in text.chars() {
        open += match character {
            '{' => 1,
            '}' => -1,
            _ => 0,
        };
        if open < 0 {
            return false;
        }
    }
    open == 0
}
