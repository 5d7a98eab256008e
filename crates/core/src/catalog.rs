//! All actions of a system, as templates times choices.
//!
//! A harness line such as `<avl>.insert(<int>)` with two trees and four integers stands for eight
//! actions. They are never written out: a [`Template`] keeps the text with its holes, an [`Axis`]
//! per hole lists the possible values, and an [`ActionId`] is the number of a combination. Text is
//! generated on demand, so a harness with a hundred thousand actions needs no more memory than one
//! with a hundred.

use std::borrow::Cow;
use std::fmt;

mod classes;
mod closest;
mod find;
mod template_set;

pub use classes::{ActionClasses, ClassId};
pub(crate) use closest::ClosestAction;
pub use closest::text_distance;
pub use template_set::TemplateSet;

/// One concrete action: dense, stable for a given harness, ordered from simple to complex (file order).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ActionId(pub u64);

/// The index of a pool in [`Catalog::pools`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PoolId(pub usize);

/// The index of a template in [`Catalog::templates`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TemplateId(pub usize);

/// Named slots of values that actions fill and use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlotPool {
    /// The name as declared, without brackets.
    pub name: String,
    /// The number of slots.
    pub size: u32,
}

impl SlotPool {
    /// Returns the name of a slot as people read it: `avl0`, or `c1_0` where the name itself ends
    /// in a digit.
    pub fn slot_name(&self, index: u32) -> String {
        let separator = if self.name.ends_with(|last: char| last.is_ascii_digit()) {
            "_"
        } else {
            ""
        };
        format!("{}{separator}{index}", self.name)
    }

    /// Returns the name of the corresponding slot of the reference pool: `avl_REF0`.
    pub fn twin_name(&self, index: u32) -> String {
        format!("{}_REF{index}", self.name)
    }
}

/// The effect of an action on a slot that it names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SlotRole {
    /// The slot must hold a value, and counts as used afterwards.
    Use,
    /// The slot must hold a value; it does not count as used (`~<x>`).
    SilentUse,
    /// The slot must be empty or used, and is fresh afterwards (`<x> := …`).
    Definition,
    /// The slot is named, with no condition and no effect.
    Mention,
}

impl SlotRole {
    /// Returns true if the action uses the value in the slot.
    #[inline]
    pub fn is_use(self) -> bool {
        matches!(self, SlotRole::Use | SlotRole::SilentUse)
    }
}

/// The alternatives of a choice such as `<[1..20]>`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChoiceValues {
    /// `<[a..b]>`, both ends included.
    Integers {
        /// The first alternative.
        first: i64,
        /// The last alternative.
        last: i64,
    },
    /// `<['a'..'z']>`, each in single quotes, both ends included.
    Characters {
        /// The first alternative.
        first: char,
        /// The last alternative.
        last: char,
    },
    /// Anything else: the texts themselves.
    Texts(Vec<String>),
}

impl ChoiceValues {
    /// Returns the number of alternatives.
    pub fn len(&self) -> u64 {
        match self {
            ChoiceValues::Integers { first, last } => {
                u64::try_from(i128::from(*last) - i128::from(*first) + 1).unwrap_or(0)
            }
            ChoiceValues::Characters { first, last } => (*first..=*last).count() as u64,
            ChoiceValues::Texts(texts) => texts.len() as u64,
        }
    }

    /// Returns true if there is no alternative.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the text of an alternative; empty for one that does not exist.
    pub fn text(&self, alternative: u64) -> Cow<'_, str> {
        match self {
            ChoiceValues::Integers { first, .. } => {
                first.wrapping_add_unsigned(alternative).to_string().into()
            }
            ChoiceValues::Characters { first, last } => (*first..=*last)
                .nth(alternative as usize)
                .map(|character| format!("'{character}'"))
                .unwrap_or_default()
                .into(),
            ChoiceValues::Texts(texts) => texts
                .get(alternative as usize)
                .map(String::as_str)
                .unwrap_or_default()
                .into(),
        }
    }
}

