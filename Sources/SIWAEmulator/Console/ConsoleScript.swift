/// The console's script: shows changes as they happen, opens requests in place and sends forms
/// without a reload. Without it the page reloads to do the same.
enum ConsoleScript {
    static let source = #"""
        "use strict";
        (() => {
          const log = document.getElementById("log");
          const live = document.getElementById("live");
          const pause = document.getElementById("pause");
          const toasts = document.getElementById("toasts");
          const keep = 200;
          let paused = false, missed = "", missedCount = 0;

          document.documentElement.classList.add("scripted");

          // ---- Folded sections: all are open where there is room, unless a click decided ----

          const wide = matchMedia("(min-width: 94rem)");
          const folds = JSON.parse(sessionStorage.getItem("folds") ?? "{}");
          document.querySelectorAll("details.fold").forEach(fold => {
            const name = fold.querySelector(".folded").id;
            fold.open = folds[name] ?? (fold.open || wide.matches);
            fold.firstElementChild.addEventListener("click", () => {
              folds[name] = !fold.open;
              sessionStorage.setItem("folds", JSON.stringify(folds));
            });
          });
          const unfold = () => {
            const fold = document.getElementById(location.hash.slice(1))?.closest("details.fold");
            if (fold) fold.open = true;
          };
          addEventListener("hashchange", unfold);
          unfold();

          // ---- Requests ----

          const rows = html => {
            const template = document.createElement("template");
            template.innerHTML = html;
            return template.content;
          };

          const show = html => {
            log.prepend(rows(html));
            while (log.children.length > keep) log.lastElementChild.remove();
          };

          const label = () => {
            pause.textContent = !paused ? "Pause"
              : missedCount ? `Resume (${missedCount} new)` : "Resume";
          };

          pause.hidden = false;
          pause.addEventListener("click", () => {
            paused = !paused;
            pause.setAttribute("aria-pressed", String(paused));
            if (!paused && missed) { show(missed); missed = ""; missedCount = 0; }
            label();
          });

          log.addEventListener("click", async event => {
            const row = event.target.closest("a.row");
            if (!row || event.ctrlKey || event.metaKey || event.shiftKey) return;
            event.preventDefault();
            const item = row.parentElement;
            const open = item.querySelector(".detail");
            if (open) {
              open.remove();
              row.setAttribute("aria-expanded", "false");
              return;
            }
            row.setAttribute("aria-expanded", "true");
            try {
              const answer = await fetch(`/emulator/requests/${item.dataset.number}`,
                { headers: { Accept: "application/json" } });
              if (row.getAttribute("aria-expanded") === "false") return;
              if (!answer.ok) throw new Error((await answer.json()).error_description);
              item.append(rows(await answer.text()));
              item.querySelectorAll("[data-copy]").forEach(button => { button.hidden = false; });
            } catch (error) {
              row.setAttribute("aria-expanded", "false");
              toast(error.message, "error");
            }
          });

          document.querySelectorAll("[data-copy]").forEach(button => { button.hidden = false; });
          document.addEventListener("click", async event => {
            const button = event.target.closest("[data-copy]");
            if (!button) return;
            await navigator.clipboard.writeText(button.parentElement.nextElementSibling.textContent);
            button.textContent = "Copied";
            setTimeout(() => { button.textContent = "Copy"; }, 1500);
          });

          document.querySelectorAll("[data-filter]").forEach(link => {
            link.addEventListener("click", event => {
              event.preventDefault();
              log.dataset.show = link.dataset.filter;
              document.querySelectorAll("[data-filter]").forEach(other =>
                other.toggleAttribute("aria-current", other === link));
              history.replaceState(null, "", link.href);
            });
          });

          // ---- Panels: never replaced between the press and the release of a button ----

          const waiting = new Map();
          let pressed = false;

          const apply = () => {
            if (pressed) return;
            for (const [name, html] of waiting) {
              const panel = document.querySelector(`[data-panel="${name}"]`);
              if (!panel) continue;
              const focused = panel.contains(document.activeElement) ? document.activeElement : null;
              const key = focused && (focused.ariaLabel || focused.textContent);
              const chosen = panel.value;
              panel.innerHTML = html;
              if ([...panel.options ?? []].some(option => option.value === chosen)) panel.value = chosen;
              if (!focused) continue;
              const again = [...panel.querySelectorAll("button, a")]
                .find(element => (element.ariaLabel || element.textContent) === key);
              if (again) again.focus({ preventScroll: true });
            }
            waiting.clear();
          };

          const press = value => () => {
            pressed = value;
            if (!value) setTimeout(apply, 0);
          };
          for (const name of ["pointerdown", "keydown"]) addEventListener(name, press(true), true);
          for (const name of ["pointerup", "pointercancel", "keyup", "blur"])
            addEventListener(name, press(false), true);

          // ---- Forms ----

          const toast = (text, kind, code) => {
            // Quick clicks replace the note of the last one.
            const old = [...toasts.children].filter(other =>
              kind === "error" ? other.dataset.text === text : other.matches(".ok:not(.code)"));
            old.forEach(other => other.remove());
            const note = document.createElement("p");
            note.className = `toast ${kind}${code ? " code" : ""}`;
            note.dataset.text = text;
            note.textContent = text;
            if (code) {
              const value = document.createElement("code");
              value.textContent = code;
              note.append(" ", value);
            }
            if (kind === "error") {
              // Errors stay until they are dismissed.
              const close = document.createElement("button");
              close.type = "button";
              close.textContent = "Dismiss";
              close.addEventListener("click", () => note.remove());
              note.append(" ", close);
            } else {
              setTimeout(() => note.remove(), code ? 60000 : 5000);
            }
            toasts.append(note);
          };

          document.addEventListener("submit", async event => {
            const form = event.target;
            if (form.method !== "post") return;
            event.preventDefault();
            const button = event.submitter;
            const menu = form.closest("details.menu");
            try {
              const answer = await fetch(form.getAttribute("action"), {
                method: "POST", headers: { Accept: "application/json" },
                body: new URLSearchParams(new FormData(form, button)),
              });
              const result = await answer.json();
              if (!answer.ok) throw new Error(result.error_description);
              const name = form.dataset.shows;
              toast(name ? "Signed in:" : `Done: ${button ? button.textContent.trim() : "saved"}`,
                "ok", name && result[name]);
              if (form.classList.contains("stack") && form.querySelector("input:not([type=hidden])")
                  && form.closest("details.more")) form.reset();
              if (menu) menu.open = false;
            } catch (error) {
              toast(error.message, "error");
            }
          });

          // ---- Changes ----

          const mark = (text, kind) => {
            live.hidden = false;
            live.textContent = text;
            live.className = `badge ${kind}`;
          };

          let { last, instance } = document.body.dataset;
          const listen = () => {
            const query = new URLSearchParams({ after: last, instance });
            const { search, find } = document.body.dataset;
            if (search) query.set("user", search);
            if (find) query.set("find", find);
            const events = new EventSource(`/emulator/events?${query}`);
            events.onopen = () => mark("live", "ok");
            events.onerror = () => {
              mark("not connected", "error");
              if (events.readyState !== EventSource.CLOSED) return;
              setTimeout(listen, 3000);
            };
            events.addEventListener("requests", event => {
              last = event.lastEventId;
              const html = JSON.parse(event.data).html;
              if (paused) {
                missed = html + missed;
                missedCount += html.split("<li id=").length - 1;
                label();
              } else {
                show(html);
              }
            });
            // Another start of the emulator: this page's token is no longer valid.
            events.addEventListener("reload", () => location.reload());
            events.addEventListener("reset", () => {
              last = "0"; missed = ""; missedCount = 0;
              log.replaceChildren();
            });
            events.addEventListener("panel", event => {
              const change = JSON.parse(event.data);
              waiting.set(change.panel, change.html);
              apply();
            });
          };
          listen();

          // ---- The clock ----

          setInterval(() => {
            const time = document.querySelector("time[data-now]");
            if (!time) return;
            if (time.begun === undefined) time.begun = performance.now();
            const passed = Math.floor((performance.now() - time.begun) / 1000);
            const now = new Date((Number(time.dataset.now) + passed) * 1000);
            if (Number.isNaN(now.getTime())) return;
            time.querySelector("b").textContent = now.toISOString().slice(11, 19);
          }, 500);
        })();

        """#
}
