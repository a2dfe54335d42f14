# SPDX-License-Identifier: BSD-3-Clause
# `./dev deb`: the Debian package, of what `cmake --install` installs. Its command needs Python's packages of the distribution,
# but for those that URAKATA_BROUGHT_PYTHON has: a folder that goes along.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME urakata)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY ${PROJECT_DESCRIPTION})
set(CPACK_PACKAGE_DESCRIPTION
    "Urakata stands between an MPI program and its MPI library (Open MPI, MPICH, Intel MPI) and does the program's communication\n\
 behind its computation, without a change to the program: urakata run -n 4 -- ./app")
set(CPACK_PACKAGE_CONTACT "Urakata <urakata@localhost>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/cmake/postrm)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
configure_file(cmake/package_needs.cmake.in ${PROJECT_BINARY_DIR}/cmake/package_needs.cmake @ONLY)
set(CPACK_PROJECT_CONFIG_FILE ${PROJECT_BINARY_DIR}/cmake/package_needs.cmake)
set(CPACK_DEBIAN_PACKAGE_DEPENDS
    "python3 (>= 3.10), python3-click, python3-jinja2, python3-matplotlib, python3-rich, python3-shellingham, python3-typing-extensions")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "binutils, openmpi-bin | mpich")  # addr2line, for the report's lines
set(URAKATA_BROUGHT_PYTHON "" CACHE PATH "Folder of Python packages that go into the Debian package")
if(URAKATA_BROUGHT_PYTHON)
  set(CPACK_INSTALLED_DIRECTORIES ${URAKATA_BROUGHT_PYTHON} usr/share/urakata/python)
endif()
include(CPack)
