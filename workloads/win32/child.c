/* SPDX-License-Identifier: MIT */
/* child: ends with status 0. exec starts it. */
int main(void) { return 0; }
