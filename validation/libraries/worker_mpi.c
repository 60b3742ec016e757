/* A rank of an MPI library: worker_mpi SHARED OPERATION BYTES CALLS. Places as in common_start.py.

   While a rank waits for its next call it lets the library make progress, as a rank that is in no call would not. */
#include <fcntl.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { kRanks = 64, kCalls = 8, kQuit = 0, kStart = 1, kReady = 16, kEnd = 80, kPlaces = kEnd + kCalls * kRanks };

static int64_t now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

static void wait_a_little(void) {
  int is_there = 0;
  MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &is_there, MPI_STATUS_IGNORE);
  usleep(500);
}

static void fail(const char* what) {
  fprintf(stderr, "%s\n", what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void fill(float* values, size_t count, float value) {
  for (size_t i = 0; i < count; ++i) values[i] = value;
}

/* `count` values in equal parts, the one of rank r with expected(r). */
static void check(const float* values, size_t count, int parts, float first, float step) {
  for (size_t i = 0; i < count; ++i)
    if (values[i] != first + step * (float)(i / (count / (size_t)parts))) fail("a wrong result");
}

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int file = open(argv[1], O_RDWR);
  volatile int64_t* places = mmap(NULL, 8 * kPlaces, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (file < 0 || places == MAP_FAILED) fail("no shared file");
  const char* operation = argv[2];
  const size_t count = strtoul(argv[3], NULL, 10) / sizeof(float), all = count * (size_t)ranks;
  const int calls = atoi(argv[4]);
  float *sent = malloc(all * sizeof(float)), *received = malloc(all * sizeof(float));
  fill(sent, all, (float)(rank + 1));
  fill(received, all, 0);
  const float total = (float)(ranks * (ranks + 1) / 2);
  places[kReady + rank] = 1;
  for (int call = 0; call < calls; ++call) {
    while (!places[kStart + call] && !places[kQuit]) wait_a_little();
    if (places[kQuit]) break;
    const int64_t start = places[kStart + call];
    while (now_ns() < start - 1000000) wait_a_little();
    const struct timespec time = {start / 1000000000, start % 1000000000};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
    if (strcmp(operation, "all_reduce") == 0)
      MPI_Allreduce(sent, received, (int)count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    else if (strcmp(operation, "broadcast") == 0)
      MPI_Bcast(rank == 0 ? sent : received, (int)count, MPI_FLOAT, 0, MPI_COMM_WORLD);
    else if (strcmp(operation, "reduce_scatter") == 0)
      MPI_Reduce_scatter_block(sent, received, (int)(count / (size_t)ranks), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    else if (strcmp(operation, "all_gather") == 0)
      MPI_Allgather(sent, (int)count, MPI_FLOAT, received, (int)count, MPI_FLOAT, MPI_COMM_WORLD);
    else if (strcmp(operation, "all_to_all") == 0)
      MPI_Alltoall(sent, (int)(count / (size_t)ranks), MPI_FLOAT, received, (int)(count / (size_t)ranks), MPI_FLOAT, MPI_COMM_WORLD);
    else
      fail("an unknown operation");
    places[kEnd + call * kRanks + rank] = now_ns();
    if (call > 0) continue;
    if (strcmp(operation, "all_reduce") == 0) check(received, count, 1, total, 0);
    if (strcmp(operation, "broadcast") == 0 && rank > 0) check(received, count, 1, 1, 0);
    if (strcmp(operation, "reduce_scatter") == 0) check(received, count / (size_t)ranks, 1, total, 0);
    if (strcmp(operation, "all_gather") == 0) check(received, all, ranks, 1, 1);
    if (strcmp(operation, "all_to_all") == 0) check(received, count, ranks, 1, 1);
  }
  while (!places[kQuit]) wait_a_little();
  MPI_Finalize();
  return 0;
}
