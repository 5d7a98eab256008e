//! The values of variables right after their modules were imported.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFunction, PyType};
use rustc_hash::{FxHashMap, FxHashSet};
use testwright_capture::{NodeId, ProgramVariable, ValueGraph};

use super::super::identity::HeldObjects;
use super::super::names;
use super::super::object_reader::{ObjectReader, ValueGraphBuilder};
use super::is_data;

/// The maximum number of value nodes kept. Variables beyond it are treated as changed.
const MAX_BASELINE_NODES: usize = 100_000;

/// The values of variables right after their modules were imported.
#[derive(Default)]
pub(in crate::recorder) struct ImportBaseline {
    /// The value of each variable, as a graph and its root.
    values: FxHashMap<ProgramVariable, (ValueGraph, NodeId)>,
    /// The total size of all graphs.
    nodes: usize,
    /// The addresses of the functions and classes bound to names.
    definitions: FxHashMap<ProgramVariable, usize>,
    /// The names of the modules recorded so far.
    modules: FxHashSet<String>,
}

impl ImportBaseline {
    /// Records the variables of a module that was just imported, and of its classes and functions.
    pub(in crate::recorder) fn add_module(
        &mut self,
        namespace: &Bound<'_, PyDict>,
        reader: &mut ObjectReader,
    ) -> HeldObjects {
        let python = namespace.py();
        let mut held = HeldObjects::default();
        let module = names::entry(namespace, "__name__");
        // SAFETY: the entry is alive.
        let module = module.and_then(|name| unsafe { names::read_text(python, name.as_ptr()) });
        let Some(module) = module else {
            return held;
        };
        self.modules.insert(module.clone());
        for (name, value) in namespace.iter() {
            // SAFETY: the name is alive.
            let Some(name) = (unsafe { names::read_text(python, name.as_ptr()) }) else {
                continue;
            };
            if let Ok(class) = value.cast::<PyType>() {
                let class_reference = names::class_reference(class);
                let own =
                    names::class_namespace(class).filter(|_| class_reference.module == module);
                for (name, value) in own.iter().flat_map(|own| own.iter()) {
                    // SAFETY: the name is alive.
                    let name = unsafe { names::read_text(python, name.as_ptr()) };
                    if let Some(name) = name.filter(|name| !name.starts_with("__")) {
                        let class = class_reference.clone();
                        if !is_data(&value) {
                            let variable = ProgramVariable::ClassAttribute { class, name };
                            self.definitions.insert(variable, value.as_ptr() as usize);
                            continue;
                        }
                        self.add(
                            ProgramVariable::ClassAttribute { class, name },
                            &value,
                            reader,
                            &mut held,
                        );
                    }
                }
            } else if !name.starts_with("__") {
                let module = module.clone();
                let attached = value
                    .cast_exact::<PyFunction>()
                    .ok()
                    .and_then(names::function_attributes);
                for (name, value) in attached.iter().flat_map(|(_, all)| all.iter()) {
                    // SAFETY: the name is alive.
                    let name = unsafe { names::read_text(python, name.as_ptr()) };
                    if let (Some(name), Some((class, _))) = (name, &attached) {
                        let class = class.clone();
                        let variable = ProgramVariable::ClassAttribute { class, name };
                        self.add(variable, &value, reader, &mut held);
                    }
                }
                let variable = ProgramVariable::Global { module, name };
                if is_data(&value) {
                    self.add(variable, &value, reader, &mut held);
                } else {
                    self.definitions.insert(variable, value.as_ptr() as usize);
                }
            }
        }
        held
    }

    /// Records the value of a variable, unless it is a definition.
    fn add(
        &mut self,
        variable: ProgramVariable,
        value: &Bound<'_, PyAny>,
        reader: &mut ObjectReader,
        held: &mut HeldObjects,
    ) {
        if is_data(value) {
            let mut graph = ValueGraph::default();
            let node = ValueGraphBuilder::new(reader, &mut graph, held).add(value);
            self.insert(variable, graph, node);
        }
    }

    /// Returns true if a function or class was bound to this name.
    pub(super) fn is_definition(&self, variable: &ProgramVariable) -> bool {
        self.definitions.contains_key(variable)
    }

    /// Returns true if a function is the one bound to its name at import. In a script, the first
    /// function seen counts.
    pub(super) fn matches_definition(
        &mut self,
        variable: &ProgramVariable,
        address: usize,
    ) -> bool {
        match self.definitions.get(variable) {
            Some(known) => *known == address,
            None => {
                self.definitions.insert(variable.clone(), address);
                true
            }
        }
    }

    /// Returns true if a variable has the value it had right after import. In a script, whose
    /// import does not end while it runs, the first value seen counts.
    pub(super) fn is_as_imported(
        &mut self,
        variable: &ProgramVariable,
        graph: &ValueGraph,
        node: NodeId,
    ) -> bool {
        let module = match variable {
            ProgramVariable::Global { module, .. } => module,
            ProgramVariable::ClassAttribute { class, .. } => &class.module,
            ProgramVariable::ClosureVariable { .. } | ProgramVariable::Default { .. } => {
                return false;
            }
        };
        // The arguments differ from one command to the next.
        if module == "sys" {
            return false;
        }
        if let Some((known, root)) = self.values.get(variable) {
            return known.is_isomorphic(*root, graph, node);
        }
        if self.modules.contains(module) {
            return false;
        }
        self.insert(variable.clone(), graph.subgraph(node), NodeId(0));
        true
    }

    /// Keeps a value, within the limit.
    fn insert(&mut self, variable: ProgramVariable, graph: ValueGraph, node: NodeId) {
        if self.nodes < MAX_BASELINE_NODES {
            self.nodes += graph.len();
            self.values.insert(variable, (graph, node));
        }
    }
}
