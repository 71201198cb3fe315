// SPDX-License-Identifier: GPL-2.0
/*
 * p5ctr: the Pentium's two event counters for programs, gates to measure INT and IRET with, and a
 * physically contiguous buffer (interface: p5ctr.h). A kernel for x86-64 has the buffer only. No
 * x86-64 processor has these counters, and 64-bit programs do not use the gates.
 *
 * The counters belong to the CPU, not to a process. Two programs that use the device at the same
 * time disturb each other. There is no lock. On one CPU without kernel preemption, no other process
 * runs between the register accesses of one call. The first access of STOP freezes both counters at
 * once.
 */
#include <linux/fs.h>
#include <linux/gfp.h>
#include <linux/init.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/stringify.h>
#include <linux/uaccess.h>
#include <asm/desc.h>
#include <asm/msr.h>
#include <asm/processor.h>

#include "p5ctr.h"

struct p5ctr_file {
	u32 cesr;
	struct page *buffer;
	unsigned int buffer_order;
};

#ifdef CONFIG_X86_32

/* Intel SDM vol. 3B, "Performance Monitoring (Pentium Processors)". */
#define MSR_P5_CESR 0x11
#define MSR_P5_CTR0 0x12
#define MSR_P5_CTR1 0x13
#define CESR_EVENT_MAX 63
#define CESR_CC_MAX 7
#define CESR_CC_SHIFT 6
#define CESR_CTR1_SHIFT 16
#define CTR_MASK GENMASK_ULL(39, 0)

/* The kernel's interrupt table is read-only. While a file has the gates, the processor uses a copy
 * of this table with the gates added.
 */
static gate_desc gates_idt[IDT_ENTRIES] __page_aligned_bss;
static struct desc_ptr kernel_idt;
static const struct p5ctr_file *gates_user;

void p5ctr_gate_return(void);
void p5ctr_gate_mark(void);

/* The handlers of interrupt gates: interrupts are off, and the data segments are the program's. */
asm(".pushsection .text\n"
    "	.balign 32\n"
    "p5ctr_gate_mark:\n"
    "	cpuid\n"
    "	movl %esi, %eax\n"
    "	movl $" __stringify(P5CTR_MARK_BEGIN) ", %ecx\n"
    "	movl %edi, %edx\n"
    "	cpuid\n"
    "	movl %esi, %eax\n"
    "	movl $" __stringify(P5CTR_MARK_END) ", %ecx\n"
    "	movl %edi, %edx\n"
    "p5ctr_gate_return:\n"
    "	iretl\n"
    ".popsection\n");

static void set_gate(unsigned int vector, void (*handler)(void))
{
	struct idt_data data;

	init_idt_data(&data, vector, handler);
	data.bits.dpl = 3;
	idt_init_desc(&gates_idt[vector], &data);
}

static long p5ctr_gates(const struct p5ctr_file *pf)
{
	const struct desc_ptr idt = {.size = sizeof(gates_idt) - 1,
				     .address = (unsigned long)gates_idt};

	if (gates_user)
		return gates_user == pf ? 0 : -EBUSY;
	store_idt(&kernel_idt);
	memcpy(gates_idt, (void *)kernel_idt.address, sizeof(gates_idt));
	set_gate(P5CTR_GATE_RETURN, p5ctr_gate_return);
	set_gate(P5CTR_GATE_MARK, p5ctr_gate_mark);
	load_idt(&idt);
	gates_user = pf;
	return 0;
}

static long p5ctr_config(struct p5ctr_file *pf, const struct p5ctr_config __user *arg)
{
	struct p5ctr_config config;

	if (copy_from_user(&config, arg, sizeof(config)))
		return -EFAULT;
	if (config.event0 > CESR_EVENT_MAX || config.event1 > CESR_EVENT_MAX ||
	    config.cc0 > CESR_CC_MAX || config.cc1 > CESR_CC_MAX)
		return -EINVAL;
	wrmsr(MSR_P5_CESR, 0, 0);
	pf->cesr = config.event0 | config.cc0 << CESR_CC_SHIFT |
		   (config.event1 | config.cc1 << CESR_CC_SHIFT) << CESR_CTR1_SHIFT;
	return 0;
}

static long p5ctr_start(const struct p5ctr_file *pf)
{
	wrmsr(MSR_P5_CESR, 0, 0);
	wrmsr(MSR_P5_CTR0, 0, 0);
	wrmsr(MSR_P5_CTR1, 0, 0);
	wrmsr(MSR_P5_CESR, pf->cesr, 0);
	return 0;
}

