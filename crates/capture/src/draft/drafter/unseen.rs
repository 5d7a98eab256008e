//! Actions for what was never called, from what its signature tells.

use testwright_source::tree::ParameterKind;

use super::super::action::{Action, Argument, What, Wrap, is_operator};
use super::super::hint::{Hinted, Hints};
use super::super::pools::pool_name;
use super::super::surface::{FunctionAt, Key};
use super::{Drafter, Named, PooledClass, Target};
use crate::inspect::{Module, Nature, Parameter, Role};
use crate::value::Reference;

/// How many classes an argument may be of.
const MOST_CLASSES: usize = 3;

/// Something of which only the signature is known.
pub(super) struct Origin<'a, 'n> {
    pub(super) module: &'a Module,
    pub(super) key: Key,
    pub(super) callee: Named,
    pub(super) role: Option<Role>,
    pub(super) name: &'n str,
    pub(super) section: Option<usize>,
    pub(super) wrap: Wrap,
    pub(super) result: Option<usize>,
    pub(super) danger: Option<String>,
    pub(super) exceptions: Vec<String>,
    pub(super) is_record: bool,
    pub(super) order: usize,
}

impl<'a> Drafter<'a> {
    /// What the annotation of a parameter allows, or else its default lets expect.
    pub(super) fn hint(&mut self, module: &'a Module, parameter: &Parameter) -> Option<Hinted> {
        let mut hints = Hints {
            surface: self.surface,
            module,
            scope: &mut self.scope,
        };
        let annotated = parameter.annotation.as_deref();
        let annotated = annotated.and_then(|text| hints.annotation(text));
        annotated.or_else(|| hints.default(parameter.default.as_ref()?))
    }

    /// The class whose pool takes what something gives, by its annotation.
    pub(super) fn hinted_result(&mut self, target: &Target<'a>) -> Option<usize> {
        if let Named::New(class, _) = target.callee {
            return Some(class);
        }
        let returns = target.at.function.signature.returns.as_deref()?;
        if let ("Self" | "typing.Self", Named::Of(class)) = (returns, &target.callee) {
            return Some(*class);
        }
        let mut hints = Hints {
            surface: self.surface,
            module: target.at.module,
            scope: &mut self.scope,
        };
        let hinted = hints.annotation(returns)?;
        let [class] = hinted.classes.as_slice() else {
            return None;
        };
        self.classes
            .iter()
            .position(|known| known.reference == *class)
    }

    /// What something that was never called raises without being wrong.
    pub(super) fn expected(&self, at: FunctionAt<'a>) -> Vec<String> {
        let mut names = Vec::new();
        if at.definition.name == "__next__" {
            names.push("StopIteration".to_owned());
        }
        if self.texts.opens_files(at.module, at.definition) {
            names.push("OSError".to_owned());
        }
        names
    }

    /// Actions for something of which only the signature is known: with what it needs, and with all that it takes.
    pub(super) fn draft_parameters(&mut self, origin: &Origin<'a, '_>, parameters: &[Parameter]) {
        let mut needed: Vec<Argument> = Vec::new();
        let mut further: Vec<Argument> = Vec::new();
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
                Some(what) => list.push(Argument {
                    keyword,
                    what,
                    field,
                }),
                None if is_optional => {}
                None => {
                    missing.push(parameter.name.clone());
                    let what = What::Text(parameter.name.clone());
                    list.push(Argument {
                        keyword,
                        what,
                        field,
                    });
                }
            }
        }
        let left_out = match (missing.as_slice(), &origin.danger) {
            ([], None) => None,
            ([], Some(danger)) => Some(format!("it {danger}")),
            (missing, _) => Some(format!(
                "nothing is known about {}: no call was seen, and no type hint tells",
                listed(missing)
            )),
        };
        let whole: Vec<Argument> = needed
            .iter()
            .chain(&further)
            .map(|argument| Argument {
                keyword: argument.keyword.clone(),
                what: argument.what.clone(),
                field: argument.field.clone(),
            })
            .collect();
        let is_both = !further.is_empty() && missing.is_empty();
        for arguments in std::iter::once(needed).chain(is_both.then_some(whole)) {
            let result = match origin.callee {
                Named::New(class, _) => Some(class),
                _ => origin.result.filter(|_| origin.wrap == Wrap::Nothing),
            };
            self.actions.push(Action {
                callee: origin.callee.clone().into_callee(origin.role, origin.name),
                arguments,
                wrap: origin.wrap,
                result,
                exceptions: origin.exceptions.clone(),
                guard: None,
                note: if origin.is_record {
                    "from its fields".to_owned()
                } else {
                    "from its signature".to_owned()
                },
                left_out: left_out.clone(),
                section: origin.section,
                order: origin.order,
                calls: Vec::new(),
            });
        }
    }

    fn hinted_argument(&mut self, origin: &Origin<'a, '_>, parameter: &Parameter) -> Option<What> {
        let hinted = self.hint(origin.module, parameter);
        let wish = self.wishes.known(&origin.key, &parameter.name);
        if let Some(wish) = wish.filter(|wish| self.wishes.was_seen(*wish)) {
            if let Some(hinted) = &hinted {
                self.wishes.hinted(wish, hinted);
            }
            return Some(What::Wish(wish));
        }
        if hinted.is_none() && !is_operator(origin.name) {
            // What other parameters of the same name were given is a good guess, and so is a class of that name.
            let borrowed = self.wishes.borrowed(&origin.key, &parameter.name);
            let name = pool_name(&parameter.name);
            let class = || self.classes.iter().position(|class| class.pool == name);
            return borrowed
                .map(What::Wish)
                .or_else(|| class().map(What::Object));
        }
        if hinted.is_none()
            && let (Named::Of(class), true) = (&origin.callee, is_operator(origin.name))
        {
            return Some(What::Object(*class));
        }
        let hinted = hinted?;
        let accepted = hinted
            .classes
            .iter()
            .find_map(|class| self.accepted(class).first().copied());
        if let Some(class) = accepted {
            return Some(What::Object(class));
        }
        if hinted.samples.is_empty() {
            return hinted.or_none.then(|| What::Text("None".to_owned()));
        }
        let wish = self.wishes.of(&origin.key, &parameter.name);
        self.wishes.hinted(wish, &hinted);
        Some(What::Wish(wish))
    }

    /// The classes with pools whose objects are objects of a class.
    fn accepted(&self, class: &Reference) -> Vec<usize> {
        let is_heir = |known: &PooledClass<'_>| {
            let family = self.surface.family(&known.reference);
            family.iter().any(|at| at.reference() == *class)
                && known.at.class.nature != Nature::Abstract
        };
        let numbered = self.classes.iter().enumerate();
        numbered
            .filter(|(_, known)| is_heir(known))
            .map(|(number, _)| number)
            .take(MOST_CLASSES)
            .collect()
    }
}

/// `a`, `a and b`, `a, b and c`, each in quotes.
fn listed(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
        None => String::new(),
    }
}
