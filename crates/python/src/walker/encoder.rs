//! The canonical encoding of objects: all that code can notice about them, without addresses.
//!
//! Objects that can change are numbered at their first visit, so the pattern of sharing is part of the
//! encoding. Values are written out with their exact class: `1`, `1.0` and `True` differ. Functions and
//! classes of the modules under test have the numbers that the [base](super::base) gives them.

use std::hash::{DefaultHasher, Hasher};
use std::rc::Rc;

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple, PyType};
use rustc_hash::FxHashMap;

use super::Pointer;
pub(crate) use super::context::{EncodingContext, EncodingGap, StateRoot};
use super::layout::{self, ObjectContent, ObjectLayout};
use super::node::{self, ObjectImage, ObjectPart};
use super::sets;

/// The maximum depth of sets in members of sets.
const MAX_SET_DEPTH: u32 = 50;

/// Writes the encoding of objects.
pub(crate) struct Encoder<'a, 'py> {
    pub(crate) context: &'a mut EncodingContext<'py>,
    buffer: Vec<u8>,
    /// Numbers of objects that were numbered before this encoder started.
    earlier: Option<&'a FxHashMap<usize, u32>>,
    /// The number of each object that can change, in the order of first visit.
    pub(crate) numbers: FxHashMap<usize, u32>,
    /// Objects still to be visited, the next one last.
    pending: Vec<Option<Bound<'py, PyAny>>>,
    /// Objects that were visited, kept alive so that their addresses stay unique.
    pub(crate) kept_alive: Vec<Bound<'py, PyAny>>,
    /// The images of the objects visited, if they are wanted.
    pub(crate) images: Option<Vec<ObjectImage>>,
    pub(crate) root: StateRoot,
    depth: u32,
}

impl<'a, 'py> Encoder<'a, 'py> {
    /// Creates an encoder that has seen nothing.
    pub(crate) fn new(context: &'a mut EncodingContext<'py>, root: StateRoot) -> Encoder<'a, 'py> {
        Encoder {
            context,
            buffer: Vec::with_capacity(256),
            earlier: None,
            numbers: FxHashMap::default(),
            pending: Vec::new(),
            kept_alive: Vec::new(),
            images: None,
            root,
            depth: 0,
        }
    }

    /// Continues the numbers of objects that were encoded before.
    pub(crate) fn after(mut self, earlier: &'a FxHashMap<usize, u32>) -> Encoder<'a, 'py> {
        self.earlier = Some(earlier);
        self
    }

    /// Returns 128 bits that stand for everything encoded so far.
    pub(crate) fn finish(&self) -> u128 {
        let mut halves = [DefaultHasher::new(), DefaultHasher::new()];
        halves[1].write_u8(1);
        let [low, high] = halves.map(|mut half| {
            half.write(&self.buffer);
            half.finish()
        });
        u128::from(high) << 64 | u128::from(low)
    }

    /// Writes a tag and a number.
    #[inline]
    pub(crate) fn write_number(&mut self, tag: u8, number: u64) {
        self.buffer.push(tag);
        self.buffer.extend_from_slice(&number.to_le_bytes());
    }

    /// Writes a tag and bytes.
    #[inline]
    pub(crate) fn write_bytes(&mut self, tag: u8, bytes: &[u8]) {
        self.write_number(tag, bytes.len() as u64);
        self.buffer.extend_from_slice(bytes);
    }

    /// Encodes an object and everything in it.
    pub(crate) fn encode(&mut self, object: Bound<'py, PyAny>) {
        self.pending.push(Some(object));
        while let Some(next) = self.pending.pop() {
            match next {
                None => self.buffer.push(b'-'),
                Some(object) => {
                    self.visit(&object);
                    self.kept_alive.push(object);
                }
            }
        }
    }

