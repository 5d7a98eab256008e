//! Interning of names and values: each gets a number.

use rustc_hash::FxHashMap;

/// An interned name of an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NameId(pub u32);

/// An interned value of the models' language. Equal values have the same number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ValueId(pub u32);

impl ValueId {
    /// No value: the result of an action that returns nothing.
    pub const NONE: ValueId = ValueId(0);
    /// No arguments.
    pub const EMPTY: ValueId = ValueId(1);
}

/// The label of a step: an action with its arguments and result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StepLabel {
    /// The action.
    pub name: NameId,
    /// The arguments, as one tuple.
    pub arguments: ValueId,
    /// The result.
    pub result: ValueId,
}

impl StepLabel {
    /// Returns true if the label has neither arguments nor a result. In a scenario it stands for
    /// the action with any arguments and result.
    pub fn is_wildcard(&self) -> bool {
        self.arguments == ValueId::EMPTY && self.result == ValueId::NONE
    }
}

/// The text of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueText {
    /// The source text, if there is one: `'ok'`.
    pub literal: String,
    /// The text for people where it differs: `ok`.
    pub plain: Option<String>,
    /// True if evaluating the literal gives the value.
    pub is_literal: bool,
}

impl ValueText {
    /// Creates the text of a value whose source text is also readable for people.
    pub fn literal(text: impl Into<String>) -> ValueText {
        ValueText {
            literal: text.into(),
            plain: None,
            is_literal: true,
        }
    }

    /// Returns the text for people.
    pub fn plain(&self) -> &str {
        self.plain.as_deref().unwrap_or(&self.literal)
    }
}

/// All names and values of the models of a product.
#[derive(Clone, Debug)]
pub struct Interner {
    names: Vec<String>,
    by_name: FxHashMap<String, NameId>,
    values: Vec<ValueText>,
    by_key: FxHashMap<u128, ValueId>,
}

impl Interner {
    /// Creates an interner. `none` and `empty` are the key and text of the empty result and of the
    /// empty argument tuple. Keys identify values.
    pub fn new(none: (u128, ValueText), empty: (u128, ValueText)) -> Interner {
        let mut interner = Interner {
            names: Vec::new(),
            by_name: FxHashMap::default(),
            values: Vec::new(),
            by_key: FxHashMap::default(),
        };
        interner.intern_value(none.0, || none.1);
        interner.intern_value(empty.0, || empty.1);
        interner
    }

    /// Interns a name.
    pub fn intern_name(&mut self, name: &str) -> NameId {
        if let Some(known) = self.by_name.get(name) {
            return *known;
        }
        let id = NameId(self.names.len() as u32);
        self.names.push(name.to_owned());
        self.by_name.insert(name.to_owned(), id);
        id
    }

    /// Finds the number of an interned name.
    pub fn find_name(&self, name: &str) -> Option<NameId> {
        self.by_name.get(name).copied()
    }

    /// Returns the text of a name.
    pub fn name_text(&self, name: NameId) -> &str {
        &self.names[name.0 as usize]
    }

    /// Interns the value with this key. `text` is called only if it is new.
    pub fn intern_value(&mut self, key: u128, text: impl FnOnce() -> ValueText) -> ValueId {
        let next = ValueId(self.values.len() as u32);
        let id = *self.by_key.entry(key).or_insert(next);
        if id == next {
            self.values.push(text());
        }
        id
    }

    /// Finds the number of an interned value.
    pub fn find_value(&self, key: u128) -> Option<ValueId> {
        self.by_key.get(&key).copied()
    }

    /// Returns the text of a value.
    pub fn value_text(&self, value: ValueId) -> &ValueText {
        &self.values[value.0 as usize]
    }
}
