// How the shims load a C library when it is first used, in place of linking it
// (docs/decisions/linking.md).
#pragma once

#include <dlfcn.h>
#include <stdbool.h>

/// Declares `TABLE`, a struct with a pointer to each function of the list FUNCTIONS, of the type
/// that its header declares; and `TABLE_load`, which fills one. The latter returns false when the
/// library FILE or one of the functions is missing; dlerror() then says which. The library is never
/// unloaded: it may run threads, and what it registers for the end of the process must still be
/// there then.
///
/// FUNCTIONS is a macro that applies its argument to each name. It is the one place that lists them:
/// a function that is not in it cannot be called.
#define SIWA_DYNAMIC_LIBRARY(TABLE, FILE, FUNCTIONS) \
    typedef struct __attribute__((swift_attr("@Sendable"))) { \
        FUNCTIONS(SIWA_FUNCTION_POINTER) \
    } TABLE; \
    static inline bool TABLE##_load(TABLE *table) { \
        void *library = dlopen(FILE, RTLD_LAZY | RTLD_LOCAL); \
        if (!library) return false; \
        FUNCTIONS(SIWA_FIND_FUNCTION) \
        return true; \
    }

#define SIWA_FUNCTION_POINTER(name) __typeof__(&name) name;

#define SIWA_FIND_FUNCTION(name) \
    if (!(table->name = (__typeof__(&name))dlsym(library, #name))) return false;
