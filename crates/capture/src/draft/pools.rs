//! Which values are kept in which pools.
//!
//! While actions are drafted, each parameter gets a [`Wish`]: the values that were seen and those that its hint speaks of. When
//! all wishes are known, those that can share values get a pool together, and small ones that only one action has are written
//! into the action itself.

use std::collections::{BTreeMap, BTreeSet};

use super::hint::Hinted;
use super::sample::{Kind, Sample};
use super::surface::Key;
use crate::write::snake_case;

/// How many values a pool has at most.
const MOST_VALUES: usize = 150;

/// Longer values stand in Python code of their own.
const MOST_IN_LINE: usize = 60;

/// How many values, and how many characters of them, stand in an action itself.
const MOST_CHOICES: (usize, usize) = (8, 44);

/// What an argument may be.
pub(super) struct Wish {
    name: String,
    samples: Vec<Sample>,
    /// How many of the samples were seen; the others come from hints.
    seen: usize,
    /// The name of the type, if the hint is all that is known.
    label: String,
    /// In how many actions it is used: active ones, and all.
    active: usize,
    uses: usize,
    /// How many values of it an action has at most.
    at_once: usize,
    /// Whether it is the first thing in an action.
    is_first: bool,
}

/// A wish, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct WishId(usize);

/// Collects wishes.
#[derive(Default)]
pub(super) struct Wishes {
    wishes: Vec<Wish>,
    by_parameter: BTreeMap<(Key, String), WishId>,
}

impl Wishes {
    /// The wish of a parameter of a definition.
    pub(super) fn of(&mut self, key: &Key, parameter: &str) -> WishId {
        let next = WishId(self.wishes.len());
        let id = *self
            .by_parameter
            .entry((key.clone(), parameter.to_owned()))
            .or_insert(next);
        if id == next {
            self.wishes.push(Wish {
                name: pool_name(parameter),
                samples: Vec::new(),
                seen: 0,
                label: String::new(),
                active: 0,
                uses: 0,
                at_once: 0,
                is_first: false,
            });
        }
        id
    }

    /// A value that was seen.
    pub(super) fn seen(&mut self, id: WishId, sample: Sample) {
        if let Some(wish) = self.wishes.get_mut(id.0)
            && !wish.samples.contains(&sample)
        {
            wish.samples.push(sample);
            wish.seen = wish.samples.len();
        }
    }

    /// Values that a hint speaks of.
    pub(super) fn hinted(&mut self, id: WishId, hinted: &Hinted) {
        let Some(wish) = self.wishes.get_mut(id.0) else {
            return;
        };
        wish.label.clone_from(&hinted.label);
        for sample in &hinted.samples {
            if !wish.samples.contains(sample) {
                wish.samples.push(sample.clone());
            }
        }
    }

    /// The wish of a parameter, if anything asked for one.
    pub(super) fn known(&self, key: &Key, parameter: &str) -> Option<WishId> {
        let parameter = (key.clone(), parameter.to_owned());
        self.by_parameter.get(&parameter).copied()
    }

    /// Whether values of it were seen.
    pub(super) fn was_seen(&self, id: WishId) -> bool {
        self.wishes.get(id.0).is_some_and(|wish| wish.seen > 0)
    }

    /// A wish with the values that parameters of the same name were seen with elsewhere.
    pub(super) fn borrowed(&mut self, key: &Key, parameter: &str) -> Option<WishId> {
        let name = pool_name(parameter);
        let alike = self.wishes.iter().filter(|wish| wish.name == name);
        let seen = alike.flat_map(|wish| wish.samples.iter().take(wish.seen));
        let samples: Vec<Sample> = seen.cloned().collect();
        let id = (!samples.is_empty()).then(|| self.of(key, parameter))?;
        for sample in samples {
            self.seen(id, sample);
        }
        Some(id)
    }

    /// An action uses these wishes.
    pub(super) fn used(&mut self, ids: &[WishId], is_active: bool) {
        let different: BTreeSet<WishId> = ids.iter().copied().collect();
        for id in different {
            let times = ids.iter().filter(|other| **other == id).count();
            if let Some(wish) = self.wishes.get_mut(id.0) {
                wish.uses += times;
                wish.active += usize::from(is_active);
                wish.at_once = wish.at_once.max(times);
            }
        }
    }

    /// An action begins with a value of this wish.
    pub(super) fn begins(&mut self, id: WishId) {
        if let Some(wish) = self.wishes.get_mut(id.0) {
            wish.is_first = true;
        }
    }

