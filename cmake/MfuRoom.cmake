# mfu_room(NAME name SOURCES ... KNOWS rooms... [USES libraries...])
# One object library a room. KNOWS are the rooms whose headers this one may include; a test
# (tests/layering.py) reads the include lines and holds every room to the list in that test.
function(mfu_room)
  cmake_parse_arguments(ROOM "" "NAME" "SOURCES;KNOWS;USES" ${ARGN})
  add_library(mfu_${ROOM_NAME} OBJECT ${ROOM_SOURCES})
  target_include_directories(mfu_${ROOM_NAME}
    PUBLIC ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(mfu_${ROOM_NAME} PRIVATE mfu_flags)
  foreach(room ${ROOM_KNOWS})
    target_link_libraries(mfu_${ROOM_NAME} PUBLIC mfu_${room})
  endforeach()
  target_link_libraries(mfu_${ROOM_NAME} PUBLIC ${ROOM_USES})
  set_property(GLOBAL APPEND PROPERTY MFU_ROOMS ${ROOM_NAME})
endfunction()
