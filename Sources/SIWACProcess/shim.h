// Calls with a variable number of arguments, which Swift cannot make, and one that glibc declares
// only for GNU's own dialect of C.
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

// glibc declares it only for GNU's dialect of C.
int pipe2(int descriptors[2], int flags);

/// Keeps the process's memory from core dumps and from other processes of the same user. Returns 0,
/// or -1 with errno set.
static inline int siwa_forbid_dumps(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }

/// Has threads that start later allocate from the heap of the first.
static inline void siwa_share_heap(void) { mallopt(M_ARENA_MAX, 1); }

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

/// Begins to write a file's changes to disk, and does not wait for it (sync_file_range(2) with
/// SYNC_FILE_RANGE_WRITE). Returns 0, or -1 with errno set.
static inline int siwa_begin_sync(int descriptor) {
    return (int)syscall(SYS_sync_file_range, descriptor, 0L, 0L, 2);
}

extern char **environ;

/// The variables of the process, which Swift would not read: C's global could change at any time.
static inline char **siwa_environment(void) { return environ; }

/// What siwa_start_session starts, and the program's ends of its three pipes.
struct siwa_session {
    const char *path;
    char *const *arguments;
    char *const *environment;
    int input, output, errors;
};

/// Starts a program in a session of its own: without a terminal, with no descriptor but its three
/// pipes, in the folder /, with umask 077, no core dump, and signals as programs expect them. It gets
/// SIGTERM if the thread that starts it ends. Sets the process id. Returns 0, or the error number.
static inline int siwa_start_session(const struct siwa_session *session, pid_t *process) {
    int failure[2], code = 0;
    if (pipe2(failure, O_CLOEXEC) != 0) return errno;
    pid_t parent = getpid();
    *process = fork();
    if (*process == 0) {
        // Only calls that signal-safety(7) lists: other threads may have held a lock.
        // struct rlimit64 and RLIMIT_CORE: their header would be a part of this module.
        unsigned long long none[2] = {0, 0};
        struct sigaction standard;
        sigset_t empty;
        memset(&standard, 0, sizeof standard);
        standard.sa_handler = SIG_DFL;
        for (int number = 1; number < 65; number += 1) sigaction(number, &standard, 0);
        sigemptyset(&empty);
        sigprocmask(SIG_SETMASK, &empty, 0);
        prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0);
        syscall(SYS_prlimit64, 0, 4, none, 0);
        umask(077);
        if (setsid() != -1 && chdir("/") == 0 && getppid() == parent
            // Above the standard streams first, so that none overwrites another.
            && (failure[1] = fcntl(failure[1], F_DUPFD_CLOEXEC, 10)) != -1
            && dup2(session->input, 0) != -1 && dup2(session->output, 1) != -1
            && dup2(session->errors, 2) != -1) {
            int last = failure[1];
            // Linux 5.9 has close_range(2).
            if (syscall(SYS_close_range, 3, last - 1, 0) != 0
                || syscall(SYS_close_range, last + 1, ~0U, 0) != 0)
                for (int other = 3; other < 4096; other += 1)
                    if (other != last) close(other);
            execve(session->path, session->arguments, session->environment);
        }
        code = errno;
        (void)!write(failure[1], &code, sizeof code);
        _exit(127);
    }
    if (*process == -1) code = errno;
    close(failure[1]);
    if (code == 0) {
        ssize_t size;
        do size = read(failure[0], &code, sizeof code); while (size == -1 && errno == EINTR);
        if (size != (ssize_t)sizeof code) code = 0;
        else waitpid(*process, 0, 0);
    }
    close(failure[0]);
    return code;
}

/// The exit code of a child that has ended, or the number of the signal that ended it, negative; 256
/// while it runs. It stays a zombie.
static inline int siwa_exit_status(pid_t process) {
    siginfo_t info;
    memset(&info, 0, sizeof info);
    if (waitid(P_PID, (id_t)process, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0)
        return 256;
    return info.si_code == CLD_EXITED ? info.si_status : -info.si_status;
}
