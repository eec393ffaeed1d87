"""Grammata in servers and libraries that run models: one module for each of these hosts.

A module imports its host only when it is used, so that none of the hosts has to be installed.
"""
