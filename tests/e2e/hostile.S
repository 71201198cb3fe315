/* SPDX-License-Identifier: MIT */
/*
 * An untrusted program. It prints bytes that could mislead terminals, pages and readers. Then it
 * fails, so that its last line becomes the reason of a run.
 */
        .globl _start
_start: mov     $4, %eax                /* write(1, text, length) */
        mov     $1, %ebx
        mov     $text, %ecx
        mov     $end - text, %edx
        int     $0x80
        mov     $1, %eax                /* exit(3) */
        mov     $3, %ebx
        int     $0x80

        .section .rodata
text:   .ascii  "\033[2J\033[31mred\n"                          /* clears the screen */
        .ascii  "\033]8;;https://example.org/\033\\link\033]8;;\033\\\n"
        .ascii  "\033]52;c;ZWNobyBoaQ==\007\n"                  /* the clipboard */
        .ascii  "failed\rok\b\b\177\n"
        .ascii  "user\342\200\256resu\342\201\246\n"            /* bidirectional overrides */
        .ascii  "\233\061m\235\060;title\234 \377\376 \000 \303\n" /* eight bits, invalid UTF-8 */
        .ascii  "<script>alert(1)</script> [red]x[/red] \033[31m\342\200\256\000\377 | end"
end:
