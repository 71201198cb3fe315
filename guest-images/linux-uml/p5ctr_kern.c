// SPDX-License-Identifier: GPL-2.0
/*
 * /dev/p5ctr of User-Mode Linux: the host kernel's /dev/p5ctr, passed on (interface: p5ctr.h).
 *
 * Each open file of this device has an open file of the host's device. For a configuration, start,
 * stop or read, the process of this kernel makes the same ioctl on the host.
 *
 * The physically contiguous buffer also belongs to the host. Here it appears in an I/O memory
 * region, called the window. The kernel parameter iomem=p5ctr,FILE makes the window, and the size
 * of FILE (P5CTR_BUFFER_MAX) is the size of the window. To map pages of such a region into a
 * process, this kernel makes the process call mmap() for the region's file. While a buffer is
 * mapped, the region's file is the open host device. There is only one window, so only one buffer
 * can be mapped at a time.
 */
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <asm/tlbflush.h>
#include <mem_user.h>
#include <os.h>

#include "p5ctr.h"

#define HOST_DEVICE "/dev/p5ctr"

struct p5ctr_file {
	int host;
	unsigned long buffer_size;
};

static struct iomem_region *window;
static int window_file; /* the file of the window while no buffer is mapped */
static struct p5ctr_file *window_user;
static DEFINE_MUTEX(window_lock);

static long p5ctr_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct p5ctr_file *pf = file->private_data;
	struct p5ctr_config config;
	struct p5ctr_counts counts;
	long err;

	switch (cmd) {
	case P5CTR_CONFIG:
		if (copy_from_user(&config, (void __user *)arg, sizeof(config)))
			return -EFAULT;
		return os_ioctl_generic(pf->host, cmd, (unsigned long)&config);
	case P5CTR_START:
		return os_ioctl_generic(pf->host, cmd, 0);
	case P5CTR_STOP:
	case P5CTR_READ:
		err = os_ioctl_generic(pf->host, cmd, (unsigned long)&counts);
		if (err)
			return err;
		return copy_to_user((void __user *)arg, &counts, sizeof(counts)) ? -EFAULT : 0;
	default:
		return -ENOTTY;
	}
}

/* Map the buffer into this kernel, so that the host makes the buffer. */
static int p5ctr_open_window(struct p5ctr_file *pf, unsigned long size)
{
	int err;

	if (window_user)
		return window_user == pf && size <= pf->buffer_size ? 0 : -EBUSY;
	err = os_map_memory((void *)window->virt, pf->host, 0, size, 1, 1, 0);
	if (err)
		return err;
	pf->buffer_size = size;
	window->fd = pf->host;
	window_user = pf;
	return 0;
}

static int p5ctr_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct p5ctr_file *pf = file->private_data;
	unsigned long size = vma->vm_end - vma->vm_start;
	int err;

	if (!window)
		return -ENODEV;
	if (vma->vm_pgoff || size > P5CTR_BUFFER_MAX)
		return -EINVAL;
	mutex_lock(&window_lock);
	err = p5ctr_open_window(pf, size);
	if (!err)
		err = remap_pfn_range(vma, vma->vm_start, window->phys >> PAGE_SHIFT, size,
				      vma->vm_page_prot);
	mutex_unlock(&window_lock);
	/* Map the whole buffer in the process now, not page by page at page faults. */
	if (!err)
		flush_tlb_range(vma, vma->vm_start, vma->vm_end);
	return err;
}

static int p5ctr_open(struct inode *inode, struct file *file)
{
	struct p5ctr_file *pf = kzalloc(sizeof(*pf), GFP_KERNEL);

	if (!pf)
		return -ENOMEM;
	pf->host = os_open_file(HOST_DEVICE, of_cloexec(of_rdwr(OPENFLAGS())), 0);
	if (pf->host < 0) {
		int err = pf->host;

		kfree(pf);
		return err;
	}
	file->private_data = pf;
	return 0;
}

/* Runs after the last mapping is gone, because each mapping holds a reference to the file. */
static int p5ctr_release(struct inode *inode, struct file *file)
{
	struct p5ctr_file *pf = file->private_data;

	mutex_lock(&window_lock);
	if (window_user == pf) {
		window->fd = window_file;
		window_user = NULL;
		/* The host frees the buffer with its last mapping. */
		if (os_map_memory((void *)window->virt, window_file, 0, pf->buffer_size, 1, 1, 0))
			pr_err("p5ctr: the window keeps a buffer\n");
	}
	mutex_unlock(&window_lock);
	os_close_file(pf->host);
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
	struct iomem_region *region;

	if (os_access(HOST_DEVICE, OS_ACC_RW_OK) != 0)
		return -ENODEV;
	for (region = iomem_regions; region; region = region->next)
		if (strcmp(region->driver, "p5ctr") == 0 && region->size >= P5CTR_BUFFER_MAX) {
			window = region;
			window_file = region->fd;
		}
	return misc_register(&p5ctr_device);
}
late_initcall(p5ctr_init);
