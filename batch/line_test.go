package batch

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/fairlead-io/fairlead/internal/tier"
)

// TestALineKnowsItsTasks checks lines against lists of instants.
func TestALineKnowsItsTasks(t *testing.T) {
	t.Attr(tier.LongAttr, "rapid draws five times as many cases")
	rapid.Check(t, func(t *rapid.T) {
		var line Line
		var tasks []time.Time
		now := time.Unix(1_800_000_000, 0)
		t.Repeat(map[string]func(*rapid.T){
			"release": func(t *rapid.T) {
				now = now.Add(time.Duration(rapid.Int64Range(0, int64(time.Second)).Draw(t, "later")))
				for range rapid.IntRange(1, 9).Draw(t, "tasks") {
					at := line.add(now)
					if n := len(tasks); n > 0 && !at.After(tasks[n-1]) {
						t.Fatalf("a task has the instant %v behind one with %v", at, tasks[n-1])
					}
					tasks = append(tasks, at)
				}
			},
			"end": func(*rapid.T) {
				if line.dropFirst(); len(tasks) > 0 {
					tasks = tasks[1:]
				}
			},
			"recall": func(*rapid.T) {
				if line.dropLast(); len(tasks) > 0 {
					tasks = tasks[:len(tasks)-1]
				}
			},
			"": func(t *rapid.T) {
				if len(line) > longestLine {
					t.Fatalf("the line has %d stretches", len(line))
				}
				n := 0
				for _, s := range line {
					n += s.Tasks
				}
				if n != len(tasks) {
					t.Fatalf("the line has %d tasks, want %d", n, len(tasks))
				}
				if len(line) == longestLine {
					return // the last ones are estimated
				}
				for i, want := range tasks {
					if at, ok := line.behind(i).first(); !ok || !at.Equal(want) {
						t.Fatalf("task %d of the line has the instant %v, want %v", i, at, want)
					}
				}
			},
		})
	})
}
