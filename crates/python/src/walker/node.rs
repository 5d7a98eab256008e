//! The parts of objects that can change, as the interpreter keeps them.

use std::ptr::null_mut;
use std::rc::Rc;

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyString;

use super::layout::{self, ObjectContent, ObjectLayout};
use super::{Pointer, sets};

/// A part of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ObjectPart {
    /// A reference to another object, or null.
    Object(Pointer),
    /// A plain number.
    Number(isize),
}

/// A part of an object, which keeps what it refers to alive.
#[derive(Debug)]
pub(crate) enum OwnedPart {
    /// A reference to another object.
    Object(Py<PyAny>),
    /// No object.
    Missing,
    /// A plain number.
    Number(isize),
}

impl OwnedPart {
    /// Returns the part without owning it.
    #[inline]
    pub(crate) fn as_part(&self) -> ObjectPart {
        match self {
            OwnedPart::Object(object) => ObjectPart::Object(object.as_ptr()),
            OwnedPart::Missing => ObjectPart::Object(null_mut()),
            OwnedPart::Number(number) => ObjectPart::Number(*number),
        }
    }

    /// Returns the object, if the part is one.
    pub(crate) fn object(&self) -> Option<&Py<PyAny>> {
        match self {
            OwnedPart::Object(object) => Some(object),
            _ => None,
        }
    }
}

/// An object that can change, with its parts at some time.
pub(crate) struct ObjectImage {
    pub(crate) object: Py<PyAny>,
    pub(crate) layout: Rc<ObjectLayout>,
    pub(crate) parts: Vec<OwnedPart>,
    /// The version of the dictionary that is its contents, where the interpreter counts versions.
    pub(crate) version: std::cell::Cell<Option<u64>>,
}

/// The names that the interpreter and the standard library add to namespaces at any time, or that
/// describe a module instead of belonging to its state.
pub(crate) struct UntrackedNames(Vec<Py<PyString>>);

impl UntrackedNames {
    /// Returns the names.
    pub(crate) fn new(python: Python<'_>) -> UntrackedNames {
        let names = [
            "__slotnames__",
            "__warningregistry__",
            "__builtins__",
            "__spec__",
            "__loader__",
            "__cached__",
            "_abc_impl",
            "__dict__",
            "__weakref__",
            "__annotations_cache__",
            "__static_attributes__",
        ];
        UntrackedNames(
            names
                .iter()
                .map(|name| PyString::intern(python, name).unbind())
                .collect(),
        )
    }

    /// Returns true if a name, an interned string, is ignored.
    #[inline]
    pub(crate) fn contains(&self, name: Pointer) -> bool {
        self.0.iter().any(|ignored| ignored.as_ptr() == name)
    }
}

/// The attributes of exceptions that belong to a state. Setting the cause sets the last one, too.
pub(crate) const EXCEPTION_PARTS: [&str; 4] =
    ["args", "__cause__", "__context__", "__suppress_context__"];

impl ObjectImage {
    /// Reads the current parts of an object.
    pub(crate) fn read(
        object: &Bound<'_, PyAny>,
        layout: &Rc<ObjectLayout>,
        ignored: &UntrackedNames,
    ) -> ObjectImage {
        let python = object.py();
        let mut parts = Vec::new();
        for_each_part(object, layout, ignored, &mut |part| {
            parts.push(match part {
                ObjectPart::Number(number) => OwnedPart::Number(number),
                // SAFETY: a part is null, or an object that is alive at this moment.
                ObjectPart::Object(object) => unsafe {
                    Bound::from_borrowed_ptr_or_opt(python, object)
                        .map_or(OwnedPart::Missing, |object| {
                            OwnedPart::Object(object.unbind())
                        })
                },
            });
            true
        });
        ObjectImage {
            object: object.clone().unbind(),
            layout: Rc::clone(layout),
            parts,
            version: std::cell::Cell::new(version(object.as_ptr(), layout)),
        }
    }

    /// Returns true if the object has the same class as when the image was taken.
    #[inline]
    pub(crate) fn has_same_class(&self) -> bool {
        // SAFETY: the image keeps the object alive.
        let class = unsafe { ffi::Py_TYPE(self.object.as_ptr()) };
        std::ptr::eq(class.cast(), self.layout.class.as_ptr())
    }

