//! Attribute storage of instances of classes written in Python.
//!
//! Getting `__dict__` of an instance creates a dictionary, which slows its attributes down from
//! then on. So attributes are read from the interpreter's own storage. That differs between
//! versions; [`InstanceShapes::new`] tests that it is as expected.

use std::ffi::CStr;

use pyo3::ffi;
use pyo3::prelude::*;
use rustc_hash::FxHashMap;

use super::{OpaqueReason, Pointer};

/// A pointer to a class, not owned.
type ClassPointer = *mut ffi::PyTypeObject;

/// The shape of the instances of a class.
pub(crate) struct InstanceShape {
    /// Its index in [`InstanceShapes`].
    pub(crate) number: usize,
    pub(crate) base: BuiltinBase,
    pub(crate) layout: AttributeLayout,
}

/// The location of the attributes of instances of a class.
pub(crate) struct AttributeLayout {
    #[cfg(Py_3_11)]
    class: ClassPointer,
    /// The type written in C that the class is derived from.
    pub(crate) base: ClassPointer,
    /// The offsets of the attributes named in `__slots__`.
    pub(crate) slots: Vec<isize>,
    /// Their names, in the same order; they live as long as the class.
    pub(crate) slot_names: Vec<Pointer>,
    /// The location of the dictionary of other attributes.
    dictionary: DictionaryLocation,
}

/// A type written in C that a class is derived from.
#[derive(Clone, Copy)]
pub(crate) enum BuiltinBase {
    Object,
    Tuple,
    List,
    Dictionary,
    Set(ffi::traverseproc),
}

/// The location of an instance's dictionary.
#[derive(Clone, Copy)]
enum DictionaryLocation {
    None,
    /// At this offset.
    At(isize),
    /// At this offset from the end of an object of variable length.
    #[cfg_attr(Py_3_12, expect(dead_code, reason = "there are none any more"))]
    FromEnd(isize),
    /// Before the object, and created only when needed.
    Managed,
}

/// The attributes of an instance, without those in `__slots__`.
pub(crate) enum InstanceAttributes<'a> {
    None,
    Dictionary(Pointer),
    /// Values without a dictionary; the class has the names.
    #[cfg_attr(
        not(Py_3_11),
        expect(dead_code, reason = "there always is a dictionary")
    )]
    Values(&'a [Pointer]),
}

/// All shapes found so far.
pub(crate) struct InstanceShapes {
    shapes: Vec<InstanceShape>,
    /// The index of each shape, by class.
    numbers: FxHashMap<ClassPointer, usize>,
    /// Classes, kept alive as long as their shapes, so that their addresses stay unique.
    kept_alive: Vec<Py<PyAny>>,
}

impl InstanceShapes {
    /// Tests that attributes can be read in this interpreter.
    pub(crate) fn new(python: Python<'_>) -> PyResult<InstanceShapes> {
        let mut classes = InstanceShapes {
            shapes: Vec::new(),
            numbers: FxHashMap::default(),
            kept_alive: Vec::new(),
        };
        if !classes.can_read(python)? {
            return Err(pyo3::exceptions::PyNotImplementedError::new_err(
                "this interpreter keeps attributes in another place than expected",
            ));
        }
        Ok(classes)
    }

    /// Returns the number of shapes.
    pub(crate) fn len(&self) -> usize {
        self.shapes.len()
    }

    /// Forgets all shapes and their classes.
    pub(crate) fn clear(&mut self) {
        self.shapes.clear();
        self.numbers.clear();
        self.kept_alive.clear();
    }