    /// Encodes one object, and queues its parts.
    fn visit(&mut self, object: &Bound<'py, PyAny>) {
        let pointer = object.as_ptr();
        // The most frequent values first.
        if object.is_none() {
            self.buffer.push(b'N');
            return;
        }
        // SAFETY: checks the type of an object that is alive.
        unsafe {
            if ffi::PyLong_CheckExact(pointer) != 0 {
                return self.write_integer(object);
            }
            if ffi::PyUnicode_CheckExact(pointer) != 0 {
                return self.write_text(object);
            }
        }
        let layout = self.context.layouts.of(object);
        if layout.is_value() {
            return self.visit_value(object, &layout);
        }
        if matches!(
            layout.content,
            ObjectContent::Function | ObjectContent::Class
        ) {
            if let Some(number) = self.context.anchors.get(&(pointer as usize)) {
                let number = u64::from(*number);
                return self.write_number(b'A', number);
            }
            if !self.context.has_own_state(object, &layout) {
                return self.write_name(object);
            }
        } else if layout.content == ObjectContent::Dictionary
            && let Some(number) = self.context.anchors.get(&(pointer as usize))
        {
            let number = u64::from(*number);
            return self.write_number(b'A', number);
        }
        if !self.is_repeated(pointer) {
            self.visit_object(object, &layout);
        }
    }

    /// Returns true if an object was visited before, and writes its number then.
    fn is_repeated(&mut self, object: Pointer) -> bool {
        let address = object as usize;
        let known = self
            .earlier
            .and_then(|earlier| earlier.get(&address))
            .or_else(|| self.numbers.get(&address))
            .copied();
        match known {
            Some(number) => {
                self.write_number(b'&', u64::from(number));
                true
            }
            None => {
                let next = self.numbers.len() + self.earlier.map_or(0, FxHashMap::len);
                self.numbers.insert(address, next as u32);
                false
            }
        }
    }

    /// Encodes an immutable object.
    fn visit_value(&mut self, object: &Bound<'py, PyAny>, layout: &Rc<ObjectLayout>) {
        if layout.is_python_class {
            self.buffer.push(b'v');
            self.write_class(&object.get_type());
        }
        match layout.content {
            ObjectContent::Tuple => self.visit_parts(b't', object, layout),
            ObjectContent::FrozenSet => self.visit_set(object, layout),
            ObjectContent::BoundMethod | ObjectContent::Wrapper => {
                self.write_class(&object.get_type());
                self.visit_parts(b'w', object, layout);
            }
            ObjectContent::ReducedValue => {
                self.write_class(&object.get_type());
                match reduce(object, layout) {
                    Ok(parts) => self.push_flat(parts),
                    Err(_) => self.add_gap(EncodingGap::Unseen(layout::class_name(object))),
                }
            }
            _ => self.write_plain(object, layout),
        }
    }

    /// Encodes a value without parts.
    fn write_plain(&mut self, object: &Bound<'py, PyAny>, layout: &ObjectLayout) {
        let pointer = object.as_ptr();
        match layout.content {
            ObjectContent::Integer => {
                // SAFETY: checks the type of an object that is alive.
                if unsafe { ffi::PyBool_Check(pointer) } != 0 {
                    self.buffer
                        .push(if object.is(pyo3::types::PyBool::new(object.py(), true)) {
                            b'T'
                        } else {
                            b'F'
                        });
                } else {
                    self.write_integer(object);
                }
            }
            ObjectContent::Float => {
                // SAFETY: the object is a float or of a subclass.
                let number = unsafe { ffi::PyFloat_AsDouble(pointer) };
                self.write_float(number);
            }
            ObjectContent::Complex => {
                // SAFETY: the object is a complex number or of a subclass.
                let (real, imaginary) = unsafe {
                    (
                        ffi::PyComplex_RealAsDouble(pointer),
                        ffi::PyComplex_ImagAsDouble(pointer),
                    )
                };
                self.buffer.push(b'j');
                self.write_float(real);
                self.write_float(imaginary);
            }
            ObjectContent::Text => self.write_text(object),
            ObjectContent::Bytes => {
                // SAFETY: the object is a `bytes` or of a subclass.
                let bytes = unsafe {
                    std::slice::from_raw_parts(
                        ffi::PyBytes_AsString(pointer).cast::<u8>(),
                        ffi::PyBytes_Size(pointer) as usize,
                    )
                };
                self.write_bytes(b'b', bytes);
            }
            ObjectContent::Code => {
                let key = self.context.code_key(object);
                self.write_bytes(b'c', &key.to_le_bytes());
            }
            ObjectContent::Builtin => {
                self.write_name(object);
                let owner = object.getattr(pyo3::intern!(object.py(), "__self__")).ok();
                if let Some(owner) = owner
                    && !owner.is_instance_of::<pyo3::types::PyModule>()
                {
                    self.pending.push(Some(owner));
                } else {
                    self.buffer.push(b'-');
                }
            }
            ObjectContent::Ignored => self.write_class(&object.get_type()),
            _ => self.write_name(object),
        }
    }

