package scale

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/fairlead-io/fairlead/internal/bench"
)

// WriteChart draws an SVG chart of the database's work per second as nodes are added. Both
// axes are logarithmic: quantities that grow with the number of nodes are straight lines,
// and quantities that grow with its square are twice as steep. The report must have a
// single number of tenants.
func (r Report) WriteChart(w io.Writer) error {
	c := chart{report: r}
	c.bounds()
	c.axes()
	for _, l := range allSeries {
		c.draw(l)
	}
	_, err := fmt.Fprintf(w, svg, width, height, c.title(), c.body.String())
	return err
}

const (
	width, height            = 760, 420
	left, right, top, bottom = 95, 185, 40, 50
	plotWidth, plotHeight    = width - left - right, height - top - bottom
	labelSpacing             = 15
)

const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img">
<title>%s</title>
<style>
text { font: 12px sans-serif; fill: #57606a }
.grid { stroke: #8c959f; stroke-opacity: 0.3 }
.line { fill: none; stroke-width: 2 }
</style>
%s</svg>
`

// series is a counted quantity.
type series struct {
	name, color string
	of          func(Figures) float64
}

var allSeries = []series{
	{"fair_start rows read", "#cf222e", func(f Figures) float64 { return f.ShareRead }},
	{"wake-ups delivered", "#8250df", func(f Figures) float64 { return f.Wakes }},
	{"rows read by claims", "#0969da", func(f Figures) float64 { return f.ClaimRows }},
	{"jobs started", "#1a7f37", func(f Figures) float64 { return f.Starts }},
	{"fair_start rows written", "#9a6700", func(f Figures) float64 { return f.ShareWritten }},
	{"beats", "#57606a", func(f Figures) float64 { return f.Beats }},
}

type chart struct {
	report    Report
	body      strings.Builder
	most      float64 // decades of the y-axis
	mostNodes float64 // decades of the x-axis
	labels    []float64
}

func (c *chart) title() string {
	f := c.report[0]
	return fmt.Sprintf("Database operations per second with %d tenants, %d of them with ready jobs", f.Tenants, f.Busy)
}

func (c *chart) bounds() {
	for _, f := range c.report {
		c.mostNodes = max(c.mostNodes, math.Log10(float64(f.Nodes)))
		for _, l := range allSeries {
			c.most = max(c.most, math.Ceil(math.Log10(max(1, l.of(f)))))
		}
	}
}

func (c *chart) x(nodes float64) float64 {
	return left + math.Log10(nodes)/max(c.mostNodes, 1)*plotWidth
}

func (c *chart) y(value float64) float64 {
	return top + plotHeight - math.Log10(value)/max(c.most, 1)*plotHeight
}

func (c *chart) axes() {
	for decade := 0.0; decade <= c.most; decade++ {
		y := c.y(math.Pow(10, decade))
		fmt.Fprintf(&c.body, "<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>\n", left, left+plotWidth, y, y)
		fmt.Fprintf(&c.body, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n", left-8, y+4, bench.Grouped(math.Pow(10, decade)))
	}
	for _, f := range c.report {
		fmt.Fprintf(&c.body, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>\n", c.x(float64(f.Nodes)), top+plotHeight+20, bench.Grouped(float64(f.Nodes)))
	}
	fmt.Fprintf(&c.body, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">nodes</text>\n", left+plotWidth/2, height-10)
	fmt.Fprintf(&c.body, "<text x=\"%d\" y=\"%d\">per second</text>\n", left-50, top-18)
}

// draw adds a line with its name at the end.
func (c *chart) draw(l series) {
	var points []string
	var y float64
	for _, f := range c.report {
		if value := l.of(f); value >= 1 {
			y = c.y(value)
			points = append(points, fmt.Sprintf("%.1f,%.1f", c.x(float64(f.Nodes)), y))
		}
	}
	if len(points) == 0 {
		return
	}
	fmt.Fprintf(&c.body, "<polyline class=\"line\" stroke=\"%s\" points=\"%s\"/>\n", l.color, strings.Join(points, " "))
	fmt.Fprintf(&c.body, "<text x=\"%d\" y=\"%.1f\" style=\"fill: %s\">%s</text>\n", left+plotWidth+8, c.free(y)+4, l.color, l.name)
}

// free returns the next position, at y or below, with room for a name.
func (c *chart) free(y float64) float64 {
	for _, taken := range c.labels {
		if math.Abs(y-taken) < labelSpacing {
			y = taken + labelSpacing
		}
	}
	c.labels = append(c.labels, y)
	return y
}
