// SPDX-License-Identifier: MIT
// Which clients use the guest's database and X servers? `run sdbase-clients port= clients=
// transactions= records=` starts the clients of workloads/net/sdbase.c. `run xclients port=
// clients= type= steps=` starts the clients of workloads/net/sxipc.c. All clients begin at once.
// Each client has its own connection and waits for its answers.
#include "../../../../workloads/lib/sdbase.h"
#include "../../../../workloads/lib/sxipc.h"
#include "devices/ne2000/service.hh"
#include "devices/ne2000/tcp.hh"

namespace device::ne2000 {
namespace {

constexpr uint64_t kClientsMax = 250;

// The clients of one run that are still active, and their results.
struct Crowd {
  std::string name, unit;
  uint64_t left, right = 0, failed = 0;
  Time began;
  Service::Answer answer;

  void over(Time now, bool well) {
    if (!well) failed++;
    if (--left > 0) return;
    if (failed > 0)
      return answer("error " + name + ": " + std::to_string(failed) + " clients failed\n");
    answer(name + " " + unit + "=" + std::to_string(right) +
           " microseconds=" + std::to_string((now - began) / kMicrosecond) + "\n");
  }
};

class DatabaseClient : public Connection {
 public:
  DatabaseClient(Remote& host, std::shared_ptr<Crowd> crowd, uint32_t number, uint64_t transactions,
                 uint32_t records)
      : Connection(host),
        crowd_(std::move(crowd)),
        left_(transactions),
        records_(records),
        state_(sdbase_seed(number)) {}

  void opened() override {
    no_delay();
    ask();
  }

  void received(const uint8_t* bytes, size_t count) override {
    came_.append(reinterpret_cast<const char*>(bytes), count);
    while (left_ > 0 && came_.size() >= SDBASE_MESSAGE) {
      sdbase_message answer;
      sdbase_unpack(&answer, reinterpret_cast<const uint8_t*>(came_.data()));
      came_.erase(0, SDBASE_MESSAGE);
      if (sdbase_answers(&answer, &request_)) crowd_->right++;
      left_--;
      ask();
    }
  }

  void gone(bool) override { crowd_->over(host_.now(), left_ == 0); }

 private:
  void ask() {
    uint8_t packed[SDBASE_MESSAGE] = {};
    if (left_ > 0) {
      sdbase_next(&request_, &state_, records_);
      sdbase_pack(packed, &request_);
    } else {
      sdbase_put(packed, SDBASE_END);
    }
    send(packed, sizeof packed);
  }

  std::shared_ptr<Crowd> crowd_;
  uint64_t left_;
  uint32_t records_, state_;
  sdbase_message request_{};
  std::string came_;
};

class XClient : public Connection {
 public:
  XClient(Remote& host, std::shared_ptr<Crowd> crowd, uint32_t number, const sxipc_type& type,
          uint32_t steps)
      : Connection(host), crowd_(std::move(crowd)), number_(number), type_(type), steps_(steps) {}

  void opened() override {
    no_delay();
    go_on();
  }

  void received(const uint8_t* bytes, size_t count) override {
    for (size_t i = 0; i < count; i++, at_++) {
      if (at_ >= wanted_ || (!ended_ && bytes[i] != sxipc_answer_byte(at_))) wrong_ = true;
      if (ended_) reported_ = reported_ << 8 | bytes[i];
    }
    if (at_ < wanted_) return;
    if (!ended_) return go_on();
    done_ = true;
    if (reported_ == sum_ && !wrong_) crowd_->right++;
  }

  void gone(bool) override { crowd_->over(host_.now(), done_); }

 private:
  // Sends batches, and stops after the first batch that the server answers.
  void go_on() {
    uint8_t batch[SXIPC_BATCH_MAX];
    for (wanted_ = at_ = 0; wanted_ == 0 && step_ < steps_; step_++) {
      const uint32_t size = sxipc_batch(batch, &type_, number_, step_, &wanted_);
      sum_ += sxipc_sum(batch, size);
      send(batch, size);
    }
    if (wanted_ > 0) return;
    ended_ = true;
    wanted_ = 4;
    send(batch, sxipc_last(batch));
  }

