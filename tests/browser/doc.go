// Package browser looks at the console in a real Chromium: every screen, in both
// languages, in the light and in the dark, on a small and on a large screen. It is a
// module of its own, since nothing else needs what drives a browser.
package browser
