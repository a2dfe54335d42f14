// SPDX-License-Identifier: BSD-3-Clause
// A mutex and a guard that clang's thread-safety analysis knows, and the annotations that say what a lock guards
// (https://clang.llvm.org/docs/ThreadSafetyAnalysis.html). `./dev clang` compiles with -Wthread-safety: a guarded field
// that is touched without its lock is an error there. For other compilers the annotations are empty.
#pragma once

#include <mutex>

#if defined(__clang__)
#define URAKATA_ANNOTATION(attribute) __attribute__((attribute))
#else
#define URAKATA_ANNOTATION(attribute)
#endif

#define URAKATA_LOCK_TYPE URAKATA_ANNOTATION(capability("mutex"))
#define URAKATA_GUARD_TYPE URAKATA_ANNOTATION(scoped_lockable)
// For a field: a thread touches it only while it holds the lock.
#define URAKATA_GUARDED_BY(lock) URAKATA_ANNOTATION(guarded_by(lock))
// For a pointer: a thread touches what it points to only while it holds the lock.
#define URAKATA_POINTEE_GUARDED_BY(lock) URAKATA_ANNOTATION(pt_guarded_by(lock))
// For a function: the caller holds the lock (REQUIRES), or does not hold it (EXCLUDES).
#define URAKATA_REQUIRES(lock) URAKATA_ANNOTATION(requires_capability(lock))
#define URAKATA_EXCLUDES(lock) URAKATA_ANNOTATION(locks_excluded(lock))
// For a function: it takes the lock (ACQUIRES), releases it (RELEASES), or has taken it if it returns `value` (TRIES).
#define URAKATA_ACQUIRES(...) URAKATA_ANNOTATION(acquire_capability(__VA_ARGS__))
#define URAKATA_RELEASES(...) URAKATA_ANNOTATION(release_capability(__VA_ARGS__))
#define URAKATA_TRIES(value) URAKATA_ANNOTATION(try_acquire_capability(value))
// For a function that the analysis cannot follow. A comment at the function says why it is right.
#define URAKATA_NOT_ANALYSED URAKATA_ANNOTATION(no_thread_safety_analysis)

namespace urakata {

class URAKATA_LOCK_TYPE Mutex {
 public:
  void lock() URAKATA_ACQUIRES() { mutex_.lock(); }
  void unlock() URAKATA_RELEASES() { mutex_.unlock(); }
  bool try_lock() URAKATA_TRIES(true) { return mutex_.try_lock(); }
  // Tells the analysis that the calling thread holds the mutex, where the analysis cannot know, such as in a lambda
  // that another function calls. Does nothing at run time.
  void assert_held() const URAKATA_ANNOTATION(assert_capability(this)) {}

 private:
  std::mutex mutex_;
};

// Holds a lock until the end of its scope.
template <class Lock>
class [[nodiscard]] URAKATA_GUARD_TYPE LockGuard {
 public:
  explicit LockGuard(Lock& lock) URAKATA_ACQUIRES(lock) : lock_(lock) { lock_.lock(); }
  // Takes over a lock that the calling thread holds already.
  LockGuard(Lock& lock, std::adopt_lock_t /*adopted*/) URAKATA_REQUIRES(lock) : lock_(lock) {}
  ~LockGuard() URAKATA_RELEASES() { lock_.unlock(); }
  LockGuard(const LockGuard&) = delete;
  LockGuard& operator=(const LockGuard&) = delete;

 private:
  Lock& lock_;
};

}  // namespace urakata
