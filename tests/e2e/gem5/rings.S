# SPDX-License-Identifier: MIT
# A program with a known number of every event, in rings 0 and 3. tests/e2e/rings.py lists the
# events of each section. With ENGINE defined the program is for our own engine (tests/e2e/rings.S).
        .ifndef ENGINE
        .include "m5.inc"
        .globl  _start
        .set    _start, program
        .endif
        .set    STACK, 0x500000
        .set    USER_STACK, 0x510000
        .set    DATA, 0x600000
        .set    NOT_PRESENT, 0x8000000000
        .set    TSS_ADDRESS, 0x520000   # as in its descriptor
        .set    APIC, 0xFEE00000
        .set    PORT, 0x80

        .set    CODE, 8
        .set    FLAT, 16
        .set    USER_FLAT, 24 + 3
        .set    USER_CODE, 32 + 3
        .set    TSS, 40

        .macro  wrmsr_value register, high, low
        movl    $\register, %ecx
        movl    $\high, %edx
        movl    $\low, %eax
        wrmsr
        .endm

        # Entry of the interrupt descriptor table. `type` is 0x8E for ring 0 only, 0xEE for all
        # rings.
        .macro  gate vector, type, handler
        leaq    \handler(%rip), %rax
        movw    %ax, idt + 16 * \vector
        movw    $CODE, idt + 16 * \vector + 2
        movw    $\type << 8, idt + 16 * \vector + 4
        shrq    $16, %rax
        movw    %ax, idt + 16 * \vector + 6
        shrq    $16, %rax
        movl    %eax, idt + 16 * \vector + 8
        .endm

        .macro  iret_frame code, flat, stack, target
        pushq   $\flat
        pushq   $\stack
        pushq   $2
        pushq   $\code
        leaq    \target(%rip), %rax
        pushq   %rax
        .endm

program:
        movl    $STACK, %esp
        lgdt    gdt_pointer
        lidt    idt_pointer
        movq    $STACK, TSS_ADDRESS + 4         # stack of ring 0
        movw    $TSS, %ax
        ltr     %ax
        gate    0, 0x8E, divide
        gate    13, 0x8E, protection
        gate    14, 0x8E, page_fault
        gate    0x40, 0x8E, timer
        gate    0x80, 0xEE, call
        gate    0x81, 0xEE, back
        wrmsr_value 0xC0000080, 0, 0x501        # EFER: long mode, SYSCALL
        wrmsr_value 0xC0000081, 16 << 16 | CODE, 0  # STAR
        leaq    system_call(%rip), %rax
        movq    %rax, %rdx
        shrq    $32, %rdx
        movl    $0xC0000082, %ecx               # LSTAR
        wrmsr
        section                                 # 0: set-up

        section                                 # 1: nothing

        movl    DATA, %eax                      # 1 read
        movl    %eax, DATA                      # 1 write
        addl    $1, DATA                        # 1 and 1
        pushq   %rax                            # 1 write
        popq    %rax                            # 1 read
        section                                 # 2: aligned operands

        movl    DATA + 1, %eax                  # 1 read
        movw    DATA + 31, %ax                  # 2 reads, over the end of a line
        movq    %rax, DATA + 4                  # 1 write
        addl    $1, DATA + 0xFFE                # 2 reads and 2 writes, over the end of a page
        movups  DATA + 8, %xmm0                 # 2: 8 bytes each
        section                                 # 3: misaligned and long operands

        movl    $DATA, %esi
        movl    $DATA + 0x100, %edi
        movl    $8, %ecx
        rep movsb                               # 8 and 8
        movl    $4, %ecx
        rep stosq                               # 4 writes
        xorl    %ecx, %ecx
        rep movsb                               # no accesses (ECX is 0)
        section                                 # 4: string instructions

        lock incl DATA                          # 1 and 1
        xchgl   %eax, DATA                      # 1 and 1
        lock incl DATA + 2                      # 1 and 1
        section                                 # 5: locked

        outb    %al, $PORT
        inb     $PORT, %al
        movl    $DATA, %esi
        movl    $PORT, %edx
        movl    $3, %ecx
        rep outsb                               # 3 reads
        section                                 # 6: ports

        movl    $FLAT, %eax
        movl    %eax, %ds                       # 1 read of the descriptor
        movl    %eax, %fs                       # 1
        lgdt    gdt_pointer                     # 2 reads
        xorl    %eax, %eax
        cpuid
        jmp     1f
1:      cmpl    %eax, %eax
        jne     1f
        call    1f
1:      addq    $8, %rsp
        section                                 # 7: segment registers, branches

        movq    %cr3, %rax
        movq    %rax, %cr3
        orq     $0x18, %rax
        movq    %rax, %cr3
        andq    $~0x18, %rax
        movq    %rax, %cr3
        section                                 # 8: CR3: the same value, two others

        iret_frame USER_CODE, USER_FLAT, USER_STACK, user
        iretq
user:   section                                 # 9: to ring 3

        movl    $100, %ecx
1:      decl    %ecx
        jnz     1b
        section                                 # 10: 201 instructions in ring 3

        int     $0x80
        section                                 # 11: INT and return

        syscall
        section                                 # 12: SYSCALL and return

        movabsq $NOT_PRESENT, %rax
        movl    (%rax), %eax                    # 2 bytes, which the handler skips
        section                                 # 13: page fault
        divl    %esi                            # by 0; also 2 bytes
        section                                 # 14: division
        hlt
        section                                 # 15: general protection

        int     $0x81
back:   addq    $40, %rsp
        section                                 # 16: INT, without return

        .ifndef ENGINE
        movl    $APIC, %ebx
        movl    $0x1FF, 0xF0(%rbx)              # on
        movl    $0xB, 0x3E0(%rbx)               # count every clock of the bus
        movl    $0x40, 0x320(%rbx)              # once, vector 0x40
        movl    $200, 0x380(%rbx)
        movl    $0, DATA
        section                                 # 17: timer set
        sti
        hlt
        section                                 # 18: interrupt of ring 0, and return

        movl    $200, 0x380(%rbx)
        movl    $0, DATA
        pushq   $USER_FLAT
        pushq   $USER_STACK
        pushq   $0x202                          # interrupts on
        pushq   $USER_CODE
        leaq    1f(%rip), %rax
        pushq   %rax
        iretq
1:      section                                 # 19
2:      cmpl    $0, DATA
        je      2b
        section                                 # 20: interrupt of ring 3, and return
        .endif

        finish

# Ring 0.
call:   iretq
system_call:
        sysretq
page_fault:
        addq    $8, %rsp                        # the error code
divide: addq    $2, (%rsp)                      # ... and the instruction
        iretq
protection:
        addq    $8, %rsp
        addq    $1, (%rsp)
        iretq
timer:  movl    $1, DATA
        movl    $0, 0xB0(%rbx)                  # end of interrupt
        iretq

        .data
        .balign 16
gdt:    .quad   0                               # accessed bits set; gem5 sets none
        .quad   0x00209B0000000000              # 64-bit code
        .quad   0x0000930000000000              # data
        .quad   0x0000F30000000000              # the same for ring 3
        .quad   0x0020FB0000000000
        .quad   0x0000895200000067              # TSS
        .quad   0
gdt_end:
        .balign 16                              # within a line
gdt_pointer:
        .word   gdt_end - gdt - 1
        .quad   gdt
idt_pointer:
        .word   16 * 256 - 1
        .quad   idt
        .bss
        .balign 16
idt:    .space  16 * 256
