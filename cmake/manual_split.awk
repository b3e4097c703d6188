# Of a header's page that Doxygen made, NAME.h.3, a page for each function, type of a function and enumeration that the header
# declares: awk -f manual_split.awk -v into=DIRECTORY schedq_NAME.h.3
#
# Doxygen gives these names links to the header's page, and to no page at all if an enumeration's values have no words. What the header's
# page lists gives the declaration and the sentence; what it has under "... Documentation" gives the rest.

# What is declared, from a line of the list: `\fBNAME\fP (`, `\fBNAME\fP) (`, `enum \fBNAME\fP {`, or `\fBNAME\fP` at the end.
function declared(line,    name)
{
    if (match(line, /\\fBschedq_[a-z0-9_]+\\fP\)? \(/) || match(line, /enum \\fBschedq_[a-z0-9_]+\\fP \{/) ||
        match(line, /^\.RI "typedef .*\\fBschedq_[a-z0-9_]+\\fP"$/)) {
        name = substr(line, RSTART, RLENGTH)
        sub(/.*\\fB/, "", name)
        sub(/\\fP.*/, "", name)
        return name
    }
    return ""
}

# The same, from the head of a section, where the name of a function is plain.
function headed(line,    name)
{
    name = line
    if (match(line, /enum \\fBschedq_[a-z0-9_]+\\fP/)) {
        name = substr(line, RSTART + 8, RLENGTH - 11)
    } else if (match(line, /schedq_[a-z0-9_]+\)? \(/)) {
        name = substr(line, RSTART, RLENGTH)
        sub(/\)? \($/, "", name)
    } else {
        return ""
    }
    return name
}

FNR == 1 {
    header = FILENAME
    sub(/.*\//, "", header)
    sub(/\.3$/, "", header)
    file = header
    sub(/^schedq_/, "", file)
}
/^\.SH "/ {
    documents = /Documentation"$/
    of = ""
}
!documents && /^\.RI / {
    if (previous == ".br" && listed != "") {
        sentence[listed] = $0
        sub(/^\.RI "/, "", sentence[listed])
        sub(/ *"$/, "", sentence[listed])
        listed = ""
    } else if ((listed = declared($0)) != "") {
        names[++count] = listed
        declaration[listed] = $0
    }
}
documents && /^\.SS / {
    of = headed($0)
    next
}
documents && of != "" { body[of] = body[of] $0 "\n" }
{ previous = $0 }

END {
    for (i = 1; i <= count; i++) {
        name = names[i]
        page = into "/" name ".3"
        text = ".TH \"" name "\" 3 \"\" \"schedq\"\n.ad l\n.nh\n.SH NAME\n" name " \\- " sentence[name] "\n"
        text = text ".SH SYNOPSIS\n\\fC#include <schedq/" file ">\\fP\n.PP\n" declaration[name] "\n.SH DESCRIPTION\n"
        text = text (body[name] != "" ? body[name] : sentence[name] "\n")
        printf "%s", text ".SH SEE ALSO\n\\fB" header "\\fP(3), \\fBschedq\\fP(7)\n" > page
        close(page)
    }
}
