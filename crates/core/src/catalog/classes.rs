//! Action classes: the lines of a harness, as far as choosing among them is concerned.
//!
//! Swarm testing, probabilities and learned models speak of classes, not of concrete actions. Mostly a class is a
//! template. A line whose structure varies has several templates and is still one class, and so are equal lines.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use crate::{ActionId, Axis, Catalog, PoolId, Role, TemplateId};

/// A class's place in [`Classes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClassId(pub usize);

/// The action classes of a catalogue, in file order.
#[derive(Clone, Debug, Default)]
pub struct Classes {
    texts: Vec<String>,
    templates: Vec<Vec<TemplateId>>,
    of_templates: Vec<ClassId>,
    dependencies: Vec<Vec<Vec<ClassId>>>,
}

impl Classes {
    /// The classes of a catalogue.
    pub fn new(catalog: &Catalog) -> Classes {
        let mut known: FxHashMap<&str, ClassId> = FxHashMap::default();
        let mut classes = Classes::default();
        for (number, template) in catalog.templates().iter().enumerate() {
            let class = *known.entry(&template.class).or_insert_with(|| {
                classes.texts.push(template.class.clone());
                classes.templates.push(Vec::new());
                ClassId(classes.texts.len() - 1)
            });
            classes.templates[class.0].push(TemplateId(number));
            classes.of_templates.push(class);
        }
        classes.dependencies = dependencies(catalog, &classes);
        classes
    }

    /// How many classes there are.
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// True if there are no actions at all.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// All classes, in order.
    pub fn iter(&self) -> impl Iterator<Item = ClassId> + use<> {
        (0..self.texts.len()).map(ClassId)
    }

    /// The line as its author wrote it.
    pub fn text(&self, class: ClassId) -> &str {
        &self.texts[class.0]
    }

    /// The class with this text, blanks around it aside.
    pub fn find(&self, text: &str) -> Option<ClassId> {
        let text = text.trim();
        self.iter().find(|class| self.text(*class).trim() == text)
    }

    /// The templates of a class.
    pub fn templates(&self, class: ClassId) -> &[TemplateId] {
        &self.templates[class.0]
    }

    /// The class of a template.
    pub fn of_template(&self, template: TemplateId) -> ClassId {
        self.of_templates[template.0]
    }

    /// The class of an action.
    pub fn of_action(&self, catalog: &Catalog, action: ActionId) -> ClassId {
        self.of_template(catalog.template_of(action))
    }

    /// Whether its author wants it in every test (`#ESSENTIAL`).
    pub fn is_essential(&self, class: ClassId) -> bool {
        self.text(class).contains("#ESSENTIAL")
    }

    /// What a class needs: of each list, at least one class must be there, or some slot is never filled for it.
    pub fn dependencies(&self, class: ClassId) -> &[Vec<ClassId>] {
        &self.dependencies[class.0]
    }
}

fn dependencies(catalog: &Catalog, classes: &Classes) -> Vec<Vec<Vec<ClassId>>> {
    let pools = || (0..catalog.pools().len()).map(PoolId);
    let axes = |class: ClassId| {
        let templates = classes.templates(class).iter();
        templates.flat_map(|template| &catalog.templates()[template.0].axes)
    };
    let names = |class: ClassId, pool: PoolId, is_definition: bool| {
        axes(class).any(|axis| {
            matches!(axis, Axis::Slot { pool: named, role }
                if *named == pool && (*role == Role::Definition) == is_definition)
        })
    };
    // A line that needs a value of the pool to make one cannot make the first.
    let makers: Vec<BTreeSet<ClassId>> = pools()
        .map(|pool| {
            let makes = |class: &ClassId| names(*class, pool, true) && !names(*class, pool, false);
            classes.iter().filter(makes).collect()
        })
        .collect();
    let needs = |class: ClassId| {
        let needed = pools().filter(|pool| names(class, *pool, false));
        let others = needed.map(|pool| {
            let makers = makers[pool.0].iter().copied();
            makers.filter(|maker| *maker != class).collect::<Vec<_>>()
        });
        others.filter(|makers| !makers.is_empty()).collect()
    };
    classes.iter().map(needs).collect()
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
        let classes = Classes::new(&catalog);
        let needs = |line: &str| {
            let class = classes.find(line).unwrap();
            let texts = |list: &Vec<ClassId>| {
                list.iter()
                    .map(|class| classes.text(*class))
                    .collect::<Vec<_>>()
            };
            classes
                .dependencies(class)
                .iter()
                .map(texts)
                .collect::<Vec<_>>()
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
        let classes = Classes::new(&catalog);
        assert_eq!(classes.len(), 2);
        assert_eq!(
            classes.templates(ClassId(0)),
            [TemplateId(0), TemplateId(2)]
        );
        assert_eq!(classes.of_action(&catalog, ActionId(2)), ClassId(0));
    }
}
