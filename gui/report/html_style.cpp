#include <fmt/core.h>

#include "gui/report/html.h"

namespace recut::gui {
namespace {

std::string variables(const Theme& t) {
  return fmt::format(
      "--background:{};--panel:{};--raised:{};--line:{};--text:{};--dim:{};--faint:{};--saved:{};"
      "--recomputed:{};--result:{};--selection:{};--conflict:{}",
      css(t.background), css(t.panel), css(t.raised), css(t.line), css(t.text), css(t.dim),
      css(t.faint), css(t.saved), css(t.recomputed), css(t.result), css(t.selection),
      css(t.conflict));
}

// Pictures have a drawing for narrow windows, where the wide one's labels would be too small to
// read. The shadow at a table's edge says that there is more of it: the background moves with the
// content and covers the shadow where the content ends.
constexpr std::string_view kRules = R"(
*{box-sizing:border-box}
body{margin:0;background:var(--background);color:var(--text);font:14px/1.5 Inter,system-ui,sans-serif}
main{max-width:1180px;margin:0 auto;padding:28px 24px 64px}
h1{font-size:20px;font-weight:600;margin:0;overflow-wrap:anywhere}
h2{font-size:15px;font-weight:600;margin:36px 0 10px}
p{margin:6px 0;color:var(--dim);overflow-wrap:anywhere}
#finding{font-size:17px;color:var(--text);margin:14px 0 0;max-width:75ch}
.figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(205px,1fr));gap:1px;background:var(--line);
border:1px solid var(--line);border-radius:4px;margin-top:18px;overflow:hidden}
.figures div{background:var(--panel);padding:12px 14px}
.figures dt,.figures span{color:var(--dim);font-size:12px;display:block}
.figures b{font:600 19px/1.5 "JetBrains Mono",ui-monospace,monospace;font-variant-numeric:tabular-nums}
.figures .refused{color:var(--conflict)}
.facts{display:grid;grid-template-columns:max-content 1fr;gap:4px 16px;margin:10px 0}
.facts dt{color:var(--dim)}.facts dd{margin:0;overflow-wrap:anywhere}
figure{margin:0;overflow-x:auto}figure svg{display:block;height:auto;border:1px solid var(--line);border-radius:4px}
.wide svg{width:100%;min-width:1000px}.narrow svg{width:100%;max-width:600px}.narrow{display:none}
figcaption{color:var(--dim);font-size:12px;margin:6px 0 14px}
.scroll{max-height:520px;overflow:auto;border:1px solid var(--line);border-radius:4px;
background:linear-gradient(var(--panel),var(--panel)) left/28px 100% no-repeat local,
linear-gradient(var(--panel),var(--panel)) right/28px 100% no-repeat local,
linear-gradient(to right,var(--line),transparent) left/14px 100% no-repeat scroll,
linear-gradient(to left,var(--line),transparent) right/14px 100% no-repeat scroll,var(--panel)}
.swipe{font-size:12px;margin:0 0 4px}
pre{margin:0;padding:10px 14px;font:12px/1.6 "JetBrains Mono",ui-monospace,monospace}
table{border-collapse:collapse;width:100%}
th{position:sticky;top:0;background:var(--raised);color:var(--dim);font-weight:500;font-size:12px;text-align:left;cursor:pointer;
white-space:nowrap}
th,td{padding:4px 14px}tr+tr td{border-top:1px solid var(--line)}
td.code,td.number{font:12px/1.6 "JetBrains Mono",ui-monospace,monospace;font-variant-numeric:tabular-nums;white-space:nowrap}
td.code{max-width:420px;overflow:hidden;text-overflow:ellipsis}
td.number,th.number{text-align:right}
input{background:var(--panel);color:var(--text);border:1px solid var(--line);border-radius:4px;padding:4px 10px;font:inherit;
width:280px;max-width:100%;margin-bottom:8px}
.more{font-size:12px}
footer{margin-top:40px;color:var(--faint);font-size:12px}
@media (max-width:1047px){.wide{display:none}.narrow{display:block}}
@media (max-width:640px){main{padding:18px 12px 48px}.figures{grid-template-columns:1fr 1fr}
th,td{padding:5px 10px}td.words{white-space:nowrap}td.code{max-width:200px}input{width:100%;font-size:16px;padding:8px 10px}
.facts{grid-template-columns:1fr;gap:0}.facts dd{margin-bottom:8px}}
@media print{.scroll{max-height:none;overflow:visible}input,.swipe{display:none}}
)";

}  // namespace

std::string html_style() {
  return fmt::format(
      "<style>\n:root{{{}}}\n.on-light{{display:none}}\n@media (prefers-color-scheme:light){{"
      ":root{{{}}}.on-light{{display:block}}.on-dark{{display:none}}}}{}</style>\n",
      variables(kDark), variables(kLight), kRules);
}

// Sorts a table by the column that was clicked, filters rows by the typed text, and says where a
// box scrolls sideways. Without scripts the page says the same.
std::string_view html_script() {
  return R"(<script>
for (const table of document.querySelectorAll('table')) {
  const body = table.tBodies[0];
  [...table.tHead.rows[0].cells].forEach((head, column) => head.addEventListener('click', () => {
    const down = head.dataset.order !== 'down';
    head.dataset.order = down ? 'down' : 'up';
    const key = row => {
      const cell = row.cells[column];
      return 'value' in cell.dataset ? Number(cell.dataset.value) : cell.textContent;
    };
    const rows = [...body.rows].sort((a, b) => {
      const x = key(a), y = key(b);
      return (x < y ? -1 : x > y ? 1 : 0) * (down ? -1 : 1);
    });
    body.append(...rows);
  }));
  if (body.rows.length < 12) continue;
  const field = document.createElement('input');
  field.placeholder = 'Show rows that hold …';
  field.setAttribute('aria-label', field.placeholder);
  field.addEventListener('input', () => {
    for (const row of body.rows)
      row.hidden = !row.textContent.toLowerCase().includes(field.value.toLowerCase());
  });
  table.parentElement.before(field);
}
for (const box of document.querySelectorAll('.scroll')) {
  const words = document.createElement('p');
  words.className = 'swipe';
  words.textContent = 'Scroll sideways for more →';
  box.before(words);
  new ResizeObserver(() => { words.hidden = box.scrollWidth <= box.clientWidth; }).observe(box);
}
</script>
)";
}

}  // namespace recut::gui
