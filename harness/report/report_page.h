/*
 * report_page.h - the fixed parts of the page: its style, its one script and the
 * hash by which the page's policy knows that script.
 */
#ifndef REPORT_PAGE_H
#define REPORT_PAGE_H

extern const char report_style[];
extern const char report_script[];

/* base64 of SHA-256 of report_script. tests/cli/report.sh says the right one when
 * the script has changed. */
extern const char report_script_hash[];

#endif