    /// Writes an integer of any size.
    fn write_integer(&mut self, object: &Bound<'py, PyAny>) {
        let mut overflow = 0;
        // SAFETY: the object is an integer; the function sets no exception for those.
        let number = unsafe { ffi::PyLong_AsLongLongAndOverflow(object.as_ptr(), &mut overflow) };
        if overflow == 0 {
            return self.write_number(b'i', number as u64);
        }
        // SAFETY: the object is an integer; the result is a new text.
        let digits = unsafe {
            Bound::from_owned_ptr_or_opt(object.py(), ffi::PyNumber_ToBase(object.as_ptr(), 16))
        };
        let digits = digits.map(|digits| digits.to_string()).unwrap_or_default();
        self.write_bytes(b'I', digits.as_bytes());
    }

    /// Writes a float by its bits. Every NaN is alike.
    fn write_float(&mut self, number: f64) {
        let bits = if number.is_nan() {
            f64::NAN.to_bits()
        } else {
            number.to_bits()
        };
        self.write_number(b'f', bits);
    }

    /// Writes a text exactly, lone surrogates included.
    fn write_text(&mut self, object: &Bound<'py, PyAny>) {
        let mut size = 0;
        // SAFETY: the object is a text, which keeps its UTF-8 form alive.
        let bytes = unsafe {
            let start = ffi::PyUnicode_AsUTF8AndSize(object.as_ptr(), &mut size);
            if start.is_null() {
                ffi::PyErr_Clear();
                None
            } else {
                Some(std::slice::from_raw_parts(
                    start.cast::<u8>(),
                    size as usize,
                ))
            }
        };
        if let Some(bytes) = bytes {
            return self.write_bytes(b's', bytes);
        }
        // SAFETY: the object is a text; the result is a new object, or null with an exception.
        let encoded = unsafe {
            let encoded = ffi::PyUnicode_AsEncodedString(
                object.as_ptr(),
                c"utf-8".as_ptr(),
                c"surrogatepass".as_ptr(),
            );
            Bound::from_owned_ptr_or_err(object.py(), encoded)
        };
        if let Ok(encoded) = encoded
            && let Ok(bytes) = encoded.cast::<pyo3::types::PyBytes>()
        {
            self.write_bytes(b'z', bytes.as_bytes());
        }
    }

    /// Writes the names of a class, function or module, which identify it.
    fn write_name(&mut self, object: &Bound<'py, PyAny>) {
        self.buffer.push(b'n');
        for name in ["__module__", "__qualname__", "__name__"] {
            match object.getattr(name) {
                Ok(found) if found.is_instance_of::<PyString>() => self.write_text(&found),
                _ => self.buffer.push(b'-'),
            }
        }
    }

    /// Writes a class: its number if it belongs to the modules under test, else its name.
    fn write_class(&mut self, class: &Bound<'py, PyType>) {
        match self.context.anchors.get(&(class.as_ptr() as usize)) {
            Some(number) => {
                let number = u64::from(*number);
                self.write_number(b'A', number);
            }
            None => self.write_name(class.as_any()),
        }
    }

