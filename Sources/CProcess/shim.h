// prctl(2) has a variable number of arguments, with which Swift calls no function.
#pragma once

#include <sys/prctl.h>

/// Keeps the process's memory from core dumps and from other processes of the same user. Returns 0,
/// or -1 with errno set.
static inline int siwa_forbid_dumps(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }

extern char **environ;

/// The variables of the process, which Swift would not read: C's global could change at any time.
static inline char **siwa_environment(void) { return environ; }
