// SPDX-License-Identifier: MIT
// The headers of the C++ library that many files of the engine include. They are compiled once, and
// stand before each file (SConstruct). A file still includes what it uses, so that it also
// compiles without this header.

#include <algorithm>
#include <array>
#include <cerrno>
#include <cinttypes>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>
