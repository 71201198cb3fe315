// SPDX-License-Identifier: GPL-2.0
/*
 * Page colours: the pages of programs have the colours of their virtual addresses.
 *
 * In a physically indexed cache with one way, pages of one colour take the same place. This
 * allocator keeps a queue of free pages for each colour (R. E. Kessler and M. D. Hill, Page
 * Placement Algorithms for Large Real-Indexed Caches, ACM TOCS 10(4), 1992: page coloring). A
 * program that uses fewer pages than there are colours then has no two pages of one colour, if its
 * addresses are contiguous. The kernel's own memory and the pages of files have no virtual address
 * of a program and stay as they are.
 *
 * page_colours=N on the command line sets the number of colours; without it, nothing is coloured.
 * Programs use some colours more than others, because their code, data and stacks begin at the same
 * addresses. So the queues of the other colours become long, as free lists for each colour would.
 *
 * One processor without preemption: nothing else runs while a queue is changed. Interrupts allocate
 * no pages of programs.
 */
#include <linux/gfp.h>
#include <linux/highmem.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/shrinker.h>

#define MOST_COLOURS 256
#define MOST_KEPT 4096 /* pages in all queues: 16 MB, which the kernel gets back when it needs them */

static struct list_head queues[MOST_COLOURS];
static unsigned int colours, kept;

static int __init set_colours(char *text)
{
	unsigned int i;

	if (kstrtouint(text, 10, &i) || !i || i > MOST_COLOURS)
		return -EINVAL;
	for (colours = 0; colours < i; colours++)
		INIT_LIST_HEAD(&queues[colours]);
	return 0;
}
early_param("page_colours", set_colours);

static struct page *taken(unsigned int colour)
{
	struct page *page = list_first_entry_or_null(&queues[colour], struct page, lru);

	if (page) {
		list_del(&page->lru);
		kept--;
	}
	return page;
}

/* A page of the wanted colour, from its queue or from the kernel's allocator. Pages of other colours
 * go to their queues. If the queues are full, or memory is short, the next queue with a page gives
 * one.
 */
static struct page *coloured(gfp_t gfp, unsigned int wanted)
{
	struct page *page = taken(wanted);
	unsigned int i;

	while (!page && kept < MOST_KEPT) {
		page = alloc_pages(gfp & ~__GFP_ZERO, 0);
		if (!page)
			break;
		i = page_to_pfn(page) % colours;
		if (i == wanted)
			return page;
		list_add_tail(&page->lru, &queues[i]);
		kept++;
		page = taken(wanted); /* another task may have filled it during alloc_pages */
	}
	for (i = 1; !page && i < colours; i++)
		page = taken((wanted + i) % colours);
	return page;
}

static unsigned long pages_kept(struct shrinker *shrinker, struct shrink_control *control)
{
	return kept;
}

static unsigned long given_back(struct shrinker *shrinker, struct shrink_control *control)
{
	unsigned long freed = 0;
	unsigned int i;

	for (i = 0; kept && freed < control->nr_to_scan; i = (i + 1) % colours) {
		struct page *page = taken(i);

		if (page) {
			__free_page(page);
			freed++;
		}
	}
	return freed;
}

static struct shrinker queues_of_colours = {
	.count_objects = pages_kept,
	.scan_objects = given_back,
	.seeks = DEFAULT_SEEKS,
};

static int __init add_shrinker(void)
{
	return colours ? register_shrinker(&queues_of_colours, "page-colours") : 0;
}
late_initcall(add_shrinker);

struct folio *coloured_folio_alloc(gfp_t gfp, unsigned int order, unsigned long address)
{
	struct page *page;

	if (!colours || order || !address) /* 0: a page of a file in tmpfs */
		return folio_alloc(gfp, order);
	page = coloured(gfp, (address >> PAGE_SHIFT) % colours);
	if (page && (gfp & __GFP_ZERO))
		clear_highpage(page);
	return page ? page_folio(page) : NULL;
}
