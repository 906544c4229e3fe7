package interleave

import (
	"context"
	"database/sql"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// omitted are the tables and columns that no state contains, each with its reason.
var omitted = map[string]string{
	"fairlead_id_mark":      "caches which ids were handed out when",
	"fairlead_lane_walk":    "is the position of a loop",
	"fairlead_quota_delta":  "is added to quota.used",
	"fairlead_starts":       "counts for statistics",
	"fairlead_fair_start":   "counts for statistics",
	"fairlead_missed_start": "counts for statistics",
	"fairlead_sample":       "counts for statistics",
	"fairlead_audit":        "has an entry for each call, in their order",
	"fairlead_gate_news":    "is a reminder to look at a gate",
	"held":                  "names the limits that a run counts against: Verify recounts them",
	"holds":                 "as held",
	"held_fences":           "caches the fences of a node",
	"token":                 "is random",
	"trace":                 "is random",
	"version":               "counts changes, refused ones too",
	"share_number":          "counts the grants of a share",
	"told":                  "is the number of the last grant that a run has received",
}

// A state is the content of a database without ids, fences and times: one line for each row,
// sorted. Ids that the scene has labelled are replaced by their labels, all others by a
// question mark. Times are relative to the scene.
type state []string

func (s state) equal(other state) bool { return slices.Equal(s, other) }

// state reads the content of the database.
func (s *scene) state(ctx context.Context) (state, error) {
	lanes, err := s.numbered(ctx, "fairlead_lane", "queue", "tenant", "kind")
	if err != nil {
		return nil, err
	}
	limits, err := s.numbered(ctx, "fairlead_quota", "scope", "name")
	if err != nil {
		return nil, err
	}
	used, err := s.used(ctx)
	if err != nil {
		return nil, err
	}
	calendars, err := s.calendars(ctx)
	if err != nil {
		return nil, err
	}
	var lines state
	tables, err := s.withRows(ctx)
	if err != nil {
		return nil, err
	}
	for _, table := range tables {
		if omitted[table] != "" {
			continue
		}
		err := s.rows(ctx, "select * from "+table, func(columns []string, values []sql.NullString) {
			var b strings.Builder
			b.WriteString(strings.TrimPrefix(table, "fairlead_"))
			for i, column := range columns {
				if !values[i].Valid || omitted[column] != "" {
					continue
				}
				text := values[i].String
				switch {
				case column == "lane":
					text = lanes[text]
				case column == "quota", table == "fairlead_quota" && column == "id":
					text = limits[text]
				case column == "calendar_seen":
					text = seenOf(text, calendars[values[slices.Index(columns, "calendar")].String])
				case table == "fairlead_quota" && column == "used":
					text = used[values[slices.Index(columns, "id")].String]
				default:
					text = s.neutral(text)
				}
				fmt.Fprintf(&b, " %s=%s", column, text)
			}
			lines = append(lines, b.String())
		})
		if err != nil {
			return nil, err
		}
	}
	slices.Sort(lines)
	return lines, nil
}

// numbered returns the names of the rows of a table by their ids.
func (s *scene) numbered(ctx context.Context, table string, names ...string) (map[string]string, error) {
	found := map[string]string{}
	err := s.rows(ctx, "select id, "+strings.Join(names, ", ")+" from "+table, func(_ []string, values []sql.NullString) {
		parts := make([]string, len(names))
		for i := range names {
			parts[i] = values[i+1].String
		}
		found[values[0].String] = strings.Join(parts, "/")
	})
	return found, err
}

// used returns how many jobs each limit counts.
func (s *scene) used(ctx context.Context) (map[string]string, error) {
	found := map[string]string{}
	if s.limitUse() == "" {
		return found, nil
	}
	err := s.rows(ctx, s.limitUse(), func(_ []string, values []sql.NullString) {
		found[values[0].String] = values[1].String
	})
	return found, err
}

// calendars returns the version of each calendar by its name.
func (s *scene) calendars(ctx context.Context) (map[string]string, error) {
	found := map[string]string{}
	err := s.rows(ctx, "select name, version from fairlead_calendar", func(_ []string, values []sql.NullString) {
		found[values[0].String] = values[1].String
	})
	return found, err
}

// seenOf compares the version of a calendar that a schedule has seen with the current one.
// Versions grow by random steps.
func seenOf(seen, current string) string {
	switch seen {
	case current:
		return "current"
	case "0":
		return "never"
	default:
		return "another"
	}
}

// rows reads all rows of a query as strings.
func (s *scene) rows(ctx context.Context, query string, each func(columns []string, values []sql.NullString)) error {
	rows, err := s.admin.QueryContext(ctx, query)
	if err != nil {
		return err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return err
	}
	for rows.Next() {
		values := make([]sql.NullString, len(columns))
		into := make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			return fmt.Errorf("%s: %w", query, err)
		}
		each(columns, values)
	}
	return rows.Err()
}

var (
	// sought is when a conductor last looked for tasks without a job. A node that conducts the
	// batch while another node does leaves that to the other node.
	sought = regexp.MustCompile(`"SoughtAt":"[^"]*",?`)
	// newest is the last ID that was assigned when a bulk began, rounded by some stores.
	newest  = regexp.MustCompile(`"newest":\d+,?`)
	number  = regexp.MustCompile(`\d{7,16}`)
	instant = regexp.MustCompile(`20[23]\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`)
)

// neutral replaces ids and times in a text.
func (s *scene) neutral(text string) string {
	text = sought.ReplaceAllString(text, "")
	text = newest.ReplaceAllString(text, "")
	text = instant.ReplaceAllStringFunc(text, func(at string) string {
		t, err := time.Parse(time.RFC3339, at)
		if err != nil {
			return at
		}
		return s.offset(t.UnixMicro())
	})
	return number.ReplaceAllStringFunc(text, func(digits string) string {
		n, err := strconv.ParseInt(digits, 10, 64)
		if err != nil {
			return digits
		}
		if name := s.labelOf(n); name != "" {
			return "‹" + name + "›"
		}
		from, to := s.fenceRange()
		switch {
		case n >= idFloor && n < idCeiling, n >= from && n < to:
			return "?"
		case n >= firstScene.UnixMicro() && n < afterScenes.UnixMicro():
			return s.offset(n)
		}
		return digits
	})
}

// offset writes a time relative to the scene.
func (s *scene) offset(us int64) string {
	return fmt.Sprintf("%+v", (time.Duration(us-s.begun) * time.Microsecond).String())
}

// difference lists the lines that only one of two states has.
func difference(got, want state) string {
	var b strings.Builder
	for _, line := range without(got, want) {
		fmt.Fprintf(&b, "  + %s\n", line)
	}
	for _, line := range without(want, got) {
		fmt.Fprintf(&b, "  - %s\n", line)
	}
	return b.String()
}

// without returns the lines of a that b lacks, as often as it lacks them.
func without(a, b state) (rest state) {
	left := map[string]int{}
	for _, line := range b {
		left[line]++
	}
	for _, line := range a {
		if left[line]--; left[line] < 0 {
			rest = append(rest, line)
		}
	}
	return rest
}
