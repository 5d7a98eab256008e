//! Places outside the arguments that a unit can read or write: globals and attributes of classes.
//!
//! What a unit can reach is read off the names in its code and, through the functions of the project that these names
//! lead to, in theirs. That is more than it uses, which does no harm: what did not change and is as it was imported
//! is of no interest to anybody.

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyCFunction, PyCode, PyDict, PyFunction, PyModule, PyTuple, PyType};
use rustc_hash::{FxHashMap, FxHashSet};
use testwright_capture::{Graph, NodeId, Place, PlaceState, Reference};

use super::identity::Window;
use super::names;
use super::scope::Scoped;
use super::snapshot::{Eyes, Moment};

/// How far functions are followed.
const DEEPEST: u32 = 3;
/// How many places are looked at.
const MOST_PLACES: usize = 60;

/// Whoever mentions one of these may ask for the words of the command.
const ASKS_COMMAND: [&str; 3] = ["argv", "parse_args", "parse_known_args"];

/// What the places held right after their modules were imported.
#[derive(Default)]
pub(super) struct Baseline {
    held: FxHashMap<Place, (Graph, NodeId)>,
    /// Where functions and classes are that were bound to a name.
    definitions: FxHashMap<Place, usize>,
    modules: FxHashSet<String>,
}

/// The places that a call can reach.
pub(super) struct Reach {
    places: Vec<Reached>,
    /// Names that had nothing yet, but may get something.
    absent: Vec<Reached>,
    /// Names of functions, and where these are. They are of interest only if somebody replaces them.
    definitions: Vec<(Reached, usize)>,
}

struct Reached {
    place: Place,
    namespace: Py<PyDict>,
    name: String,
}

struct Search<'a> {
    scoped: &'a mut Scoped,
    seen: FxHashSet<usize>,
    known: FxHashSet<Place>,
    reach: Reach,
}

impl Reach {
    /// Of a code object that runs with these globals, on a receiver of this class.
    pub(super) fn of(
        code: &Bound<'_, PyCode>,
        globals: &Bound<'_, PyDict>,
        receiver: Option<&Bound<'_, PyType>>,
        scoped: &mut Scoped,
    ) -> Reach {
        let mut search = Search {
            scoped,
            seen: FxHashSet::default(),
            known: FxHashSet::default(),
            reach: Reach {
                places: Vec::new(),
                absent: Vec::new(),
                definitions: Vec::new(),
            },
        };
        search.follow(code, globals, receiver, 0);
        search.reach
    }

    /// What the places hold at entry.
    pub(super) fn before(
        &mut self,
        python: Python<'_>,
        moment: &mut Moment<'_>,
        baseline: &mut Baseline,
    ) -> Vec<PlaceState> {
        for (reached, address) in std::mem::take(&mut self.definitions) {
            match baseline.is_same_definition(&reached.place, address) {
                true => self.definitions.push((reached, address)),
                false => self.places.push(reached),
            }
        }
        let state = |reached: &Reached| {
            let node = reached.value(python).map(|value| moment.of(&value));
            let is_as_imported = match node {
                Some(_) if baseline.definitions.contains_key(&reached.place) => false,
                Some(node) => baseline.is_same(&reached.place, moment.graph(), node),
                None => false,
            };
            PlaceState {
                place: reached.place.clone(),
                before: node,
                after: None,
                is_as_imported,
            }
        };
        self.places.iter().map(state).collect()
    }

    /// What they hold at exit, and what is new.
    pub(super) fn after(
        &self,
        python: Python<'_>,
        moment: &mut Moment<'_>,
        states: &mut Vec<PlaceState>,
    ) {
        for (reached, state) in self.places.iter().zip(states.iter_mut()) {
            state.after = reached.value(python).map(|value| moment.of(&value));
        }
        for (reached, address) in &self.definitions {
            let now = reached.value(python);
            if now.as_ref().map(|now| now.as_ptr() as usize) != Some(*address) {
                states.push(PlaceState {
                    place: reached.place.clone(),
                    before: Some(moment.reference(&reached.place)),
                    after: now.map(|now| moment.of(&now)),
                    is_as_imported: true,
                });
            }
        }
        for reached in &self.absent {
            if let Some(value) = reached.value(python).filter(is_data) {
                states.push(PlaceState {
                    place: reached.place.clone(),
                    before: None,
                    after: Some(moment.of(&value)),
                    is_as_imported: true,
                });
            }
        }
    }

    pub(super) fn into_objects(self) -> impl Iterator<Item = Py<PyAny>> {
        let definitions = self.definitions.into_iter().map(|(reached, _)| reached);
        let all = self.places.into_iter().chain(self.absent);
        let all = all.chain(definitions);
        all.map(|reached| reached.namespace.into_any())
    }
}

impl Reached {
    fn value<'py>(&self, python: Python<'py>) -> Option<Bound<'py, PyAny>> {
        names::entry(self.namespace.bind(python), &self.name)
    }
}

