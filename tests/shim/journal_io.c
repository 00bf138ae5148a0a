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
 *   SHIM_CALLS=file     each sync and read of a journal, each sync of a folder, and each request to drop what the
 *                       system holds of a journal, which is not carried out, is appended to this file as a line with
 *                       the path; the process exits with 77 if requests to drop cannot be caught
 *   SHIM_TICK_MS=n      the monotonic clock goes on by n milliseconds at each look at it, and not in between
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <ucontext.h>
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

/* Appends text to the file that a variable names, in one write, so that threads do not mix their lines. */
static void append(const char *variable, const char *text) {
  const char *log = getenv(variable);
  if (!log) return;
  int fd = NEXT(open64)(log, O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (fd < 0 || NEXT(write)(fd, text, strlen(text)) < 0) abort();
  close(fd);
}

static void log_call(const char *call, int fd) {
  if (!getenv("SHIM_CALLS")) return;
  char link[64], path[4096], line[sizeof path + 64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) abort();
  path[length] = 0;
  snprintf(line, sizeof line, "%s %s\n", call, path);
  append("SHIM_CALLS", line);
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
  if (affected && flags & O_CREAT && access(path, F_OK) == 0 && fails("create")) return -1;
  int fd = NEXT(open64)(path, flags, mode);
  if (fd >= 0 && fd < MOST_FILES) is_journal[fd] = affected;
  return fd;
}

ssize_t read(int fd, void *bytes, size_t length) {
  if (is_affected(fd) && fails("read")) return -1;
  if (is_affected(fd)) log_call("read", fd);
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

static void be_slow(void) {
  append("SHIM_SYNC_LOG", "begun ");
  usleep((useconds_t)number("SHIM_SYNC_MS", 0) * 1000);
  append("SHIM_SYNC_LOG", "ended ");
}

int fsync(int fd) {
  struct stat file;
  if (fstat(fd, &file) == 0 && S_ISDIR(file.st_mode)) {
    if (fails("folder")) return -1;
    log_call("folder", fd);
  }
  if (is_affected(fd)) {
    if (fails("sync")) return -1;
    log_call("sync", fd);
    be_slow();
  }
  return NEXT(fsync)(fd);
}

int fdatasync(int fd) {
  if (is_affected(fd)) {
    if (fails("sync")) return -1;
    log_call("sync", fd);
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

/* Notes a request to drop what the system holds of a file, and answers that it was carried out. */
static void note_drop(int signal, siginfo_t *info, void *context) {
  (void)signal, (void)info;
  mcontext_t *registers = &((ucontext_t *)context)->uc_mcontext;
#if defined(__x86_64__)
  int fd = (int)registers->gregs[REG_RDI];
  registers->gregs[REG_RAX] = 0;
#elif defined(__aarch64__)
  int fd = (int)registers->regs[0];
  registers->regs[0] = 0;
#else
  int fd = -1;
  _exit(77);
#endif
  if (is_affected(fd)) log_call("drop", fd);
}

/* Programs may make this call without the C library, so only the system can catch it. */
__attribute__((constructor)) static void catch_fadvise(void) {
  int dies = getenv("SHIM_FADVISE") != NULL;
  if (!dies && !getenv("SHIM_CALLS")) return;
  struct sigaction action = {.sa_sigaction = note_drop, .sa_flags = SA_SIGINFO};
  if (!dies && sigaction(SIGSYS, &action, NULL)) _exit(77);
  struct sock_filter filter[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fadvise64, 0, 1),
    BPF_STMT(BPF_RET | BPF_K, dies ? SECCOMP_RET_KILL_PROCESS : SECCOMP_RET_TRAP),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
    _exit(77);
}