    /// Encodes an object that can change, on its first visit.
    fn visit_object(&mut self, object: &Bound<'py, PyAny>, layout: &Rc<ObjectLayout>) {
        self.buffer.push(b'o');
        if let Some(images) = &mut self.images {
            let mut image = ObjectImage::read(object, layout, &self.context.ignored);
            if matches!(
                layout.content,
                ObjectContent::Reduced | ObjectContent::Generator
            ) && let Ok(state) = reduce(object, layout)
            {
                image.parts.push(node::OwnedPart::Object(state.unbind()));
            }
            images.push(image);
        }
        match layout.content {
            ObjectContent::List if !layout.is_python_class => {
                self.visit_parts(b'l', object, layout);
            }
            ObjectContent::Dictionary if !layout.is_python_class => {
                self.visit_parts(b'd', object, layout);
            }
            ObjectContent::Set => {
                self.write_class(&object.get_type());
                self.visit_set(object, layout);
            }
            ObjectContent::Function => {
                self.write_name(object);
                self.visit_parts(b'f', object, layout);
            }
            ObjectContent::Class => {
                self.write_name(object);
                if let Ok(bases) = object.getattr("__bases__") {
                    self.pending.push(Some(bases));
                }
                self.visit_parts(b'c', object, layout);
            }
            ObjectContent::Reduced | ObjectContent::Generator => {
                self.visit_reduced(object, layout);
            }
            ObjectContent::Unseen
            | ObjectContent::ReentrantLock
            | ObjectContent::WeakReference
            | ObjectContent::TextStream => {
                self.write_class(&object.get_type());
                self.visit_parts(b'x', object, layout);
                if node::hides_something(object, layout.content) {
                    self.add_gap(EncodingGap::Unseen(layout::class_name(object)));
                }
            }
            _ => {
                // The class may be one that can change; it has a number then.
                self.write_class(&object.get_type());
                self.visit_parts(b'x', object, layout);
                if !layout.is_value() {
                    self.write_inner_value(object, layout);
                }
            }
        }
    }

    /// Writes the value of an object that has attributes besides.
    fn write_inner_value(&mut self, object: &Bound<'py, PyAny>, layout: &Rc<ObjectLayout>) {
        match layout.content {
            ObjectContent::Integer
            | ObjectContent::Float
            | ObjectContent::Complex
            | ObjectContent::Text
            | ObjectContent::Bytes => self.write_plain(object, layout),
            ObjectContent::ReducedValue => {
                if let Ok(parts) = reduce(object, layout) {
                    self.push_flat(parts);
                }
            }
            _ => {}
        }
    }

    /// Writes the form of an object's parts, and queues those that are objects.
    fn visit_parts(&mut self, tag: u8, object: &Bound<'py, PyAny>, layout: &ObjectLayout) {
        let python = object.py();
        let start = self.pending.len();
        let (buffer, pending) = (&mut self.buffer, &mut self.pending);
        let mut count = 0u64;
        buffer.push(tag);
        let at = buffer.len();
        buffer.extend_from_slice(&[0; 8]);
        node::for_each_part(object, layout, &self.context.ignored, &mut |part| {
            count += 1;
            match part {
                ObjectPart::Number(number) => {
                    buffer.push(b'#');
                    buffer.extend_from_slice(&number.to_le_bytes());
                }
                ObjectPart::Object(part) => {
                    // SAFETY: a part is null, or an object that is alive at this moment.
                    let part = unsafe { Bound::from_borrowed_ptr_or_opt(python, part) };
                    pending.push(part);
                }
            }
            true
        });
        buffer[at..at + 8].copy_from_slice(&count.to_le_bytes());
        self.pending[start..].reverse();
    }

    /// Encodes a set: by its hash table, or by its members in the order of their encodings if the
    /// table depends on addresses.
    fn visit_set(&mut self, object: &Bound<'py, PyAny>, layout: &Rc<ObjectLayout>) {
        if self.context.ignores_set_order {
            // The members are in the order of their encodings.
        } else if sets::has_stable_order(object.as_ptr(), 0) {
            // A table with one member may still have its address as hash.
            if is_table_stable(object.as_ptr()) {
                let gap = (self.root, EncodingGap::HashOrder);
                if sets::has_order_by_seed(object.as_ptr()) && !self.context.gaps.contains(&gap) {
                    self.context.gaps.insert(gap);
                }
                return self.visit_parts(b'S', object, layout);
            }
        } else {
            self.add_gap(EncodingGap::AddressOrder);
        }
        let python = object.py();
        let mut members = Vec::new();
        sets::for_each_part(object.as_ptr(), &mut |part| {
            if let ObjectPart::Object(member) = part
                && !member.is_null()
            {
                // SAFETY: the set keeps its members alive.
                members.push(unsafe { Bound::from_borrowed_ptr(python, member) });
            }
            true
        });
        let mut keyed = Vec::new();
        for member in members {
            let address = member.as_ptr() as usize;
            let known = self
                .earlier
                .and_then(|earlier| earlier.get(&address))
                .or_else(|| self.numbers.get(&address))
                .copied();
            keyed.push((known, self.independent_key(&member), member));
        }
        keyed.sort_by_key(|(known, key, _)| (known.unwrap_or(u32::MAX), *key));
        // Attributes of a subclass.
        let start = self.pending.len();
        self.write_number(b'U', keyed.len() as u64);
        if layout.has_dict {
            self.pending.push(layout::attributes(object));
        }
        self.pending
            .extend(keyed.into_iter().map(|(_, _, member)| Some(member)));
        self.pending[start..].reverse();
    }

