# cmake -DFROM=a.js -DTO=b.js -P packed_script.cmake: the script without lines of comments and
# without the indentation of its lines, for a page that has to be small.
file(READ "${FROM}" text)
set(text "\n${text}")
string(REGEX REPLACE "\n[ \t]+" "\n" text "${text}")
string(REGEX REPLACE "\n//[^\n]*" "" text "${text}")
string(REGEX REPLACE "^\n+" "" text "${text}")
file(WRITE "${TO}" "${text}")
