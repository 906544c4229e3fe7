package console

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// visit is one view of a page: the viewer, the page and the display preferences.
type visit struct {
	*viewer
	*services
	console *Console
	ctx     context.Context // for API calls on behalf of the viewer
	request *http.Request
	posted  url.Values     // submitted form; nil = none
	former  map[string]any // values of a form that reverts a change; nil = the stored ones
	garbled bool           // whether a submitted file cannot be read
	moved   bool           // whether Query was rewritten to be independent of the viewer's time zone
	Notice  string         // message about the action on the previous page

	Path  string // below the prefix, with escapes: names may contain slashes
	Query url.Values
	Lang  string
	Theme string // "light", "dark", or empty for the system's theme
	Zone  *time.Location
	Now   time.Time
}

// visit reads the display preferences from a request.
func (c *Console) visit(r *http.Request, who *viewer) *visit {
	path := strings.TrimPrefix(r.URL.EscapedPath(), c.options.Prefix)
	if live, is := strings.CutPrefix(path, livePath); is {
		path = live
	}
	v := &visit{
		viewer: who, services: c.services, console: c, ctx: withViewer(r.Context(), who), request: r,
		Path: path, Query: r.URL.Query(), Lang: languageOf(r), Theme: "", Zone: time.UTC, Now: c.now(),
	}
	if cookie, err := r.Cookie("theme"); err == nil && slices.Contains([]string{"light", "dark"}, cookie.Value) {
		v.Theme = cookie.Value
	}
	if cookie, err := r.Cookie("zone"); err == nil {
		if name, err := url.QueryUnescape(cookie.Value); err == nil && name != "" && name != "Local" {
			if zone, err := time.LoadLocation(name); err == nil {
				v.Zone = zone
			}
		}
	}
	return v
}

// Get returns a parameter of the page.
func (v *visit) Get(name string) string { return strings.TrimSpace(v.Query.Get(name)) }

// All returns the values of a parameter that may be repeated.
func (v *visit) All(name string) []string { return texts(v.Query, name) }

// texts returns the nonempty values of a parameter.
func texts(values url.Values, name string) (all []string) {
	for _, value := range values[name] {
		if value = strings.TrimSpace(value); value != "" {
			all = append(all, value)
		}
	}
	return all
}

// Value returns a part of the path, such as the ID in "/jobs/{id}".
func (v *visit) Value(name string) string { return v.request.PathValue(name) }

// Href returns the link to a page, with parameters given as names and values. It leaves out
// empty values.
func (v *visit) Href(path string, parameters ...any) string {
	query := url.Values{}
	for i := 0; i+1 < len(parameters); i += 2 {
		name, value := parameters[i].(string), text(parameters[i+1])
		if value != "" {
			query.Add(name, value)
		}
	}
	return v.link(path, query)
}

// Here returns the link to this page with some parameters changed; an empty value removes a
// parameter. It leads to the first page of a list.
func (v *visit) Here(parameters ...any) string {
	query := url.Values{}
	for name, values := range v.Query {
		if name != "page" {
			query[name] = values
		}
	}
	for i := 0; i+1 < len(parameters); i += 2 {
		name, value := parameters[i].(string), text(parameters[i+1])
		query.Del(name)
		if value != "" {
			query.Set(name, value)
		}
	}
	return v.link(v.Path, query)
}

// NextPage returns the link to the rows after a token, or an empty string if there are
// none.
func (v *visit) NextPage(token string) string {
	if token == "" {
		return ""
	}
	return v.Here("page", token)
}

// FirstPage returns the link to the first rows, or an empty string on the first page.
func (v *visit) FirstPage() string {
	if v.Get("page") == "" {
		return ""
	}
	return v.Here()
}

// link returns an escaped path with parameters.
func (v *visit) link(path string, query url.Values) string {
	return v.console.options.Prefix + withQuery(path, query)
}

func withQuery(path string, query url.Values) string {
	if len(query) == 0 {
		return path
	}
	return path + "?" + query.Encode()
}

// To returns the link to the page of an object whose name may contain slashes.
func (v *visit) To(path string, name any, parameters ...any) string {
	href := v.Href(path+"/", parameters...)
	before, query, asked := strings.Cut(href, "?")
	if asked {
		query = "?" + query
	}
	return before + url.PathEscape(text(name)) + query
}

// Escape escapes a name for a path.
func (v *visit) Escape(name string) string { return url.PathEscape(name) }

// below returns the path of an object, below the prefix.
func (v *visit) below(path, name string) string { return path + "/" + url.PathEscape(name) }

// Live returns the URL of the live part of this page.
func (v *visit) Live() string { return v.link(livePath+v.Path, v.Query) }

// Back returns this page's path below the prefix, for returning to it.
func (v *visit) Back() string { return withQuery(v.Path, v.Query) }

// Asset returns the URL of a file.
func (v *visit) Asset(name string) string {
	return v.console.options.Prefix + v.console.assets.path(name)
}

// Prefix returns the path under which the console is mounted.
func (v *visit) Prefix() string { return v.console.options.Prefix }

// Version returns the version of the program.
func (v *visit) Version() string { return v.console.options.Version }
