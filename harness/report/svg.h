/*
 * svg.h - prepares an SVG picture for inlining in a page.
 */
#pragma once

/* The <svg> element of `text` without prolog. Its ids and the references to them get
 * `prefix`, since two pictures in one page must not share ids, and it is hidden from screen
 * readers, as the page has a text alternative. Malloc'd; NULL with assay_error when it is not
 * an SVG or has active content: a script, an event handler, a link or foreign content. */
char *svg_inline(const char *text, const char *prefix);
