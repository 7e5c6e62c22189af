//! Hash many independent messages at once.
