//! Actions for definitions without recorded calls, from their signatures.

use testwright_source::tree::ParameterKind;

use super::super::action::{ActionArgument, ArgumentSource, DraftAction, ResultUse, is_operator};
use super::super::hint::{HintReader, HintedValues};
use super::super::pools::pool_name;
use super::super::public_api::{Key, LocatedFunction};
use super::{ApiTarget, CalleeName, Drafter, PooledClass};
use crate::inspect::{ClassKind, FunctionRole, ProjectModule, SignatureParameter};
use crate::value::ImportPath;

/// The maximum number of classes for one argument.
const MAX_CLASSES: usize = 3;

/// A definition without recorded calls, known by its signature alone.
pub(super) struct SignatureTarget<'a, 'n> {
    /// Its module.
    pub(super) module: &'a ProjectModule,
    /// Its key.
    pub(super) key: Key,
    /// The callee.
    pub(super) callee: CalleeName,
    /// Its role in its class.
    pub(super) role: Option<FunctionRole>,
    /// Its name.
    pub(super) name: &'n str,
    /// The class that it is listed under.
    pub(super) section: Option<usize>,
    /// The use of its result.
    pub(super) result_use: ResultUse,
    /// The class whose pool takes its result.
    pub(super) result: Option<usize>,
    /// The effect on the outside that it may have.
    pub(super) effect: Option<String>,
    /// Exceptions that it raises in normal use.
    pub(super) exceptions: Vec<String>,
    /// True if its parameters are the fields of a record.
    pub(super) is_record: bool,
    /// Its position in the draft.
    pub(super) order: usize,
}

impl<'a> Drafter<'a> {
    /// Returns the values that the annotation of a parameter allows, or else its default suggests.
    pub(super) fn hinted_values(
        &mut self,
        module: &'a ProjectModule,
        parameter: &SignatureParameter,
    ) -> Option<HintedValues> {
        let mut hints = HintReader {
            api: self.api,
            module,
            scope: &mut self.scope,
        };
        let annotated = parameter.annotation.as_deref();
        let annotated = annotated.and_then(|text| hints.annotation_values(text));
        annotated.or_else(|| hints.default_values(parameter.default.as_ref()?))
    }

    /// Returns the class whose pool takes a result, by its annotation.
    pub(super) fn hinted_result(&mut self, target: &ApiTarget<'a>) -> Option<usize> {
        if let CalleeName::Constructor(class, _) = target.callee {
            return Some(class);
        }
        let returns = target.function.function.signature.returns.as_deref()?;
        if let ("Self" | "typing.Self", CalleeName::Member(class)) = (returns, &target.callee) {
            return Some(*class);
        }
        let mut hints = HintReader {
            api: self.api,
            module: target.function.module,
            scope: &mut self.scope,
        };
        let hinted = hints.annotation_values(returns)?;
        let [class] = hinted.classes.as_slice() else {
            return None;
        };
        self.classes
            .iter()
            .position(|known| known.reference == *class)
    }

    /// Returns the exceptions that a definition without recorded calls raises in normal use.
    pub(super) fn expected_exceptions(&self, at: LocatedFunction<'a>) -> Vec<String> {
        let mut names = Vec::new();
        if at.definition.name == "__next__" {
            names.push("StopIteration".to_owned());
        }
        if self.texts.opens_files(at.module, at.definition) {
            names.push("OSError".to_owned());
        }
        names
    }

