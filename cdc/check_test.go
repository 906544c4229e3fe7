package cdc_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead-io/fairlead"

	"github.com/fairlead-io/fairlead/cdc"
	"github.com/fairlead-io/fairlead/cdc/connecttest"
)

func TestBadParametersAreRefusedByName(t *testing.T) {
	w := newWorld(t, connecttest.Options{}, nil)
	for name, bad := range map[string]struct {
		batch, before, after string
		field, says          string
	}{
		"no JSON":             {cdc.BatchStart, ``, `{`, "after", "cannot be parsed: unexpected EOF"},
		"two values":          {cdc.BatchStart, ``, `{} {}`, "after", "one object"},
		"a list":              {cdc.BatchStart, ``, `[]`, "after", "an object"},
		"an unknown field":    {cdc.BatchStart, ``, `{"switch":1}`, "after.switch", "not a known field"},
		"a text within":       {cdc.BatchStart, ``, `"{\"switch\":1}"`, "after.switch", "not a known field"},
		"before":              {cdc.BatchStop, `{"reset_gtid":{"gtid":5}}`, ``, "before.reset_gtid.gtid", "give a string"},
		"an unknown cluster":  {cdc.BatchStop, `{"connector":{"cluster":"c","name":"orders","state":"RUNNING","offsets":null}}`, ``, "before.connector.cluster", "add it"},
		"another env":         {cdc.BatchStop, `{"connector":{"cluster":"test","name":"orders","state":"RUNNING","offsets":null}}`, ``, "before.connector.cluster", `belongs to env "test"`},
		"no zone":             {cdc.BatchSwitchAZ, ``, `{}`, "after.switch_az.az", "empty"},
		"a zone without any":  {cdc.BatchSwitchAZ, ``, `{"switch_az":{"az":"z"}}`, "after.switch_az.az", `no Kafka Connect cluster is configured for env "live", az "z"; add one`},
		"no run system":       {cdc.BatchSwitchRunSystem, ``, `null`, "after.switch_run_system.run_system", "empty"},
		"no such run system":  {cdc.BatchSwitchRunSystem, ``, `{"switch_run_system":{"run_system":"mesos"}}`, "after.switch_run_system.run_system", "add one"},
		"no GTID":             {cdc.BatchResetGTID, ``, `{"reset_gtid":{}}`, "after.reset_gtid.gtid", "empty"},
		"a bad GTID":          {cdc.BatchResetGTID, ``, `{"reset_gtid":{"gtid":"latest"}}`, "after.reset_gtid.gtid", "is not a GTID set"},
		"nothing to change":   {cdc.BatchChangeConfig, ``, `{"change_config":{}}`, "after.change_config", "empty"},
		"half a CPU":          {cdc.BatchChangeConfig, ``, `{"change_config":{"cpu":0.5}}`, "after.change_config.cpu", "a whole number"},
		"a negative size":     {cdc.BatchChangeConfig, ``, `{"change_config":{"replicas":-1}}`, "after.change_config.replicas", "between 1"},
		"no record":           {cdc.BatchMigrate, ``, `{}`, "after.migrate_panama", "empty"},
		"a record of no kind": {cdc.BatchMigrate, ``, `{"migrate_panama":{"run_system":"vm"}}`, "after.migrate_panama.config", "connector.class"},
		"too many clusters":   {cdc.BatchMigrate, ``, `{"migrate_panama":{"config":{"connector.class":"x"}}}`, "after.migrate_panama.az", "several"},
		"a record's secret":   {cdc.BatchMigrate, ``, `{"migrate_panama":{"run_system":"vm","config":{"connector.class":"x","database.password":"` + password + `"}}}`, "after.migrate_panama.config", "config provider"},
		"a nested property":   {cdc.BatchMigrate, ``, `{"migrate_panama":{"run_system":"vm","config":{"connector.class":{}}}}`, "after", "connector.class must be a string"},
		"an offset of none":   {cdc.BatchMigrate, ``, `{"migrate_panama":{"run_system":"vm","config":{"connector.class":"x"},"offsets":[{"partition":{}}]}}`, "after.migrate_panama.offsets[0]", "needs"},
	} {
		t.Run(name, func(t *testing.T) {
			err := w.ops[bad.batch].Check(task(bad.batch), raw(bad.before), raw(bad.after))
			expectField(t, err, bad.field, bad.says)
		})
	}
}

