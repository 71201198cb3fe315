// SPDX-License-Identifier: MIT
// A TCP connection of the remote host, over lwIP's raw interface. A service derives from it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "remote.hh"

struct tcp_pcb;

namespace net {

class Connection {
 public:
  virtual ~Connection() = default;

  // --- what happens to it

  virtual void opened() {}
  virtual void received(const uint8_t* bytes, size_t count) = 0;
  // The other side has acknowledged something: unsent() may be less.
  virtual void room() {}
  // The other side sends no more.
  virtual void finished() { close(); }
  // It is over and will be deleted: closed on both sides, or refused, reset or given up (`failed`).
  virtual void gone(bool failed) { (void)failed; }

  // --- what a service does with it

  // Without limit: what TCP cannot take yet waits here.
  void send(const void* bytes, size_t count);
  void send(const std::string& text) { send(text.data(), text.size()); }
  size_t unsent() const { return waiting_.size() - taken_; }  // not yet given to TCP
  void close();                                               // after what has been sent
  void abort();                                               // with a reset, at once
  void no_delay();
  Endpoint peer() const;

 protected:
  explicit Connection(Remote& host) : host_(host) {}
  Remote& host_;

 private:
  friend class Remote;
  friend struct Stack;

  void push();
  void end(bool failed);

  tcp_pcb* pcb_ = nullptr;
  std::string waiting_;
  size_t taken_ = 0;  // of what waits
  bool closing_ = false, ended_ = false, aborted_ = false;
};

}  // namespace net
