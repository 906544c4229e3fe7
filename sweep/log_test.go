package sweep_test

import (
	"strings"
	"testing"

	"github.com/fairlead-io/fairlead/sweep"
)

func TestALineAboutAnItemNamesTheFieldThatIsWrong(t *testing.T) {
	s := newScrubbing(t)
	sw := s.put()
	fine := sweep.Log{Level: "error", Index: farthest, Text: strings.Repeat("x", 4000)}
	for field, lines := range map[string][]sweep.Log{
		"items[1].level": {{Level: "fatal", Text: "t"}},
		"items[1].index": {{Index: -1, Text: "t"}, {Index: farthest + 1, Text: "t"}},
		"items[1].text":  {{}, {Text: strings.Repeat("x", 4001)}},
	} {
		for i, line := range lines {
			if err := s.client.Log(t.Context(), sw.ID, fine, line); !onlyField(err, field) {
				t.Errorf("%s, case %d: got %v", field, i, err)
			}
		}
	}
	logs, err := s.client.Logs(t.Context(), sweep.LogFilter{Sweep: sw.ID})
	if s.ok(err); len(logs) > 0 {
		t.Errorf("%d lines were stored with one that was refused", len(logs))
	}
	s.ok(s.client.Log(t.Context(), sw.ID, fine, sweep.Log{Text: "t"}))
	s.ok(s.client.Log(t.Context(), sw.ID))
	logs, err = s.client.Logs(t.Context(), sweep.LogFilter{Sweep: sw.ID})
	if s.ok(err); len(logs) != 2 || logs[0].Level != "info" || logs[1].Level != "error" {
		t.Errorf("got %+v", logs)
	}
}
