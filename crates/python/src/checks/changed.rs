//! Which properties need not be checked again, because nothing that they can see has changed since they held.
//!
//! Properties that name the same slots share a view of what can be reached from them. Before a check, each view is
//! compared with how things are, and if it differs, or if the world does, all properties of those slots are wanted.
//! After it, those views are compared that were new: a property that changed what it sees has held for something
//! that is gone.

use pyo3::ffi;
use pyo3::prelude::*;
use rustc_hash::FxHashSet;

use super::Property;
use crate::context::Context;
use crate::line_code::PreparedLine;
use crate::sight::{Types, View, World};

pub(crate) struct Changed<'py> {
    types: Types,
    world: World,
    seen: FxHashSet<*mut ffi::PyObject>,
    groups: Vec<Group>,
    /// By property, then by combination; `None` for a property with too many of them.
    instances: Option<Vec<Option<Vec<Instance<'py>>>>>,
    /// Some property has too many combinations: it runs in every check, and whatever it sees.
    has_too_many: bool,
    /// Whether a property ran in this check, and whether one did whose slots could not be looked at.
    any_ran: bool,
    any_ran_unseen: bool,
    /// Whether the world is one that can be compared.
    knows_world: bool,
    /// How often it could not be looked at, and how often it could. There is no use in trying for ever.
    failures: u32,
    successes: u32,
    why_all: Option<String>,
}

/// Slots that some properties name.
struct Group {
    places: Vec<usize>,
    view: View,
    state: State,
    /// In how many checks in a row nothing could be known, and for how many more it is not tried.
    failures: u32,
    pause: u32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// What the slots hold is as it was when the properties held.
    Same,
    /// It is not, but the view is that of before this check.
    New,
    /// Nobody knows.
    Unknown,
}

struct Instance<'py> {
    line: PreparedLine<'py>,
    group: usize,
    /// It held when the view of its group was taken.
    held: bool,
    /// It was run in this check.
    ran: bool,
}

const MOST_FAILURES: u32 = 3;
/// To look in vain takes as long as what is saved in about so many checks.
const SUCCESSES_PER_FAILURE: u32 = 200;
const LONGEST_PAUSE: u32 = 64;

