/* SPDX-License-Identifier: MIT */
/* The first argument of ipc(): the number of the System V call, as in Linux (linux/ipc.h). */
#ifndef P5LAB_SYSV_H
#define P5LAB_SYSV_H

#define CALL_SEMOP 1
#define CALL_SEMGET 2
#define CALL_SEMCTL 3
#define CALL_SEMTIMEDOP 4
#define CALL_MSGSND 11
#define CALL_MSGRCV 12
#define CALL_MSGGET 13
#define CALL_MSGCTL 14
#define CALL_SHMAT 21
#define CALL_SHMDT 22
#define CALL_SHMGET 23
#define CALL_SHMCTL 24

#endif
