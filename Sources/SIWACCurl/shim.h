// libcurl, loaded when it is first used: linking it would start 33 shared libraries in every
// run of a program that mostly mints secrets. The module map has no `link` for the same reason.
#pragma once

#if !__has_include(<curl/curl.h>)
#error "libcurl's headers are missing: install libcurl4-openssl-dev"
#endif

#include "../DynamicLibrary.h"
#include <curl/curl.h>
#include <linux/memfd.h>
#include <sys/syscall.h>
#include <unistd.h>

/// The functions that SIWACurlTransport calls.
#define SIWA_CURL_FUNCTIONS(FUNCTION) \
    FUNCTION(curl_easy_cleanup) \
    FUNCTION(curl_easy_getinfo) \
    FUNCTION(curl_easy_init) \
    FUNCTION(curl_easy_perform) \
    FUNCTION(curl_easy_setopt) \
    FUNCTION(curl_easy_strerror) \
    FUNCTION(curl_global_init) \
    FUNCTION(curl_multi_add_handle) \
    FUNCTION(curl_multi_cleanup) \
    FUNCTION(curl_multi_info_read) \
    FUNCTION(curl_multi_init) \
    FUNCTION(curl_multi_perform) \
    FUNCTION(curl_multi_poll) \
    FUNCTION(curl_multi_remove_handle) \
    FUNCTION(curl_multi_setopt) \
    FUNCTION(curl_multi_strerror) \
    FUNCTION(curl_multi_wakeup) \
    FUNCTION(curl_slist_append) \
    FUNCTION(curl_slist_free_all) \
    FUNCTION(curl_version_info)

SIWA_DYNAMIC_LIBRARY(siwa_curl, "libcurl.so.4", SIWA_CURL_FUNCTIONS)

// curl_easy_setopt and curl_easy_getinfo are variadic: one typed wrapper for each kind of value.

static inline CURLcode siwa_set_long(siwa_curl curl, CURL *easy, CURLoption option, long value) {
    return curl.functions->curl_easy_setopt(easy, option, value);
}

static inline CURLcode siwa_set_string(
    siwa_curl curl, CURL *easy, CURLoption option, const char *value) {
    return curl.functions->curl_easy_setopt(easy, option, value);
}

static inline CURLcode siwa_set_pointer(
    siwa_curl curl, CURL *easy, CURLoption option, const void *value) {
    return curl.functions->curl_easy_setopt(easy, option, value);
}

static inline CURLMcode siwa_set_multi(
    siwa_curl curl, CURLM *multi, CURLMoption option, long value) {
    return curl.functions->curl_multi_setopt(multi, option, value);
}

typedef size_t (*siwa_write_callback)(char *bytes, size_t size, size_t count, void *context);
typedef int (*siwa_prerequest_callback)(
    void *context, char *remote, char *local, int remote_port, int local_port);

typedef int (*siwa_socket_callback)(void *context, curl_socket_t socket, curlsocktype purpose);
typedef int (*siwa_close_callback)(void *context, curl_socket_t socket);

static inline CURLcode siwa_set_write(
    siwa_curl curl, CURL *easy, CURLoption option, siwa_write_callback callback) {
    return curl.functions->curl_easy_setopt(easy, option, callback);
}

static inline CURLcode siwa_set_prerequest(
    siwa_curl curl, CURL *easy, siwa_prerequest_callback callback) {
    return curl.functions->curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, callback);
}

static inline CURLcode siwa_set_socket_opened(
    siwa_curl curl, CURL *easy, siwa_socket_callback callback) {
    return curl.functions->curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, callback);
}

static inline CURLcode siwa_set_close_socket(
    siwa_curl curl, CURL *easy, siwa_close_callback callback) {
    return curl.functions->curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, callback);
}

static inline CURLcode siwa_get_long(siwa_curl curl, CURL *easy, CURLINFO info, long *value) {
    return curl.functions->curl_easy_getinfo(easy, info, value);
}

static inline CURLcode siwa_get_string(
    siwa_curl curl, CURL *easy, CURLINFO info, const char **value) {
    return curl.functions->curl_easy_getinfo(easy, info, value);
}

/// The `SSL *` of the connection that a transfer uses, for as long as it is open; null without TLS, or
/// if libcurl has another library for it.
static inline void *siwa_tls_session(siwa_curl curl, CURL *easy) {
    struct curl_tlssessioninfo *information = NULL;
    if (curl.functions->curl_easy_getinfo(easy, CURLINFO_TLS_SSL_PTR, &information) != CURLE_OK) return NULL;
    if (information == NULL || information->backend != CURLSSLBACKEND_OPENSSL) return NULL;
    return information->internals;
}

/// The result of a finished transfer; a union that Swift does not import.
static inline CURLcode siwa_result(const CURLMsg *message) { return message->data.result; }

/// CURLVERSION_NOW, a macro that names an enumerator.
static inline CURLversion siwa_version_now(void) { return CURLVERSION_NOW; }

/// memfd_create(2), which Swift's Glibc does not declare.
static inline int siwa_memory_file(const char *name) {
    return (int)syscall(SYS_memfd_create, name, MFD_CLOEXEC);
}
