package cdc

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// gtidSet matches GTID sets of MySQL (uuid:1-5:7,uuid:tag:1-3) and GTID lists of MariaDB
// (0-1-100,1-2-7).
var gtidSet = func() *regexp.Regexp {
	const (
		uuid     = `[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}`
		interval = `\d+(?:-\d+)?`
		mysql    = uuid + `(?::(?:` + interval + `|[a-zA-Z_][a-zA-Z0-9_]{0,31}))+`
		mariadb  = `\d+-\d+-\d+`
	)
	return regexp.MustCompile(`^(?:` + mysql + `(?:,` + mysql + `)*|` + mariadb + `(?:,` + mariadb + `)*)$`)
}()

// tidyGTID returns a GTID without the spaces and line breaks that databases print.
func tidyGTID(gtid string) string { return strings.Join(strings.Fields(gtid), "") }

// resetGTIDOperation makes a connector continue from another set of transactions: it stops
// the connector, changes its offsets, and resumes it if it was running.
//
// The operation may be repeated: a connector that was left stopped gets the same offsets,
// or already has them, and resumes. One that has continued already reads again from the
// GTID; it then emits some events twice, and loses none. The state to return to is in the
// snapshot, which is older than the stop.
func (h *Handler) resetGTIDOperation() Operation {
	return Operation{
		TargetType: TargetCDC, BatchType: BatchResetGTID, Timeout: resetTimeout,
		BuildParam: func(ctx context.Context, task Task, _ json.RawMessage) (json.RawMessage, error) {
			return h.buildSnapshot(ctx, task, func(was *Param, _ *connector) {
				for _, offset := range was.Connector.Offsets {
					if gtid, has := h.config.GTID.gtidOf(offset); has && was.ResetGTID == nil {
						was.ResetGTID = &ResetGTID{GTID: gtid}
					}
				}
			})
		},
		AlreadyDone: h.gtidIsSet,
		Process: func(ctx context.Context, task Task, before, after json.RawMessage) error {
			was, want, err := readParams(before, after)
			if err != nil {
				return err
			}
			return h.resetGTID(ctx, task, was, want.ResetGTID, "after")
		},
		Undo: func(ctx context.Context, task Task, before, _ json.RawMessage) error {
			was, err := readParam("before", before)
			if err != nil {
				return err
			}
			if was.Connector == nil {
				return h.resetGTID(ctx, task, was, was.ResetGTID, "before")
			}
			c, err := h.known(task, was.Connector.Cluster)
			if err != nil {
				return err
			}
			return h.restore(ctx, c, was.Connector, was.Connector.Offsets)
		},
		Check: func(task Task, before, after json.RawMessage) error {
			return h.check(task, before, after, func(bad *complaints, _, want Param) {
				switch {
				case want.ResetGTID == nil || tidyGTID(want.ResetGTID.GTID) == "":
					bad.refuse("after.reset_gtid.gtid", "is empty; specify the set of transactions to resume from")
				case !gtidSet.MatchString(tidyGTID(want.ResetGTID.GTID)):
					bad.refuse("after.reset_gtid.gtid", "is not a GTID set; write it as the database prints it, such as 3e11fa47-71ca-11e1-9e33-c80aa9429562:1-77 or 0-1-100")
				}
			})
		},
	}
}

// gtidIsSet reports whether a connector runs from the wanted GTID. A connector that does
// not run may have been left so by an interrupted attempt.
func (h *Handler) gtidIsSet(ctx context.Context, task Task, raw json.RawMessage) (bool, error) {
	want, err := readParam("after", raw)
	if err != nil {
		return false, err
	}
	if task.Undo {
		return h.undone(ctx, task, want, func(s *Snapshot) []Offset { return s.Offsets })
	}
	if want.ResetGTID == nil {
		return false, nil
	}
	c, found, err := h.locate(ctx, task)
	if err != nil {
		return false, err
	}
	offsets, err := c.needOffsets(ctx, task.connector())
	if err != nil {
		return false, err
	}
	wanted, err := h.config.GTID.withGTID(offsets, tidyGTID(want.ResetGTID.GTID))
	if err != nil || len(offsetChanges(offsets, wanted)) > 0 {
		return false, err
	}
	if found.kept(task) != "" { // the stored state has not been removed yet
		return false, nil
	}
	return c.runs(ctx, task.connector(), found)
}

func (h *Handler) resetGTID(ctx context.Context, task Task, was Param, want *ResetGTID, half string) error {
	if want == nil || tidyGTID(want.GTID) == "" {
		return refused(half+".reset_gtid.gtid", "is empty; specify the set of transactions to resume from")
	}
	name := task.connector()
	c, found, err := h.target(ctx, task, was)
	if err != nil {
		return err
	}
	// Check the request before stopping the connector.
	offsets, err := c.needOffsets(ctx, name)
	if err != nil {
		return err
	}
	if _, err := h.config.GTID.withGTID(offsets, tidyGTID(want.GTID)); err != nil {
		return fmt.Errorf("connector %q on cluster %q: %w", name, c.Name, err)
	}
	state, err := c.keepState(ctx, task, found, was.Connector)
	if err != nil {
		return err
	}
	if err := c.stop(ctx, name); err != nil {
		return err
	}
	// The connector may have continued reading until it stopped.
	if offsets, err = c.needOffsets(ctx, name); err != nil {
		return err
	}
	wanted, err := h.config.GTID.withGTID(offsets, tidyGTID(want.GTID))
	if err != nil {
		return err
	}
	if err := c.setOffsets(ctx, name, wanted); err != nil {
		return err
	}
	if err := c.reach(ctx, name, state); err != nil {
		return err
	}
	return c.forgetState(ctx, name)
}
