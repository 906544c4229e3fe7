package console

// sparkLength is how many runs a sparkline has room for.
const sparkLength = 30

// The measures of a sparkline.
const (
	sparkBar    = 4
	sparkStep   = 5
	sparkHeight = 20
)

// sparkBars are the outcomes of the last runs, oldest first.
type sparkBars struct {
	Width, Height int
	Bars          []sparkRun
}

// sparkRun is one run as a bar: its colour says the state, and so does its height.
type sparkRun struct {
	X, Y, Width, Height int
	Tone, Title         string
}

// Ground is where bars stand.
func (s sparkBars) Ground() int { return s.Height - 1 }

// Newest is what the bar of the newest run says.
func (s sparkBars) Newest() string { return s.Bars[len(s.Bars)-1].Title }

// sparkHeights are how high bars are, by colour: a failure stands out without colours.
var sparkHeights = map[string]int{"bad": 20, "good": 12, "off": 5}

// sparkActive is how high a bar is whose run has not ended.
const sparkActive = 8

// sparkline draws runs, given newest first, so that the newest is at the right.
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
