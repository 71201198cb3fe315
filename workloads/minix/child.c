/* SPDX-License-Identifier: MIT */
/* child: exits with status 0. exec starts it. */
int main(void) { return 0; }
