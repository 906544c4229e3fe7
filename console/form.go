package console

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"connectrpc.com/connect"
)

// readForm reads what was sent with a form.
func (v *visit) readForm() error {
	fields, files, err := readPosted(v.request)
	var large *http.MaxBytesError
	var busy *connect.Error
	switch {
	case errors.As(err, &large):
		return connect.NewError(connect.CodeInvalidArgument, errors.New(v.TooLarge()))
	case errors.As(err, &busy):
		return connect.NewError(connect.CodeResourceExhausted, errors.New(v.T("Too many large forms are being submitted, or this one arrived too slowly. Try again later.")))
	case err != nil:
		return connect.NewError(connect.CodeInvalidArgument, err)
	}
	v.posted = url.Values{}
	for name, values := range fields {
		for i, value := range values {
			if value != "" || i == 0 { // a file that was not chosen is sent as an empty text
				v.posted.Add(name, strings.ReplaceAll(value, "\r\n", "\n"))
			}
		}
	}
	return v.takeFiles(files)
}

// TooLarge is what is said of a form that has too many bytes.
func (v *visit) TooLarge() string {
	return v.T("The form is larger than %s MB. Use the API or the command line instead.", v.Num(maxForm>>20))
}

// MaxForm is maxForm for templates.
func (v *visit) MaxForm() int { return maxForm }

// takeFiles takes the files that were sent with a form: a file stands for what can be typed
// into the field of the same name.
func (v *visit) takeFiles(files []postedFile) error {
	for _, file := range files {
		if !utf8.ValidString(file.content) {
			v.garbled = true
			return refuse(file.name, v.T("is not UTF-8 text; save it as UTF-8 CSV and select it again"))
		}
		if content := strings.TrimSpace(strings.ReplaceAll(file.content, "\r\n", "\n")); content != "" {
			v.posted.Set(file.field, content)
		}
	}
	return nil
}

// fields reads what was typed into a form, as parameters does what stands in an address.
// Fields that are not asked for are left to the form itself.
func (v *visit) fields() *parameters { return &parameters{v: v, values: v.posted, form: true} }

// wasPrefix marks the hidden fields that say what a form showed when it was opened.
const wasPrefix = "was."

// Entered is what stands in a field: what was typed, else what there is. A field that was
// left alone shows what has become of it meanwhile.
func (v *visit) Entered(name string, now any) string {
	if was, sent := v.posted[wasPrefix+name]; sent && was[0] == v.posted.Get(name) {
		return text(now)
	}
	if typed, sent := v.posted[name]; sent && len(typed) > 0 {
		return typed[0]
	}
	if v.posted != nil {
		return "" // a box that was not ticked is not sent
	}
	return text(now)
}

// Meanwhile is what there is now, if that has changed since the form was opened; empty if
// it has not.
func (v *visit) Meanwhile(name string, now any) string {
	was, sent := v.posted[wasPrefix+name]
	if !sent || was[0] == text(now) {
		return ""
	}
	if text(now) == "" {
		return v.T("nothing")
	}
	return text(now)
}

// unchanged refuses a form if what it showed when it was opened is not what there is now.
// It is for what has no version. The form is shown again, with what has changed, and may
// be sent again.
func (v *visit) unchanged(f *parameters, now map[string]any) {
	for name, value := range now {
		if v.Meanwhile(name, value) != "" && f.wrong == nil {
			f.wrong = connect.NewError(connect.CodeFailedPrecondition, errors.New(v.T("This was changed after you opened the form. Review the current values, then save again.")))
		}
	}
}

// Was is the name of the hidden field that keeps what a form showed.
func (v *visit) Was(name string) string { return wasPrefix + name }

// WasOf is what a form showed when it was opened.
func (v *visit) WasOf(name string) string { return v.posted.Get(wasPrefix + name) }

// WasState is the state that the form showed when it was opened.
func (v *visit) WasState() string { return v.posted.Get(wasPrefix + "state") }

// Text is a value as it stands in a field.
func (v *visit) Text(value any) string { return text(value) }

// Form is what the form is sent to.
func (v *visit) Form() string { return v.console.options.Prefix + v.Path }

// WithNext is a link to a form that leads back to this page.
func (v *visit) WithNext(href string) string {
	mark := "?"
	if strings.Contains(href, "?") {
		mark = "&"
	}
	return href + mark + url.Values{"next": {v.Back()}}.Encode()
}

// option is one of the values of a choice.
type option struct{ Value, Label string }
