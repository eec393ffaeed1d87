//! Parts that most schemas say nothing of.

use super::assertion::{ArrayPart, ObjectPart, Properties, StringPart};
use super::counts::Counts;
use super::numbers::{Notation, NumberRange};
use std::ops::{Deref, DerefMut};

/// A part that takes no room until something is said: it reads as the default, which admits everything, and is made when
/// it is changed.
#[derive(Clone, Debug)]
pub(super) struct Seldom<T>(Option<Box<T>>);

/// A type whose default costs nothing.
pub(super) trait Unsaid: Default {
    /// The default.
    fn unsaid<'s>() -> &'s Self
    where
        Self: 's;
}

impl<T> Seldom<T> {
    /// The part, if something was said.
    pub(super) fn said(&self) -> Option<&T> {
        self.0.as_deref()
    }
}

impl<T> Default for Seldom<T> {
    fn default() -> Seldom<T> {
        Seldom(None)
    }
}

impl<T> From<T> for Seldom<T> {
    fn from(said: T) -> Seldom<T> {
        Seldom(Some(Box::new(said)))
    }
}

impl<T: Unsaid> Deref for Seldom<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.said().unwrap_or_else(T::unsaid)
    }
}

impl<T: Unsaid> DerefMut for Seldom<T> {
    fn deref_mut(&mut self) -> &mut T {
        self.0.get_or_insert_default()
    }
}

const FREE: Counts = Counts { min: 0, max: None };

impl Unsaid for NumberRange {
    fn unsaid<'s>() -> &'s NumberRange {
        static UNSAID: NumberRange = NumberRange {
            lower: None,
            upper: None,
            multiple_of: Vec::new(),
            not_multiple_of: Vec::new(),
            notation: Notation::Any,
        };
        &UNSAID
    }
}

impl<'a> Unsaid for StringPart<'a> {
    fn unsaid<'s>() -> &'s StringPart<'a>
    where
        'a: 's,
    {
        static UNSAID: StringPart<'_> = StringPart { length: FREE, tests: Vec::new() };
        &UNSAID
    }
}

impl Unsaid for ArrayPart {
    fn unsaid<'s>() -> &'s ArrayPart {
        static UNSAID: ArrayPart = ArrayPart {
            prefix: Vec::new(),
            items: None,
            count: FREE,
            contains: Vec::new(),
            unique: false,
            repeated: false,
        };
        &UNSAID
    }
}

impl<'a> Unsaid for ObjectPart<'a> {
    fn unsaid<'s>() -> &'s ObjectPart<'a>
    where
        'a: 's,
    {
        static UNSAID: ObjectPart<'_> = ObjectPart {
            properties: Properties::NONE,
            required: Vec::new(),
            patterns: Vec::new(),
            additional: None,
            count: FREE,
            names: None,
            some: Vec::new(),
        };
        &UNSAID
    }
}