  std::shared_ptr<Crowd> crowd_;
  uint32_t number_;
  const sxipc_type& type_;
  uint32_t steps_, step_ = 0, wanted_ = 0, at_ = 0, sum_ = 0, reported_ = 0;
  bool ended_ = false, done_ = false, wrong_ = false;
};

// The common part of the two kinds of clients.
class Clients : public Service {
 public:
  explicit Clients(Remote& host) : host_(host) {}

  std::optional<std::string> run(Arguments& arguments, const Answer& answer) override {
    const uint64_t port = arguments.number("port", 0), clients = arguments.number("clients", 1);
    std::string problem = read(arguments);
    if (problem.empty()) problem = arguments.problem();
    if (problem.empty() && (port < 1 || port > 65535)) problem = "port: expected 1 to 65535";
    if (problem.empty() && (clients < 1 || clients > kClientsMax)) {
      problem = "clients: expected 1 to " + std::to_string(kClientsMax);
    }
    if (!problem.empty()) return problem;
    auto crowd = std::make_shared<Crowd>(Crowd{name(), unit(), clients, 0, 0, host_.now(), answer});
    for (uint32_t i = 0; i < clients; i++) {
      host_.connect({kGuestAddress, uint16_t(port)}, client(crowd, i));
    }
    return "";
  }

 protected:
  virtual std::string name() const = 0;
  virtual std::string unit() const = 0;
  // Reads the arguments of this kind of clients. Returns an error, or an empty text.
  virtual std::string read(Arguments& arguments) = 0;
  virtual std::unique_ptr<Connection> client(const std::shared_ptr<Crowd>& crowd,
                                             uint32_t number) = 0;

  Remote& host_;
};

class DatabaseClients : public Clients {
 public:
  using Clients::Clients;

 private:
  std::string name() const override { return "sdbase-clients"; }
  std::string unit() const override { return "answered"; }
  std::string read(Arguments& arguments) override {
    transactions_ = arguments.number("transactions", 40);
    records_ = arguments.number("records", 4096);
    const bool fits = transactions_ <= 1'000'000 && records_ >= 1 && records_ <= 1 << 24;
    return fits ? "" : "transactions or records: too many, or none";
  }
  std::unique_ptr<Connection> client(const std::shared_ptr<Crowd>& crowd,
                                     uint32_t number) override {
    return std::make_unique<DatabaseClient>(host_, crowd, number, transactions_,
                                            uint32_t(records_));
  }

  uint64_t transactions_ = 0, records_ = 0;
};

class XClients : public Clients {
 public:
  using Clients::Clients;

 private:
  std::string name() const override { return "xclients"; }
  std::string unit() const override { return "right"; }
  std::string read(Arguments& arguments) override {
    const std::string wanted = arguments.text("type", sxipc_types[0].name);
    steps_ = arguments.number("steps", 160);
    type_ = nullptr;
    for (const sxipc_type& type : sxipc_types) {
      if (wanted == type.name) type_ = &type;
    }
    if (!type_) return "type: there is no " + wanted;
    return steps_ <= 1'000'000 ? "" : "steps: too many";
  }
  std::unique_ptr<Connection> client(const std::shared_ptr<Crowd>& crowd,
                                     uint32_t number) override {
    return std::make_unique<XClient>(host_, crowd, number, *type_, uint32_t(steps_));
  }

  const sxipc_type* type_ = nullptr;
  uint64_t steps_ = 0;
};

}  // namespace

std::unique_ptr<Service> make_sdbase_clients(Remote& host) {
  return std::make_unique<DatabaseClients>(host);
}
std::unique_ptr<Service> make_xclients(Remote& host) { return std::make_unique<XClients>(host); }

}  // namespace device::ne2000
