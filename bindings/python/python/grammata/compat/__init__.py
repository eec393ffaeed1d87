"""Look-alikes of other packages' interfaces, for programs written for those packages."""