    /// Returns the encoding of an object on its own, as 128 bits.
    pub(crate) fn independent_key(&mut self, object: &Bound<'py, PyAny>) -> u128 {
        if self.depth == MAX_SET_DEPTH {
            self.add_gap(EncodingGap::Unseen(layout::class_name(object)));
            return 0;
        }
        let mut encoder = Encoder {
            depth: self.depth + 1,
            earlier: self.earlier,
            ..Encoder::new(self.context, self.root)
        };
        encoder.encode(object.clone());
        encoder.finish()
    }

    /// Encodes an object written in C by what it is reduced to.
    fn visit_reduced(&mut self, object: &Bound<'py, PyAny>, layout: &Rc<ObjectLayout>) {
        self.write_class(&object.get_type());
        self.visit_parts(b'r', object, layout);
        match reduce(object, layout) {
            Ok(state) => self.push_flat(state),
            Err(_) => self.add_gap(EncodingGap::Unseen(layout::class_name(object))),
        }
    }

    /// Queues a reduction. The class at its beginning and parts that are left out do not matter.
    fn push_flat(&mut self, state: Bound<'py, PyAny>) {
        self.pending.push(Some(state));
    }

    /// Records something that the encoding does not tell.
    #[cold]
    fn add_gap(&mut self, gap: EncodingGap) {
        self.buffer.push(b'?');
        self.context.gaps.insert((self.root, gap));
    }
}

/// Returns true if the table of a set has the same form in every process and for every copy.
fn is_table_stable(set: Pointer) -> bool {
    let mut stable = true;
    let mut only = None;
    sets::for_each_part(set, &mut |part| {
        if let ObjectPart::Object(member) = part
            && !member.is_null()
        {
            only = Some(member);
        }
        true
    });
    if let Some(member) = only {
        stable = sets::hashes_by_value(member, 0);
    }
    stable
}

/// Reduces an object written in C as for pickling.
///
/// The items of containers, which a reduction offers as iterators, become lists.
pub(crate) fn reduce<'py>(
    object: &Bound<'py, PyAny>,
    layout: &ObjectLayout,
) -> PyResult<Bound<'py, PyAny>> {
    let python = object.py();
    let base = layout.base.bind(python);
    if layout.content == ObjectContent::Generator {
        return base.call_method1("getstate", (object,));
    }
    let registered = python.import("copyreg")?.getattr("dispatch_table")?;
    let reduced = match registered.get_item(object.get_type()) {
        Ok(function) => function.call1((object,))?,
        Err(_) if layout.is_python_class => {
            // Not what the class itself says, which may leave something out.
            base.call_method1("__reduce_ex__", (object, 4))?
        }
        Err(_) => object.call_method1(pyo3::intern!(python, "__reduce_ex__"), (4,))?,
    };
    let Ok(parts) = reduced.cast::<PyTuple>() else {
        return Ok(reduced);
    };
    let mut kept: Vec<Bound<'py, PyAny>> = Vec::new();
    for (index, part) in parts.iter().enumerate() {
        kept.push(if index >= 3 && !part.is_none() && index <= 4 {
            let items: Vec<Bound<'py, PyAny>> = part.try_iter()?.collect::<PyResult<_>>()?;
            PyTuple::new(python, items)?.into_any()
        } else {
            part
        });
    }
    Ok(PyTuple::new(python, kept)?.into_any())
}
