//! Search for the variables that a unit can reach.

use pyo3::prelude::*;
use pyo3::types::{PyCFunction, PyCode, PyDict, PyFunction, PyModule, PyString, PyTuple, PyType};
use rustc_hash::{FxHashMap, FxHashSet};
use testwright_capture::{ImportPath, ProgramVariable};

use super::super::scope::ScopeCache;
use super::super::{identity, names};
use super::{LookupResult, NameLookup, NamespaceOwner, ReachPlan, VariableSlot, is_data};

/// The maximum depth of functions followed.
const MAX_DEPTH: u32 = 3;
/// The maximum number of variables of a plan.
const MAX_VARIABLES: usize = 60;

/// Names that suggest that code reads the command line, `sys.argv`.
const COMMAND_LINE_NAMES: [&str; 3] = ["argv", "parse_args", "parse_known_args"];

/// The state of a search.
struct ReachSearch<'a, 'py> {
    scope_cache: &'a mut ScopeCache,
    /// Addresses of code objects followed already.
    visited_code: FxHashSet<usize>,
    /// Variables that are part of the plan already.
    added: FxHashSet<ProgramVariable>,
    /// Lookups made so far: index of the namespace, address of the name.
    looked_up: FxHashSet<(usize, usize)>,
    /// The index of each namespace, by its address.
    indices: FxHashMap<usize, usize>,
    namespaces: Vec<Bound<'py, PyDict>>,
    plan: ReachPlan,
}

/// Plans the variables that a code object can reach with these globals and a receiver of this
/// class. Returns the plan and its namespaces.
pub(super) fn plan_reach<'py>(
    code: &Bound<'py, PyCode>,
    globals: &Bound<'py, PyDict>,
    receiver: Option<&Bound<'py, PyType>>,
    scope_cache: &mut ScopeCache,
) -> (ReachPlan, Vec<Bound<'py, PyDict>>) {
    let mut search = ReachSearch {
        scope_cache,
        visited_code: FxHashSet::default(),
        added: FxHashSet::default(),
        looked_up: FxHashSet::default(),
        indices: FxHashMap::default(),
        namespaces: Vec::new(),
        plan: ReachPlan::default(),
    };
    // Includes the class in the plan, so that the plan expires with it: another class may be
    // allocated at the same address later.
    if let Some(class) = receiver
        && let Some(namespace) = names::class_namespace(class)
    {
        search.namespace_index(&namespace, Some(class.as_any()));
    }
    search.follow(code, globals, receiver, 0);
    (search.plan, search.namespaces)
}

