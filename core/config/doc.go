// Package config turns what the operator wrote, a YAML file and environment variables, into a typed
// Config: the host's own settings decoded and checked, the components as they were written, until
// the schema of their type is known. Every value remembers where it came from, and every mistake is
// a Problem that names the key, the place and the remedy.
//
// A setting has one path and two spellings: trigger.smtp.main.tls.verify in
// the file (nested, or with dots) is DOGWATCH_TRIGGER_SMTP_MAIN_TLS_VERIFY in the
// environment, and WUD_TRIGGER_SMTP_MAIN_TLS_VERIFY for those who come from
// What's Up Docker. The order is: defaults, file, environment, command line;
// the later wins.
//
// viper lays these layers over each other (load.go), and does nothing else: variables are walked here, as it does not
// see those of components whose names it is not told; files are read here, for the lines of mistakes; and a path is
// one key of viper, as ghcr.io has a dot and from may be set beside from.name.
//
// In its folders is what else users write: label reads the labels of containers, template the texts with placeholders.
// logging keeps their secrets out of the log.
//
// In: a file, variables, flags, labels.
// Out: settings and sections with their sources, and Problems that name the key and the remedy.
// May be imported by: app, serve, notify, update, watch, plugin, decide.
//
// The packages, each of which imports only those of later places:
//
//	label/labeltest > config label logging template
package config
