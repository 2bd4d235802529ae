// once mint KEY KID TEAM CLIENT
// once verify JWKS TOKEN-FILE CLIENT
// once refresh KEY KID TEAM CLIENT URL CA TOKEN   (with -DREFRESH)
//
// The least that a C program on libcrypto and libcurl does in place of one short command of siwa:
// no strict parser, no check of the key, no hint. It ends with 1 when something fails.
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef REFRESH
#include <curl/curl.h>
#endif

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

static size_t encode(char *text, const unsigned char *bytes, size_t count) {
    char *end = text;
    unsigned bits = 0, held = 0;
    for (size_t i = 0; i < count; i++) {
        held = held << 8 | bytes[i];
        for (bits += 8; bits >= 6; bits -= 6) *end++ = digits[held >> (bits - 6) & 63];
    }
    if (bits) *end++ = digits[held << (6 - bits) & 63];
    return end - text;
}

static int decode(unsigned char *bytes, const char *text, size_t count) {
    unsigned char *end = bytes;
    unsigned bits = 0, held = 0;
    for (size_t i = 0; i < count; i++) {
        const char *digit = memchr(digits, text[i], 64);
        if (!digit) return -1;
        held = held << 6 | (unsigned)(digit - digits);
        if ((bits += 6) >= 8) *end++ = held >> (bits -= 8);
    }
    return end - bytes;
}

// The text of a string member, and its length; NULL when there is none.
static const char *member(const char *json, const char *name, size_t *count) {
    char wanted[64];
    snprintf(wanted, sizeof wanted, "\"%s\"", name);
    const char *found = strstr(json, wanted);
    if (!found) return NULL;
    found += strlen(wanted);
    found += strspn(found, " :");
    if (*found++ != '"') return NULL;
    *count = strcspn(found, "\"");
    return found;
}

static char *contents(const char *path) {
    FILE *file = fopen(path, "r");
    char *text = calloc(1, 1 << 16);
    if (!file || !text || !fread(text, 1, (1 << 16) - 1, file)) exit(1);
    fclose(file);
    return text;
}

static size_t mint(char *token, char **arguments) {
    FILE *file = fopen(arguments[0], "r");
    EVP_PKEY *key = file ? PEM_read_PrivateKey(file, NULL, NULL, NULL) : NULL;
    char json[512];
    time_t now = time(NULL);
    int length = snprintf(json, sizeof json, "{\"alg\":\"ES256\",\"kid\":\"%s\"}", arguments[1]);
    size_t count = encode(token, (unsigned char *)json, length);
    token[count++] = '.';
    length = snprintf(
        json, sizeof json,
        "{\"iss\":\"%s\",\"iat\":%ld,\"exp\":%ld,\"aud\":\"https://appleid.apple.com\",\"sub\":\"%s\"}",
        arguments[2], (long)now, (long)now + 300, arguments[3]);
    count += encode(token + count, (unsigned char *)json, length);
    unsigned char der[128], raw[64];
    size_t size = sizeof der;
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    if (!key || EVP_DigestSignInit(context, NULL, EVP_sha256(), NULL, key) != 1
        || EVP_DigestSign(context, der, &size, (unsigned char *)token, count) != 1)
        exit(1);
    const unsigned char *cursor = der;
    ECDSA_SIG *signature = d2i_ECDSA_SIG(NULL, &cursor, size);
    if (!signature || BN_bn2binpad(ECDSA_SIG_get0_r(signature), raw, 32) != 32
        || BN_bn2binpad(ECDSA_SIG_get0_s(signature), raw + 32, 32) != 32)
        exit(1);
    token[count++] = '.';
    count += encode(token + count, raw, 64);
    token[count] = 0;
    return count;
}

static EVP_PKEY *publicKey(const char *keys, const char *id, size_t idCount) {
    char wanted[256];
    snprintf(wanted, sizeof wanted, "\"%.*s\"", (int)idCount, id);
    const char *found = strstr(keys, wanted);
    if (!found) exit(1);
    while (*found != '{') found--;
    size_t modulusCount, exponentCount;
    const char *modulus = member(found, "n", &modulusCount);
    const char *exponent = member(found, "e", &exponentCount);
    unsigned char n[1024], e[16];
    if (!modulus || !exponent || modulusCount > 1024 || exponentCount > 16) exit(1);
    int nCount = decode(n, modulus, modulusCount), eCount = decode(e, exponent, exponentCount);
    OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
    OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_N, BN_bin2bn(n, nCount, NULL));
    OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_E, BN_bin2bn(e, eCount, NULL));
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, "RSA", NULL);
    EVP_PKEY *key = NULL;
    if (EVP_PKEY_fromdata_init(context) != 1
        || EVP_PKEY_fromdata(
               context, &key, EVP_PKEY_PUBLIC_KEY, OSSL_PARAM_BLD_to_param(builder)) != 1)
        exit(1);
    return key;
}

static int verify(char **arguments) {
    char *keys = contents(arguments[0]), *token = contents(arguments[1]);
    token[strcspn(token, "\n")] = 0;
    char *first = strchr(token, '.'), *second = first ? strchr(first + 1, '.') : NULL;
    if (!second || strlen(token) > 4096) return 1;
    char header[4096] = "", claims[4096] = "";
    unsigned char signature[4096];
    int size = decode(signature, second + 1, strlen(second + 1));
    if (decode((unsigned char *)header, token, first - token) < 0 || size < 0
        || decode((unsigned char *)claims, first + 1, second - first - 1) < 0)
        return 1;
    size_t idCount, count;
    const char *id = member(header, "kid", &idCount);
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    if (!id
        || EVP_DigestVerifyInit(
               context, NULL, EVP_sha256(), NULL, publicKey(keys, id, idCount)) != 1
        || EVP_DigestVerify(
               context, signature, size, (unsigned char *)token, second - token) != 1)
        return 1;
    const char *audience = member(claims, "aud", &count), *expiry = strstr(claims, "\"exp\":");
    if (!audience || count != strlen(arguments[2]) || memcmp(audience, arguments[2], count)
        || !expiry || atol(expiry + 6) < time(NULL))
        return 1;
    puts(claims);
    return 0;
}

#ifdef REFRESH
static int refresh(char **arguments) {
    char secret[1024], form[2048];
    mint(secret, arguments);
    snprintf(
        form, sizeof form,
        "client_id=%s&client_secret=%s&grant_type=refresh_token&refresh_token=%s", arguments[3],
        secret, arguments[6]);
    CURL *request = curl_easy_init();
    curl_easy_setopt(request, CURLOPT_URL, arguments[4]);
    curl_easy_setopt(request, CURLOPT_CAINFO, arguments[5]);
    curl_easy_setopt(request, CURLOPT_CAPATH, "/etc/ssl/certs");
    curl_easy_setopt(request, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(request, CURLOPT_FAILONERROR, 1L);
    curl_easy_setopt(request, CURLOPT_POSTFIELDS, form);
    return curl_easy_perform(request) == CURLE_OK ? 0 : 1;
}
#endif

int main(int count, char **arguments) {
    if (count == 6 && !strcmp(arguments[1], "mint")) {
        char token[1024];
        mint(token, arguments + 2);
        puts(token);
        return 0;
    }
    if (count == 5 && !strcmp(arguments[1], "verify")) return verify(arguments + 2);
#ifdef REFRESH
    if (count == 9 && !strcmp(arguments[1], "refresh")) return refresh(arguments + 2);
#endif
    fprintf(stderr, "usage: once mint|verify|refresh ...\n");
    return 2;
}
