//! Instances of classes made in Python, exceptions and members of enumerations.

use pyo3::exceptions::PyBaseException;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt, PyTuple, PyType};
use rustc_hash::FxHashMap;
use testwright_capture::{Exception, NodeId, Object, ObjectKind, Reference, Value};

use super::super::names;
use super::Moment;
use crate::sight::classes::{Attributes, Layout};

/// Classes are kept alive while they are known, up to this number.
const MOST_CLASSES: usize = 1_000;

/// What is known about classes.
pub(in crate::recorder) struct Instances {
    known: FxHashMap<usize, Known>,
    /// The metaclass of enumerations.
    enumerations: Py<PyAny>,
}

struct Known {
    /// The class lives as long as what is known about it.
    _class: Py<PyType>,
    layout: Option<Layout>,
    reference: Reference,
    is_importable: bool,
    kind: ObjectKind,
    is_enumeration: bool,
}

// SAFETY: the pointers in a layout are used by whoever holds the interpreter, and by nobody else; what they point to
// is kept alive beside it.
unsafe impl Send for Known {}

impl Instances {
    pub(in crate::recorder) fn new(python: Python<'_>) -> PyResult<Instances> {
        let enumerations = python.import("enum")?.getattr("EnumMeta")?.unbind();
        Ok(Instances {
            known: FxHashMap::default(),
            enumerations,
        })
    }

    fn class(&mut self, class: &Bound<'_, PyType>) -> &Known {
        if self.known.len() > MOST_CLASSES {
            self.known.clear();
        }
        let address = class.as_ptr() as usize;
        self.known.entry(address).or_insert_with(|| {
            let reference = names::class_reference(class);
            let metaclass = class.as_any().get_type();
            let metaclasses = names::bases(&metaclass);
            Known {
                _class: class.clone().unbind(),
                // SAFETY: the class is kept alive beside its layout.
                layout: unsafe { Layout::of(class.as_type_ptr()) },
                is_importable: names::leads_to(&reference, class.as_any()),
                reference,
                kind: kind(class),
                is_enumeration: metaclasses.iter().any(|class| class.is(&self.enumerations)),
            }
        })
    }
}

fn kind(class: &Bound<'_, PyType>) -> ObjectKind {
    let is_tuple = class.is_subclass_of::<PyTuple>().unwrap_or(false);
    for base in names::bases(class) {
        let Some(namespace) = names::namespace(&base) else {
            continue;
        };
        let has = |name| names::entry(&namespace, name).is_some();
        if has("__dataclass_fields__") {
            return ObjectKind::Dataclass;
        }
        if has("__attrs_attrs__") {
            return ObjectKind::Attrs;
        }
        if has("__pydantic_fields__") {
            return ObjectKind::Pydantic;
        }
        if is_tuple && has("_fields") {
            return ObjectKind::NamedTuple;
        }
    }
    ObjectKind::Plain
}