/// One dimension in which the concrete actions of a template differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Axis {
    /// A slot of a pool.
    Slot {
        /// The pool.
        pool: PoolId,
        /// The effect of the action on the slot.
        role: SlotRole,
    },
    /// An alternative of a choice.
    Choice(ChoiceValues),
    /// `*N`: equal copies, so that the action is drawn more often.
    Repeat(u64),
}

/// A part of a template's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TemplatePiece {
    /// Literal text.
    Text(String),
    /// The slot or alternative chosen on this axis of [`Template::axes`].
    Hole(usize),
    /// The reference twin of the slot chosen on this axis.
    Twin(usize),
}

/// One line of a harness (or one structural alternative of it): text with holes, and what may fill them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    /// The action class: the line as its author wrote it.
    pub class: String,
    /// The line number in its file, from 1.
    pub line: usize,
    /// The text of the action.
    pub pieces: Vec<TemplatePiece>,
    /// The dimensions of choice; the first axis varies slowest.
    pub axes: Vec<Axis>,
}

/// All actions of a system.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    pools: Vec<SlotPool>,
    templates: Vec<Template>,
    /// By template: the id of its first action. One more entry at the end is an upper bound of all
    /// ids.
    starts: Vec<u64>,
    /// By template: the size of each axis.
    sizes: Vec<Vec<u64>>,
    /// By template: the number of its actions. An open template has room for more.
    counts: Vec<u64>,
    /// The total number of actions.
    total: u64,
}

/// The error that a catalog has more actions than can be numbered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooManyActions {
    /// The template that passed the limit.
    pub template: TemplateId,
}

impl fmt::Display for TooManyActions {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "the harness has more than {} actions", Catalog::LIMIT)
    }
}

impl std::error::Error for TooManyActions {}

impl Catalog {
    /// The maximum number of actions in a catalog. Products of weights still fit into 64 bits far
    /// above it.
    pub const LIMIT: u64 = 1 << 48;

    /// Numbers the actions of `templates`, in order.
    pub fn new(pools: Vec<SlotPool>, templates: Vec<Template>) -> Result<Catalog, TooManyActions> {
        let mut starts = Vec::with_capacity(templates.len() + 1);
        let mut sizes = Vec::with_capacity(templates.len());
        let mut total: u64 = 0;
        for (number, template) in templates.iter().enumerate() {
            let template_sizes: Vec<u64> = template
                .axes
                .iter()
                .map(|axis| axis_size(&pools, axis))
                .collect();
            starts.push(total);
            let count = if template_sizes.contains(&0) {
                Some(0)
            } else {
                template_sizes
                    .iter()
                    .try_fold(1u64, |product, size| product.checked_mul(*size))
            };
            total = count
                .and_then(|count| total.checked_add(count))
                .filter(|total| *total <= Catalog::LIMIT)
                .ok_or(TooManyActions {
                    template: TemplateId(number),
                })?;
            sizes.push(template_sizes);
        }
        starts.push(total);
        Ok(Catalog {
            counts: starts.windows(2).map(|pair| pair[1] - pair[0]).collect(),
            total,
            pools,
            templates,
            starts,
            sizes,
        })
    }

    /// The number of ids reserved for an open template.
    const OPEN_TEMPLATE_SIZE: u64 = 1 << 32;

    /// Adds a template whose actions are added later, one by one ([`Catalog::add_action`]). All
    /// other ids stay the same.
    pub fn open_template(
        &mut self,
        class: String,
        line: usize,
    ) -> Result<TemplateId, TooManyActions> {
        let template = TemplateId(self.templates.len());
        if self.starts.is_empty() {
            self.starts.push(0);
        }
        let end = self.end() + Catalog::OPEN_TEMPLATE_SIZE;
        if end > Catalog::LIMIT {
            return Err(TooManyActions { template });
        }
        self.starts.push(end);
        self.sizes.push(vec![0]);
        self.counts.push(0);
        self.templates.push(Template {
            pieces: vec![TemplatePiece::Text(class.clone()), TemplatePiece::Hole(0)],
            axes: vec![Axis::Choice(ChoiceValues::Texts(Vec::new()))],
            class,
            line,
        });
        Ok(template)
    }