    /// Returns true if the object has the same class and parts as when the image was taken.
    pub(crate) fn is_unchanged(&self, python: Python<'_>, ignored: &UntrackedNames) -> bool {
        if !self.has_same_class() {
            return false;
        }
        let object = self.object.bind(python);
        let current = version(object.as_ptr(), &self.layout);
        if current.is_some() && current == self.version.get() {
            return true;
        }
        let mut rest = self.parts.iter();
        let same = for_each_part(object, &self.layout, ignored, &mut |part| {
            rest.next().is_some_and(|owned| owned.as_part() == part)
        });
        let same = same && rest.next().is_none();
        if same {
            self.version.set(current);
        }
        same
    }
}

/// Returns the version of the dictionary in which all parts of an object are, if that is so.
#[inline]
fn version(object: Pointer, layout: &ObjectLayout) -> Option<u64> {
    match layout.content {
        // SAFETY: the object is a dictionary.
        ObjectContent::Dictionary if !layout.has_dict && layout.slots.is_empty() => unsafe {
            crate::dictionary::version(object)
        },
        // SAFETY: the object is a class; those made by a `class` statement have a dictionary.
        ObjectContent::Class => unsafe {
            let class = object.cast::<ffi::PyTypeObject>();
            let dictionary = (*class).tp_dict;
            (!dictionary.is_null()).then(|| crate::dictionary::version(dictionary))?
        },
        _ => None,
    }
}

/// Visits the parts of an object until `visit` returns false. Returns false if it did.
///
/// First come the `__dict__` and the `__slots__`, then the contents.
pub(crate) fn for_each_part(
    object: &Bound<'_, PyAny>,
    layout: &ObjectLayout,
    ignored: &UntrackedNames,
    visit: &mut impl FnMut(ObjectPart) -> bool,
) -> bool {
    let python = object.py();
    if layout.has_dict {
        let attributes = layout::attributes(object);
        if !visit(ObjectPart::Object(pointer_of(attributes.as_ref()))) {
            return false;
        }
    }
    for slot in &layout.slots {
        let value = read_slot(slot.bind(python), object);
        if !visit(ObjectPart::Object(pointer_of(value.as_ref()))) {
            return false;
        }
    }
    content_parts(object, layout, ignored, visit)
}

/// Returns the address of an object, or null.
fn pointer_of(object: Option<&Bound<'_, PyAny>>) -> Pointer {
    object.map_or(null_mut(), Bound::as_ptr)
}

/// Reads a slot. `None` if it is empty.
pub(crate) fn read_slot<'py>(
    slot: &Bound<'py, PyAny>,
    object: &Bound<'py, PyAny>,
) -> Option<Bound<'py, PyAny>> {
    // SAFETY: the descriptor is a member descriptor of the object's class, which has this function;
    // the result is a new reference, or null with an exception.
    unsafe {
        let get = (*ffi::Py_TYPE(slot.as_ptr())).tp_descr_get?;
        let value = get(
            slot.as_ptr(),
            object.as_ptr(),
            ffi::Py_TYPE(object.as_ptr()).cast(),
        );
        if value.is_null() {
            ffi::PyErr_Clear();
        }
        Bound::from_owned_ptr_or_opt(object.py(), value)
    }
}

