//! Serialises results: counts as decimal strings, because many JSON readers round numbers beyond
//! 2^53; times as seconds; errors as their messages; names as on the command line.

use std::fmt::Display;
use std::time::Duration;

use serde::{Serialize, Serializer};

use crate::board::known::Published;
use crate::board::size::BoardSize;
use crate::engine::{Engine, Kernel};
use crate::error::Error;

/// A number, or anything else that implements `Display`, as a string.
pub(crate) fn text<S: Serializer>(value: &impl Display, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}

/// A duration as seconds.
pub(crate) fn seconds<S: Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(time.as_secs_f64())
}

/// Types whose serialised form is their `Display` text.
macro_rules! as_displayed {
    ($($name:ty),*) => {$(
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                text(self, serializer)
            }
        }
    )*};
}

as_displayed!(Engine, Error, Kernel, Published);

impl Serialize for BoardSize {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u32(self.get())
    }
}

#[cfg(test)]
mod tests {
    use crate::Count;
    use crate::board::size::BoardSize;

    #[test]
    fn an_outcome_is_serialised_without_loss() {
        let size = BoardSize::new(8).expect("in range");
        let outcome = Count::new(size).threads(1).run().expect("a count");
        let json = serde_json::to_value(&outcome).expect("every field has a form");
        assert_eq!((&json["n"], &json["total"]), (&8.into(), &"92".into()));
        assert_eq!((&json["engine"], &json["published"]), (&"subtrees".into(), &"agrees".into()));
        assert!(json["seconds"].is_f64() && json["journal_fault"].is_null(), "{json}");
    }
}
