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

// Sets the attribute; in MPI_Init. `end` is called once, inside finalize_with_callback(). False: the MPI library
// refuses the attribute, and `end` is not called.
bool set_finalize_callback(void (*end)());

// Deletes the attributes that the program has set on MPI_COMM_SELF by MPI_Comm_set_attr, the last one first, as
// MPI_Finalize is about to. For MPICH, which takes no locks there, so that no thread of ours may call it. Each callback
// is called once: where one returns an error, its attribute goes all the same, and finalize_with_callback() reports the
// error. So attributes whose keyval was not made by MPI_Comm_create_keyval are left to MPI_Finalize.
void delete_attributes_of_self();

// The MPI library's MPI_Finalize, after set_finalize_callback() has succeeded.
int finalize_with_callback();

}  // namespace urakata::shim
