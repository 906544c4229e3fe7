package console

import (
	"fmt"
	"slices"
	"strings"
)

// phaseNames contains the names of phases that are not states.
var phaseNames = map[string]string{"idle": "between attempts", "ahead": "upcoming"}

// PhaseName returns the name of a phase.
func (v *visit) PhaseName(what string) string {
	if name, is := phaseNames[what]; is {
		return v.T(name)
	}
	return v.StateName(what)
}

// StretchTitle describes a part of a timeline.
func (v *visit) StretchTitle(s stretch) string {
	title := v.PhaseName(s.What)
	if s.Run > 0 {
		title = v.T("Attempt %s", v.Num(s.Run)) + ": " + title
		if s.Reason != "" {
			title += " (" + v.StateName(s.Reason) + ")"
		}
	}
	return fmt.Sprintf("%s, %s\n%s – %s", title, v.Dur(s.length()), v.clock(s.From), v.clock(s.To))
}

// StretchText returns the label of a part of a timeline, if there is room.
func (v *visit) StretchText(s stretch) string {
	words := v.Dur(s.length())
	if s.Run > 0 && s.Width > 110 {
		words = "#" + v.Num(s.Run) + " · " + words
	}
	if float64(7*len([]rune(words))) > s.Width {
		return ""
	}
	return words
}

// stamp is a time below a timeline.
type stamp struct {
	X    float64
	Text string
	End  bool // whether the text is right-aligned
}

// stampRoom is the minimum distance between times.
const stampRoom = 90.0

// Stamps returns the start times of the parts of a timeline, where there is room, and its
// end.
func (v *visit) Stamps(timeline []stretch) (all []stamp) {
	if len(timeline) == 0 {
		return nil
	}
	last := -stampRoom
	for _, s := range timeline {
		if s.X-last >= stampRoom && s.X < timelineWidth-2*stampRoom {
			all, last = append(all, stamp{X: s.X, Text: v.clock(s.From)}), s.X
		}
	}
	end := timeline[len(timeline)-1]
	return append(all, stamp{X: end.X + end.Width, Text: v.clock(end.To), End: true})
}

// PhaseTone returns the color of a phase.
func (v *visit) PhaseTone(what string) string {
	switch what {
	case "idle":
		return "none"
	case "ahead":
		return "ahead"
	}
	return v.Tone(what)
}

// Phases returns the distinct phases of a timeline.
func (v *visit) Phases(timeline []stretch) (all []string) {
	for _, s := range timeline {
		if !slices.Contains(all, s.What) {
			all = append(all, s.What)
		}
	}
	return all
}

// summary describes a timeline in words.
func (v *visit) summary(timeline []stretch) string {
	var parts []string
	for _, s := range timeline {
		parts = append(parts, v.PhaseName(s.What)+" "+v.Dur(s.length()))
	}
	return strings.Join(parts, ", ")
}