    /// Drafts actions for a signature: one with the required arguments, and one with all of them.
    pub(super) fn draft_parameters(
        &mut self,
        origin: &SignatureTarget<'a, '_>,
        parameters: &[SignatureParameter],
    ) {
        let mut needed: Vec<ActionArgument> = Vec::new();
        let mut further: Vec<ActionArgument> = Vec::new();
        let mut missing: Vec<String> = Vec::new();
        for parameter in parameters {
            let is_many = matches!(
                parameter.kind,
                ParameterKind::Variadic | ParameterKind::KeywordVariadic
            );
            if is_many {
                continue;
            }
            let is_optional = parameter.default.is_some();
            let is_named = is_optional || parameter.kind == ParameterKind::KeywordOnly;
            let keyword = is_named.then(|| parameter.name.clone());
            let keyword = keyword.filter(|_| parameter.kind != ParameterKind::PositionalOnly);
            let field = origin.is_record.then(|| parameter.name.clone());
            let list = if is_optional {
                &mut further
            } else {
                &mut needed
            };
            match self.hinted_argument(origin, parameter) {
                Some(source) => list.push(ActionArgument {
                    keyword,
                    source,
                    field,
                }),
                None if is_optional => {}
                None => {
                    missing.push(parameter.name.clone());
                    let source = ArgumentSource::Text(parameter.name.clone());
                    list.push(ActionArgument {
                        keyword,
                        source,
                        field,
                    });
                }
            }
        }
        let left_out = match (missing.as_slice(), &origin.effect) {
            ([], None) => None,
            ([], Some(effect)) => Some(format!("it {effect}")),
            (missing, _) => Some(format!(
                "nothing is known about {}: there is no recorded call and no type hint",
                list_names(missing)
            )),
        };
        let whole: Vec<ActionArgument> = needed
            .iter()
            .chain(&further)
            .map(|argument| ActionArgument {
                keyword: argument.keyword.clone(),
                source: argument.source.clone(),
                field: argument.field.clone(),
            })
            .collect();
        let is_both = !further.is_empty() && missing.is_empty();
        for arguments in std::iter::once(needed).chain(is_both.then_some(whole)) {
            let result = match origin.callee {
                CalleeName::Constructor(class, _) => Some(class),
                _ => origin
                    .result
                    .filter(|_| origin.result_use == ResultUse::Unchanged),
            };
            self.actions.push(DraftAction {
                callee: origin.callee.clone().into_callee(origin.role, origin.name),
                arguments,
                result_use: origin.result_use,
                result,
                exceptions: origin.exceptions.clone(),
                guard: None,
                note: if origin.is_record {
                    "from its fields".to_owned()
                } else {
                    "from its signature".to_owned()
                },
                comment_reason: left_out.clone(),
                section: origin.section,
                position: origin.order,
                calls: Vec::new(),
            });
        }
    }

    /// Chooses the origin of an argument: recorded values, hinted ones, or an object.
    fn hinted_argument(
        &mut self,
        origin: &SignatureTarget<'a, '_>,
        parameter: &SignatureParameter,
    ) -> Option<ArgumentSource> {
        let hinted = self.hinted_values(origin.module, parameter);
        let request = self.requests.find(&origin.key, &parameter.name);
        if let Some(request) = request.filter(|request| self.requests.has_recorded(*request)) {
            if let Some(hinted) = &hinted {
                self.requests.add_hinted(request, hinted);
            }
            return Some(ArgumentSource::Request(request));
        }
        if hinted.is_none() && !is_operator(origin.name) {
            // Values of other parameters with the same name are a good guess, and so is a class
            // with that name.
            let borrowed = self.requests.borrow_by_name(&origin.key, &parameter.name);
            let name = pool_name(&parameter.name);
            let class = || self.classes.iter().position(|class| class.pool == name);
            return borrowed
                .map(ArgumentSource::Request)
                .or_else(|| class().map(ArgumentSource::Object));
        }
        if hinted.is_none()
            && let (CalleeName::Member(class), true) = (&origin.callee, is_operator(origin.name))
        {
            return Some(ArgumentSource::Object(*class));
        }
        let hinted = hinted?;
        let derived_classes = hinted
            .classes
            .iter()
            .find_map(|class| self.derived_classes(class).first().copied());
        if let Some(class) = derived_classes {
            return Some(ArgumentSource::Object(class));
        }
        if hinted.samples.is_empty() {
            return hinted
                .allows_none
                .then(|| ArgumentSource::Text("None".to_owned()));
        }
        let request = self.requests.find_or_add(&origin.key, &parameter.name);
        self.requests.add_hinted(request, &hinted);
        Some(ArgumentSource::Request(request))
    }

    /// Returns the classes with pools that are derived from a class.
    fn derived_classes(&self, class: &ImportPath) -> Vec<usize> {
        let is_heir = |known: &PooledClass<'_>| {
            let family = self.api.class_and_bases(&known.reference);
            family.iter().any(|at| at.reference() == *class)
                && known.class.class.kind != ClassKind::Abstract
        };
        let numbered = self.classes.iter().enumerate();
        numbered
            .filter(|(_, known)| is_heir(known))
            .map(|(number, _)| number)
            .take(MAX_CLASSES)
            .collect()
    }
}

/// Lists names in backticks: `a`, `a and b`, `a, b and c`.
fn list_names(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
        None => String::new(),
    }
}
