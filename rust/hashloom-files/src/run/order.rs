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
    ///
    /// ```
    /// assert_eq!(hashloom_files::run::InOrder::<()>::new().next(), 0);
    /// ```
    pub fn new() -> InOrder<T> {
        InOrder { next: 0, waiting: BTreeMap::new() }
    }

    /// The number whose turn it is.
    ///
    /// ```
    /// let mut order = hashloom_files::run::InOrder::new();
    /// order.put(0, ());
    /// order.take();
    /// assert_eq!(order.next(), 1);
    /// ```
    #[allow(clippy::should_implement_trait, reason = "the item itself is what `take` returns")]
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Adds an item. Each number comes once.
    ///
    /// ```
    /// let mut order = hashloom_files::run::InOrder::new();
    /// order.put(0, "a");
    /// assert_eq!(order.take(), Some("a"));
    /// ```
    pub fn put(&mut self, number: u64, item: T) {
        self.waiting.insert(number, item);
    }

    /// Returns true if it is the turn of an item, which then need not be put: the turn is the next one's.
    ///
    /// ```
    /// let mut order = hashloom_files::run::InOrder::<()>::new();
    /// assert!(!order.pass(1) && order.pass(0) && order.pass(1));
    /// ```
    pub fn pass(&mut self, number: u64) -> bool {
        let is_next = number == self.next;
        self.next += u64::from(is_next);
        is_next
    }

    /// Takes the item whose turn it is, if it has come.
    ///
    /// ```
    /// assert_eq!(hashloom_files::run::InOrder::<()>::new().take(), None);
    /// ```
    pub fn take(&mut self) -> Option<T> {
        let item = self.waiting.remove(&self.next)?;
        self.next += 1;
        Some(item)
    }

    /// The items that wait, in order, although earlier ones have not come.
    ///
    /// ```
    /// let mut order = hashloom_files::run::InOrder::new();
    /// order.put(2, "c");
    /// order.put(1, "b");
    /// assert_eq!(order.rest().collect::<Vec<_>>(), ["b", "c"]);
    /// ```
    pub fn rest(self) -> impl Iterator<Item = T> {
        self.waiting.into_values()
    }
}
