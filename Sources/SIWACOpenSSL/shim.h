// OpenSSL 3's libcrypto, loaded when it is first used: linked, it would cost every run as much as
// the rest of a short command. The module map has no `link` for the same reason
// (docs/decisions/linking.md). Only what SIWACrypto uses, and a typed spelling of the macros Swift
// cannot import.
#pragma once

#if !__has_include(<openssl/core_names.h>)
#error "OpenSSL 3's headers are missing: install libssl-dev"
#endif

#include "../DynamicLibrary.h"
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

/// The functions that SIWACrypto calls.
#define SIWA_OPENSSL_FUNCTIONS(FUNCTION) \
    FUNCTION(ASN1_TIME_set) \
    FUNCTION(BIO_ctrl) \
    FUNCTION(BIO_free_all) \
    FUNCTION(BIO_new) \
    FUNCTION(BIO_s_mem) \
    FUNCTION(BIO_s_secmem) \
    FUNCTION(BIO_write) \
    FUNCTION(BN_bin2bn) \
    FUNCTION(BN_bn2bin) \
    FUNCTION(BN_bn2binpad) \
    FUNCTION(BN_clear_free) \
    FUNCTION(BN_num_bits) \
    FUNCTION(BN_secure_new) \
    FUNCTION(BN_set_flags) \
    FUNCTION(BN_to_ASN1_INTEGER) \
    FUNCTION(ECDSA_SIG_free) \
    FUNCTION(ECDSA_SIG_get0_r) \
    FUNCTION(ECDSA_SIG_get0_s) \
    FUNCTION(ECDSA_SIG_new) \
    FUNCTION(ECDSA_SIG_set0) \
    FUNCTION(ERR_clear_error) \
    FUNCTION(ERR_get_error) \
    FUNCTION(ERR_reason_error_string) \
    FUNCTION(EVP_CIPHER_CTX_ctrl) \
    FUNCTION(EVP_CIPHER_CTX_free) \
    FUNCTION(EVP_CIPHER_CTX_new) \
    FUNCTION(EVP_CIPHER_fetch) \
    FUNCTION(EVP_CIPHER_free) \
    FUNCTION(EVP_CipherFinal_ex) \
    FUNCTION(EVP_CipherInit_ex2) \
    FUNCTION(EVP_CipherUpdate) \
    FUNCTION(EVP_DigestFinal_ex) \
    FUNCTION(EVP_DigestInit_ex2) \
    FUNCTION(EVP_DigestSign) \
    FUNCTION(EVP_DigestSignInit) \
    FUNCTION(EVP_DigestUpdate) \
    FUNCTION(EVP_DigestVerify) \
    FUNCTION(EVP_DigestVerifyInit) \
    FUNCTION(EVP_MD_CTX_copy_ex) \
    FUNCTION(EVP_MD_CTX_free) \
    FUNCTION(EVP_MD_CTX_new) \
    FUNCTION(EVP_MD_fetch) \
    FUNCTION(EVP_MD_free) \
    FUNCTION(EVP_PKEY_CTX_free) \
    FUNCTION(EVP_PKEY_CTX_new_from_name) \
    FUNCTION(EVP_PKEY_CTX_new_from_pkey) \
    FUNCTION(EVP_PKEY_CTX_set_params) \
    FUNCTION(EVP_PKEY_CTX_set_rsa_padding) \
    FUNCTION(EVP_PKEY_CTX_set_signature_md) \
    FUNCTION(EVP_PKEY_Q_keygen) \
    FUNCTION(EVP_Q_mac) \
    FUNCTION(EVP_PKEY_free) \
    FUNCTION(EVP_PKEY_fromdata) \
    FUNCTION(EVP_PKEY_fromdata_init) \
    FUNCTION(EVP_PKEY_generate) \
    FUNCTION(EVP_PKEY_get0_type_name) \
    FUNCTION(EVP_PKEY_up_ref) \
    FUNCTION(EVP_PKEY_get_bits) \
    FUNCTION(EVP_PKEY_get_bn_param) \
    FUNCTION(EVP_PKEY_get_group_name) \
    FUNCTION(EVP_PKEY_get_size) \
    FUNCTION(EVP_PKEY_is_a) \
    FUNCTION(EVP_PKEY_keygen_init) \
    FUNCTION(EVP_PKEY_pairwise_check) \
    FUNCTION(EVP_PKEY_sign) \
    FUNCTION(EVP_PKEY_sign_init) \
    FUNCTION(EVP_PKEY_verify) \
    FUNCTION(EVP_PKEY_verify_init) \
    FUNCTION(EVP_sha256) \
    FUNCTION(OPENSSL_init_crypto) \
    FUNCTION(OPENSSL_sk_num) \
    FUNCTION(OPENSSL_sk_value) \
    FUNCTION(OSSL_PARAM_BLD_free) \
    FUNCTION(OSSL_PARAM_BLD_new) \
    FUNCTION(OSSL_PARAM_BLD_push_BN) \
    FUNCTION(OSSL_PARAM_BLD_push_octet_string) \
    FUNCTION(OSSL_PARAM_BLD_push_utf8_string) \
    FUNCTION(OSSL_PARAM_BLD_to_param) \
    FUNCTION(OSSL_PARAM_free) \
    FUNCTION(PEM_read_bio_X509) \
    FUNCTION(PEM_write_bio_PKCS8PrivateKey) \
    FUNCTION(PEM_write_bio_PUBKEY) \
    FUNCTION(PEM_write_bio_X509) \
    FUNCTION(RAND_bytes) \
    FUNCTION(X509V3_EXT_conf_nid) \
    FUNCTION(X509V3_set_ctx) \
    FUNCTION(X509_EXTENSION_free) \
    FUNCTION(X509_NAME_add_entry_by_NID) \
    FUNCTION(X509_NAME_cmp) \
    FUNCTION(X509_NAME_get_text_by_NID) \
    FUNCTION(X509_NAME_oneline) \
    FUNCTION(X509_STORE_CTX_free) \
    FUNCTION(X509_STORE_CTX_get0_chain) \
    FUNCTION(X509_STORE_CTX_get0_param) \
    FUNCTION(X509_STORE_CTX_get_current_cert) \
    FUNCTION(X509_STORE_CTX_get_error) \
    FUNCTION(X509_STORE_CTX_init) \
    FUNCTION(X509_STORE_CTX_new) \
    FUNCTION(X509_STORE_CTX_set_default) \
    FUNCTION(X509_STORE_free) \
    FUNCTION(X509_STORE_load_file) \
    FUNCTION(X509_STORE_load_path) \
    FUNCTION(X509_STORE_new) \
    FUNCTION(X509_VERIFY_PARAM_set1_host) \
    FUNCTION(X509_VERIFY_PARAM_set1_ip_asc) \
    FUNCTION(X509_add_ext) \
    FUNCTION(X509_cmp_time) \
    FUNCTION(X509_free) \
    FUNCTION(X509_get0_notAfter) \
    FUNCTION(X509_get0_notBefore) \
    FUNCTION(X509_get_ext_by_NID) \
    FUNCTION(X509_get_issuer_name) \
    FUNCTION(X509_get_serialNumber) \
    FUNCTION(X509_get_subject_name) \
    FUNCTION(X509_getm_notAfter) \
    FUNCTION(X509_getm_notBefore) \
    FUNCTION(X509_new) \
    FUNCTION(X509_self_signed) \
    FUNCTION(X509_set_issuer_name) \
    FUNCTION(X509_set_pubkey) \
    FUNCTION(X509_set_version) \
    FUNCTION(X509_sign) \
    FUNCTION(X509_verify_cert) \
    FUNCTION(X509_verify_cert_error_string) \
    FUNCTION(d2i_AutoPrivateKey) \
    FUNCTION(d2i_ECDSA_SIG) \
    FUNCTION(d2i_PUBKEY) \
    FUNCTION(i2d_ECDSA_SIG) \
    FUNCTION(i2d_PUBKEY)

