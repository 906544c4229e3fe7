package server_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fairlead-io/fairlead/access"
)

const rehearsed = batches + "/upload?name=n&type=paint&dry_run=true"

func TestADryRunOfAnUploadShowsItsTasksAndStoresNothing(t *testing.T) {
	a, _ := newPaintedAPI(t)
	var table strings.Builder
	table.WriteString("target_id,target_name,target_type,after\n")
	for i := range 1500 {
		fmt.Fprintf(&table, "%d,w%d,wall,\"{\"\"colour\"\":\"\"red\"\"}\"\n", i+1, i+1)
	}
	preview, _ := a.send(200, "POST", rehearsed, table.String(), "Content-Type", "text/csv")
	wantFields(t, preview, map[string]any{"total": 1500.0})
	first := preview["first"].([]any)
	if len(first) != 5 {
		t.Fatalf("%d tasks are shown", len(first))
	}
	task := first[4].(map[string]any)
	wantFields(t, task["target"].(map[string]any), map[string]any{"id": "5", "name": "w5", "type": "wall"})
	wantFields(t, task["after"].(map[string]any), map[string]any{"colour": "red"})
	listed, _ := a.send(200, "GET", batches, "")
	if len(items(t, listed)) != 0 {
		t.Errorf("after a dry run there is %v", listed)
	}
}

func TestADryRunOfAnUploadNamesAllBadLines(t *testing.T) {
	a, _ := newPaintedAPI(t)
	problem, _ := a.send(400, "POST", rehearsed, "target_id,target_type,after\n"+
		"1,wall,\n"+
		"2,roof,\n"+
		",wall,\n"+
		"4,wall,{\"colour\":\"red\"}\n"+
		"5,wall\n"+
		"6,wall,{\n"+
		"7,wall,\"{\"\"colour\"\":\"\"invisible\"\"}\"\n", "Content-Type", "text/csv")
	refused := refusals(problem)
	for field, message := range map[string]string{
		"line 3, target_type": "no live node", "line 4, target_id": "empty", "line 5": "double the quotes inside it", "line 6": "2 where the first line names 3",
		"line 7, after": "", "line 8, after.colour": "cannot be seen",
	} {
		if got, named := refused[field]; !named || !strings.Contains(got, message) {
			t.Errorf("%s is %q, want %s; all are %v", field, got, message, refused)
		}
	}
	many, _ := a.send(400, "POST", rehearsed, "target_id,target_type\n"+strings.Repeat("1,roof\n", 500), "Content-Type", "text/csv")
	if n := len(refusals(many)); n != 20 {
		t.Errorf("%d lines are named", n)
	}
	long, _ := a.send(400, "POST", rehearsed, strings.Repeat("x", 2<<20), "Content-Type", "application/x-ndjson")
	if n := len(refusals(long)); n != 1 {
		t.Errorf("a line that is too long is named as %v", long)
	}
	empty, _ := a.send(400, "POST", rehearsed, "target_id,target_type\n", "Content-Type", "text/csv")
	if refusals(empty)["tasks"] == "" {
		t.Errorf("no lines are refused as %v", empty)
	}
	a.send(400, "POST", batches+"/upload?name=n&type=paint&dry_run=maybe", "target_id,target_type\n1,wall\n", "Content-Type", "text/csv")
}

func TestADryRunOfAnUploadKnowsItsCallers(t *testing.T) {
	a := newGuardedAPI(t)
	table := "target_id,target_type\n1,wall\n"
	as := func(want int, tenant string, role access.Role, bound string) {
		t.Helper()
		a.send(want, "POST", rehearsed+"&tenant="+tenant, table, append(a.as(a.token(role, bound)), "Content-Type", "text/csv")...)
	}
	as(403, "acme", access.RoleViewer, "")
	as(200, "acme", access.RoleSubmitter, "")
	as(200, "acme", access.RoleSubmitter, "acme")
	as(403, "other", access.RoleSubmitter, "acme")
}

func TestADryRunIsNotWrittenToTheAuditLog(t *testing.T) {
	a := newGuardedAPI(t)
	operator := a.as(a.token(access.RoleOperator, ""))
	a.send(200, "POST", a.fill("/api/v1/queues/mail/pause"), ``, operator...)
	a.send(200, "POST", "/api/v1/jobs/bulk", `{"action":"delete","dry_run":true,"filter":{"kind":["noop"]}}`, operator...)
	a.send(200, "POST", rehearsed, "target_id,target_type\n1,wall\n", append(operator, "Content-Type", "text/csv")...)
	if entry := a.lastEntry(); entry["action"] != "PauseQueue" {
		t.Errorf("the last entry is %v", entry)
	}
}

func TestATableWithSemicolonsIsToldApart(t *testing.T) {
	a, _ := newPaintedAPI(t)
	for _, header := range []string{"target_id;target_type", "target_id\ttarget_type", "target_id|target_type"} {
		problem, _ := a.send(400, "POST", "/api/v1/batches/upload?dry_run=true&name=n&type=paint", header+"\n1;wall\n", "Content-Type", "text/csv")
		if text := fmt.Sprint(problem); !strings.Contains(text, "contains no comma, so it is a single column; separate fields with commas") {
			t.Errorf("%q is answered with %s", header, text)
		}
	}
}