impl Moment<'_> {
    /// An instance by its class and attributes, or an unknown thing.
    pub(super) fn instance(&mut self, object: &Bound<'_, PyAny>, depth: u32) -> Value {
        let class = object.get_type();
        let known = self.eyes.instances.class(&class);
        let (reference, is_importable) = (known.reference.clone(), known.is_importable);
        let (kind, is_enumeration) = (known.kind, known.is_enumeration);
        let Some(layout) = &known.layout else {
            if let Ok(exception) = object.cast::<PyBaseException>() {
                return self.exception(exception, reference, is_importable, Vec::new(), depth);
            }
            let reason = "its type keeps its state where nobody can look".to_owned();
            return Value::Unknown {
                class: reference,
                reason,
            };
        };
        // SAFETY: the layout is the one of the object's class.
        let attributes = unsafe { attributes(object, layout) };
        let is_bare = keeps_nothing(layout.base);
        // SAFETY: likewise.
        if is_enumeration && let Some(names) = unsafe { member_names(&class, layout, &attributes) }
        {
            return Value::Member {
                class: reference,
                names,
            };
        }
        if let Ok(exception) = object.cast::<PyBaseException>() {
            return self.exception(exception, reference, is_importable, attributes, depth);
        }
        let content = if is_bare {
            None
        } else {
            let content =
                super::simple_content(object).or_else(|| self.container(object, depth, false));
            let Some(content) = content else {
                let reason = "it is derived from a type that nobody can look into".to_owned();
                return Value::Unknown {
                    class: reference,
                    reason,
                };
            };
            Some(self.plain(content))
        };
        let attributes = self.named(attributes, depth);
        Value::Object(Object {
            class: reference,
            is_importable,
            kind,
            content,
            attributes,
        })
    }

    fn named(
        &mut self,
        attributes: Vec<(String, Bound<'_, PyAny>)>,
        depth: u32,
    ) -> Vec<(String, NodeId)> {
        let node = |(name, value): (String, Bound<'_, PyAny>)| (name, self.node(&value, depth));
        attributes.into_iter().map(node).collect()
    }

    fn exception<'py>(
        &mut self,
        exception: &Bound<'py, PyBaseException>,
        class: Reference,
        is_importable: bool,
        mut attributes: Vec<(String, Bound<'py, PyAny>)>,
        depth: u32,
    ) -> Value {
        let python = exception.py();
        attributes.extend(own_attributes(exception));
        // SAFETY: all exceptions begin like this; the parts are alive or null.
        let (arguments, cause, context) = unsafe {
            let parts = &*exception.as_ptr().cast::<ffi::PyBaseExceptionObject>();
            let part = |pointer| Bound::from_borrowed_ptr_or_opt(python, pointer);
            (part(parts.args), part(parts.cause), part(parts.context))
        };
        let class_of = |other: Bound<'_, PyAny>| names::class_reference(&other.get_type());
        let arguments = arguments.and_then(|arguments| arguments.cast_into::<PyTuple>().ok());
        let arguments: Vec<_> = arguments.iter().flat_map(|all| all.iter()).collect();
        let arguments = arguments.iter().map(|one| self.node(one, depth)).collect();
        let attributes = self.named(attributes, depth);
        let members = members(exception);
        let members = members.iter().map(|one| self.node(one, depth)).collect();
        Value::Exception(Exception {
            class,
            is_importable,
            arguments,
            attributes,
            cause: cause.map(class_of),
            context: context.map(class_of),
            members,
        })
    }
}

/// Whether instances of a type have nothing of their own but what classes derived from it give them: `object`, and types
/// such as `datetime.tzinfo` that only say what derived classes can do.
fn keeps_nothing(base: *mut ffi::PyTypeObject) -> bool {
    let object = &raw mut ffi::PyBaseObject_Type;
    // SAFETY: the base of a class that is alive is alive, and types are as large as they say for as long as they live.
    base == object
        || unsafe { (*base).tp_basicsize == (*object).tp_basicsize && (*base).tp_itemsize == 0 }
}

/// What built-in exceptions keep outside their dictionary. Only classes of the interpreter itself are asked, by
/// descriptors written in C.
fn own_attributes<'py>(
    exception: &Bound<'py, PyBaseException>,
) -> Vec<(String, Bound<'py, PyAny>)> {
    const KNOWN: [(&str, &[&str]); 8] = [
        ("OSError", &["errno", "strerror", "filename", "filename2"]),
        ("StopIteration", &["value"]),
        ("SystemExit", &["code"]),
        ("ImportError", &["name", "path"]),
        ("AttributeError", &["name"]),
        ("NameError", &["name"]),
        (
            "UnicodeDecodeError",
            &["encoding", "object", "start", "end", "reason"],
        ),
        (
            "UnicodeEncodeError",
            &["encoding", "object", "start", "end", "reason"],
        ),
    ];
    let mut found = Vec::new();
    for base in names::bases(&exception.get_type()) {
        let reference = names::class_reference(&base);
        let known = KNOWN.iter().find(|(name, _)| *name == reference.path);
        let Some((_, attributes)) = known.filter(|_| reference.module == "builtins") else {
            continue;
        };
        let Some(namespace) = names::namespace(&base) else {
            continue;
        };
        for name in *attributes {
            let descriptor = names::entry(&namespace, name);
            let value = descriptor
                .and_then(|descriptor| descriptor.call_method1("__get__", (exception,)).ok());
            if let Some(value) = value.filter(|value| !value.is_none()) {
                found.push(((*name).to_owned(), value));
            }
        }
    }
    found
}

/// The exceptions in a group, which the interpreter's own class keeps.
fn members<'py>(exception: &Bound<'py, PyBaseException>) -> Vec<Bound<'py, PyAny>> {
    let group = Reference::new("builtins", "BaseExceptionGroup");
    let group = (names::bases(&exception.get_type()).into_iter())
        .find(|base| names::class_reference(base) == group);
    let descriptor = group
        .and_then(|group| names::namespace(&group))
        .and_then(|namespace| names::entry(&namespace, "exceptions"));
    let all = descriptor.and_then(|one| one.call_method1("__get__", (exception,)).ok());
    let all = all.and_then(|all| all.cast_into::<PyTuple>().ok());
    all.iter().flat_map(|all| all.iter()).collect()
}

