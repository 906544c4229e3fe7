package browser

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/fairlead-io/fairlead/internal/patience"
)

// person uses a tab like a person on call: clicks on visible controls, and types. It counts
// both.
type person struct {
	*tab
	clicks int // clicks and keys such as Enter
	fields int // fields typed into
}

// visibleControl finds a control on the topmost layer of the page and returns its
// position, or the number of matching controls if there is not exactly one. It also
// intercepts the next click if that does not hit the control, because an update of the
// page may move the control before the mouse arrives.
const visibleControl = `((region, label) => {
	const live = document.getElementById("live");
	if (document.readyState !== "complete" || live && !(Number(live.dataset.updates) > 0)) return [];
	const plain = text => (text ?? "").replace(/\s+/g, " ").trim();
	const named = control => [control.innerText, control.getAttribute("aria-label"), control.querySelector("title")?.textContent].map(plain);
	const controls = "a, button, summary, label";
	const layer = document.querySelector("dialog[open]") ?? document;
	const inside = [...layer.querySelectorAll(region || "*")].flatMap(part => [...(part.matches(controls) ? [part] : []), ...part.querySelectorAll(controls)]);
	let found = [...new Set(inside)].filter(control => control.checkVisibility({visibilityProperty: true}) && (label === "" || named(control).includes(label)));
	if (label === "") found = found.slice(0, 1);
	if (found.length !== 1) return [found.length];
	const control = found[0];
	control.scrollIntoView({block: "center", behavior: "instant"});
	const box = control.getClientRects()[0];
	const at = [box.left + box.width / 2, box.top + box.height / 2];
	if (!control.contains(document.elementFromPoint(...at))) return [-1];
	window.missed = false;
	window.addEventListener("click", event => {
		if (control.isConnected && control.contains(event.target)) return;
		window.missed = true;
		event.preventDefault();
		event.stopImmediatePropagation();
	}, {capture: true, once: true});
	return at;
})(%s, %s)`

// click clicks on the control with a label in a part of the page, which is given as a CSS
// selector. Without a label, it is the first control of that part.
func (p *person) click(region, label string) {
	p.Helper()
	p.clicks++
	ctx, cancel := context.WithTimeout(p.ctx, patience.Limit)
	defer cancel()
	for {
		at, err := chromedp.Run(ctx, chromedp.Evaluate[[]float64](fmt.Sprintf(visibleControl, quoted(region), quoted(label))))
		if err == nil && len(at) == 2 {
			p.do(chromedp.MouseClickXY(at[0], at[1]))
			// A page that is replaced by the click has no such variable.
			if missed, err := chromedp.Run(ctx, chromedp.Evaluate[bool](`window.missed === true`)); err != nil || !missed {
				return
			}
		}
		select {
		case <-ctx.Done():
			p.Fatalf("%q in %q is not one visible control: %v, %v; the page is %v", label, region, at, err, p.where())
		case <-time.After(30 * time.Millisecond):
		}
	}
}

// goes clicks on a control that leads to another page, and waits for the page.
func (p *person) goes(region, label string) {
	p.Helper()
	p.leaves(func() { p.click(region, label) })
}

// leaves waits for the page to which a step leads.
func (p *person) leaves(step func()) {
	p.Helper()
	value[bool](p.tab, `window.before = true`)
	step()
	p.await(`window.before === undefined && document.readyState === "complete" && (!document.getElementById("live") || Number(document.getElementById("live").dataset.updates) > 0)`)
}

// opens clicks on a button that opens a form over the page.
func (p *person) opens(region, label string) {
	p.Helper()
	p.click(region, label)
	p.await(`document.getElementById("dialog").open && document.querySelector("#dialog .buttons") !== null`)
}

// submits clicks on the button that sends a form, and waits for the page that reports the
// result.
func (p *person) submits(label string) {
	p.Helper()
	p.goes("form.act .buttons", label)
	p.await(`document.getElementById("notice") !== null`)
}

// sees waits until a part of the page shows a text, in capitals or not.
func (p *person) sees(region, text string) {
	p.Helper()
	p.await(fmt.Sprintf(`[...document.querySelectorAll(%s)].some(part => part.checkVisibility() && part.innerText.replace(/\s+/g, " ").toLowerCase().includes(%s))`, quoted(region), quoted(strings.ToLower(text))))
}

// labelledField focuses the visible field with a label and selects its content. It returns
// its type, or nothing if there is not exactly one.
const labelledField = `(label => {
	const plain = text => (text ?? "").replace(/\s+/g, " ").trim();
	const layer = document.querySelector("dialog[open]") ?? document;
	const named = field => [field.getAttribute("aria-label"), field.closest("label")?.firstChild?.textContent].map(plain);
	const found = [...layer.querySelectorAll("input:not([type=radio], [type=checkbox], [type=hidden]), textarea")].filter(field => field.checkVisibility() && named(field).includes(label));
	if (found.length !== 1) return "";
	window.field = found[0];
	window.field.focus();
	window.field.select();
	return window.field.type;
})(%s)`

// types replaces the content of the field with a label.
func (p *person) types(label, text string) {
	p.Helper()
	p.fields++
	kind := value[string](p.tab, fmt.Sprintf(labelledField, quoted(label)))
	switch kind {
	case "":
		p.Fatalf("%q is not the label of one visible field; the page is %v", label, p.where())
	case "datetime-local": // how it is typed depends on the browser
		value[bool](p.tab, `(window.field.value = `+quoted(text)+`, window.field.dispatchEvent(new Event("input", {bubbles: true})))`)
	default:
		p.do(chromedp.KeyEvent(text))
	}
	p.await(`window.field.isConnected && window.field.value === ` + quoted(text))
}

// enter presses Enter in the field that was typed into.
func (p *person) enter() {
	p.Helper()
	p.clicks++
	p.do(chromedp.KeyEvent("\r"))
}
