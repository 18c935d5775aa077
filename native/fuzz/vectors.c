/* Runs the C codec over test/vectors/frames.txt, whose path is the only argument: decodes what an agent sends, encodes what a
 * client sends, and compares with the file; then tries the caps of the encoder. test/unit/protocol/vectors.test.ts builds and
 * runs it. Prints one line for each difference, then the counts; exits 1 when there was one. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "render.h"
#include "run_text.h"

struct vector {
  char *name, *side, *verdict, *hex, *text;
  uint8_t *frame; /* a block of exactly its size, so that a sanitizer sees one byte too far */
  size_t frame_bytes;
};

static unsigned faults, decoded, encoded, refused;

static void fault(const struct vector *vector, const char *what, const char *got) {
  printf("%s: %s: %s\n", vector->name, what, got);
  faults++;
}

static void *must_have(void *block) {
  if (block == NULL) {
    fputs("vectors: out of memory\n", stderr);
    exit(2);
  }
  return block;
}

static void read_hex(struct vector *vector) {
  vector->frame_bytes = strlen(vector->hex) / 2;
  vector->frame = must_have(malloc(vector->frame_bytes));
  for (size_t i = 0; i < vector->frame_bytes; i++) {
    char pair[3] = {vector->hex[2 * i], vector->hex[2 * i + 1], '\0'};
    vector->frame[i] = (uint8_t)strtoul(pair, NULL, 16);
  }
}

/* The frame's body cut or filled to `bytes`, under a header that says so. */
static int decode_resized(const struct vector *vector, struct wire_header header, size_t bytes, struct wire_agent_frame *out) {
  size_t known = vector->frame_bytes - WIRE_HEADER_BYTES;
  uint8_t *body = must_have(calloc(bytes + 1, 1));
  uint8_t *exact = must_have(malloc(bytes == 0 ? 1 : bytes));

  memcpy(body, vector->frame + WIRE_HEADER_BYTES, known < bytes ? known : bytes);
  memcpy(exact, body, bytes);
  header.body_bytes = (uint32_t)bytes;
  int status = wire_decode_agent(&header, exact, out);
  free(exact);
  free(body);
  return status;
}

/* Only an ANSWER may be any length: what its JSON says is not judged here. */
static void check_cuts(const struct vector *vector, const struct wire_header *header) {
  struct wire_agent_frame frame;

  if (header->kind == WIRE_ANSWER) return;
  for (size_t bytes = 0; bytes <= (size_t)header->body_bytes + 1; bytes++)
    if (bytes != header->body_bytes && decode_resized(vector, *header, bytes, &frame) != -EPROTO) fault(vector, "taken at another length", vector->text);
}

static void check_agent_frame(const struct vector *vector) {
  struct wire_header header;
  struct wire_agent_frame frame;
  bool ok = strcmp(vector->verdict, "ok") == 0;
  int status = wire_decode_header(vector->frame, &header);

  /* A header that lies about its body is refused by itself, or it would never be complete. */
  if (status == 0 && header.body_bytes != vector->frame_bytes - WIRE_HEADER_BYTES) fault(vector, "the header was taken", vector->text);
  else if (status == 0) status = wire_decode_agent(&header, vector->frame + WIRE_HEADER_BYTES, &frame);
  if (!ok) {
    refused++;
    if (status != -EPROTO) fault(vector, "taken", vector->text);
    return;
  }
  decoded++;
  if (status != 0) {
    fault(vector, "refused", vector->text);
    return;
  }
  char *text = NULL;
  size_t text_bytes;
  FILE *to = must_have(open_memstream(&text, &text_bytes));
  render_agent_frame(to, &header, &frame);
  fclose(to);
  if (strcmp(text, vector->text) != 0) fault(vector, "decoded as", text);
  free(text);
  check_cuts(vector, &header);
}

static void check_bytes(const struct vector *vector, const uint8_t *frame, size_t frame_bytes) {
  encoded++;
  if (frame_bytes == vector->frame_bytes && memcmp(frame, vector->frame, frame_bytes) == 0) return;
  fault(vector, "encoded otherwise", vector->text);
}

