// SPDX-License-Identifier: MIT
/*
 * web: a trace of 1024 requests, 9.7 MB, to a web server that writes an access log. `concurrency`
 * requests run at a time (chen95 section 5.3 and figure 12). Phase 0 brackets the whole trace.
 * lib/webtrace.h makes the tree and the trace. lib/httpd.h is a server with three process
 * structures. mini-httpd is a server that is not part of this project. It has the first of these
 * structures (docs/evidence/network-benchmarks.md).
 *
 * The client checks every byte of every document. If a connection is refused, or ends without an
 * answer, the client repeats the request. The program prints the number of repetitions. Before the
 * trace, the tree is on its disk and the file cache is empty.
 */
#include "httpd.h"
#include "webtrace.h"

#define MINI_HTTPD "/bin/mini_httpd"
#define CONCURRENCY_MAX 64

enum server { FORK, PREFORK, EVENT, MINI };
static const char *const servers[] = {"fork", "prefork", "event", "mini-httpd", NULL};

static const char directory[] = "p5lab-web", tree[] = "tree", access_log[] = "access_log";
static long peer, server = FORK, requests = 1024, concurrency = 32, processes = 22, seed, pause_ms;
static struct web_trace trace;
static long refused;

static void make_tree(void) {
  static unsigned char bytes[HTTPD_PIECE];
  char path[WEB_PATH];
  if (mkdir(tree, 0755) != 0 || chdir(tree) != 0) p5w_fail(tree);
  for (uint32_t document = 0; document < WEB_DOCUMENTS; document++) {
    if (trace.size[document] == 0) continue;
    web_directory(path, document);
    if (mkdir(path, 0755) != 0 && errno != EEXIST) p5w_fail(path);
    web_path(path, document);
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL, 0644);
    if (file < 0) p5w_fail(path);
    for (uint32_t at = 0, size; at < trace.size[document]; at += size) {
      size = trace.size[document] - at < sizeof(bytes) ? trace.size[document] - at : sizeof(bytes);
      for (uint32_t i = 0; i < size; i++) bytes[i] = web_byte(document, at + i);
      data_write(file, (char *)bytes, (long)size, path);
    }
    if (close(file) != 0) p5w_fail(path);
  }
  if (chdir("..") != 0) p5w_fail(tree);
}

static void remove_tree(void) {
  char path[WEB_PATH];
  if (chdir(tree) != 0) p5w_fail(tree);
  for (uint32_t document = 0; document < WEB_DOCUMENTS; document++) {
    if (trace.size[document] == 0) continue;
    web_path(path, document);
    if (unlink(path) != 0) p5w_fail(path);
  }
  for (uint32_t document = 0; document < WEB_DOCUMENTS; document++) {
    web_directory(path, document);
    if (rmdir(path) != 0 && errno != ENOENT) p5w_fail(path);
  }
  if (chdir("..") != 0 || rmdir(tree) != 0) p5w_fail(tree);
}

/* --- the server */

/* Start mini_httpd, which makes its own socket and changes to the user `nobody`. In a guest that
 * has no list of users, first make a list with this user.
 */
static _Noreturn void run_mini(int port) {
  static const char nobody[] = "nobody:x:0:0:nobody:/:/bin/sh\n";
  char number[12], log[1024], place[1000];
  snprintf(number, sizeof(number), "%d", port);
  if (!getcwd(place, sizeof(place))) p5w_fail("directory");
  snprintf(log, sizeof(log), "%s/%s", place, access_log);
  if (p5_marker_enabled && access("/etc/passwd", F_OK) != 0) {
    mkdir("/etc", 0755);
    int users = open("/etc/passwd", O_WRONLY | O_CREAT, 0644);
    if (users < 0 || write(users, nobody, sizeof(nobody) - 1) != (ssize_t)sizeof(nobody) - 1)
      p5w_fail("/etc/passwd");
    close(users);
  }
  int nowhere = open("/dev/null", O_WRONLY); /* mini_httpd prints a warning when root starts it */
  if (nowhere < 0 || dup2(nowhere, 2) < 0) p5w_fail("/dev/null");
  char *const arguments[] = {"mini_httpd", "-D", "-p", number, "-d", (char *)tree,
                             "-l", log, NULL};
  execv(MINI_HTTPD, arguments);
  p5w_fail(MINI_HTTPD);
}

