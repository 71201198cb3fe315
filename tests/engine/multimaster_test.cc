// SPDX-License-Identifier: MIT
// Do the host adapter and the SCSI commands of the drives work for a driver? The tests use ports,
// mailboxes and command blocks.
#include <doctest/doctest.h>

#include <map>

#include "disk_bench.hh"

using namespace device::scsi;

namespace {

constexpr uint32_t kMail = 0x1000, kBlocks = 0x2000, kBlock = 0x100, kSense = 0x8000,
                   kData = 0x10000;
constexpr uint8_t kMailboxes = 8;

class Pc : public Host {
 public:
  explicit Pc(bool tagged_queueing = false, DriveConfig config = round_drive(),
              MultiMasterConfig adapter = {11, 200 * kMicrosecond, 100 * kMicrosecond,
                                           50 * kMicrosecond, kBusSector})
      : card(adapter, agenda, *this) {
    for (uint32_t id : {0u, 2u}) {
      drives.push_back(std::make_unique<Drive>(config, agenda, &problem));
      card.attach(id, std::make_unique<Target>(*drives.back(), "MAKER", "ROUND", tagged_queueing));
    }
  }

  void read_memory(uint32_t address, uint8_t* bytes, uint32_t count) override {
    std::memcpy(bytes, &memory[address], count);
  }
  void write_memory(uint32_t address, const uint8_t* bytes, uint32_t count) override {
    std::memcpy(&memory[address], bytes, count);
  }
  void interrupt(bool on) override {
    interrupts += on && !line;
    line = on;
  }
  void begun(Time) override { active++; }
  void done(Time, const Account& account) override {
    active--;
    last = account;
  }

  void wait(Time time) {
    now += time;
    agenda.run(now);
  }

  // Sends code and parameters and reads the answer, like a driver. Then clears the interrupt.
  std::vector<uint8_t> command(uint8_t code, const std::vector<uint8_t>& parameters = {}) {
    card.write_port(1, code, now);
    for (const uint8_t byte : parameters) card.write_port(1, byte, now);
    std::vector<uint8_t> answer;
    while (card.read_port(0, now) & 0x04) answer.push_back(card.read_port(1, now));
    CHECK(card.read_port(2, now) == (0x80 | 0x04));
    invalid = card.read_port(0, now) & 0x01;
    card.write_port(0, 0x20, now);
    CHECK(card.read_port(2, now) == 0);
    return answer;
  }

  void start() {
    card.write_port(0, 0x80, now);
    CHECK(card.read_port(0, now) == 0x80);  // diagnostics
    wait(kMillisecond);
    CHECK(card.read_port(0, now) == (0x10 | 0x20));  // ready, without mailboxes
    command(0x81, {kMailboxes, 0x00, kMail >> 8, 0, 0});
    command(0x8F, {1});
    command(0x96, {1});
    CHECK(card.read_port(0, now) == 0x10);
  }

  struct Send {
    std::vector<uint8_t> cdb;
    std::vector<std::pair<uint32_t, uint32_t>> data = {};  // address, bytes
    uint8_t id = 0, lun = 0;
    bool tagged = false;
    uint8_t tag = 0;  // simple
  };

  // Puts a command block into the next outgoing mailbox. Returns its address.
  uint32_t send(const Send& what) {
    const uint32_t block = kBlocks + kBlock * (sent % kMailboxes), list = block + 0x40;
    std::memset(&memory[block], 0, kBlock);
    memory[block] = 2;
    memory[block + 1] = what.tagged ? uint8_t(0x20 | what.tag << 6) : 0;
    memory[block + 2] = uint8_t(what.cdb.size());
    memory[block + 3] = 18;
    put(block + 4, uint32_t(what.data.size()) * 8);
    put(block + 8, list);
    memory[block + 16] = what.id;
    memory[block + 17] = what.lun;
    std::copy(what.cdb.begin(), what.cdb.end(), &memory[block + 18]);
    put(block + 36, kSense);
    for (size_t i = 0; i < what.data.size(); i++) {
      put(list + uint32_t(i) * 8, what.data[i].second);
      put(list + uint32_t(i) * 8 + 4, what.data[i].first);
    }
    const uint32_t mailbox = kMail + 8 * (sent++ % kMailboxes);
    REQUIRE(memory[mailbox + 7] == 0);
    put(mailbox, block);
    memory[mailbox + 7] = 1;
    card.write_port(1, 0x02, now);
    return block;
  }

