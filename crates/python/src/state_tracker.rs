//! The objects of a system's state, as the [walker](crate::walker) sees them.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::outside_watch::{OutsideWatch, WatchedCall};
use crate::system::PythonSystem;
use crate::walker::base::{self, BaseImage};
use crate::walker::encoder::{EncodingContext, EncodingGap, StateRoot};
use crate::walker::foreign::ForeignObjects;
use crate::walker::layout;

/// The walker over a system's state, and the modules as they were after the last reset.
pub(crate) struct ObjectTracker<'py> {
    pub(crate) context: EncodingContext<'py>,
    pub(crate) base: BaseImage,
    /// Changes with every new base, which makes images taken before it useless.
    pub(crate) generation: u64,
    /// Packages that are too large to look at.
    pub(crate) unseen_packages: Vec<String>,
    /// The modules and classes of others that code under test names.
    pub(crate) foreign: ForeignObjects,
    /// The effects of code under test outside of the state.
    pub(crate) outside: OutsideWatch,
    /// The classes of objects that the last reset could not put back.
    unrestored: Vec<String>,
    /// The base was not taken at the beginning of a test, so it is not to be returned to.
    is_late: bool,
}

impl<'py> PythonSystem<'py> {
    /// Starts to look at the state, if that was not done before.
    pub(crate) fn start_tracking(&mut self) -> PyResult<()> {
        if self.states_seen.is_some() {
            return Ok(());
        }
        self.states_seen = Some(Box::new(ObjectTracker {
            context: EncodingContext::new(self.context.python)?,
            base: BaseImage::default(),
            generation: 0,
            unseen_packages: Vec::new(),
            foreign: ForeignObjects::default(),
            outside: OutsideWatch::new(&self.context.support)?,
            unrestored: Vec::new(),
            is_late: true,
        }));
        if self.is_at_start {
            // The base is to be taken in the middle of a reset, before `init:` lines run.
            if let Err(error) = self.reset_all() {
                return Err(error.error);
            }
            return Ok(());
        }
        self.take_base()?;
        if let Some(tracker) = &mut self.states_seen {
            tracker.is_late = true;
        }
        Ok(())
    }

    /// Starts to observe code of a line of the harness, if states are looked at.
    #[inline]
    pub(crate) fn watch(&mut self, line: usize) -> Option<WatchedCall> {
        let python = self.context.python;
        let tracker = self.states_seen.as_mut()?;
        Some(tracker.outside.start(python, line))
    }

    /// Records the modules as they are now.
    fn take_base(&mut self) -> PyResult<()> {
        let imports =
            testwright_source::imports(&self.context.harness.raw.text).unwrap_or_default();
        let imported: Vec<&str> = imports
            .iter()
            .filter_map(|import| import.module.split('.').next())
            .collect();
        let sources: Vec<&str> = self
            .context
            .harness
            .sources
            .iter()
            .map(|source| source.text.as_str())
            .collect();
        let found = self.context.support.call_method1(
            "modules_of_state",
            (&self.context.namespace, imported, sources),
        )?;
        let (modules, unseen): (Vec<Bound<'py, PyDict>>, Vec<String>) = found.extract()?;
        let own = &self.context.namespace;
        let mut namespaces = vec![own.clone()];
        namespaces.extend(modules.into_iter().filter(|module| !module.is(own)));
        let foreign: Vec<(String, Bound<'py, PyAny>)> = self
            .context
            .support
            .call_method1("foreign_objects", (namespaces.clone(),))?
            .extract()?;
        let mut ignored = Vec::new();
        for (name, value) in own.iter() {
            let name = name.cast::<PyString>().map(|name| name.to_string());
            if name.is_ok_and(|name| name == "self" || name.starts_with("_tw_")) {
                ignored.push(value);
            }
        }
        let Some(tracker) = &mut self.states_seen else {
            return Ok(());
        };
        tracker.context.modules = namespaces
            .iter()
            .filter_map(|namespace| namespace.get_item("__name__").ok().flatten())
            .map(|name| name.to_string())
            .collect();
        tracker.foreign.add(&mut tracker.context, foreign);
        let former = tracker.base.key();
        tracker.base = BaseImage::take(&mut tracker.context, &namespaces, &ignored);
        if tracker.base.key() != former {
            // Not even executing modules again has put these back.
            for class in tracker.unrestored.drain(..) {
                let gap = (StateRoot::Modules, EncodingGap::Unseen(class));
                tracker.context.gaps.insert(gap);
            }
        }
        tracker.generation += 1;
        tracker.unseen_packages = unseen;
        tracker.is_late = false;
        Ok(())
    }

    /// Returns the modules to the base. Returns false if something in them may be left as it is, so that
    /// they have to be executed again.
    pub(crate) fn restore_base(&mut self) -> bool {
        let Some(tracker) = &mut self.states_seen else {
            return true;
        };
        let ObjectTracker {
            context,
            base,
            foreign,
            is_late,
            unrestored,
            ..
        } = &mut **tracker;
        unrestored.clear();
        foreign.restore(context.python, &context.ignored);
        if *is_late {
            return true;
        }
        let mut previous = Vec::new();
        let others = rustc_hash::FxHashSet::default();
        let _what_remains_is_looked_at =
            base.for_each_changed(context, &others, |context, image| {
                let _others_may_still_work = base::restore_image(context, image, &mut previous);
                Ok(())
            });
        drop(previous);
        let python = context.python;
        let _no_error = base.for_each_changed(context, &others, |_, image| {
            unrestored.push(layout::class_name(image.object.bind(python)));
            Ok(())
        });
        let is_unseen = |(root, gap): &(StateRoot, EncodingGap)| {
            *root == StateRoot::Modules && matches!(gap, EncodingGap::Unseen(_))
        };
        unrestored.is_empty() && !context.gaps.iter().any(is_unseen)
    }

    /// Records the modules again if they are not as in the base.
    pub(crate) fn renew_base(&mut self, executed: bool) -> PyResult<()> {
        let Some(tracker) = &mut self.states_seen else {
            return Ok(());
        };
        let ObjectTracker {
            context,
            base,
            is_late,
            ..
        } = &mut **tracker;
        if !executed && !*is_late && base.is_unchanged(context) {
            return Ok(());
        }
        self.take_base()
    }
}
