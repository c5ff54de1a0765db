/* Vector loads of words that other threads write: where they may be used, and how far ahead lines are fetched. */
#pragma once

/* ThreadSanitizer and the model do not see that a vector load is made of whole words. */
#if defined(__x86_64__) && !defined(LF_MODEL) && !defined(__SANITIZE_THREAD__)
#if defined(__has_feature)
#if !__has_feature(thread_sanitizer)
#define WIDE 1
#endif
#else
#define WIDE 1
#endif
#endif

#ifdef WIDE
#include <immintrin.h>
#endif

/* Lines fetched ahead: as many as a core has on their way at one time. 32 are slower. */
#define WIDE_GROUP 16
