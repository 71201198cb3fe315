// SPDX-License-Identifier: MIT
/* true-static: exits with status 0. exec-static and forkexec start it. */
int main(void) { return 0; }