static void check_run(const struct vector *vector) {
  struct run_text run;
  uint8_t *frame;
  size_t frame_bytes;

  if (!run_text_parse(&run, vector->text)) fault(vector, "text not understood", vector->text);
  else if (wire_encode_run(&run.request, malloc, &frame, &frame_bytes) != 0) fault(vector, "not encoded", vector->text);
  else {
    check_bytes(vector, frame, frame_bytes);
    free(frame);
  }
  run_text_free(&run);
}

static void check_client_frame(const struct vector *vector) {
  uint8_t frame[9];
  int signal;

  if (strncmp(vector->text, "RUN ", 4) == 0) check_run(vector);
  else if (sscanf(vector->text, "SIGNAL signal=%d", &signal) == 1) check_bytes(vector, frame, wire_encode_signal(frame, signal));
  else if (strcmp(vector->text, "SUSPEND") == 0) check_bytes(vector, frame, wire_encode_plain(frame, WIRE_SUSPEND));
  else if (strcmp(vector->text, "RESUME") == 0) check_bytes(vector, frame, wire_encode_plain(frame, WIRE_RESUME));
  else if (strcmp(vector->text, "CANCEL") == 0) check_bytes(vector, frame, wire_encode_plain(frame, WIRE_CANCEL));
}

static void check_line(char *line) {
  struct vector vector = {0};

  vector.name = strtok(line, "\t");
  vector.side = strtok(NULL, "\t");
  vector.verdict = strtok(NULL, "\t");
  vector.hex = strtok(NULL, "\t");
  vector.text = strtok(NULL, "\n");
  if (vector.text == NULL || strlen(vector.hex) < 2 * WIRE_HEADER_BYTES) {
    printf("%s: not five fields with a frame\n", line);
    faults++;
    return;
  }
  read_hex(&vector);
  if (strcmp(vector.side, "agent") == 0) check_agent_frame(&vector);
  else if (strcmp(vector.verdict, "ok") == 0) check_client_frame(&vector); /* C never decodes a client */
  free(vector.frame);
}

/* What is over a cap is refused before a frame is made of it: no vector can hold that. */
static void check_caps(void) {
  static uint32_t fds[WIRE_MAX_FDS + 1];
  static char most[8388608]; /* with the fields beside it: 63 bytes, "/", and the NUL of argv[0] */
  const char *argv[] = {most};
  struct wire_run run = {.argv = argv, .argc = 1, .cwd = "/", .fd_numbers = fds, .fd_count = WIRE_MAX_FDS};
  struct vector vector = {.name = "caps"};
  uint8_t *frame = NULL;
  size_t frame_bytes;

  memset(most, 'x', sizeof most - 1 - 63 - 1 - WIRE_MAX_FDS * 4);
  if (wire_encode_run(&run, malloc, &frame, &frame_bytes) != 0 || frame_bytes != WIRE_HEADER_BYTES + sizeof most) fault(&vector, "refused", "the most");
  free(frame);
  run.cwd = "/x";
  if (wire_encode_run(&run, malloc, &frame, &frame_bytes) != -E2BIG) fault(&vector, "taken", "a byte over the cap");
  run = (struct wire_run){.argv = argv, .argc = 0, .cwd = "/", .fd_numbers = fds, .fd_count = WIRE_MAX_FDS + 1};
  if (wire_encode_run(&run, malloc, &frame, &frame_bytes) != -E2BIG) fault(&vector, "taken", "254 descriptors");
  run.fd_count = WIRE_MAX_FDS;
  run.flags = WIRE_RUN_CWD_FD;
  if (wire_encode_run(&run, malloc, &frame, &frame_bytes) != -E2BIG) fault(&vector, "taken", "253 descriptors and the directory");
}

int main(int argc, char **argv) {
  FILE *file = argc == 2 ? fopen(argv[1], "r") : NULL;
  char *line = NULL;
  size_t line_bytes = 0;

  if (file == NULL) {
    fputs("usage: vectors FILE\n", stderr);
    return 2;
  }
  while (getline(&line, &line_bytes, file) != -1)
    if (line[0] != '#' && line[0] != '\n') check_line(line);
  free(line);
  fclose(file);
  check_caps();
  printf("decoded %u, encoded %u, refused %u\n", decoded, encoded, refused);
  return faults == 0 ? 0 : 1;
}
