//! Models as a system that commands can work on.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rustc_hash::FxHashSet;
use testwright_campaign::SentName;
use testwright_core::product::Trouble;
use testwright_core::{
    ActionId, Catalog, Coverage, Covered, Error, Outcome, Random, System, TargetId, TemplateSet,
};
use testwright_model::{Walk, state_text};
use testwright_python::{Models, Output, Printed, SlotValue, Steppers};

use crate::files::TextFile;
use crate::guard::Note;
use crate::subject::{PlacesReached, Reachable, Subject, Teller};
use crate::workers::actions::spoken_of;

/// Where what models print goes, from before they are imported.
pub(crate) struct Curtain(Printed);

impl Curtain {
    pub(crate) fn new(output: Output) -> Result<Curtain, Error> {
        Printed::start(output).map(Curtain)
    }
}

impl Drop for Curtain {
    fn drop(&mut self) {
        // What was printed behind it stays there.
        testwright_python::flush();
    }
}

/// What somebody else can see of it, for the case that this process does not survive.
#[derive(Clone, Copy)]
pub(crate) enum At<'s> {
    /// Nothing.
    Alone,
    /// Which step of a saved test it is at while it looks its steps up.
    Meeting(&'s Note),
    /// The test that it is at.
    Test(&'s Note),
}

/// Models that are led around.
pub(crate) struct ModelSystem<'s, 'w, 'm> {
    walk: Walk<'w, 'm>,
    curtain: &'s mut Curtain,
    at: At<'s>,
    /// The folder that names of modules refer to.
    folder: Option<PathBuf>,
    /// Who wants to know what actions are called.
    teller: Option<Teller>,
    /// Which were told already.
    told: FxHashSet<ActionId>,
    /// What is tested, until it is there: the module, and how long it may take.
    stepping: Option<(String, Duration)>,
    steppers: Steppers<'m>,
}

/// How many of the states that models may be in are shown.
const MOST_SHOWN: usize = 3;

impl<'s, 'w, 'm> ModelSystem<'s, 'w, 'm> {
    pub(crate) fn new(
        models: &'w mut Models<'m>,
        curtain: &'s mut Curtain,
        at: At<'s>,
        stepping: Option<(String, Duration)>,
    ) -> Result<ModelSystem<'s, 'w, 'm>, Trouble> {
        Ok(ModelSystem {
            steppers: models.steppers(),
            stepping,
            walk: Walk::new(&mut models.product)?,
            curtain,
            at,
            folder: std::env::current_dir().ok(),
            teller: None,
            told: FxHashSet::default(),
        })
    }

    /// The names of all actions.
    pub(crate) fn class_names(&self) -> Vec<String> {
        let templates = self.walk.actions().templates().iter();
        templates.map(|template| template.class.clone()).collect()
    }

    /// Whether an invariant is false before any step.
    pub(crate) fn begins_wrong(&self) -> bool {
        let product = self.walk.product();
        !self
            .walk
            .starts()
            .iter()
            .all(|state| product.is_safe(state))
    }
}

impl System for ModelSystem<'_, '_, '_> {
    fn actions(&self) -> &Catalog {
        self.walk.actions()
    }

    fn number(&mut self, class: &str, rest: &str) -> Option<ActionId> {
        self.walk.number(class, rest)
    }

    fn reset(&mut self) -> Result<(), Error> {
        if let At::Test(note) = self.at {
            // What was before has no part in what comes now.
            note.write("");
        }
        self.walk.reset()
    }

    fn is_enabled(&mut self, action: ActionId) -> bool {
        self.walk.is_enabled(action)
    }

    fn pick(&mut self, random: &mut Random) -> Option<ActionId> {
        self.walk.pick(random)
    }

    fn pick_among(&mut self, templates: &TemplateSet, random: &mut Random) -> Option<ActionId> {
        self.walk.pick_among(templates, random)
    }

    fn step(&mut self, action: ActionId) -> Outcome {
        if let At::Test(note) = self.at {
            note.add(&format!("{}\n", self.walk.actions().text(action)));
        }
        if let Some(teller) = &mut self.teller
            && self.told.insert(action)
            && let Some(name) = SentName::of(action, self.walk.actions())
        {
            teller(name);
        }
        let outcome = self.walk.step(action);
        if let At::Test(note) = self.at {
            note.rest();
        }
        outcome
    }

    fn check(&mut self) -> Outcome {
        self.walk.check()
    }

    fn enabled(&mut self) -> Vec<ActionId> {
        self.walk.enabled()
    }
}

impl Covered for ModelSystem<'_, '_, '_> {
    fn all_touched(&self) -> Coverage {
        self.walk.all_touched()
    }

    fn take_new(&mut self) -> Vec<TargetId> {
        self.walk.take_new()
    }

    fn begin_anew(&mut self) -> Result<(), Error> {
        self.walk.begin_anew()
    }

    fn touched(&self) -> Coverage {
        self.walk.touched()
    }
}

