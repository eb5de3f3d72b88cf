package docker

import (
	"testing"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/dockertest"
)

func TestMain(m *testing.M) {
	dockertest.Parallel()
	m.Run()
}
