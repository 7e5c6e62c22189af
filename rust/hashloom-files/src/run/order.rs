// SPDX-License-Identifier: MIT OR Apache-2.0

//! Results of many threads, in the order of what they are results of.

use std::collections::BTreeMap;

/// Brings items into the order of their numbers, 0, 1, 2 and so on. An item that comes before its turn waits.
///
/// ```
/// use hashloom_files::run::InOrder;
///
/// let mut order = InOrder::new();
/// order.put(1, "b");
/// assert_eq!(order.take(), None);
/// order.put(0, "a");
/// assert_eq!([order.take(), order.take(), order.take()], [Some("a"), Some("b"), None]);
/// assert!(order.pass(2) && order.next() == 3);
/// order.put(5, "f");
/// assert_eq!(order.rest().collect::<Vec<_>>(), ["f"]);
/// ```
#[derive(Debug)]
pub struct InOrder<T> {
    next: u64,
    waiting: BTreeMap<u64, T>,
}

impl<T> Default for InOrder<T> {
    fn default() -> InOrder<T> {
        InOrder::new()
    }
}

impl<T> InOrder<T> {
    /// No item has come yet.
    pub fn new() -> InOrder<T> {
        InOrder { next: 0, waiting: BTreeMap::new() }
    }

    /// The number whose turn it is.
    #[allow(clippy::should_implement_trait, reason = "the item itself is what `take` returns")]
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Adds an item. Each number comes once.
    pub fn put(&mut self, number: u64, item: T) {
        self.waiting.insert(number, item);
    }

    /// Returns true if it is the turn of an item, which then need not be put: the turn is the next one's.
    pub fn pass(&mut self, number: u64) -> bool {
        let is_next = number == self.next;
        self.next += u64::from(is_next);
        is_next
    }

    /// Takes the item whose turn it is, if it has come.
    pub fn take(&mut self) -> Option<T> {
        let item = self.waiting.remove(&self.next)?;
        self.next += 1;
        Some(item)
    }

    /// The items that wait, in order, although earlier ones have not come.
    pub fn rest(self) -> impl Iterator<Item = T> {
        self.waiting.into_values()
    }
}
