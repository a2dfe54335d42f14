# SPDX-License-Identifier: BSD-3-Clause
# What `cmake --install` puts where, besides the programs and preload libraries, which install themselves.
include(CMakePackageConfigHelpers)

# The documents lie beside each other as in the source tree, so that their links hold.
set(documents ${CMAKE_INSTALL_DATADIR}/doc/urakata)
install(FILES LICENSE README.md CONTRIBUTING.md CHANGELOG.md SECURITY.md DESTINATION ${documents})
install(DIRECTORY docs examples DESTINATION ${documents})
install(DIRECTORY include DESTINATION ${documents})
if(URAKATA_LICENSES)  # of what is linked statically where an installation is handed on
  install(DIRECTORY ${URAKATA_LICENSES}/ DESTINATION ${documents}/licenses)
endif()

# `urakata bench` compiles its programs with the mpicc of the MPI that it measures.
install(DIRECTORY bench/ DESTINATION ${CMAKE_INSTALL_DATADIR}/urakata/bench FILES_MATCHING PATTERN "*.[ch]")

# For programs that build collectives of their own, and for operations of their own as eBPF code.
install(FILES include/urakata.h include/urakata_op.bpf.h include/urakata_ieee.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
configure_package_config_file(cmake/urakataConfig.cmake.in ${PROJECT_BINARY_DIR}/cmake/urakataConfig.cmake
                              INSTALL_DESTINATION lib/cmake/urakata PATH_VARS CMAKE_INSTALL_INCLUDEDIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/cmake/urakataConfigVersion.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${PROJECT_BINARY_DIR}/cmake/urakataConfig.cmake ${PROJECT_BINARY_DIR}/cmake/urakataConfigVersion.cmake
        DESTINATION lib/cmake/urakata)
configure_file(cmake/urakata.pc.in ${PROJECT_BINARY_DIR}/cmake/urakata.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/cmake/urakata.pc DESTINATION lib/pkgconfig)

# For shells, and for clusters (Environment Modules, Lmod).
install(FILES cmake/completions/urakata.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME urakata)
install(FILES cmake/completions/_urakata DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES cmake/completions/urakata.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
install(FILES cmake/modulefile DESTINATION ${CMAKE_INSTALL_DATADIR}/modulefiles/urakata RENAME ${PROJECT_VERSION})

# The command. A wheel has the package in its site-packages and the command from its entry point. What measures the
# performance targets needs the source tree, and stays there (also pyproject.toml).
if(NOT SKBUILD)
  install(DIRECTORY python/urakata DESTINATION ${CMAKE_INSTALL_DATADIR}/urakata/python
          PATTERN __pycache__ EXCLUDE
          PATTERN urakata/goals EXCLUDE)
  install(PROGRAMS cmake/urakata-installed.sh DESTINATION bin RENAME urakata)
endif()

# Man pages are written by the commands themselves, so they need a Python that can run them: with what is built
# (man -M build/share/man urakata-exec), and anew at installation.
find_program(URAKATA_PYTHON NAMES python3 PATHS ${PROJECT_SOURCE_DIR}/build/venv/bin NO_DEFAULT_PATH
             DOC "Python with typer and rich, for the man pages")
if(NOT URAKATA_PYTHON)
  find_package(Python3 COMPONENTS Interpreter)
  set(URAKATA_PYTHON ${Python3_EXECUTABLE})
endif()
execute_process(COMMAND ${URAKATA_PYTHON} -c "import typer, rich" RESULT_VARIABLE no_typer OUTPUT_QUIET ERROR_QUIET)
if(CMAKE_CROSSCOMPILING)
  message(STATUS "Man pages are left out: the programs that write them are another processor's")
elseif(no_typer)
  message(STATUS "Man pages are left out: ${URAKATA_PYTHON} has no typer and rich")
else()
  set(described)
  foreach(program urakata-exec urakata-schedule)
    if(TARGET ${program})
      string(APPEND programs " $<TARGET_FILE:${program}>")
      list(APPEND described $<TARGET_FILE:${program}>)
    endif()
  endforeach()
  file(GLOB_RECURSE command_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/python/urakata/commands/*.py)
  set(page ${PROJECT_BINARY_DIR}/share/man/man1/urakata.1)
  add_custom_command(
    OUTPUT ${page}
    COMMAND ${CMAKE_COMMAND} -E env PYTHONPATH=${PROJECT_SOURCE_DIR}/python:$ENV{PYTHONPATH} PYTHONDONTWRITEBYTECODE=1
            ${URAKATA_PYTHON} ${PROJECT_SOURCE_DIR}/cmake/man_pages.py
            ${PROJECT_BINARY_DIR}/share/man/man1 ${PROJECT_VERSION} ${described}
    DEPENDS ${PROJECT_SOURCE_DIR}/cmake/man_pages.py ${command_sources} urakata-exec urakata-schedule
    VERBATIM)
  add_custom_target(man DEPENDS ${page})
  add_dependencies(product man)
  # In front of a PYTHONPATH, not in its place: pip has typer there while it builds.
  install(CODE "
    execute_process(
      COMMAND ${CMAKE_COMMAND} -E env PYTHONPATH=${PROJECT_SOURCE_DIR}/python:\$ENV{PYTHONPATH} PYTHONDONTWRITEBYTECODE=1
              ${URAKATA_PYTHON} ${PROJECT_SOURCE_DIR}/cmake/man_pages.py
              ${PROJECT_BINARY_DIR}/share/man/man1 ${PROJECT_VERSION} ${programs}
      COMMAND_ERROR_IS_FATAL ANY)")
  install(DIRECTORY ${PROJECT_BINARY_DIR}/share/man/man1 DESTINATION ${CMAKE_INSTALL_MANDIR})
endif()
