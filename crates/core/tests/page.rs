//! Does the page-mapped FTL amplify writes as theory says, and do its options do what they promise?

#![allow(clippy::print_stdout, reason = "measured numbers are part of what these tests tell")]

mod kit;

mod page {
    pub mod ageing;
    pub mod device;
    pub mod options;
    pub mod slc;
    pub mod theory;
}
