/* Loaded before a program (LD_PRELOAD): somebody sets its wall clock.
 *
 *   CLOCK_STEP_S      so many seconds are added to it, or taken away,
 *   CLOCK_STEP_FILE   from the moment on at which this file exists */
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *time)
{
    static int (*next)(clockid_t, struct timespec *);
    const char *step = getenv("CLOCK_STEP_S"), *file = getenv("CLOCK_STEP_FILE");
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "clock_gettime");
    int result = next(clock, time);
    if (clock == CLOCK_REALTIME && step && file && access(file, F_OK) == 0)
        time->tv_sec += strtol(step, NULL, 10);
    return result;
}