/// Visits the contents of an object besides its attributes.
fn content_parts(
    object: &Bound<'_, PyAny>,
    layout: &ObjectLayout,
    ignored: &UntrackedNames,
    visit: &mut impl FnMut(ObjectPart) -> bool,
) -> bool {
    let pointer = object.as_ptr();
    let python = object.py();
    match layout.content {
        // SAFETY: the object is a list, and visiting does not change it.
        ObjectContent::List => unsafe {
            (0..ffi::PyList_GET_SIZE(pointer))
                .all(|index| visit(ObjectPart::Object(ffi::PyList_GET_ITEM(pointer, index))))
        },
        // SAFETY: the object is a tuple.
        ObjectContent::Tuple => unsafe {
            (0..ffi::PyTuple_GET_SIZE(pointer))
                .all(|index| visit(ObjectPart::Object(ffi::PyTuple_GET_ITEM(pointer, index))))
        },
        ObjectContent::Dictionary => dictionary_parts(pointer, ignored, visit),
        ObjectContent::DefaultDictionary => {
            let factory = object
                .py()
                .import("collections")
                .and_then(|module| module.getattr("defaultdict"))
                .and_then(|class| class.getattr("default_factory"))
                .and_then(|slot| slot.call_method1("__get__", (object,)));
            visit(ObjectPart::Object(pointer_of(factory.ok().as_ref())))
                && dictionary_parts(pointer, ignored, visit)
        }
        ObjectContent::OrderedDictionary => {
            let base = layout.base.bind(python);
            let Ok(keys) = base.call_method1("__iter__", (object,)) else {
                return false;
            };
            let Ok(keys) = keys.try_iter() else {
                return false;
            };
            for key in keys {
                let Ok(key) = key else { return false };
                // SAFETY: an ordered dictionary is a dictionary; the result is borrowed.
                let value = unsafe { ffi::PyDict_GetItemWithError(pointer, key.as_ptr()) };
                if !visit(ObjectPart::Object(key.as_ptr())) || !visit(ObjectPart::Object(value)) {
                    return false;
                }
            }
            true
        }
        ObjectContent::Set | ObjectContent::FrozenSet => sets::for_each_part(pointer, visit),
        ObjectContent::Deque => {
            let base = layout.base.bind(python);
            let length = base
                .getattr("maxlen")
                .and_then(|slot| slot.call_method1("__get__", (object,)))
                .ok()
                .and_then(|length| length.extract::<isize>().ok());
            if !visit(ObjectPart::Number(length.unwrap_or(-1))) {
                return false;
            }
            let Ok(items) = base.call_method1("__iter__", (object,)) else {
                return false;
            };
            let Ok(mut items) = items.try_iter() else {
                return false;
            };
            items.all(|item| item.is_ok_and(|item| visit(ObjectPart::Object(item.as_ptr()))))
        }
        ObjectContent::ByteArray => {
            // SAFETY: the object is an array of bytes, and visiting does not change it.
            let bytes = unsafe {
                let start = ffi::PyByteArray_AsString(pointer).cast::<u8>();
                std::slice::from_raw_parts(start, ffi::PyByteArray_Size(pointer) as usize)
            };
            bytes
                .iter()
                .all(|byte| visit(ObjectPart::Number(*byte as isize)))
        }
        ObjectContent::Cell => {
            // SAFETY: the object is a cell; the result is a new reference or null.
            let content = unsafe { Bound::from_owned_ptr_or_opt(python, ffi::PyCell_Get(pointer)) };
            visit(ObjectPart::Object(pointer_of(content.as_ref())))
        }
        ObjectContent::Function => {
            // SAFETY: the object is a function, so it has this layout.
            let function = unsafe { &*pointer.cast::<ffi::PyFunctionObject>() };
            let fields = [
                function.func_code,
                function.func_defaults,
                function.func_kwdefaults,
                if is_guarded_repr(python, function) {
                    null_mut()
                } else {
                    function.func_closure
                },
            ];
            fields.into_iter().all(|field| visit(ObjectPart::Object(field)))
                // Reading the attributes of a function without any creates an empty dictionary.
                && (function.func_dict.is_null()
                    || dictionary_parts(function.func_dict, ignored, visit))
        }
        ObjectContent::Class => {
            let class = object.cast::<pyo3::types::PyType>().ok();
            let namespace = class.and_then(layout::namespace);
            namespace.is_none_or(|namespace| dictionary_parts(namespace.as_ptr(), ignored, visit))
        }
        ObjectContent::BoundMethod => {
            let parts = ["__func__", "__self__"].map(|name| object.getattr(name).ok());
            parts
                .iter()
                .all(|part| visit(ObjectPart::Object(pointer_of(part.as_ref()))))
        }
        ObjectContent::Wrapper => {
            let parts = references(object);
            parts
                .iter()
                .all(|part| visit(ObjectPart::Object(part.as_ptr())))
        }
        ObjectContent::LruCache => {
            let parts = references(object);
            parts
                .iter()
                .all(|part| visit(ObjectPart::Object(part.as_ptr())))
        }
        ObjectContent::Lock => {
            let held = object.call_method0(pyo3::intern!(python, "locked"));
            let held = held.and_then(|held| held.is_truthy()).unwrap_or(false);
            visit(ObjectPart::Number(isize::from(held)))
        }
        ObjectContent::ReentrantLock => {
            let held = object.call_method0(pyo3::intern!(python, "_is_owned"));
            let held = held.and_then(|held| held.is_truthy()).unwrap_or(true);
            visit(ObjectPart::Number(isize::from(held)))
        }
        ObjectContent::WeakReference => {
            let definition = definition_of_weak(object);
            visit(ObjectPart::Object(pointer_of(definition.as_ref())))
        }
        ObjectContent::Exception => EXCEPTION_PARTS.iter().all(|name| {
            let part = object.getattr(*name).ok();
            visit(ObjectPart::Object(pointer_of(part.as_ref())))
        }),
        _ => true,
    }
}

