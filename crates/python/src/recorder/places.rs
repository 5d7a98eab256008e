//! Places outside the arguments that a unit can read or write: globals and attributes of classes.
//!
//! What a unit can reach is read off the names in its code and, through the functions of the project that these names
//! lead to, in theirs. That is more than it uses, which does no harm: what did not change and is as it was imported
//! is of no interest to anybody.

use std::sync::{Arc, OnceLock};

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyCFunction, PyCode, PyDict, PyFunction, PyModule, PyString, PyTuple, PyType};
use rustc_hash::{FxHashMap, FxHashSet};
use testwright_capture::{Graph, NodeId, Place, PlaceState, Reference};

use super::identity::{self, Window};
use super::names;
use super::scope::Scoped;
use super::snapshot::{Eyes, Moment};
use crate::sight::Pointer;

/// How far functions are followed.
const DEEPEST: u32 = 3;
/// How many places are looked at.
const MOST_PLACES: usize = 60;
/// How many units and classes of receivers are remembered.
const MOST_PLANS: usize = 2_000;

/// Whoever mentions one of these may ask for the words of the command.
const ASKS_COMMAND: [&str; 3] = ["argv", "parse_args", "parse_known_args"];

/// No more nodes than this are kept of what imports give. Places without are taken to be changed.
const MOST_HELD: usize = 100_000;

/// What the places held right after their modules were imported.
#[derive(Default)]
pub(super) struct Baseline {
    held: FxHashMap<Place, (Graph, NodeId)>,
    nodes: usize,
    /// Where functions and classes are that were bound to a name.
    definitions: FxHashMap<Place, usize>,
    modules: FxHashSet<String>,
}

/// What units can reach, by their code object and the class of their receiver. Finding it takes a hundred times as
/// long as seeing that nothing has changed.
#[derive(Default)]
pub(super) struct Plans {
    known: FxHashMap<(usize, usize), Arc<Plan>>,
}

impl Plans {
    /// The places that a call can reach: of a code object that runs with these globals, on a receiver of this class.
    pub(super) fn reach(
        &mut self,
        code: &Bound<'_, PyCode>,
        globals: &Bound<'_, PyDict>,
        receiver: Option<&Bound<'_, PyType>>,
        scoped: &mut Scoped,
    ) -> Reach {
        let class = receiver.map_or(0, |class| class.as_ptr() as usize);
        let key = (code.as_ptr() as usize, class);
        if let Some(plan) = self.known.get(&key)
            && let Some(namespaces) = plan.namespaces(code.py())
            && plan.still_holds(&namespaces)
        {
            return Reach::new(Arc::clone(plan), namespaces);
        }
        let (plan, namespaces) = Plan::make(code, globals, receiver, scoped);
        let plan = Arc::new(plan);
        if self.known.len() >= MOST_PLANS {
            self.known.clear();
        }
        match plan.owners.iter().all(Option::is_some) {
            true => self.known.insert(key, Arc::clone(&plan)),
            // A namespace that nobody owns cannot be found again without keeping it alive.
            false => self.known.remove(&key),
        };
        Reach::new(plan, namespaces)
    }

    /// What an import gives has changed.
    pub(super) fn forget(&mut self) {
        self.known.clear();
    }
}

/// The places that calls of a unit can reach.
struct Plan {
    /// Weak references to the modules, classes and functions whose namespaces are looked into, with these.
    owners: Vec<Option<Owner>>,
    places: Vec<Reached>,
    /// Names that had nothing yet, but may get something.
    absent: Vec<Reached>,
    /// Names of functions, and where these are. They are of interest only if somebody replaces them.
    definitions: Vec<(Reached, usize)>,
    /// Which of them had been replaced when that was first asked.
    replaced: OnceLock<Vec<usize>>,
    /// All names that were looked up on the way.
    lookups: Vec<Lookup>,
}

struct Owner {
    reference: Py<PyAny>,
    /// Its namespace, which is there as long as it is.
    namespace: usize,
}

