// SPDX-License-Identifier: BSD-3-Clause
// The moment inside MPI_Finalize at which Urakata ends: after the program's last delete callback on MPI_COMM_SELF.
//
// MPI_Finalize first frees MPI_COMM_SELF, which calls the delete callbacks of its attributes, in the reverse order in
// which the attributes were set (MPI-4.1, 11.2.4). These callbacks may still communicate. So MPI_Init sets an attribute
// of ours before the program can set one. Its delete callback is the last one.
//
// Thread-safety: by the thread that calls MPI_Init and MPI_Finalize; MPI_Comm_create_keyval and
// MPI_Comm_set_attr by any thread.
#pragma once

namespace urakata::shim {

// Sets the attribute; in MPI_Init. `end` is called at most once, inside finalize_with_callback(): if the MPI library
// leaves our callback out, it is not called. False: the MPI library refuses the attribute, and the caller must end
// Urakata before MPI_Finalize.
bool set_finalize_callback(void (*end)());

// Deletes the attributes that the program has set on MPI_COMM_SELF by MPI_Comm_set_attr, the last one first, before
// MPI_Finalize would. For MPICH: it takes no locks inside MPI_Finalize, so our progress threads must have stopped by
// then, but delete callbacks may communicate and need them. Each callback is called once: if one returns an error, its
// attribute goes all the same, and finalize_with_callback() reports the error. This takes our function in front of the
// program's, so attributes whose keyval was not made by MPI_Comm_create_keyval (Fortran's) are left to MPI_Finalize.
void delete_attributes_of_self();

// The MPI library's MPI_Finalize, after set_finalize_callback() has succeeded.
int finalize_with_callback();

}  // namespace urakata::shim