    /// Adds an action to an open template. `text` is what follows the class. All other ids stay the
    /// same.
    pub fn add_action(
        &mut self,
        template: TemplateId,
        text: String,
    ) -> Result<ActionId, TooManyActions> {
        let TemplateId(number) = template;
        let (Some(Axis::Choice(ChoiceValues::Texts(texts))), next) =
            (self.templates[number].axes.first_mut(), self.counts[number])
        else {
            return Err(TooManyActions { template });
        };
        if self.starts[number] + next >= self.starts[number + 1] {
            return Err(TooManyActions { template });
        }
        texts.push(text);
        self.counts[number] += 1;
        self.total += 1;
        self.sizes[number] = vec![self.counts[number]];
        Ok(ActionId(self.starts[number] + next))
    }

    /// Returns the number of concrete actions.
    pub fn len(&self) -> u64 {
        self.total
    }

    /// Returns true if there is an action with this id.
    pub fn contains(&self, action: ActionId) -> bool {
        action.0 < self.end() && {
            let TemplateId(template) = self.template_of(action);
            action.0 - self.starts[template] < self.counts[template]
        }
    }

    /// Returns true if the actions of a template are added one by one ([`Catalog::open_template`]).
    /// Their ids depend on the order of addition, so other processes identify them by
    /// [name](Catalog::name) only.
    pub fn is_open(&self, template: TemplateId) -> bool {
        self.counts[template.0] < self.starts[template.0 + 1] - self.starts[template.0]
    }

    /// Returns the class of an action of an open template, and the text that follows it.
    pub fn name(&self, action: ActionId) -> Option<(&str, &str)> {
        let template = self.template_of(action);
        let Template { class, axes, .. } = &self.templates[template.0];
        let Some(Axis::Choice(ChoiceValues::Texts(texts))) = axes.first() else {
            return None;
        };
        let rest = texts.get(usize::try_from(action.0 - self.first(template).0).ok()?)?;
        self.is_open(template).then_some((class, rest))
    }

    /// Returns a key that identifies the template of an action, in this process and in others.
    pub fn template_key(&self, action: ActionId) -> String {
        let template = self.template_of(action);
        if self.is_open(template) {
            self.templates[template.0].class.clone()
        } else {
            format!("template {}", template.0)
        }
    }

    /// Returns an exclusive upper bound of all action ids: the number of actions, plus the room of
    /// open templates.
    pub fn end(&self) -> u64 {
        self.starts.last().copied().unwrap_or(0)
    }

    /// Returns all actions, in order.
    pub fn ids(&self) -> impl Iterator<Item = ActionId> + use<> {
        let blocks: Vec<(u64, u64)> = self
            .starts
            .iter()
            .copied()
            .zip(self.counts.clone())
            .collect();
        let block = |(start, count)| (start..start + count).map(ActionId);
        blocks.into_iter().flat_map(block)
    }

    /// Returns true if there are no actions.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the pools, in order of declaration.
    pub fn pools(&self) -> &[SlotPool] {
        &self.pools
    }

    /// Returns a pool.
    #[inline]
    pub fn pool(&self, pool: PoolId) -> &SlotPool {
        &self.pools[pool.0]
    }

    /// Returns the templates, in file order.
    #[inline]
    pub fn templates(&self) -> &[Template] {
        &self.templates
    }

    /// Returns the number of actions of a template.
    pub fn count(&self, template: TemplateId) -> u64 {
        self.counts[template.0]
    }

    /// Returns the first action of a template. The others follow, the last axis varying fastest.
    #[inline]
    pub fn first(&self, template: TemplateId) -> ActionId {
        ActionId(self.starts[template.0])
    }

    /// Returns the sizes of a template's axes.
    #[inline]
    pub fn sizes(&self, template: TemplateId) -> &[u64] {
        &self.sizes[template.0]
    }

    /// Returns the template of an action.
    ///
    /// # Panics
    /// If the id is not one of this catalog.
    #[inline]
    pub fn template_of(&self, action: ActionId) -> TemplateId {
        assert!(
            action.0 < self.end(),
            "action {} is not in this catalog",
            action.0
        );
        TemplateId(self.starts.partition_point(|start| *start <= action.0) - 1)
    }