    /// Returns true if the attributes of test instances, including a deleted one, are read
    /// correctly.
    fn can_read(&mut self, python: Python<'_>) -> PyResult<bool> {
        let made = pyo3::types::PyDict::new(python);
        python.run(
            c"\
class Probe:
    __slots__ = ('slot', '__dict__')
class Plain:
    pass
probes = [Probe(), Plain()]
probes[0].slot = 1001
for probe in probes:
    probe.a, probe.b, probe.c = range(1002, 1005)
    del probe.b
",
            Some(&made),
            None,
        )?;
        let Some(probes) = made.get_item("probes")? else {
            return Ok(false);
        };
        for probe in probes.try_iter()? {
            let probe = probe?;
            let expected = ["slot", "a", "c"]
                .into_iter()
                .filter_map(|name| probe.getattr(name).ok())
                .map(|value| value.as_ptr());
            let expected: Vec<Pointer> = expected.collect();
            let number = match self.shape(probe.get_type().as_ptr().cast()) {
                Ok(shape) => shape.number,
                Err(_) => return Ok(false),
            };
            let mut seen = Vec::new();
            // SAFETY: the shape belongs to the object's class.
            unsafe {
                super::for_each_attribute(probe.as_ptr(), &self.shapes[number], &mut |part| {
                    if !part.is_null() && ffi::PyDict_CheckExact(part) != 0 {
                        super::for_each_entry(part, &mut |part| {
                            if ffi::PyLong_CheckExact(part) != 0 {
                                seen.push(part);
                            }
                            true
                        });
                    } else {
                        seen.push(part);
                    }
                    true
                });
            }
            let missing = seen.iter().filter(|part| part.is_null()).count();
            seen.retain(|part| !part.is_null());
            if seen != expected || missing > 1 {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns a shape by its index.
    #[inline]
    pub(crate) fn number(&self, number: usize) -> &InstanceShape {
        &self.shapes[number]
    }

    /// Returns the shape of the instances of a class.
    pub(crate) fn shape(&mut self, class: ClassPointer) -> Result<&InstanceShape, OpaqueReason> {
        let number = match self.numbers.get(&class) {
            Some(number) => *number,
            None => self.add(class)?,
        };
        Ok(&self.shapes[number])
    }

    /// Finds the shape of a new class.
    #[cold]
    fn add(&mut self, class: ClassPointer) -> Result<usize, OpaqueReason> {
        // SAFETY: the class belongs to an object that is alive, and all its bases are alive with
        // it.
        let layout = unsafe { AttributeLayout::from_class(class) };
        let layout =
            layout.filter(|layout| !matches!(layout.dictionary, DictionaryLocation::FromEnd(_)));
        let understood =
            layout.and_then(|layout| Some((BuiltinBase::from_class(layout.base)?, layout)));
        let (base, layout) = understood.ok_or_else(|| {
            format!(
                "the state of an object of the class `{}` cannot be inspected",
                name(class)
            )
        })?;
        let number = self.shapes.len();
        // SAFETY: the class is alive, and the interpreter's lock is held.
        let kept = unsafe {
            Bound::from_borrowed_ptr(Python::assume_attached(), class.cast::<ffi::PyObject>())
        };
        self.kept_alive.push(kept.unbind());
        self.numbers.insert(class, number);
        self.shapes.push(InstanceShape {
            number,
            base,
            layout,
        });
        Ok(number)
    }
}

/// Returns the name of a class, with its module if it is written in C.
pub(crate) fn name(class: ClassPointer) -> String {
    // SAFETY: the name of a class is a string that lives as long as the class.
    unsafe { CStr::from_ptr((*class).tp_name) }
        .to_string_lossy()
        .into_owned()
}

/// `PyMemberDescrObject`, which pyo3 does not declare.
#[repr(C)]
struct MemberDescriptor {
    object: ffi::PyObject,
    class: ClassPointer,
    name: Pointer,
    qualified_name: Pointer,
    member: *mut ffi::PyMemberDef,
}

/// Returns the class of a descriptor written in C.
///
/// # Safety
///
/// The object must be such a descriptor.
pub(crate) unsafe fn descriptor_class(object: Pointer) -> ClassPointer {
    // SAFETY: all of them start with these fields.
    unsafe { (*object.cast::<MemberDescriptor>()).class }
}

/// Returns true if a heap type has methods written in C, whose effects are unknown.
///
/// # Safety
///
/// The class must be alive, and be a heap type.
pub(crate) unsafe fn is_written_in_c(class: ClassPointer) -> bool {
    // SAFETY: such classes have a dictionary, and its entries are alive.
    unsafe {
        !super::for_each_entry((*class).tp_dict, &mut |part| {
            let kind = ffi::Py_TYPE(part);
            let is_method = kind == &raw mut ffi::PyMethodDescr_Type
                || kind == &raw mut ffi::PyClassMethodDescr_Type
                || kind == &raw mut ffi::PyWrapperDescr_Type;
            !is_method || descriptor_class(part) != class
        })
    }
}

impl BuiltinBase {
    /// Returns the base for a type written in C, if it is understood.
    fn from_class(class: ClassPointer) -> Option<BuiltinBase> {
        if class == &raw mut ffi::PyBaseObject_Type {
            // Either a plain `object()`, or a type written in C that seems to hold nothing.
            Some(BuiltinBase::Object)
        } else if class == &raw mut ffi::PyTuple_Type {
            Some(BuiltinBase::Tuple)
        } else if class == &raw mut ffi::PyList_Type {
            Some(BuiltinBase::List)
        } else if class == &raw mut ffi::PyDict_Type {
            Some(BuiltinBase::Dictionary)
        } else if class == &raw mut ffi::PySet_Type || class == &raw mut ffi::PyFrozenSet_Type {
            // SAFETY: these types live forever.
            Some(BuiltinBase::Set(unsafe { (*class).tp_traverse }?))
        } else {
            None
        }
    }
}

impl AttributeLayout {
    /// Follows the bases of a class up to the first one written in C. Returns `None` if some part
    /// of the instances is not accounted for, and thus managed by C code.
    ///
    /// # Safety
    ///
    /// The class must be alive, and stay so as long as the layout is used.
    pub(crate) unsafe fn from_class(class: ClassPointer) -> Option<AttributeLayout> {
        const POINTER: isize = size_of::<Pointer>() as isize;
        let mut slots = Vec::new();
        let mut slot_names = Vec::new();
        let mut current = class;
        // SAFETY: classes hold their bases, and have a dictionary whose entries are alive. Member
        // descriptors have the layout above in all supported versions.
        unsafe {
            while ffi::PyType_HasFeature(current, ffi::Py_TPFLAGS_HEAPTYPE) != 0 {
                let base = (*current).tp_base;
                let is_plain = !base.is_null() && (*current).tp_itemsize == (*base).tp_itemsize;
                if !is_plain || is_written_in_c(current) {
                    return None;
                }
                let mut own = 0;
                let mut understood = true;
                super::for_each_entry((*current).tp_dict, &mut |part| {
                    if ffi::Py_TYPE(part) == &raw mut ffi::PyMemberDescr_Type {
                        let descriptor = &*part.cast::<MemberDescriptor>();
                        if descriptor.class == current {
                            understood &= (*descriptor.member).type_code == ffi::Py_T_OBJECT_EX;
                            slots.push((*descriptor.member).offset);
                            slot_names.push(descriptor.name);
                            own += 1;
                        }
                    }
                    true
                });
                // A managed dictionary takes no space in the object.
                let has_dictionary = (*current).tp_dictoffset != 0 && !is_managed(current);
                if has_dictionary && (*base).tp_dictoffset == 0 {
                    own += 1;
                }
                if (*current).tp_weaklistoffset > 0 && (*base).tp_weaklistoffset == 0 {
                    own += 1;
                }
                if !understood || (*current).tp_basicsize - (*base).tp_basicsize != own * POINTER {
                    return None;
                }
                current = base;
            }
            let dictionary = match (*class).tp_dictoffset {
                _ if is_managed(class) => DictionaryLocation::Managed,
                0 => DictionaryLocation::None,
                #[cfg(not(Py_3_12))]
                offset @ ..0 => DictionaryLocation::FromEnd(offset),
                #[cfg(Py_3_12)]
                ..0 => return None,
                offset => DictionaryLocation::At(offset),
            };
            Some(AttributeLayout {
                #[cfg(Py_3_11)]
                class,
                base: current,
                slots,
                slot_names,
                dictionary,
            })
        }
    }
}

/// The start of `PyDictKeysObject`, the same from Python 3.11 to 3.14.
#[cfg(Py_3_11)]
#[repr(C)]
struct DictKeysHeader {
    references: isize,
    sizes: [u8; 4],
    version: u32,
    usable: isize,
    entries: isize,
}

/// `Py_TPFLAGS_MANAGED_DICT`.
#[cfg(Py_3_11)]
const MANAGED_DICTIONARY: std::ffi::c_ulong = 1 << 4;

/// Returns true if instances of a class have a dictionary before them that is created only when
/// needed.
///
/// # Safety
///
/// The class must be alive.
unsafe fn is_managed(class: ClassPointer) -> bool {
    #[cfg(Py_3_11)]
    // SAFETY: guaranteed by the caller.
    let is_managed = unsafe { ffi::PyType_HasFeature(class, MANAGED_DICTIONARY) != 0 };
    #[cfg(not(Py_3_11))]
    let is_managed = {
        let _ = class;
        false
    };
    is_managed
}

/// `Py_TPFLAGS_INLINE_VALUES`.
#[cfg(Py_3_13)]
const INLINE_VALUES: std::ffi::c_ulong = 1 << 2;

impl AttributeLayout {
    /// Returns the attributes of an instance.
    ///
    /// # Safety
    ///
    /// The object must be an instance of the class of the layout.
    #[inline]
    pub(crate) unsafe fn attributes(&self, object: Pointer) -> InstanceAttributes<'_> {
        match self.dictionary {
            DictionaryLocation::None => InstanceAttributes::None,
            DictionaryLocation::At(offset) => {
                // SAFETY: the class states that a dictionary or null is at this offset.
                match unsafe { *object.byte_offset(offset).cast::<Pointer>() } {
                    dictionary if dictionary.is_null() => InstanceAttributes::None,
                    dictionary => InstanceAttributes::Dictionary(dictionary),
                }
            }
            DictionaryLocation::FromEnd(offset) => {
                // SAFETY: the interpreter computes the address in the same way, rounded up to whole
                // words.
                let dictionary = unsafe {
                    let class = &*ffi::Py_TYPE(object);
                    let items = ffi::Py_SIZE(object).abs() * class.tp_itemsize;
                    let word = size_of::<Pointer>() as isize;
                    let size = (class.tp_basicsize + items + word - 1) / word * word;
                    *object.byte_offset(size + offset).cast::<Pointer>()
                };
                if dictionary.is_null() {
                    InstanceAttributes::None
                } else {
                    InstanceAttributes::Dictionary(dictionary)
                }
            }
            #[cfg(Py_3_11)]
            // SAFETY: guaranteed by the caller.
            DictionaryLocation::Managed => unsafe { self.managed_attributes(object) },
            #[cfg(not(Py_3_11))]
            DictionaryLocation::Managed => InstanceAttributes::None,
        }
    }

    /// Returns the number of attribute names that the class has.
    ///
    /// # Safety
    ///
    /// The class must be alive, and its instances must have values without a dictionary.
    #[cfg(Py_3_11)]
    #[inline]
    unsafe fn names(&self) -> usize {
        // SAFETY: classes written in Python have this layout, and those with such instances have
        // shared keys.
        unsafe {
            let keys = (*self.class.cast::<ffi::PyHeapTypeObject>()).ht_cached_keys;
            if keys.is_null() {
                0
            } else {
                (*keys.cast::<DictKeysHeader>()).entries as usize
            }
        }
    }

    /// Returns the names of [`InstanceAttributes::Values`], in their order.
    ///
    /// # Safety
    ///
    /// The class must be alive, and its instances must have values without a dictionary.
    #[cfg(Py_3_11)]
    pub(crate) unsafe fn value_names(&self) -> Vec<Pointer> {
        // SAFETY: as for `names`. The header is followed by indices, whose size in bytes is the
        // second size as a power of two, and by the entries: shared keys have pairs of a name and
        // null.
        unsafe {
            let keys = (*self.class.cast::<ffi::PyHeapTypeObject>())
                .ht_cached_keys
                .cast::<DictKeysHeader>();
            if keys.is_null() {
                return Vec::new();
            }
            let indices = 1usize << (*keys).sizes[1];
            let entries = keys.add(1).cast::<u8>().add(indices).cast::<[Pointer; 2]>();
            (0..self.names())
                .map(|index| (*entries.add(index))[0])
                .collect()
        }
    }

    /// Returns the attributes of an instance with a managed dictionary.
    ///
    /// # Safety
    ///
    /// The object must be an instance of the class of the layout, and the class must have managed
    /// dictionaries.
    #[cfg(Py_3_11)]
    #[inline]
    unsafe fn managed_attributes(&self, object: Pointer) -> InstanceAttributes<'_> {
        // SAFETY: instances of such classes have these words before them, and values for all names
        // of the class.
        unsafe {
            let words = object.cast::<usize>();
            #[cfg(not(Py_3_12))]
            let (values, dictionary) = (*words.sub(4), *words.sub(3));
            #[cfg(all(Py_3_12, not(Py_3_13)))]
            let (values, dictionary) = match *words.sub(3) {
                word if word & 1 == 1 => (word + 1, 0),
                word => (0, word),
            };
            #[cfg(Py_3_13)]
            let (values, dictionary) = {
                let inline = object.byte_offset((*self.class).tp_basicsize).cast::<u8>();
                let has_values = ffi::PyType_HasFeature(self.class, INLINE_VALUES) != 0;
                // Once a dictionary was created, it is used, because it also has the order.
                if has_values && *inline.add(3) == 1 && *words.sub(3) == 0 {
                    (inline.add(size_of::<usize>()) as usize, 0)
                } else {
                    (0, *words.sub(3))
                }
            };
            if values != 0 {
                let values = std::slice::from_raw_parts(values as *const Pointer, self.names());
                InstanceAttributes::Values(values)
            } else if dictionary != 0 {
                InstanceAttributes::Dictionary(dictionary as Pointer)
            } else {
                InstanceAttributes::None
            }
        }
    }
}
