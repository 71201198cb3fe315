// SPDX-License-Identifier: MIT
// How does a service use a TCP connection? The service derives its connection from this class. The
// class uses lwIP's raw interface.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "devices/ne2000/remote.hh"

struct tcp_pcb;

namespace device::ne2000 {

class Connection {
 public:
  virtual ~Connection() = default;

  // --- events of the connection

  virtual void opened() {}
  virtual void received(const uint8_t* bytes, size_t count) = 0;
  // The other side has acknowledged data, so unsent() may be smaller.
  virtual void room() {}
  // The other side will send no more data.
  virtual void finished() { close(); }
  // The connection has ended and will be deleted. `failed`: the connection was refused or reset, or
  // TCP has aborted it.
  virtual void gone(bool failed) { (void)failed; }

  // --- operations for a service

  // Accepts any number of bytes. Data that TCP does not accept yet waits in this object.
  void send(const void* bytes, size_t count);
  void send(const std::string& text) { send(text.data(), text.size()); }
  size_t unsent() const { return waiting_.size() - taken_; }  // bytes that TCP has not accepted
  void close();                                               // closes after all data has been sent
  void abort();                                               // ends at once with a reset
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
  size_t taken_ = 0;  // bytes of waiting_ that TCP has accepted
  bool closing_ = false, ended_ = false, aborted_ = false;
};

}  // namespace device::ne2000
