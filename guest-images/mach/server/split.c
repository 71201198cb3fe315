// SPDX-License-Identifier: MIT
/*
 * The transport of requests to the file side. On guest mach the file side is in this task, and a
 * request is a function call. On mach-split the file side is a second task. When the first task
 * starts, it creates the second task, with the same program at the same addresses. A request is
 * then a message (fs.defs), and the answer is another message.
 */
#include <errno.h>
#include <mach/mig_errors.h>
#include <string.h>

#include "fs_calls.h"
#include "fs_server.h"
#include "fs_side.h"
#include "mach_calls.h"
#include "mach_i386_calls.h"
#include "mach_port_calls.h"
#include "server.h"
#include "traps.h"

#define FILES_PORT 40 /* its name in the file server */

static mach_port_t files = MACH_PORT_NULL; /* the file server's port, where there is one */

/* --- the requesting side ---------------------------------------------------------------------- */

long fs_call(struct fs_request *r) {
  r->out_length = 0;
  if (!files) return fs_carry_out(r);
  int words[4] = {r->operation, r->node, r->a, r->b}, result;
  mach_msg_type_number_t count;
  if (r->in_length <= UNIX_INLINE_MAX && r->out_room <= UNIX_INLINE_MAX) {
    small_t answer;
    count = sizeof(answer);
    if (fs_small(files, words, (char *)r->in, r->in_length, &result, &r->more, answer, &count))
      return -EIO;
    if (count > r->out_room) count = r->out_room;
    if (count) memcpy(r->out, answer, count);
    r->out_length = count;
    return result;
  }
  char *answer;
  if (fs_large(files, words, (int)r->out_room, (char *)r->in, r->in_length, &result, &r->more,
               &answer, &count))
    return -EIO;
  r->out_length = count;
  if (count && r->may_replace) {
    pages_free(r->out, r->out_room);
    r->out = answer;
    r->out_room = PAGES(count);
  } else if (count) {
    memcpy(r->out, answer, count);
    pages_free(answer, count);
  }
  return result;
}

long fs_image(int node, uint32_t offset, uint32_t size, struct image *image) {
  if (!files) return fs_image_here(node, offset, size, image);
  int words[4] = {FS_IMAGE, node, (int)offset, (int)size}, result, more;
  mach_msg_type_number_t count = 0;
  *image = (struct image){.copy = 1};
  if (fs_large(files, words, 0, NULL, 0, &result, &more, &image->bytes, &count)) return -EIO;
  image->size = count;
  return result;
}

void fs_image_free(struct image *image) {
  if (image->copy) pages_free(image->bytes, image->size);
}

long fs_share(int node, mach_port_t task, vm_offset_t address, uint32_t length, uint32_t offset,
              int protection) {
  if (!files) return fs_share_here(node, task, address, length, offset, protection);
  int words[4] = {node, (int)address, (int)length, (int)offset}, result;
  return fs_map(files, words, task, protection, &result) ? -EIO : result;
}

/* --- the answering side ----------------------------------------------------------------------- */

static struct fs_request request_of(const int *words, const char *in, size_t length) {
  return (struct fs_request){.operation = words[0], .node = words[1], .a = words[2], .b = words[3],
                             .in = in, .in_length = length};
}

kern_return_t S_fs_small(mach_port_t port, const fs_words_t words, const small_t data,
                         mach_msg_type_number_t length, int *result, int *more, small_t answer,
                         mach_msg_type_number_t *count) {
  (void)port;
  struct fs_request request = request_of(words, data, length);
  request.out = answer;
  request.out_room = *count < UNIX_INLINE_MAX && *count ? *count : UNIX_INLINE_MAX;
  *result = (int)fs_carry_out(&request);
  *more = request.more;
  *count = request.out_length;
  return KERN_SUCCESS;
}

kern_return_t S_fs_large(mach_port_t port, const fs_words_t words, int room, bulk_t data,
                         mach_msg_type_number_t length, int *result, int *more, bulk_t *answer,
                         mach_msg_type_number_t *count, boolean_t *deallocate) {
  (void)port;
  *more = 0;
  *deallocate = 1;
  if (words[0] == FS_IMAGE) {
    struct image image;
    *result = (int)fs_image_here(words[1], (uint32_t)words[2], (uint32_t)words[3], &image);
    *answer = image.bytes;
    *count = *result ? 0 : image.size;
    *deallocate = image.copy;
    return KERN_SUCCESS;
  }
  struct fs_request request = request_of(words, data, length);
  request.out_room = (size_t)room;
  request.out = pages_new(request.out_room);
  *result = request.out || !room ? (int)fs_carry_out(&request) : -ENOMEM;
  *more = request.more;
  size_t used = PAGES(request.out_length);
  if (used < PAGES(request.out_room))
    pages_free(request.out + used, PAGES(request.out_room) - used);
  pages_free(data, length);
  *answer = request.out;
  *count = request.out_length;
  return KERN_SUCCESS;
}

kern_return_t S_fs_map(mach_port_t port, const fs_words_t words, mach_port_t task, int protection,
                       int *result) {
  (void)port;
  *result = (int)fs_share_here(words[0], task, (vm_offset_t)words[1], (uint32_t)words[2],
                               (uint32_t)words[3], protection);
  mach_port_deallocate(mach_task_self(), task);
  return KERN_SUCCESS;
}

static const char *archive;
static size_t archive_size;

static mig_routine_t routine_of(const mach_msg_header_t *header) {
  return fs_server_routine((mach_msg_header_t *)header);
}

static _Noreturn void file_server(void) {
  mig_dealloc_reply_port(mig_get_reply_port()); /* that name belongs to the other task */
  files = MACH_PORT_NULL;
  files_start(archive, archive_size);
  serve_port(FILES_PORT, routine_of);
}

/* --- the start -------------------------------------------------------------------------------- */

/* Make a task with a copy of this task's memory and with the ports that a file server needs. */
static void make_file_server(void) {
  static char stack[SERVER_STACK] __attribute__((aligned(PAGE)));
  mach_port_t self = mach_task_self(), task, thread, port;
  kern_return_t status = mach_port_allocate(self, MACH_PORT_RIGHT_RECEIVE, &port);
  if (!status) status = mach_port_insert_right(self, port, port, MACH_MSG_TYPE_MAKE_SEND);
  if (!status) status = task_create(self, 1, &task);
  if (!status)
    status = mach_port_insert_right(task, host_port, host_port, MACH_MSG_TYPE_COPY_SEND);
  if (!status)
    status = mach_port_insert_right(task, device_port, device_port, MACH_MSG_TYPE_COPY_SEND);
  if (!status) status = mach_port_insert_right(task, FILES_PORT, port, MACH_MSG_TYPE_MOVE_RECEIVE);
  if (!status) status = thread_create(task, &thread);
  if (!status) status = thread_begin(task, thread, file_server, stack);
  if (status) panic("file server", status);
  files = port;
}

void file_side_start(int apart, const char *bytes, size_t size) {
  archive = bytes;
  archive_size = size;
  if (apart) make_file_server();
  else files_start(bytes, size);
}
