/* spawn.c under the sanitizers: every step succeeds and fails, again and again, in every mix of descriptors; afterwards there is no
 * child and no descriptor more than before. With an argument: under the warden of that name (native/warden.h) as well. */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "spawn.h"
#include "warden.h"

enum { ROUNDS = 40, NUMBERS = 6 };

static const char *warden;
static char own_path[sizeof "PATH=/tmp/holdfast-spawn.XXXXXX"];
static char directory[] = "/tmp/holdfast-spawn.XXXXXX";

static struct spawn_request plain(char **argv) {
  static char path[] = "PATH=/nowhere::/usr/bin:/bin";
  static char *envp[] = {path, NULL};
  return (struct spawn_request){
      .program = argv[0], .search_path = path + 5, .argv = argv, .envp = envp, .cwd = "/", .cwd_fd = -1, .umask = 022, .cgroup_fd = -1,
  };
}

/* A program in our scratch directory. The PATH that is searched is the target's own, as the warden relies on. */
static struct spawn_request scratch(char **argv) {
  static char *envp[] = {own_path, NULL};
  struct spawn_request request = plain(argv);
  snprintf(own_path, sizeof own_path, "PATH=%s", directory);
  request.envp = envp;
  request.search_path = directory;
  return request;
}

/* Starts it and waits for its end: its wait status, or -1 with the step that failed. */
static int run(const struct spawn_request *request, struct spawn_result *result) {
  int status;
  if (spawn_target(request, result) != 0) {
    CHECK(result->step != 0 && result->pid == -1 && result->pidfd == -1);
    return -1;
  }
  CHECK(result->step == 0 && result->pid > 1);
  CHECK(waitpid(result->pid, &status, 0) == result->pid);
  if (result->pidfd >= 0) close(result->pidfd);
  return status;
}

static int run_under_warden(const struct spawn_request *request, struct spawn_result *result) {
  struct warded warded;
  struct warden_report news = {0};
  int status = -1, ignored;
  if (warden_spawn(request, warden, result, &warded) != 0) {
    while (waitpid(-1, &ignored, 0) > 0) {} /* a warden that could not start its target ends by itself */
    return -1;
  }
  if (result->pidfd >= 0) close(result->pidfd);
  for (;;) {
    struct pollfd wait = {.fd = warded.control, .events = POLLIN};
    CHECK(poll(&wait, 1, 10000) == 1);
    if (recv(warded.control, &news, sizeof news, 0) <= 0) break;
    if (news.news == WARDEN_CHANGE) status = news.change.wait_status;
  }
  close(warded.control);
  CHECK(waitpid(warded.warden, &ignored, 0) == warded.warden);
  return status;
}

static void expect(const struct spawn_request *request, int status, enum wire_step step) {
  struct spawn_result result;
  CHECK(run(request, &result) == status && result.step == step);
  if (warden == NULL) return;
  CHECK(run_under_warden(request, &result) == status && result.step == step);
}

#define ARGV(...) (char *[]){NULL, __VA_ARGS__, NULL} + 1

static void write_file(const char *name, const char *text, mode_t mode) {
  char path[256];
  snprintf(path, sizeof path, "%s/%s", directory, name);
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
  CHECK(fchmod(fd, mode) == 0);
  close(fd);
}

static void successes(void) {
  struct spawn_request request = plain(ARGV("true"));
  expect(&request, 0, 0);
  request = plain(ARGV("sh", "-c", "exit 7"));
  expect(&request, 7 << 8, 0);
  request = plain(ARGV("sh", "-c", "kill -KILL $$"));
  expect(&request, SIGKILL, 0);
  request = scratch(ARGV("script", "word"));
  expect(&request, 1 << 8, 0);
  request = plain(ARGV("sh", "-c", "test $(umask) = 0027 -a $(ulimit -Sn) = 77 -a $(nice) = 5 -a $(pwd) = /usr"));
  request.umask = 027;
  request.limits = &(struct spawn_limit){RLIMIT_NOFILE, 77, 1000};
  request.limit_count = 1;
  request.nice_set = true;
  request.nice = 5;
  request.cwd = "/usr";
  request.ignored = UINT64_MAX;
  expect(&request, 0, 0);
}