static long p5ctr_read(struct p5ctr_counts __user *arg)
{
	struct p5ctr_counts counts;

	rdmsrl(MSR_P5_CTR0, counts.ctr0);
	rdmsrl(MSR_P5_CTR1, counts.ctr1);
	counts.ctr0 &= CTR_MASK;
	counts.ctr1 &= CTR_MASK;
	counts.tsc = rdtsc();
	return copy_to_user(arg, &counts, sizeof(counts)) ? -EFAULT : 0;
}

static long p5ctr_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct p5ctr_file *pf = file->private_data;

	switch (cmd) {
	case P5CTR_CONFIG:
		return p5ctr_config(pf, (const void __user *)arg);
	case P5CTR_START:
		return p5ctr_start(pf);
	case P5CTR_STOP:
		wrmsr(MSR_P5_CESR, 0, 0);
		return p5ctr_read((void __user *)arg);
	case P5CTR_READ:
		return p5ctr_read((void __user *)arg);
	case P5CTR_GATES:
		return p5ctr_gates(pf);
	default:
		return -ENOTTY;
	}
}

static void p5ctr_restore(const struct p5ctr_file *pf)
{
	wrmsr(MSR_P5_CESR, 0, 0);
	if (gates_user == pf) {
		load_idt(&kernel_idt);
		gates_user = NULL;
	}
}

static int __init p5ctr_find(void)
{
	if (boot_cpu_data.x86_vendor != X86_VENDOR_INTEL || boot_cpu_data.x86 != 5 ||
	    !boot_cpu_has(X86_FEATURE_MSR)) {
		pr_info("p5ctr: not a Pentium with MSRs, no /dev/p5ctr\n");
		return -ENODEV;
	}
	wrmsr(MSR_P5_CESR, 0, 0);
	return 0;
}

#else

#define p5ctr_ioctl NULL
static void p5ctr_restore(const struct p5ctr_file *pf) {}
static int __init p5ctr_find(void) { return 0; }

#endif

/* The first mapping makes the buffer with the mapping's size. Later mappings show the same buffer
 * or a part of it.
 */
static int p5ctr_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct p5ctr_file *pf = file->private_data;
	unsigned long size = vma->vm_end - vma->vm_start;

	if (!pf->buffer) {
		if (vma->vm_pgoff || size > P5CTR_BUFFER_MAX)
			return -EINVAL;
		pf->buffer_order = get_order(size);
		pf->buffer = alloc_pages(GFP_USER | __GFP_ZERO | __GFP_NOWARN, pf->buffer_order);
		if (!pf->buffer)
			return -ENOMEM;
	}
	if (vma->vm_pgoff > P5CTR_BUFFER_MAX >> PAGE_SHIFT ||
	    (vma->vm_pgoff << PAGE_SHIFT) + size > PAGE_SIZE << pf->buffer_order)
		return -EINVAL;
	return remap_pfn_range(vma, vma->vm_start, page_to_pfn(pf->buffer) + vma->vm_pgoff, size,
			       vma->vm_page_prot);
}

static int p5ctr_open(struct inode *inode, struct file *file)
{
	struct p5ctr_file *pf = kzalloc(sizeof(*pf), GFP_KERNEL);

	if (!pf)
		return -ENOMEM;
	file->private_data = pf;
	return 0;
}

/* Runs after the last mapping is gone, because each mapping holds a reference to the file. */
static int p5ctr_release(struct inode *inode, struct file *file)
{
	struct p5ctr_file *pf = file->private_data;

	p5ctr_restore(pf);
	if (pf->buffer)
		__free_pages(pf->buffer, pf->buffer_order);
	kfree(pf);
	return 0;
}

static const struct file_operations p5ctr_fops = {
	.owner = THIS_MODULE,
	.open = p5ctr_open,
	.release = p5ctr_release,
	.unlocked_ioctl = p5ctr_ioctl,
	.mmap = p5ctr_mmap,
};

static struct miscdevice p5ctr_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "p5ctr",
	.fops = &p5ctr_fops,
};

static int __init p5ctr_init(void)
{
	int missing = p5ctr_find();

	return missing ? missing : misc_register(&p5ctr_device);
}
device_initcall(p5ctr_init);