static void start_server(struct sockaddr_in *address) {
  int listener = net_listen(peer == NET_REMOTE || server == MINI ? WEB_PORT : 0, 128, address);
  if (server == MINI) close(listener);
  pid_t child = fork();
  if (child < 0) p5w_fail("fork");
  if (child > 0) {
    if (server != MINI) close(listener);
    net_server_started(child);
    return;
  }
  setpgid(0, 0);
  if (server == MINI) run_mini(WEB_PORT);
  if (chdir(tree) != 0) p5w_fail(tree);
  httpd_run(listener, (enum httpd_structure)server, processes, "../access_log");
}

/* mini_httpd does not report when it is ready, so connect until it answers. */
static void await_server(const struct sockaddr_in *address) {
  const struct timespec moment = {.tv_nsec = 10000000};
  for (int tries = 0; tries < 200; tries++) {
    int to = socket(AF_INET, SOCK_STREAM, 0);
    int made = connect(to, (const struct sockaddr *)address, sizeof(*address));
    close(to);
    if (made == 0) return;
    nanosleep(&moment, NULL);
  }
  p5w_fail("the server");
}

static void stop_server(void) {
  net_server_stop();
  if (waitpid(net_server, NULL, 0) != net_server) p5w_fail("wait");
  net_server = 0;
}

/* --- the client as a process of this system */

struct request {
  int socket;
  uint32_t document, at; /* at: bytes received of the document */
  size_t used;           /* bytes of the header, until it is complete */
  int has_header;
  char header[1024];
};

static void ask(struct request *request, const struct sockaddr_in *address) {
  char path[WEB_PATH], line[WEB_PATH + 32];
  request->at = 0, request->used = 0, request->has_header = 0;
  request->socket = net_connect_to(address);
  web_path(path, request->document);
  int length = snprintf(line, sizeof(line), "GET /%s HTTP/1.0\r\n\r\n", path);
  net_write(request->socket, line, length, "web: client");
}

static void take_body(struct request *request, const unsigned char *bytes, size_t size) {
  for (size_t i = 0; i < size; i++, request->at++)
    if (request->at >= trace.size[request->document] ||
        bytes[i] != web_byte(request->document, request->at))
      data_wrong("web: document", request->at);
}

/* Receive the available bytes. Returns whether the answer is complete. */
static int take(struct request *request) {
  static unsigned char bytes[HTTPD_PIECE];
  ssize_t count = read(request->socket, bytes, sizeof(bytes));
  if (count < 0 && errno != ECONNRESET) p5w_fail("web: client");
  if (count <= 0) return 1;
  if (request->has_header) {
    take_body(request, bytes, (size_t)count);
    return 0;
  }
  size_t part = sizeof(request->header) - 1 - request->used, body;
  if ((size_t)count < part) part = (size_t)count;
  memcpy(request->header + request->used, bytes, part);
  request->header[request->used + part] = '\0';
  char *end = strstr(request->header, "\r\n\r\n");
  if (!end) {
    request->used += part;
    return 0;
  }
  if (strncmp(request->header, "HTTP/1.", 7) != 0 || strncmp(request->header + 8, " 200 ", 5) != 0) {
    fprintf(stderr, "web: %.40s\n", request->header);
    exit(P5W_EXIT_FAILED);
  }
  request->has_header = 1;
  body = (size_t)(end + 4 - request->header) - request->used;
  take_body(request, bytes + body, (size_t)count - body);
  return 0;
}

