package mask_test

import (
	"encoding/json"
	"testing"

	"github.com/fairlead-io/fairlead/internal/mask"
)

func TestAPathLeadsToWhatIsMasked(t *testing.T) {
	for name, c := range map[string]struct{ field, args, want string }{
		"a member":                      {"args.card.number", `{"card":{"number":"4111","holder":"ada"},"n":1}`, `{"card":{"holder":"ada","number":"***"},"n":1}`},
		"a member that is not there":    {"args.card.number", `{"n":1}`, `{"n":1}`},
		"a member of another case":      {"args.card.number", `{"Card":{"NUMBER":4111}}`, `{"Card":{"NUMBER":"***"}}`},
		"a member with all in it":       {"args.card", `{"card":{"number":4111},"n":1}`, `{"card":"***","n":1}`},
		"members of elements":           {"args.cards.number", `{"cards":[{"number":1},{"number":2,"n":3}]}`, `{"cards":[{"number":"***"},{"n":3,"number":"***"}]}`},
		"elements of a list of args":    {"args.number", `[{"number":1}]`, `[{"number":"***"}]`},
		"every member":                  {"args.*.number", `{"a":{"number":1},"b":{"number":2,"n":3}}`, `{"a":{"number":"***"},"b":{"n":3,"number":"***"}}`},
		"all":                           {"args.*", `{"a":1}`, `"***"`},
		"all by its name":               {"args", `[1,2]`, `"***"`},
		"a text where members would be": {"args.card.number", `{"card":"{\"number\":4111}"}`, `{"card":"***"}`},
		"null where members would be":   {"args.card.number", `{"card":null}`, `{"card":null}`},
		"null":                          {"args.card", `{"card":null}`, `{"card":"***"}`},
		"another document":              {"output.card", `{"card":1}`, `{"card":1}`},
		"what is no JSON":               {"args.card", `{"card":4111`, `"***"`},
		"nothing":                       {"args.card", ``, ``},
		"digits and signs stay":         {"args.card", `{"card":1,"n":12345678901234567890,"s":"<&>"}`, `{"card":"***","n":12345678901234567890,"s":"<&>"}`},
	} {
		if got := mask.Document([]string{c.field}, "args", json.RawMessage(c.args)); string(got) != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
}

func TestAConfidentialValueIsMaskedWhereverItStands(t *testing.T) {
	got := mask.Show([]string{"args.number", "output.token"}, mask.Job{
		Args: json.RawMessage(`{"number":4111222,"same":"no 4111222"}`), Output: json.RawMessage(`{"token":"t0ken","echo":{"number":4111222,"n":[4]}}`),
		Progress: json.RawMessage(`"at 4111222"`), Reported: json.RawMessage(`["t0ken"]`), Memo: json.RawMessage(`{"last":"t0ken"}`), Error: "card 4111222 is refused with t0ken",
	})
	want := mask.Job{
		Args: json.RawMessage(`{"number":"***","same":"no ***"}`), Output: json.RawMessage(`{"echo":{"n":[4],"number":"***"},"token":"***"}`),
		Progress: json.RawMessage(`"at ***"`), Reported: json.RawMessage(`["***"]`), Memo: json.RawMessage(`{"last":"***"}`), Error: "card *** is refused with ***",
	}
	for name, pair := range map[string][2]string{
		"args": {string(got.Args), string(want.Args)}, "output": {string(got.Output), string(want.Output)}, "progress": {string(got.Progress), string(want.Progress)},
		"reported": {string(got.Reported), string(want.Reported)}, "memo": {string(got.Memo), string(want.Memo)}, "error": {got.Error, want.Error},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s is %s, want %s", name, pair[0], pair[1])
		}
	}
}

func TestAShortValueIsMaskedInItsPlaceOnly(t *testing.T) {
	got := mask.Show([]string{"args.code"}, mask.Job{Args: json.RawMessage(`{"code":"no"}`), Error: "no answer"})
	if string(got.Args) != `{"code":"***"}` || got.Error != "no answer" {
		t.Errorf("got %s and %s", got.Args, got.Error)
	}
}

func TestWhatIsNotConfidentialStaysAsItIs(t *testing.T) {
	args := json.RawMessage(`{"b": 1, "a": 2}`)
	if got := mask.Show(nil, mask.Job{Args: args}); string(got.Args) != string(args) {
		t.Errorf("got %s", got.Args)
	}
	if got := mask.Document([]string{"output.x"}, "args", args); string(got) != string(args) {
		t.Errorf("got %s", got)
	}
}

func TestPathsLeadOnFromAMember(t *testing.T) {
	for _, c := range []struct{ field, want string }{
		{"args.after.iban", "args.iban"},
		{"args.After.iban.x", "args.iban.x"},
		{"args.*.iban", "args.iban"},
		{"args.after", "args"},
		{"args", "args"},
		{"args.before.iban", ""},
		{"output.after", ""},
	} {
		got := ""
		for _, field := range mask.Within([]string{c.field}, "args.after", "args") {
			got = field
		}
		if got != c.want {
			t.Errorf("%s leads on as %q, want %q", c.field, got, c.want)
		}
	}
}

func TestMasksThatComeBackAreReplacedByWhatIsStored(t *testing.T) {
	fields := []string{"args.card.number", "args.people.name", "args.pin"}
	stored := `{"card":{"number":4111,"holder":"ada"},"people":[{"name":"ada","n":1}],"pin":12}`
	for name, c := range map[string]struct {
		sent, stored, want string
		whole              bool
	}{
		"unchanged":               {`{"card":{"number":"***","holder":"ada"},"people":[{"name":"***","n":1}],"pin":"***"}`, stored, stored, true},
		"beside it":               {`{"card":{"number":"***","holder":"bob"}}`, stored, `{"card":{"holder":"bob","number":4111}}`, true},
		"another value":           {`{"card":{"number":5222},"pin":"***"}`, stored, `{"card":{"number":5222},"pin":12}`, true},
		"no mask":                 {`{"card":{"number": 1}}`, stored, `{"card":{"number": 1}}`, true},
		"a mask above":            {`{"card":"***"}`, stored, `{"card":{"holder":"ada","number":4111}}`, true},
		"a mask of nothing":       {`{"pin":"***"}`, `{}`, ``, false},
		"nothing stored":          {`{"pin":"***"}`, ``, ``, false},
		"a mask in another list":  {`{"people":[{"name":"***","n":2}]}`, stored, ``, false},
		"a mask elsewhere":        {`{"note":"***"}`, stored, `{"note":"***"}`, true},
		"what is no JSON":         {`{"pin":"***"`, stored, `{"pin":"***"`, true},
		"a list without any mask": {`{"people":[{"name":"bob"}],"pin":"***"}`, stored, `{"people":[{"name":"bob"}],"pin":12}`, true},
	} {
		got, whole := mask.Restore(fields, "args", json.RawMessage(c.sent), json.RawMessage(c.stored))
		if whole != c.whole || whole && string(got) != c.want {
			t.Errorf("%s: got %s (%v), want %s (%v)", name, got, whole, c.want, c.whole)
		}
	}
}

func TestItIsKnownWhetherADocumentHidesSomething(t *testing.T) {
	for args, want := range map[string]bool{`{"card":{"number":4111}}`: true, `{"card":"all"}`: true, `{"card":{"number":""}}`: false, `{"card":null,"n":1}`: false, `{}`: false, ``: false} {
		if got := mask.Hides([]string{"args.card.number"}, "args", json.RawMessage(args)); got != want {
			t.Errorf("%s hides something: %v", args, got)
		}
	}
}
