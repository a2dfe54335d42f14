! SPDX-License-Identifier: BSD-3-Clause
! A delete callback on MPI_COMM_SELF that returns an error; MPI_Finalize calls it once.
subroutine at_end(comm, key, value, extra, ierror)
  use mpi
  implicit none
  integer :: comm, key, ierror, calls
  integer(kind=MPI_ADDRESS_KIND) :: value, extra
  common /counted/ calls
  calls = calls + 1
  if (extra /= 7 .or. value /= 8) calls = calls + 10
  ierror = MPI_ERR_OTHER
end subroutine at_end

program failed_delete
  use mpi
  implicit none
  integer :: provided, key, ierror, calls
  integer(kind=MPI_ADDRESS_KIND) :: extra = 7, value = 8
  common /counted/ calls
  external at_end

  calls = 0
  call MPI_Init_thread(MPI_THREAD_MULTIPLE, provided, ierror)
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierror)
  call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN, ierror)
  call MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_end, key, extra, ierror)
  call MPI_Comm_set_attr(MPI_COMM_SELF, key, value, ierror)
  call MPI_Finalize(ierror)
  print '(a, i0)', 'calls ', calls
end program failed_delete
