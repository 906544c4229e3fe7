package browser

import (
	"testing"

	"github.com/fairlead-io/fairlead/internal/tier"
	"github.com/fairlead-io/fairlead/server"
)

// TestPagesFitTheirScreens checks the layout of pages on phones and on large screens: the size
// of labels in charts, the position of titles, and the row names of tables that scroll.
func TestPagesFitTheirScreens(t *testing.T) {
	tier.Long(t, "looks at a demo that has run for a while")
	t.Parallel()
	url := freeze(t, ripeDemo(t), "", server.Auth{})
	wall := look{width: 2560, height: 1300, lang: "en"}
	phone := look{width: 375, height: 800, lang: "en"}
	for name, c := range map[string]struct {
		as   look
		path string
		is   string
	}{
		"a title stands below its breadcrumbs": {wall, "/tenants/acme",
			`document.querySelector("h1").getBoundingClientRect().top >= document.querySelector(".crumbs").getBoundingClientRect().bottom`},
		"an empty list is centered": {wall, "/jobs?state=failed&kind=nothing", `(() => {
			const [title, text] = [...document.querySelectorAll(".empty h2, .empty p")].map(e => e.getBoundingClientRect());
			return Math.abs(title.left + title.right - text.left - text.right) < 2;
		})()`},
		"labels of a chart do not grow with it":      {wall, "/runs", `[...document.querySelectorAll("#runs-chart text")].every(e => e.getBoundingClientRect().height < 18)`},
		"times of a timeline do not grow with it":    {wall, "/jobs/1", `[...document.querySelectorAll(".timeline th.bars text")].every(e => e.getBoundingClientRect().height < 20)`},
		"a row of jobs with one line has its height": {wide, "/jobs?state=succeeded", `[...document.querySelectorAll("[data-row]")].some(row => row.getBoundingClientRect().height < 42)`},
		"a row keeps its name while its table is scrolled": {phone, "/schedules", `(() => {
			const table = document.querySelector(".table");
			table.scrollLeft = 300;
			return table.scrollLeft === 300 && document.querySelector("[data-row] td").getBoundingClientRect().left === table.getBoundingClientRect().left + 1;
		})()`},
		"a timeline needs no scrolling": {phone, "/jobs/1", `(() => { const t = document.querySelector(".table:has(> .timeline)"); return t.scrollWidth <= t.clientWidth; })()`},
		"a tenant without a cap has no gap in its place": {phone, "/tenants",
			`(() => { const m = document.querySelector(".meter:has(> span:empty)"); return m.lastElementChild.getBoundingClientRect().left === m.getBoundingClientRect().left; })()`},
	} {
		t.Run(name, func(t *testing.T) {
			tab := open(t, url, c.as)
			tab.visit(c.path)
			if !value[bool](tab, c.is) {
				t.Errorf("not on %s", c.path)
			}
		})
	}
}

// TestAFormThatCancelsHasOneButtonOfThatName checks that a form does not offer "Cancel job"
// and "Cancel" side by side.
func TestAFormThatCancelsHasOneButtonOfThatName(t *testing.T) {
	tier.Long(t, "looks at a demo that has run for a while")
	t.Parallel()
	url := freeze(t, ripeDemo(t), "", server.Auth{})
	tab := open(t, url, wide)
	tab.visit("/jobs/1/cancel")
	if labels := value[string](tab, `[...document.querySelectorAll(".act .buttons > *")].map(e => e.textContent).join(", ")`); labels != "Cancel job, Close" {
		t.Errorf("the buttons are %s", labels)
	}
}

// TestASingleFigureIsDrawn checks that a chart shows a figure without neighbours, as it has no
// line.
func TestASingleFigureIsDrawn(t *testing.T) {
	tier.Long(t, "looks at a demo that has run for a while")
	t.Parallel()
	url := freeze(t, ripeDemo(t), "", server.Auth{})
	tab := open(t, url, wide)
	tab.visit("/tenants/acme")
	drawn := value[bool](tab, `(() => {
		const chart = document.getElementById("tenant-chart");
		const now = Math.floor(Date.now() / 1000);
		chart.dataset.figures = JSON.stringify([[now - 60, now - 30, now], [null, 3, null], [null, null, null]]);
		chart.hasPicture = () => {
			const canvas = chart.querySelector("canvas"), probe = document.createElement("span");
			probe.style.color = "var(--chart-1)";
			document.body.append(probe);
			const [r, g, b] = getComputedStyle(probe).color.match(/\d+/g).map(Number);
			const {data} = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
			for (let i = 0; i < data.length; i += 4) if (data[i] === r && data[i + 1] === g && data[i + 2] === b && data[i + 3] === 255) return true;
			return false;
		};
		dispatchEvent(new Event("resize"));
		return new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(chart.hasPicture()))));
	})()`)
	if !drawn {
		t.Error("the only figure of the chart is not drawn")
	}
}
