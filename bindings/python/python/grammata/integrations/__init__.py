"""Grammata in the servers and libraries that run models: one module for each.

A module imports its host when it is used and not before, so that none of the hosts has to be installed.
"""
