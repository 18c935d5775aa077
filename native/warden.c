#include "warden.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client_process.h"
#include "client_signals.h"

extern char **environ;

enum { MAX_HELD = 32768, REAPS_A_TURN = 64, REAPS_AT_END = 16384 };

struct warden {
  int control;
  int signals;
  pid_t target; /* 0 once it has ended */
  pid_t group;  /* its own, with or without it */
  bool has_more; /* there may be more to reap at once */
};

static void report(const struct warden *warden, const struct warden_report *news, size_t bytes) {
  ssize_t n;
  do n = send(warden->control, news, bytes, MSG_NOSIGNAL);
  while (n == -1 && errno == EINTR); /* EPIPE: the agent is gone, which poll will tell */
}

struct process {
  pid_t pid;
  struct process_place place;
};

/* False: it is gone, or a zombie, which holds nothing. */
static bool look_at(pid_t pid, struct process *out) {
  out->pid = pid;
  return process_place(pid, &out->place) && out->place.state != 'Z' && out->place.state != 'X';
}

/* Room for MAX_HELD each, there from the start: when all is to be ended, memory may be what is wanting. Not static, or every call of the
 * client had a megabyte of data, which small limits do not allow. */
static struct process *all, *found;

static bool make_room(void) {
  all = calloc((size_t)2 * MAX_HELD, sizeof *all);
  found = all + MAX_HELD;
  return all != NULL;
}

/* Puts every descendant of this process into `found`, parents before their children's turn: one look at /proc. Returns their number. */
static size_t find_held(void) {
  size_t total = 0, count = 0;
  DIR *proc = opendir("/proc");
  if (proc == NULL) return 0;
  for (struct dirent *entry; (entry = readdir(proc)) != NULL && total < MAX_HELD;) {
    pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
    if (pid > 0 && look_at(pid, &all[total])) total++;
  }
  closedir(proc);
  for (size_t next = 0; next <= count; next++) {
    pid_t parent = next == 0 ? getpid() : found[next - 1].pid;
    for (size_t i = 0; i < total; i++)
      if (all[i].place.parent == parent && count < MAX_HELD) found[count++] = all[i];
  }
  return count;
}

static void signal_all(int signal_number) {
  size_t count = find_held();
  for (size_t i = 0; i < count; i++) kill(found[i].pid, signal_number);
}

/* In whole groups where a group is certainly of this request: the target's, and those of sessions that were made by what the
 * target started. The kernel delivers to a group at one blow, also to a member that is forking just now: whoever lives for a
 * shorter time than a look at /proc takes, as in a fork storm, is reached in no other way. */
static size_t strike(const struct warden *warden, int signal_number) {
  size_t count = find_held();
  pid_t own = getsid(0);
  for (size_t i = 0; i < count; i++) {
    bool whole = found[i].place.group > 1 && (found[i].place.group == warden->group || found[i].place.session != own);
    bool is_told = false;
    for (size_t j = 0; whole && j < i && !is_told; j++) is_told = found[j].place.group == found[i].place.group;
    if (!is_told) kill(whole ? -found[i].place.group : found[i].pid, signal_number);
  }
  return count;
}

/* Reaps what has ended, `most` of it: a fork storm can keep this busy for ever. Tells of the target's changes. False: no
 * child is left, so nothing at all is held. */
static bool reap(struct warden *warden, int most) {
  warden->has_more = true;
  for (int reaped = 0; reaped < most; reaped++) {
    struct warden_report news = {.news = WARDEN_CHANGE};
    int result = process_next_change(0, false, &news.change);
    if (result <= 0) {
      warden->has_more = false;
      break;
    }
    if (news.change.pid != warden->target) continue;
    if (!WIFSTOPPED(news.change.wait_status) && news.change.wait_status != 0xffff) warden->target = 0;
    news.pid = news.change.pid;
    report(warden, &news, offsetof(struct warden_report, subject));
  }
  siginfo_t any;
  return waitid(P_ALL, 0, &any, WEXITED | WNOHANG | WNOWAIT | __WALL) == 0;
}

/* A fork storm leaves others next to nothing of the processor: those who are to die are made to give way, and the target's own group
 * to stand still, before anybody is looked for. (As long as the target is not reaped, its number is not another's.) */
static void get_ahead(const struct warden *warden) {
  if (warden->target == 0 || warden->target != warden->group) return;
  (void)setpriority(PRIO_PGRP, (id_t)warden->group, 19);
  kill(-warden->group, SIGSTOP);
}

