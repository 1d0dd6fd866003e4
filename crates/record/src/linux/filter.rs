//! The seccomp filter: system calls that matter stop the program, all others run at full speed.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule, TargetArch,
};

use super::calls::CALLS;

/// Argument of `mmap` that says what kind of memory it maps.
const FLAGS: u8 = 3;

/// Filters this process and all that it becomes and makes. It cannot gain privileges from now on.
pub(super) fn apply() -> Result<(), String> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = CALLS.iter().map(|(number, _)| (*number, Vec::new())).collect();
    // Mappings of memory that is no file are frequent, and no concern of ours.
    let of_file =
        SeccompCondition::new(FLAGS, SeccompCmpArgLen::Dword, SeccompCmpOp::MaskedEq(libc::MAP_ANONYMOUS as u64), 0);
    let rule = of_file.and_then(|condition| SeccompRule::new(vec![condition])).map_err(|error| error.to_string())?;
    rules.insert(libc::SYS_mmap, vec![rule]);
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, SeccompAction::Trace(0), TargetArch::x86_64);
    let program: BpfProgram =
        filter.and_then(TryInto::try_into).map_err(|error: seccompiler::BackendError| error.to_string())?;
    seccompiler::apply_filter(&program).map_err(|error| error.to_string())
}
