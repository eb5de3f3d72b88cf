package sdk

import "github.com/hashicorp/go-hclog"

// Env is what the host gives to one configured instance.
type Env struct {
	// Instance is the full id of the instance: "trigger.smtp.main".
	Instance string
	// Name is the instance's own name: "main".
	Name string
	// Log is named after the instance. Whatever is written to it passes the host's redactor.
	Log hclog.Logger
	// UserAgent is how Dogwatch names itself to other services.
	UserAgent string
	// Warn tells the operator about something odd in the options that does not
	// stop the instance. It may only be called while the instance is created.
	Warn func(message string)
}

// Credentials are what an engine or a client needs to log in to a registry. The
// user name "<token>" says that the password is an identity token, as Docker's
// credential helpers have it; "<registry token>", that the registry itself takes it.
type Credentials struct {
	Username string
	Password string
}
