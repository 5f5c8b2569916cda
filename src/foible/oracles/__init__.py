"""Oracles: is it a failure?"""
