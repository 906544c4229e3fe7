package console

import (
	"fmt"
	"slices"
	"strings"
)

// phaseNames are what the phases are called that are no states.
var phaseNames = map[string]string{"idle": "between attempts", "ahead": "upcoming"}

// PhaseName is what a phase is called.
func (v *visit) PhaseName(what string) string {
	if name, is := phaseNames[what]; is {
		return v.T(name)
	}
	return v.StateName(what)
}

// StretchTitle says what a part of a timeline is.
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

// StretchText is what is written into a part of a timeline, if there is room.
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
	End  bool // the text ends there
}

// stampRoom is how far apart times are written.
const stampRoom = 90.0

// Stamps are the times at which parts of a timeline begin, where there is room, and its
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

// PhaseTone is how a phase is coloured.
func (v *visit) PhaseTone(what string) string {
	switch what {
	case "idle":
		return "none"
	case "ahead":
		return "ahead"
	}
	return v.Tone(what)
}

// Phases are the kinds of phases of a timeline, once each.
func (v *visit) Phases(timeline []stretch) (all []string) {
	for _, s := range timeline {
		if !slices.Contains(all, s.What) {
			all = append(all, s.What)
		}
	}
	return all
}

// summary is a timeline in words.
func (v *visit) summary(timeline []stretch) string {
	var parts []string
	for _, s := range timeline {
		parts = append(parts, v.PhaseName(s.What)+" "+v.Dur(s.length()))
	}
	return strings.Join(parts, ", ")
}
