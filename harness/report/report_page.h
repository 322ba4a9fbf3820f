/*
 * report_page.h - the fixed parts of the page: its style, its script, and the script's hash
 * for the Content-Security-Policy.
 */
#ifndef REPORT_PAGE_H
#define REPORT_PAGE_H

extern const char report_style[];
extern const char report_script[];

/* base64 of SHA-256 of report_script. When the script changes, tests/cli/report.sh prints the
 * new one. */
extern const char report_script_hash[];

#endif
