package console

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// parameters reads the parameters of a page. err returns the error of the first invalid or
// unknown parameter.
type parameters struct {
	v      *visit
	values url.Values
	form   bool // whether these are fields of a form, which may have other fields
	asked  []string
	wrong  error
}

func (v *visit) parameters() *parameters { return &parameters{v: v, values: v.Query} }

// err returns the first error. It must be called after all parameters were read.
func (p *parameters) err() error {
	if p.wrong != nil {
		return p.wrong
	}
	if p.form {
		return nil
	}
	return p.v.only(p.asked...)
}

// refuse returns the error for an invalid parameter.
func refuse(name, message string) error {
	return connect.NewError(connect.CodeInvalidArgument, fmt.Errorf("%s: %s", name, message))
}

func (p *parameters) refuse(name, message string) {
	if p.wrong == nil {
		p.wrong = refuse(name, message)
	}
}

// text returns a parameter without surrounding spaces.
func (p *parameters) text(name string) string {
	p.asked = append(p.asked, name)
	return strings.TrimSpace(p.values.Get(name))
}

// page returns the token of a page in a list. The token may be a name with significant
// spaces.
func (p *parameters) page() string {
	p.asked = append(p.asked, "page")
	return p.values.Get("page")
}

// texts returns all values of a parameter.
func (p *parameters) texts(name string) []string {
	p.asked = append(p.asked, name)
	return texts(p.values, name)
}

// number returns a parameter that is a positive number, or zero if it is absent.
func (p *parameters) number(name string) int64 {
	given := p.text(name)
	if given == "" {
		return 0
	}
	n, err := strconv.ParseInt(given, 10, 64)
	if err != nil || n <= 0 {
		p.refuse(name, p.v.T("must be a number above 0"))
		return 0
	}
	return n
}

// numbers returns a parameter of positive numbers that may be repeated.
func (p *parameters) numbers(name string) (all []int64) {
	for _, given := range p.texts(name) {
		n, err := strconv.ParseInt(given, 10, 64)
		if err != nil || n <= 0 {
			p.refuse(name, p.v.T("must be a number above 0"))
		}
		all = append(all, n)
	}
	if len(all) > windowJobs {
		p.refuse(name, p.v.T("must select at most %s jobs", p.v.Num(windowJobs)))
	}
	return all
}

// integer returns a field that is an integer, possibly negative, or zero if it is empty.
func (p *parameters) integer(name string) int32 {
	given := p.text(name)
	if given == "" {
		return 0
	}
	n, err := strconv.ParseInt(given, 10, 32)
	if err != nil {
		p.refuse(name, p.v.T("must be a whole number"))
	}
	return int32(n)
}

// decimal returns a field that is a number, or zero if it is empty.
func (p *parameters) decimal(name string) float64 {
	given := p.text(name)
	if given == "" {
		return 0
	}
	n, err := strconv.ParseFloat(given, 64)
	if err != nil {
		p.refuse(name, p.v.T("must be a number"))
	}
	return n
}

// choice returns a parameter with a fixed set of values; the first is the default.
func (p *parameters) choice(name string, values ...string) string {
	given := p.text(name)
	switch {
	case given == "":
		return values[0]
	case !slices.Contains(values, given):
		p.refuse(name, p.v.T("must be one of %s", strings.TrimPrefix(strings.Join(values, ", "), ", "))) // leave out an empty default
	}
	return given
}

// localTimes lists the formats in which browsers send times without a zone.
var localTimes = []string{"2006-01-02T15:04", "2006-01-02T15:04:05", "2006-01-02"}

// time returns a parameter that is a time, by default in the viewer's zone, or nil if it is
// absent.
func (p *parameters) time(name string) *timestamppb.Timestamp {
	given := p.text(name)
	if given == "" {
		return nil
	}
	at, err := time.Parse(time.RFC3339, given)
	for _, layout := range localTimes {
		if err != nil {
			at, err = time.ParseInLocation(layout, given, p.v.Zone)
		}
	}
	if err != nil {
		p.refuse(name, p.v.T("must be a time such as 2026-01-31T12:00:00Z"))
		return nil
	}
	return timestamppb.New(at)
}

// Field formats a time parameter for a form field: in the viewer's zone, to the
// millisecond. It rounds up times with more digits, because most of them are ends of
// periods.
func (v *visit) Field(name string) string {
	given := v.Get(name)
	at, err := time.Parse(time.RFC3339, given)
	if err != nil {
		return given
	}
	at = at.Add(time.Millisecond - 1).Truncate(time.Millisecond).In(v.Zone)
	return at.Format("2006-01-02T15:04:05.999")
}

// Further returns the values of a parameter after the first, for which a form field has no
// room.
func (v *visit) Further(name string) []string {
	if all := v.All(name); len(all) > 1 {
		return all[1:]
	}
	return nil
}
