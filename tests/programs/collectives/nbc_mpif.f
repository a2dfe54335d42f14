! SPDX-License-Identifier: BSD-3-Clause
! Non-blocking collectives from Fortran 77: mpif.h.
      program main
      implicit none
      include 'mpif.h'
      integer ierr, rank, ranks, requests(4), i, k, wrong, index
      integer statuses(MPI_STATUS_SIZE, 4)
      integer mine(100), total(100), news(100), all(64)
      double precision low, lowest
      logical done
      call MPI_INIT(ierr)
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
      call MPI_COMM_SIZE(MPI_COMM_WORLD, ranks, ierr)
      wrong = 0
      do k = 1, 20
        do i = 1, 100
          mine(i) = rank + i * k
          news(i) = -1
          if (rank .eq. mod(k, ranks)) news(i) = i + k
        end do
        low = dble(rank + k)
        call MPI_IALLREDUCE(mine, total, 100, MPI_INTEGER, MPI_SUM,
     &       MPI_COMM_WORLD, requests(1), ierr)
        call MPI_IBCAST(news, 100, MPI_INTEGER, mod(k, ranks),
     &       MPI_COMM_WORLD, requests(2), ierr)
        call MPI_IALLGATHER(mine, 1, MPI_INTEGER, all, 1, MPI_INTEGER,
     &       MPI_COMM_WORLD, requests(3), ierr)
        call MPI_IALLREDUCE(low, lowest, 1, MPI_DOUBLE_PRECISION,
     &       MPI_MIN, MPI_COMM_WORLD, requests(4), ierr)
        if (mod(k, 3) .eq. 0) then
          call MPI_WAITALL(4, requests, statuses, ierr)
        else if (mod(k, 3) .eq. 1) then
          do i = 1, 4
            call MPI_WAITANY(4, requests, index, statuses(1, 1), ierr)
          end do
        else
          done = .false.
          do while (.not. done)
            call MPI_TESTALL(4, requests, done, MPI_STATUSES_IGNORE,
     &           ierr)
          end do
        end if
        do i = 1, 100
          if (total(i) .ne. ranks * i * k + ranks * (ranks - 1) / 2)
     &         wrong = wrong + 1
          if (news(i) .ne. i + k) wrong = wrong + 1
        end do
        do i = 1, ranks
          if (all(i) .ne. i - 1 + k) wrong = wrong + 1
        end do
        if (lowest .ne. dble(k)) wrong = wrong + 1
        do i = 1, 4
          if (requests(i) .ne. MPI_REQUEST_NULL) wrong = wrong + 1
        end do
      end do
!     In place.
      do i = 1, 100
        total(i) = rank + i
      end do
      call MPI_IALLREDUCE(MPI_IN_PLACE, total, 100, MPI_INTEGER,
     &     MPI_MAX, MPI_COMM_WORLD, requests(1), ierr)
      call MPI_WAIT(requests(1), MPI_STATUS_IGNORE, ierr)
      do i = 1, 100
        if (total(i) .ne. ranks - 1 + i) wrong = wrong + 1
      end do
      if (wrong .ne. 0) then
        print *, 'nbc_mpif: wrong on rank', rank, wrong
        call MPI_ABORT(MPI_COMM_WORLD, 1, ierr)
      end if
      if (rank .eq. 0) print *, 'nbc_mpif: right'
      call MPI_FINALIZE(ierr)
      end
