//! The memory limit of this process, and the largest table that fits in it.
//!
//! The limits are read from the kernel's files: those of the control group and all its ancestors,
//! of both versions (cgroups(7)), and the machine's memory (proc_meminfo(5)). The limits of
//! `setrlimit(2)` are passed in. No limit is known on systems that have none of these files.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use rustix::process::{Resource, getrlimit};

use super::table::MAX_BYTES;

/// The memory of a server and its fetch process besides tables: the programs and connections.
///
/// `docs/operations.md` ("Memory") has the figures.
const BASE: u64 = 64 << 20;

/// The bytes of memory needed for each byte of the text: 3.5 to 4.3 for a reload of common entries,
/// including the live table, and the rest for a fetch, which holds the largest file.
const FACTOR: u64 = 5;

/// The table size that is allowed regardless of memory.
const LEAST: u64 = 1 << 20;

/// Address space that is reserved and never used: stacks of threads, and 64 MiB for each thread
/// that allocates (mallopt(3), `M_ARENA_MAX`). If it is scarce, threads share.
const RESERVED: u64 = 512 << 20;

/// A memory limit of this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MemoryLimit {
    /// The limit in bytes.
    pub(crate) bytes: u64,
    /// The source of the limit.
    pub(crate) by: LimitedBy,
}

/// The source of a memory limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LimitedBy {
    /// A control group, such as that of a container or of a unit of systemd.
    ControlGroup,
    /// `RLIMIT_AS`.
    AddressSpace,
    /// `RLIMIT_DATA`.
    Data,
    /// The memory of the machine.
    Machine,
}

impl fmt::Display for LimitedBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ControlGroup => "cgroup",
            Self::AddressSpace => "RLIMIT_AS",
            Self::Data => "RLIMIT_DATA",
            Self::Machine => "physical memory",
        })
    }
}

/// The limits of a process by `getrlimit(2)`; `None` means unlimited.
#[derive(Debug, Clone, Copy, Default)]
struct ResourceLimits {
    address_space: Option<u64>,
    data: Option<u64>,
}

impl MemoryLimit {
    /// Returns the limit that applies to this process, if one is known.
    pub(crate) fn of_process() -> Option<Self> {
        let limits = ResourceLimits {
            address_space: getrlimit(Resource::As).current,
            data: getrlimit(Resource::Data).current,
        };
        Self::least(limits, |path| fs::read_to_string(path).ok())
    }

    /// Returns the lowest of all limits; `read` returns the kernel's files.
    fn least(limits: ResourceLimits, read: impl Fn(&Path) -> Option<String>) -> Option<Self> {
        let membership = read(Path::new("/proc/self/cgroup")).unwrap_or_default();
        let groups = limit_files(&membership)
            .into_iter()
            .filter_map(|file| read(&file)?.trim().parse().ok())
            .min();
        let machine = read(Path::new("/proc/meminfo")).and_then(|text| total_memory(&text));
        let all = [
            (groups, LimitedBy::ControlGroup),
            (limits.address_space, LimitedBy::AddressSpace),
            (limits.data, LimitedBy::Data),
            (machine, LimitedBy::Machine),
        ];
        let known = all
            .into_iter()
            .filter_map(|(bytes, by)| Some(Self { bytes: bytes?, by }));
        known.min_by_key(|it| it.usable())
    }

    /// Returns the usable part of the limit: some address space is reserved without memory.
    fn usable(self) -> u64 {
        match self.by {
            LimitedBy::AddressSpace => self.bytes.saturating_sub(RESERVED),
            _ => self.bytes,
        }
    }

    /// Returns the size in bytes of the text of the largest table that can be loaded within the
    /// limit.
    pub(crate) fn table_bytes(self) -> u64 {
        let for_tables = self.usable().saturating_sub(BASE);
        (for_tables / FACTOR).clamp(LEAST, MAX_BYTES)
    }
}

/// Returns the files that may hold a limit for the groups of `/proc/self/cgroup`: those of each
/// group and of all its ancestors. Files of groups that are not visible here do not exist.
fn limit_files(membership: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for line in membership.lines() {
        // `hierarchy:controllers:path`, and for version 2 `0::path`.
        let mut fields = line.splitn(3, ':');
        let (_, Some(controllers), Some(path)) = (fields.next(), fields.next(), fields.next())
        else {
            continue;
        };
        let (mount, names): (_, &[_]) = match controllers {
            "" => ("/sys/fs/cgroup", &["memory.max", "memory.high"]),
            _ if controllers.split(',').any(|it| it == "memory") => {
                ("/sys/fs/cgroup/memory", &["memory.limit_in_bytes"])
            }
            _ => continue,
        };
        // A path outside the namespace of this process begins with `/..`.
        let inside = path.trim_start_matches('/');
        let inside = Path::new(if inside.starts_with("..") { "" } else { inside });
        for group in inside.ancestors() {
            files.extend(
                names
                    .iter()
                    .map(|name| Path::new(mount).join(group).join(name)),
            );
        }
    }
    files
}