impl Search<'_> {
    fn follow(
        &mut self,
        code: &Bound<'_, PyCode>,
        globals: &Bound<'_, PyDict>,
        receiver: Option<&Bound<'_, PyType>>,
        depth: u32,
    ) {
        if depth > DEEPEST || !self.seen.insert(code.as_ptr() as usize) {
            return;
        }
        let mut mentioned = Vec::new();
        mention(code, &mut mentioned);
        let module = names::entry(globals, "__name__");
        // SAFETY: the entry is alive.
        let module = module.and_then(|name| unsafe { names::text(code.py(), name.as_ptr()) });
        let Some(module) = module else {
            return;
        };
        if mentioned
            .iter()
            .any(|name| ASKS_COMMAND.contains(&name.as_str()))
        {
            self.note_command(code.py());
        }
        for name in &mentioned {
            let place = Place::Global {
                module: module.clone(),
                name: name.clone(),
            };
            match names::entry(globals, name) {
                Some(value) => self.look(place, globals, name, &value, &mentioned, depth),
                None => self.note_absent(place, globals, name, depth),
            }
        }
        for class in receiver.map(names::bases).unwrap_or_default() {
            self.look_into_class(&class, &mentioned, depth);
        }
    }

    /// The words of the command that runs the program.
    fn note_command(&mut self, python: Python<'_>) {
        let system = python.import("sys");
        let namespace = system.ok().and_then(|one| names::module_namespace(&one));
        if let Some(namespace) = namespace {
            let (module, name) = ("sys".to_owned(), "argv".to_owned());
            self.note(Place::Global { module, name }, &namespace, "argv");
        }
    }

    /// What is attached to a function.
    fn look_into_function(&mut self, function: &Bound<'_, PyFunction>, mentioned: &[String]) {
        let Some((class, namespace)) = attributes(function) else {
            return;
        };
        for name in mentioned.iter().filter(|name| !name.starts_with("__")) {
            if names::entry(&namespace, name).is_some_and(|value| is_data(&value)) {
                let (class, name) = (class.clone(), name.clone());
                let place = Place::ClassAttribute {
                    class,
                    name: name.clone(),
                };
                self.note(place, &namespace, &name);
            }
        }
    }

    fn note_definition(
        &mut self,
        place: Place,
        namespace: &Bound<'_, PyDict>,
        name: &str,
        value: &Bound<'_, PyAny>,
    ) {
        let is_new = self.reach.definitions.len() < MOST_PLACES && !name.starts_with("__");
        if is_new && self.known.insert(place.clone()) {
            let reached = Reached {
                place,
                namespace: namespace.clone().unbind(),
                name: name.to_owned(),
            };
            let address = value.as_ptr() as usize;
            self.reach.definitions.push((reached, address));
        }
    }

    fn look(
        &mut self,
        place: Place,
        namespace: &Bound<'_, PyDict>,
        name: &str,
        value: &Bound<'_, PyAny>,
        mentioned: &[String],
        depth: u32,
    ) {
        if let Ok(function) = value.cast_exact::<PyFunction>() {
            self.look_into_function(function, mentioned);
            self.note_definition(place, namespace, name, value);
            self.follow_function(function, None, depth);
        } else if value.cast_exact::<PyCFunction>().is_ok() {
            self.note_definition(place, namespace, name, value);
        } else if let Ok(class) = value.cast::<PyType>() {
            self.look_into_class(class, mentioned, depth);
        } else if value.is_instance_of::<PyModule>() {
            self.look_into_module(value, mentioned, depth);
        } else if is_data(value) && !name.starts_with("__") {
            self.note(place, namespace, name);
        }
    }

    fn note(&mut self, place: Place, namespace: &Bound<'_, PyDict>, name: &str) {
        if self.reach.places.len() < MOST_PLACES && self.known.insert(place.clone()) {
            self.reach.places.push(Reached {
                place,
                namespace: namespace.clone().unbind(),
                name: name.to_owned(),
            });
        }
    }

    fn note_absent(&mut self, place: Place, namespace: &Bound<'_, PyDict>, name: &str, depth: u32) {
        let is_new = depth < 2 && self.reach.absent.len() < 4 * MOST_PLACES;
        if is_new && self.known.insert(place.clone()) {
            self.reach.absent.push(Reached {
                place,
                namespace: namespace.clone().unbind(),
                name: name.to_owned(),
            });
        }
    }

    fn follow_function(
        &mut self,
        function: &Bound<'_, PyFunction>,
        receiver: Option<&Bound<'_, PyType>>,
        depth: u32,
    ) {
        // Functions answer these themselves.
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
        if file.is_ok_and(|file| self.scoped.has(&file, &globals)) {
            self.follow(&code, &globals, receiver, depth + 1);
        }
    }

    fn look_into_module(&mut self, module: &Bound<'_, PyAny>, mentioned: &[String], depth: u32) {
        let Some(namespace) = names::module_namespace(module) else {
            return;
        };
        let file = names::entry(&namespace, "__file__");
        let is_ours = file.is_some_and(|file| self.scoped.has(&file, &namespace));
        let Some(module) = names::module_name(module).filter(|_| is_ours && depth < DEEPEST) else {
            return;
        };
        for name in mentioned {
            let place = Place::Global {
                module: module.clone(),
                name: name.clone(),
            };
            match names::entry(&namespace, name) {
                Some(value) if !value.is_instance_of::<PyModule>() => {
                    self.look(place, &namespace, name, &value, mentioned, depth + 1);
                }
                Some(_) => {}
                None => self.note_absent(place, &namespace, name, depth + 1),
            }
        }
    }

    fn look_into_class(&mut self, class: &Bound<'_, PyType>, mentioned: &[String], depth: u32) {
        let reference = names::class_reference(class);
        let module = testwright_capture::Reference::new(&reference.module, "");
        let module =
            names::found(class.py(), &module).and_then(|one| names::module_namespace(&one));
        let is_ours = module.is_some_and(|globals| {
            let file = names::entry(&globals, "__file__");
            file.is_some_and(|file| self.scoped.has(&file, &globals))
        });
        let Some(namespace) = names::namespace(class).filter(|_| is_ours) else {
            return;
        };
        let made = ["__init__", "__new__"].map(str::to_owned);
        for name in mentioned.iter().chain(&made) {
            let place = Place::ClassAttribute {
                class: reference.clone(),
                name: name.clone(),
            };
            let Some(value) = names::entry(&namespace, name) else {
                self.note_absent(place, &namespace, name, depth + 1);
                continue;
            };
            let inner = names::function_inside(&value).unwrap_or_else(|| value.clone());
            if let Ok(function) = inner.cast_exact::<PyFunction>() {
                self.note_definition(place, &namespace, name, &value);
                self.follow_function(function, Some(class), depth);
            } else if is_data(&value) && !name.starts_with("__") {
                self.note(place, &namespace, name);
            }
        }
    }
}