/// The names of a member, or of the members that are combined in it.
///
/// # Safety
///
/// The layout must be the one of the class.
unsafe fn member_names(
    class: &Bound<'_, PyType>,
    layout: &Layout,
    attributes: &[(String, Bound<'_, PyAny>)],
) -> Option<Vec<String>> {
    let name = attribute(attributes, "_name_")?;
    if name.is_none() {
        // SAFETY: as the caller promises.
        return unsafe { combined_names(class, layout, attributes) };
    }
    // SAFETY: the name is alive.
    let name = unsafe { names::text(name.py(), name.as_ptr()) }?;
    Some(name.split('|').map(str::to_owned).collect())
}

/// The names of the members that a nameless combination of flags consists of, in the order of their bits.
///
/// Before 3.11 that is every combination, later only the empty one.
///
/// # Safety
///
/// The layout must be the one of the class.
unsafe fn combined_names(
    class: &Bound<'_, PyType>,
    layout: &Layout,
    attributes_of_all: &[(String, Bound<'_, PyAny>)],
) -> Option<Vec<String>> {
    let mut missing = bits(attributes_of_all)?;
    let members = names::entry(&names::namespace(class)?, "_member_map_")?;
    let mut flags = Vec::new();
    for (name, member) in members.cast::<PyDict>().ok()?.iter() {
        if !member.get_type().is(class) {
            continue;
        }
        // SAFETY: the layout is the one of the member's class, and the name is alive.
        let (name, attributes) = unsafe {
            let name = names::text(name.py(), name.as_ptr())?;
            (name, attributes(&member, layout))
        };
        flags.extend(
            bits(&attributes)
                .filter(|bits| bits.is_power_of_two())
                .map(|bit| (bit, name)),
        );
    }
    flags.sort_by_key(|(bit, _)| *bit);
    let mut found = Vec::new();
    for (bit, name) in flags {
        // A second name of the same flag finds nothing left.
        if missing & bit != 0 {
            missing &= !bit;
            found.push(name);
        }
    }
    // Bits that have no names cannot be told by names.
    (missing == 0).then_some(found)
}

/// The number that a flag stands for.
fn bits(attributes: &[(String, Bound<'_, PyAny>)]) -> Option<u128> {
    let number = attribute(attributes, "_value_")?;
    number.cast_exact::<PyInt>().ok()?.extract().ok()
}

fn attribute<'a, 'py>(
    attributes: &'a [(String, Bound<'py, PyAny>)],
    wanted: &str,
) -> Option<&'a Bound<'py, PyAny>> {
    let (_, value) = attributes.iter().find(|(name, _)| name == wanted)?;
    Some(value)
}

/// The attributes of an instance with their names: slots first.
///
/// # Safety
///
/// The layout must be the one of the object's class.
unsafe fn attributes<'py>(
    object: &Bound<'py, PyAny>,
    layout: &Layout,
) -> Vec<(String, Bound<'py, PyAny>)> {
    let python = object.py();
    let mut found = Vec::new();
    // SAFETY: the layout says where the attributes are; names live as long as the class, values as long as the object.
    unsafe {
        let mut note = |name, value| {
            let value = Bound::from_borrowed_ptr_or_opt(python, value);
            if let (Some(name), Some(value)) = (names::text(python, name), value) {
                found.push((name, value));
            }
        };
        for (offset, name) in layout.slots.iter().zip(&layout.slot_names) {
            let place = object.as_ptr().byte_offset(*offset);
            note(*name, *place.cast::<*mut ffi::PyObject>());
        }
        match layout.attributes(object.as_ptr()) {
            Attributes::None => {}
            Attributes::Dictionary(dictionary) => {
                let dictionary = Bound::from_borrowed_ptr(python, dictionary);
                if let Ok(dictionary) = dictionary.cast::<PyDict>() {
                    for (name, value) in dictionary.iter() {
                        note(name.as_ptr(), value.as_ptr());
                    }
                }
            }
            #[cfg(Py_3_11)]
            Attributes::Values(values) => {
                for (name, value) in layout.value_names().into_iter().zip(values) {
                    note(name, *value);
                }
            }
            #[cfg(not(Py_3_11))]
            Attributes::Values(_) => {}
        }
    }
    found
}