    /// Makes pools of all wishes. `taken` are names that pools have already.
    pub(super) fn settled(self, taken: &[String]) -> Settled {
        let mut groups: Vec<Group> = Vec::new();
        let mut place_of = Vec::new();
        for wish in &self.wishes {
            let kinds: BTreeSet<Kind> = wish.samples.iter().map(|sample| sample.kind).collect();
            let name = wish.pool_name(&kinds);
            let fits = |group: &Group| {
                group.name == name && (group.kinds.is_empty() || !group.kinds.is_disjoint(&kinds))
            };
            let place = groups.iter().position(fits).unwrap_or_else(|| {
                groups.push(Group::named(name));
                groups.len() - 1
            });
            place_of.push(place);
            if let Some(group) = groups.get_mut(place) {
                group.add(wish, kinds);
            }
        }
        let mut names: BTreeSet<String> = taken.iter().cloned().collect();
        let mut constants = BTreeSet::new();
        let mut settled = Settled::default();
        let mut sources = Vec::new();
        for group in groups {
            let source = match group.choices() {
                // What turned out to be needed nowhere.
                _ if group.uses == 0 => Source::Choice(Vec::new()),
                Some(choices) => Source::Choice(choices),
                None => {
                    settled.pools.push(group.pool(&mut names, &mut constants));
                    Source::Pool(settled.pools.len() - 1)
                }
            };
            sources.push(source);
        }
        let of_wish = place_of.into_iter().filter_map(|place| sources.get(place));
        settled.sources = of_wish.cloned().collect();
        settled
    }
}

impl Wish {
    /// Numbers are as good as any others; everything else belongs to what the parameter is called.
    fn pool_name(&self, kinds: &BTreeSet<Kind>) -> String {
        let only =
            |allowed: &[Kind]| !kinds.is_empty() && kinds.iter().all(|kind| allowed.contains(kind));
        if only(&[Kind::Boolean]) {
            "bool".to_owned()
        } else if only(&[Kind::Integer]) {
            "int".to_owned()
        } else if only(&[Kind::Integer, Kind::Float]) {
            "number".to_owned()
        } else if self.seen == 0 && !self.label.is_empty() {
            pool_name(&self.label)
        } else {
            self.name.clone()
        }
    }
}

/// Wishes that share their values.
struct Group {
    name: String,
    kinds: BTreeSet<Kind>,
    samples: Vec<Sample>,
    hinted: Vec<Sample>,
    active: usize,
    uses: usize,
    at_once: usize,
    is_first: bool,
}

impl Group {
    fn named(name: String) -> Group {
        Group {
            name,
            kinds: BTreeSet::new(),
            samples: Vec::new(),
            hinted: Vec::new(),
            active: 0,
            uses: 0,
            at_once: 0,
            is_first: false,
        }
    }

    fn add(&mut self, wish: &Wish, kinds: BTreeSet<Kind>) {
        self.kinds.extend(kinds);
        let (seen, hinted) = wish.samples.split_at(wish.seen.min(wish.samples.len()));
        for sample in seen {
            if !self.samples.contains(sample) {
                self.samples.push(sample.clone());
            }
        }
        for sample in hinted {
            if !self.hinted.contains(sample) {
                self.hinted.push(sample.clone());
            }
        }
        self.active += wish.active;
        self.uses += wish.uses;
        self.at_once = self.at_once.max(wish.at_once);
        self.is_first |= wish.is_first;
    }

    fn all(&self) -> Vec<&Sample> {
        let further = self.hinted.iter();
        let further = further.filter(|sample| !self.samples.contains(sample));
        self.samples.iter().chain(further).collect()
    }

    /// The values, if they are few and short enough to stand in the only action that has them.
    fn choices(&self) -> Option<Vec<String>> {
        let texts: Vec<String> = self.all().iter().map(|sample| sample.flat()).collect();
        if self.name == "bool" {
            return Some(vec!["True".to_owned(), "False".to_owned()]);
        }
        let (most, longest) = MOST_CHOICES;
        let length: usize = texts.iter().map(|text| text.chars().count() + 1).sum();
        let fits =
            texts.len() <= most && length <= longest && !texts.iter().any(|text| is_awkward(text));
        // A brace at the start of a line begins the list of exceptions.
        let is_mistaken = self.is_first && texts.iter().any(|text| text.starts_with('{'));
        (self.uses <= 1 && fits && !is_mistaken && !texts.is_empty()).then_some(texts)
    }

