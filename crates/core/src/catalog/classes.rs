//! Action classes: the lines of a harness as units of choice.
//!
//! Swarm testing, probabilities and learned models deal with classes, not with concrete actions.
//! Mostly a class is a template. A line whose structure varies has several templates but is one
//! class, and equal lines are one class too.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use crate::{ActionId, Axis, Catalog, PoolId, SlotRole, TemplateId};

/// The index of a class in [`ActionClasses`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClassId(pub usize);

/// The action classes of a catalog, in file order.
#[derive(Clone, Debug, Default)]
pub struct ActionClasses {
    texts: Vec<String>,
    templates: Vec<Vec<TemplateId>>,
    template_classes: Vec<ClassId>,
    /// By class: the pools from which it needs a value, if any class makes one. Thousands of lines
    /// may use what thousands make, so nothing is stored per pair of classes.
    needed_pools: Vec<Vec<PoolId>>,
    /// By class: the pools for which it makes a value.
    made_pools: Vec<Vec<PoolId>>,
    /// By pool: the classes that use its values.
    pool_users: Vec<Vec<ClassId>>,
    /// By pool: the classes that make its values.
    pool_makers: Vec<Vec<ClassId>>,
}

impl ActionClasses {
    /// Collects the classes of a catalog.
    pub fn new(catalog: &Catalog) -> ActionClasses {
        let mut known: FxHashMap<&str, ClassId> = FxHashMap::default();
        let mut classes = ActionClasses::default();
        for (number, template) in catalog.templates().iter().enumerate() {
            let class = *known.entry(&template.class).or_insert_with(|| {
                classes.texts.push(template.class.clone());
                classes.templates.push(Vec::new());
                ClassId(classes.texts.len() - 1)
            });
            classes.templates[class.0].push(TemplateId(number));
            classes.template_classes.push(class);
        }
        classes.find_dependencies(catalog);
        classes
    }

    /// Returns the number of classes.
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// Returns true if there are no classes.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// Returns all classes, in order.
    pub fn iter(&self) -> impl Iterator<Item = ClassId> + use<> {
        (0..self.texts.len()).map(ClassId)
    }

    /// Returns the line as its author wrote it.
    pub fn text(&self, class: ClassId) -> &str {
        &self.texts[class.0]
    }

    /// Finds the class with this text, ignoring blanks around it.
    pub fn find(&self, text: &str) -> Option<ClassId> {
        let text = text.trim();
        self.iter().find(|class| self.text(*class).trim() == text)
    }

    /// Returns the templates of a class.
    pub fn templates(&self, class: ClassId) -> &[TemplateId] {
        &self.templates[class.0]
    }

    /// Returns the class of a template.
    pub fn class_of_template(&self, template: TemplateId) -> ClassId {
        self.template_classes[template.0]
    }

    /// Returns the class of an action.
    pub fn class_of_action(&self, catalog: &Catalog, action: ActionId) -> ClassId {
        self.class_of_template(catalog.template_of(action))
    }

    /// Returns true if the author marked the class for inclusion in every test (`#ESSENTIAL`).
    pub fn is_essential(&self, class: ClassId) -> bool {
        self.text(class).contains("#ESSENTIAL")
    }

    /// Returns the dependencies of a class: lists of classes. Unless at least one class of each
    /// list is included, some slot that it uses is never filled.
    pub fn dependencies(&self, class: ClassId) -> impl Iterator<Item = &[ClassId]> {
        self.needed_pools(class)
            .iter()
            .map(|pool| self.makers_of_pool(*pool))
    }

    /// Returns the classes that may need this one, in order.
    pub fn dependents(&self, class: ClassId) -> Vec<ClassId> {
        let users = self
            .made_pools(class)
            .iter()
            .flat_map(|pool| &self.pool_users[pool.0]);
        let mut users: Vec<ClassId> = users.copied().collect();
        users.sort_unstable();
        users.dedup();
        users
    }

