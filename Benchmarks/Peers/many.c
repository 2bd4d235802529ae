// many URL CA SECRET-FILE TOKENS-FILE IN-FLIGHT RESULTS-FILE
//
// What a C program on libcurl does in place of `siwa batch revoke`: a request for each line of
// TOKENS-FILE, with siwa's header fields and time limits, on one connection, in one thread; the
// status of each answer is checked, and a line with it is written. No retry, no limit of the rate,
// no fingerprint, no continuation. It ends with 1 when a request fails.
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// A request in flight.
struct slot {
    CURL *request;
    long line;
    char form[2048];
};

// What all requests share.
struct batch {
    char **arguments;
    char secret[1024];
    struct curl_slist *fields;
    FILE *tokens, *results;
    long lines;
};

static size_t ignore(char *bytes, size_t size, size_t count, void *context) {
    return size * count;
}

static CURL *request(struct batch *batch, struct slot *slot) {
    CURL *request = curl_easy_init();
    curl_easy_setopt(request, CURLOPT_URL, batch->arguments[1]);
    curl_easy_setopt(request, CURLOPT_CAINFO, batch->arguments[2]);
    curl_easy_setopt(request, CURLOPT_CAPATH, "/etc/ssl/certs");
    curl_easy_setopt(request, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
    curl_easy_setopt(request, CURLOPT_PIPEWAIT, 1L);
    curl_easy_setopt(request, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(request, CURLOPT_TIMEOUT_MS, 30000L);
    curl_easy_setopt(request, CURLOPT_CONNECTTIMEOUT_MS, 10000L);
    curl_easy_setopt(request, CURLOPT_HTTPHEADER, batch->fields);
    curl_easy_setopt(request, CURLOPT_WRITEFUNCTION, ignore);
    curl_easy_setopt(request, CURLOPT_PRIVATE, slot);
    return request;
}

// Gives a slot the next token; 0 when there is none left.
static int next(struct batch *batch, struct slot *slot) {
    char token[512];
    if (!fgets(token, sizeof token, batch->tokens)) return 0;
    token[strcspn(token, "\n")] = 0;
    slot->line = ++batch->lines;
    int length = snprintf(
        slot->form, sizeof slot->form,
        "client_id=com.example.app&client_secret=%s&token=%s&token_type_hint=refresh_token",
        batch->secret, token);
    curl_easy_setopt(slot->request, CURLOPT_POSTFIELDSIZE, (long)length);
    curl_easy_setopt(slot->request, CURLOPT_POSTFIELDS, slot->form);
    return 1;
}

// Writes the result of a request that has ended; 0 if it failed.
static int finish(struct batch *batch, struct slot *slot, CURLcode code) {
    long status = 0;
    curl_easy_getinfo(slot->request, CURLINFO_RESPONSE_CODE, &status);
    int is_done = code == CURLE_OK && status == 200;
    fprintf(
        batch->results, "{\"line\":%ld,\"status\":\"%s\",\"http_status\":%ld}\n", slot->line,
        is_done ? "done" : "failed", status);
    return is_done;
}

// Starts the next request with each handle that has ended; the number of requests that failed.
static int refill(CURLM *requests, struct batch *batch) {
    CURLMsg *message;
    int left, failed = 0;
    while ((message = curl_multi_info_read(requests, &left))) {
        struct slot *slot;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &slot);
        if (!finish(batch, slot, message->data.result)) failed++;
        curl_multi_remove_handle(requests, slot->request);
        if (next(batch, slot))
            curl_multi_add_handle(requests, slot->request);
        else
            curl_easy_cleanup(slot->request);
    }
    return failed;
}

int main(int count, char **arguments) {
    if (count != 7) {
        fprintf(
            stderr, "usage: many URL CA SECRET-FILE TOKENS-FILE IN-FLIGHT RESULTS-FILE\n");
        return 2;
    }
    struct batch batch = {.arguments = arguments, .secret = ""};
    FILE *file = fopen(arguments[3], "r");
    batch.tokens = fopen(arguments[4], "r");
    batch.results = fopen(arguments[6], "w");
    if (!file || !batch.tokens || !batch.results) return 1;
    if (!fgets(batch.secret, sizeof batch.secret, file)) return 1;
    batch.secret[strcspn(batch.secret, "\n")] = 0;
    curl_global_init(CURL_GLOBAL_DEFAULT);
    batch.fields = curl_slist_append(batch.fields, "Accept: application/json");
    batch.fields = curl_slist_append(batch.fields, "User-Agent: many/1");
    CURLM *requests = curl_multi_init();
    curl_multi_setopt(requests, CURLMOPT_MAX_TOTAL_CONNECTIONS, 1L);
    int slots = atoi(arguments[5]);
    struct slot *all = calloc(slots, sizeof *all);
    for (int i = 0; i < slots; i++) {
        all[i].request = request(&batch, &all[i]);
        if (next(&batch, &all[i])) curl_multi_add_handle(requests, all[i].request);
    }
    int running = 1, failed = 0;
    while (running && !failed) {
        curl_multi_perform(requests, &running);
        failed = refill(requests, &batch);
        // What was refilled runs with the next turn.
        curl_multi_perform(requests, &running);
        if (running) curl_multi_poll(requests, NULL, 0, 1000, NULL);
    }
    if (fflush(batch.results) != 0 || fsync(fileno(batch.results)) != 0) return 1;
    return failed ? 1 : 0;
}
