// measure COMMAND…: runs COMMAND, and writes to descriptor 3 how it ended, its seconds from start to
// end, its seconds of processors in user and kernel mode, and the most memory it had, in KiB. Its
// children that it waited for are included.
//
// On Linux, the most memory of a program includes that of the process that started it, and siwa-bench
// has more than most of what it measures. This one has next to none.
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

static double seconds(struct timeval time) { return time.tv_sec + time.tv_usec / 1e6; }

int main(int count, char **arguments) {
    if (count < 2 || fcntl(3, F_SETFD, FD_CLOEXEC) == -1) return 2;
    struct rusage usage;
    int status;
    double start = now();
    pid_t child = fork();
    if (child == 0) {
        execvp(arguments[1], arguments + 1);
        _exit(127);
    }
    if (child < 0 || wait4(child, &status, 0, &usage) != child) return 1;
    double end = now();
    double processors = seconds(usage.ru_utime) + seconds(usage.ru_stime);
    return dprintf(3, "%d %.6f %.6f %ld", status, end - start, processors, usage.ru_maxrss) < 0;
}
