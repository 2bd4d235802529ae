// libpq, loaded when it is first used: few vaults are on a server, and it brings a dozen
// libraries of its own. The module map has no `link` for the same reason
// (docs/decisions/linking.md). Only what SIWADatabases uses.
#pragma once

#if !__has_include(<postgresql/libpq-fe.h>)
#error "libpq's headers are missing: install libpq-dev"
#endif

#include "../DynamicLibrary.h"
#include <postgresql/libpq-fe.h>

/// The functions that SIWADatabases calls.
#define SIWA_POSTGRES_FUNCTIONS(FUNCTION) \
    FUNCTION(PQbackendPID) \
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
    FUNCTION(PQexitPipelineMode) \
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
    FUNCTION(PQputCopyData) \
    FUNCTION(PQputCopyEnd) \
    FUNCTION(PQresultErrorField) \
    FUNCTION(PQresultStatus) \
    FUNCTION(PQsendPrepare) \
    FUNCTION(PQsendQuery) \
    FUNCTION(PQsendQueryPrepared) \
    FUNCTION(PQsetErrorVerbosity) \
    FUNCTION(PQsetNoticeReceiver) \
    FUNCTION(PQsetnonblocking) \
    FUNCTION(PQsocket) \
    FUNCTION(PQstatus)

SIWA_DYNAMIC_LIBRARY(siwa_postgres, "libpq.so.5", SIWA_POSTGRES_FUNCTIONS)

// Macros of character literals.
static const int siwa_sql_state = PG_DIAG_SQLSTATE;
static const int siwa_primary_message = PG_DIAG_MESSAGE_PRIMARY;