SIWA_DYNAMIC_LIBRARY(siwa_openssl, "libcrypto.so.3", SIWA_OPENSSL_FUNCTIONS)

/// The functions of libssl that SIWACrypto calls: libcurl speaks TLS, and lends its sessions.
#define SIWA_OPENSSL_TLS_FUNCTIONS(FUNCTION) \
    FUNCTION(SSL_CIPHER_get_kx_nid) \
    FUNCTION(SSL_CIPHER_get_name) \
    FUNCTION(SSL_get_current_cipher) \
    FUNCTION(SSL_get_peer_cert_chain) \
    FUNCTION(SSL_get_version)

SIWA_DYNAMIC_LIBRARY(siwa_openssl_tls, "libssl.so.3", SIWA_OPENSSL_TLS_FUNCTIONS)

/// The functions of libcrypto for signatures that are the same at every run, which only test data
/// needs: other runs do not look them up.
#define SIWA_OPENSSL_ARITHMETIC_FUNCTIONS(FUNCTION) \
    FUNCTION(BN_CTX_free) \
    FUNCTION(BN_CTX_new) \
    FUNCTION(BN_mod_add_quick) \
    FUNCTION(BN_mod_inverse) \
    FUNCTION(BN_mod_mul) \
    FUNCTION(BN_new) \
    FUNCTION(BN_nnmod) \
    FUNCTION(BN_ucmp) \
    FUNCTION(EC_GROUP_free) \
    FUNCTION(EC_GROUP_get0_order) \
    FUNCTION(EC_GROUP_new_by_curve_name) \
    FUNCTION(EC_POINT_free) \
    FUNCTION(EC_POINT_get_affine_coordinates) \
    FUNCTION(EC_POINT_mul) \
    FUNCTION(EC_POINT_new) \
    FUNCTION(EVP_PKEY_encrypt) \
    FUNCTION(EVP_PKEY_encrypt_init) \
    FUNCTION(EVP_Q_digest)

