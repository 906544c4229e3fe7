package console

// sparkLength is the number of runs in a sparkline.
const sparkLength = 30

// Dimensions of a sparkline.
const (
	sparkBar    = 4
	sparkStep   = 5
	sparkHeight = 20
)

// sparkBars shows the outcomes of the last runs, oldest first.
type sparkBars struct {
	Width, Height int
	Bars          []sparkRun
}

// sparkRun is the bar of one run; its color and its height show the state.
type sparkRun struct {
	X, Y, Width, Height int
	Tone, Title         string
}

// Ground returns the position of the baseline.
func (s sparkBars) Ground() int { return s.Height - 1 }

// Newest returns the title of the newest run's bar.
func (s sparkBars) Newest() string { return s.Bars[len(s.Bars)-1].Title }

// sparkHeights contains the heights of bars by color, so that failures stand out without
// colors too.
var sparkHeights = map[string]int{"bad": 20, "good": 12, "off": 5}

// sparkActive is the height of the bar of an active run.
const sparkActive = 8

// sparkline draws runs, given newest first, with the newest on the right.
func sparkline(runs int, tone func(i int) string, title func(i int) string) sparkBars {
	runs = min(runs, sparkLength)
	out := sparkBars{Width: sparkLength*sparkStep - (sparkStep - sparkBar), Height: sparkHeight}
	for i := runs - 1; i >= 0; i-- {
		height, ended := sparkHeights[tone(i)]
		if !ended {
			height = sparkActive
		}
		out.Bars = append(out.Bars, sparkRun{
			X: (sparkLength - 1 - i) * sparkStep, Y: sparkHeight - height, Width: sparkBar, Height: height, Tone: tone(i), Title: title(i),
		})
	}
	return out
}
