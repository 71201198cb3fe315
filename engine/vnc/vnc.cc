// SPDX-License-Identifier: GPL-2.0-or-later
// How does a VNC viewer see a simulated machine? This program is a VNC server on 127.0.0.1 for
// `./p5lab shell --vnc`. LibVNCServer speaks the protocol. p5lab sends pictures to the standard
// input and reads what the person does from the standard output.
//
// Input: `frame WIDTH HEIGHT`, a line, and then three bytes for each dot: red, green, blue.
// Output, one line each:
//   port N               the server waits for viewers
//   want                 a viewer is connected and the last picture is shown
//   key SYMBOL DOWN      a key, by its symbol of the X Window System; DOWN is 1 or 0
//   pointer X Y BUTTONS  the pointer, in dots; 1 is the left, 2 the middle, 4 the right button
//
// Usage: p5vnc PORT. Port 0 is any free port from 5900 on.
#include <poll.h>
#include <rfb/rfb.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

constexpr int kSamples = 3, kBytes = 4;     // of a dot
constexpr long kWaitMicroseconds = 20'000;  // for events of the viewers
constexpr int kFirstPort = 5900, kLastPort = 5999;
constexpr unsigned kLargest = 4096;  // dots in a direction

int viewers;
bool wanted;  // a picture has been asked for, and has not come yet
std::vector<char> dots;

void key(rfbBool down, rfbKeySym symbol, rfbClientPtr) {
  std::printf("key %u %d\n", unsigned(symbol), down ? 1 : 0);
}

void pointer(int buttons, int x, int y, rfbClientPtr) {
  std::printf("pointer %d %d %d\n", x, y, buttons);
}

void leave(rfbClientPtr) { viewers--; }

rfbNewClientAction enter(rfbClientPtr viewer) {
  viewers++;
  viewer->clientGoneHook = leave;
  return RFB_CLIENT_ACCEPT;
}

bool input_waits() {
  pollfd wait{STDIN_FILENO, POLLIN, 0};
  return poll(&wait, 1, 0) > 0;
}

// Reads a picture and shows the rows that have changed. Returns false at the end of the input.
bool take_frame(rfbScreenInfoPtr screen) {
  char line[64];
  unsigned width = 0, height = 0;
  if (!std::fgets(line, sizeof line, stdin)) return false;
  if (std::sscanf(line, "frame %u %u", &width, &height) != 2) return false;
  if (!width || !height || width > kLargest || height > kLargest) return false;
  std::vector<unsigned char> rows(size_t(width) * height * 3);
  if (std::fread(rows.data(), 1, rows.size(), stdin) != rows.size()) return false;
  wanted = false;
  if (unsigned(screen->width) != width || unsigned(screen->height) != height) {
    std::vector<char> larger(size_t(width) * height * kBytes);
    rfbNewFramebuffer(screen, larger.data(), int(width), int(height), 8, kSamples, kBytes);
    dots.swap(larger);
  }
  for (unsigned y = 0; y < height; y++) {
    std::vector<char> row(size_t(width) * kBytes);
    for (unsigned x = 0; x < width; x++) {
      std::memcpy(&row[x * kBytes], &rows[(size_t(y) * width + x) * 3], 3);
    }
    char* shown = &dots[size_t(y) * row.size()];
    if (std::memcmp(shown, row.data(), row.size()) == 0) continue;
    std::memcpy(shown, row.data(), row.size());
    rfbMarkRectAsModified(screen, 0, int(y), int(width), int(y) + 1);
  }
  return true;
}

}  // namespace

int main(int count, char** arguments) {
  const int port = count > 1 ? std::atoi(arguments[1]) : 0;
  setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  setvbuf(stdin, nullptr, _IONBF, 0);  // poll() must see what is not read yet
  rfbLogEnable(FALSE);
  int none = 0;
  rfbScreenInfoPtr screen = rfbGetScreen(&none, nullptr, 640, 400, 8, kSamples, kBytes);
  if (!screen) return 1;
  dots.resize(size_t(640) * 400 * kBytes);
  screen->frameBuffer = dots.data();
  screen->desktopName = "p5lab";
  screen->alwaysShared = TRUE;
  screen->listenInterface = htonl(INADDR_LOOPBACK);
  screen->ipv6port = -1;
  screen->kbdAddEvent = key;
  screen->ptrAddEvent = pointer;
  screen->newClientHook = enter;
  screen->cursor = nullptr;  // the guest draws its own
  for (screen->port = port ? port : kFirstPort; screen->port <= kLastPort || port; screen->port++) {
    rfbInitServer(screen);
    if (rfbIsActive(screen) && screen->listenSock >= 0) break;
    if (port) return 1;
    rfbShutdownSockets(screen);  // otherwise the next call changes nothing
  }
  if (screen->listenSock < 0) return 1;
  std::printf("port %d\n", screen->port);
  while (rfbIsActive(screen)) {
    rfbProcessEvents(screen, kWaitMicroseconds);
    if (viewers && !wanted) {
      wanted = true;
      std::printf("want\n");
    }
    while (input_waits()) {
      if (!take_frame(screen)) return 0;
    }
  }
}