SIWA_DYNAMIC_LIBRARY(
    siwa_openssl_arithmetic, "libcrypto.so.3", SIWA_OPENSSL_ARITHMETIC_FUNCTIONS)

/// EVP_PKEY_KEYPAIR, a macro of casts.
static inline int siwa_selection_keypair(void) { return EVP_PKEY_KEYPAIR; }

/// EVP_PKEY_PUBLIC_KEY, a macro of casts.
static inline int siwa_selection_public_key(void) { return EVP_PKEY_PUBLIC_KEY; }

// EVP_EC_gen and EVP_RSA_gen are macros around a variadic function.

static inline EVP_PKEY *siwa_generate_p256(siwa_openssl openssl) {
    return openssl.functions->EVP_PKEY_Q_keygen(NULL, NULL, "EC", "P-256");
}

/// Three primes (RFC 8017, section 3.2), which OpenSSL 3.0 finds in a quarter of the time that it needs
/// for two; the public key is like any other. Two where the site's policy forbids three.
static inline EVP_PKEY *siwa_generate_rsa(siwa_openssl openssl, size_t bits) {
    size_t primes = 3;
    OSSL_PARAM settings[] = {
        OSSL_PARAM_size_t(OSSL_PKEY_PARAM_RSA_BITS, &bits),
        OSSL_PARAM_size_t(OSSL_PKEY_PARAM_RSA_PRIMES, &primes),
        OSSL_PARAM_END,
    };
    EVP_PKEY *key = NULL;
    EVP_PKEY_CTX *context = openssl.functions->EVP_PKEY_CTX_new_from_name(NULL, "RSA", NULL);
    if (context != NULL && openssl.functions->EVP_PKEY_keygen_init(context) == 1
        && openssl.functions->EVP_PKEY_CTX_set_params(context, settings) == 1) {
        openssl.functions->EVP_PKEY_generate(context, &key);
    }
    openssl.functions->EVP_PKEY_CTX_free(context);
    if (key != NULL) return key;
    openssl.functions->ERR_clear_error();
    return openssl.functions->EVP_PKEY_Q_keygen(NULL, NULL, "RSA", bits);
}

// OSSL_PARAM_BLD keeps the pointers to names it is given: as macros, Swift would lend it
// temporary copies. String literals live for ever.
static const char *const siwa_name_group = OSSL_PKEY_PARAM_GROUP_NAME;
static const char *const siwa_name_public = OSSL_PKEY_PARAM_PUB_KEY;
static const char *const siwa_name_private = OSSL_PKEY_PARAM_PRIV_KEY;
static const char *const siwa_name_modulus = OSSL_PKEY_PARAM_RSA_N;
static const char *const siwa_name_exponent = OSSL_PKEY_PARAM_RSA_E;
static const char *const siwa_curve_p256 = "prime256v1";

/// X509_gmtime_adj counts from now; certificates here are dated by their maker.
static inline int siwa_set_validity(
    siwa_openssl openssl, X509 *certificate, long from, long to) {
    return openssl.functions->ASN1_TIME_set(openssl.functions->X509_getm_notBefore(certificate), from) != NULL
        && openssl.functions->ASN1_TIME_set(openssl.functions->X509_getm_notAfter(certificate), to) != NULL;
}

/// Adds one extension by OpenSSL's configuration syntax, such as "critical,CA:TRUE".
static inline int siwa_add_extension(
    siwa_openssl openssl, X509 *certificate, X509 *issuer, int nid, const char *value) {
    X509V3_CTX context = {0};
    openssl.functions->X509V3_set_ctx(&context, issuer, certificate, NULL, NULL, 0);
    X509_EXTENSION *extension = openssl.functions->X509V3_EXT_conf_nid(NULL, &context, nid, value);
    if (extension == NULL) return 0;
    int added = openssl.functions->X509_add_ext(certificate, extension, -1);
    openssl.functions->X509_EXTENSION_free(extension);
    return added;
}
