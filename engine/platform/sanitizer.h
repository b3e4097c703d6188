/*
 * SCHEDQ_THREAD_SANITIZER: this build is instrumented by ThreadSanitizer.
 */
#ifndef SCHEDQ_PLATFORM_SANITIZER_H
#define SCHEDQ_PLATFORM_SANITIZER_H

#if defined(__SANITIZE_THREAD__)
#define SCHEDQ_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SCHEDQ_THREAD_SANITIZER 1
#endif
#endif

#endif
