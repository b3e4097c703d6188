# cmake -DREADME=FILE -DEXAMPLE=FILE -P check_readme.cmake: README must show EXAMPLE, to the letter, in a block of C.
file(READ ${README} readme)
file(READ ${EXAMPLE} example)
string(FIND "${readme}" "```c\n${example}```\n" found)
if(found EQUAL -1)
    message(FATAL_ERROR "${README} does not show ${EXAMPLE} as it is")
endif()