  // Returns the next completed block with its completion code, or 0 if there is no such block.
  uint32_t receive(uint8_t* code) {
    const uint32_t mailbox = kMail + 8 * (kMailboxes + received % kMailboxes);
    *code = memory[mailbox + 7];
    if (!*code) return 0;
    received++;
    memory[mailbox + 7] = 0;
    return get(mailbox);
  }

  // Executes one command to its end. Returns the completion code.
  uint8_t run(const Send& what) {
    const uint32_t block = send(what);
    const Time begin = now;
    uint8_t code = 0;
    for (;;) {
      if (const uint32_t back = receive(&code)) {
        CHECK(back == block);
        break;
      }
      REQUIRE(agenda.next() != kNever);
      now = agenda.next();
      agenda.run(now);
    }
    took = now - begin;
    adapter_status = memory[block + 14];
    target_status = memory[block + 15];
    CHECK(card.read_port(2, now) == (0x80 | 0x01));
    CHECK(line);
    card.write_port(0, 0x20, now);
    CHECK(!line);
    return code;
  }

  void put(uint32_t address, uint32_t value) {
    for (int i = 0; i < 4; i++) memory[address + uint32_t(i)] = uint8_t(value >> (8 * i));
  }
  uint32_t get(uint32_t address) const {
    uint32_t value = 0;
    for (int i = 3; i >= 0; i--) value = value << 8 | memory[address + uint32_t(i)];
    return value;
  }

  Agenda agenda;
  std::vector<uint8_t> memory = std::vector<uint8_t>(1 << 20);
  std::string problem;
  std::vector<std::unique_ptr<Drive>> drives;
  MultiMaster card;
  Account last;
  Time now = 0, took = 0;
  uint32_t sent = 0, received = 0;
  int interrupts = 0, active = 0;
  uint8_t adapter_status = 0, target_status = 0;
  bool line = false, invalid = false;
};

std::vector<uint8_t> access(uint8_t code, uint32_t first, uint16_t count) {
  return {code,           0, uint8_t(first >> 24), uint8_t(first >> 16), uint8_t(first >> 8),
          uint8_t(first), 0, uint8_t(count >> 8),  uint8_t(count),       0};
}

}  // namespace

TEST_CASE("adapter: the adapter answers inquiries about itself") {
  Pc pc;
  pc.start();
  CHECK(pc.command(0x04) == std::vector<uint8_t>{'A', 'A', '4', '2'});
  CHECK(pc.command(0x8B, {5}) == std::vector<uint8_t>{'9', '5', '6', 'C', ' '});
  CHECK(pc.command(0x0B) == std::vector<uint8_t>{0, 1 << 2, 7});  // IRQ 11, ID 7
  CHECK(pc.command(0x24) == std::vector<uint8_t>{0x05, 0});       // targets 0 and 2
  const std::vector<uint8_t> setup = pc.command(0x8D, {14});
  REQUIRE(setup.size() == 14);
  CHECK(setup[4] == kMailboxes);
  CHECK((setup[5] == 0x00 && setup[6] == kMail >> 8));
  CHECK(!pc.invalid);
  CHECK(pc.command(0x77).empty());
  CHECK(pc.invalid);
  CHECK(pc.command(0x1F, {0x5A}) == std::vector<uint8_t>{0x5A});
  CHECK(!pc.invalid);
}

TEST_CASE("adapter: a written sector is read back through scattered memory") {
  Pc pc;
  pc.start();
  for (uint32_t i = 0; i < 2048; i++) pc.memory[kData + i] = uint8_t(i * 7 + i / 256);
  CHECK(pc.run({access(0x2A, 5000, 4), {{kData, 1000}, {kData + 1000, 1048}}}) == 1);
  CHECK((pc.adapter_status == 0 && pc.target_status == 0));
  CHECK((pc.last.write && pc.last.sectors == 4));
  const uint32_t back = kData + 0x4000;
  CHECK(pc.run({access(0x28, 5000, 4), {{back, 24}, {back + 24, 2000}, {back + 2024, 24}}}) == 1);
  CHECK(std::memcmp(&pc.memory[kData], &pc.memory[back], 2048) == 0);
  CHECK((pc.last.read && pc.last.sectors == 4));
  // The sum of the four times and 100 us is the time of the whole request.
  const Account& last = pc.last;
  CHECK(last.seek + last.rotation + last.transfer + last.wait + 100 * kMicrosecond == pc.took);
  CHECK(pc.active == 0);
  CHECK(pc.interrupts == 2 + 3);  // the set-up has three
  // The other disk does not contain these data.
  CHECK(pc.run({access(0x28, 5000, 4), {{back, 2048}}, 2}) == 1);
  CHECK(pc.memory[back] == 0);
}

