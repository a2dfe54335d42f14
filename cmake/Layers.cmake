# SPDX-License-Identifier: BSD-3-Clause
# urakata_layer(NAME DEPENDS LAYER...): the folder's sources as one static target. A layer sees only its own headers and
# those of the layers that it depends on: each gets an include root that holds nothing but itself, so that an include
# against the table of layers in docs/design/architecture.md does not compile.
function(urakata_layer name)
  cmake_parse_arguments(LAYER "" "" "DEPENDS;LIBRARIES" ${ARGN})
  set(root ${PROJECT_BINARY_DIR}/layers/${name})
  file(MAKE_DIRECTORY ${root})
  file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR} ${root}/${name} SYMBOLIC)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp ${CMAKE_CURRENT_SOURCE_DIR}/*/*.cpp)
  list(TRANSFORM LAYER_DEPENDS PREPEND urakata_)
  if(sources)
    add_library(urakata_${name} STATIC ${sources})
    set(scope PUBLIC)
    target_link_libraries(urakata_${name} PRIVATE urakata_warnings)
  else()
    add_library(urakata_${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(urakata_${name} ${scope} ${root})
  target_link_libraries(urakata_${name} ${scope} ${LAYER_DEPENDS} ${LAYER_LIBRARIES})
endfunction()

# urakata_tests(LAYER...): tests/LAYER/*.cpp as one GoogleTest program, registered with ctest.
function(urakata_tests name)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/${name}/*.cpp)
  if(NOT sources)
    return()
  endif()
  add_executable(test_${name} ${sources})
  target_link_libraries(test_${name} PRIVATE urakata_${name} urakata_warnings GTest::gtest_main ${ARGN})
  set_target_properties(test_${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  gtest_discover_tests(test_${name} TEST_PREFIX "${name}." DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 300)
endfunction()
