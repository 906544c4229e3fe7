package httpcall

import (
	"net/http"
	"strings"
	"testing"
)

func TestConditionsDecide(t *testing.T) {
	answer := func(status int, body string) Reply {
		return Reply{Status: status, Header: http.Header{"X-Left": {"3"}}, Body: []byte(body)}
	}
	job := `{"state":"done","count":3,"list":[1,2],"deep":{"ok":true}}`
	for _, c := range []struct {
		success *Success
		reply   Reply
		want    string // in the complaint; empty: it is a success
	}{
		{nil, answer(200, ""), ""},
		{nil, answer(204, ""), ""},
		{nil, answer(304, ""), "304 Not Modified"},
		{&Success{Status: []string{"2xx", "304"}}, answer(304, ""), ""},
		{&Success{Status: []string{"200-204", "404"}}, answer(404, ""), ""},
		{&Success{Status: []string{"200-204", "404"}}, answer(205, ""), "205"},
		{&Success{Status: []string{"2XX"}}, answer(299, ""), ""},
		{&Success{Expression: `body.state == "done" && status == 200`}, answer(200, job), ""},
		{&Success{Expression: `body.state == "done"`}, answer(500, job), "500"},
		{&Success{Expression: `body.state == "failed"`}, answer(200, job), "is false"},
		{&Success{Expression: `body.count > 2 and len(body.list) == 2 and body.deep.ok`}, answer(200, job), ""},
		{&Success{Expression: `int(headers["x-left"]) >= 3 && headers["none"] == ""`}, answer(200, job), ""},
		{&Success{Expression: `body contains "OK" || body matches "^o.*k$"`}, answer(200, "ok"), ""},
		{&Success{Expression: `body.none?.deeper == nil`}, answer(200, job), ""},
		{&Success{Expression: `body.none.deeper == 1`}, answer(200, job), "success.expression cannot be evaluated"},
		{&Success{Expression: `body.state == "done"`}, answer(200, "text"), "success.expression cannot be evaluated"},
	} {
		condition, err := newCondition(c.success)
		if err != nil {
			t.Errorf("%+v: %v", c.success, err)
			continue
		}
		unmet := condition.met(c.reply)
		if (unmet == nil) != (c.want == "") || unmet != nil && !strings.Contains(unmet.Error(), c.want) {
			t.Errorf("%+v of %d: got %v, want %q", c.success, c.reply.Status, unmet, c.want)
		}
	}
}

func TestConditionsThatCannotBeUnderstoodAreRefused(t *testing.T) {
	for _, success := range []Success{
		{Status: []string{"2x"}},
		{Status: []string{"6xx"}},
		{Status: []string{"99"}},
		{Status: []string{"300-200"}},
		{Status: []string{""}},
		{Status: []string{"0xx"}},
		{Expression: "status =="},
		{Expression: "status"},
		{Expression: `"text"`},
		{Expression: "unknown == 1"},
		{Expression: "status == 'x'"},
		{Expression: "all(body.list, # > 1)"},
		{Expression: "any(1..10, true)"},
		{Expression: "len(map(1..10, #)) > 1"},
		{Expression: "repeat('x', 10) == ''"},
		{Expression: "now() != nil"},
		{Expression: "toJSON(body) == ''"},
		{Expression: "reduce(1..9, #acc + #) > 1"},
		{Expression: strings.Repeat("(", 500) + "true" + strings.Repeat(")", 500) + strings.Repeat(" || true", 200)},
		{Expression: "true" + strings.Repeat(" ", maxExpression)},
	} {
		if _, err := newCondition(&success); err == nil {
			t.Errorf("%.60v was accepted", success)
		}
	}
}