TEST_CASE("adapter: with an ideal adapter and drive, a request ends when it begins") {
  DriveConfig config = round_drive();
  config.at_once = true;
  config.command = 0;
  Pc pc(false, config, MultiMasterConfig{11});
  pc.start();
  for (uint32_t i = 0; i < 2048; i++) pc.memory[kData + i] = uint8_t(i * 7 + i / 256);
  CHECK(pc.run({access(0x2A, 5000, 4), {{kData, 2048}}}) == 1);
  CHECK((pc.last.write && pc.last.sectors == 4 && pc.took == 0));
  CHECK(pc.run({access(0x28, 5000, 4), {{kData + 0x4000, 2048}}}) == 1);
  CHECK((pc.last.read && pc.last.sectors == 4 && pc.took == 0));
  CHECK(std::memcmp(&pc.memory[kData], &pc.memory[kData + 0x4000], 2048) == 0);
  const Account& last = pc.last;
  CHECK(last.seek + last.rotation + last.transfer + last.wait == 0);
  CHECK(pc.active == 0);
}

TEST_CASE("adapter: short commands also read and write") {
  Pc pc;
  pc.start();
  pc.memory[kData + 511] = 0x3C;
  CHECK(pc.run({{0x0A, 0, 0x10, 0x00, 1, 0}, {{kData, 512}}}) == 1);
  CHECK(pc.run({access(0x28, 0x1000, 1), {{kData + 0x1000, 512}}}) == 1);
  CHECK(pc.memory[kData + 0x1000 + 511] == 0x3C);
  CHECK(pc.run({{0x08, 0, 0, 0, 0, 0}, {{kData, 256 * 512}}}) == 1);  // 0 is 256
  CHECK(pc.last.sectors == 256);
}

TEST_CASE("adapter: a drive answers inquiries") {
  Pc pc(true);
  pc.start();
  CHECK(pc.run({{0x12, 0, 0, 0, 36, 0}, {{kData, 36}}}) == 1);
  CHECK(std::memcmp(&pc.memory[kData + 8], "MAKER   ROUND           0014", 28) == 0);
  CHECK(pc.memory[kData + 7] == 0x12);  // synchronous, queueing
  CHECK(pc.run({{0x12, 0, 0, 0, 36, 0}, {{kData, 36}}, 0, 1}) == 1);
  CHECK(pc.memory[kData] == 0x7F);  // no second unit
  CHECK(pc.run({{0x25, 0, 0, 0, 0, 0, 0, 0, 0, 0}, {{kData, 8}}}) == 1);
  const uint32_t last = uint32_t(pc.drives[0]->sectors() - 1);
  CHECK(pc.memory[kData] == last >> 24);
  CHECK(pc.memory[kData + 3] == (last & 0xFF));
  CHECK(pc.memory[kData + 6] == 0x02);
  CHECK(pc.run({{0x1A, 0, 0x08, 0, 24, 0}, {{kData, 24}}}) == 1);
  CHECK((pc.memory[kData + 12] == 0x08 && pc.memory[kData + 14] == 0));  // no write cache
  CHECK(pc.run({{0x00, 0, 0, 0, 0, 0}}) == 1);
}

TEST_CASE("adapter: sense data give the reason of an error") {
  Pc pc;
  pc.start();
  const auto sense = [&pc](uint8_t key, uint8_t code) {
    return pc.target_status == 2 && pc.memory[kSense + 2] == key && pc.memory[kSense + 12] == code;
  };
  const uint32_t end = uint32_t(pc.drives[0]->sectors());
  CHECK(pc.run({access(0x28, end, 1), {{kData, 512}}}) == 4);
  CHECK(sense(5, 0x21));
  CHECK(pc.run({access(0x2A, end - 1, 2), {{kData, 1024}}}) == 4);
  CHECK(sense(5, 0x21));
  CHECK(pc.run({access(0x2A, end - 1, 1), {{kData, 512}}}) == 1);
  CHECK(pc.run({{0xA0, 0, 0, 0, 0, 0, 0, 0, 0, 16, 0, 0}, {{kData, 16}}}) == 4);  // REPORT LUNS
  CHECK(sense(5, 0x20));
  CHECK(pc.run({{0x1A, 0, 0x1C, 0, 24, 0}, {{kData, 24}}}) == 4);
  CHECK(sense(5, 0x24));
  CHECK(pc.run({{0x28, 0}, {{kData, 512}}}) == 4);  // cut short
  CHECK(pc.run({{0x00, 0, 0, 0, 0, 0}, {}, 5}) == 4);
  CHECK(pc.adapter_status == 0x11);  // no device there
  CHECK(pc.run({access(0x28, 0, 2), {{kData, 512}}}) == 4);
  CHECK(pc.adapter_status == 0x12);          // the buffer is too small
  CHECK(pc.run({access(0x28, 0, 0)}) == 1);  // no data to transfer
  CHECK(pc.active == 0);
}

