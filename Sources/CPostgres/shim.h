// libpq, loaded when it is first used: few vaults are on a server, and it brings a dozen
// libraries of its own. The module map has no `link` for the same reason
// (docs/decisions/linking.md). Only what TokenVault uses.
#pragma once

#include <dlfcn.h>
#include <postgresql/libpq-fe.h>
#include <stdbool.h>

/// The functions that TokenVault calls: the one place that lists them.
#define SIWA_POSTGRES_FUNCTIONS(FUNCTION) \
    FUNCTION(PQclear) \
    FUNCTION(PQconnectPoll) \
    FUNCTION(PQconnectStartParams) \
    FUNCTION(PQconnectionNeedsPassword) \
    FUNCTION(PQconninfo) \
    FUNCTION(PQconninfoFree) \
    FUNCTION(PQconninfoParse) \
    FUNCTION(PQconsumeInput) \
    FUNCTION(PQenterPipelineMode) \
    FUNCTION(PQerrorMessage) \
    FUNCTION(PQfinish) \
    FUNCTION(PQflush) \
    FUNCTION(PQfreemem) \
    FUNCTION(PQftype) \
    FUNCTION(PQgetResult) \
    FUNCTION(PQgetisnull) \
    FUNCTION(PQgetlength) \
    FUNCTION(PQgetvalue) \
    FUNCTION(PQisBusy) \
    FUNCTION(PQnfields) \
    FUNCTION(PQntuples) \
    FUNCTION(PQpipelineSync) \
    FUNCTION(PQresultErrorField) \
    FUNCTION(PQresultStatus) \
    FUNCTION(PQsendPrepare) \
    FUNCTION(PQsendQueryPrepared) \
    FUNCTION(PQsetErrorVerbosity) \
    FUNCTION(PQsetNoticeReceiver) \
    FUNCTION(PQsetnonblocking) \
    FUNCTION(PQsocket) \
    FUNCTION(PQstatus)

/// Those functions, found at run time, each of the type its header declares.
typedef struct __attribute__((swift_attr("@Sendable"))) {
#define SIWA_MEMBER(name) __typeof__(&name) name;
    SIWA_POSTGRES_FUNCTIONS(SIWA_MEMBER)
#undef SIWA_MEMBER
} siwa_postgres;

/// Fills `postgres`; false when the library or one of its functions is not there, and dlerror()
/// tells which. Never unloaded.
static inline bool siwa_postgres_load(siwa_postgres *postgres) {
    void *library = dlopen("libpq.so.5", RTLD_LAZY | RTLD_LOCAL);
    if (!library) return false;
#define SIWA_FIND(name) \
    if (!(postgres->name = (__typeof__(&name))dlsym(library, #name))) return false;
    SIWA_POSTGRES_FUNCTIONS(SIWA_FIND)
#undef SIWA_FIND
    return true;
}

// Macros of character literals.
static const int siwa_sql_state = PG_DIAG_SQLSTATE;
static const int siwa_primary_message = PG_DIAG_MESSAGE_PRIMARY;
