/* page.c - the frame of a page; its style and script. Colours have a contrast of at least 4.5
 * against their background, light and dark. */
#include "show/page.h"

#include <math.h>

#include "base/markup.h"

static const char style[] =
    ":root{color-scheme:light dark;--fg:#1c1c1c;--bg:#fff;--soft:#595959;--line:#d0d0d0;"
    "--band:#f4f4f4;--bad:#b00020;--open:#7a5200;--good:#176029;--link:#0b57a4;--mark:#fff3bf}"
    "@media(prefers-color-scheme:dark){:root{--fg:#e4e4e4;--bg:#161616;--soft:#a8a8a8;"
    "--line:#3a3a3a;--band:#212121;--bad:#ff8a80;--open:#ffd54f;--good:#81c784;--link:#8ab8ff;"
    "--mark:#4a4000}}"
    "*{box-sizing:border-box}"
    "body{font:15px/1.5 system-ui,sans-serif;margin:0 auto;padding:1rem;max-width:90rem;"
    "color:var(--fg);background:var(--bg)}"
    "h1{font-size:1.5rem;line-height:1.25}h2{font-size:1.2rem;margin-top:2.2rem}"
    "a{color:var(--link)}nav ul{padding:0;display:flex;flex-wrap:wrap;gap:.2rem 1.2rem;"
    "list-style:none}"
    ".scroll{overflow-x:auto;border:1px solid var(--line);border-radius:4px}"
    "table{border-collapse:collapse;width:100%;font-size:.8rem}"
    "caption{text-align:left;padding:.4rem .6rem;color:var(--soft)}"
    "th,td{padding:.25rem .32rem;text-align:left;vertical-align:top;"
    "border-top:1px solid var(--line)}"
    "thead th{background:var(--band);white-space:nowrap}tbody th{font-weight:600}"
    "td.n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}"
    "td.n.i{white-space:normal;min-width:6.5rem}td.i span{white-space:nowrap}"
    "details{margin-top:.6rem}summary{cursor:pointer;margin-bottom:.4rem}"
    "td svg{vertical-align:middle}td.s{min-width:15rem}td.w{min-width:17rem}"
    "th button{font:inherit;font-weight:600;color:inherit;background:none;border:0;padding:0;"
    "cursor:pointer;text-align:left}"
    "th[aria-sort=ascending] button::after{content:' \\2191'}"
    "th[aria-sort=descending] button::after{content:' \\2193'}"
    ":focus-visible{outline:3px solid var(--link);outline-offset:1px}"
    "tr:target>*{background:var(--mark)}"
    ".bad{color:var(--bad)}.open{color:var(--open)}.good{color:var(--good)}"
    ".soft{color:var(--soft)}"
    ".filter{display:flex;flex-wrap:wrap;gap:.4rem 1rem;margin:.6rem 0;align-items:end}"
    ".filter label{display:flex;flex-direction:column;font-size:.85rem}"
    ".filter input,.filter select{font:inherit;color:inherit;background:var(--bg);"
    "border:1px solid var(--soft);border-radius:4px;padding:.2rem .4rem;max-width:100%}"
    ".filter[hidden]{display:none}"
    "dl{display:grid;grid-template-columns:max-content 1fr;gap:.1rem 1rem;font-size:.88rem}"
    "dt{color:var(--soft)}dd{margin:0;overflow-wrap:anywhere}"
    "figure{margin:1rem 0}figure .scroll{background:#fff}figcaption{font-size:.88rem}"
    ".plot{position:relative;min-width:46rem}.plot svg{display:block;width:100%;height:auto}"
    ".plot .links{position:absolute;top:0;left:0;height:100%}"
    ".links a{outline:0}.links circle,.links rect{fill:#0b57a4;fill-opacity:0}"
    ".links a:hover>*{fill-opacity:.15}"
    ".links a:focus-visible>*{fill-opacity:.15;stroke:#0b57a4;stroke-width:3}"
    ".past:not(:focus){position:absolute;clip-path:inset(50%);width:1px;height:1px;"
    "overflow:hidden}"
    "@media(max-width:40rem){body{padding:.6rem}dl{grid-template-columns:1fr}dd{margin:0 0 .4rem}"
    "th,td{padding:.25rem .4rem}}"
    "@media print{.filter{display:none}.scroll{overflow:visible;border:0}}";

/* Sorts a table by a column (figures by data-v, missing ones last) and hides the
 * rows that do not have every word. Rows are text already: nothing is parsed. */