TEST_CASE("adapter: without tags a drive has one request at a time, but disks work in parallel") {
  const auto both = [](uint8_t first, uint8_t second) {
    Pc pc;
    pc.start();
    const Time begin = pc.now;
    pc.send({access(0x28, 100000, 16), {{kData, 8192}}, first});
    pc.send({access(0x28, 150000, 16), {{kData + 8192, 8192}}, second});
    uint8_t code;
    for (int i = 0; i < 2; i++) {
      while (!pc.receive(&code)) pc.wait(pc.agenda.next() - pc.now);
      CHECK(code == 1);
    }
    return pc.now - begin;
  };
  CHECK(both(0, 0) > both(0, 2) * 3 / 2);
}

TEST_CASE("adapter: eight requests take less time with tags than without") {
  const auto all = [](bool tagged) {
    Pc pc(true);
    pc.start();
    const Time begin = pc.now;
    for (uint32_t i = 0; i < 8; i++) {
      pc.send({access(0x28, (i * 5 % 8) * 50000, 2), {{kData, 1024}}, 0, 0, tagged});
    }
    uint8_t code;
    for (int i = 0; i < 8; i++) {
      while (!pc.receive(&code)) pc.wait(pc.agenda.next() - pc.now);
      CHECK(code == 1);
    }
    return pc.now - begin;
  };
  CHECK(all(true) * 5 < all(false) * 4);
}

TEST_CASE("adapter: tags reach the drive") {
  // The other requests arrive while the drive carries out the first request. If no tag demands
  // another order, the drive then carries out the nearest request, which was sent last.
  const auto order = [](uint8_t tag) {
    Pc pc(true);
    pc.start();
    const uint32_t at[] = {0, 200000, 20000, 210000, 1000};
    std::map<uint32_t, int> numbers;
    for (int i = 0; i < 5; i++) {
      const uint8_t sent = i == 3 ? tag : 0;
      numbers[pc.send({access(0x28, at[i], 2), {{kData, 1024}}, 0, 0, true, sent})] = i;
      pc.wait(kMillisecond);
    }
    std::vector<int> order;
    uint8_t code;
    while (order.size() < 5) {
      if (const uint32_t block = pc.receive(&code))
        order.push_back(numbers[block]);
      else
        pc.wait(pc.agenda.next() - pc.now);
    }
    return order;
  };
  CHECK(order(0) == std::vector<int>{0, 4, 2, 1, 3});
  CHECK(order(1) == std::vector<int>{0, 3, 1, 2, 4});
  CHECK(order(2) == std::vector<int>{0, 2, 1, 3, 4});
}

TEST_CASE("adapter: a flush waits for the cache") {
  DriveConfig config = round_drive();
  config.write_cache = true;
  Pc pc(false, config);
  pc.start();
  CHECK(pc.run({access(0x2A, 200000, 8), {{kData, 4096}}}) == 1);
  const Time write = pc.took;
  CHECK(pc.run({access(0x35, 0, 0)}) == 1);
  CHECK(pc.took > 2 * write);
}

TEST_CASE("adapter: after a reset the earlier commands end without a report") {
  Pc pc;
  pc.start();
  pc.memory[kData] = 0x11;
  pc.send({access(0x28, 100000, 16), {{kData, 8192}}});
  pc.wait(kMillisecond);
  pc.send({access(0x28, 110000, 16), {{kData, 8192}}});
  pc.wait(kMillisecond);
  pc.card.write_port(0, 0x80, pc.now);
  pc.wait(kSecond);
  uint8_t code;
  CHECK(pc.receive(&code) == 0);
  CHECK(pc.memory[kData] == 0x11);
  CHECK(pc.active == 0);
  CHECK(!pc.line);
  pc.sent = pc.received = 0;
  pc.start();
  CHECK(pc.run({access(0x28, 100000, 16), {{kData, 8192}}}) == 1);
  CHECK(pc.memory[kData] == 0);
}