impl<'py> Changed<'py> {
    pub(crate) fn new(context: &Context<'py>) -> PyResult<Changed<'py>> {
        Ok(Changed {
            types: Types::new(context.python)?,
            world: World::new(&context.support)?,
            seen: FxHashSet::default(),
            groups: Vec::new(),
            instances: None,
            has_too_many: false,
            any_ran: false,
            any_ran_unseen: false,
            knows_world: false,
            failures: 0,
            successes: 0,
            why_all: None,
        })
    }

    pub(crate) fn why_all(&self) -> Option<&str> {
        self.why_all.as_deref()
    }

    /// Finds out what has changed. False if everything is to be checked, and nothing will be known of it.
    pub(super) fn start(
        &mut self,
        context: &Context<'py>,
        properties: &mut [Property<'py>],
    ) -> bool {
        if self.failures > MOST_FAILURES + self.successes / SUCCESSES_PER_FAILURE {
            return false;
        }
        if self.types.know_too_many_classes() {
            // Modules that are run again for each test make new ones each time.
            self.forget();
            self.types.forget_classes();
        }
        if self.instances.is_none()
            && let Err(error) = self.prepare(context, properties)
        {
            return self.give_up(format!("a property cannot be compiled: {error}"));
        }
        if !(self.knows_world && self.world.is_unchanged(context.python, &self.types)) {
            self.forget();
            let roots: Vec<_> = self
                .instances
                .iter()
                .flatten()
                .flatten()
                .flatten()
                .flat_map(|instance| {
                    let operands = instance.line.operands.iter().map(Bound::as_ptr);
                    operands.chain([instance.line.function.as_ptr()])
                })
                .collect();
            let recorded = self
                .world
                .record(context.python, roots.into_iter(), &mut self.types);
            if let Err(unknown) = recorded {
                return self.give_up(unknown);
            }
            self.knows_world = true;
        }
        for number in 0..self.groups.len() {
            if let Err(unknown) = self.look_at_group(context, number) {
                return self.give_up(unknown);
            }
        }
        self.successes = self.successes.saturating_add(1);
        self.any_ran = self.has_too_many;
        self.any_ran_unseen = self.has_too_many;
        let instances = self.instances.iter_mut().flatten().flatten().flatten();
        for instance in instances {
            instance.ran = false;
            instance.held &= self.groups[instance.group].state == State::Same;
        }
        true
    }

    #[cold]
    fn give_up(&mut self, why: String) -> bool {
        self.forget();
        self.failures += 1;
        self.why_all = Some(why);
        false
    }

    #[cold]
    fn prepare(
        &mut self,
        context: &Context<'py>,
        properties: &mut [Property<'py>],
    ) -> PyResult<()> {
        let mut all = Vec::new();
        for property in properties {
            let lines = property.condition.prepare(context)?;
            let instances = lines.map(|lines| lines.into_iter().map(|line| self.instance(line)));
            all.push(instances.map(Iterator::collect));
        }
        self.has_too_many = all.iter().any(Option::is_none);
        self.instances = Some(all);
        Ok(())
    }

    fn instance(&mut self, line: PreparedLine<'py>) -> Instance<'py> {
        let known = self
            .groups
            .iter()
            .position(|group| group.places == line.places);
        let group = known.unwrap_or_else(|| {
            self.groups.push(Group {
                places: line.places.clone(),
                view: View::default(),
                state: State::Unknown,
                failures: 0,
                pause: 0,
            });
            self.groups.len() - 1
        });
        Instance {
            line,
            group,
            held: false,
            ran: false,
        }
    }

    /// Whether a group is as it was; if not, how it is now.
    fn look_at_group(&mut self, context: &Context<'py>, number: usize) -> Result<(), String> {
        let group = &mut self.groups[number];
        if group.state != State::Unknown && group.is_unchanged(context, &self.types) {
            group.state = State::Same;
            return Ok(());
        }
        group.state = State::Unknown;
        if group.pause > 0 {
            group.pause -= 1;
            return Ok(());
        }
        let roots: Vec<_> = values(context, &group.places).collect();
        let recorded = group.view.record(
            context.python,
            roots.into_iter(),
            &mut self.types,
            &mut self.seen,
            &mut self.world,
        );
        self.world.complete(context.python, &mut self.types)?;
        match recorded {
            Ok(()) => {
                group.state = State::New;
                group.failures = 0;
            }
            Err(_) => {
                group.failures += 1;
                group.pause = (1 << group.failures.min(30)).min(LONGEST_PAUSE);
            }
        }
        Ok(())
    }

    /// Whether a property is to be checked for a combination. If it then does not hold, all is forgotten.
    #[inline]
    pub(super) fn is_wanted(&mut self, property: usize, combination: usize) -> bool {
        let Some(instance) = instance_at(&mut self.instances, property, combination) else {
            return true;
        };
        instance.ran = !instance.held;
        instance.held = true;
        if instance.ran {
            self.any_ran = true;
            self.any_ran_unseen |= self.groups[instance.group].state == State::Unknown;
        }
        instance.ran
    }

    /// Whether a property was left out and is to be checked nevertheless.
    pub(super) fn is_wanted_after_all(&mut self, property: usize, combination: usize) -> bool {
        instance_at(&mut self.instances, property, combination)
            .is_some_and(|instance| !instance.ran)
    }

    /// After everything that was wanted held: whether the properties themselves may have changed something.
    pub(super) fn finish(&mut self, context: &Context<'py>) -> bool {
        if !self.any_ran {
            return false;
        }
        let new_are_unchanged = self
            .groups
            .iter()
            .all(|group| group.state != State::New || group.is_unchanged(context, &self.types));
        let world_is_unchanged = self.world.is_unchanged(context.python, &self.types);
        if !self.any_ran_unseen && new_are_unchanged && world_is_unchanged {
            return false;
        }
        // Properties change only what they can reach: something else that they reached may have changed, too.
        let mut others_changed = !world_is_unchanged;
        for group in &mut self.groups {
            if group.state != State::Unknown && !group.is_unchanged(context, &self.types) {
                others_changed |= group.state == State::Same;
                group.state = State::Unknown;
            }
        }
        others_changed
    }

    /// Everything is to be checked the next time.
    pub(super) fn forget(&mut self) {
        self.knows_world = false;
        for group in &mut self.groups {
            group.state = State::Unknown;
        }
    }
}

impl Group {
    fn is_unchanged(&self, context: &Context<'_>, types: &Types) -> bool {
        self.view.is_unchanged(values(context, &self.places), types)
    }
}

#[inline]
fn instance_at<'a, 'py>(
    instances: &'a mut Option<Vec<Option<Vec<Instance<'py>>>>>,
    property: usize,
    combination: usize,
) -> Option<&'a mut Instance<'py>> {
    let instances = instances.as_mut()?[property].as_mut()?;
    instances.get_mut(combination)
}

/// The values of slots.
fn values<'a>(
    context: &'a Context<'_>,
    places: &'a [usize],
) -> impl Iterator<Item = *mut ffi::PyObject> + 'a {
    places.iter().map(|place| {
        // SAFETY: the slots are a list that keeps its length, and the places are within it.
        unsafe { ffi::PyList_GET_ITEM(context.slots.as_ptr(), *place as isize) }
    })
}
