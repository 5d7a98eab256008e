//! Tracks which properties need no check because nothing they can see has changed since they held.
//!
//! Properties that name the same slots share a snapshot of the objects reachable from these slots.
//! Before a check, each snapshot is compared with the current objects. If it differs, or if the
//! globals differ, all properties of those slots are checked. Afterwards new snapshots are compared
//! again: a property that changed what it sees has held for a state that no longer exists.

use pyo3::ffi;
use pyo3::prelude::*;
use rustc_hash::FxHashSet;

use super::Property;
use crate::context::HarnessContext;
use crate::line_code::PreparedLine;
use crate::reachability::{GlobalSnapshot, KnownTypes, ReachableSnapshot};

/// The state of change tracking.
pub(crate) struct ChangeTracker<'py> {
    /// Classes whose objects can be compared.
    types: KnownTypes,
    /// The globals that properties can see.
    globals: GlobalSnapshot,
    /// Objects visited in the current traversal; a buffer.
    seen: FxHashSet<*mut ffi::PyObject>,
    /// One entry per set of slots that some property names.
    groups: Vec<SlotGroup>,
    /// Instances by property and combination; `None` for a property with too many combinations.
    instances: Option<Vec<Option<Vec<TrackedInstance<'py>>>>>,
    /// Some property has too many combinations, so it runs in every check and may see anything.
    has_too_many: bool,
    /// A property ran in this check.
    any_ran: bool,
    /// A property ran whose slots could not be compared.
    any_ran_untracked: bool,
    /// The globals could be recorded.
    has_globals: bool,
    /// The number of checks in which nothing could be compared. Tracking stops when they are too
    /// frequent.
    failures: u32,
    /// The number of checks with a comparison.
    successes: u32,
    /// The reason for the last failure.
    reason_for_all: Option<String>,
}

/// A set of slots that some properties name.
struct SlotGroup {
    /// The positions of the slots.
    positions: Vec<usize>,
    /// The objects reachable from them when the properties held.
    snapshot: ReachableSnapshot,
    /// The relation between the snapshot and the current objects.
    state: GroupState,
    /// The number of failed recordings in a row.
    failures: u32,
    /// The number of checks until the next attempt.
    pause: u32,
}

/// The relation between the snapshot of a group and its current objects.
#[derive(Clone, Copy, PartialEq, Eq)]
enum GroupState {
    /// The objects are the same as when the properties held.
    Unchanged,
    /// They changed, and the snapshot was taken before this check.
    Changed,
    /// There is no usable snapshot.
    Unknown,
}

/// A property for one combination of slots and alternatives.
struct TrackedInstance<'py> {
    /// The compiled condition.
    line: PreparedLine<'py>,
    /// The index of its group.
    group: usize,
    /// It held when the snapshot of its group was taken.
    had_held: bool,
    /// It ran in this check.
    ran: bool,
}

/// The number of failures that are always tolerated.
const MAX_FAILURES: u32 = 3;
/// The number of successes that make up for one failure: a failed comparison takes about as long as
/// this many checks save.
const SUCCESSES_PER_FAILURE: u32 = 200;
/// The maximum number of checks between two attempts for one group.
const MAX_PAUSE: u32 = 64;

