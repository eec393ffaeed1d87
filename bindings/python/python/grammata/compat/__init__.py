"""Interfaces of other packages on Grammata's engine, for programs written for those packages."""
