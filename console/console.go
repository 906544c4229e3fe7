package console

import (
	"errors"
	"io/fs"
	"log/slog"
	"net/http"
	"strings"
	"time"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/console/internal/shared"
)

// Options configures a console. The zero value configures a console that is mounted at "/" on
// a server without TLS.
type Options struct {
	// Prefix is the path under which the console is mounted, such as "/ops/fairlead". The
	// handler expects requests that include the prefix, as http.ServeMux passes them on.
	Prefix string
	// Secure reports that browsers use HTTPS although the server itself does not use TLS, for
	// example behind a proxy.
	Secure bool
	// Provider signs viewers in with an identity provider; nil = viewers enter a token.
	Provider Provider
	// Version is shown in the footer.
	Version string
	// Stopping is closed when the program shuts down: open pages are then asked to reconnect.
	Stopping <-chan struct{}
	// Log receives errors; nil = slog.Default.
	Log *slog.Logger
}

// Console serves the web console. It is an http.Handler.
type Console struct {
	options   Options
	api       http.Handler
	services  *services
	templates *templates
	assets    *assets
	views     shared.PerTick[[]byte] // live parts, by permissions and display preferences
	stats     shared.PerTick[*fairleadv1.ScheduleStats]
	loads     shared.PerTick[*lookedAt]
	history   history
	places    *places
	mux       *http.ServeMux
	now       func() time.Time
}

// New returns a console for the API that api serves. The console calls api in process.
func New(api http.Handler, options Options) (*Console, error) {
	options.Prefix = strings.TrimSuffix(options.Prefix, "/")
	if options.Prefix != "" && !strings.HasPrefix(options.Prefix, "/") {
		return nil, errors.New("console: the prefix must begin with a slash, as in /ops/fairlead")
	}
	if options.Log == nil {
		options.Log = slog.Default()
	}
	static, err := fs.Sub(files, "static")
	if err != nil {
		return nil, err
	}
	c := &Console{options: options, views: shared.PerTick[[]byte]{Size: func(body []byte) int { return len(body) }}, loads: shared.PerTick[*lookedAt]{MaxEntries: mostLoads}, api: api, services: newServices(api), places: newPlaces(), mux: http.NewServeMux(), now: time.Now}
	if c.assets, err = newAssets(static); err != nil {
		return nil, err
	}
	if c.templates, err = parseTemplates(); err != nil {
		return nil, err
	}
	c.route()
	return c, nil
}

// route registers the handlers of all paths.
func (c *Console) route() {
	protected := http.NewCrossOriginProtection()
	handle := func(pattern string, handler http.HandlerFunc) {
		method, path, _ := strings.Cut(pattern, " ")
		c.mux.Handle(method+" "+c.options.Prefix+path, protected.Handler(handler))
	}
	for i := range screens {
		s := &screens[i]
		handle("GET "+s.path, c.placed(func(w http.ResponseWriter, r *http.Request) { c.page(w, r, s) }))
		handle("GET "+livePath+s.path, func(w http.ResponseWriter, r *http.Request) { c.live(w, r, s) })
	}
	for i := range actions {
		a := &actions[i]
		handle("GET "+a.path, c.placed(func(w http.ResponseWriter, r *http.Request) { c.form(w, r, a) }))
		handle("POST "+a.path, func(w http.ResponseWriter, r *http.Request) { c.act(w, r, a) })
	}
	for i := range fragments {
		f := &fragments[i]
		handle("POST "+f.path, func(w http.ResponseWriter, r *http.Request) { c.part(w, r, f) })
	}
	for list, named := range documents {
		handle("GET "+list+"/{id}/documents/{document}", c.placed(c.document(named)))
	}
	handle("GET /static/", c.assets.serve(c.options.Prefix+"/static/"))
	handle("GET /login", c.loginPage)
	handle("POST /login", c.login)
	handle("POST /logout", c.logout)
	if c.options.Provider != nil {
		handle("GET "+providerPath, c.goToProvider)
		handle("GET "+callbackPath, c.backFromProvider)
	}
	handle("POST /preferences", c.setPreferences)
	handle("GET /find", c.placed(c.find))
	handle("GET /docs", c.reference("/docs"))
	handle("GET /openapi.json", c.reference("/openapi.json"))
	handle("GET /", c.notFound)
}

// ServeHTTP serves a page, a part of a page, or an asset.
func (c *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	// Allow only content that the console itself serves: no inline scripts or styles, no other
	// origins, no frames.
	header.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("X-Frame-Options", "DENY")
	header.Set("Referrer-Policy", "same-origin")
	header.Set("Cache-Control", "no-store")
	if r.URL.Path == c.options.Prefix && c.options.Prefix != "" {
		http.Redirect(w, r, c.options.Prefix+"/", http.StatusSeeOther)
		return
	}
	c.mux.ServeHTTP(w, r)
}
