// Package browser looks at the console in a real Chromium. In the first tier a person uses
// the console once, from signing in to signing out. In the second tier tests look at every
// screen and fill in every form, in both languages, in the light and in the dark, on a small
// and on a large screen; see internal/tier. It is a module of its own, since nothing else
// needs what drives a browser.
package browser
