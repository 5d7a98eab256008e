//! Names and values as numbers.

use rustc_hash::FxHashMap;

/// The name of an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NameId(pub u32);

/// A value of the language that models are written in. Equal values have the same number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ValueId(pub u32);

impl ValueId {
    /// No value: the result of an action that returns nothing.
    pub const NONE: ValueId = ValueId(0);
    /// No arguments.
    pub const EMPTY: ValueId = ValueId(1);
}

/// A step, as models speak of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Label {
    /// What is done.
    pub name: NameId,
    /// With what: a tuple.
    pub arguments: ValueId,
    /// What comes of it.
    pub result: ValueId,
}

impl Label {
    /// In a scenario, a step without arguments and result stands for the action with any.
    pub fn is_wildcard(&self) -> bool {
        self.arguments == ValueId::EMPTY && self.result == ValueId::NONE
    }
}

/// How a value is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueText {
    /// As source text, if it can be: `'ok'`.
    pub literal: String,
    /// As people read it where that differs: `ok`.
    pub plain: Option<String>,
    /// Whether reading the literal gives the value.
    pub is_literal: bool,
}

impl ValueText {
    /// A value whose source text people read as well.
    pub fn literal(text: impl Into<String>) -> ValueText {
        ValueText {
            literal: text.into(),
            plain: None,
            is_literal: true,
        }
    }

    /// As people read it.
    pub fn plain(&self) -> &str {
        self.plain.as_deref().unwrap_or(&self.literal)
    }
}

/// All names and values that the models of a product speak of.
#[derive(Clone, Debug)]
pub struct Words {
    names: Vec<String>,
    by_name: FxHashMap<String, NameId>,
    values: Vec<ValueText>,
    by_key: FxHashMap<u128, ValueId>,
}

impl Words {
    /// Words of a language that writes nothing, and no arguments, in this way. The keys tell values apart.
    pub fn new(none: (u128, ValueText), empty: (u128, ValueText)) -> Words {
        let mut words = Words {
            names: Vec::new(),
            by_name: FxHashMap::default(),
            values: Vec::new(),
            by_key: FxHashMap::default(),
        };
        words.value(none.0, || none.1);
        words.value(empty.0, || empty.1);
        words
    }

    /// The number of a name, which may be new.
    pub fn name(&mut self, name: &str) -> NameId {
        if let Some(known) = self.by_name.get(name) {
            return *known;
        }
        let id = NameId(self.names.len() as u32);
        self.names.push(name.to_owned());
        self.by_name.insert(name.to_owned(), id);
        id
    }

    /// The number of a name that was spoken of.
    pub fn find_name(&self, name: &str) -> Option<NameId> {
        self.by_name.get(name).copied()
    }

    /// A name.
    pub fn name_text(&self, name: NameId) -> &str {
        &self.names[name.0 as usize]
    }

    /// The number of the value with this key, which may be new.
    pub fn value(&mut self, key: u128, text: impl FnOnce() -> ValueText) -> ValueId {
        let next = ValueId(self.values.len() as u32);
        let id = *self.by_key.entry(key).or_insert(next);
        if id == next {
            self.values.push(text());
        }
        id
    }

    /// The number of the value with this key, if it was spoken of.
    pub fn find_value(&self, key: u128) -> Option<ValueId> {
        self.by_key.get(&key).copied()
    }

    /// How a value is written.
    pub fn value_text(&self, value: ValueId) -> &ValueText {
        &self.values[value.0 as usize]
    }
}