/// A name in one of the namespaces, and what it led to.
struct Lookup {
    namespace: usize,
    name: Py<PyString>,
    found: Found,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Found {
    Nothing,
    /// A function, a class or a module, by where it is.
    Definition(usize),
    /// Anything else, by its type.
    Data(usize),
}

struct Reached {
    place: Place,
    namespace: usize,
    name: Py<PyString>,
}

/// The places that one call can reach.
pub(super) struct Reach {
    plan: Arc<Plan>,
    /// They live as long as the call.
    namespaces: Vec<Py<PyDict>>,
}

struct Search<'a, 'py> {
    scoped: &'a mut Scoped,
    seen: FxHashSet<usize>,
    known: FxHashSet<Place>,
    looked_up: FxHashSet<(usize, usize)>,
    numbers: FxHashMap<usize, usize>,
    namespaces: Vec<Bound<'py, PyDict>>,
    plan: Plan,
}

impl Plan {
    fn make<'py>(
        code: &Bound<'py, PyCode>,
        globals: &Bound<'py, PyDict>,
        receiver: Option<&Bound<'py, PyType>>,
        scoped: &mut Scoped,
    ) -> (Plan, Vec<Bound<'py, PyDict>>) {
        let mut search = Search {
            scoped,
            seen: FxHashSet::default(),
            known: FxHashSet::default(),
            looked_up: FxHashSet::default(),
            numbers: FxHashMap::default(),
            namespaces: Vec::new(),
            plan: Plan {
                owners: Vec::new(),
                places: Vec::new(),
                absent: Vec::new(),
                definitions: Vec::new(),
                replaced: OnceLock::new(),
                lookups: Vec::new(),
            },
        };
        // Another class may come to lie where this one is.
        if let Some(class) = receiver
            && let Some(namespace) = names::namespace(class)
        {
            search.number(&namespace, Some(class.as_any()));
        }
        search.follow(code, globals, receiver, 0);
        (search.plan, search.namespaces)
    }

    /// The namespaces, if all of them are still there.
    fn namespaces<'py>(&self, python: Python<'py>) -> Option<Vec<Bound<'py, PyDict>>> {
        let namespace = |owner: &Option<Owner>| {
            let owner = owner.as_ref()?;
            identity::is_alive(owner.reference.bind(python)).then_some(())?;
            // SAFETY: the owner is alive, and so is its namespace.
            let object = unsafe { Bound::from_borrowed_ptr(python, owner.namespace as Pointer) };
            object.cast_into::<PyDict>().ok()
        };
        self.owners.iter().map(namespace).collect()
    }

    /// Whether all names lead to where they led.
    fn still_holds(&self, namespaces: &[Bound<'_, PyDict>]) -> bool {
        self.lookups.iter().all(|lookup| {
            let namespace = &namespaces[lookup.namespace];
            let value = names::entry_at(namespace, &lookup.name);
            match (lookup.found, value) {
                (Found::Nothing, None) => true,
                (Found::Definition(address), Some(value)) => value.as_ptr() as usize == address,
                (Found::Data(class), Some(value)) => {
                    value.get_type_ptr() as usize == class || is_data(&value)
                }
                _ => false,
            }
        })
    }
}

impl Reach {
    fn new(plan: Arc<Plan>, namespaces: Vec<Bound<'_, PyDict>>) -> Reach {
        Reach {
            plan,
            namespaces: namespaces.into_iter().map(Bound::unbind).collect(),
        }
    }

