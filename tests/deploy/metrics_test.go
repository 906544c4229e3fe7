package deploy

import (
	"regexp"
	"strings"
	"testing"
)

var metricName = regexp.MustCompile(`\bfairlead_[a-z_]+`)

// checkMetrics fails the test if a query names a metric that does not exist.
func checkMetrics(t *testing.T, where, query string) {
	t.Helper()
	types := metricTypes(t)
	for _, name := range metricName.FindAllString(query, -1) {
		if types[name] != "" && types[name] != "histogram" {
			continue
		}
		base := name
		for _, part := range []string{"_bucket", "_count", "_sum"} {
			base = strings.TrimSuffix(base, part)
		}
		if types[base] != "histogram" || base == name {
			t.Errorf("%s names %s, which no node shows", where, name)
		}
	}
}

// metricTypes returns the metrics in docs/reference/metrics.md with their types. A test in
// package metrics compares that list with the metrics of nodes.
func metricTypes(t *testing.T) map[string]string {
	t.Helper()
	types := map[string]string{}
	row := regexp.MustCompile(`(?m)^\| (.*fairlead_.*?) \| (gauge|counter|histogram) \|`)
	for _, match := range row.FindAllStringSubmatch(string(read(t, "docs", "reference", "metrics.md")), -1) {
		for _, name := range metricName.FindAllString(match[1], -1) {
			types[name] = match[2]
		}
	}
	if len(types) < 20 {
		t.Fatalf("only %d metrics were found", len(types))
	}
	return types
}
