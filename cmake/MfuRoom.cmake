# mfu_room(NAME name [OPTIMISE level] [KNOWS rooms...] [USES libraries...])
# One object library a room, of all sources in the room's folder and the folders below it. KNOWS are
# the rooms whose headers this one may include; a test (tests/layering.py) reads the include lines and
# holds every room to the list in that test. OPTIMISE: of a release, where it is not 2.
function(mfu_room)
  cmake_parse_arguments(ROOM "" "NAME;OPTIMISE" "KNOWS;USES" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  add_library(mfu_${ROOM_NAME} OBJECT ${sources})
  target_include_directories(mfu_${ROOM_NAME}
    PUBLIC ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(mfu_${ROOM_NAME} PRIVATE mfu_flags)
  foreach(room ${ROOM_KNOWS})
    target_link_libraries(mfu_${ROOM_NAME} PUBLIC mfu_${room})
  endforeach()
  target_link_libraries(mfu_${ROOM_NAME} PUBLIC ${ROOM_USES})
  mfu_compile(mfu_${ROOM_NAME} "${ROOM_OPTIMISE}")
  set_property(GLOBAL APPEND PROPERTY MFU_ROOMS ${ROOM_NAME})
endfunction()

# mfu_compile(target level): how a room's or the program's sources are compiled. In batches of
# MFU_UNITY files (0: all of the room), so that headers are read and templates are instantiated once
# for many files; names are therefore unique in a room, those of unnamed namespaces too.
function(mfu_compile target level)
  if(NOT MFU_UNITY EQUAL 1)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${MFU_UNITY})
  endif()
  if(level)
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O${level}>)
  endif()
endfunction()