/* Stops everything before it kills it, so that a process cannot be forking while its siblings are killed; looks again until
 * nobody is left. Reaps last: of a storm there are zombies by the thousand. */
static void end_all(struct warden *warden) {
  get_ahead(warden);
  do {
    size_t before, now = 0;
    do before = now, now = strike(warden, SIGSTOP);
    while (now > before);
    strike(warden, SIGKILL);
    struct pollfd wait = {.fd = warden->signals, .events = POLLIN};
    poll(&wait, 1, warden->has_more ? 0 : 20);
    struct signalfd_siginfo drained;
    while (read(warden->signals, &drained, sizeof drained) > 0) {}
  } while (reap(warden, REAPS_AT_END));
}

static int open_signals(void) {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, NULL);
  signal(SIGCHLD, SIG_DFL); /* ignored, children would leave without a status */
  return signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK);
}

static void watch(struct warden *warden) {
  for (bool holding = true; holding;) {
    /* Rests for a moment between reaps: who sleeps is let run as soon as an order comes, who never does waits for his turn. */
    struct pollfd waits[2] = {{.fd = warden->control, .events = POLLIN}, {.fd = warden->has_more ? -1 : warden->signals, .events = POLLIN}};
    poll(waits, 2, warden->has_more ? 1 : -1);
    struct signalfd_siginfo drained;
    while (read(warden->signals, &drained, sizeof drained) > 0) {}
    uint8_t order = 0;
    ssize_t n = waits[0].revents == 0 ? -1 : recv(warden->control, &order, 1, MSG_DONTWAIT);
    if (n == 0 || (n == 1 && order == WARDEN_KILL)) end_all(warden);
    else if (n == 1) signal_all(order);
    holding = reap(warden, REAPS_A_TURN);
  }
}

/* What warden_spawn() has written. Returns their number. */
static size_t read_limits(const char *text, struct spawn_limit into[SPAWN_MAX_LIMITS]) {
  size_t count = 0;
  while (*text != '\0' && count < SPAWN_MAX_LIMITS) {
    struct spawn_limit *limit = &into[count++];
    char *at;
    limit->resource = (int)strtol(text, &at, 10);
    limit->soft = strtoull(at, &at, 10);
    limit->hard = strtoull(at, &at, 10);
    text = at + (*at == ' ' ? 1 : 0);
  }
  return count;
}

int warden_main(int argc, char **argv) {
  struct warden_report news = {0};
  struct spawn_result result;
  struct spawn_limit limits[SPAWN_MAX_LIMITS];
  if (argc < 6 || !make_room()) return 125;
  struct warden warden = {.control = atoi(argv[0])};
  struct spawn_request request = {
      .inherited = true,
      .program = argv[4],
      .search_path = getenv("PATH"),
      .argv = argv + 5,
      .envp = environ,
      .limits = limits,
      .limit_count = read_limits(argv[3], limits),
      .ignored = signals_ignored(), /* what the warden was born ignoring */
      .terminal = (uint8_t)atoi(argv[1]),
      .terminal_fd = (uint32_t)atoi(argv[2]),
      .cgroup_fd = -1,
  };
  prctl(PR_SET_PDEATHSIG, 0); /* the agent's end is to be seen on the socket, and answered by ending everything */
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  fcntl(warden.control, F_SETFD, FD_CLOEXEC);
  warden.signals = open_signals();

  bool started = spawn_target(&request, &result) == 0;
  (void)setpriority(PRIO_PROCESS, 0, -20); /* where that is allowed: a warden sleeps, and has to be heard in a storm */
  /* The target's descriptors are its own from here on: a copy kept here would keep its readers waiting. */
  for (int fd = 0; fd < 3; fd++)
    if (fd != warden.control && fd != warden.signals) close(fd);
  int low = warden.control < warden.signals ? warden.control : warden.signals;
  int high = warden.control < warden.signals ? warden.signals : warden.control;
  if (low > 3) syscall(SYS_close_range, 3, low - 1, 0);
  if (high > low + 1) syscall(SYS_close_range, low + 1, high - 1, 0);
  syscall(SYS_close_range, high + 1, ~0U, 0);

  news.news = started ? WARDEN_STARTED : WARDEN_FAILED;
  news.step = result.step;
  news.error = result.error;
  news.pid = warden.target = warden.group = result.pid;
  if (!started) memcpy(news.subject, result.subject, sizeof news.subject);
  report(&warden, &news, started ? offsetof(struct warden_report, subject) : sizeof news);
  if (started) watch(&warden);
  return 0;
}