impl Subject for ModelSystem<'_, '_, '_> {
    fn is_measured(&self) -> bool {
        true
    }

    fn news(&self) -> Vec<TargetId> {
        self.walk.new_transitions()
    }

    fn unit(&self) -> &'static str {
        "transition"
    }

    fn reachable(&self, targets: &[TargetId], _root: &Path) -> Vec<Reachable> {
        let names: Vec<&str> = self
            .walk
            .product()
            .models()
            .iter()
            .map(|one| one.name())
            .collect();
        let file = names.join(" ");
        let each = targets.iter().map(|target| {
            let transition = self.walk.transition(*target);
            let (state, action) = transition
                .map(|transition| (transition.state, transition.action))
                .unwrap_or_default();
            Reachable {
                file: file.clone(),
                from: None,
                to: None,
                place: format!("{action} in {state}"),
                source: action,
            }
        });
        each.collect()
    }

    fn tell_names(&mut self, teller: Option<Teller>) {
        self.told.clear();
        self.teller = teller;
    }

    fn come_to_life(&mut self) -> Result<(), Error> {
        let Some((name, patience)) = self.stepping.take() else {
            return Ok(());
        };
        match self.steppers.import(&name, Some(patience)) {
            Ok(stepper) => {
                self.walk.take_along(Box::new(stepper));
                Ok(())
            }
            Err(Trouble::Unusable(error)) => Err(error),
            Err(Trouble::Raised { what, traceback }) => {
                let mut message = format!("the stepper `{name}` cannot be imported: {what}");
                for line in traceback.lines() {
                    message.push_str("\n  ");
                    message.push_str(line);
                }
                Err(Error::new(message))
            }
            Err(trouble) => Err(Error::new(trouble.to_string())),
        }
    }

    fn hear_of(&mut self, test: &str) {
        for (class, rest) in spoken_of(test) {
            self.walk.number(class, rest);
        }
    }

    fn has_met(&self, action: ActionId) -> bool {
        self.walk.chosen(action).is_some()
    }

    /// The files are the names of actions, and a way is two halves of a number that stands for the transition.
    fn places(&self, targets: &[TargetId], known: usize) -> PlacesReached {
        let templates = self.walk.actions().templates();
        let new = templates.get(known..).unwrap_or_default();
        let files = new
            .iter()
            .map(|one| (PathBuf::from(&one.class), Vec::new()));
        let keys = targets
            .iter()
            .filter_map(|one| self.walk.transition_key(*one));
        let arcs = keys.map(|(template, key)| (template.0, (key >> 32) as i32, key as i32));
        PlacesReached {
            files: files.collect(),
            arcs: arcs.collect(),
        }
    }

    fn move_to(&mut self, folder: &Path) -> Result<(), Error> {
        testwright_python::attach(|interpreter| testwright_python::move_to(interpreter, folder))
    }

    fn take_observed(&mut self) -> Vec<String> {
        let observed = self.walk.take_observed().into_iter();
        observed
            .map(|action| self.walk.actions().text(action))
            .collect()
    }

    fn help_to_reach(&self) -> &'static str {
        "none of their steps is possible: `testwright explore` tells what is"
    }

    fn meet(&mut self, test: &TextFile) {
        let at = self.at;
        self.walk.meet(&test.text, &mut |step, text| match at {
            At::Alone => {}
            At::Meeting(note) => {
                note.write(&format!("{}: fails at step {step}, {text}", test.name));
            }
            At::Test(note) if step == 1 => note.write(&format!("{text}\n")),
            At::Test(note) => note.add(&format!("{text}\n")),
        });
        if let At::Test(note) = at {
            note.rest();
        }
    }

    fn take_output(&mut self) -> String {
        testwright_python::flush();
        self.curtain.0.take()
    }

    fn set_output(&mut self, output: Output) -> Result<(), Error> {
        testwright_python::flush();
        self.curtain.0.set(output)
    }

    fn flush(&self) {
        testwright_python::flush();
    }

    /// The states of all models, whatever the action.
    fn shown(&self, _action: ActionId) -> Vec<SlotValue> {
        let product = self.walk.product();
        let value = |name: &str, text: String| SlotValue {
            name: name.to_owned(),
            text,
            type_name: "state".to_owned(),
            opaque: false,
        };
        match self.walk.states() {
            [only] => {
                let models = product.models().iter().zip(only);
                models
                    .map(|(model, place)| value(model.name(), model.text(*place)))
                    .collect()
            }
            several => several
                .iter()
                .take(MOST_SHOWN)
                .map(|state| value("one of its states", state_text(product, state)))
                .collect(),
        }
    }

    fn home(&self) -> Option<(PathBuf, PathBuf)> {
        let program = testwright_python::attach(testwright_python::executable)?;
        Some((program, self.folder.clone()?))
    }
}
