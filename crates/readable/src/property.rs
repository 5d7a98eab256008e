//! Properties as features: the statement that must hold, its inputs, and examples that can be run
//! (rules F1 to F9 of `docs/readable-rules.md#features`).
//!
//! A property is read and never run. [`crate::sample`] chooses the values of its examples.
//! [`PropertyModule::script`] turns the body of a property into lines, and
//! [`PropertyModule::render_feature`] turns properties with their examples into a feature with step
//! definitions.

mod accumulating_loops;
mod code;
mod facts;
mod find;
mod hoist;
mod loops;
mod outline;
mod rule;
mod scope;
mod script;
mod script_builder;
mod unittest;
mod wording;

pub(crate) use code::{child_expressions, python_string};
pub use facts::ModuleFacts;
pub use find::{PropertyFunction, PropertyInput};
pub use outline::ExampleLayout;
pub use rule::{RenderedFeature, SampledProperty, StepDefinition, StepPiece, ValuePlacement};
pub(crate) use script::call_text;
pub use script::{PropertyScript, ResultName, ScriptLine, StepCode, StepSentence};
pub(crate) use script_builder::expected_errors;
#[cfg(test)]
mod tests;

use testwright_source::SyntaxProblem;
use testwright_source::tree::{Module, first_paragraph};

use crate::big_stack::with_big_stack;
use crate::gherkin::{Description, Feature};
use crate::kind::{KindPhrase, KindReader};
use crate::phrase::Phraser;
use crate::sample::SampleCase;
use crate::term::{NameReference, NameRole, Term, Type};
use crate::words::capitalise;

/// A parsed module with properties.
#[derive(Debug)]
pub struct PropertyModule {
    /// The file, as the user named it.
    pub file: String,
    /// The source text.
    pub text: String,
    module: Module,
    facts: ModuleFacts,
}

impl PropertyModule {
    /// Parses a module.
    ///
    /// # Errors
    ///
    /// Returns the syntax errors.
    pub fn parse(file: &str, text: &str) -> Result<PropertyModule, Vec<SyntaxProblem>> {
        let (module, facts) = with_big_stack(|| facts::parse_module(text))?;
        Ok(PropertyModule {
            file: file.to_owned(),
            text: text.to_owned(),
            module,
            facts,
        })
    }

    /// Returns the syntax tree.
    pub(crate) fn module(&self) -> &Module {
        &self.module
    }

    /// Returns all properties of the module: functions `test_…` and `prop_…` with `@given`, methods
    /// with `@given`, and functions `prop_…`.
    #[must_use]
    pub fn properties(&self) -> Vec<PropertyFunction> {
        with_big_stack(|| find::find_properties(&self.module))
    }

    /// Returns the function of that name, even if it does not look like a property.
    #[must_use]
    pub fn property(&self, name: &str) -> Option<PropertyFunction> {
        with_big_stack(|| find::find_property(&self.module, name))
    }

    /// Returns the name of the module in Python.
    #[must_use]
    pub fn module_name(&self) -> &str {
        let file = self.file.rsplit(['/', '\\']).next().unwrap_or_default();
        file.strip_suffix(".py").unwrap_or(file)
    }

    /// Returns the name of the feature file without its extension: `lists` for `test_lists.py`.
    #[must_use]
    pub fn short_name(&self) -> &str {
        let name = self.module_name();
        let short = name.strip_prefix("test_").unwrap_or(name);
        let short = short.strip_suffix("_test").unwrap_or(short);
        if short.is_empty() { name } else { short }
    }

    /// Returns a variable name for the values of a scenario that the module does not use itself.
    #[must_use]
    pub fn store_name(&self) -> &'static str {
        let tokens = testwright_source::tokenize(&self.text);
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

    /// Returns the feature without its rules (F1).
    pub(crate) fn feature_head(&self, phraser: &Phraser<'_>) -> Feature {
        let mut description = Description::default();
        description.push(&first_paragraph(
            self.module.docstring.as_deref().unwrap_or_default(),
        ));
        Feature {
            tags: vec!["property".to_owned()],
            name: capitalise(&phraser.words(self.short_name())),
            description,
            ..Feature::default()
        }
    }

    /// Returns the kind of each input of a property.
    #[must_use]
    pub fn input_kinds(
        &self,
        property: &PropertyFunction,
        phraser: &Phraser<'_>,
    ) -> Vec<KindPhrase> {
        let definition = |name: &str| self.facts.definition(name);
        let kinds = KindReader {
            text: &self.text,
            scope: &self.facts,
            definition: &definition,
            phraser: *phraser,
        };
        let kind = |input: &PropertyInput| {
            let variable: Term = NameReference::new(&input.name, NameRole::Variable).into();
            match &input.generator {
                Some(generator) if property.is_given && !self.is_annotation(property, input) => {
                    kinds.read_strategy(generator, Some(&variable))
                }
                Some(annotation) => kinds.read_annotation(annotation),
                None => KindPhrase::unknown(),
            }
        };
        property.inputs.iter().map(kind).collect()
    }

    /// Returns true if the generator of an input is its annotation, which `@given(n=...)` asks for.
    fn is_annotation(&self, property: &PropertyFunction, input: &PropertyInput) -> bool {
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

    /// Returns the lines of a property for a case. Without a case, conditions are undecided.
    #[must_use]
    pub fn script(
        &self,
        property: &PropertyFunction,
        case: Option<&SampleCase>,
        hoists: bool,
        phraser: &Phraser<'_>,
    ) -> PropertyScript {
        let types: Vec<Type> = self
            .input_kinds(property, phraser)
            .into_iter()
            .map(|kind| kind.type_)
            .collect();
        let vocabulary = phraser.vocabulary();
        with_big_stack(|| {
            let words = |name: &str| vocabulary.words(name);
            let (module, store) = (self.module_name(), self.store_name());
            let scope = scope::PropertyScope::new(&self.text, &self.facts, module, store, &words);
            script_builder::ScriptBuilder::script(scope, property, &types, case, hoists)
        })
    }
}
