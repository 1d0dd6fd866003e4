//! The seccomp filter: system calls that matter stop the program, all others run at full speed.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule, TargetArch,
};

use super::calls::{CALLS, Call};
use crate::Level;

/// Argument of `mmap` that says what kind of memory it maps.
const FLAGS: u8 = 3;
/// Argument of `mmap` that says what the memory may be used for.
const PROTECTION: u8 = 2;
/// System calls that change what a process has loaded, besides `mmap`.
const PROGRAM_CALLS: [i64; 2] = [libc::SYS_execve, libc::SYS_execveat];

/// When a system call stops the program: always, or if one of these holds.
fn rules(call: Call) -> Result<Vec<SeccompRule>, seccompiler::BackendError> {
    // Files are opened often, and rarely cut off by it.
    let Call::Open { flags: Some(flags), .. } = call else { return Ok(Vec::new()) };
    let cut = libc::O_TRUNC as u64;
    let cuts = SeccompCondition::new(flags as u8, SeccompCmpArgLen::Dword, SeccompCmpOp::MaskedEq(cut), cut)?;
    Ok(vec![SeccompRule::new(vec![cuts])?])
}

/// Filters this process and all that it becomes and makes. It cannot gain privileges from now on.
pub(super) fn apply(level: Level) -> Result<(), String> {
    let always = |number: &i64| Ok((*number, Vec::new()));
    let rules: Result<BTreeMap<i64, Vec<SeccompRule>>, _> = match level {
        Level::Syscall => CALLS.iter().map(|(number, call)| Ok((*number, rules(*call)?))).collect(),
        Level::Device => PROGRAM_CALLS.iter().map(always).collect(),
    };
    let mut rules = rules.map_err(|error: seccompiler::BackendError| error.to_string())?;
    // Mappings of memory that is not a file are frequent, and do not concern us.
    let of_file =
        SeccompCondition::new(FLAGS, SeccompCmpArgLen::Dword, SeccompCmpOp::MaskedEq(libc::MAP_ANONYMOUS as u64), 0);
    let code = libc::PROT_EXEC as u64;
    let is_code = SeccompCondition::new(PROTECTION, SeccompCmpArgLen::Dword, SeccompCmpOp::MaskedEq(code), code);
    let conditions = [Some(of_file), (level == Level::Device).then_some(is_code)];
    let conditions: Result<Vec<_>, _> = conditions.into_iter().flatten().collect();
    let rule = conditions.and_then(SeccompRule::new).map_err(|error| error.to_string())?;
    rules.insert(libc::SYS_mmap, vec![rule]);
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, SeccompAction::Trace(0), TargetArch::x86_64);
    let program: BpfProgram =
        filter.and_then(TryInto::try_into).map_err(|error: seccompiler::BackendError| error.to_string())?;
    seccompiler::apply_filter(&program).map_err(|error| error.to_string())
}
