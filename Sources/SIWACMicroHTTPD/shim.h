// GNU libmicrohttpd, and typed spellings of what it declares as variadic or as macros.
#pragma once

#if !__has_include(<microhttpd.h>)
#error "libmicrohttpd's headers are missing: install libmicrohttpd-dev"
#endif
#include <microhttpd.h>
#include <poll.h>
#include <sys/eventfd.h>

/// What a daemon calls: a connection begins or ends; the start of a request line, each step of a
/// request, its end.
struct siwa_callbacks {
    MHD_NotifyConnectionCallback connection;
    void *(*begun)(void *context, const char *target, struct MHD_Connection *connection);
    MHD_AccessHandlerCallback step;
    MHD_RequestCompletedCallback ended;
    void *context;
};

/// Bounds on what clients may take up.
struct siwa_limits {
    unsigned int connections;
    unsigned int idle_seconds;
    size_t memory_bytes;
};

/// Starts a daemon on a socket that listens already; the caller's thread drives it with
/// `MHD_run`. The socket is the daemon's from then on, even when it does not start. With a
/// certificate and its key, both PEM, it speaks TLS 1.2 or newer.
///
/// Not poll: with it, libmicrohttpd 0.9.75 drops a client that has closed its sending side after a
/// whole request and waits for the answer. With epoll it can overlook that a client closed its side
/// in the middle of a request, which the timeouts put right.
static inline struct MHD_Daemon *siwa_start_daemon(
    int socket, const char *certificate, const char *key, struct siwa_limits limits,
    int sends_date, struct siwa_callbacks callbacks) {
    unsigned int flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME;
    if (!sends_date) flags |= MHD_USE_SUPPRESS_DATE_NO_CLOCK;
    struct MHD_OptionItem tls[] = {
        {MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)certificate},
        {MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)key},
        {MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)"NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"},
        {MHD_OPTION_END, 0, NULL},
    };
    if (certificate != NULL) flags |= MHD_USE_TLS;
    else tls[0].option = MHD_OPTION_END;
    return MHD_start_daemon(
        flags, 0, NULL, NULL, callbacks.step, callbacks.context,
        MHD_OPTION_LISTEN_SOCKET, socket,
        MHD_OPTION_NOTIFY_CONNECTION, callbacks.connection, callbacks.context,
        MHD_OPTION_URI_LOG_CALLBACK, callbacks.begun, callbacks.context,
        MHD_OPTION_NOTIFY_COMPLETED, callbacks.ended, callbacks.context,
        MHD_OPTION_CONNECTION_LIMIT, limits.connections,
        MHD_OPTION_CONNECTION_TIMEOUT, limits.idle_seconds,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, limits.memory_bytes,
        MHD_OPTION_ARRAY, tls,
        MHD_OPTION_END);
}

/// What siwa_wait can be woken with; -1 when the system has no descriptor left.
static inline int siwa_alarm(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

/// Wakes siwa_wait.
static inline void siwa_wake(int alarm) { (void)eventfd_write(alarm, 1); }

/// Waits until a daemon has something to do or `wake` can be read, at most `milliseconds`.
///
/// libmicrohttpd has no way of its own to wake a loop that the application runs, and
/// MHD_run_wait would not notice that a connection was resumed.
///
/// Returns 1 when there is something to do, 0 when there is nothing, -1 on an error.
static inline int siwa_wait(struct MHD_Daemon *daemon, int wake, int milliseconds) {
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD);
    if (info == NULL) return -1;
    MHD_UNSIGNED_LONG_LONG due = 0;
    int has_due = MHD_get_timeout(daemon, &due) == MHD_YES;
    if (has_due && due < (unsigned int)milliseconds) milliseconds = (int)due;
    struct pollfd ready[] = {
        {.fd = info->epoll_fd, .events = POLLIN}, {.fd = wake, .events = POLLIN}};
    int count = poll(ready, 2, milliseconds);
    if (count > 0 && ready[1].revents != 0) {
        eventfd_t value;
        (void)eventfd_read(wake, &value);
    }
    return count > 0 || (has_due && due == 0);
}

/// The socket of a connection; -1 when libmicrohttpd does not tell.
static inline int siwa_connection_socket(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info == NULL ? -1 : info->connect_fd;
}

/// What the connection callback stored for a connection; null when it stored nothing.
static inline void *siwa_connection_context(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info == NULL ? NULL : info->socket_context;
}

/// The client's address; null when it has none.
static inline const struct sockaddr *siwa_connection_address(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    return info == NULL ? NULL : info->client_addr;
}

/// MHD_CONTENT_READER_END_OF_STREAM, a macro with a cast: the body is complete.
static inline ssize_t siwa_content_end(void) { return MHD_CONTENT_READER_END_OF_STREAM; }

/// MHD_SIZE_UNKNOWN, a macro with a cast: the body is sent in chunks.
static inline uint64_t siwa_size_unknown(void) { return MHD_SIZE_UNKNOWN; }

/// MHD_CONTENT_READER_END_WITH_ERROR, a macro with a cast: ends the connection.
static inline ssize_t siwa_content_broken(void) { return MHD_CONTENT_READER_END_WITH_ERROR; }
