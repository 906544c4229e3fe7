package console

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// visit is one look at a page: who looks, at what, and how they read it.
type visit struct {
	*viewer
	*services
	console *Console
	ctx     context.Context // the calls of a page are made on behalf of who looks
	request *http.Request
	posted  url.Values // what was sent with a form; nil: none was
	garbled bool       // a file that was sent with it cannot be read
	Notice  string     // what was done on the page before

	Path  string // below the prefix, with what is escaped in it: names may have slashes
	Query url.Values
	Lang  string
	Theme string // "light", "dark", or empty: as the system
	Zone  *time.Location
	Now   time.Time
}

// visit reads from a request how its viewer reads.
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

// Get is a parameter of the page.
func (v *visit) Get(name string) string { return strings.TrimSpace(v.Query.Get(name)) }

// All is a parameter that may be given several times.
func (v *visit) All(name string) []string { return texts(v.Query, name) }

// texts are the values of a parameter that are not empty.
func texts(values url.Values, name string) (all []string) {
	for _, value := range values[name] {
		if value = strings.TrimSpace(value); value != "" {
			all = append(all, value)
		}
	}
	return all
}

// Value is a part of the path, as the id of "/jobs/{id}".
func (v *visit) Value(name string) string { return v.request.PathValue(name) }

// Href is a link to a page, with parameters given as names and values. Empty values are
// left out.
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

// Here is a link to this page with some parameters changed; an empty value takes one
// away. It leads to the first page of a list.
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

// NextPage is this page with the rows behind a token; empty: there are none.
func (v *visit) NextPage(token string) string {
	if token == "" {
		return ""
	}
	return v.Here("page", token)
}

// FirstPage leads back to the first rows; empty if these are they.
func (v *visit) FirstPage() string {
	if v.Get("page") == "" {
		return ""
	}
	return v.Here()
}

// link is a path, escaped as it is to be, with parameters.
func (v *visit) link(path string, query url.Values) string {
	return v.console.options.Prefix + withQuery(path, query)
}

func withQuery(path string, query url.Values) string {
	if len(query) == 0 {
		return path
	}
	return path + "?" + query.Encode()
}

// To is a link to the page of one thing, whose name may have slashes in it.
func (v *visit) To(path string, name any, parameters ...any) string {
	href := v.Href(path+"/", parameters...)
	before, query, asked := strings.Cut(href, "?")
	if asked {
		query = "?" + query
	}
	return before + url.PathEscape(text(name)) + query
}

// Escape is a name as a part of a path.
func (v *visit) Escape(name string) string { return url.PathEscape(name) }

// below is the path of one thing, below the prefix.
func (v *visit) below(path, name string) string { return path + "/" + url.PathEscape(name) }

// Live is where the live part of this page comes from.
func (v *visit) Live() string { return v.link(livePath+v.Path, v.Query) }

// Back is this page below the prefix, to come back to.
func (v *visit) Back() string { return withQuery(v.Path, v.Query) }

// Asset is where a file is served.
func (v *visit) Asset(name string) string {
	return v.console.options.Prefix + v.console.assets.path(name)
}

// Prefix is the path under which the console is mounted.
func (v *visit) Prefix() string { return v.console.options.Prefix }

// Version is that of the program.
func (v *visit) Version() string { return v.console.options.Version }