/* Run the whole trace, `concurrency` requests at a time. */
static void replay(const struct sockaddr_in *address) {
  static struct request slots[CONCURRENCY_MAX];
  struct pollfd ready[CONCURRENCY_MAX];
  uint32_t next = 0, done = 0;
  for (long i = 0; i < concurrency; i++) slots[i].socket = -1;
  while (done < trace.requests) {
    for (long i = 0; i < concurrency; i++) {
      if (slots[i].socket < 0 && next < trace.requests) {
        slots[i].document = trace.document[next++];
        ask(&slots[i], address);
      }
      ready[i] = (struct pollfd){.fd = slots[i].socket, .events = POLLIN};
    }
    if (poll(ready, (nfds_t)concurrency, -1) < 0) p5w_fail("poll");
    for (long i = 0; i < concurrency; i++) {
      struct request *request = &slots[i];
      if (ready[i].fd < 0 || !ready[i].revents || !take(request)) continue;
      close(request->socket);
      request->socket = -1;
      if (request->at == trace.size[request->document]) {
        done++;
      } else if (request->used == 0 && !request->has_header) {
        refused++;
        ask(request, address);
      } else {
        net_wrong("web: bytes of a document", request->at, trace.size[request->document]);
      }
    }
  }
}

static void replay_remotely(void) {
  char line[NET_LINE];
  snprintf(line, sizeof(line), "run http port=%d requests=%ld seed=%ld concurrency=%ld pause_ms=%ld",
           WEB_PORT, requests, seed, concurrency, pause_ms);
  net_control(line, line);
  long served = (long)net_number(line, "http", "served");
  long bytes = (long)net_number(line, "http", "bytes");
  if (served != requests) net_wrong("web: right documents", served, requests);
  if (bytes != (long)trace.bytes) net_wrong("web: bytes", bytes, (long)trace.bytes);
  refused = (long)net_number(line, "http", "refused");
}

/* Check that each request has its line in the access log. */
static void check_log(long expected) {
  char bytes[4096];
  long lines = 0;
  int log = open(access_log, O_RDONLY);
  if (log < 0) p5w_fail(access_log);
  for (ssize_t count; (count = read(log, bytes, sizeof(bytes))) > 0;)
    for (ssize_t i = 0; i < count; i++) lines += bytes[i] == '\n';
  close(log);
  if (lines < expected) net_wrong("web: lines of the access log", lines, expected);
}

int main(int argc, char **argv) {
  long filesystem = DATA_DISK;
  const struct p5w_option options[] = {
      {"server", "fork, prefork, event or mini-httpd", &server, 0, servers},
      {"requests", "requests of the trace, at most 4096", &requests, 1, NULL},
      {"concurrency", "requests at a time, at most 64", &concurrency, 1, NULL},
      {"processes", "of server=prefork", &processes, 1, NULL},
      {"pause_ms", "pause of the remote client before each request, in milliseconds", &pause_ms, 0, NULL},
      {"seed", "of the trace", &seed, 0, NULL},
      DATA_FILESYSTEM(filesystem),
      NET_PEER(peer),
      {0}};
  struct sockaddr_in address;
  p5w_start(argc, argv, options);
  if (requests > WEB_REQUESTS_MAX || concurrency > CONCURRENCY_MAX) {
    fprintf(stderr, "%s: requests must be at most %d, concurrency at most %d\n", argv[0],
            WEB_REQUESTS_MAX, CONCURRENCY_MAX);
    return P5W_EXIT_USAGE;
  }
  if (server == MINI && access(MINI_HTTPD, X_OK) != 0) {
    fprintf(stderr, MINI_HTTPD ": this system does not have it\n");
    return P5W_EXIT_UNAVAILABLE;
  }
  net_up(peer);
  data_mount(filesystem);
  data_enter(directory);
  web_trace_new(&trace, (uint32_t)requests, (uint32_t)seed);
  make_tree();
  start_server(&address);
  if (server == MINI) await_server(&address);
  data_drop_caches();
  p5w_await_tick();
  p5_begin(0);
  if (peer == NET_REMOTE)
    replay_remotely();
  else
    replay(&address);
  p5_end(0);
  stop_server();
  check_log(requests);
  if (unlink(access_log) != 0) p5w_fail(access_log);
  remove_tree();
  data_leave(directory);
  if (refused > 0) printf("%ld connections refused\n", refused);
  return 0;
}
