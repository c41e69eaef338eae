"""The page in Chromium: every chart is drawn, no error, no request."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess

import pytest

from tools.report.build import report

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
BEFORE = """<script>window.errors=[];addEventListener("error",e=>errors.push(e.message));
for(const f of ["error","warn"]){console[f]=(...a)=>errors.push(a.join(" "))}</script>"""
AFTER = """<script>addEventListener("load",()=>{
const inked=c=>c.getContext("2d").getImageData(0,0,c.width,c.height).data.some(x=>x);
document.querySelectorAll("details").forEach(d=>{d.open=true});
const drawn=reportReady();
const bare=[...document.querySelectorAll(".plot canvas:first-child")].filter(c=>!inked(c)).length;
const row=document.querySelector("tr[data-t]");if(row)row.click();
setTimeout(()=>{const p=document.createElement("pre");p.id="found";
p.textContent=JSON.stringify({errors,drawn,bare,requests:performance.getEntriesByType("resource").map(r=>r.name),
said:document.querySelector("nav output").textContent});document.body.append(p)},300)})</script>"""


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")
@pytest.mark.parametrize("log", ["walked", "fallen"])
def test_the_page_draws_everything_and_asks_for_nothing(log, request, tmp_path):
    text, told = report(request.getfixturevalue(log))
    page = tmp_path / "page.html"
    page.write_text(text.replace("<style>", BEFORE + "<style>", 1).replace("</body>", AFTER + "</body>"))
    done = subprocess.run(
        [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
         "--hide-scrollbars", f"--user-data-dir={tmp_path / 'profile'}", "--window-size=1400,1000",
         "--virtual-time-budget=5000", "--dump-dom", page.as_uri()],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    said = re.search(r'<pre id="found">(.*?)</pre>', done.stdout, re.S)
    assert said is not None, done.stderr[-2000:]
    found = json.loads(html.unescape(said[1]))
    assert found["errors"] == []
    assert found["requests"] == []
    assert found["drawn"] == text.count("data-chart=") > 40
    assert found["bare"] == 0
    zoomed = "showing" in found["said"]
    assert zoomed is bool(told.found), "a click on an anomaly shows its moment"