/// Returns true if a function is a `__repr__` that the standard library guards against recursion, as
/// that of a dataclass. It keeps the addresses of the objects that are being shown in a set, which is
/// empty otherwise, but has traces of them.
fn is_guarded_repr(python: Python<'_>, function: &ffi::PyFunctionObject) -> bool {
    let name = pyo3::intern!(python, "__repr__");
    if function.func_closure.is_null() || function.func_name != name.as_ptr() {
        return false;
    }
    // SAFETY: the function keeps its code alive.
    let code = unsafe { Bound::from_borrowed_ptr(python, function.func_code) };
    code.getattr(pyo3::intern!(python, "co_freevars"))
        .and_then(|names| names.contains(pyo3::intern!(python, "repr_running")))
        .unwrap_or(false)
}

/// Returns the class, function or module that a weak reference refers to, if it is to one.
pub(crate) fn definition_of_weak<'py>(reference: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    use pyo3::types::{PyFunction, PyModule, PyType};
    let target = reference.call0().ok()?;
    let is_definition = target.is_instance_of::<PyType>()
        || target.is_instance_of::<PyFunction>()
        || target.is_instance_of::<PyModule>();
    is_definition.then_some(target)
}

/// Returns true if an object that is seen only in part hides something at the moment.
pub(crate) fn hides_something(object: &Bound<'_, PyAny>, content: ObjectContent) -> bool {
    match content {
        ObjectContent::ReentrantLock => object
            .call_method0("_is_owned")
            .and_then(|held| held.is_truthy())
            .unwrap_or(true),
        ObjectContent::WeakReference => definition_of_weak(object).is_none(),
        ObjectContent::TextStream => !object
            .call_method0("fileno")
            .and_then(|number| number.extract::<i64>())
            .is_ok_and(|number| number <= 2),
        ObjectContent::Unseen => true,
        _ => false,
    }
}

/// Visits keys and values of a dictionary. The values of ignored names are left out.
pub(crate) fn dictionary_parts(
    dictionary: Pointer,
    ignored: &UntrackedNames,
    visit: &mut impl FnMut(ObjectPart) -> bool,
) -> bool {
    let mut position = 0;
    let (mut key, mut value) = (null_mut(), null_mut());
    // SAFETY: the object is a dictionary, and visiting does not change it.
    while unsafe { ffi::PyDict_Next(dictionary, &mut position, &mut key, &mut value) } != 0 {
        if ignored.contains(key) {
            continue;
        }
        if !visit(ObjectPart::Object(key)) || !visit(ObjectPart::Object(value)) {
            return false;
        }
    }
    true
}

/// Returns the objects that an object written in C refers to, as the garbage collector sees them.
pub(crate) fn references<'py>(object: &Bound<'py, PyAny>) -> Vec<Bound<'py, PyAny>> {
    extern "C" fn collect(part: Pointer, list: *mut std::ffi::c_void) -> std::ffi::c_int {
        // SAFETY: the pointer is that of the vector below, and the object is alive.
        unsafe { (*list.cast::<Vec<Pointer>>()).push(part) };
        0
    }
    let mut found: Vec<Pointer> = Vec::new();
    // SAFETY: the object is alive; its class says how to visit what it refers to.
    unsafe {
        let class = ffi::Py_TYPE(object.as_ptr());
        if let Some(traverse) = (*class).tp_traverse {
            traverse(object.as_ptr(), collect, (&raw mut found).cast());
        }
        found
            .into_iter()
            .filter(|part| !part.is_null() && *part != class.cast())
            .map(|part| Bound::from_borrowed_ptr(object.py(), part))
            .collect()
    }
}
