/* Certificates made for this run of a test, by tests/support/pki. */
#pragma once

/* Makes them in a new directory, which goes when the program ends. Skips the test where there is no
 * openssl. */
void pki_create(void);
/* Path of a file in there. Static storage, good until the call after the next. */
const char *pki_path(const char *name);