static const char script[] =
    "(function(){'use strict';\n"
    "function key(row,at){var cell=row.cells[at];if(!cell)return null;\n"
    " if(!cell.hasAttribute('data-v'))return cell.textContent.trim().toLowerCase()||null;\n"
    " var value=parseFloat(cell.getAttribute('data-v'));return isNaN(value)?null:value;}\n"
    "function compare(a,b){return a<b?-1:a>b?1:0;}\n"
    "function sort(table,head,at){\n"
    " var sign=head.getAttribute('aria-sort')==='ascending'?-1:1;\n"
    " var body=table.tBodies[0];\n"
    " var rows=Array.prototype.map.call(body.rows,function(row,index){\n"
    "  return {row:row,key:key(row,at),index:index};});\n"
    " rows.sort(function(a,b){\n"
    "  if(a.key===null||b.key===null)return (a.key===null)-(b.key===null)||a.index-b.index;\n"
    "  return sign*compare(a.key,b.key)||a.index-b.index;});\n"
    " var all=document.createDocumentFragment();\n"
    " rows.forEach(function(r){all.appendChild(r.row);});\n"
    " body.appendChild(all);\n"
    " Array.prototype.forEach.call(table.tHead.rows[0].cells,function(other){\n"
    "  other.removeAttribute('aria-sort');});\n"
    " head.setAttribute('aria-sort',sign>0?'ascending':'descending');}\n"
    "Array.prototype.forEach.call(document.querySelectorAll('table.sortable'),function(table){\n"
    " Array.prototype.forEach.call(table.tHead.rows[0].cells,function(head,at){\n"
    "  var button=document.createElement('button');button.type='button';\n"
    "  button.textContent=head.textContent;head.textContent='';head.appendChild(button);\n"
    "  button.addEventListener('click',function(){sort(table,head,at);});});});\n"
    "var form=document.getElementById('filter');if(!form)return;\n"
    "var words=document.getElementById('words'),state=document.getElementById('state'),\n"
    " said=document.getElementById('shown');\n"
    "var rows=Array.prototype.map.call(document.getElementById('cases').tBodies[0].rows,\n"
    " function(row){return {row:row,text:row.textContent.toLowerCase(),\n"
    "  state:row.getAttribute('data-s')};});\n"
    "function filter(){var list=words.value.toLowerCase().split(/\\s+/),shown=0;\n"
    " rows.forEach(function(r){\n"
    "  var fits=(!state.value||r.state===state.value)&&list.every(function(word){\n"
    "   return r.text.indexOf(word)>=0;});\n"
    "  r.row.hidden=!fits;shown+=fits;});\n"
    " said.textContent=shown+' of '+rows.length+' cases shown';}\n"
    "function reveal(){var row=document.getElementById(location.hash.slice(1));\n"
    " if(row&&row.hidden){words.value='';state.value='';filter();row.scrollIntoView();}}\n"
    "form.hidden=false;form.addEventListener('submit',function(e){e.preventDefault();});\n"
    "words.addEventListener('input',filter);state.addEventListener('change',filter);\n"
    "window.addEventListener('hashchange',reveal);filter();\n"
    "})();\n";

/* base64 of SHA-256 of the script. When it changes, tests/cli/report.sh prints the new one. */
static const char script_hash[] = "84iasEK8R5mpuEa5RCRrav3gXWWq5BEbiYk+woBxURM=";

void page_begin(FILE *out, const char *before, const char *title)
{
    fprintf(out,
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
            "style-src 'unsafe-inline'; img-src data:; script-src 'sha256-%s'; base-uri 'none'; "
            "form-action 'none'\">\n"
            "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
            "<meta name=\"color-scheme\" content=\"light dark\">\n"
            "<meta name=\"referrer\" content=\"no-referrer\">\n"
            "<link rel=\"icon\" href=\"data:,\">\n",
            script_hash);
    xml_print(out, "<title>%s%s</title>\n", before, title);
    fprintf(out, "<style>%s</style>\n</head>\n<body>\n", style);
    xml_print(out, "<h1>%s</h1>\n", title);
}

void page_end(FILE *out)
{
    fprintf(out, "<script>%s</script>\n</body>\n</html>\n", script);
}

void page_table(FILE *out, const char *attributes, const char *name, const char *caption,
                const char *const *heads)
{
    fprintf(out,
            "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"%s\">"
            "<table%s class=\"sortable\"><caption>%s</caption>\n<thead><tr>",
            name, attributes, caption);
    for (; *heads; heads++)
        xml_print(out, "<th scope=\"col\">%s</th>", *heads);
    fputs("</tr></thead>\n<tbody>\n", out);
}

void page_table_end(FILE *out)
{
    fputs("</tbody></table></div>\n", out);
}

void page_figure(FILE *out, const char *class, const char *text, double value)
{
    char key[32] = "";
    if (!isnan(value)) snprintf(key, sizeof key, "%.6g", value);
    xml_print(out, "<td class=\"%s\" data-v=\"%s\">%s</td>", class, key, text);
}