/// Returns the memory of the machine in bytes.
fn total_memory(meminfo: &str) -> Option<u64> {
    let line = meminfo
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1 << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    fn least(limits: ResourceLimits, files: &[(&str, &str)]) -> Option<MemoryLimit> {
        MemoryLimit::least(limits, |path| {
            let found = files.iter().find(|(name, _)| Path::new(name) == path);
            found.map(|(_, text)| (*text).to_owned())
        })
    }

    fn of_files(files: &[(&str, &str)]) -> Option<(u64, LimitedBy)> {
        let limit = least(ResourceLimits::default(), files)?;
        Some((limit.bytes, limit.by))
    }

    #[test]
    fn takes_the_least_limit_of_a_group_and_those_above_it() {
        let files = [
            ("/proc/self/cgroup", "0::/system.slice/waypost.service\n"),
            (
                "/sys/fs/cgroup/system.slice/waypost.service/memory.max",
                "max\n",
            ),
            (
                "/sys/fs/cgroup/system.slice/waypost.service/memory.high",
                "max\n",
            ),
            ("/sys/fs/cgroup/system.slice/memory.max", "536870912\n"),
            (
                "/proc/meminfo",
                "MemTotal:       24683000 kB\nMemFree:   1 kB\n",
            ),
        ];
        assert_eq!(of_files(&files), Some((512 * MIB, LimitedBy::ControlGroup)));
        // Above `memory.high` a process is throttled almost to a standstill.
        let mut throttled = files;
        throttled[2].1 = "268435456\n";
        assert_eq!(
            of_files(&throttled),
            Some((256 * MIB, LimitedBy::ControlGroup))
        );
    }

    #[test]
    fn takes_the_limit_of_a_container() {
        let version_2 = [
            ("/proc/self/cgroup", "0::/\n"),
            ("/sys/fs/cgroup/memory.max", "67108864\n"),
        ];
        // Its own group is mounted as the top; its path is that of the host.
        let version_1 = [
            (
                "/proc/self/cgroup",
                "9:name=systemd:/\n4:cpu,memory:/docker/4f\n0::/\n",
            ),
            ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "67108864\n"),
        ];
        let outside = [
            ("/proc/self/cgroup", "0::/../../other\n"),
            ("/sys/fs/cgroup/memory.max", "67108864\n"),
        ];
        for files in [&version_2[..], &version_1, &outside] {
            assert_eq!(
                of_files(files),
                Some((64 * MIB, LimitedBy::ControlGroup)),
                "{files:?}"
            );
        }
    }

    #[test]
    fn without_a_limit_the_machine_is_one() {
        let files = [
            ("/proc/self/cgroup", "4:memory:/\n0::/\n"),
            (
                "/sys/fs/cgroup/memory/memory.limit_in_bytes",
                "9223372036854771712\n",
            ),
            ("/proc/meminfo", "MemTotal:        1048576 kB\n"),
        ];
        assert_eq!(of_files(&files), Some((1024 * MIB, LimitedBy::Machine)));
        assert_eq!(of_files(&[]), None);
        assert_eq!(of_files(&[("/proc/meminfo", "MemTotal: many kB\n")]), None);
        assert_eq!(of_files(&[("/proc/self/cgroup", "odd\n\n0:\n")]), None);
    }

    #[test]
    fn takes_what_the_process_is_allowed() {
        let machine = [("/proc/meminfo", "MemTotal:        8388608 kB\n")];
        let limits = ResourceLimits {
            address_space: Some(2048 * MIB),
            data: Some(1600 * MIB),
        };
        let limit = least(limits, &machine).unwrap();
        // Less of the address space is usable.
        assert_eq!(
            (limit.bytes, limit.by),
            (2048 * MIB, LimitedBy::AddressSpace)
        );
        let limits = ResourceLimits {
            data: Some(512 * MIB),
            ..limits
        };
        let limit = least(limits, &machine).unwrap();
        assert_eq!((limit.bytes, limit.by), (512 * MIB, LimitedBy::Data));
    }

    #[test]
    fn derives_the_size_of_a_table() {
        let table = |bytes| {
            let by = LimitedBy::ControlGroup;
            MemoryLimit { bytes, by }.table_bytes()
        };
        assert_eq!(table(514 * MIB), 90 * MIB);
        assert_eq!(table(129 * MIB), 13 * MIB);
        assert_eq!(table(1344 * MIB), 256 * MIB);
        assert_eq!(table(8192 * MIB), 256 * MIB);
        assert_eq!(table(u64::MAX), 256 * MIB);
        assert_eq!(table(32 * MIB), MIB);
        assert_eq!(table(0), MIB);
    }
}
