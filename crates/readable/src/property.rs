//! Properties as features (section 4): what must hold, for what, and examples of it that can be run.
//!
//! A property is read, never run. Which values its examples have is decided elsewhere ([`crate::sample`]) and given here.

mod code;
mod facts;
mod find;
mod gathering;
mod hoist;
mod loops;
mod outline;
mod rule;
mod scope;
mod script;
mod unittest;
mod walk;
mod wording;

pub(crate) use code::{children, quoted};
pub use facts::Facts;
pub use find::{Input, Property};
pub use outline::Layout;
pub use rule::{Definition, Piece, Sampled, Told, Values};
pub(crate) use script::called;
pub use script::{Code, Given, Line, Saying, Script};
pub(crate) use walk::raised;
#[cfg(test)]
mod tests;

use testwright_source::Problem;
use testwright_source::tree::{Module, first_paragraph};

use crate::gherkin::{Description, Feature};
use crate::kind::{Kind, Kinds};
use crate::phrase::Speaker;
use crate::room::with_room;
use crate::sample::Case;
use crate::term::{Reference, Role, Term, Type};
use crate::words::capitalised;

/// A module with properties.
#[derive(Debug)]
pub struct Subject {
    /// The file, as the user named it.
    pub file: String,
    /// What it says.
    pub text: String,
    module: Module,
    facts: Facts,
}

impl Subject {
    /// Reads a module.
    ///
    /// # Errors
    /// What keeps it from being Python.
    pub fn read(file: &str, text: &str) -> Result<Subject, Vec<Problem>> {
        let (module, facts) = with_room(|| facts::read(text))?;
        Ok(Subject {
            file: file.to_owned(),
            text: text.to_owned(),
            module,
            facts,
        })
    }

    pub(crate) fn module(&self) -> &Module {
        &self.module
    }

    /// All its properties (4.1).
    #[must_use]
    pub fn properties(&self) -> Vec<Property> {
        with_room(|| find::all(&self.module))
    }

    /// The function of that name, whether or not it looks like a property.
    #[must_use]
    pub fn property(&self, name: &str) -> Option<Property> {
        with_room(|| find::named(&self.module, name))
    }

    /// The name of the module, as Python knows it.
    #[must_use]
    pub fn module_name(&self) -> &str {
        let file = self.file.rsplit(['/', '\\']).next().unwrap_or_default();
        file.strip_suffix(".py").unwrap_or(file)
    }

    /// What the feature file is called, without ending: `lists` for `test_lists.py`.
    #[must_use]
    pub fn short_name(&self) -> &str {
        let name = self.module_name();
        let short = name.strip_prefix("test_").unwrap_or(name);
        let short = short.strip_suffix("_test").unwrap_or(short);
        if short.is_empty() { name } else { short }
    }

    /// A word that step files can keep values under, because the module does not use it.
    #[must_use]
    pub fn store(&self) -> &'static str {
        let tokens = testwright_source::tokens(&self.text);
        let is_free = |word: &&&str| {
            !tokens
                .iter()
                .any(|token| self.text.get(token.range.clone()) == Some(**word))
        };
        ["v", "values", "stored", "kept_values"]
            .iter()
            .find(is_free)
            .unwrap_or(&"values_of_the_scenario")
    }

    /// The feature without its rules (F1).
    pub(crate) fn head(&self, speaker: &Speaker<'_>) -> Feature {
        let mut description = Description::default();
        description.push(&first_paragraph(
            self.module.docstring.as_deref().unwrap_or_default(),
        ));
        Feature {
            tags: vec!["property".to_owned()],
            name: capitalised(&speaker.words(self.short_name())),
            description,
            ..Feature::default()
        }
    }

    /// What a property must hold for, input by input.
    #[must_use]
    pub fn kinds(&self, property: &Property, speaker: &Speaker<'_>) -> Vec<Kind> {
        let definition = |name: &str| self.facts.definition(name);
        let kinds = Kinds {
            text: &self.text,
            scope: &self.facts,
            definition: &definition,
            speaker: *speaker,
        };
        let kind = |input: &Input| {
            let variable: Term = Reference::new(&input.name, Role::Variable).into();
            match &input.generator {
                Some(generator) if property.is_given && !self.is_annotation(property, input) => {
                    kinds.of_strategy(generator, Some(&variable))
                }
                Some(annotation) => kinds.of_annotation(annotation),
                None => Kind::unknown(),
            }
        };
        property.inputs.iter().map(kind).collect()
    }

    /// `@given(n=...)` asks for the annotation.
    fn is_annotation(&self, property: &Property, input: &Input) -> bool {
        let parameters = &property.function.parameters;
        let parameter = parameters
            .iter()
            .find(|parameter| parameter.name == input.name);
        parameter.is_some_and(|parameter| {
            let annotation = parameter
                .annotation
                .as_ref()
                .map(|annotation| &annotation.range);
            annotation.is_some()
                && annotation == input.generator.as_ref().map(|generator| &generator.range)
        })
    }

    /// The lines of a property for a case; without a case, conditions are undecided.
    #[must_use]
    pub fn script(
        &self,
        property: &Property,
        case: Option<&Case>,
        hoists: bool,
        speaker: &Speaker<'_>,
    ) -> Script {
        let types: Vec<Type> = self
            .kinds(property, speaker)
            .into_iter()
            .map(|kind| kind.type_)
            .collect();
        let vocabulary = speaker.vocabulary();
        with_room(|| {
            let words = |name: &str| vocabulary.words(name);
            let (module, store) = (self.module_name(), self.store());
            let here = scope::Here::new(&self.text, &self.facts, module, store, &words);
            walk::Walk::script(here, property, &types, case, hoists)
        })
    }
}
