# SPDX-License-Identifier: BSL-1.0
#
# Compiles SOURCE with COMPILER and FLAGS. It has to succeed, unless the source has a line
#     // must not compile: REGEX
# Then it has to fail, with a message that matches in its first lines. VERDICT=wrong: the compiler is on
# record for getting this one wrong, so the opposite is expected, and hearing of a change is the point. What
# the compiler says is left in RECORD.
file(STRINGS ${SOURCE} marks REGEX "^// must not compile: ")
string(REPLACE "// must not compile: " "" expected "${marks}")
execute_process(
    COMMAND ${COMPILER} -std=c++20 -Wall -Wextra -Wshadow -Werror
        ${FLAGS} -I${INCLUDE} -fsyntax-only ${SOURCE}
    RESULT_VARIABLE result OUTPUT_VARIABLE said ERROR_VARIABLE said)

file(WRITE ${RECORD} "${said}")
string(SUBSTRING "${said}" 0 5000 first_lines)

set(found wrong)
if(marks AND NOT result EQUAL 0 OR NOT marks AND result EQUAL 0)
    set(found right)
endif()

if(NOT found STREQUAL VERDICT)
    message(FATAL_ERROR "expected the compiler to be ${VERDICT}, but it is ${found}\n${said}")
elseif(marks AND found STREQUAL "right" AND NOT first_lines MATCHES "${expected}")
    message(FATAL_ERROR "it fails, but its message does not match '${expected}'\n${said}")
endif()
