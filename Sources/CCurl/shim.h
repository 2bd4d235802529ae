// libcurl, loaded when it is first used: linking it would start 33 shared libraries in every
// run of a program that mostly mints secrets. The module map has no `link` for the same reason.
#pragma once

#include <curl/curl.h>
#include <dlfcn.h>
#include <linux/memfd.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

/// The functions of libcurl that CurlTransport calls, found at run time.
typedef struct {
    CURLcode (*global_init)(long flags);
    curl_version_info_data *(*version_info)(CURLversion age);
    const char *(*easy_strerror)(CURLcode code);
    CURL *(*easy_init)(void);
    CURLcode (*easy_setopt)(CURL *easy, CURLoption option, ...);
    CURLcode (*easy_getinfo)(CURL *easy, CURLINFO info, ...);
    void (*easy_cleanup)(CURL *easy);
    struct curl_slist *(*slist_append)(struct curl_slist *list, const char *text);
    void (*slist_free_all)(struct curl_slist *list);
    CURLM *(*multi_init)(void);
    CURLMcode (*multi_setopt)(CURLM *multi, CURLMoption option, ...);
    CURLMcode (*multi_cleanup)(CURLM *multi);
    CURLMcode (*multi_add_handle)(CURLM *multi, CURL *easy);
    CURLMcode (*multi_remove_handle)(CURLM *multi, CURL *easy);
    CURLMcode (*multi_perform)(CURLM *multi, int *running);
    CURLMcode (*multi_poll)(
        CURLM *multi, struct curl_waitfd *extra, unsigned int count, int timeout_ms, int *ready);
    CURLMcode (*multi_wakeup)(CURLM *multi);
    CURLMsg *(*multi_info_read)(CURLM *multi, int *left);
    const char *(*multi_strerror)(CURLMcode code);
} siwa_curl;

/// Fills `curl`; false when libcurl or one of its functions is not there, and dlerror() tells which.
static inline bool siwa_curl_load(siwa_curl *curl) {
    void *library = dlopen("libcurl.so.4", RTLD_LAZY | RTLD_LOCAL);
    if (!library) return false;
#define SIWA_FIND(name) \
    if (!(curl->name = (__typeof__(curl->name))dlsym(library, "curl_" #name))) return false
    SIWA_FIND(global_init);
    SIWA_FIND(version_info);
    SIWA_FIND(easy_strerror);
    SIWA_FIND(easy_init);
    SIWA_FIND(easy_setopt);
    SIWA_FIND(easy_getinfo);
    SIWA_FIND(easy_cleanup);
    SIWA_FIND(slist_append);
    SIWA_FIND(slist_free_all);
    SIWA_FIND(multi_init);
    SIWA_FIND(multi_setopt);
    SIWA_FIND(multi_cleanup);
    SIWA_FIND(multi_add_handle);
    SIWA_FIND(multi_remove_handle);
    SIWA_FIND(multi_perform);
    SIWA_FIND(multi_poll);
    SIWA_FIND(multi_wakeup);
    SIWA_FIND(multi_info_read);
    SIWA_FIND(multi_strerror);
#undef SIWA_FIND
    return true;
}

// curl_easy_setopt and curl_easy_getinfo are variadic: one typed wrapper for each kind of value.

static inline CURLcode siwa_set_long(const siwa_curl *curl, CURL *easy, CURLoption option, long value) {
    return curl->easy_setopt(easy, option, value);
}

static inline CURLcode siwa_set_string(
    const siwa_curl *curl, CURL *easy, CURLoption option, const char *value) {
    return curl->easy_setopt(easy, option, value);
}

static inline CURLcode siwa_set_pointer(
    const siwa_curl *curl, CURL *easy, CURLoption option, const void *value) {
    return curl->easy_setopt(easy, option, value);
}

static inline CURLMcode siwa_set_multi(
    const siwa_curl *curl, CURLM *multi, CURLMoption option, long value) {
    return curl->multi_setopt(multi, option, value);
}

typedef size_t (*siwa_write_callback)(char *bytes, size_t size, size_t count, void *context);
typedef int (*siwa_prerequest_callback)(
    void *context, char *remote, char *local, int remote_port, int local_port);

static inline CURLcode siwa_set_write(
    const siwa_curl *curl, CURL *easy, CURLoption option, siwa_write_callback callback) {
    return curl->easy_setopt(easy, option, callback);
}

static inline CURLcode siwa_set_prerequest(
    const siwa_curl *curl, CURL *easy, siwa_prerequest_callback callback) {
    return curl->easy_setopt(easy, CURLOPT_PREREQFUNCTION, callback);
}

static inline CURLcode siwa_get_long(const siwa_curl *curl, CURL *easy, CURLINFO info, long *value) {
    return curl->easy_getinfo(easy, info, value);
}

static inline CURLcode siwa_get_string(
    const siwa_curl *curl, CURL *easy, CURLINFO info, const char **value) {
    return curl->easy_getinfo(easy, info, value);
}

/// The result of a finished transfer; a union that Swift does not import.
static inline CURLcode siwa_result(const CURLMsg *message) { return message->data.result; }

/// CURLVERSION_NOW, a macro that names an enumerator.
static inline CURLversion siwa_version_now(void) { return CURLVERSION_NOW; }

/// memfd_create(2), which Swift's Glibc does not declare.
static inline int siwa_memory_file(const char *name) {
    return (int)syscall(SYS_memfd_create, name, MFD_CLOEXEC);
}
