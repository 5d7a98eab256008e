//! What the places held right after their modules were imported.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFunction, PyType};
use rustc_hash::{FxHashMap, FxHashSet};
use testwright_capture::{Graph, NodeId, Place};

use super::super::identity::Window;
use super::super::names;
use super::super::snapshot::{Eyes, Moment};
use super::is_data;

/// No more nodes than this are kept of what imports give. Places without are taken to be changed.
const MOST_HELD: usize = 100_000;

/// What the places held right after their modules were imported.
#[derive(Default)]
pub(in crate::recorder) struct Baseline {
    held: FxHashMap<Place, (Graph, NodeId)>,
    nodes: usize,
    /// Where functions and classes are that were bound to a name.
    definitions: FxHashMap<Place, usize>,
    modules: FxHashSet<String>,
}

impl Baseline {
    /// A module has just been run: takes note of what it and its classes hold.
    pub(in crate::recorder) fn note_module(
        &mut self,
        namespace: &Bound<'_, PyDict>,
        eyes: &mut Eyes,
    ) -> Window {
        let python = namespace.py();
        let mut window = Window::default();
        let module = names::entry(namespace, "__name__");
        // SAFETY: the entry is alive.
        let module = module.and_then(|name| unsafe { names::text(python, name.as_ptr()) });
        let Some(module) = module else {
            return window;
        };
        self.modules.insert(module.clone());
        for (name, value) in namespace.iter() {
            // SAFETY: the name is alive.
            let Some(name) = (unsafe { names::text(python, name.as_ptr()) }) else {
                continue;
            };
            if let Ok(class) = value.cast::<PyType>() {
                let class_reference = names::class_reference(class);
                let own = names::namespace(class).filter(|_| class_reference.module == module);
                for (name, value) in own.iter().flat_map(|own| own.iter()) {
                    // SAFETY: the name is alive.
                    let name = unsafe { names::text(python, name.as_ptr()) };
                    if let Some(name) = name.filter(|name| !name.starts_with("__")) {
                        let class = class_reference.clone();
                        if !is_data(&value) {
                            let place = Place::ClassAttribute { class, name };
                            self.definitions.insert(place, value.as_ptr() as usize);
                            continue;
                        }
                        self.hold(
                            Place::ClassAttribute { class, name },
                            &value,
                            eyes,
                            &mut window,
                        );
                    }
                }
            } else if !name.starts_with("__") {
                let module = module.clone();
                let attached = value
                    .cast_exact::<PyFunction>()
                    .ok()
                    .and_then(names::attributes);
                for (name, value) in attached.iter().flat_map(|(_, all)| all.iter()) {
                    // SAFETY: the name is alive.
                    let name = unsafe { names::text(python, name.as_ptr()) };
                    if let (Some(name), Some((class, _))) = (name, &attached) {
                        let class = class.clone();
                        let place = Place::ClassAttribute { class, name };
                        self.hold(place, &value, eyes, &mut window);
                    }
                }
                let place = Place::Global { module, name };
                if is_data(&value) {
                    self.hold(place, &value, eyes, &mut window);
                } else {
                    self.definitions.insert(place, value.as_ptr() as usize);
                }
            }
        }
        window
    }

    fn hold(
        &mut self,
        place: Place,
        value: &Bound<'_, PyAny>,
        eyes: &mut Eyes,
        window: &mut Window,
    ) {
        if is_data(value) {
            let mut graph = Graph::default();
            let node = Moment::new(eyes, &mut graph, window).of(value);
            self.keep(place, graph, node);
        }
    }

    /// Whether a function or a class was bound to a name.
    pub(super) fn is_definition(&self, place: &Place) -> bool {
        self.definitions.contains_key(place)
    }

    /// Whether a function is the one that was bound to its name when the module was imported. Of a script, what is seen
    /// first counts.
    pub(super) fn is_same_definition(&mut self, place: &Place, address: usize) -> bool {
        match self.definitions.get(place) {
            Some(known) => *known == address,
            None => {
                self.definitions.insert(place.clone(), address);
                true
            }
        }
    }

    /// Whether a place holds what it held right after its module was imported. Of a script, which is not imported as
    /// long as it runs, what is seen first counts.
    pub(super) fn is_same(&mut self, place: &Place, graph: &Graph, node: NodeId) -> bool {
        let module = match place {
            Place::Global { module, .. } => module,
            Place::ClassAttribute { class, .. } => &class.module,
            Place::Cell { .. } | Place::Default { .. } => return false,
        };
        // No two commands have the same words.
        if module == "sys" {
            return false;
        }
        if let Some((known, at)) = self.held.get(place) {
            return known.is_alike(*at, graph, node);
        }
        if self.modules.contains(module) {
            return false;
        }
        self.keep(place.clone(), graph.part(node), NodeId(0));
        true
    }

    fn keep(&mut self, place: Place, graph: Graph, node: NodeId) {
        if self.nodes < MOST_HELD {
            self.nodes += graph.len();
            self.held.insert(place, (graph, node));
        }
    }
}
