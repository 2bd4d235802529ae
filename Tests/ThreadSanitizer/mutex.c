#define _GNU_SOURCE
// Shows the thread sanitizer how Synchronization.Mutex is handed from thread to thread.
//
// An uncontended lock is compiled into the program, where the sanitizer sees its atomic operations.
// Threads that wait for each other call the Swift library, which is not instrumented, and the
// kernel then assigns the lock (FUTEX_LOCK_PI): the sanitizer would report the values behind it as
// races. The functions of this file replace the library's, call them, and say what happened; nothing
// is suppressed. `make sanitize` alone links them.
#include <dlfcn.h>
#include <sanitizer/tsan_interface.h>
#include <stdbool.h>
#include <stdint.h>

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *mutex

#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define TRY_LOCK "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

SWIFT void siwa_lock(uint32_t thread, SELF) __asm__(LOCK);
SWIFT bool siwa_try_lock(SELF) __asm__(TRY_LOCK);
SWIFT void siwa_unlock(SELF) __asm__(UNLOCK);

SWIFT void siwa_lock(uint32_t thread, SELF) {
    SWIFT void (*lock)(uint32_t, SELF) = dlsym(RTLD_NEXT, LOCK);
    lock(thread, mutex);
    __tsan_acquire(mutex);
}

SWIFT bool siwa_try_lock(SELF) {
    SWIFT bool (*try_lock)(SELF) = dlsym(RTLD_NEXT, TRY_LOCK);
    if (!try_lock(mutex)) return false;
    __tsan_acquire(mutex);
    return true;
}

SWIFT void siwa_unlock(SELF) {
    SWIFT void (*unlock)(SELF) = dlsym(RTLD_NEXT, UNLOCK);
    __tsan_release(mutex);
    unlock(mutex);
}
