// many URL CA SECRET-FILE TOKENS-FILE IN-FLIGHT
//
// The least that a C program on libcurl does in place of `siwa batch revoke`: a request for each line
// of TOKENS-FILE, on one connection, in one thread. No retry, no result is written. It ends with 1
// when a request fails.
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t ignore(char *bytes, size_t size, size_t count, void *context) {
    return size * count;
}

static CURL *request(char **arguments) {
    CURL *request = curl_easy_init();
    curl_easy_setopt(request, CURLOPT_URL, arguments[1]);
    curl_easy_setopt(request, CURLOPT_CAINFO, arguments[2]);
    curl_easy_setopt(request, CURLOPT_CAPATH, "/etc/ssl/certs");
    curl_easy_setopt(request, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
    curl_easy_setopt(request, CURLOPT_PIPEWAIT, 1L);
    curl_easy_setopt(request, CURLOPT_FAILONERROR, 1L);
    curl_easy_setopt(request, CURLOPT_WRITEFUNCTION, ignore);
    return request;
}

// Gives the request the next token; 0 when there is none left.
static int next(CURL *request, const char *secret, FILE *tokens) {
    char token[512], form[2048];
    if (!fgets(token, sizeof token, tokens)) return 0;
    token[strcspn(token, "\n")] = 0;
    snprintf(
        form, sizeof form,
        "client_id=com.example.app&client_secret=%s&token=%s&token_type_hint=refresh_token", secret,
        token);
    curl_easy_setopt(request, CURLOPT_COPYPOSTFIELDS, form);
    return 1;
}

// Starts the next request with each handle that has ended; the number of requests that failed.
static int refill(CURLM *requests, const char *secret, FILE *tokens) {
    CURLMsg *message;
    int left, failed = 0;
    while ((message = curl_multi_info_read(requests, &left))) {
        CURL *ended = message->easy_handle;
        if (message->data.result != CURLE_OK) failed++;
        curl_multi_remove_handle(requests, ended);
        if (next(ended, secret, tokens))
            curl_multi_add_handle(requests, ended);
        else
            curl_easy_cleanup(ended);
    }
    return failed;
}

int main(int count, char **arguments) {
    if (count != 6) {
        fprintf(stderr, "usage: many URL CA SECRET-FILE TOKENS-FILE IN-FLIGHT\n");
        return 2;
    }
    char secret[1024] = "";
    FILE *file = fopen(arguments[3], "r"), *tokens = fopen(arguments[4], "r");
    if (!file || !tokens || !fgets(secret, sizeof secret, file)) return 1;
    secret[strcspn(secret, "\n")] = 0;
    curl_global_init(CURL_GLOBAL_DEFAULT);
    CURLM *requests = curl_multi_init();
    curl_multi_setopt(requests, CURLMOPT_MAX_TOTAL_CONNECTIONS, 1L);
    for (int i = atoi(arguments[5]); i > 0; i--) {
        CURL *one = request(arguments);
        if (next(one, secret, tokens)) curl_multi_add_handle(requests, one);
    }
    int running = 1, failed = 0;
    while (running && !failed) {
        curl_multi_perform(requests, &running);
        failed = refill(requests, secret, tokens);
        // What was refilled runs with the next turn.
        curl_multi_perform(requests, &running);
        if (running) curl_multi_poll(requests, NULL, 0, 1000, NULL);
    }
    return failed ? 1 : 0;
}
