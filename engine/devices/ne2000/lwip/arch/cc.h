// SPDX-License-Identifier: MIT
// Which definitions does lwIP need from its platform? remote.cc defines the two functions that this
// file declares.
#ifndef P5NET_ARCH_CC_H
#define P5NET_ARCH_CC_H

#include <stdint.h>
#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif

// Returns a random number. The run's seed decides the sequence of these numbers.
uint32_t p5net_random(void);
// lwIP calls this function when an assertion fails. The function does not return.
void p5net_assert(const char* what, const char* file, int line);

#ifdef __cplusplus
}
#endif

#define LWIP_RAND() p5net_random()
#define LWIP_PLATFORM_DIAG(x) ((void)0)
#define LWIP_PLATFORM_ASSERT(x) p5net_assert(x, __FILE__, __LINE__)

#endif
