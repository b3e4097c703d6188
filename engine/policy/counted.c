/* The calls of counted.h. */
#include "policy/counted.h"

#include "platform/inside.h"

void
config_retain(const schedq_config_t *config, uint64_t object)
{
    inside_calls(CALLBACK_RETAIN);
    config->retain(config->object_ctx, object);
    inside_calls(CALLBACK_NONE);
}

void
config_release(const schedq_config_t *config, uint64_t object)
{
    inside_calls(CALLBACK_RELEASE);
    config->release(config->object_ctx, object);
    inside_calls(CALLBACK_NONE);
}
