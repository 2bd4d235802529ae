// How the shims load a C library when it is first used, in place of linking it
// (docs/decisions/linking.md).
#pragma once

#include <dlfcn.h>
#include <stdbool.h>

/// Declares `TABLE_functions`, a struct with a pointer to each function of the list FUNCTIONS, of the
/// type that its header declares; `TABLE`, a pointer to such a struct, because a copy of hundreds of
/// pointers at each call costs more than the call; and `TABLE_load`, which fills one. It sets
/// `is_loaded` to false when the library FILE or one of the functions is missing; dlerror() then says
/// which, and all functions are null. It must not run twice at the same time. The library is never
/// unloaded: it may run threads, and what it registers for the end of the process must still be there
/// then.
///
/// FUNCTIONS is a macro that applies its argument to each name. It is the one place that lists them:
/// a function that is not in it cannot be called.
#define SIWA_DYNAMIC_LIBRARY(TABLE, FILE, FUNCTIONS) \
    typedef struct { \
        FUNCTIONS(SIWA_FUNCTION_POINTER) \
    } TABLE##_functions; \
    typedef struct __attribute__((swift_attr("@Sendable"))) { \
        const TABLE##_functions *_Nonnull functions; \
    } TABLE; \
    static inline TABLE TABLE##_load(bool *_Nonnull is_loaded) { \
        static TABLE##_functions found; \
        void *library = dlopen(FILE, RTLD_LAZY | RTLD_LOCAL); \
        *is_loaded = library FUNCTIONS(SIWA_FIND_FUNCTION); \
        if (!*is_loaded) found = (TABLE##_functions){0}; \
        return (TABLE){&found}; \
    }

#define SIWA_FUNCTION_POINTER(name) __typeof__(&name) name;

#define SIWA_FIND_FUNCTION(name) \
    && (found.name = (__typeof__(&name))dlsym(library, #name))
