package screen

import (
	"io"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// Cell is a table cell.
type Cell struct {
	Text  string
	Tone  Tone
	Right bool // align right, for numbers
}

// Table is a table with a header row.
type Table struct {
	screen *Screen
	heads  []string
	rows   [][]Cell
}

// Table returns an empty table with the given column headers.
func (s *Screen) Table(heads ...string) *Table { return &Table{screen: s, heads: heads} }

// Add adds a row. Cells are strings, numbers, times, durations, booleans or Cells. Zero
// times, zero durations and false are left blank.
func (t *Table) Add(cells ...any) {
	row := make([]Cell, len(cells))
	for i, cell := range cells {
		row[i] = t.screen.cell(cell)
	}
	t.rows = append(t.rows, row)
}

func (s *Screen) cell(value any) Cell {
	switch v := value.(type) {
	case Cell:
		return v
	case string:
		return Cell{Text: v}
	case int32:
		return Cell{Text: strconv.FormatInt(int64(v), 10), Right: true}
	case int64:
		return Cell{Text: strconv.FormatInt(v, 10), Right: true}
	case float64:
		return Cell{Text: strconv.FormatFloat(v, 'f', -1, 64), Right: true}
	case *timestamppb.Timestamp:
		if v == nil {
			return Cell{}
		}
		return Cell{Text: s.When(v.AsTime())}
	case *durationpb.Duration:
		return s.cell(v.AsDuration())
	case time.Duration:
		if v == 0 {
			return Cell{}
		}
		return Cell{Text: Span(v), Right: true}
	case bool:
		if v {
			return Cell{Text: "yes"}
		}
	}
	return Cell{}
}

// Limit returns a table cell that shows a limit. Zero means no limit.
func Limit[N int32 | float64](n N) Cell {
	if n == 0 {
		return Cell{Text: "-", Tone: Faint, Right: true}
	}
	return Cell{Text: strconv.FormatFloat(float64(n), 'f', -1, 64), Right: true}
}

const gap = "  "

// Write writes the table to the screen. If the screen has a limited width, Write truncates
// the last column.
func (t *Table) Write() error {
	widths := make([]int, len(t.heads))
	right := make([]bool, len(t.heads))
	for i, head := range t.heads {
		widths[i] = Width(head)
	}
	for _, row := range t.rows {
		for i := range row {
			row[i].Text = Clean(row[i].Text)
			widths[i] = max(widths[i], Width(row[i].Text))
			right[i] = right[i] || row[i].Right
		}
	}
	var out strings.Builder
	heads := make([]Cell, len(t.heads))
	for i, head := range t.heads {
		heads[i] = Cell{Text: head, Tone: Head, Right: right[i]}
	}
	t.line(&out, heads, widths)
	for _, row := range t.rows {
		t.line(&out, row, widths)
	}
	_, err := io.WriteString(t.screen.Out, out.String())
	return err
}

func (t *Table) line(out *strings.Builder, row []Cell, widths []int) {
	var line strings.Builder
	for i, cell := range row {
		padding := strings.Repeat(" ", widths[i]-Width(cell.Text))
		text := t.screen.In(cell.Tone, cell.Text)
		switch {
		case cell.Right:
			text = padding + text
		case i < len(row)-1:
			text += padding
		}
		if i > 0 {
			line.WriteString(gap)
		}
		line.WriteString(text)
	}
	text := strings.TrimRight(line.String(), " ")
	if t.screen.Width > 0 {
		text = Cut(text, t.screen.Width)
	}
	out.WriteString(text + "\n")
}

// Rate returns a table cell that shows a number per second.
func Rate(n float64) Cell {
	return Cell{Text: strconv.FormatFloat(n, 'f', 1, 64), Right: true}
}