static void failures(void) {
  char huge[300000];
  memset(huge, 'h', sizeof huge - 1);
  huge[sizeof huge - 1] = '\0';
  struct spawn_request request = plain(ARGV("no-such-program"));
  expect(&request, -1, STEP_PROGRAM);
  request = scratch(ARGV("interpreted"));
  expect(&request, -1, STEP_INTERPRETER);
  request = scratch(ARGV("forbidden"));
  expect(&request, -1, STEP_EXEC);
  if (warden == NULL) { /* an argument that execve refuses cannot reach the warden either */
    request = plain(ARGV("true", huge));
    expect(&request, -1, STEP_EXEC);
  }
  request = plain(ARGV(huge));
  struct spawn_result result;
  CHECK(run(&request, &result) == -1);
  request = plain(ARGV("true"));
  request.cwd = "/nowhere";
  expect(&request, -1, STEP_DIRECTORY);
  request.cwd = NULL;
  request.cwd_fd = 0;
  expect(&request, -1, STEP_DIRECTORY);
  request = plain(ARGV("true"));
  request.limits = &(struct spawn_limit){RLIMIT_NOFILE, 2000, 10};
  request.limit_count = 1;
  expect(&request, -1, STEP_LIMIT);
  request = plain(ARGV("true"));
  request.fds = (int[]){0};
  request.numbers = (uint32_t[]){1u << 30};
  request.fd_count = 1;
  expect(&request, -1, STEP_DESCRIPTOR);
  request.fds = (int[]){999999};
  request.numbers = (uint32_t[]){0};
  expect(&request, -1, STEP_DESCRIPTOR);
  request.fds = (int[]){0};
  request.terminal = WIRE_TERMINAL_HANDOVER;
  expect(&request, -1, STEP_TERMINAL);
  request = plain(ARGV("true"));
  request.cgroup_fd = 0;
  CHECK(run(&request, &result) == -1 && result.step == STEP_CONTAINMENT);
}

/* `fds[i]` goes to `numbers[i]`, for a random choice of both that overlaps our own numbers; the target checks what it got. */
static void mixtures(unsigned seed) {
  char paths[NUMBERS][64], script[1024] = "";
  int fds[NUMBERS];
  uint32_t numbers[NUMBERS];
  for (size_t i = 0; i < NUMBERS; i++) {
    snprintf(paths[i], sizeof paths[i], "%s/f%zu", directory, i);
    CHECK((fds[i] = open(paths[i], O_RDONLY | O_CREAT | O_CLOEXEC, 0600)) >= 0);
    numbers[i] = (uint32_t)i;
  }
  srand(seed);
  uint32_t shift = (uint32_t)rand() % 8; /* 0: the standard ones; from 3 on: the very numbers of our own */
  for (size_t i = NUMBERS - 1; i > 0; i--) {
    size_t j = (size_t)rand() % (i + 1);
    uint32_t kept = numbers[i];
    numbers[i] = numbers[j], numbers[j] = kept;
  }
  for (size_t i = 0; i < NUMBERS; i++) {
    numbers[i] += shift;
    size_t at = strlen(script);
    snprintf(script + at, sizeof script - at, "[ $(readlink /proc/$$/fd/%u) = %s ] && ", numbers[i], paths[i]);
  }
  strcat(script, "exit 3");
  struct spawn_request request = plain(ARGV("sh", "-c", script));
  request.fds = fds;
  request.numbers = numbers;
  request.fd_count = NUMBERS;
  expect(&request, 3 << 8, 0);
  for (size_t i = 0; i < NUMBERS; i++) close(fds[i]);
}

int main(int argc, char **argv) {
  warden = argc > 1 ? argv[1] : NULL;
  CHECK(mkdtemp(directory) != NULL);
  write_file("script", "[ $1 = word ] && exit 1\n", 0755);
  write_file("interpreted", "#!/nowhere/interpreter\n", 0755);
  write_file("forbidden", "", 0644);
  int before = open_descriptors();
  for (unsigned round = 0; round < ROUNDS; round++) {
    successes();
    failures();
    mixtures(round);
    CHECK(open_descriptors() == before);
    CHECK(is_childless());
  }
  for (int i = -3; i < NUMBERS; i++) {
    char path[256];
    static const char *const names[] = {"script", "interpreted", "forbidden"};
    if (i < 0) snprintf(path, sizeof path, "%s/%s", directory, names[-i - 1]);
    else snprintf(path, sizeof path, "%s/f%d", directory, i);
    unlink(path);
  }
  rmdir(directory);
  printf("spawn: %d rounds of every step%s, no child and no descriptor left\n", ROUNDS, warden == NULL ? "" : ", under a warden too");
  return 0;
}
