// Poisson's equation on a cube by PETSc, which knows nothing of Urakata: the seven-point stencil as an ordinary
// parallel matrix, and the solver that the options name.
//
//   mpicc -O2 poisson_petsc.c -o poisson_petsc $(pkg-config --cflags --libs PETSc)
//   urakata run -n 4 --space -- ./poisson_petsc -n 64 -ksp_type cg -sf_type neighbor -sf_neighbor_persistent
//
// What it prints but for the time is the same, to the last bit, however MPI carries the exchanges of the products.
#include <petscdmda.h>
#include <petscksp.h>

// 2 on the diagonal for each dimension, -1 for each neighbour there is.
static PetscErrorCode fill(DM grid, Mat matrix) {
  DMDALocalInfo at;
  PetscCall(DMDAGetLocalInfo(grid, &at));
  for (PetscInt k = at.zs; k < at.zs + at.zm; ++k)
    for (PetscInt j = at.ys; j < at.ys + at.ym; ++j)
      for (PetscInt i = at.xs; i < at.xs + at.xm; ++i) {
        const MatStencil row = {.i = i, .j = j, .k = k};
        MatStencil columns[7] = {row};
        PetscScalar values[7] = {6};
        PetscInt count = 1;
        for (PetscInt side = -1; side <= 1; side += 2) {
          if (i + side >= 0 && i + side < at.mx) columns[count++] = (MatStencil){.i = i + side, .j = j, .k = k};
          if (j + side >= 0 && j + side < at.my) columns[count++] = (MatStencil){.i = i, .j = j + side, .k = k};
          if (k + side >= 0 && k + side < at.mz) columns[count++] = (MatStencil){.i = i, .j = j, .k = k + side};
        }
        for (PetscInt c = 1; c < count; ++c) values[c] = -1;
        PetscCall(MatSetValuesStencil(matrix, 1, &row, count, columns, values, INSERT_VALUES));
      }
  PetscCall(MatAssemblyBegin(matrix, MAT_FINAL_ASSEMBLY));
  return MatAssemblyEnd(matrix, MAT_FINAL_ASSEMBLY);
}

// Solves from zero `solves` times and prints the residuals of the last as C's hexadecimal numbers, which lose nothing.
static PetscErrorCode solve(KSP solver, Vec right, Vec x, PetscInt solves) {
  const PetscReal* residuals;
  PetscInt iterations, known;
  PetscReal sum;
  double begin = 0;
  PetscMPIInt rank;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCall(KSPSetResidualHistory(solver, NULL, PETSC_DECIDE, PETSC_TRUE));
  for (PetscInt turn = 0; turn < solves; ++turn) {
    if (turn == 1) begin = MPI_Wtime();  // the first sets up
    PetscCall(VecSet(x, 0));
    PetscCall(KSPSolve(solver, right, x));
  }
  const double seconds = MPI_Wtime() - begin;
  PetscCall(KSPGetIterationNumber(solver, &iterations));
  PetscCall(KSPGetResidualHistory(solver, &residuals, &known));
  PetscCall(VecNorm(x, NORM_2, &sum));
  if (rank != 0) return PETSC_SUCCESS;
  for (PetscInt i = 0; i < known; ++i) printf("residual %d: %a = %.6e\n", (int)i, residuals[i], residuals[i]);
  printf("solution: norm %a after %d iterations\n", sum, (int)iterations);
  if (solves > 1) printf("time: %.6f s a solve\n", seconds / (double)(solves - 1));
  return PETSC_SUCCESS;
}

int main(int argc, char** argv) {
  DM grid;
  Mat matrix;
  Vec x, right;
  KSP solver;
  PetscRandom random;
  PetscInt n = 16, solves = 1;
  PetscCall(PetscInitialize(&argc, &argv, NULL, "-n: points in each dimension; -solves: how often; and PETSc's own\n"));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-solves", &solves, NULL));
  PetscCall(DMDACreate3d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, n,
                         n, n, PETSC_DECIDE, PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL, NULL, NULL, &grid));
  PetscCall(DMSetFromOptions(grid));
  PetscCall(DMSetUp(grid));
  PetscCall(DMCreateMatrix(grid, &matrix));
  PetscCall(fill(grid, matrix));
  PetscCall(DMCreateGlobalVector(grid, &x));
  PetscCall(VecDuplicate(x, &right));
  PetscCall(PetscRandomCreate(PETSC_COMM_WORLD, &random));
  PetscCall(VecSetRandom(right, random));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &solver));
  PetscCall(KSPSetOperators(solver, matrix, matrix));
  PetscCall(KSPSetFromOptions(solver));
  PetscCall(solve(solver, right, x, solves));
  PetscCall(PetscRandomDestroy(&random));
  PetscCall(KSPDestroy(&solver));
  PetscCall(VecDestroy(&right));
  PetscCall(VecDestroy(&x));
  PetscCall(MatDestroy(&matrix));
  PetscCall(DMDestroy(&grid));
  return PetscFinalize();
}
// SPDX-License-Identifier: BSD-3-Clause
