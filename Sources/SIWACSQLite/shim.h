// SQLite, loaded when it is first used: most commands need no vault, and most vaults that are no
// file need PostgreSQL's library instead. The module map has no `link` for the same reason
// (docs/decisions/linking.md). Only what SIWADatabases uses.
#pragma once

#if !__has_include(<sqlite3.h>)
#error "SQLite's headers are missing: install libsqlite3-dev"
#endif

#include "../DynamicLibrary.h"
#include <sqlite3.h>

/// The functions that SIWADatabases calls.
#define SIWA_SQLITE_FUNCTIONS(FUNCTION) \
    FUNCTION(sqlite3_bind_blob64) \
    FUNCTION(sqlite3_bind_int64) \
    FUNCTION(sqlite3_bind_null) \
    FUNCTION(sqlite3_bind_parameter_index) \
    FUNCTION(sqlite3_bind_text64) \
    FUNCTION(sqlite3_busy_handler) \
    FUNCTION(sqlite3_clear_bindings) \
    FUNCTION(sqlite3_close_v2) \
    FUNCTION(sqlite3_column_blob) \
    FUNCTION(sqlite3_column_bytes) \
    FUNCTION(sqlite3_column_count) \
    FUNCTION(sqlite3_column_int64) \
    FUNCTION(sqlite3_column_type) \
    FUNCTION(sqlite3_config) \
    FUNCTION(sqlite3_db_config) \
    FUNCTION(sqlite3_db_readonly) \
    FUNCTION(sqlite3_errmsg) \
    FUNCTION(sqlite3_file_control) \
    FUNCTION(sqlite3_finalize) \
    FUNCTION(sqlite3_get_autocommit) \
    FUNCTION(sqlite3_libversion_number) \
    FUNCTION(sqlite3_open_v2) \
    FUNCTION(sqlite3_prepare_v3) \
    FUNCTION(sqlite3_progress_handler) \
    FUNCTION(sqlite3_reset) \
    FUNCTION(sqlite3_step) \
    FUNCTION(sqlite3_system_errno)

SIWA_DYNAMIC_LIBRARY(siwa_sqlite, "libsqlite3.so.0", SIWA_SQLITE_FUNCTIONS)

/// SQLITE_CONSTRAINT_FOREIGNKEY, a macro of shifts.
static const int siwa_foreign_key_missing = SQLITE_CONSTRAINT_FOREIGNKEY;

/// Keeps no statistics of SQLite's memory, which would lock a mutex and ask for a size at each
/// allocation. Fails once SQLite was used.
static inline int siwa_omit_statistics(siwa_sqlite sqlite) {
    return sqlite.functions->sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

/// Leaves the log alone when the connection is closed.
static inline int siwa_keep_log(siwa_sqlite sqlite, sqlite3 *connection) {
    return sqlite.functions->sqlite3_db_config(
        connection, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (void *)0);
}

// A null pointer would bind NULL: empty is not nothing. SQLite reads the bytes in place, until the
// bindings are cleared.

static inline int siwa_bind_text(
    siwa_sqlite sqlite, sqlite3_stmt *statement, int index, const void *bytes, size_t count) {
    return sqlite.functions->sqlite3_bind_text64(
        statement, index, bytes ? bytes : "", count, SQLITE_STATIC, SQLITE_UTF8);
}

static inline int siwa_bind_bytes(
    siwa_sqlite sqlite, sqlite3_stmt *statement, int index, const void *bytes, size_t count) {
    return sqlite.functions->sqlite3_bind_blob64(
        statement, index, bytes ? bytes : "", count, SQLITE_STATIC);
}
