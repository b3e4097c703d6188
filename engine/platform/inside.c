/* The stack of inside.h. */
#include "platform/inside.h"

#if !defined(SCHEDQ_ATOMICS_CONTROLLED)
_Thread_local struct inside *inside_top __attribute__((tls_model("initial-exec")));
#endif
