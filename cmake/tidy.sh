#!/usr/bin/env bash
# Runs clang-tidy, with the checks of .clang-tidy, over src and apps: cmake/tidy.sh BUILD_DIR
exec python3 "$(dirname "$0")/tidy.py" "$@"
