# A release is optimised as far as it pays, room by room (mfu_room's OPTIMISE): -O3 where bulk data is
# read, -O1 where words are made, which costs half of -O2's build and no time that anybody could feel.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")

add_library(mfu_flags INTERFACE)
target_compile_options(mfu_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast
  -Wnon-virtual-dtor -Woverloaded-virtual -Wnull-dereference -Wdouble-promotion)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # gcc 12 reports null dereferences inside its own std::vector and std::string when it inlines.
  # It also takes "text" + string for an overlapping copy (gcc bug 105651).
  target_compile_options(mfu_flags INTERFACE -Wno-null-dereference -Wno-restrict)
endif()
# Products and sums must come out the same on every machine: no contraction into fused operations.
target_compile_options(mfu_flags INTERFACE -ffp-contract=off)
if(MFU_WERROR)
  target_compile_options(mfu_flags INTERFACE -Werror)
endif()
if(MFU_SANITIZE)
  target_compile_options(mfu_flags INTERFACE
    -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
  # At a fixed address: a sanitized program has over a million places to relocate, at every start, and
  # the tests start it thousands of times.
  target_link_options(mfu_flags INTERFACE -fsanitize=address,undefined -no-pie)
endif()
