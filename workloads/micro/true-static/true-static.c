// SPDX-License-Identifier: MIT
/* true-static: does nothing, successfully: the child of exec-static and forkexec. */
int main(void) { return 0; }
