package fairlead_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/fairlead-io/fairlead"
)

func TestAQuestionIsRefusedByTheFieldsOfItsChanges(t *testing.T) {
	bad := &fairlead.Limit{Scope: fairlead.LimitQueue, Name: "mail", MaxRunning: -1}
	good, acme := &fairlead.Limit{Scope: fairlead.LimitGlobal}, &fairlead.Tenant{Name: "acme"}
	for want, question := range map[string]fairlead.WhatIf{
		"[]":                       {Changes: []fairlead.RuleChange{{Limit: good}, {Tenant: acme}}},
		"[slots]":                  {Slots: fairlead.MaxForecast + 1},
		"[changes]":                {Changes: make([]fairlead.RuleChange, fairlead.MaxChanges+1)},
		"[change]":                 {Changes: []fairlead.RuleChange{{Limit: good, Tenant: acme}}},
		"[max_running]":            {Changes: []fairlead.RuleChange{{Limit: bad}}},
		"[changes[1].max_running]": {Changes: []fairlead.RuleChange{{Limit: good}, {Limit: bad}}},
		"[changes[1]]":             {Changes: []fairlead.RuleChange{{Tenant: acme}, {Tenant: acme}}},
	} {
		if got := fmt.Sprint(fieldsOf(fairlead.NormalizeWhatIf(&question))); got != want {
			t.Errorf("%+v: it names %s, want %s", question, got, want)
		}
	}
}

func TestFieldsOfSomeChangesAreNamedByTheirPlacesAmongAll(t *testing.T) {
	err := fairlead.InChange(1, 2, fairlead.Invalid(fairlead.FieldError{Field: "cron"}))
	if got := fmt.Sprint(fieldsOf(fairlead.MoveChanges([]int{2, 5}, err))); got != "[changes[5].cron]" {
		t.Errorf("the fields are %s", got)
	}
	if other := errors.New("other"); !errors.Is(fairlead.MoveChanges([]int{2}, other), other) {
		t.Error("another error did not stay as it was")
	}
}

func fieldsOf(err error) (fields []string) {
	var invalid *fairlead.InvalidError
	if errors.As(err, &invalid) {
		for _, field := range invalid.Fields {
			fields = append(fields, field.Field)
		}
	}
	return fields
}