    /// Returns the pools from which a class needs a value, if any class makes one.
    pub(crate) fn needed_pools(&self, class: ClassId) -> &[PoolId] {
        &self.needed_pools[class.0]
    }

    /// Returns the pools for which a class makes a value without needing one.
    pub(crate) fn made_pools(&self, class: ClassId) -> &[PoolId] {
        &self.made_pools[class.0]
    }

    /// Returns the classes that make a value of a pool without needing one.
    pub(crate) fn makers_of_pool(&self, pool: PoolId) -> &[ClassId] {
        &self.pool_makers[pool.0]
    }

    /// Fills the tables of needed and made pools from the slots that templates name.
    fn find_dependencies(&mut self, catalog: &Catalog) {
        let pools = catalog.pools().len();
        (self.pool_users, self.pool_makers) = (vec![Vec::new(); pools], vec![Vec::new(); pools]);
        for class in self.iter() {
            let [used, defined] = needed_and_made_pools(catalog, self.templates(class));
            for pool in &used {
                self.pool_users[pool.0].push(class);
            }
            // A line that needs a value of the pool to make one cannot make the first.
            let made: Vec<PoolId> = defined.difference(&used).copied().collect();
            for pool in &made {
                self.pool_makers[pool.0].push(class);
            }
            self.needed_pools.push(used.into_iter().collect());
            self.made_pools.push(made);
        }
        let makers = &self.pool_makers;
        for needs in &mut self.needed_pools {
            needs.retain(|pool| !makers[pool.0].is_empty());
        }
    }
}

/// Returns the pools whose slots templates use, and those whose slots they define.
fn needed_and_made_pools(catalog: &Catalog, templates: &[TemplateId]) -> [BTreeSet<PoolId>; 2] {
    let mut pools = [BTreeSet::new(), BTreeSet::new()];
    let axes = templates
        .iter()
        .flat_map(|template| &catalog.templates()[template.0].axes);
    for axis in axes {
        if let Axis::Slot { pool, role } = axis {
            pools[usize::from(*role == SlotRole::Definition)].insert(*pool);
        }
    }
    pools
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toys::catalog;

    #[test]
    fn a_class_needs_what_fills_its_slots() {
        let lines = [
            "<int> := <[1..3]>",
            "<list> := []",
            "<list> := [<int>]",
            "<list> := <list> + <list>",
            "<list>.append(<int>)",
            "stop() #ESSENTIAL",
        ];
        let catalog = catalog(&[("int", 2), ("list", 2)], &lines);
        let classes = ActionClasses::new(&catalog);
        let needs = |line: &str| {
            let class = classes.find(line).unwrap();
            let texts = |list: &[ClassId]| {
                list.iter()
                    .map(|class| classes.text(*class))
                    .collect::<Vec<_>>()
            };
            classes.dependencies(class).map(texts).collect::<Vec<_>>()
        };
        assert_eq!(needs("<int> := <[1..3]>"), Vec::<Vec<&str>>::new());
        assert_eq!(needs("<list> := [<int>]"), [["<int> := <[1..3]>"]]);
        assert_eq!(
            needs("<list>.append(<int>)"),
            [
                vec!["<int> := <[1..3]>"],
                vec!["<list> := []", "<list> := [<int>]"]
            ]
        );
        assert_eq!(
            needs("<list> := <list> + <list>"),
            [["<list> := []", "<list> := [<int>]"]]
        );
        let essential: Vec<bool> = classes
            .iter()
            .map(|class| classes.is_essential(class))
            .collect();
        assert_eq!(essential, [false, false, false, false, false, true]);
    }

    #[test]
    fn equal_lines_are_one_class() {
        let catalog = catalog(&[], &["go()", "stop()", "go()"]);
        let classes = ActionClasses::new(&catalog);
        assert_eq!(classes.len(), 2);
        assert_eq!(
            classes.templates(ClassId(0)),
            [TemplateId(0), TemplateId(2)]
        );
        assert_eq!(classes.class_of_action(&catalog, ActionId(2)), ClassId(0));
    }
}
