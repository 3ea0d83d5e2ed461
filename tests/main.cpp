// The main of the test executables with Catch2 v2. Version 3 brings its own as a library, and
// tests/CMakeLists.txt leaves this file out then.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
