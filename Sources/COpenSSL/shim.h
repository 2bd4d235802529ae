// OpenSSL 3: only what SIWACrypto uses, and a typed spelling of the macros Swift cannot import.
#pragma once

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

/// EVP_PKEY_KEYPAIR, a macro of casts.
static inline int siwa_selection_keypair(void) { return EVP_PKEY_KEYPAIR; }

/// EVP_PKEY_PUBLIC_KEY, a macro of casts.
static inline int siwa_selection_public_key(void) { return EVP_PKEY_PUBLIC_KEY; }

/// BIO_get_mem_data is a variadic macro; returns the length and lends the bytes.
static inline long siwa_bio_bytes(BIO *bio, char **bytes) { return BIO_get_mem_data(bio, bytes); }

/// EVP_EC_gen and EVP_RSA_gen are macros around a variadic function.
static inline EVP_PKEY *siwa_generate_p256(void) { return EVP_EC_gen("P-256"); }
static inline EVP_PKEY *siwa_generate_rsa(unsigned int bits) { return EVP_RSA_gen(bits); }

// OSSL_PARAM_BLD keeps the pointers to names it is given: as macros, Swift would lend it
// temporary copies. String literals live for ever.
static const char *const siwa_name_group = OSSL_PKEY_PARAM_GROUP_NAME;
static const char *const siwa_name_public = OSSL_PKEY_PARAM_PUB_KEY;
static const char *const siwa_name_private = OSSL_PKEY_PARAM_PRIV_KEY;
static const char *const siwa_name_modulus = OSSL_PKEY_PARAM_RSA_N;
static const char *const siwa_name_exponent = OSSL_PKEY_PARAM_RSA_E;
static const char *const siwa_curve_p256 = "prime256v1";

/// X509_gmtime_adj counts from now; certificates here are dated by their maker.
static inline int siwa_set_validity(X509 *certificate, long from, long to) {
    return ASN1_TIME_set(X509_getm_notBefore(certificate), from) != NULL
        && ASN1_TIME_set(X509_getm_notAfter(certificate), to) != NULL;
}

/// Adds one extension by OpenSSL's configuration syntax, such as "critical,CA:TRUE".
static inline int siwa_add_extension(X509 *certificate, X509 *issuer, int nid, const char *value) {
    X509V3_CTX context;
    X509V3_set_ctx(&context, issuer, certificate, NULL, NULL, 0);
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, nid, value);
    if (extension == NULL) return 0;
    int added = X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
    return added;
}
