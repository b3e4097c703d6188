# The manual page schedq(7), of the comments at the top of public headers: awk -f manual_overview.awk base.h schedq.h OTHERS.h...
#
# schedq.h tells all but the version, which base.h has; each header is listed with what it says of itself. A paragraph that begins
# with words in capitals is a section of the page. Indented lines are tables: they stay as they are.

# Text that roff leaves alone.
function plain(text)
{
    gsub(/\\/, "\\e", text)
    gsub(/-/, "\\-", text)
    return text ~ /^[.']/ ? "\\\&" text : text
}

function fill(on)
{
    if (filled != on) {
        print on ? ".fi" : ".nf"
        filled = on
    }
}

function tell(line,    title)
{
    if (line == "") {
        fill(1)
        print ".PP"
    } else if (line ~ /^ /) {
        fill(0)
        print plain(line)
    } else {
        fill(1)
        if (begins && match(line, /^[A-Z][A-Z ]+[A-Z](\. |$)/)) {
            title = substr(line, 1, RLENGTH)
            sub(/\. $/, "", title)
            print ".SH " title
            line = substr(line, RLENGTH + 1)
        } else if (begins && match(line, /^[A-Z][A-Z]+ [a-z]/)) {
            print ".SH " substr(line, 1, RLENGTH - 2) # the sentence begins with it
        }
        if (line != "") {
            print plain(line)
        }
    }
    begins = line == ""
}

FNR == 1 {
    name = FILENAME
    sub(/.*\//, "", name)
    inside = 0
    first = 0
}
name == "base.h" && /^#define SCHEDQ_VERSION_/ { version = version (version == "" ? "" : ".") $3 }
/^\/\*\* @file/ {
    inside = first = 1
    next
}
inside && /\*\// { inside = 0 }
!inside { next }
{
    sub(/^ \* ?/, "")
}
# What a header says of itself: its first paragraph, behind its name.
first && $0 == "" { first = 0 }
first {
    about[name] = about[name] (about[name] == "" ? "" : " ") $0
}
name == "schedq.h" {
    if (first) {
        next
    }
    if (!begun) {
        begun = 1
        text = about[name]
        sub(/^schedq: /, "", text)
        sub(/\.$/, "", text)
        print ".TH schedq 7 \"\" \"schedq " version "\" \"schedq\"\n.ad l\n.nh"
        print ".SH NAME\nschedq \\- " plain(text)
        print ".SH SYNOPSIS\n.nf\n.B #include <schedq/schedq.h>\n.fi\n.PP"
        print "cc program.c $(pkg\\-config \\-\\-cflags \\-\\-libs schedq)"
        print ".SH DESCRIPTION"
        filled = begins = 1
        next
    }
    tell($0)
    next
}
name != "base.h" && !(name in listed) { listed[name] = 1; names[++count] = name }

END {
    fill(1)
    print ".SH HEADERS"
    names[0] = "base.h"
    for (i = 0; i <= count; i++) {
        text = about[names[i]]
        sub(/^schedq[\/a-z]*[:,] /, "", text)
        print ".TP\n.BR schedq_" names[i] " (3)\n" plain(text)
    }
    print ".PP\nEach function and type has a page of its own: schedq_add(3). C++ has schedq.hpp(3), with schedq_namespace(3)."
    print ".SH FILES\n/usr/share/doc/schedq: CONCEPTS.md (what waits where, and why), TUTORIAL.md, GROUPS.md, OPERATE.md and others in docs;"
    print "programs to copy in examples."
    print ".SH SEE ALSO\nschedq_schedq.h(3), schedq_pod.h(3), schedq_cycle.h(3), schedq\\-top(1), schedq\\-bench(1)"
}
