/* SPDX-License-Identifier: MIT */
/* The part of kernel32 that p5lab's programs for Win32 call. kernel32.def has the same functions. */
#ifndef P5LAB_WIN32_H
#define P5LAB_WIN32_H

#include <stddef.h>
#include <stdint.h>

#define KERNEL32(type) __declspec(dllimport) type __stdcall
typedef void *handle;
#define NO_HANDLE ((handle)-1)
#define FOREVER 0xFFFFFFFFu

enum { GENERIC_READ = (int)0x80000000u, GENERIC_WRITE = 0x40000000 };
enum { SHARE_READ = 1, SHARE_WRITE = 2 };
enum { CREATE_NEW = 1, CREATE_ALWAYS, OPEN_EXISTING, OPEN_ALWAYS, TRUNCATE_EXISTING };
enum { NORMAL_FILE = 0x80 };
enum { STANDARD_INPUT = -10, STANDARD_OUTPUT = -11, STANDARD_ERROR = -12 };
enum { USE_STANDARD_HANDLES = 0x100 };
enum { CLOSE_SOURCE = 1, SAME_ACCESS = 2 };
enum { COMMIT_AND_RESERVE = 0x3000, READ_AND_WRITE = 4 };

struct security {
  uint32_t size;
  void *descriptor;
  int inherited;
};

struct startup {
  uint32_t size;
  char *reserved, *desktop, *title;
  uint32_t x, y, width, height, columns, rows, colours, flags;
  uint16_t show, reserved_bytes;
  uint8_t *more_reserved;
  handle input, output, error;
};

struct process {
  handle process, thread;
  uint32_t process_id, thread_id;
};

KERNEL32(int) CloseHandle(handle);
KERNEL32(int) CreateDirectoryA(const char *path, const struct security *);
KERNEL32(handle) CreateEventA(const struct security *, int manual, int set, const char *name);
KERNEL32(handle)
CreateFileA(const char *path, uint32_t access, uint32_t share, const struct security *,
            uint32_t creation, uint32_t flags, handle like);
KERNEL32(int) CreatePipe(handle *read, handle *write, const struct security *, uint32_t size);
KERNEL32(int)
CreateProcessA(const char *program, char *command, const struct security *process,
               const struct security *thread, int inherit, uint32_t flags, void *environment,
               const char *directory, const struct startup *, struct process *);
KERNEL32(int) DeleteFileA(const char *path);
KERNEL32(int)
DuplicateHandle(handle from, handle source, handle to, handle *copy, uint32_t access, int inherit,
                uint32_t options);
KERNEL32(_Noreturn void) ExitProcess(uint32_t status);
KERNEL32(char *) GetCommandLineA(void);
KERNEL32(handle) GetCurrentProcess(void);
KERNEL32(uint32_t) GetCurrentProcessId(void);
KERNEL32(uint32_t) GetEnvironmentVariableA(const char *name, char *value, uint32_t size);
KERNEL32(int) GetExitCodeProcess(handle process, uint32_t *status);
KERNEL32(uint32_t) GetLastError(void);
KERNEL32(uint32_t) GetModuleFileNameA(handle module, char *path, uint32_t size);
KERNEL32(handle) GetStdHandle(int which);
KERNEL32(int) ReadFile(handle, void *bytes, uint32_t size, uint32_t *read, void *overlapped);
KERNEL32(int) RemoveDirectoryA(const char *path);
KERNEL32(int) SetCurrentDirectoryA(const char *path);
KERNEL32(int) SetEvent(handle);
KERNEL32(void) Sleep(uint32_t milliseconds);
KERNEL32(void *) VirtualAlloc(void *at, size_t size, uint32_t type, uint32_t protection);
KERNEL32(uint32_t) WaitForSingleObject(handle, uint32_t milliseconds);
KERNEL32(int)
WriteFile(handle, const void *bytes, uint32_t size, uint32_t *written, void *overlapped);

#endif
