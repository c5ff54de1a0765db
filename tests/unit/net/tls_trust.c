#include "net/tls_trust.h"

#include <stdlib.h>
#include <unistd.h>

#include "tests/support/check.h"
#include "tests/support/pki.h"

static char message[256];

/* A bundle in the test's directory, of these files one after another, the last `cut` bytes left out. */
static const char *bundle_of(const char *const *names, size_t cut)
{
    FILE *file = fopen(pki_path("bundle.pem"), "wb");
    CHECK(file);
    for (; *names; names++) {
        size_t len;
        char *text = check_read_file(pki_path(*names), &len);
        CHECK(fwrite(text, 1, len, file) == len);
        free(text);
    }
    CHECK(fflush(file) == 0);
    long len = ftell(file);
    CHECK(ftruncate(fileno(file), len - (long)cut) == 0);
    fclose(file);
    return pki_path("bundle.pem");
}

TEST(reads_a_bundle)
{
    pki_create();
    struct tls_trust *trust =
        tls_trust_create(bundle_of((const char *const[]){"ca.pem", "other-ca.pem", "rsa.pem", NULL}, 0),
                         message, sizeof message);
    CHECK(trust);
    CHECK_INT(tls_trust_count(trust), 3);
    CHECK_INT(tls_trust_skipped(trust), 0);
    tls_trust_destroy(trust);
}

TEST(keys_in_the_bundle_are_passed_over)
{
    pki_create();
    struct tls_trust *trust = tls_trust_create(bundle_of((const char *const[]){"ca.key", "ca.pem", NULL}, 0),
                                               message, sizeof message);
    CHECK(trust);
    CHECK_INT(tls_trust_count(trust), 1);
    tls_trust_destroy(trust);
}

TEST(the_last_line_may_lack_its_end)
{
    pki_create();
    struct tls_trust *trust =
        tls_trust_create(bundle_of((const char *const[]){"ca.pem", NULL}, 1), message, sizeof message);
    CHECK(trust);
    CHECK_INT(tls_trust_count(trust), 1);
    tls_trust_destroy(trust);
}

TEST(a_cut_certificate_is_skipped)
{
    pki_create();
    struct tls_trust *trust = tls_trust_create(
        bundle_of((const char *const[]){"other-ca.pem", "ca.pem", NULL}, 100), message, sizeof message);
    CHECK(trust);
    CHECK_INT(tls_trust_count(trust), 1);
    CHECK_INT(tls_trust_skipped(trust), 1);
    tls_trust_destroy(trust);
}

TEST(what_cannot_be_used_is_said_in_one_line)
{
    pki_create();
    CHECK(!tls_trust_create(pki_path("absent.pem"), message, sizeof message));
    CHECK(strstr(message, "absent.pem") && strstr(message, "No such file"));
    CHECK(!tls_trust_create(pki_path("ca.key"), message, sizeof message));
    CHECK(strstr(message, "holds no certificate"));
    CHECK(!tls_trust_create("/", message, sizeof message));
    CHECK(strstr(message, "cannot be read"));
    CHECK(!strchr(message, '\n'));
}

TEST(reads_the_systems_bundle)
{
    if (access("/etc/ssl/certs/ca-certificates.crt", R_OK) != 0)
        SKIP("no CA bundle on this system");
    struct tls_trust *trust = tls_trust_create(NULL, message, sizeof message);
    CHECK(trust);
    CHECK(tls_trust_count(trust) > 50);
    CHECK_INT(tls_trust_skipped(trust), 0);
    tls_trust_destroy(trust);
}