impl<'py> ReachSearch<'_, 'py> {
    /// Returns the index of a namespace. The namespace exists for as long as its owner.
    fn namespace_index(
        &mut self,
        namespace: &Bound<'py, PyDict>,
        owner: Option<&Bound<'py, PyAny>>,
    ) -> usize {
        let address = namespace.as_ptr() as usize;
        if let Some(namespace_index) = self.indices.get(&address) {
            return *namespace_index;
        }
        let namespace_index = self.namespaces.len();
        self.indices.insert(address, namespace_index);
        self.namespaces.push(namespace.clone());
        let reference = owner.and_then(identity::new_weak_reference);
        self.plan
            .owners
            .push(reference.map(|reference| NamespaceOwner {
                reference,
                namespace: address,
            }));
        namespace_index
    }

    /// Returns the index of the namespace of a module.
    fn globals_index(&mut self, globals: &Bound<'py, PyDict>, module: &str) -> usize {
        let found = names::resolve(globals.py(), &ImportPath::new(module, ""));
        let owner = found.filter(|found| {
            names::module_namespace(found).is_some_and(|namespace| namespace.is(globals))
        });
        self.namespace_index(globals, owner.as_ref())
    }

    /// Looks up a name, and notes the result in the plan.
    fn entry(
        &mut self,
        namespace: usize,
        name: &Bound<'py, PyString>,
    ) -> Option<Bound<'py, PyAny>> {
        let value = names::entry_by_name(&self.namespaces[namespace], name.as_unbound());
        if self.looked_up.insert((namespace, name.as_ptr() as usize)) {
            self.plan.lookups.push(NameLookup {
                namespace,
                name: name.clone().unbind(),
                found: match &value {
                    None => LookupResult::Nothing,
                    Some(value) if is_data(value) => {
                        LookupResult::Data(value.get_type_ptr() as usize)
                    }
                    Some(value) => LookupResult::Definition(value.as_ptr() as usize),
                },
            });
        }
        value
    }

    /// Adds the variables that a code object mentions, and follows the functions that it mentions.
    fn follow(
        &mut self,
        code: &Bound<'py, PyCode>,
        globals: &Bound<'py, PyDict>,
        receiver: Option<&Bound<'py, PyType>>,
        depth: u32,
    ) {
        if depth > MAX_DEPTH || !self.visited_code.insert(code.as_ptr() as usize) {
            return;
        }
        let mut mentioned = Vec::new();
        collect_mentions(code, &mut mentioned);
        let module = names::entry(globals, "__name__");
        // SAFETY: the entry is alive.
        let module = module.and_then(|name| unsafe { names::read_text(code.py(), name.as_ptr()) });
        let Some(module) = module else {
            return;
        };
        if mentioned
            .iter()
            .any(|(name, _)| COMMAND_LINE_NAMES.contains(&name.as_str()))
        {
            self.add_command_line(code.py());
        }
        let namespace = self.globals_index(globals, &module);
        for mention in &mentioned {
            let variable = ProgramVariable::Global {
                module: module.clone(),
                name: mention.0.clone(),
            };
            match self.entry(namespace, &mention.1) {
                Some(value) => self.visit(variable, namespace, mention, &value, &mentioned, depth),
                None => self.add_absent(variable, namespace, mention, depth),
            }
        }
        for class in receiver
            .map(names::method_resolution_order)
            .unwrap_or_default()
        {
            self.visit_class(&class, &mentioned, depth);
        }
    }

    /// Adds `sys.argv`.
    fn add_command_line(&mut self, python: Python<'py>) {
        let system = python.import("sys");
        let namespace = system.ok().and_then(|one| names::module_namespace(&one));
        if let Some(namespace) = namespace {
            let namespace_index = self.globals_index(&namespace, "sys");
            let (module, name) = ("sys".to_owned(), "argv".to_owned());
            let mention = (name.clone(), PyString::intern(python, &name));
            self.add_variable(
                ProgramVariable::Global { module, name },
                namespace_index,
                &mention,
            );
        }
    }

    /// Adds the attributes of a function.
    fn visit_function(&mut self, function: &Bound<'py, PyFunction>, mentioned: &[Mention<'py>]) {
        let Some((class, namespace)) = names::function_attributes(function) else {
            return;
        };
        let namespace_index = self.namespace_index(&namespace, Some(function.as_any()));
        for mention in mentioned.iter().filter(|(name, _)| !name.starts_with("__")) {
            if self
                .entry(namespace_index, &mention.1)
                .is_some_and(|value| is_data(&value))
            {
                let (class, name) = (class.clone(), mention.0.clone());
                self.add_variable(
                    ProgramVariable::ClassAttribute { class, name },
                    namespace_index,
                    mention,
                );
            }
        }
    }

    /// Adds a name that is bound to a function.
    fn add_definition(
        &mut self,
        variable: ProgramVariable,
        namespace: usize,
        mention: &Mention<'py>,
        value: &Bound<'py, PyAny>,
    ) {
        let is_new = self.plan.definitions.len() < MAX_VARIABLES && !mention.0.starts_with("__");
        if is_new && self.added.insert(variable.clone()) {
            let address = value.as_ptr() as usize;
            let slot = VariableSlot::new(variable, namespace, mention);
            self.plan.definitions.push((slot, address));
        }
    }

    /// Handles a name by the kind of its value: follows definitions, adds data.
    fn visit(
        &mut self,
        variable: ProgramVariable,
        namespace: usize,
        mention: &Mention<'py>,
        value: &Bound<'py, PyAny>,
        mentioned: &[Mention<'py>],
        depth: u32,
    ) {
        if let Ok(function) = value.cast_exact::<PyFunction>() {
            self.visit_function(function, mentioned);
            self.add_definition(variable, namespace, mention, value);
            self.follow_function(function, None, depth);
        } else if value.cast_exact::<PyCFunction>().is_ok() {
            self.add_definition(variable, namespace, mention, value);
        } else if let Ok(class) = value.cast::<PyType>() {
            self.visit_class(class, mentioned, depth);
        } else if value.is_instance_of::<PyModule>() {
            self.visit_module(value, mentioned, depth);
        } else if is_data(value) && !mention.0.starts_with("__") {
            self.add_variable(variable, namespace, mention);
        }
    }

    /// Adds a variable that holds data, within the limit.
    fn add_variable(
        &mut self,
        variable: ProgramVariable,
        namespace: usize,
        mention: &Mention<'py>,
    ) {
        if self.plan.variables.len() < MAX_VARIABLES && self.added.insert(variable.clone()) {
            let slot = VariableSlot::new(variable, namespace, mention);
            self.plan.variables.push(slot);
        }
    }

    /// Adds a name that is unbound, within the limit.
    fn add_absent(
        &mut self,
        variable: ProgramVariable,
        namespace: usize,
        mention: &Mention<'py>,
        depth: u32,
    ) {
        let is_new = depth < 2 && self.plan.absent.len() < 4 * MAX_VARIABLES;
        if is_new && self.added.insert(variable.clone()) {
            let slot = VariableSlot::new(variable, namespace, mention);
            self.plan.absent.push(slot);
        }
    }

    /// Follows a function if it is the project's.
    fn follow_function(
        &mut self,
        function: &Bound<'py, PyFunction>,
        receiver: Option<&Bound<'py, PyType>>,
        depth: u32,
    ) {
        // These attributes are read without running code of the program.
        let code = function
            .getattr("__code__")
            .ok()
            .and_then(|code| code.cast_into().ok());
        let globals = function
            .getattr("__globals__")
            .ok()
            .and_then(|all| all.cast_into().ok());
        let (Some(code), Some(globals)) = (code, globals) else {
            return;
        };
        let (code, globals): (Bound<'_, PyCode>, Bound<'_, PyDict>) = (code, globals);
        let file = code.getattr("co_filename");
        if file.is_ok_and(|file| self.scope_cache.contains(&file, &globals)) {
            self.follow(&code, &globals, receiver, depth + 1);
        }
    }

    /// Adds the mentioned variables of a module of the project.
    fn visit_module(&mut self, module: &Bound<'py, PyAny>, mentioned: &[Mention<'py>], depth: u32) {
        let Some(namespace) = names::module_namespace(module) else {
            return;
        };
        let file = names::entry(&namespace, "__file__");
        let is_ours = file.is_some_and(|file| self.scope_cache.contains(&file, &namespace));
        let Some(name) = names::module_name(module).filter(|_| is_ours && depth < MAX_DEPTH) else {
            return;
        };
        let namespace_index = self.namespace_index(&namespace, Some(module));
        for mention in mentioned {
            let variable = ProgramVariable::Global {
                module: name.clone(),
                name: mention.0.clone(),
            };
            match self.entry(namespace_index, &mention.1) {
                Some(value) if !value.is_instance_of::<PyModule>() => {
                    self.visit(
                        variable,
                        namespace_index,
                        mention,
                        &value,
                        mentioned,
                        depth + 1,
                    );
                }
                Some(_) => {}
                None => self.add_absent(variable, namespace_index, mention, depth + 1),
            }
        }
    }

    /// Adds the mentioned attributes of a class of the project, and follows its methods and
    /// constructors.
    fn visit_class(&mut self, class: &Bound<'py, PyType>, mentioned: &[Mention<'py>], depth: u32) {
        let reference = names::class_reference(class);
        let module = testwright_capture::ImportPath::new(&reference.module, "");
        let module =
            names::resolve(class.py(), &module).and_then(|one| names::module_namespace(&one));
        let is_ours = module.is_some_and(|globals| {
            let file = names::entry(&globals, "__file__");
            file.is_some_and(|file| self.scope_cache.contains(&file, &globals))
        });
        let Some(namespace) = names::class_namespace(class).filter(|_| is_ours) else {
            return;
        };
        let namespace_index = self.namespace_index(&namespace, Some(class.as_any()));
        let constructors = ["__init__", "__new__"]
            .map(|name| (name.to_owned(), PyString::intern(class.py(), name)));
        for mention in mentioned.iter().chain(&constructors) {
            let variable = ProgramVariable::ClassAttribute {
                class: reference.clone(),
                name: mention.0.clone(),
            };
            let Some(value) = self.entry(namespace_index, &mention.1) else {
                self.add_absent(variable, namespace_index, mention, depth + 1);
                continue;
            };
            let inner = names::inner_function(&value).unwrap_or_else(|| value.clone());
            if let Ok(function) = inner.cast_exact::<PyFunction>() {
                self.add_definition(variable, namespace_index, mention, &value);
                self.follow_function(function, Some(class), depth);
            } else if is_data(&value) && !mention.0.starts_with("__") {
                self.add_variable(variable, namespace_index, mention);
            }
        }
    }
}

impl VariableSlot {
    fn new(variable: ProgramVariable, namespace: usize, mention: &Mention<'_>) -> VariableSlot {
        VariableSlot {
            variable,
            namespace,
            name: mention.1.clone().unbind(),
        }
    }
}

/// A name in a code object, as a string and as the interned object that dictionaries use.
type Mention<'py> = (String, Bound<'py, PyString>);

/// Collects the names of globals and attributes in a code object and in those nested in it.
fn collect_mentions<'py>(code: &Bound<'py, PyCode>, names: &mut Vec<Mention<'py>>) {
    let all = |name: &str| {
        let all = code.getattr(name).ok();
        all.and_then(|all| all.cast_into::<PyTuple>().ok())
    };
    for name in all("co_names").iter().flat_map(|names| names.iter()) {
        if let Ok(name) = name.cast_into::<PyString>()
            && !names.iter().any(|(_, added)| added.is(&name))
        {
            names.push((name.to_string_lossy().into_owned(), name));
        }
    }
    for constant in all("co_consts").iter().flat_map(|all| all.iter()) {
        if let Ok(inner) = constant.cast::<PyCode>() {
            collect_mentions(inner, names);
        }
    }
}
