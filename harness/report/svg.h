/*
 * svg.h - a picture's SVG made fit to stand inside a page.
 */
#ifndef SVG_H
#define SVG_H

/* The <svg> element of `text`, without prolog, its ids and the references to them
 * behind `prefix` (two pictures in one page must not share ids), hidden from screen
 * readers (the page has a text alternative), and scaling with its frame. Malloc'd;
 * NULL with assay_error when it is no SVG, or holds anything that could act: a
 * script, a handler, a link or foreign content. */
char *svg_inline(const char *text, const char *prefix);

#endif
