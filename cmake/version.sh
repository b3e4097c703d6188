# print_version TOOL: "TOOL MAJOR.MINOR.PATCH", as the programs answer --version. Sourced with $root = top of the source tree.
print_version()
{
    printf '%s %s\n' "$1" "$(sed -n 's/^#define SCHEDQ_VERSION_[A-Z]* *\([0-9]*\).*/\1/p' "$root/include/schedq/base.h" | paste -sd.)"
}