    /// Writes the choice of an action on each axis into `values`, and returns its template.
    #[inline]
    pub fn values_into(&self, action: ActionId, values: &mut Vec<u64>) -> TemplateId {
        let template = self.template_of(action);
        let sizes = &self.sizes[template.0];
        let mut rest = action.0 - self.starts[template.0];
        values.clear();
        values.resize(sizes.len(), 0);
        for (value, size) in values.iter_mut().zip(sizes).rev() {
            *value = rest % size;
            rest /= size;
        }
        template
    }

    /// Returns the template of an action and its choice on each axis.
    pub fn values(&self, action: ActionId) -> (TemplateId, Vec<u64>) {
        let mut values = Vec::new();
        let template = self.values_into(action, &mut values);
        (template, values)
    }

    /// Returns the action of a template with these choices.
    #[inline]
    pub fn action(&self, template: TemplateId, values: &[u64]) -> ActionId {
        let index = self.sizes[template.0]
            .iter()
            .zip(values)
            .fold(0, |index, (size, value)| index * size + value);
        ActionId(self.starts[template.0] + index)
    }

    /// Returns the first of the equal copies (`*N`) of an action.
    pub fn first_copy(&self, action: ActionId) -> ActionId {
        let (template, mut values) = self.values(action);
        for (axis, value) in self.templates[template.0].axes.iter().zip(&mut values) {
            if matches!(axis, Axis::Repeat(_)) {
                *value = 0;
            }
        }
        self.action(template, &values)
    }

    /// Returns the text of an action as people read it: `avl0.insert(int1)`.
    pub fn text(&self, action: ActionId) -> String {
        let (template, values) = self.values(action);
        let template = &self.templates[template.0];
        let mut text = String::new();
        for piece in &template.pieces {
            match piece {
                TemplatePiece::Text(literal) => text.push_str(literal),
                TemplatePiece::Hole(axis) => match &template.axes[*axis] {
                    Axis::Slot { pool, .. } => {
                        text.push_str(&self.pools[pool.0].slot_name(values[*axis] as u32))
                    }
                    Axis::Choice(choice) => text.push_str(&choice.text(values[*axis])),
                    Axis::Repeat(_) => {}
                },
                TemplatePiece::Twin(axis) => {
                    if let Axis::Slot { pool, .. } = &template.axes[*axis] {
                        text.push_str(&self.pools[pool.0].twin_name(values[*axis] as u32));
                    }
                }
            }
        }
        text.trim().to_owned()
    }

    /// Returns the slots that an action names, in the order of its axes, with their roles.
    pub fn slots(&self, action: ActionId) -> Vec<(PoolId, u32, SlotRole)> {
        let (template, values) = self.values(action);
        let axes = &self.templates[template.0].axes;
        let slot = |(axis, value): (&Axis, &u64)| match axis {
            Axis::Slot { pool, role } => Some((*pool, *value as u32, *role)),
            _ => None,
        };
        axes.iter().zip(&values).filter_map(slot).collect()
    }

    /// Returns the action with its slots renamed.
    pub fn rename(&self, action: ActionId, new_index: impl Fn(PoolId, u32) -> u32) -> ActionId {
        let (template, mut values) = self.values(action);
        for (axis, value) in self.templates[template.0].axes.iter().zip(&mut values) {
            if let Axis::Slot { pool, .. } = axis {
                *value = u64::from(new_index(*pool, *value as u32));
            }
        }
        self.action(template, &values)
    }
}

