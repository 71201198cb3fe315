// SPDX-License-Identifier: MIT
#include "devices/ne2000/service.hh"

namespace device::ne2000 {

std::unique_ptr<Service> make_echo(Remote& host);
std::unique_ptr<Service> make_sink(Remote& host);
std::unique_ptr<Service> make_source(Remote& host);
std::unique_ptr<Service> make_http(Remote& host);
std::unique_ptr<Service> make_nfs(Remote& host);
std::unique_ptr<Service> make_sdbase_clients(Remote& host);
std::unique_ptr<Service> make_sftp(Remote& host);
std::unique_ptr<Service> make_xclients(Remote& host);

const std::vector<std::pair<const char*, Make>>& services() {
  static const std::vector<std::pair<const char*, Make>> table = {
      {"echo", make_echo}, {"sink", make_sink},         {"source", make_source},
      {"http", make_http}, {"nfs", make_nfs},           {"sdbase-clients", make_sdbase_clients},
      {"sftp", make_sftp}, {"xclients", make_xclients},
  };
  return table;
}

}  // namespace device::ne2000
