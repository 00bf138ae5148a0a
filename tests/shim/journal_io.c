/* Tests preload this into the program to make calls on journals slow or fail.
 *
 *   SHIM_SYNC_MS=n      fsync and fdatasync take n milliseconds longer
 *   SHIM_SYNC_LOG=file  and append to this file when they begin and end
 *   SHIM_FAIL=call      open, create (opening a file that is there in order to create it), read, write, sync,
 *                       folder (the sync of one), truncate or lock fails
 *   SHIM_AT=n           from the n-th time on (default 1)
 *   SHIM_TIMES=n        so many times (default: always)
 *   SHIM_ERRNO=n        with this error
 *   SHIM_PATH=text      only files whose names contain this are affected (default: .journal), and the
 *                       syncs of folders
 *   SHIM_LOCKS=none     every lock is granted, to all at once
 *   SHIM_LOCKS=die      the process exits with 78 if it asks for a lock
 *   SHIM_FADVISE=dies   the process is killed if it asks the system to drop what it holds of a file; it exits
 *                       with 77 if the system has no seccomp
 *   SHIM_INODES=changing  each look at a file shows another inode number
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
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
  const char *part = getenv("SHIM_PATH");
  int affected = strstr(path, part ? part : ".journal") != NULL;
  if (affected && fails("open")) return -1;
  if (affected && flags & O_CREAT && access(path, F_OK) == 0 && fails("create")) return -1;
  int fd = NEXT(open64)(path, flags, mode);
  if (fd >= 0 && fd < MOST_FILES) is_journal[fd] = affected;
  return fd;
}

ssize_t read(int fd, void *bytes, size_t length) {
  if (is_affected(fd) && fails("read")) return -1;
  return NEXT(read)(fd, bytes, length);
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
  const char *locks = getenv("SHIM_LOCKS");
  if (locks && strcmp(locks, "die") == 0) _exit(78);
  if (locks) return 0;
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

static unsigned long long inode(unsigned long long real) {
  static atomic_ullong looks;
  return getenv("SHIM_INODES") ? real + atomic_fetch_add(&looks, 1) + 1 : real;
}

int statx(int folder, const char *path, int flags, unsigned mask, struct statx *file) {
  int failed = NEXT(statx)(folder, path, flags, mask, file);
  if (!failed) file->stx_ino = inode(file->stx_ino);
  return failed;
}

int stat64(const char *path, struct stat64 *file) {
  int failed = NEXT(stat64)(path, file);
  if (!failed) file->st_ino = inode(file->st_ino);
  return failed;
}

int fstat64(int fd, struct stat64 *file) {
  int failed = NEXT(fstat64)(fd, file);
  if (!failed) file->st_ino = inode(file->st_ino);
  return failed;
}

static void filter_calls(struct sock_filter *filter, unsigned short length) {
  struct sock_fprog program = {length, filter};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
    _exit(77);
}

__attribute__((constructor)) static void limit_fadvise(void) {
  if (!getenv("SHIM_FADVISE")) return;
  struct sock_filter filter[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fadvise64, 0, 1),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  filter_calls(filter, sizeof filter / sizeof *filter);
}