/// The attributes of a function, if it has any, and what the function is called.
fn attributes<'py>(function: &Bound<'py, PyFunction>) -> Option<(Reference, Bound<'py, PyDict>)> {
    let python = function.py();
    // SAFETY: the object is a function, so it has this layout, and its parts are alive or null.
    unsafe {
        let parts = &*function.as_ptr().cast::<ffi::PyFunctionObject>();
        let namespace = Bound::from_borrowed_ptr_or_opt(python, parts.func_dict)?;
        let reference = Reference {
            module: names::text(python, parts.func_module)?,
            path: names::text(python, parts.func_qualname)?,
        };
        Some((reference, namespace.cast_into::<PyDict>().ok()?))
    }
}

/// Whether a value is more than a definition.
fn is_data(value: &Bound<'_, PyAny>) -> bool {
    let kind = value.get_type();
    let path = names::class_reference(&kind).path;
    let is_descriptor = matches!(
        path.as_str(),
        "property"
            | "staticmethod"
            | "classmethod"
            | "member_descriptor"
            | "getset_descriptor"
            | "cached_property"
            | "method_descriptor"
            | "wrapper_descriptor"
    );
    !is_descriptor
        && value.cast_exact::<PyFunction>().is_err()
        && value.cast_exact::<PyCFunction>().is_err()
        && !value.is_instance_of::<PyType>()
        && !value.is_instance_of::<PyModule>()
        && super::sources::original(value).is_none()
}

/// All names of globals and attributes in a code object and in those inside it.
fn mention(code: &Bound<'_, PyCode>, names: &mut Vec<String>) {
    let mentioned: Vec<String> = code
        .getattr("co_names")
        .and_then(|names| names.extract())
        .unwrap_or_default();
    for name in mentioned {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let constants = code
        .getattr("co_consts")
        .ok()
        .and_then(|all| all.cast_into::<PyTuple>().ok());
    for constant in constants.iter().flat_map(|constants| constants.iter()) {
        if let Ok(inner) = constant.cast::<PyCode>() {
            mention(inner, names);
        }
    }
}

impl Baseline {
    /// A module has just been run: takes note of what it and its classes hold.
    pub(super) fn note_module(&mut self, namespace: &Bound<'_, PyDict>, eyes: &mut Eyes) -> Window {
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
                let attached = value.cast_exact::<PyFunction>().ok().and_then(attributes);
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
            self.held.insert(place, (graph, node));
        }
    }

    /// Whether a function is the one that was bound to its name when the module was imported. Of a script, what is seen
    /// first counts.
    fn is_same_definition(&mut self, place: &Place, address: usize) -> bool {
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
    fn is_same(&mut self, place: &Place, graph: &Graph, node: NodeId) -> bool {
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
        self.held
            .insert(place.clone(), (graph.part(node), NodeId(0)));
        true
    }
}
