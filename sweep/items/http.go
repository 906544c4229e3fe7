package items

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"strconv"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/httpcall"
	"github.com/fairlead-io/fairlead/internal/sweeping"
	"github.com/fairlead-io/fairlead/sweep"
)

// HTTPKind is the kind of a sweep that sends its items to a URL. The sweep's data is the
// call.
const HTTPKind = "http"

// HandleHTTP registers HTTPKind. A successful response can still name items that failed:
//
//	{"failed":[{"index":7,"error":"no such user"}]}
//
// If the response contains "abandon":true for an item, the item is not retried. If it
// contains "stop":true, the item remains to be done, and the sweep stops. The response
// {"finish":true} ends a serial sweep.
func HandleHTTP(mux *fairlead.Mux, store sweep.Store, options Options, calls *httpcall.Handler) {
	register(mux, inStore(store), HTTPKind, options, func(run *Run, data json.RawMessage) (handling, error) {
		call, err := calls.ForItems(data, run.Sweep.PerCall)
		if err != nil {
			return handling{}, err
		}
		s := run.Sweep
		t := &httpTarget{run: run, call: call.Under(run.Job, s.ID, s.PerCall, s.Timeout, func(items []httpcall.CallItem) string { return keyOf(s.ID, items) })}
		return handling{http: t, many: t.send}, nil
	})
	registerStart(mux, store)
}

// httpTarget sends items.
type httpTarget struct {
	run  *Run
	call *httpcall.ItemsRun
}

func (t *httpTarget) send(ctx context.Context, items []sweeping.Item, outcomes []sweeping.Outcome) {
	sent := make([]httpcall.CallItem, len(items))
	for i, item := range items {
		sent[i] = httpcall.CallItem{Index: item.Index, Attempt: item.Attempt, Data: t.dataOf(item.Data)}
	}
	reply, err := t.call.Do(ctx, sent)
	settle(reply, err, items, outcomes)
}

// settle finds out what became of items.
func settle(reply httpcall.Reply, err error, items []sweeping.Item, outcomes []sweeping.Outcome) {
	if err != nil {
		failed := failure(err)
		for i := range outcomes {
			outcomes[i] = failed
		}
		return
	}
	readAnswer(reply, items, outcomes)
}

// dataOf is a line as text, and a row as what it consists of.
func (t *httpTarget) dataOf(data []byte) any {
	if data == nil {
		return nil
	}
	if t.run.Sweep.Source.Table == nil {
		return string(data)
	}
	var row any
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber() // a number is sent as it was read
	if decoder.Decode(&row) != nil {
		return string(data)
	}
	return row
}

// keyOf is the same whenever the same items are sent.
func keyOf(sweep int64, items []httpcall.CallItem) string {
	key := "fairlead-sweep-" + strconv.FormatInt(sweep, 10) + "-" + strconv.FormatInt(items[0].Index, 10)
	if len(items) == 1 {
		return key
	}
	hash := fnv.New64a()
	for i := range items {
		hash.Write(strconv.AppendInt(nil, items[i].Index, 36))
		hash.Write([]byte{' '})
	}
	return fmt.Sprintf("%s-%x", key, hash.Sum64())
}

// failure is the outcome of items whose call failed.
func failure(err error) sweeping.Outcome {
	var outcome *fairlead.Outcome
	if !errors.As(err, &outcome) {
		return sweeping.Outcome{Verdict: sweeping.Retry, Err: err}
	}
	settlement := outcome.Settlement()
	if settlement.Move == fairlead.Fail {
		return sweeping.Outcome{Verdict: sweeping.Abandon, Err: err}
	}
	return sweeping.Outcome{Verdict: sweeping.Retry, Err: err, After: settlement.After}
}

// answer is what of an answer of success is about items.
type answer struct {
	Failed []failedItem    `json:"failed"`
	Finish json.RawMessage `json:"finish"` // true, or anything: targets say what they like
}

// failedItem is one that failed though the call succeeded.
type failedItem struct {
	Index   json.Number `json:"index"`
	Error   string      `json:"error"`
	Abandon bool        `json:"abandon"`
	Stop    bool        `json:"stop"`
}

// outcome is what becomes of the item.
func (f *failedItem) outcome() sweeping.Outcome {
	o := sweeping.Outcome{Verdict: sweeping.Retry, Err: errors.New(f.Error)}
	if f.Error == "" {
		o.Err = errors.New("the response reports that the item failed")
	}
	switch {
	case f.Stop:
		o.Verdict = sweeping.Stop
	case f.Abandon:
		o.Verdict = sweeping.Abandon
	}
	return o
}

// readAnswer finds out what became of items whose call succeeded. An answer that says
// nothing of them is fine.
func readAnswer(reply httpcall.Reply, items []sweeping.Item, outcomes []sweeping.Outcome) {
	var said answer
	if body := bytes.TrimSpace(reply.Body); len(body) == 0 || body[0] != '{' || json.Unmarshal(body, &said) != nil && !reply.Cut {
		return
	}
	if reply.Cut && bytes.Contains(reply.Body, []byte(`"failed"`)) {
		for i := range outcomes {
			outcomes[i] = sweeping.Outcome{Verdict: sweeping.Retry, Err: errors.New("the response lists too many failed items; send fewer items per call")}
		}
		return
	}
	if string(said.Finish) == "true" {
		outcomes[len(outcomes)-1].Verdict = sweeping.Finish
	}
	for n := range said.Failed {
		index, err := said.Failed[n].Index.Int64()
		for i := range items {
			if err == nil && items[i].Index == index {
				outcomes[i] = said.Failed[n].outcome()
			}
		}
	}
}