impl<'py> ChangeTracker<'py> {
    /// Starts tracking. Fails if this interpreter's objects cannot be compared.
    pub(crate) fn new(context: &HarnessContext<'py>) -> PyResult<ChangeTracker<'py>> {
        Ok(ChangeTracker {
            types: KnownTypes::new(context.python)?,
            globals: GlobalSnapshot::new(&context.support)?,
            seen: FxHashSet::default(),
            groups: Vec::new(),
            instances: None,
            has_too_many: false,
            any_ran: false,
            any_ran_untracked: false,
            has_globals: false,
            failures: 0,
            successes: 0,
            reason_for_all: None,
        })
    }

    /// Returns the reason why all properties are checked, if they are.
    pub(crate) fn reason_for_all(&self) -> Option<&str> {
        self.reason_for_all.as_deref()
    }

    /// Compares all snapshots. Returns false if everything has to be checked without tracking.
    pub(super) fn start(
        &mut self,
        context: &HarnessContext<'py>,
        properties: &mut [Property<'py>],
    ) -> bool {
        if self.failures > MAX_FAILURES + self.successes / SUCCESSES_PER_FAILURE {
            return false;
        }
        if self.types.has_too_many_classes() {
            // Modules that are executed again for each test define new classes each time.
            self.invalidate();
            self.types.forget_classes();
        }
        if self.instances.is_none()
            && let Err(error) = self.prepare(context, properties)
        {
            return self.give_up(format!("a property cannot be compiled: {error}"));
        }
        if !(self.has_globals && self.globals.is_unchanged(context.python, &self.types)) {
            self.invalidate();
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
                .globals
                .record(context.python, roots.into_iter(), &mut self.types);
            if let Err(unknown) = recorded {
                return self.give_up(unknown);
            }
            self.has_globals = true;
        }
        for number in 0..self.groups.len() {
            if let Err(unknown) = self.compare_group(context, number) {
                return self.give_up(unknown);
            }
        }
        self.successes = self.successes.saturating_add(1);
        self.any_ran = self.has_too_many;
        self.any_ran_untracked = self.has_too_many;
        let instances = self.instances.iter_mut().flatten().flatten().flatten();
        for instance in instances {
            instance.ran = false;
            instance.had_held &= self.groups[instance.group].state == GroupState::Unchanged;
        }
        true
    }

    /// Records a failure and its reason.
    #[cold]
    fn give_up(&mut self, reason: String) -> bool {
        self.invalidate();
        self.failures += 1;
        self.reason_for_all = Some(reason);
        false
    }

    /// Compiles all instances and groups them by slots.
    #[cold]
    fn prepare(
        &mut self,
        context: &HarnessContext<'py>,
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

    /// Adds an instance to the group of its slots.
    fn instance(&mut self, line: PreparedLine<'py>) -> TrackedInstance<'py> {
        let known = self
            .groups
            .iter()
            .position(|group| group.positions == line.positions);
        let group = known.unwrap_or_else(|| {
            self.groups.push(SlotGroup {
                positions: line.positions.clone(),
                snapshot: ReachableSnapshot::default(),
                state: GroupState::Unknown,
                failures: 0,
                pause: 0,
            });
            self.groups.len() - 1
        });
        TrackedInstance {
            line,
            group,
            had_held: false,
            ran: false,
        }
    }

    /// Compares a group with its snapshot, and takes a new one if it differs.
    fn compare_group(
        &mut self,
        context: &HarnessContext<'py>,
        number: usize,
    ) -> Result<(), String> {
        let group = &mut self.groups[number];
        if group.state != GroupState::Unknown && group.is_unchanged(context, &self.types) {
            group.state = GroupState::Unchanged;
            return Ok(());
        }
        group.state = GroupState::Unknown;
        if group.pause > 0 {
            group.pause -= 1;
            return Ok(());
        }
        let roots: Vec<_> = values(context, &group.positions).collect();
        let recorded = group.snapshot.record(
            context.python,
            roots.into_iter(),
            &mut self.types,
            &mut self.seen,
            &mut self.globals,
        );
        self.globals
            .visit_pending(context.python, &mut self.types)?;
        match recorded {
            Ok(()) => {
                group.state = GroupState::Changed;
                group.failures = 0;
            }
            Err(_) => {
                group.failures += 1;
                group.pause = (1 << group.failures.min(30)).min(MAX_PAUSE);
            }
        }
        Ok(())
    }

    /// Returns true if a property must be checked for a combination. It is assumed to hold
    /// afterwards; if it does not, the caller calls [`ChangeTracker::invalidate`].
    #[inline]
    pub(super) fn needs_check(&mut self, property: usize, combination: usize) -> bool {
        let Some(instance) = instance_at(&mut self.instances, property, combination) else {
            return true;
        };
        instance.ran = !instance.had_held;
        instance.had_held = true;
        if instance.ran {
            self.any_ran = true;
            self.any_ran_untracked |= self.groups[instance.group].state == GroupState::Unknown;
        }
        instance.ran
    }

    /// Returns true if a property was skipped in this check.
    pub(super) fn was_skipped(&mut self, property: usize, combination: usize) -> bool {
        instance_at(&mut self.instances, property, combination)
            .is_some_and(|instance| !instance.ran)
    }

    /// Ends a check in which everything held. Returns true if the properties themselves may have
    /// changed something, so that skipped ones must be checked, too.
    pub(super) fn finish(&mut self, context: &HarnessContext<'py>) -> bool {
        if !self.any_ran {
            return false;
        }
        let changed_are_stable = self.groups.iter().all(|group| {
            group.state != GroupState::Changed || group.is_unchanged(context, &self.types)
        });
        let globals_unchanged = self.globals.is_unchanged(context.python, &self.types);
        if !self.any_ran_untracked && changed_are_stable && globals_unchanged {
            return false;
        }
        // Properties change only what they can reach: another group that they reached may have
        // changed, too.
        let mut others_changed = !globals_unchanged;
        for group in &mut self.groups {
            if group.state != GroupState::Unknown && !group.is_unchanged(context, &self.types) {
                others_changed |= group.state == GroupState::Unchanged;
                group.state = GroupState::Unknown;
            }
        }
        others_changed
    }

    /// Discards all snapshots, so that the next check checks everything.
    pub(super) fn invalidate(&mut self) {
        self.has_globals = false;
        for group in &mut self.groups {
            group.state = GroupState::Unknown;
        }
    }
}

impl SlotGroup {
    /// Returns true if the current objects equal the snapshot.
    fn is_unchanged(&self, context: &HarnessContext<'_>, types: &KnownTypes) -> bool {
        self.snapshot
            .is_unchanged(values(context, &self.positions), types)
    }
}

/// Returns the instance of a property and combination, if it is tracked.
#[inline]
fn instance_at<'a, 'py>(
    instances: &'a mut Option<Vec<Option<Vec<TrackedInstance<'py>>>>>,
    property: usize,
    combination: usize,
) -> Option<&'a mut TrackedInstance<'py>> {
    let instances = instances.as_mut()?[property].as_mut()?;
    instances.get_mut(combination)
}

/// Returns the values of the slots at these positions.
fn values<'a>(
    context: &'a HarnessContext<'_>,
    positions: &'a [usize],
) -> impl Iterator<Item = *mut ffi::PyObject> + 'a {
    positions.iter().map(|position| {
        // SAFETY: the slots are a list that keeps its length, and the positions are within it.
        unsafe { ffi::PyList_GET_ITEM(context.slots.as_ptr(), *position as isize) }
    })
}