    fn pool(self, names: &mut BTreeSet<String>, constants: &mut BTreeSet<String>) -> Pool {
        let name = free_name(&self.name, names);
        let all = self.all();
        let more = all.len().saturating_sub(MOST_VALUES);
        let mut entries = Vec::new();
        for sample in all.into_iter().take(MOST_VALUES) {
            let flat = sample.flat();
            let is_long = flat.chars().count() > MOST_IN_LINE;
            let (said, definition) = if is_long || is_awkward(&flat) {
                defined(sample, &name, constants)
            } else {
                (flat.clone(), Vec::new())
            };
            entries.push(Entry {
                flat,
                said,
                definition,
            });
        }
        Pool {
            name,
            size: self.at_once.clamp(2, 4),
            kinds: self.kinds.into_iter().collect(),
            seen: self.samples.len(),
            hinted: entries.len().saturating_sub(self.samples.len()),
            more,
            is_active: self.active > 0,
            entries,
        }
    }
}

/// Whether a text would be taken for something of the harness language: placeholders and choices count in strings, too, and
/// a comma of a `lambda` ends it.
fn is_awkward(text: &str) -> bool {
    let bracketed = text.contains('<') && text.contains('>');
    bracketed || text.matches('%').count() > 1 || text.contains("lambda ") || text.contains('\n')
}

/// Pools and what wishes became.
#[derive(Default)]
pub(super) struct Settled {
    pub(super) pools: Vec<Pool>,
    sources: Vec<Source>,
}

impl Settled {
    /// What a wish became.
    pub(super) fn source(&self, id: WishId) -> Option<&Source> {
        self.sources.get(id.0)
    }
}

/// Where an argument comes from.
#[derive(Clone, Debug)]
pub(super) enum Source {
    /// One of the pools.
    Pool(usize),
    /// These texts, in the action itself.
    Choice(Vec<String>),
}

/// A pool of values.
pub(super) struct Pool {
    pub(super) name: String,
    pub(super) size: usize,
    pub(super) kinds: Vec<Kind>,
    /// How many of its values were seen, and how many come from hints.
    pub(super) seen: usize,
    pub(super) hinted: usize,
    /// How many values there are that are not written.
    pub(super) more: usize,
    /// Whether an action uses it that is not commented out.
    pub(super) is_active: bool,
    pub(super) entries: Vec<Entry>,
}

/// A value of a pool.
pub(super) struct Entry {
    /// The whole value.
    pub(super) flat: String,
    /// How the harness says it.
    pub(super) said: String,
    /// Python code of its own, if it cannot be said in a line.
    pub(super) definition: Vec<String>,
}

/// How a value is said that stands in Python code of its own, and that code.
fn defined(sample: &Sample, name: &str, taken: &mut BTreeSet<String>) -> (String, Vec<String>) {
    if let Some(function) = sample.defined()
        && taken.insert(function.clone())
    {
        return (function, sample.before.clone());
    }
    let mut free = |wanted: String| {
        let mut number = 1;
        let mut name = format!("{wanted}_{number}");
        while !taken.insert(name.clone()) {
            number += 1;
            name = format!("{wanted}_{number}");
        }
        name
    };
    if !sample.before.is_empty() {
        let maker = free(format!("make_{name}"));
        let mut lines = vec![format!("def {maker}():")];
        let before = sample.before.iter();
        lines.extend(before.map(|line| format!("    {line}").trim_end().to_owned()));
        lines.extend(sample.code.lines("return ", "", 4));
        return (format!("{maker}()"), lines);
    }
    let constant = free(name.to_uppercase());
    let lines = sample.code.lines(&format!("{constant} = "), "", 0);
    if sample.kind.can_change() {
        (format!("copy.deepcopy({constant})"), lines)
    } else {
        (constant, lines)
    }
}

/// A name that can be one of a pool. A digit at its end would read as the number of a slot.
pub(super) fn pool_name(wanted: &str) -> String {
    let name = snake_case(wanted);
    let name = name.trim_matches('_');
    match name.chars().last() {
        None => "value".to_owned(),
        Some(last) if last.is_ascii_digit() => format!("{name}_value"),
        Some(_) => name.to_owned(),
    }
}

/// The name, or one made from it that nothing has yet.
pub(super) fn free_name(wanted: &str, names: &mut BTreeSet<String>) -> String {
    let mut name = wanted.to_owned();
    let mut ending = String::from("_value");
    while !names.insert(name.clone()) {
        name = format!("{wanted}{ending}");
        ending.push_str("_more");
    }
    name
}
