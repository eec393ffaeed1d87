"""Tests on the hosts themselves. Each folder is run by its step of `cargo xtask full`, which sets the host up."""
