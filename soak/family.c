/* The target of the soak: `family TOKEN KINDS` starts a process for each letter of KINDS, says who they are, waits for the end of its
 * input and ends with 7. TOKEN does nothing: it marks every one of them in /proc.
 *
 *   c  a child                      d  a child that is deaf to TERM, HUP and INT
 *   a  one in a session of its own  t  the same, forked twice
 *
 * Prints "target PID" first, then "KIND PID" for each, and "ready PID" when all are in place. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ENDS_WITH = 7 };

static void say(const char *kind) {
  char line[64];
  int length = snprintf(line, sizeof line, "%s %d\n", kind, (int)getpid());
  if (write(1, line, (size_t)length) == -1) {} /* nobody listens any more */
}

static void stay(const char *kind, int in_place) {
  say(kind);
  int null = open("/dev/null", O_RDWR);
  for (int fd = 0; fd < 3; fd++) dup2(null, fd);
  if (write(in_place, "", 1) == -1) {}
  close(in_place);
  for (;;) pause();
}

static void start(char kind, int in_place) {
  if (fork() != 0) return;
  switch (kind) {
    case 'd':
      signal(SIGTERM, SIG_IGN), signal(SIGHUP, SIG_IGN), signal(SIGINT, SIG_IGN);
      stay("deaf", in_place);
      break;
    case 'a':
      setsid();
      stay("away", in_place);
      break;
    case 't':
      setsid();
      if (fork() != 0) _exit(0);
      stay("twice", in_place);
      break;
    default:
      stay("child", in_place);
  }
}

int main(int argc, char **argv) {
  int in_place[2];
  char byte;
  ssize_t n;
  if (argc != 3 || pipe2(in_place, O_CLOEXEC) == -1) return 2;
  say("target");
  for (const char *kind = argv[2]; *kind != '\0'; kind++) start(*kind, in_place[1]);
  close(in_place[1]);
  for (size_t i = 0; i < strlen(argv[2]); i++)
    while ((n = read(in_place[0], &byte, 1)) == -1 && errno == EINTR) {}
  close(in_place[0]);
  say("ready");
  do n = read(0, &byte, 1);
  while (n > 0 || (n == -1 && errno == EINTR));
  return ENDS_WITH;
}
