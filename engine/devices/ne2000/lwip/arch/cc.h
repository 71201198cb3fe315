// SPDX-License-Identifier: MIT
// What lwIP wants to know of its platform. The two functions are in remote.cc.
#ifndef P5NET_ARCH_CC_H
#define P5NET_ARCH_CC_H

#include <stdint.h>
#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif

// One of the numbers that the run's seed gives.
uint32_t p5net_random(void);
// Something that lwIP holds for impossible. It does not return.
void p5net_assert(const char* what, const char* file, int line);

#ifdef __cplusplus
}
#endif

#define LWIP_RAND() p5net_random()
#define LWIP_PLATFORM_DIAG(x) ((void)0)
#define LWIP_PLATFORM_ASSERT(x) p5net_assert(x, __FILE__, __LINE__)

#endif
