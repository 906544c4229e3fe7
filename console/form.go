package console

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"connectrpc.com/connect"
)

// readForm reads a submitted form.
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
			if value != "" || i == 0 { // browsers send an empty string if no file was chosen
				v.posted.Add(name, strings.ReplaceAll(value, "\r\n", "\n"))
			}
		}
	}
	return v.takeFiles(files)
}

// TooLarge returns the error message for a form that is too large.
func (v *visit) TooLarge() string {
	return v.T("The form is larger than %s MB. Use the API or the command line instead.", v.Num(maxForm>>20))
}

// MaxForm returns maxForm, for templates.
func (v *visit) MaxForm() int { return maxForm }

// takeFiles uses the files submitted with a form: a file replaces the input of the field
// with the same name.
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

// fields reads the fields of a form, like parameters reads those of a URL. Unread fields
// are not an error.
func (v *visit) fields() *parameters { return &parameters{v: v, values: v.posted, form: true} }

// Sent reports whether the form is shown because it was submitted.
func (v *visit) Sent() bool { return v.posted != nil }

// wasPrefix is the prefix of the hidden fields with the values that a form had when it was
// opened.
const wasPrefix = "was."

// Entered returns the value of a field: the input, or otherwise the stored value. A field
// that was not edited shows the current stored value.
func (v *visit) Entered(name string, now any) string {
	if was, sent := v.posted[wasPrefix+name]; sent && was[0] == v.posted.Get(name) {
		return text(now)
	}
	if typed, sent := v.posted[name]; sent && len(typed) > 0 {
		return typed[0]
	}
	if v.posted != nil {
		return "" // browsers do not send unchecked boxes
	}
	if was, known := v.former[name]; known {
		return text(was)
	}
	return text(now)
}

// Meanwhile returns the current stored value if it has changed since the form was opened,
// or otherwise an empty string.
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

// unchanged rejects a form if the values that it showed when it was opened have changed. It
// is intended for objects without a version. The form is shown again with the changes, and
// can be submitted again.
func (v *visit) unchanged(f *parameters, now map[string]any) {
	for name, value := range now {
		if v.Meanwhile(name, value) != "" && f.wrong == nil {
			f.wrong = connect.NewError(connect.CodeFailedPrecondition, errors.New(v.T("This was changed after you opened the form. Review the current values, then save again.")))
		}
	}
}

// Was returns the name of the hidden field with the original value of a field.
func (v *visit) Was(name string) string { return wasPrefix + name }

// WasOf returns the original value of a field.
func (v *visit) WasOf(name string) string { return v.posted.Get(wasPrefix + name) }

// WasState returns the state of the object when the form was opened.
func (v *visit) WasState() string { return v.posted.Get(wasPrefix + "state") }

// Text formats a value for a field.
func (v *visit) Text(value any) string { return text(value) }

// Form returns the URL that the form is submitted to.
func (v *visit) Form() string { return v.console.options.Prefix + v.Path }

// WithNext returns a link to a form that returns to this page.
func (v *visit) WithNext(href string) string {
	mark := "?"
	if strings.Contains(href, "?") {
		mark = "&"
	}
	return href + mark + url.Values{"next": {v.Back()}}.Encode()
}

// option is one of the values of a choice.
type option struct{ Value, Label string }
