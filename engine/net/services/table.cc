// SPDX-License-Identifier: MIT
#include "service.hh"

namespace net {

std::unique_ptr<Service> make_echo(Remote& host);
std::unique_ptr<Service> make_sink(Remote& host);
std::unique_ptr<Service> make_source(Remote& host);

const std::vector<std::pair<const char*, Make>>& services() {
  static const std::vector<std::pair<const char*, Make>> table = {
      {"echo", make_echo},
      {"sink", make_sink},
      {"source", make_source},
  };
  return table;
}

}  // namespace net
