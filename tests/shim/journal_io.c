/* Tests preload this into the program to make calls on journals slow or fail.
 *
 *   SHIM_SYNC_MS=n      fsync and fdatasync take n milliseconds longer
 *   SHIM_SYNC_LOG=file  and append to this file when they begin and end
 *   SHIM_FAIL=call      open, write, sync, folder (the sync of one), truncate or lock fails
 *   SHIM_AT=n           from the n-th time on (default 1)
 *   SHIM_TIMES=n        so many times (default: always)
 *   SHIM_ERRNO=n        with this error
 *
 * Only files whose names contain ".journal" are affected, and the syncs of folders.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

enum { MOST_FILES = 1024 };

static atomic_bool is_journal[MOST_FILES];
static atomic_int calls;

static long number(const char *name, long otherwise) {
  const char *text = getenv(name);
  return text ? atol(text) : otherwise;
}

static int is_affected(int fd) { return fd >= 0 && fd < MOST_FILES && is_journal[fd]; }

static int fails(const char *call) {
  const char *failing = getenv("SHIM_FAIL");
  if (!failing || strcmp(failing, call) != 0) return 0;
  long before = atomic_fetch_add(&calls, 1) + 1 - number("SHIM_AT", 1);
  if (before < 0 || before >= number("SHIM_TIMES", 1L << 30)) return 0;
  errno = (int)number("SHIM_ERRNO", EIO);
  return 1;
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

int open64(const char *path, int flags, ...) {
  mode_t mode = 0;
  if (flags & O_CREAT) {
    va_list rest;
    va_start(rest, flags);
    mode = va_arg(rest, mode_t);
    va_end(rest);
  }
  int affected = strstr(path, ".journal") != NULL;
  if (affected && fails("open")) return -1;
  int fd = NEXT(open64)(path, flags, mode);
  if (fd >= 0 && fd < MOST_FILES) is_journal[fd] = affected;
  return fd;
}

ssize_t write(int fd, const void *bytes, size_t length) {
  if (is_affected(fd) && fails("write")) return -1;
  return NEXT(write)(fd, bytes, length);
}

int ftruncate64(int fd, off64_t length) {
  if (is_affected(fd) && fails("truncate")) return -1;
  return NEXT(ftruncate64)(fd, length);
}

int flock(int fd, int operation) {
  if (is_affected(fd) && fails("lock")) return -1;
  int (*next)(int, int) = (int (*)(int, int))dlsym(RTLD_NEXT, "flock");
  return next(fd, operation);
}

static void note(const char *what) {
  const char *log = getenv("SHIM_SYNC_LOG");
  if (!log) return;
  int fd = NEXT(open64)(log, O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (fd < 0 || NEXT(write)(fd, what, strlen(what)) < 0) abort();
  close(fd);
}

static void be_slow(void) {
  note("begun ");
  usleep((useconds_t)number("SHIM_SYNC_MS", 0) * 1000);
  note("ended ");
}

int fsync(int fd) {
  struct stat file;
  if (fstat(fd, &file) == 0 && S_ISDIR(file.st_mode) && fails("folder")) return -1;
  if (is_affected(fd)) {
    if (fails("sync")) return -1;
    be_slow();
  }
  return NEXT(fsync)(fd);
}

int fdatasync(int fd) {
  if (is_affected(fd)) {
    if (fails("sync")) return -1;
    be_slow();
  }
  return NEXT(fdatasync)(fd);
}
