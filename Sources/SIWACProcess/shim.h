// Calls with a variable number of arguments, which Swift cannot make, and one that glibc declares
// only for GNU's own dialect of C.
#pragma once

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/// Keeps the process's memory from core dumps and from other processes of the same user. Returns 0,
/// or -1 with errno set.
static inline int siwa_forbid_dumps(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }

/// How many processors this process may run on (sched_getaffinity(2)); 0 if that is unknown.
static inline int siwa_usable_processors(void) {
    unsigned long mask[128] = {0};
    long size = syscall(SYS_sched_getaffinity, 0, sizeof mask, mask);
    int count = 0;
    for (long index = 0; index * (long)sizeof mask[0] < size; index += 1)
        count += __builtin_popcountl(mask[index]);
    return count;
}

/// Exchanges two files of one folder (renameat2(2), RENAME_EXCHANGE). Returns 0, or -1 with errno
/// set; file systems that cannot do it fail with EINVAL.
static inline int siwa_exchange_files(const char *first, const char *second) {
    return (int)syscall(SYS_renameat2, AT_FDCWD, first, AT_FDCWD, second, 2);
}

/// Reserves space beyond the end of a file, without a change of its size (fallocate(2) with
/// FALLOC_FL_KEEP_SIZE). Returns 0, or -1 with errno set.
static inline int siwa_reserve_space(int descriptor, long offset, long size) {
    return (int)syscall(SYS_fallocate, descriptor, 1, offset, size);
}

extern char **environ;

/// The variables of the process, which Swift would not read: C's global could change at any time.
static inline char **siwa_environment(void) { return environ; }
