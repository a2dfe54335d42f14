! SPDX-License-Identifier: BSD-3-Clause
! Non-blocking and (where compiled with -DPERSISTENT) persistent collectives through mpi_f08.
program nbc_f08
  use mpi_f08
  implicit none
  type(MPI_Request) :: requests(4)
  type(MPI_Status) :: statuses(4)
  integer :: rank, ranks, i, k, wrong, index
  integer, asynchronous :: mine(100), total(100), news(100), all(64)
  logical :: done

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  wrong = 0
  do k = 1, 20
    mine = [(rank + i * k, i = 1, 100)]
    news = -1
    if (rank == mod(k, ranks)) news = [(i + k, i = 1, 100)]
    call MPI_Iallreduce(mine, total, 100, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, requests(1))
    call MPI_Ibcast(news, 100, MPI_INTEGER, mod(k, ranks), MPI_COMM_WORLD, requests(2))
    call MPI_Iallgather(mine, 1, MPI_INTEGER, all, 1, MPI_INTEGER, MPI_COMM_WORLD, requests(3))
    call MPI_Ibarrier(MPI_COMM_WORLD, requests(4))
    select case (mod(k, 3))
    case (0)
      call MPI_Waitall(4, requests, statuses)
    case (1)
      do i = 1, 4
        call MPI_Waitany(4, requests, index, MPI_STATUS_IGNORE)
      end do
    case default
      do
        call MPI_Testall(4, requests, done, MPI_STATUSES_IGNORE)
        if (done) exit
      end do
    end select
    wrong = wrong + count(total /= [(ranks * i * k + ranks * (ranks - 1) / 2, i = 1, 100)])
    wrong = wrong + count(news /= [(i + k, i = 1, 100)])
    wrong = wrong + count(all(1:ranks) /= [(i - 1 + k, i = 1, ranks)])
    do i = 1, 4
      if (requests(i) /= MPI_REQUEST_NULL) wrong = wrong + 1
    end do
  end do
#ifdef PERSISTENT
  call MPI_Allreduce_init(mine, total, 100, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, requests(1))
  do k = 1, 5
    mine = rank + k
    total = -1
    call MPI_Start(requests(1))
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
    wrong = wrong + count(total /= ranks * k + ranks * (ranks - 1) / 2)
  end do
  call MPI_Request_free(requests(1))
#endif
  if (wrong /= 0) then
    print *, 'nbc_f08: wrong on rank', rank, wrong
    call MPI_Abort(MPI_COMM_WORLD, 1)
  end if
  if (rank == 0) print *, 'nbc_f08: right'
  call MPI_Finalize()
end program nbc_f08
