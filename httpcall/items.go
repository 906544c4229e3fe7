package httpcall

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/fairlead-io/fairlead"
)

// ItemsCall is a sweep's HTTP call, made once for each item or for several items at once. It
// is a Call with additional placeholders. With one item per call, {{args.item}} stands for
// the item, which has the fields index, attempt and data. {{args.items}} stands for the list
// of items. A call without a body sends that list.
type ItemsCall struct {
	handler *Handler
	plan    *plan
	address string // that is called
	uses    used
}

// used is which of the variables of items a call has: others are not made.
type used struct{ sweep, item, items bool }

func usedBy(p *plan) used {
	var u used
	note := func(t template) {
		for _, name := range t.names(placeholder) {
			u.sweep = u.sweep || name == "args.sweep_id"
			u.item = u.item || name == "args.item" || strings.HasPrefix(name, "args.item.")
			u.items = u.items || name == "args.items" || strings.HasPrefix(name, "args.items.")
		}
	}
	note(p.url.rest)
	note(p.body)
	for _, h := range p.headers {
		note(h.value)
	}
	return u
}

// CallItem is an item as it appears in a call.
type CallItem struct {
	Index   int64 // index of the item
	Attempt int   // number of the attempt, counted from 1
	Data    any   // decoded JSON; nil if the item has only an index
}

// itemsBody is what a call without a body sends.
const itemsBody = `"{\"sweep_id\":\"{{args.sweep_id}}\",\"items\":{{args.items}}}"`

// ForItems validates the data of a sweep that sends at most perCall items per call, and
// returns the sweep's call. It returns an *fairlead.InvalidError if the data is invalid.
func (h *Handler) ForItems(data json.RawMessage, perCall int) (*ItemsCall, error) {
	call, err := decodeCall(data)
	if err != nil {
		return nil, err
	}
	refuse := func(field, message string) error {
		return &fairlead.InvalidError{Fields: []fairlead.FieldError{{Field: "args." + field, Message: message}}}
	}
	if call.Async {
		return nil, refuse("async", "is not allowed, because items of sweeps do not wait for callbacks; omit it")
	}
	if len(call.Body) == 0 && call.Method != http.MethodGet && call.Method != http.MethodHead {
		call.Body = json.RawMessage(itemsBody)
	}
	sample := CallItem{Index: 1, Attempt: 1, Data: anything("sample")}
	p, err := compileCall(call, varsOf(1, []CallItem{sample}, perCall, used{true, true, true}))
	if err != nil {
		return nil, err
	}
	for _, used := range p.secretsUsed() {
		if err := h.options.Secrets.check(used.name); err != nil {
			return nil, refuse(used.field, err.Error())
		}
	}
	return &ItemsCall{handler: h, plan: p, address: p.url.address(), uses: usedBy(p)}, nil
}

// ValidateItems validates the data of a sweep that sends at most perCall items per call. It
// returns an *fairlead.InvalidError if the data is invalid.
func (h *Handler) ValidateItems(data json.RawMessage, perCall int) error {
	call, err := h.ForItems(data, perCall)
	if err != nil {
		return err
	}
	return call.plan.checkClaimed()
}

// varsOf is what the placeholders of a call for items stand for.
func varsOf(sweep int64, items []CallItem, perCall int, uses used) map[string]any {
	vars := map[string]any{}
	if uses.sweep {
		vars["sweep_id"] = strconv.FormatInt(sweep, 10)
	}
	if uses.items {
		list := make([]any, len(items))
		for i := range items {
			list[i] = items[i].vars()
		}
		vars["items"] = list
	}
	if uses.item && perCall == 1 {
		vars["item"] = items[0].vars()
	}
	return vars
}

// vars is what the placeholders of an item stand for.
func (i *CallItem) vars() map[string]any {
	one := map[string]any{"index": json.Number(strconv.FormatInt(i.Index, 10)), "attempt": json.Number(strconv.Itoa(i.Attempt))}
	if i.Data != nil {
		one["data"] = i.Data
	}
	return one
}

// enter waits until the target may be called.
func (c *ItemsCall) enter(ctx context.Context) (entry, error) {
	for {
		e, wait := c.handler.breakers.enter(c.address)
		if e.breaker != nil {
			return e, nil
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return e, context.Cause(ctx)
		}
	}
}
