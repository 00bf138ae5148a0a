/* Tests preload this into the program to make calls on journals slow or fail.
 *
 *   SHIM_SYNC_MS=n   fsync and fdatasync take n milliseconds longer
 *   SHIM_FAIL=call   open, read, write, sync, folder (the sync of one) or lock fails
 *   SHIM_AT=n        from the n-th time on (default 1)
 *   SHIM_ERRNO=n     with this error (default EIO)
 *   SHIM_PATH=text   only files whose names contain this are affected (default: .journal), and the syncs of folders
 *   SHIM_LOG=file    each write to a journal, the begin and the end of each sync of one, and each sync of a folder is
 *                    appended to this file as a line: write, sync, synced or folder
 *   SHIM_TICK_MS=n   the monotonic clock goes on by n milliseconds at each look at it, and not in between
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>
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
  if (before < 0) return 0;
  errno = (int)number("SHIM_ERRNO", EIO);
  return 1;
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* Appends a line to the log, in one write, so that threads do not mix their lines. */
static void note(const char *line) {
  const char *log = getenv("SHIM_LOG");
  if (!log) return;
  int fd = NEXT(open64)(log, O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (fd < 0 || NEXT(write)(fd, line, strlen(line)) < 0) abort();
  close(fd);
}

int open64(const char *path, int flags, ...) {
  mode_t mode = 0;
  if (flags & O_CREAT) {
    va_list rest;
    va_start(rest, flags);
    mode = va_arg(rest, mode_t);
    va_end(rest);
  }
  const char *part = getenv("SHIM_PATH");
  int affected = strstr(path, part ? part : ".journal") != NULL;
  if (affected && fails("open")) return -1;
  int fd = NEXT(open64)(path, flags, mode);
  if (fd >= 0 && fd < MOST_FILES) is_journal[fd] = affected;
  return fd;
}

ssize_t read(int fd, void *bytes, size_t length) {
  if (is_affected(fd) && fails("read")) return -1;
  return NEXT(read)(fd, bytes, length);
}

ssize_t write(int fd, const void *bytes, size_t length) {
  if (is_affected(fd)) {
    if (fails("write")) return -1;
    note("write\n");
  }
  return NEXT(write)(fd, bytes, length);
}

int flock(int fd, int operation) {
  if (is_affected(fd) && fails("lock")) return -1;
  return NEXT(flock)(fd, operation);
}

static int sync_slowly(int fd, int (*next)(int)) {
  struct stat file;
  if (fstat(fd, &file) == 0 && S_ISDIR(file.st_mode)) {
    if (fails("folder")) return -1;
    note("folder\n");
    return next(fd);
  }
  if (!is_affected(fd)) return next(fd);
  if (fails("sync")) return -1;
  note("sync\n");
  usleep((useconds_t)number("SHIM_SYNC_MS", 0) * 1000);
  int failed = next(fd);
  note("synced\n");
  return failed;
}

int fsync(int fd) { return sync_slowly(fd, NEXT(fsync)); }

int fdatasync(int fd) { return sync_slowly(fd, NEXT(fdatasync)); }

int clock_gettime(clockid_t clock, struct timespec *now) {
  static int (*next)(clockid_t, struct timespec *);
  static atomic_llong clock_ms;
  if (!next) next = NEXT(clock_gettime);
  int failed = next(clock, now);
  long tick = number("SHIM_TICK_MS", 0);
  if (failed || !tick || clock != CLOCK_MONOTONIC) return failed;
  /* It begins with the real time. Waits end by the real clock, so they would end at once if that were ahead. */
  long long none = 0, begin = now->tv_sec * 1000LL + 1;
  atomic_compare_exchange_strong(&clock_ms, &none, begin);
  long long ms = atomic_fetch_add(&clock_ms, tick) + tick;
  now->tv_sec = ms / 1000;
  now->tv_nsec = ms % 1000 * 1000000;
  return 0;
}