    fn value<'py>(&self, python: Python<'py>, reached: &Reached) -> Option<Bound<'py, PyAny>> {
        let namespace = self.namespaces[reached.namespace].bind(python);
        names::entry_at(namespace, &reached.name)
    }

    /// Those whose values are kept, in the order of their states. Functions that had been replaced are places like
    /// others.
    fn places(&self) -> impl Iterator<Item = &Reached> {
        let replaced = self.replaced().iter();
        let replaced = replaced.map(|number| &self.plan.definitions[*number].0);
        self.plan.places.iter().chain(replaced)
    }

    fn replaced(&self) -> &[usize] {
        self.plan.replaced.get().map_or(&[], Vec::as_slice)
    }

    /// What the places hold at entry.
    pub(super) fn before(
        &self,
        python: Python<'_>,
        moment: &mut Moment<'_>,
        baseline: &mut Baseline,
    ) -> Vec<PlaceState> {
        // As long as the plan holds, the functions are the same.
        self.plan.replaced.get_or_init(|| {
            let all = self.plan.definitions.iter().enumerate();
            let other = all.filter(|(_, (reached, address))| {
                !baseline.is_same_definition(&reached.place, *address)
            });
            other.map(|(number, _)| number).collect()
        });
        let state = |reached: &Reached| {
            let node = self.value(python, reached).map(|value| moment.of(&value));
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
        self.places().map(state).collect()
    }

    /// What they hold at exit, and what is new.
    pub(super) fn after(
        &self,
        python: Python<'_>,
        moment: &mut Moment<'_>,
        states: &mut Vec<PlaceState>,
    ) {
        for (reached, state) in self.places().zip(states.iter_mut()) {
            state.after = self.value(python, reached).map(|value| moment.of(&value));
        }
        for (number, (reached, address)) in self.plan.definitions.iter().enumerate() {
            if self.replaced().contains(&number) {
                continue;
            }
            let now = self.value(python, reached);
            if now.as_ref().map(|now| now.as_ptr() as usize) != Some(*address) {
                states.push(PlaceState {
                    place: reached.place.clone(),
                    before: Some(moment.reference(&reached.place)),
                    after: now.map(|now| moment.of(&now)),
                    is_as_imported: true,
                });
            }
        }
        for reached in &self.plan.absent {
            if let Some(value) = self.value(python, reached).filter(is_data) {
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
        self.namespaces.into_iter().map(Py::into_any)
    }
}

impl<'py> Search<'_, 'py> {
    /// The number of a namespace. Its owner is what has to be alive for it to be there.
    fn number(
        &mut self,
        namespace: &Bound<'py, PyDict>,
        owner: Option<&Bound<'py, PyAny>>,
    ) -> usize {
        let address = namespace.as_ptr() as usize;
        if let Some(number) = self.numbers.get(&address) {
            return *number;
        }
        let number = self.namespaces.len();
        self.numbers.insert(address, number);
        self.namespaces.push(namespace.clone());
        let reference = owner.and_then(identity::weak_reference);
        self.plan.owners.push(reference.map(|reference| Owner {
            reference,
            namespace: address,
        }));
        number
    }

    /// The number of the namespace of a module.
    fn number_of_globals(&mut self, globals: &Bound<'py, PyDict>, module: &str) -> usize {
        let found = names::found(globals.py(), &Reference::new(module, ""));
        let owner = found.filter(|found| {
            names::module_namespace(found).is_some_and(|namespace| namespace.is(globals))
        });
        self.number(globals, owner.as_ref())
    }

    /// What a name leads to.
    fn entry(
        &mut self,
        namespace: usize,
        name: &Bound<'py, PyString>,
    ) -> Option<Bound<'py, PyAny>> {
        let value = names::entry_at(&self.namespaces[namespace], name.as_unbound());
        if self.looked_up.insert((namespace, name.as_ptr() as usize)) {
            self.plan.lookups.push(Lookup {
                namespace,
                name: name.clone().unbind(),
                found: match &value {
                    None => Found::Nothing,
                    Some(value) if is_data(value) => Found::Data(value.get_type_ptr() as usize),
                    Some(value) => Found::Definition(value.as_ptr() as usize),
                },
            });
        }
        value
    }

    fn follow(
        &mut self,
        code: &Bound<'py, PyCode>,
        globals: &Bound<'py, PyDict>,
        receiver: Option<&Bound<'py, PyType>>,
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
            .any(|(name, _)| ASKS_COMMAND.contains(&name.as_str()))
        {
            self.note_command(code.py());
        }
        let namespace = self.number_of_globals(globals, &module);
        for mention in &mentioned {
            let place = Place::Global {
                module: module.clone(),
                name: mention.0.clone(),
            };
            match self.entry(namespace, &mention.1) {
                Some(value) => self.look(place, namespace, mention, &value, &mentioned, depth),
                None => self.note_absent(place, namespace, mention, depth),
            }
        }
        for class in receiver.map(names::bases).unwrap_or_default() {
            self.look_into_class(&class, &mentioned, depth);
        }
    }

    /// The words of the command that runs the program.
    fn note_command(&mut self, python: Python<'py>) {
        let system = python.import("sys");
        let namespace = system.ok().and_then(|one| names::module_namespace(&one));
        if let Some(namespace) = namespace {
            let number = self.number_of_globals(&namespace, "sys");
            let (module, name) = ("sys".to_owned(), "argv".to_owned());
            let mention = (name.clone(), PyString::intern(python, &name));
            self.note(Place::Global { module, name }, number, &mention);
        }
    }

    /// What is attached to a function.
    fn look_into_function(
        &mut self,
        function: &Bound<'py, PyFunction>,
        mentioned: &[Mention<'py>],
    ) {
        let Some((class, namespace)) = attributes(function) else {
            return;
        };
        let number = self.number(&namespace, Some(function.as_any()));
        for mention in mentioned.iter().filter(|(name, _)| !name.starts_with("__")) {
            if self
                .entry(number, &mention.1)
                .is_some_and(|value| is_data(&value))
            {
                let (class, name) = (class.clone(), mention.0.clone());
                self.note(Place::ClassAttribute { class, name }, number, mention);
            }
        }
    }

    fn note_definition(
        &mut self,
        place: Place,
        namespace: usize,
        mention: &Mention<'py>,
        value: &Bound<'py, PyAny>,
    ) {
        let is_new = self.plan.definitions.len() < MOST_PLACES && !mention.0.starts_with("__");
        if is_new && self.known.insert(place.clone()) {
            let address = value.as_ptr() as usize;
            let reached = Reached::new(place, namespace, mention);
            self.plan.definitions.push((reached, address));
        }
    }

    fn look(
        &mut self,
        place: Place,
        namespace: usize,
        mention: &Mention<'py>,
        value: &Bound<'py, PyAny>,
        mentioned: &[Mention<'py>],
        depth: u32,
    ) {
        if let Ok(function) = value.cast_exact::<PyFunction>() {
            self.look_into_function(function, mentioned);
            self.note_definition(place, namespace, mention, value);
            self.follow_function(function, None, depth);
        } else if value.cast_exact::<PyCFunction>().is_ok() {
            self.note_definition(place, namespace, mention, value);
        } else if let Ok(class) = value.cast::<PyType>() {
            self.look_into_class(class, mentioned, depth);
        } else if value.is_instance_of::<PyModule>() {
            self.look_into_module(value, mentioned, depth);
        } else if is_data(value) && !mention.0.starts_with("__") {
            self.note(place, namespace, mention);
        }
    }

    fn note(&mut self, place: Place, namespace: usize, mention: &Mention<'py>) {
        if self.plan.places.len() < MOST_PLACES && self.known.insert(place.clone()) {
            let reached = Reached::new(place, namespace, mention);
            self.plan.places.push(reached);
        }
    }

    fn note_absent(&mut self, place: Place, namespace: usize, mention: &Mention<'py>, depth: u32) {
        let is_new = depth < 2 && self.plan.absent.len() < 4 * MOST_PLACES;
        if is_new && self.known.insert(place.clone()) {
            let reached = Reached::new(place, namespace, mention);
            self.plan.absent.push(reached);
        }
    }

    fn follow_function(
        &mut self,
        function: &Bound<'py, PyFunction>,
        receiver: Option<&Bound<'py, PyType>>,
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

    fn look_into_module(
        &mut self,
        module: &Bound<'py, PyAny>,
        mentioned: &[Mention<'py>],
        depth: u32,
    ) {
        let Some(namespace) = names::module_namespace(module) else {
            return;
        };
        let file = names::entry(&namespace, "__file__");
        let is_ours = file.is_some_and(|file| self.scoped.has(&file, &namespace));
        let Some(name) = names::module_name(module).filter(|_| is_ours && depth < DEEPEST) else {
            return;
        };
        let number = self.number(&namespace, Some(module));
        for mention in mentioned {
            let place = Place::Global {
                module: name.clone(),
                name: mention.0.clone(),
            };
            match self.entry(number, &mention.1) {
                Some(value) if !value.is_instance_of::<PyModule>() => {
                    self.look(place, number, mention, &value, mentioned, depth + 1);
                }
                Some(_) => {}
                None => self.note_absent(place, number, mention, depth + 1),
            }
        }
    }

    fn look_into_class(
        &mut self,
        class: &Bound<'py, PyType>,
        mentioned: &[Mention<'py>],
        depth: u32,
    ) {
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
        let number = self.number(&namespace, Some(class.as_any()));
        let made = ["__init__", "__new__"]
            .map(|name| (name.to_owned(), PyString::intern(class.py(), name)));
        for mention in mentioned.iter().chain(&made) {
            let place = Place::ClassAttribute {
                class: reference.clone(),
                name: mention.0.clone(),
            };
            let Some(value) = self.entry(number, &mention.1) else {
                self.note_absent(place, number, mention, depth + 1);
                continue;
            };
            let inner = names::function_inside(&value).unwrap_or_else(|| value.clone());
            if let Ok(function) = inner.cast_exact::<PyFunction>() {
                self.note_definition(place, number, mention, &value);
                self.follow_function(function, Some(class), depth);
            } else if is_data(&value) && !mention.0.starts_with("__") {
                self.note(place, number, mention);
            }
        }
    }
}

impl Reached {
    fn new(place: Place, namespace: usize, mention: &Mention<'_>) -> Reached {
        Reached {
            place,
            namespace,
            name: mention.1.clone().unbind(),
        }
    }
}

/// A name in a code object, as a text and as the object that dictionaries know it by.
type Mention<'py> = (String, Bound<'py, PyString>);

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
fn mention<'py>(code: &Bound<'py, PyCode>, names: &mut Vec<Mention<'py>>) {
    let all = |name: &str| {
        let all = code.getattr(name).ok();
        all.and_then(|all| all.cast_into::<PyTuple>().ok())
    };
    for name in all("co_names").iter().flat_map(|names| names.iter()) {
        if let Ok(name) = name.cast_into::<PyString>()
            && !names.iter().any(|(_, known)| known.is(&name))
        {
            names.push((name.to_string_lossy().into_owned(), name));
        }
    }
    for constant in all("co_consts").iter().flat_map(|all| all.iter()) {
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
            self.keep(place, graph, node);
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
