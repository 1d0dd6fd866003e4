//! Block I/O traces: readers for the formats in use.
