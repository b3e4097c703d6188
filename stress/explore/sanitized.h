/*
 * Is this a build with AddressSanitizer, which has to be told of stacks, of memory, and what to
 * print at the end?
 */
#ifndef EXPLORE_SANITIZED_H
#define EXPLORE_SANITIZED_H

#if defined(__SANITIZE_ADDRESS__)
#define EXPLORE_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define EXPLORE_SANITIZED 1
#endif
#endif

#if defined(EXPLORE_SANITIZED)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

#endif
