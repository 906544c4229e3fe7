package console

// Paths returns the paths of all screens, as patterns of http.ServeMux, for programs that
// measure or check every screen.
func Paths() (all []string) {
	for _, s := range screens {
		all = append(all, s.path)
	}
	return all
}
