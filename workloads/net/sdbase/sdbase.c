// SPDX-License-Identifier: MIT
/*
 * sdbase: a database of one large file, a server that forks a process for each client, and 1 to 25
 * clients that read, modify and append records (wpi92 section 4.2 and figures 2 to 4). Phase =
 * number of clients at a time. A bracket contains all transactions of these clients, from the first
 * connection to the last answer. lib/sdbase.h describes our estimates.
 *
 *   peer=loopback   each client is a process of this system
 *   peer=remote     the clients are on the remote host, and each has its own connection
 *
 * The clients check every answer. At the end the file must have one more record for each append.
 * Each record must be an original record or a record that a client wrote.
 */
#include "net.h"
#include "sdbase.h"

#define CLIENTS_MAX 25
#define STORED (8 + SDBASE_RECORD) /* number and version, then the record */

static const char directory[] = "p5lab-sdbase", name[] = "records";
static long peer, records = 4096, transactions = 40, warmup = 1;

static void locked(int file, short type, long at, long size) {
  struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = at, .l_len = size};
  if (fcntl(file, F_SETLKW, &lock) != 0) p5w_fail("sdbase: lock");
}

static void store(int file, long at, const struct sdbase_message *message) {
  unsigned char stored[STORED];
  sdbase_put(stored, message->record);
  sdbase_put(stored + 4, message->version);
  memcpy(stored + 8, message->contents, SDBASE_RECORD);
  if (pwrite(file, stored, STORED, at) != STORED) p5w_fail(name);
}

static void fetch(int file, long at, struct sdbase_message *message) {
  unsigned char stored[STORED];
  errno = EIO;
  if (pread(file, stored, STORED, at) != STORED) p5w_fail(name);
  message->record = sdbase_get(stored);
  message->version = sdbase_get(stored + 4);
  memcpy(message->contents, stored + 8, SDBASE_RECORD);
}

static void generate(void) {
  struct sdbase_message message = {0};
  int file = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (file < 0) p5w_fail(name);
  for (long i = 0; i < records; i++) {
    message.record = (uint32_t)i;
    sdbase_contents(message.contents, message.record, 0);
    store(file, i * STORED, &message);
  }
  if (close(file) != 0) p5w_fail(name);
}

/* --- the server */

/* Execute one request. The answer replaces the message. */
static void execute(int file, struct sdbase_message *message) {
  long at = (long)message->record * STORED;
  if (message->record >= (uint32_t)records) net_wrong("sdbase: record", (long)message->record, records);
  switch (message->operation) {
    case SDBASE_READ:
      locked(file, F_RDLCK, at, STORED);
      fetch(file, at, message);
      locked(file, F_UNLCK, at, STORED);
      return;
    case SDBASE_MODIFY:
      locked(file, F_WRLCK, at, STORED);
      store(file, at, message);
      locked(file, F_UNLCK, at, STORED);
      return;
    default: /* append: the process locks the first byte after all records */
      locked(file, F_WRLCK, 0x7ffffffeL, 1);
      at = (long)lseek(file, 0, SEEK_END);
      store(file, at, message);
      locked(file, F_UNLCK, 0x7ffffffeL, 1);
  }
}

static _Noreturn void serve_client(int client) {
  unsigned char packed[SDBASE_MESSAGE];
  struct sdbase_message message;
  int file = open(name, O_RDWR);
  if (file < 0) p5w_fail(name);
  net_no_delay(client);
  for (;;) {
    net_read(client, packed, SDBASE_MESSAGE, "sdbase: server");
    sdbase_unpack(&message, packed);
    if (message.operation >= SDBASE_END) _exit(0);
    execute(file, &message);
    sdbase_pack(packed, &message);
    net_write(client, packed, SDBASE_MESSAGE, "sdbase: server");
  }
}

/* Serve `clients` clients, each in a separate process. */
static _Noreturn void serve(int listener, long clients) {
  pid_t children[CLIENTS_MAX];
  for (long i = 0; i < clients; i++) {
    int client = net_accept(listener);
    children[i] = fork();
    if (children[i] == 0) serve_client(client);
    close(client);
  }
  for (long i = 0; i < clients; i++) child_wait(children[i]);
  _exit(0);
}

/* --- a client as a process of this system */

