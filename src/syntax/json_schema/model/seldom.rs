//! Parts that most schemas do not have.

use super::assertion::{ArrayPart, ObjectPart, Properties, StringPart};
use super::numbers::{Notation, NumberRange};
use crate::syntax::json_schema::values::counts::Counts;
use std::ops::{Deref, DerefMut};

/// A part that is allocated only when it is changed. Before that it reads as the default, which admits every value.
#[derive(Clone, Debug)]
pub(in crate::syntax::json_schema) struct Seldom<T>(Option<Box<T>>);

/// A type with a static default.
pub(in crate::syntax::json_schema) trait Unsaid: Default {
    /// Returns the default.
    fn unsaid<'s>() -> &'s Self
    where
        Self: 's;
}

impl<T> Seldom<T> {
    /// Returns the part if it was ever set or changed.
    pub(in crate::syntax::json_schema) fn said(&self) -> Option<&T> {
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

/// A constant value that restricts nothing.
trait Free {
    const FREE: Self;
}

impl<T> Free for Vec<T> {
    const FREE: Vec<T> = Vec::new();
}

impl<T> Free for Option<T> {
    const FREE: Option<T> = None;
}

impl Free for bool {
    const FREE: bool = false;
}

impl Free for Counts {
    const FREE: Counts = Counts { min: 0, max: None };
}

impl Free for Properties<'static> {
    const FREE: Properties<'static> = Properties::NONE;
}

impl Free for Notation {
    const FREE: Notation = Notation::Any;
}

/// Implements [`Unsaid`] for a part: each of its fields has the [`Free`] value of its type. A field that is missing in
/// the list is a compile error.
macro_rules! unsaid {
    ($part:ident $(<$lifetime:lifetime>)? { $($field:ident),* $(,)? }) => {
        impl Unsaid for $part $(<$lifetime>)? {
            fn unsaid<'s>() -> &'s Self
            where
                Self: 's,
            {
                static UNSAID: $part $(<$lifetime>)? = $part { $($field: Free::FREE),* };
                &UNSAID
            }
        }
    };
}

unsaid!(NumberRange { lower, upper, multiple_of, not_multiple_of, notation });
unsaid!(StringPart<'_> { length, tests });
unsaid!(ArrayPart { prefix, items, at, count, contains, unique, repeated });
unsaid!(ObjectPart<'_> { properties, required, patterns, additional, count, names, some });

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Debug;

    fn is_default<T: Unsaid + Debug>() {
        assert_eq!(format!("{:?}", T::unsaid()), format!("{:?}", T::default()));
    }

    #[test]
    fn what_is_unsaid_is_the_default() {
        is_default::<NumberRange>();
        is_default::<StringPart<'_>>();
        is_default::<ArrayPart>();
        is_default::<ObjectPart<'_>>();
    }
}
