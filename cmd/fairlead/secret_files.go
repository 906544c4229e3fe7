package main

import (
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"strings"

	"github.com/fairlead-io/fairlead/internal/cli"
	"github.com/fairlead-io/fairlead/internal/password"
)

// warnIfOpen logs a warning if every user of this machine can read or change the secret
// file of a flag. The server starts anyway, because all users may be trusted.
func warnIfOpen(log *slog.Logger, flag, path string) {
	if cli.OpenToAll(path) {
		log.Warn("the file of "+flag+" holds a secret, and every user of this machine can read or change it: chmod 600 it, or mount it with mode 0400", "file", path)
	}
}

// warnIfSecretsOpen logs warnings about the files that settings of a flag refer to.
func warnIfSecretsOpen(log *slog.Logger, flag string, settings ...string) {
	for _, setting := range settings {
		for _, path := range secretFiles(setting) {
			warnIfOpen(log, flag, path)
		}
	}
}

// secretFiles returns the files that a setting refers to: with ${file:PATH}, with file:PATH, or as
// the password_file of a URL.
func secretFiles(setting string) (paths []string) {
	if path, ok := strings.CutPrefix(setting, "file:"); ok {
		return []string{path}
	}
	for _, one := range reference.FindAllString(setting, -1) {
		if path, ok := strings.CutPrefix(one, "${file:"); ok {
			paths = append(paths, strings.TrimSuffix(path, "}"))
		}
	}
	if parsed, err := url.Parse(bareURL(setting)); err == nil && parsed.Query().Has(password.FileParameter) {
		paths = append(paths, parsed.Query().Get(password.FileParameter))
	}
	return paths
}

// bareURL returns the URL of a setting that may be NAME=URL, without references to secrets.
func bareURL(setting string) string {
	if name, text, ok := strings.Cut(setting, "="); ok && !strings.Contains(name, "/") {
		setting = text
	}
	return reference.ReplaceAllString(setting, "")
}

// containsPassword reports whether a setting is a URL with a password that is no reference.
func containsPassword(setting string) bool {
	parsed, err := url.Parse(bareURL(setting))
	if err != nil || parsed.Host == "" {
		return false
	}
	secret, _ := parsed.User.Password()
	return secret != "" || parsed.Query().Get("password") != ""
}

// warnIfConfigOpen prints a warning about the file of --config, if it contains a password and every
// user of this machine can read or change it.
func warnIfConfigOpen(warnings io.Writer, file string) error {
	values, err := readConfig(file)
	if err != nil {
		return err
	}
	for flag, settings := range values {
		for _, setting := range settings {
			if containsPassword(setting) {
				cli.WarnIfOpen(warnings, file, fmt.Sprintf("the password of %q", flag))
				return nil
			}
		}
	}
	return nil
}
