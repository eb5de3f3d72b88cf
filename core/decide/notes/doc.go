// Package notes reads what publishers write about their releases: the notes of all
// versions between the one that a container runs and the one that it is offered.
//
// The repository of an image is found by its labels, the link to its release notes, or
// a table of well-known images. GitHub, GitLab, and Gitea, Forgejo and Codeberg, which
// have the same interface, are asked for their list of releases: one request for a
// repository, made when notes are read and not before, conditional, and not repeated
// for an hour. What a host says about its limits holds until they end.
//
// Labels of images say where a repository is, and every publisher writes its own. Only hosts that are
// known are connected to, by HTTPS, at addresses of the public Internet, unless the
// operator allows a host.
package notes
