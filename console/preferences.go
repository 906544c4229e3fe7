package console

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// languages lists the available languages; the first is the default.
var languages = []string{"en", "zh"}

// languageOf returns the language that the viewer has chosen, or otherwise the preferred
// language of the browser.
func languageOf(r *http.Request) string {
	if cookie, err := r.Cookie("lang"); err == nil && slices.Contains(languages, cookie.Value) {
		return cookie.Value
	}
	best, weight := languages[0], 0.0
	for part := range strings.SplitSeq(r.Header.Get("Accept-Language"), ",") {
		tag, quality, weighted := strings.Cut(strings.TrimSpace(part), ";q=")
		q := 1.0
		if weighted {
			var err error
			if q, err = strconv.ParseFloat(quality, 64); err != nil {
				continue
			}
		}
		primary, _, _ := strings.Cut(strings.ToLower(tag), "-")
		if slices.Contains(languages, primary) && q > weight {
			best, weight = primary, q
		}
	}
	return best
}

// setPreferences stores display preferences in the browser.
func (c *Console) setPreferences(w http.ResponseWriter, r *http.Request) {
	posted := postedFields(w, r)
	if lang := posted.Get("lang"); slices.Contains(languages, lang) {
		http.SetCookie(w, c.cookie(r, &http.Cookie{Name: "lang", Value: lang, MaxAge: yearSeconds, HttpOnly: true}))
	}
	switch theme := posted.Get("theme"); theme {
	case "light", "dark":
		http.SetCookie(w, c.cookie(r, &http.Cookie{Name: "theme", Value: theme, MaxAge: yearSeconds, HttpOnly: true}))
	case "system":
		http.SetCookie(w, c.cookie(r, &http.Cookie{Name: "theme", MaxAge: -1, HttpOnly: true}))
	}
	c.redirect(w, r, posted.Get("next"))
}

const yearSeconds = 365 * 24 * 3600