/// Returns the number of alternatives on an axis.
fn axis_size(pools: &[SlotPool], axis: &Axis) -> u64 {
    match axis {
        Axis::Slot { pool, .. } => u64::from(pools[pool.0].size),
        Axis::Choice(choice) => choice.len(),
        Axis::Repeat(times) => *times,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ActionClasses, toys};

    #[test]
    fn the_first_axis_varies_slowest() {
        let catalog = toys::catalog(&[("x", 2)], &["f(<x>, <[a,b]>)", "g()"]);
        let texts: Vec<String> = (0..catalog.len())
            .map(|action| catalog.text(ActionId(action)))
            .collect();
        assert_eq!(
            texts,
            ["f(x0, a)", "f(x0, b)", "f(x1, a)", "f(x1, b)", "g()"]
        );
        assert_eq!(catalog.count(TemplateId(0)), 4);
        assert_eq!(catalog.template_of(ActionId(4)), TemplateId(1));
        assert_eq!(catalog.values(ActionId(2)), (TemplateId(0), vec![1, 0]));
    }

    #[test]
    fn names_that_end_in_a_digit_are_kept_apart_from_the_number() {
        let pool = |name: &str| SlotPool {
            name: name.to_owned(),
            size: 3,
        };
        assert_eq!(pool("avl").slot_name(0), "avl0");
        assert_eq!(pool("c1").slot_name(0), "c1_0");
        assert_eq!(pool("c1").twin_name(2), "c1_REF2");
    }

    #[test]
    fn slots_are_renamed_and_nothing_else() {
        let catalog = toys::catalog(&[("x", 3), ("y", 3)], &["<x> := <y> + <[0..2]>"]);
        let action = catalog.find("x1 = y1 + 1")[0];
        let renamed = catalog.rename(action, |pool, slot| slot + 1 - pool.0 as u32);
        assert_eq!(catalog.text(renamed), "x2 = y1 + 1");
        assert_eq!(
            catalog.slots(renamed),
            [
                (PoolId(0), 2, SlotRole::Definition),
                (PoolId(1), 1, SlotRole::Use)
            ]
        );
    }

    #[test]
    fn a_line_that_allows_nothing_has_no_actions() {
        let catalog = toys::catalog(&[("x", 0)], &["f(<x>)", "f(<[2..1]>)", "g()"]);
        assert_eq!(catalog.len(), 1);
        assert_eq!(catalog.text(ActionId(0)), "g()");
        assert_eq!(catalog.find("f(2)"), []);
        assert!(Catalog::default().is_empty());
    }

    #[test]
    fn actions_may_come_up_later_and_keep_their_numbers() {
        let mut catalog = Catalog::default();
        let push = catalog.open_template("Push".to_owned(), 1).unwrap();
        let pop = catalog.open_template("Pop".to_owned(), 2).unwrap();
        let one = catalog.add_action(push, "(1,)".to_owned()).unwrap();
        let only = catalog.add_action(pop, "()".to_owned()).unwrap();
        let two = catalog.add_action(push, "(2,)".to_owned()).unwrap();
        assert_eq!(catalog.text(two), "Push(2,)");
        assert_eq!(catalog.find("Push(1,)"), [one]);
        assert_eq!(catalog.find("Push(3,)"), []);
        assert_eq!(catalog.template_of(only), pop);
        assert_eq!(catalog.values(two), (push, vec![1]));
        assert_eq!(catalog.action(push, &[1]), two);
        assert_eq!(catalog.ids().collect::<Vec<_>>(), [one, two, only]);
        assert_eq!((catalog.len(), catalog.count(push)), (3, 2));
        assert_eq!(catalog.name(two), Some(("Push", "(2,)")));
        assert_eq!(catalog.template_key(two), "Push");
        let next = ActionId(two.0 + 1);
        assert!(catalog.contains(two) && !catalog.contains(next));
        assert_eq!(catalog.name(next), None);
        let closed = toys::catalog(&[], &["f()", "g()"]);
        assert_eq!(closed.name(ActionId(1)), None);
        assert_eq!(closed.template_key(ActionId(1)), "template 1");
        assert!(closed.contains(ActionId(1)) && !closed.contains(ActionId(2)));
        let classes = ActionClasses::new(&catalog);
        assert_eq!(classes.len(), 2);
    }

    #[test]
    fn too_many_actions_are_refused() {
        let axis = || {
            Axis::Choice(ChoiceValues::Integers {
                first: i64::MIN,
                last: i64::MAX - 1,
            })
        };
        let template = Template {
            class: String::new(),
            line: 1,
            pieces: vec![],
            axes: vec![axis(), axis()],
        };
        let error = Catalog::new(vec![], vec![template]).unwrap_err();
        assert_eq!(error.template, TemplateId(0));
        assert!(error.to_string().contains("281474976710656"));
    }
}