func expectField(t *testing.T, err error, field, says string) {
	t.Helper()
	var invalid *fairlead.InvalidError
	if !errors.As(err, &invalid) {
		t.Fatalf("it ends with %v, wanted a refused %s", err, field)
	}
	if strings.Contains(err.Error(), password) {
		t.Error("the error has the secret")
	}
	if !slices.ContainsFunc(invalid.Fields, func(f fairlead.FieldError) bool { return f.Field == field && strings.Contains(f.Message, says) }) {
		t.Errorf("it refuses %q, wanted %s to say %q", err, field, says)
	}
}

func TestTargetsAreChecked(t *testing.T) {
	w := newWorld(t, connecttest.Options{}, nil)
	nameless := task(cdc.BatchStart)
	nameless.TargetID, nameless.TargetName = "", ""
	expectField(t, w.ops[cdc.BatchStart].Check(nameless, nil, nil), "target.name", "empty")
	lost := task(cdc.BatchStart)
	lost.TargetEnv = "staging"
	expectField(t, w.ops[cdc.BatchStart].Check(lost, nil, nil), "target.env", `no Kafka Connect cluster is configured for env "staging"; add one`)
}

func TestGTIDsOfBothDatabases(t *testing.T) {
	w := newWorld(t, connecttest.Options{}, nil)
	for gtid, ok := range map[string]bool{
		uuid + ":1-77":                       true,
		uuid + `:1-77:80,\n` + uuid + ":5":   true,
		uuid + ":nightly:1-3":                true,
		"0-1-100":                            true,
		"0-1-100,1-2-7":                      true,
		uuid:                                 false,
		"0-1":                                false,
		uuid + ":1-77; drop":                 false,
		"0-1-100," + uuid + ":1-3":           false,
		uuid + ":1-77,":                      false,
		strings.ToUpper(uuid) + ":1-9999999": true,
	} {
		err := w.ops[cdc.BatchResetGTID].Check(task(cdc.BatchResetGTID), nil, raw(`{"reset_gtid":{"gtid":"`+gtid+`"}}`))
		if (err == nil) != ok {
			t.Errorf("%s: %v", gtid, err)
		}
	}
}

func TestBadSettingsAreRefusedByName(t *testing.T) {
	const url = "http://connect:8083"
	for name, bad := range map[string]struct {
		config      cdc.Config
		field, says string
	}{
		"no cluster":        {cdc.Config{}, "clusters", "at least one"},
		"no name":           {cdc.Config{Clusters: []cdc.Cluster{{URL: url}}}, "clusters[0].name", "name the cluster"},
		"a name twice":      {cdc.Config{Clusters: []cdc.Cluster{{Name: "a", URL: url}, {Name: "a", AZ: "b", URL: url}}}, "clusters[1].name", `is "a", which another cluster has`},
		"a place twice":     {cdc.Config{Clusters: []cdc.Cluster{{Name: "a", URL: url}, {Name: "b", URL: url}}}, "clusters[1]", `same env, az and run_system as "a"`},
		"no address":        {cdc.Config{Clusters: []cdc.Cluster{{Name: "a", URL: "connect:8083"}}}, "clusters[0].url", "http://"},
		"a secret in it":    {cdc.Config{Clusters: []cdc.Cluster{{Name: "a", URL: "http://u:" + password + "@connect"}}}, "clusters[0].url", "username"},
		"a query in it":     {cdc.Config{Clusters: []cdc.Cluster{{Name: "a", URL: url + "?x=1"}}}, "clusters[0].url", "query"},
		"half a login":      {cdc.Config{Clusters: []cdc.Cluster{{Name: "a", URL: url, Password: password}}}, "clusters[0].username", "both"},
		"a nameless size":   {cdc.Config{Clusters: []cdc.Cluster{{Name: "a", URL: url}}, Sizes: cdc.Sizes{CPU: []cdc.Property{{}}}}, "sizes.cpu[0].name", "name a property"},
		"a negative factor": {cdc.Config{Clusters: []cdc.Cluster{{Name: "a", URL: url}}, Sizes: cdc.Sizes{CPU: []cdc.Property{{Name: "x", Factor: -1}}}}, "sizes.cpu[0].factor", "positive"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := cdc.New(bad.config)
			expectField(t, err, bad.field, bad.says)
		})
	}
}
