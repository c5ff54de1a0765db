/* Loaded before a program (LD_PRELOAD): to it the machine has been started again.
 *
 *   BOOT_ID_FILE   what is in it is the id of this boot */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

FILE *fopen(const char *path, const char *mode)
{
    static FILE *(*next)(const char *, const char *);
    const char *file = getenv("BOOT_ID_FILE");
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "fopen");
    return next(file && strcmp(path, "/proc/sys/kernel/random/boot_id") == 0 ? file : path, mode);
}
