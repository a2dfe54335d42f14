// Poisson's equation on a cube by hypre, which knows nothing of Urakata: conjugate gradients on the seven-point
// stencil, preconditioned by BoomerAMG, whose levels each exchange with neighbours of their own.
//
//   mpicc -O2 poisson_hypre.c -o poisson_hypre -I/usr/include/hypre -lHYPRE -lm
//   urakata run -n 4 --space -- ./poisson_hypre 48
//
// What it prints but for the time is the same, to the last bit, however MPI carries the exchanges.
#include <HYPRE.h>
#include <HYPRE_krylov.h>
#include <HYPRE_parcsr_ls.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static void check(HYPRE_Int error, const char* what) {
  if (error == 0 || HYPRE_CheckError(error, HYPRE_ERROR_CONV)) return;
  fprintf(stderr, "%s: hypre's error %d\n", what, (int)error);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

// Rows in blocks: a rank has whole planes of the cube, or parts of planes.
static HYPRE_IJMatrix make_matrix(int n, HYPRE_BigInt first, HYPRE_BigInt last) {
  HYPRE_IJMatrix matrix;
  HYPRE_IJMatrixCreate(MPI_COMM_WORLD, first, last, first, last, &matrix);
  HYPRE_IJMatrixSetObjectType(matrix, HYPRE_PARCSR);
  HYPRE_IJMatrixInitialize(matrix);
  for (HYPRE_BigInt row = first; row <= last; ++row) {
    const int place[3] = {(int)(row % n), (int)(row / n % n), (int)(row / n / n)};
    const HYPRE_BigInt step[3] = {1, n, (HYPRE_BigInt)n * n};
    HYPRE_BigInt columns[7] = {row};
    double values[7] = {6, -1, -1, -1, -1, -1, -1};
    HYPRE_Int count = 1;
    for (int d = 0; d < 3; ++d) {
      if (place[d] > 0) columns[count++] = row - step[d];
      if (place[d] + 1 < n) columns[count++] = row + step[d];
    }
    HYPRE_IJMatrixSetValues(matrix, 1, &count, &row, columns, values);
  }
  HYPRE_IJMatrixAssemble(matrix);
  return matrix;
}

static HYPRE_IJVector make_vector(HYPRE_BigInt first, HYPRE_BigInt last, int slope) {
  HYPRE_IJVector vector;
  HYPRE_IJVectorCreate(MPI_COMM_WORLD, first, last, &vector);
  HYPRE_IJVectorSetObjectType(vector, HYPRE_PARCSR);
  HYPRE_IJVectorInitialize(vector);
  for (HYPRE_BigInt row = first; row <= last; ++row) {
    const double value = slope == 0 ? 0 : 1 + (double)(row % slope);
    HYPRE_IJVectorSetValues(vector, 1, &row, &value);
  }
  HYPRE_IJVectorAssemble(vector);
  return vector;
}

int main(int argc, char** argv) {
  const int n = argc > 1 ? atoi(argv[1]) : 16, solves = argc > 2 ? atoi(argv[2]) : 1;
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  HYPRE_Initialize();

  const HYPRE_BigInt rows = (HYPRE_BigInt)n * n * n, first = rows * rank / ranks, last = rows * (rank + 1) / ranks - 1;
  HYPRE_IJMatrix matrix = make_matrix(n, first, last);
  HYPRE_IJVector right = make_vector(first, last, 7), x = make_vector(first, last, 0);
  void *of_matrix, *of_right, *of_x;
  HYPRE_IJMatrixGetObject(matrix, &of_matrix);
  HYPRE_IJVectorGetObject(right, &of_right);
  HYPRE_IJVectorGetObject(x, &of_x);

  HYPRE_Solver solver, multigrid;
  HYPRE_ParCSRPCGCreate(MPI_COMM_WORLD, &solver);
  HYPRE_PCGSetMaxIter(solver, 100);
  HYPRE_PCGSetTol(solver, 1e-10);
  HYPRE_PCGSetTwoNorm(solver, 1);
  HYPRE_BoomerAMGCreate(&multigrid);
  HYPRE_BoomerAMGSetTol(multigrid, 0);  // one cycle for each iteration
  HYPRE_BoomerAMGSetMaxIter(multigrid, 1);
  HYPRE_PCGSetPrecond(solver, (HYPRE_PtrToSolverFcn)HYPRE_BoomerAMGSolve, (HYPRE_PtrToSolverFcn)HYPRE_BoomerAMGSetup,
                      multigrid);
  check(HYPRE_ParCSRPCGSetup(solver, of_matrix, of_right, of_x), "setting up");

  double begin = 0, residual, norm;
  HYPRE_Int iterations;
  for (int turn = 0; turn < solves; ++turn) {
    if (turn == 1) begin = MPI_Wtime();
    HYPRE_ParVectorSetConstantValues(of_x, 0);
    check(HYPRE_ParCSRPCGSolve(solver, of_matrix, of_right, of_x), "solving");
  }
  const double seconds = MPI_Wtime() - begin;
  HYPRE_PCGGetNumIterations(solver, &iterations);
  HYPRE_PCGGetFinalRelativeResidualNorm(solver, &residual);
  HYPRE_ParVectorInnerProd(of_x, of_x, &norm);
  if (rank == 0) {
    printf("residual %d: %a = %.6e\n", (int)iterations, residual, residual);
    printf("solution: square %a after %d iterations\n", norm, (int)iterations);
    if (solves > 1) printf("time: %.6f s a solve\n", seconds / (solves - 1));
  }

  HYPRE_ParCSRPCGDestroy(solver);
  HYPRE_BoomerAMGDestroy(multigrid);
  HYPRE_IJMatrixDestroy(matrix);
  HYPRE_IJVectorDestroy(right);
  HYPRE_IJVectorDestroy(x);
  HYPRE_Finalize();
  MPI_Finalize();
  return 0;
}
// SPDX-License-Identifier: BSD-3-Clause