static _Noreturn void ask(const struct sockaddr_in *server, uint32_t number) {
  unsigned char packed[SDBASE_MESSAGE];
  struct sdbase_message request, answer;
  uint32_t state = sdbase_seed(number);
  int to = net_connect_to(server);
  net_no_delay(to);
  for (long i = 0; i < transactions; i++) {
    sdbase_next(&request, &state, (uint32_t)records);
    sdbase_pack(packed, &request);
    net_write(to, packed, SDBASE_MESSAGE, "sdbase: client");
    net_read(to, packed, SDBASE_MESSAGE, "sdbase: client");
    sdbase_unpack(&answer, packed);
    if (sdbase_answers(&answer, &request)) continue;
    fprintf(stderr, "sdbase: client %u: transaction %ld: not the answer to it\n", (unsigned)number, i);
    _exit(P5W_EXIT_FAILED);
  }
  memset(packed, 0, sizeof(packed));
  sdbase_put(packed, SDBASE_END);
  net_write(to, packed, SDBASE_MESSAGE, "sdbase: client");
  _exit(0);
}

/* --- the whole benchmark */

/* The number of records that these clients append. */
static long appended(long clients) {
  struct sdbase_message request;
  long count = 0;
  for (uint32_t i = 0; i < (uint32_t)clients; i++) {
    uint32_t state = sdbase_seed(i);
    for (long k = 0; k < transactions; k++) {
      sdbase_next(&request, &state, (uint32_t)records);
      count += request.operation == SDBASE_APPEND;
    }
  }
  return count;
}

static void check(long expected) {
  unsigned char contents[SDBASE_RECORD];
  struct sdbase_message message;
  struct stat status;
  int file = open(name, O_RDONLY);
  if (file < 0 || fstat(file, &status) != 0) p5w_fail(name);
  long found = (long)(status.st_size / STORED);
  if (found != expected || status.st_size % STORED) net_wrong("sdbase: records", found, expected);
  for (long i = 0; i < found; i++) {
    fetch(file, i * STORED, &message);
    sdbase_contents(contents, message.record, message.version);
    if ((i < records && message.record != (uint32_t)i) ||
        memcmp(contents, message.contents, SDBASE_RECORD) != 0)
      data_wrong(name, i * STORED);
  }
  close(file);
}

static void run_remotely(long clients) {
  char line[NET_LINE];
  snprintf(line, sizeof(line), "run sdbase-clients port=%d clients=%ld transactions=%ld records=%ld",
           SDBASE_PORT, clients, transactions, records);
  net_control(line, line);
  long answered = (long)net_number(line, "sdbase-clients", "answered");
  if (answered != clients * transactions)
    net_wrong("sdbase: right answers", answered, clients * transactions);
}

static void run_locally(const struct sockaddr_in *address, long clients) {
  pid_t children[CLIENTS_MAX];
  for (long i = 0; i < clients; i++) {
    children[i] = fork();
    if (children[i] == 0) ask(address, (uint32_t)i);
  }
  for (long i = 0; i < clients; i++) child_wait(children[i]);
}

static void pass(long clients) {
  struct sockaddr_in address;
  generate();
  int listener = net_listen(peer == NET_REMOTE ? SDBASE_PORT : 0, CLIENTS_MAX, &address);
  pid_t server = fork();
  if (server == 0) serve(listener, clients);
  net_server_started(server);
  close(listener);
  p5_begin((uint32_t)clients);
  if (peer == NET_REMOTE)
    run_remotely(clients);
  else
    run_locally(&address, clients);
  net_server_wait();
  p5_end((uint32_t)clients);
  check(records + appended(clients));
}

static void measure(long clients) {
  int enabled = p5_marker_enabled;
  p5_marker_enabled = 0;
  for (long i = 0; i < warmup; i++) pass(clients);
  p5_marker_enabled = enabled;
  pass(clients);
}

int main(int argc, char **argv) {
  static const long counts[] = {1, 5, 10, 15, 20, 25};
  long clients = 0, filesystem = DATA_DISK;
  const struct p5w_option options[] = {
      {"clients", "so many clients only, at most 25; 0: 1, 5, 10 to 25", &clients, 0, NULL},
      {"transactions", "transactions of each client", &transactions, 1, NULL},
      {"records", "records of the file at the beginning", &records, 1, NULL},
      {"warmup", "passes before the measured one", &warmup, 0, NULL},
      DATA_FILESYSTEM(filesystem),
      NET_PEER(peer),
      {0}};
  p5w_start(argc, argv, options);
  if (clients > CLIENTS_MAX) {
    fprintf(stderr, "%s: clients must be at most %d\n", argv[0], CLIENTS_MAX);
    return P5W_EXIT_USAGE;
  }
  net_up(peer);
  data_mount(filesystem);
  data_enter(directory);
  if (clients) measure(clients);
  for (size_t i = 0; !clients && i < sizeof(counts) / sizeof(*counts); i++) measure(counts[i]);
  if (unlink(name) != 0) p5w_fail(name);
  data_leave(directory);
  return 0;
}
