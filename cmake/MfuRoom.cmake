# mfu_room(NAME name [HOT] [KNOWS rooms...] [USES libraries...])
# One object library a room, of all sources in the room's folder and the folders below it. KNOWS are
# the rooms whose headers this one may include; a test (tests/layering.py) reads the include lines and
# holds every room to the list in that test. HOT: it reads bulk data, and is optimised further.
function(mfu_room)
  cmake_parse_arguments(ROOM "HOT" "NAME" "KNOWS;USES" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  add_library(mfu_${ROOM_NAME} OBJECT ${sources})
  target_include_directories(mfu_${ROOM_NAME}
    PUBLIC ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(mfu_${ROOM_NAME} PRIVATE mfu_flags)
  foreach(room ${ROOM_KNOWS})
    target_link_libraries(mfu_${ROOM_NAME} PUBLIC mfu_${room})
  endforeach()
  target_link_libraries(mfu_${ROOM_NAME} PUBLIC ${ROOM_USES})
  mfu_unity(mfu_${ROOM_NAME})
  if(ROOM_HOT)
    target_compile_options(mfu_${ROOM_NAME} PRIVATE $<$<CONFIG:Release>:-O3>)
  endif()
  set_property(GLOBAL APPEND PROPERTY MFU_ROOMS ${ROOM_NAME})
endfunction()

# mfu_unity(target): compiles the target's sources in batches, so that headers are read and templates
# are instantiated once for many files. Names are therefore unique in a room, those of unnamed
# namespaces too. MFU_UNITY is the number of files in a batch; 1: each on its own.
function(mfu_unity target)
  if(NOT MFU_UNITY EQUAL 1)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${MFU_UNITY})
  endif()
endfunction()
