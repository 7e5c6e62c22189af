//! Raw bindings to libhashloom.
